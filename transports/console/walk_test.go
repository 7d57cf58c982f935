package console_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
)

// value is what a field shows: its text, the option that is chosen, or "1" for a box that is ticked.
func (a answer) value(name string) string {
	for _, tag := range []string{"input", "select"} {
		for _, n := range a.elements(tag) {
			if is, _ := attribute(n, "name"); is != name {
				continue
			}
			value, _ := attribute(n, "value")
			kind, _ := attribute(n, "type")
			_, checked := attribute(n, "checked")
			switch {
			case tag == "select":
				return chosen(n)
			case kind == "checkbox" && !checked:
				return ""
			}
			return value
		}
	}
	return "there is no field " + name
}

// holds fails unless fields show the values, given as names and values.
func (a answer) holds(t *testing.T, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := a.value(pairs[i]); got != pairs[i+1] {
			t.Errorf("%s: the field %s shows %q, want %q", a.Request.URL, pairs[i], got, pairs[i+1])
		}
	}
}

// lacks fails where the page holds one of the texts.
func (a answer) lacks(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.text, text) {
			t.Errorf("%s holds %q: %s", a.Request.URL, text, a.text)
		}
	}
}

// furnished is a server with a little of everything, and with nothing that needs anybody.
func furnished(t *testing.T) (s *server, b *browser, source string) {
	t.Helper()
	s = serve(t, nil, whole)
	b = s.signedIn(s.key.Secret)
	const o = "/console/o/default"
	s.put("a.txt", "The hedge is cut in February.")
	source = b.post(o+"/connect/directory", url.Values{"name": {"papers"}, "namespace": {"garden"},
		"config.path": {s.folder}}).leads(t)
	b.settled(source).want(t, 200)
	b.write("notes", "one", "The lease runs until May.").want(t, 303)
	b.write("notes", "two", "Bees make honey.").want(t, 303)
	s.remember(b.integrationKey("bot"), "ada@example.com", "Ada likes oat milk.", "")
	b.invited("zoe@example.com", "viewer")
	return s, b, source
}

// A page that shows all there is leads to no other part of its list, and what is finished is not asked for again.
func TestListsThatEnd(t *testing.T) {
	_, b, source := furnished(t)
	const o = "/console/o/default"
	user := regexp.MustCompile(`/console/o/default/users/[\w-]+/ada@example.com`)
	var person string
	for at := range b.crawl("/console") {
		if user.MatchString(at) {
			person = at
		}
	}
	for _, at := range []string{o, o + "/n", o + "/n/notes", o + "/sources", source, source + "/items", o + "/users", person,
		o + "/members", o + "/keys", o + "/integrations", o + "/integrations/bot", o + "/jobs", o + "/audit", o + "/usage",
		"/console/organizations", o + "/n/notes/upkeep"} {
		a := b.get(at).want(t, 200)
		a.lacks(t, "First page", "Next page", "Show all containers")
		if strings.Contains(a.body, "data-refresh") {
			t.Errorf("%s is asked for again and again", at)
		}
	}
	if a := b.get(o+"/events").want(t, 200, "Events"); !strings.Contains(a.body, "data-refresh") {
		t.Error("events are not asked for again")
	}
	if a := b.get(o+"/events?from=oldest").want(t, 200); strings.Contains(a.body, "data-refresh") {
		t.Error("the oldest events are asked for again")
	}
	for _, at := range []string{o + "/n", o + "/n/notes", o + "/sources", o + "/users", o + "/members", o + "/keys",
		o + "/integrations", o + "/jobs", o + "/audit", "/console/organizations"} {
		b.get(at+"?cursor=nonsense").want(t, http.StatusBadRequest)
	}
}

