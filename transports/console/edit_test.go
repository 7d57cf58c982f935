package console_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// form is what a form of a page sends as it stands.
func (a answer) form(t *testing.T, do string) url.Values {
	t.Helper()
	at := a.Request.URL.Path
	of, ok := offered(t, map[string]answer{at: a})[sending{at, do}]
	if !ok {
		t.Fatalf("%s has no form %q: %s", at, do, a.text)
	}
	return maps.Clone(of.values)
}

// keyNamed is the page of a key of the default organization.
func (b *browser) keyNamed(name string) string {
	b.Helper()
	const list = "/console/o/default/keys"
	for _, n := range b.get(list).want(b.T, 200).elements("a") {
		if n.FirstChild != nil && n.FirstChild.Data == name {
			href, _ := attribute(n, "href")
			return list + href[strings.LastIndex(href, "/"):]
		}
	}
	b.Fatalf("there is no key %s", name)
	return ""
}

// Who sends a form whose thing was changed by somebody else in between is told what changed, and asked: fields that
// were left alone hold what is there now, others what was typed. Sent again it is done, and once more does no harm.
func TestAFormThatWasOvertaken(t *testing.T) {
	s, hooks := hooked(t)
	b := s.signedIn(s.key.Secret)
	const o = "/console/o/default"
	s.put("a.txt", "The hedge is cut in February.")
	source := b.post(o+"/connect/directory", url.Values{"name": {"papers"}, "namespace": {"garden"},
		"config.path": {s.folder}}).leads(t)
	b.settled(source).want(t, 200)
	b.write("notes", "one", "The lease runs until May.").want(t, 303)
	made := b.post(o+"/webhooks", url.Values{"url": {hooks.URL}, "signature": {"v1"}}).want(t, 200)
	hooks.Know(made.shownSecret(t, "whsec_"))
	b.integrationKey("bot")
	b.post(o+"/keys", url.Values{"kind": {"service"}, "name": {"checkout"}}).want(t, 200)
	key := b.keyNamed("checkout")
	b.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)
	acme := b.get("/console/organizations/acme").want(t, 200)
	id := ""
	for _, n := range acme.elements("code") {
		if n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, "org_") {
			id = n.FirstChild.Data
		}
	}
	b.invited("ada@example.com", "viewer")
	for name, c := range map[string]struct {
		at, do       string
		theirs, mine url.Values
		told         string
	}{
		"key": {key, "change", url.Values{"name": {"till"}}, url.Values{"read": {"600"}},
			"The name was “checkout” and is now “till”."},
		"both typed": {key, "change", url.Values{"write": {"10"}}, url.Values{"write": {"20"}},
			"Writes a minute was empty and is now “10”, and you say “20”."},
		"box": {key, "change", url.Values{"read_only": {"1"}}, url.Values{"rerank": {"3"}},
			"“It may only read” was not ticked and is now ticked."},
		"integration": {o + "/integrations/bot", "change", url.Values{"memories": {"50"}}, url.Values{"reads": {"70"}},
			"Memories of an end user was “10000” and is now “50”."},
		"quotas": {"/console/organizations/" + id, "quotas", url.Values{"documents": {"10"}}, url.Values{"bytes": {"1000"}},
			"Documents was empty and is now “10”."},
		"rename": {"/console/organizations/" + id, "rename", url.Values{"name": {"apex"}}, url.Values{"name": {"axiom"}},
			"The name was “acme” and is now “apex”, and you say “axiom”."},
		"webhook": {made.linked(t, "/webhooks/whk_"), "change", url.Values{"kinds": {"documents.written", "documents.deleted"}},
			url.Values{"description": {"of the shop"}},
			"The kinds of events was empty and is now “documents.deleted, documents.written”."},
		"member": {b.member("ada@example.com"), "role", url.Values{"role": {"admin"}}, url.Values{"role": {"owner"}},
			"The role was “viewer” and is now “admin”, and you say “owner”."},
		"source": {source + "/settings", "", url.Values{"schedule": {"12h"}}, url.Values{"name": {"letters"}},
			"When runs begin was empty and is now “12h”."},
		"metadata": {o + "/n/notes/documents/one", "metadata", url.Values{"metadata": {`{"a": "b"}`}},
			url.Values{"metadata": {`{"c": "d"}`}}, "and you say “{"},
	} {
		t.Run(name, func(t *testing.T) {
			first := b.get(c.at).want(t, 200).form(t, c.do)
			theirs, mine := maps.Clone(first), maps.Clone(first)
			maps.Copy(theirs, c.theirs)
			maps.Copy(mine, c.mine)
			b.post(c.at, theirs).want(t, 303)
			asked := b.post(c.at, mine).want(t, 422, "changed by somebody else", c.told, "Send the form again")
			asked.proper(t)
			var marked []string // the field that both typed into
			for _, tag := range []string{"input", "select", "textarea"} {
				for _, n := range asked.elements(tag) {
					if _, ok := attribute(n, "aria-invalid"); ok {
						field, _ := attribute(n, "name")
						marked = append(marked, field)
					}
				}
			}
			for field := range c.mine {
				if _, both := c.theirs[field]; both != slices.Contains(marked, field) {
					t.Errorf("%s: both typed into it is %t; marked are %v", field, both, marked)
				}
			}
			again := asked.form(t, c.do)
			want := maps.Clone(c.theirs)
			maps.Copy(want, c.mine)
			sorted := func(x []string) []string {
				x = slices.Clone(x)
				slices.Sort(x)
				return x
			}
			for field, x := range want {
				if !slices.Equal(sorted(again[field]), sorted(x)) {
					t.Errorf("the form that asks says %q of %s, not %q", again[field], field, x)
				}
			}
			b.post(c.at, again).want(t, 303)
			if name == "rename" || name == "metadata" {
				return
			}
			b.post(c.at, again).want(t, 303)
			now := b.get(c.at).want(t, 200).form(t, c.do)
			for field, x := range want {
				if !slices.Equal(sorted(now[field]), sorted(x)) {
					t.Errorf("%s is %q, not %q", field, now[field], x)
				}
			}
		})
	}
}

// A form that is wrong in itself is shown again as it was sent, and goes on comparing with what it was shown with at
// first; one that is sent twice, or says what somebody else just said, has nothing to ask.
func TestAFormThatIsWrongFirst(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)
	const at = "/console/organizations/acme"
	first := b.get(at).form(t, "quotas")
	wrong := maps.Clone(first)
	wrong.Set("bytes", "many")
	shown := b.post(at, wrong).want(t, 422, "whole number").form(t, "quotas")
	theirs := maps.Clone(first)
	theirs.Set("documents", "10")
	b.post(at, theirs).want(t, 303)
	shown.Set("bytes", "1000")
	b.post(at, shown).want(t, 422, "Documents was empty and is now “10”.")
	b.post(at, theirs).want(t, 303)
	shown.Set("documents", " 10 ")
	b.post(at, shown).want(t, 303)
}
