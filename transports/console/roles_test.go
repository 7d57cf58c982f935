package console_test

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/mnemehq/mneme/core/key"
)

// sending is a form that changes something, as a page offers it: where it goes, and what its button
// or hidden fields say that it does.
type sending struct{ to, do string }

// offer is what stands in a form, and what it asks people to type before it destroys something.
type offer struct {
	values url.Values
	asks   string
}

// offered are the forms that pages offer. A form of several named buttons is as many sendings.
func offered(t *testing.T, pages map[string]answer) map[sending]offer {
	t.Helper()
	out := map[sending]offer{}
	for _, a := range pages {
		for _, f := range a.elements("form") {
			if method, _ := attribute(f, "method"); method != "post" {
				continue
			}
			action, _ := attribute(f, "action")
			to, err := a.Request.URL.Parse(action)
			if err != nil {
				t.Fatal(err)
			}
			values, buttons := fields(f)
			for _, button := range buttons {
				sent := maps.Clone(values)
				maps.Copy(sent, button)
				do := sent.Get("do") + sent.Get("action") + sent.Get("then")
				for _, name := range []string{"full", "hold", "back"} {
					if sent.Has(name) {
						do += "-" + name
					}
				}
				out[sending{to.Path, do}] = offer{sent, emphasized(f)}
			}
		}
	}
	return out
}

// emphasized is the first text of a form in bold, or in code.
func emphasized(form *html.Node) string {
	for n := range form.Descendants() {
		if n.Type == html.ElementNode && (n.Data == "strong" || n.Data == "code") && n.FirstChild != nil {
			return n.FirstChild.Data
		}
	}
	return ""
}

// fields are what a form sends as it stands, and what each of its buttons adds.
func fields(form *html.Node) (values url.Values, buttons []url.Values) {
	values = url.Values{}
	for n := range form.Descendants() {
		name, _ := attribute(n, "name")
		value, _ := attribute(n, "value")
		kind, _ := attribute(n, "type")
		_, checked := attribute(n, "checked")
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "button" && kind != "button":
			button := url.Values{}
			if name != "" {
				button.Set(name, value)
			}
			buttons = append(buttons, button)
		case name == "" || (kind == "checkbox" || kind == "radio") && !checked:
		case n.Data == "input":
			values.Add(name, value)
		case n.Data == "textarea" && n.FirstChild != nil:
			values.Add(name, n.FirstChild.Data)
		case n.Data == "textarea":
			values.Add(name, "")
		case n.Data == "select":
			values.Add(name, chosen(n))
		}
	}
	return values, buttons
}

// chosen is the selected option of a list, or its first.
func chosen(list *html.Node) string {
	first, found := "", false
	for n := range list.Descendants() {
		if n.Type != html.ElementNode || n.Data != "option" {
			continue
		}
		value, ok := attribute(n, "value")
		if !ok && n.FirstChild != nil {
			value = n.FirstChild.Data
		}
		if _, ok := attribute(n, "selected"); ok {
			return value
		}
		if !found {
			first, found = value, true
		}
	}
	return first
}

// asks stands in the table for what a form asks to type.
const asks = "{asks}"

// filling is what a person types into a form.
type filling struct {
	to, do string // below /console/; * is any part
	fields map[string]string
	file   string // what the field for a file gets; "": there is none
}