// The overview adds up, and names what needs somebody and nothing else.
func TestWhatTheOverviewSays(t *testing.T) {
	s, b, _ := furnished(t)
	const o = "/console/o/default"
	a := b.get(o).want(t, 200, "Documents 3 Chunks 3 Text 70\u00a0B", "notes 2 documents", "garden 1 document ", "As of")
	a.lacks(t, "Needs you", "A part of this page is missing", "3 +", "3+")
	soon, late := time.Now().Add(13*24*time.Hour), time.Now().Add(15*24*time.Hour)
	s.issue(key.Issue{Name: "short of breath", ExpiresAt: soon})
	s.issue(key.Issue{Name: "long of breath", ExpiresAt: late})
	gone := s.issue(key.Issue{Name: "revoked", ExpiresAt: soon})
	if err := s.engine.Keys().Revoke(t.Context(), key.Ref{Org: string(s.key.Org), ID: gone.ID}); err != nil {
		t.Fatal(err)
	}
	a = b.get(o).want(t, 200, "Needs you", "The key short of breath ends in 12 days.", "Rotate it")
	a.lacks(t, "long of breath", "revoked")
	for i := range 8 {
		b.write(fmt.Sprintf("more-%d", i), "x", "Text.").want(t, 303)
	}
	a = b.get(o).want(t, 200, "Documents 11", "more-7")
	a.lacks(t, "garden")
	if n := strings.Count(a.body, `class="card"`); n != 8 {
		t.Errorf("%d namespaces are shown", n)
	}
}

