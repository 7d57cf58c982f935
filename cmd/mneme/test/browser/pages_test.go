package browser_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// estate is a server that has something on every page of the console.
func estate(t *testing.T) (*harness.Site, *harness.Server) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{"roof.md": "# Roof\n\nThe roof was mended in 2019.",
		"hedge.txt":  "The hedge is cut in February.",
		"broken.pdf": "%PDF-1.7\nnothing"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := harness.NewSite(t, "sources:\n  enabled: true\n  directories: ["+folder+"]\nevents:\n  record: all\n  http: true\n"+
		"  allow_private: ['127.0.0.1:9']\n") // where nobody answers
	key, admin := at.Key(), at.Key("--type", "admin", "--all-organizations")
	server := at.Serve()
	ok := func(c harness.Client, method, path string, body any) harness.Answer {
		t.Helper()
		a := c.Call(method, path, body)
		if a.Status/100 != 2 {
			t.Fatalf("%s", a)
		}
		return a
	}
	service, operator := server.Client(t, key), server.Client(t, admin)
	ok(service, "POST", "/namespaces/handbook/documents", harness.Object{"documents": []harness.Object{
		{"id": "lease", "text": "# Lease\n\nThe lease runs until May 2027. The notice period is three months.\n\n## Deposit\n\n" +
			"The deposit is two monthly rents and comes back within six weeks.",
			"metadata": harness.Object{"kind": "contract", "source": "https://example.com/lease"}},
		{"id": "router", "text": "The router stands in the hall. Its password is on the back."},
		{"id": "heating", "text": "Bleed the radiators in October, before the heating is switched on."}}})
	ok(service, "PUT", "/namespaces/handbook/queries/lease-end", harness.Object{"query": "when does the lease end",
		"expect": []string{"lease"}, "within": 1})
	ok(service, "PUT", "/namespaces/handbook/queries/cellar", harness.Object{"query": "where is the cellar",
		"expect": []string{"cellar"}})
	var source, running struct{ ID string }
	ok(service, "POST", "/sources", harness.Object{"kind": "directory", "name": "House papers", "namespace": "house",
		"config": harness.Object{"path": folder}}).Into(&source)
	ok(service, "POST", "/sources", harness.Object{"kind": "push", "name": "Tickets", "namespace": "tickets",
		"config": harness.Object{}}).Into(&running)
	ok(service, "POST", "/sources/"+running.ID+"/items", harness.Object{"items": []harness.Object{
		{"key": "1", "name": "The lift is stuck", "text": "The lift is stuck on the third floor."}}})
	ok(service, "POST", "/sources/"+running.ID+"/runs", harness.Object{})
	harness.Eventually(t, "the source is read", func() bool {
		return ok(service, "GET", "/sources/"+source.ID, nil).JSON()["state"] != "syncing" &&
			service.Call("GET", "/namespaces/house", nil).Status == 200
	})
	const org = "/admin/v1/organizations"
	ok(operator, "POST", org, harness.Object{"name": "acme"})
	ok(operator, "POST", org+"/default/members", harness.Object{"email": "ann@example.com", "role": "viewer"})
	ok(operator, "POST", org+"/default/webhooks", harness.Object{"url": "http://127.0.0.1:9/hook",
		"kinds": []string{"documents.written"}})
	ok(operator, "POST", org+"/default/integrations", harness.Object{"name": "assistant"})
	made := ok(operator, "POST", org+"/default/integrations/assistant/keys", harness.Object{"name": "phone",
		"scopes": []string{"memories:read", "memories:write"}}).JSON()
	memory := server.Client(t, made["secret"].(string))
	ok(memory, "POST", "/api/v1/memories", harness.Object{"endUserId": "ann@example.com",
		"content": "Ann prefers trains to planes."})
	ok(memory, "POST", "/api/v1/memories", harness.Object{"endUserId": "ann@example.com",
		"content": "Ann is afraid of geese."})
	ok(operator, "POST", org+"/default/namespaces/handbook/reindex", harness.Object{"force": true})
	ok(service, "POST", "/namespaces/handbook/documents", harness.Object{"documents": []harness.Object{
		{"id": "bins", "text": "The bins are emptied on Tuesdays."}}})
	return at, server
}

// TestEveryPage goes through the pages of one estate. What changes it comes last.
func TestEveryPage(t *testing.T) {
	k := findTools(t)
	at, server := estate(t)
	for _, part := range []struct {
		name string
		test func(t *testing.T, k tools, server *harness.Server, link string)
	}{
		{"PicturesOfTheDocs", picturesOfTheDocs},
		{"IsAccessible", everyPageIsAccessible},
		{"FlowWithoutScript", everyFlowWithoutScript},
		{"FlowByKeyboard", everyFlowByKeyboard},
	} {
		link := strings.TrimSpace(at.Mneme("console", "open").Stdout)
		t.Run(part.name, func(t *testing.T) { part.test(t, k, server, link) })
	}
}

// everyPageIsAccessible: every page of the console, at three widths, light and dark, keeps to WCAG 2.2 AA
// as far as axe can tell, fits the screen, and loads nothing from elsewhere.
func everyPageIsAccessible(t *testing.T, k tools, server *harness.Server, link string) {
	args := []string{link}
	if pictures := os.Getenv("MNEME_PICTURES"); pictures != "" {
		args = append(args, pictures)
	}
	var s struct {
		Requests, Complaints, Overflow, Pages, Running, Violations, Control []string
		Checks                                                              int
	}
	k.run(t, &s, "pages.mjs", args...)
	t.Logf("axe looked %d times at %d pages: %q", s.Checks, len(s.Pages), s.Pages)
	if want := []string{"light image-alt", "light color-contrast", "dark image-alt",
		"dark color-contrast"}; len(s.Control) != 4 ||
		slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(s.Control, w) }) {
		t.Errorf("of what is known to be wrong axe found %q", s.Control)
	}
	for _, v := range s.Violations {
		t.Error(v)
	}
	for _, u := range s.Requests {
		if !strings.HasPrefix(u, server.URL+"/console") {
			t.Errorf("a page asked for %s", u)
		}
	}
	for _, complaint := range s.Complaints { // the browser reports statuses, which are meant
		if !strings.Contains(complaint, "404") && !strings.Contains(complaint, "422") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
	if len(s.Overflow) > 0 {
		t.Errorf("these scroll sideways: %q", s.Overflow)
	}
	// A source that is at work, and the list with it, refreshed themselves while axe looked.
	if !slices.Contains(s.Running, "/o/default/sources") || !slices.ContainsFunc(s.Running, func(p string) bool {
		return strings.HasPrefix(p, "/o/default/sources/")
	}) {
		t.Errorf("these showed something at work: %q", s.Running)
	}
	for _, want := range []string{"/o/default", "/o/default/n/handbook", "/o/default/n/handbook/documents/lease", "/account",
		"/o/default/n/handbook/check", "/o/default/members", "/o/default/webhooks", "/organizations/acme", "/settings"} {
		if !slices.Contains(s.Pages, want) {
			t.Errorf("nothing led to %s", want)
		}
	}
}