// fillings are what a person types into the forms, by path and deed, in the order in which they are
// sent: what takes something away comes after all that needs it.
var fillings = []filling{
	{to: "theme"},
	{to: "o/*/new-document", fields: map[string]string{"namespace": "written", "id": "new", "text": "Bees make honey."}},
	{to: "o/*/n", fields: map[string]string{"name": "made"}},
	{to: "o/*/n/*/files", file: "The file of somebody."},
	{to: "o/*/n/*/import", file: dataSet},
	{to: "o/*/n/*/documents/*", do: "metadata", fields: map[string]string{"metadata": `{"lang": "en"}`}},
	{to: "o/*/n/*/upkeep"},
	{to: "o/*/n/*/upkeep", do: "-hold"},
	{to: "o/*/connect/directory", do: "check", fields: map[string]string{"config.path": folder}},
	{to: "o/*/connect/directory", fields: map[string]string{"name": "more", "namespace": "more", "config.path": folder}},
	{to: "o/*/connect/push", do: "check"},
	{to: "o/*/connect/push", fields: map[string]string{"name": "pushed", "namespace": "pushed"}},
	{to: "o/*/sources/*/settings", do: "check"},
	{to: "o/*/sources/*/settings"},
	{to: "o/*/sources/*", do: "sync"},
	{to: "o/*/sources/*", do: "sync-full"},
	{to: "o/*/sources/*", do: "pause"},
	{to: "o/*/integrations", fields: map[string]string{"name": "another"}},
	{to: "o/*/integrations/*", do: "change"},
	{to: "o/*/integrations/*", do: "make", fields: map[string]string{"name": "phone"}},
	{to: "o/*/keys", fields: map[string]string{"name": "laptop"}},
	{to: "o/*/keys/*", do: "change", fields: map[string]string{"name": "named"}},
	{to: "o/*/keys/*", do: "rotate"},
	{to: "o/*/webhooks", fields: map[string]string{"url": receiver}},
	{to: "o/*/webhooks/*", do: "test"},
	{to: "o/*/webhooks/*/deliveries/*", do: "again"},
	{to: "o/*/webhooks/*", do: "recover"},
	{to: "o/*/webhooks/*", do: "rotate"},
	{to: "o/*/webhooks/*", do: "change"},
	{to: "o/*/webhooks/*", do: "disable"},
	{to: "o/*/members", fields: map[string]string{"email": "new@example.com"}},
	{to: "o/*/members/*", do: "role"},
	{to: "o/*/members/*", do: "again"},
	{to: "o/*/members/*", do: "disable"},
	{to: "account", fields: map[string]string{"old": secret, "password": secret + "!", "again": secret + "!"}},

	{to: "o/*/users/*/*", do: "forget"},
	{to: "o/*/users/*/*", do: "erase", fields: map[string]string{"typed": asks}},
	{to: "o/*/sources/*", do: "disconnect", fields: map[string]string{"typed": asks, "documents": "keep"}},
	{to: "o/*/n/*/documents/*", fields: map[string]string{"typed": asks}},
	{to: "o/*/n/*", fields: map[string]string{"typed": asks}},
	{to: "o/*/webhooks/*", do: "delete", fields: map[string]string{"typed": asks}},
	{to: "o/*/members/*", do: "remove", fields: map[string]string{"typed": asks}},
	{to: "organizations", fields: map[string]string{"name": "third"}},
	{to: "organizations/*", do: "quotas"},
	{to: "organizations/*", do: "rename"},
	{to: "organizations/*", do: "suspend", fields: map[string]string{"typed": asks}},
	{to: "organizations/*", do: "delete", fields: map[string]string{"typed": asks}},
	{to: "o/*/keys/*", do: "revoke", fields: map[string]string{"typed": asks}},
	{to: "session/end"},
}

// What the table says that is known only once there is a server.
const (
	folder   = "{folder}"   // that sources may read
	receiver = "{receiver}" // a URL that webhooks are sent to
	dataSet  = "{dataSet}"  // an export
)

// peopled is a server with something of everything, with a browser of those who run it and one of a
// role.
type peopled struct {
	*server
	root, who *browser
	own       string // the key that one is signed in with
	self      string // the page of the member who is signed in; "": it is a key
	known     *strings.Replacer
}

// plan is the text of a document of another organization.
const plan = "The plan of the others."

func people(t *testing.T, role string) *peopled {
	t.Helper()
	s, hooks := hooked(t)
	root := s.signedIn(s.key.Secret)
	const o = "/console/o/default"
	s.put("a.txt", "The hedge is cut in February.")
	source := root.post(o+"/connect/directory", url.Values{"name": {"papers"}, "namespace": {"garden"},
		"config.path": {s.folder}}).leads(t)
	root.settled(source).want(t, 200)
	root.write("notes", "one", "The lease runs until May.").want(t, 303)
	s.remember(root.integrationKey("bot"), "ada@example.com", "Ada likes oat milk.", "")
	hooks.Know(root.post(o+"/webhooks", url.Values{"url": {hooks.URL}, "signature": {"v1"}}).want(t, 200).
		shownSecret(t, "whsec_"))
	root.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)
	root.post("/console/o/acme/new-document",
		url.Values{"namespace": {"herd-of-zebras"}, "id": {"plan"}, "text": {plan}}).want(t, 303)
	root.invited("zoe@example.com", "viewer")
	p := &peopled{server: s, root: root, own: s.key.ID, known: strings.NewReplacer(folder, s.folder, receiver, hooks.URL,
		dataSet, root.get(o+"/n/notes/export").want(t, 200).body)}
	switch role {
	case "root":
		p.who = root
	case "key":
		k := s.issue(key.Issue{Org: "default"})
		p.who, p.own = s.signedIn(k.Secret), k.ID
	default:
		root.joined("olga@example.com", "owner")
		p.who = root.joined("ada@example.com", role)
		p.self = root.member("ada@example.com")
	}
	return p
}