// Forms show what is kept, and keep what they show.
func TestFormsShowWhatIsKept(t *testing.T) {
	s, b, source := furnished(t)
	const o = "/console/o/default"
	k := s.issue(key.Issue{Name: "till", Org: "default"})
	at := o + "/keys/" + k.ID
	page := b.get(at).want(t, 200, "Key till")
	page.holds(t, "name", "till", "read_only", "")
	b.post(at, url.Values{"do": {"change"}, "name": {"till 2"}, "read_only": {"1"}, "admin": {"30"}}).want(t, 303)
	b.get(at).want(t, 200, "Key till 2").holds(t, "name", "till 2", "read_only", "1", "admin", "30")
	b.post(at, url.Values{"do": {"change"}, "name": {"till 2"}}).want(t, 303)
	b.get(at).want(t, 200).holds(t, "read_only", "", "admin", "")
	b.post(at, url.Values{"do": {"change"}, "name": {"x"}, "admin": {"many"}}).want(t, 422, "whole number").holds(t, "admin",
		"many")
	own := b.get(o+"/keys/"+s.key.ID).want(t, 200)
	if own.text == page.text || strings.Contains(page.text, "signed in with it") {
		t.Error("one's own key looks as any other")
	}
	for days, ends := range map[string]bool{"": false, "0": false, "-1": false, "x": false, "1": true, "3660": true,
		"3661": false} {
		b.post(o+"/keys", url.Values{"kind": {"service"}, "name": {"ends-" + days + "-days"}, "days": {days}}).want(t, 200)
		keys := b.get(o+"/keys").want(t, 200).text
		_, row, found := strings.Cut(keys, "ends-"+days+"-days service")
		if row, _, _ = strings.Cut(row, s.key.ID); !found || strings.Contains(row, "never never") == ends {
			t.Errorf("made for %q days it is listed as %s", days, row)
		}
	}
	b.post(o+"/keys", url.Values{"kind": {"service"}, "name": {"reader"}, "read_only": {"1"}}).want(t, 200)
	if _, row, _ := strings.Cut(b.get(o+"/keys").text, "reader service"); !strings.Contains(row[:40], "read live") {
		t.Errorf("a key that reads is listed as %.60s", row)
	}

	check := o + "/n/notes/check"
	b.post(check, url.Values{"do": {""}, "name": {"full"}, "query": {"honey"}, "expect": {"two"}, "within": {"3"},
		"mode":      {"vector"},
		"min_score": {"0.25"}, "filter": {`{"a": "b"}`}}).want(t, 303)
	b.post(check, url.Values{"do": {""}, "name": {"plain"}, "query": {"honey"}}).want(t, 303)
	b.get(check+"?edit=full").want(t, 200).holds(t, "name", "full", "query", "honey", "expect", "two", "within", "3", "mode",
		"vector",
		"min_score", "0.25", "rerank", "")
	lists := []string{"mode", "vector,keyword", "weight_vector", "0.25", "weight_keyword", "2", "weight_sparse", ""}
	typed := url.Values{"do": {""}, "name": {"lists"}, "query": {"honey"}}
	for i := 0; i < len(lists); i += 2 {
		typed.Set(lists[i], lists[i+1])
	}
	b.post(check, typed).want(t, 303)
	b.get(check+"?edit=lists").want(t, 200).holds(t, lists...)
	playground := b.get(b.get(check).linked(t, "mode=vector%2Ckeyword")).want(t, 200)
	playground.holds(t, append(lists, "q", "honey", "top_k", "10", "per_document", "1")...)
	b.get(playground.linked(t, "/check?")).want(t, 200).holds(t, append(lists, "query", "honey", "within", "10")...)
	typed.Set("weight_keyword", "11")
	refused := b.post(check, typed).want(t, 422)
	refused.holds(t, "weight_keyword", "11")
	if refused.proper(t); !strings.Contains(refused.body, `aria-invalid="true"`) {
		t.Errorf("a weight of 11 is not marked: %s", refused.body)
	}
	b.get(check+"?edit=plain").want(t, 200).holds(t, "within", "10", "mode", "", "min_score", "", "expect", "")

	b.get(o+"/integrations/bot").want(t, 200).holds(t, "grants", "")
	b.post(o+"/integrations/bot", url.Values{"do": {"change"}, "name": {"bot"}, "grants": {"1"}}).want(t, 303)
	b.get(o+"/integrations/bot").want(t, 200).holds(t, "grants", "1")
	b.get(source+"/settings").want(t, 200).holds(t, "name", "papers", "schedule", "", "config.path", s.folder)
	b.get(o+"/n?prefix=no").want(t, 200, "notes").holds(t, "prefix", "no")
	b.get(o+"/n/notes?order=updated_at&prefix=t").want(t, 200, "two").holds(t, "order", "updated_at", "prefix", "t")
	b.get(o+"/n/notes?prefix=t").lacks(t, "documents/one")
	a := b.get(o+"/n/notes/query?q=x&top_k=3&b_depth=many&compare=1&b_strict=1&weight_vector=1").want(t, 422,
		"B: How many to rerank")
	a.holds(t, "q", "x", "top_k", "3", "b_depth", "many", "b_strict", "1", "strict", "", "weight_vector", "1",
		"b_weight_vector", "")
	if n := strings.Count(b.get(o+"/n/notes/query").body, `class="settings" open`); n != 0 {
		t.Error("settings stand open where none is chosen")
	}
	if !strings.Contains(b.get(o+"/n/notes/query?mode=keyword").body, `class="settings" open`) {
		t.Error("settings that are chosen are hidden")
	}
}

// What is filtered by a time has whole days, and files are of what is shown.
func TestFiltersOfTheAudit(t *testing.T) {
	_, b, _ := furnished(t)
	const o = "/console/o/default/audit"
	today, tomorrow := time.Now().UTC().Format(time.DateOnly), time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	yesterday := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	for q, shown := range map[string]bool{"since=" + today: true, "until=" + today: true, "until=" + yesterday: false,
		"since=" + tomorrow: false, "action=admin.members.invite": true, "refused=1": false, "actor=key": true,
		"actor=anonymous": false} {
		a := b.get(o+"?"+q).want(t, 200)
		if strings.Contains(a.text, "No record fits") == shown {
			t.Errorf("%s shows records: %v", q, !shown)
		}
		if shown != strings.Contains(a.body, "/audit.csv?"+strings.SplitN(q, "=", 2)[0]+"=") {
			t.Errorf("the file beside %s: %s", q, a.body)
		}
	}
	if a := b.get(o).want(t, 200, "admin.members.invite"); !strings.Contains(a.body, `/audit.csv" download`) {
		t.Error("the file is not of all records")
	}
	b.get(o+"?since=then").want(t, 422).lacks(t, "admin.members.invite")
	if a := b.get(o+".csv?action=admin.members.invite").want(t, 200); strings.Contains(a.body, "console.sign_in") ||
		!strings.Contains(a.body, "admin.members.invite") {
		t.Errorf("the file: %s", a.body)
	}
}

