package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/mnemehq/mneme/core/key"
)

// sending is a form that changes something, as a page offers it.
type sending struct{ to, do string }

// offered are the forms that pages offer, each with what stands in its fields.
func offered(t *testing.T, pages map[string]answer) map[sending]url.Values {
	t.Helper()
	out := map[sending]url.Values{}
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
			values := url.Values{}
			for n := range f.Descendants() {
				if name, ok := attribute(n, "name"); ok && n.Type == html.ElementNode && n.Data == "input" {
					value, _ := attribute(n, "value")
					values.Set(name, value)
				}
			}
			out[sending{to.Path, values.Get("do") + values.Get("action")}] = values
		}
	}
	return out
}

// Each role follows every link that it is offered; what others may send and it is not offered is
// refused, and nobody but those who run the server finds anything of another organization.
func TestRolesAreOfferedWhatTheyMayDo(t *testing.T) {
	s := serve(t, nil, whole)
	root := s.signedIn(s.key.Secret)
	const o = "/console/o/default"
	s.put("a.txt", "The hedge is cut in February.")
	source := root.post(o+"/connect/directory", url.Values{"name": {"papers"}, "namespace": {"garden"},
		"config.path": {s.folder}}).leads(t)
	root.settled(source).want(t, 200)
	root.write("notes", "one", "The lease runs until May.").want(t, 303)
	s.remember(root.integrationKey("bot"), "ada@example.com", "Ada likes oat milk.", "")
	root.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)
	const plan = "The plan of the others."
	root.post("/console/o/acme/new-document",
		url.Values{"namespace": {"herd-of-zebras"}, "id": {"plan"}, "text": {plan}}).want(t, 303)
	owner := root.joined("olga@example.com", "owner")
	roles := map[string]*browser{"root": root, "owner": owner, "admin": owner.joined("ada@example.com", "admin"),
		"viewer": owner.joined("vic@example.com", "viewer"), "key": s.signedIn(s.issue(key.Issue{Org: "default"}).Secret)}

	may, every := map[string]map[sending]url.Values{}, map[sending]url.Values{}
	for role, b := range roles {
		pages := b.crawl("/console")
		may[role] = offered(t, pages)
		for form, values := range may[role] {
			every[form] = values
		}
		if role == "root" {
			continue
		}
		for at, a := range pages {
			theirs := strings.Contains(a.body, plan) || strings.Contains(a.body, "herd-of-zebras")
			if theirs || strings.HasPrefix(at, "/console/o/acme") {
				t.Errorf("%s sees of another organization at %s: %s", role, at, a.text)
			}
		}
		b.get("/console/o/acme/n/herd-of-zebras/documents/plan").want(t, 404)
	}
	t.Logf("forms: root %d, owner %d, admin %d, viewer %d, key %d", len(may["root"]), len(may["owner"]), len(may["admin"]),
		len(may["viewer"]), len(may["key"]))
	if len(may["viewer"]) >= len(may["admin"]) || len(may["admin"]) >= len(may["owner"]) ||
		len(may["owner"]) >= len(may["root"]) {
		t.Error("a role is offered as much as one above it")
	}
	for role, b := range roles {
		for form, values := range every {
			if _, ok := may[role][form]; ok || form.to == "/console/account" { // keys have no password to change
				continue
			}
			got := b.post(form.to, values) // what is wrong in a form may be said before whose it is
			if got.StatusCode < http.StatusBadRequest || got.StatusCode >= http.StatusInternalServerError {
				t.Errorf("%s is not offered %q of %s, which answers %d: %.300s", role, form.do, form.to, got.StatusCode, got.text)
			}
		}
	}
}