// place is where a form stands in the table; -1: it is missing.
func (p *peopled) place(form sending) int {
	return slices.IndexFunc(fillings, func(f filling) bool {
		ok, _ := path.Match("/console/"+f.to, form.to)
		return ok && f.do == form.do
	})
}

// inOrder is which of two forms is sent first. The key that one is signed in with goes last.
func (p *peopled) inOrder(x, y sending) int {
	own := func(form sending) int { return strings.Index(form.to, "/keys/"+p.own) }
	return cmp.Or(cmp.Compare(p.place(x), p.place(y)), cmp.Compare(own(x), own(y)), cmp.Compare(x.to, y.to))
}

// fill sends a form with what a person would type.
func (p *peopled) fill(form sending, of offer) answer {
	p.Helper()
	n := p.place(form)
	if n < 0 {
		p.Fatalf("the table lacks the form %q of %s: %v", form.do, form.to, of.values)
	}
	f := fillings[n]
	values := maps.Clone(of.values)
	for name, value := range f.fields {
		values.Set(name, strings.ReplaceAll(p.known.Replace(value), asks, of.asks))
	}
	if f.file == "" {
		return p.who.post(form.to, values)
	}
	sent := map[string]string{}
	for name := range values {
		if name != "file" {
			sent[name] = values.Get(name)
		}
	}
	return p.who.send(form.to, sent, map[string]string{"somebody.txt": p.known.Replace(f.file)})
}

// Each role follows every link that it is offered, and every form that it is offered does its work
// when it is filled in; what is offered to those who run the server and not to the role is refused it,
// filled in as well; and nobody but those finds anything of another organization.
func TestRolesAreOfferedWhatTheyMayDo(t *testing.T) {
	count := map[string]int{}
	for _, role := range []string{"root", "owner", "admin", "viewer", "key"} {
		t.Run(role, func(t *testing.T) {
			p := people(t, role)
			pages := p.who.crawl("/console")
			may, every := offered(t, pages), map[sending]offer{}
			kinds := map[int]bool{} // several of one kind come and go, as deliveries do
			for form := range may {
				kinds[p.place(form)] = true
			}
			count[role] = len(kinds)
			if role != "root" {
				p.apart(pages)
				every = offered(t, p.root.crawl("/console"))
			}
			for form, of := range every {
				if _, ok := may[form]; ok || form.do == "check" { // which only reads, and is a viewer's as well
					continue
				}
				if role != "viewer" && strings.Contains(form.to, "/deliveries/") { // which was not yet to be sent again
					continue
				}
				got := p.fill(form, of)
				if got.StatusCode != http.StatusForbidden && got.StatusCode != http.StatusNotFound {
					t.Errorf("not offered %q of %s, which answers %d: %.300s", form.do, form.to, got.StatusCode, got.text)
				}
			}
			for _, form := range slices.SortedFunc(maps.Keys(may), p.inOrder) {
				if strings.Contains(form.to, "/deliveries/") || // which may just be under way
					form.to == p.self && (form.do == "disable" || form.do == "remove") { // which would end the visit
					continue
				}
				got := p.fill(form, may[form])
				if got.StatusCode >= http.StatusMultipleChoices && got.StatusCode != http.StatusSeeOther ||
					strings.Contains(got.Header.Get("Location"), "sign-in") && form.to != "/console/session/end" {
					t.Errorf("offered %q of %s, which answers %d: %s", form.do, form.to, got.StatusCode, got.text)
				}
			}
		})
	}
	t.Logf("kinds of forms: %v", count)
	if len(count) == 5 &&
		(count["viewer"] >= count["admin"] || count["admin"] >= count["owner"] || count["owner"] >= count["root"]) {
		t.Errorf("a role is offered as much as one above it: %v", count)
	}
}

// apart fails where pages show something of another organization.
func (p *peopled) apart(pages map[string]answer) {
	p.Helper()
	for at, a := range pages {
		theirs := strings.Contains(a.body, plan) || strings.Contains(a.body, "herd-of-zebras")
		if theirs || strings.HasPrefix(at, "/console/o/acme") {
			p.Errorf("another organization is seen at %s: %s", at, a.text)
		}
	}
	p.who.get("/console/o/acme/n/herd-of-zebras/documents/plan").want(p.T, http.StatusNotFound)
}