// Events are told by what they are about: the organization is the page's, and what is nothing is left out.
func TestWhatEventsTell(t *testing.T) {
	_, b, _ := furnished(t)
	const o = "/console/o/default/events"
	a := b.get(o)
	for deadline := time.Now().Add(time.Minute); !strings.Contains(a.text, "endUserId ada@example.com"); a = b.get(o) {
		if time.Now().After(deadline) {
			t.Fatalf("events do not come: %s", a.text)
		}
		time.Sleep(20 * time.Millisecond) // they are published in the background
	}
	a.want(t, 200, "source.run.completed", "1 created, 1 seen", "namespace garden")
	a.lacks(t, "organization_id", " 0 ", "0 failed", `["`)
	if !regexp.MustCompile(`started_at \d+\x{a0}\w+\x{a0}\d+ \d\d:\d\d\x{a0}UTC`).MatchString(a.text) ||
		!regexp.MustCompile(`ids \w+(, \w+)* `).MatchString(a.text) {
		t.Errorf("times and lists are not written for people: %s", a.text)
	}
	if strings.Index(a.text, "endUserId") > strings.Index(a.text, "1 seen") {
		t.Error("the newest is not first")
	}
	a = b.get(o+"?from=oldest").want(t, 200)
	if strings.Index(a.text, "endUserId") < strings.Index(a.text, "1 seen") {
		t.Error("the oldest is not first")
	}
	b.get(o+"?kinds=namespace.created").want(t, 200, "namespace garden", "namespace notes").lacks(t, "endUserId")
}

// A document is shown with what keeps it and what is like it, by its title where it has one.
func TestWhatADocumentSays(t *testing.T) {
	_, b, source := furnished(t)
	const o, lease = "/console/o/default", "/console/o/default/n/notes/documents/one"
	b.get(lease).want(t, 200, "written over the API", "It has none.", "Look for them").lacks(t, "last run")
	b.get(lease+"?similar=1").want(t, 200, "two").lacks(t, "There are no others", "Look for them")
	long := strings.Repeat("The lease runs on and on. ", 400)
	b.write("notes", "long", long).want(t, 303)
	b.get(o+"/n/notes/documents/long?similar=1").want(t, 200, "two", "one").lacks(t, "could not be looked for")
	for i := range 7 {
		b.write("notes", fmt.Sprintf("more-%d", i), "A line of text.").want(t, 303)
	}
	if n := strings.Count(b.get(lease+"?similar=1").want(t, 200).body, `/console/o/default/n/notes/documents/`); n > 8 {
		t.Errorf("%d similar documents are shown", n)
	}
	hash := b.get(lease).hidden("hash")
	b.post(lease, url.Values{"do": {"metadata"}, "hash": {hash},
		"metadata": {`{"title": " The lease ", "n": 5, "tags": ["a"], "yes": true}`}}).want(t, 303)
	a := b.get(lease).want(t, 200, "The lease one · 1 chunk", "n 5", `tags ["a"]`, "yes true")
	if h := a.elements("h1"); len(h) != 1 || h[0].FirstChild.Data != "The lease" {
		t.Errorf("its heading: %s", a.text)
	}
	for at := range b.crawl("/console") {
		if strings.HasPrefix(at, o+"/n/garden/documents/") {
			b.get(at).want(t, 200, "kept by papers", "last run").lacks(t, "Edit the metadata", "written over the API")
		}
	}
	b.get(o+"/n/garden").want(t, 200, "Kept in step by", "papers", "a\u00a0source")
	b.get(o+"/n/notes").want(t, 200, "the\u00a0API").lacks(t, "Kept in step by", "a\u00a0source")
	b.get(source).want(t, 200, "keeps garden in step", "1 new").lacks(t, "Items that could not be read", "withheld",
		"Cancel this run")
	b.post(o+"/new-document", url.Values{"namespace": {"Not A Name"}, "id": {"x"}, "text": {"x"}}).want(t, 400).
		holds(t, "namespace", "Not A Name", "id", "x")
	b.post(o+"/new-document", url.Values{"namespace": {"notes"}, "id": {""}, "text": {"x"}}).want(t, 400).holds(t, "id", "")
	b.get(o+"/new-document?namespace=notes").want(t, 200).holds(t, "namespace", "notes")
	b.get(o+"/n/garden/upkeep").want(t, 200, "Move and reindex garden").lacks(t, "outdated")
}

// An account says how its member signs in, and what is wrong stands at its field.
func TestWhatAnAccountSays(t *testing.T) {
	s := serve(t, nil)
	operator := s.signedIn(s.key.Secret)
	operator.get("/console/account").want(t, 200, "signed in with a key", "all organizations", "read and change").
		lacks(t, "The password now", "Unbind")
	s.signedIn(s.issue(key.Issue{Org: "default", ReadOnly: true}).Secret).get("/console/account").
		want(t, 200, "the organization default", "May read").lacks(t, "read and change")
	ann := operator.joined("ann@example.com", "viewer")
	ann.get("/console/account").want(t, 200, "ann@example.com", "The password now").lacks(t, "Unbind", "with a key")
	wrong := func(field string, status int, form url.Values) {
		t.Helper()
		a := ann.post("/console/account", form).want(t, status)
		var marked []string
		for _, n := range a.elements("input") {
			if _, ok := attribute(n, "aria-invalid"); ok {
				name, _ := attribute(n, "name")
				marked = append(marked, name)
			}
		}
		if !slices.Equal(marked, []string{field}) || strings.Contains(a.body, secret) {
			t.Errorf("%v: %v are marked: %s", slices.Collect(maps.Keys(form)), marked, a.body)
		}
	}
	wrong("again", 422, url.Values{"old": {secret}, "password": {secret + "1"}, "again": {secret + "2"}})
	wrong("old", 403, url.Values{"old": {"no"}, "password": {secret + "1"}, "again": {secret + "1"}})
	wrong("password", 400, url.Values{"old": {secret}, "password": {"short"}, "again": {"short"}})
	owner := operator.joined("olga@example.com", "owner")
	owner.get(owner.member("olga@example.com")).want(t, 200, "owner · you")
	owner.get(owner.member("ann@example.com")).want(t, 200, "active · viewer").lacks(t, "· you")
	list := owner.get("/console/o/default/members").want(t, 200, "olga@example.com (you)")
	list.lacks(t, "ann@example.com (you)")
}

// A document that a source keeps tells what the source's last runs did, the newest first.
func TestTheHistoryOfADocument(t *testing.T) {
	s, b, at := furnished(t)
	const o = "/console/o/default"
	b.get(o+"/n/notes/documents/one").want(t, 200).lacks(t, "History of its source")
	s.put("b.txt", "The roof was mended.")
	b.post(at, url.Values{"do": {"sync"}}).want(t, 303)
	b.settled(at).want(t, 200, "1 new")
	for i := range 12 { // more than are shown
		if i == 5 {
			s.put("b.txt", "The roof was mended again.")
		}
		b.post(at, url.Values{"do": {"sync"}}).want(t, 303)
		b.settled(at)
	}
	var document string
	for _, n := range b.get(o + "/n/garden").elements("a") {
		if to, _ := attribute(n, "href"); strings.Contains(to, "/n/garden/documents/") {
			document = o + "/n/garden/documents/" + to[strings.LastIndex(to, "/")+1:]
		}
	}
	a := b.get(document).want(t, 200, "History of its source", "Run State New Changed Deleted Failed")
	a.proper(t)
	var runs []string
	for _, n := range a.elements("a") {
		if to, _ := attribute(n, "href"); strings.Contains(to, "/runs/") {
			runs = append(runs, to[strings.LastIndex(to, "/"):])
		}
	}
	if newestFirst := slices.IsSortedFunc(runs, func(x, y string) int { return strings.Compare(y, x) }); len(runs) != 10 ||
		!newestFirst {
		t.Errorf("it leads to the runs %q", runs)
	}
	// Below the four heads of the columns, the second number of the seventh run.
	if changed := slices.Index(a.texts("n"), "1"); changed != 4+6*4+1 {
		t.Errorf("the run that changed something is elsewhere: %q", a.texts("n"))
	}
	// Where the source is gone there is the document alone.
	b.post(at, url.Values{"do": {"disconnect"}, "documents": {"keep"}, "typed": {"papers"}}).want(t, 303)
	b.eventually(document, "left by a source that is disconnected").lacks(t, "History of its source", "kept by")
	for _, n := range b.get(o+"/n/garden").want(t, 200, "a\u00a0source").elements("a") {
		if to, _ := attribute(n, "href"); strings.Contains(to, "/sources/") {
			t.Errorf("the list leads to a source that is gone: %s", to)
		}
	}
	left := b.get(document).form(t, "metadata")
	left.Set("metadata", `{"room": "attic"}`)
	b.post(document, left).want(t, 303)
	b.get(document).want(t, 200, "room attic")
}

// A part that fails is named with since when, on the page of the health and on the overview.
func TestSinceWhenAPartFails(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	s.index.OnSearch.Set(func(_ context.Context, _ port.Partition, q port.IndexQuery) error {
		if q.Retriever == port.Vector {
			return errors.New("dead arm")
		}
		return nil
	})
	for _, at := range []string{"/console/health", "/console/o/default"} {
		a := b.get(at).want(t, 200, "degraded")
		a.proper(t)
		var since []string
		for _, n := range a.elements("span") {
			if n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, "since ") {
				when, _ := attribute(n.FirstChild.NextSibling, "datetime")
				since = append(since, when)
			}
		}
		if len(since) != 2 || since[0] == "" || since[0] != since[1] { // vector, and the probe of the whole
			t.Errorf("%s says of these that they fail: %q: %s", at, since, a.text)
		}
	}
}

// Usage is told by the names of keys and integrations, and those that the visitor may see are linked.
func TestUsageNamesWhoseItIs(t *testing.T) {
	_, b, _ := furnished(t)
	b.get("/console/o/default/usage?measure=documents").want(t, 200, "4 in all") // three and a memory
	a := b.get("/console/o/default/usage").want(t, 200, "bot integration its key", "in all")
	if to := a.linkOf("its key"); !strings.Contains(to, "/o/default/keys/key_") {
		t.Errorf("the key leads to %q", to)
	}
}

// The menu marks the section that a page is of, and no other.
func TestTheMenuMarksASection(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	for at, want := range map[string]string{"/o/default": "Overview", "/o/default/keys": "Keys", "/o/default/n": "Namespaces",
		"/organizations": "Organizations", "/settings": "Settings"} {
		var marked []string
		for _, n := range b.get("/console"+at).want(t, 200).elements("a") {
			_, entry := attribute(n, "data-letter")
			if current, _ := attribute(n, "aria-current"); entry && current == "page" {
				marked = append(marked, n.FirstChild.Data)
			}
		}
		if !slices.Equal(marked, []string{want}) {
			t.Errorf("%s marks %q", at, marked)
		}
	}
}

// Usage is of so many days as are asked for, each of them whole.
func TestDaysOfUsage(t *testing.T) {
	_, b, _ := furnished(t)
	today := time.Now().UTC()
	for asked, days := range map[string]int{"": 30, "7": 7, "30": 30, "90": 90, "5": 30, "soon": 30} {
		a := b.get("/console/o/default/usage?days="+asked).want(t, 200)
		if n := len(a.elements("rect")); n != days {
			t.Errorf("%q days have %d bars", asked, n)
		}
		first := func(at time.Time) string {
			return "from=" + at.AddDate(0, 0, 1-days).Format(time.DateOnly) + "T00%3A00%3A00Z"
		}
		if !strings.Contains(a.text, first(today)) && !strings.Contains(a.text, first(time.Now().UTC())) { // over midnight
			t.Errorf("%q days are not %s", asked, first(today))
		}
	}
}

// linkOf is where the link with a text leads.
func (a answer) linkOf(text string) string {
	for _, n := range a.elements("a") {
		if n.FirstChild != nil && n.FirstChild.Data == text {
			to, _ := attribute(n, "href")
			return to
		}
	}
	return ""
}

// Six documents are similar to one at most, of those that there are, and it is none of them.
func TestSimilarDocuments(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	for i := range 9 {
		b.write("notes", fmt.Sprintf("note-%d", i), fmt.Sprintf("The lease runs until May 202%d.", i)).want(t, 303)
		a := b.get("/console/o/default/n/notes/documents/note-0?similar=1").want(t, 200)
		found := a.elements("ol")
		n := 0
		for _, list := range found {
			if class, _ := attribute(list, "class"); class == "near" {
				for item := range list.ChildNodes() {
					if item.Data == "li" {
						n++
					}
				}
			}
		}
		if n != min(i, 6) || i == 0 != strings.Contains(a.text, "There are no others.") {
			t.Errorf("beside %d others there are %d: %s", i, n, a.text)
		}
		if at := a.linkOf("note-0"); at != "" {
			t.Errorf("it is similar to itself: %s", at)
		}
	}
}

// A key of an integration ends when it was said to.
func TestKeysOfIntegrationsEnd(t *testing.T) {
	_, b, _ := furnished(t)
	for days, never := range map[string]bool{"": true, "30": false} {
		a := b.post("/console/o/default/integrations/bot", url.Values{"do": {"make"}, "kind": {"integration"},
			"name": {"for a time"}, "scopes": {"memories:read"}, "days": {days}}).want(t, 200, "only time")
		if strings.Contains(a.text, "Ends never") != never {
			t.Errorf("for %q days: %s", days, a.text)
		}
	}
}

// A form that is refused shows what it sent.
func TestWhatMakesANamespace(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	for ticked, sparse := range map[string]string{"": `"sparse":false`, "1": `"sparse":true`} {
		b.post("/console/o/default/n", url.Values{"name": {"no good"}, "sparse": {ticked}}).want(t, 422, sparse)
	}
}

// The key that somebody is signed in with is told from others.
func TestOnesOwnKey(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	const at, mine = "/console/o/default/keys/", "You are signed in with this key"
	b.get(at+s.key.ID).want(t, 200, mine)
	b.get(at+s.issue(key.Issue{}).ID).want(t, 200).lacks(t, mine)
}

// What stands around a hit is shown in grey, when it is asked for.
func TestChunksAroundAHit(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	long := strings.Repeat("The hedge is cut in February. ", 200) + "The lease runs until May. " +
		strings.Repeat("Bees make honey in the garden. ", 200)
	b.write("notes", "one", long).want(t, 303)
	const at = "/console/o/default/n/notes/query?q=lease&mode=keyword&neighbors="
	if around := b.get(at+"0").want(t, 200, " hits").texts("around"); len(around) != 0 {
		t.Errorf("around the hit, unasked: %q", around)
	}
	if around := b.get(at+"1").want(t, 200, " hits").texts("around"); len(around) < 2 ||
		!strings.Contains(around[0], "hedge") || !strings.Contains(around[len(around)-1], "honey") {
		t.Errorf("around the hit: %q", around)
	}
}

// Where a server has several embedding models, a namespace is made with one of them, and gets another.
func TestTheModelOfANamespace(t *testing.T) {
	second := &coretest.Embedder{ID: "second", Digest: "sha256:second", Size: 48}
	s := serve(t, nil, func(_ *server, c *engine.Config) {
		c.Models.Embedders, c.Models.All = []port.Embedder{second}, append(c.Models.All, second)
	})
	b := s.signedIn(s.key.Secret)
	const all, one = "/console/o/default/n", "/console/o/default/n/own"
	b.get(all).want(t, 200, "The server's default second test-embedder").proper(t)
	b.post(all, url.Values{"name": {"own"}, "embedding_model": {"third"}}).want(t, 422, "no embedding model of this server").
		proper(t)
	b.post(all, url.Values{"name": {"own"}, "embedding_model": {"second"}}).want(t, 303)
	b.post("/console/o/default/new-document", url.Values{"namespace": {"own"}, "id": {"bees"}, "text": {"Bees make honey."}}).
		want(t, 303)
	b.get(one).want(t, 200, "Vectors by second", "chosen for it").proper(t)
	b.get(one+"/upkeep").want(t, 200, "model that was chosen for it", "as it is of the server's default second test-embedder").
		proper(t)
	b.post(one+"/upkeep", url.Values{"embedding_model": {"="}}).want(t, 303)
	b.settled(one+"/upkeep").want(t, 200, "of the configured model", s.embedder.Info().ID).proper(t)
	b.post(one+"/upkeep", url.Values{"embedding_model": {""}}).want(t, 303)
	b.settled(one+"/upkeep").want(t, 200, "of the configured model").proper(t)
	b.post(one+"/upkeep", url.Values{"embedding_model": {"=second"}}).want(t, 303)
	b.settled(one+"/upkeep").want(t, 200, "model that was chosen for it").proper(t)

	alone := serve(t, nil)
	alone.signedIn(alone.key.Secret).get(all).want(t, 200, "Make a namespace").lacks(t, "embedding_model")
}

// finish waits until every job has ended. It asks the store: a page would wait for what the page
// that is being made may hold.
func (s *server) finish() error {
	for underway := true; underway; time.Sleep(time.Millisecond) {
		err := s.store.DocumentStore.View(s.Context(), func(r port.Reader) error {
			jobs, err := r.Jobs(s.Context(), port.JobList{})
			underway = slices.ContainsFunc(jobs, func(j port.Job) bool { return !j.Status.Ended() })
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A page that shows a reindexing as ended shows what it made, whatever it had asked when it ended.
func TestAReindexingThatEndsWhileItsPageIsMade(t *testing.T) {
	second := &coretest.Embedder{ID: "second", Digest: "sha256:second", Size: 48}
	s := serve(t, nil, func(_ *server, c *engine.Config) {
		c.Models.Embedders, c.Models.All = []port.Embedder{second}, append(c.Models.All, second)
	})
	b := s.signedIn(s.key.Secret)
	const at = "/console/o/default/n/own/upkeep"
	b.write("own", "bees", "Bees make honey.").want(t, 303)
	for read := int64(1); ; read++ {
		release := make(chan struct{})
		second.Before.Set(func(ctx context.Context, _ port.TextKind, _ []string) error {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		b.post(at, url.Values{"embedding_model": {"=second"}}).want(t, 303)
		var reads atomic.Int64
		s.store.OnCallView.Set(func() error {
			if reads.Add(1) != read {
				return nil
			}
			close(release)
			return s.finish()
		})
		a := b.get(at).want(t, 200)
		s.store.OnCallView.Clear()
		if reads.Load() < read { // it reads no more often
			close(release)
			break
		}
		if !strings.Contains(a.body, "data-refresh") {
			a.want(t, 200, "model that was chosen for it")
		}
		b.settled(at).want(t, 200, "model that was chosen for it")
		b.post(at, url.Values{"embedding_model": {"="}}).want(t, 303)
		b.settled(at).want(t, 200, "of the configured model")
	}
}
