package browser_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// tools are what drives a browser.
type tools struct{ node, chromium, modules string }

func findTools(t *testing.T) tools {
	t.Helper()
	k := tools{node: harness.Installed(t, "node"), chromium: harness.Chromium(t)}
	k.modules = harness.Tools{Folder: "browser", Make: "browser-tools",
		Pins: []string{"cmd/mneme/test/browser/package-lock.json"}}.Path(t)
	return k
}

// run has a script drive the browser, and reads what it saw, which it prints as one line of JSON.
func (k tools) run(t *testing.T, into any, script string, args ...string) {
	t.Helper()
	var out, problems bytes.Buffer
	c := exec.CommandContext(t.Context(), k.node, append([]string{script, k.modules, k.chromium}, args...)...)
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		t.Fatalf("browser: %v\n%s", err, problems.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
}

// told is what pages said after something was done, and what had stood there before.
type told map[string]struct{ Before, After string }

// say fails unless each page holds its texts, one of which at least is new: what stood there before, as the
// heading of a page, tells nothing of what was done.
func (s told) say(t *testing.T, wants map[string][]string) {
	t.Helper()
	for what, texts := range wants {
		old := 0
		for _, text := range texts {
			if !strings.Contains(s[what].After, text) {
				t.Errorf("%s says %.600q, without %q", what, s[what].After, text)
			}
			if strings.Contains(s[what].Before, text) {
				old++
			}
		}
		if old == len(texts) {
			t.Errorf("%s: %q stood there before: %.600q", what, texts, s[what].Before)
		}
	}
	for what := range s {
		if len(wants[what]) == 0 {
			t.Errorf("nothing is wanted of %s", what)
		}
	}
}

// lack fails where a page still holds a text.
func (s told) lack(t *testing.T, gone map[string]string) {
	t.Helper()
	for what, text := range gone {
		if after := s[what].After; after == "" || strings.Contains(after, text) {
			t.Errorf("%s says %.600q, with %q", what, after, text)
		}
	}
}

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// serve starts the program on a fresh folder.
func serve(t *testing.T) (address, key string) {
	t.Helper()
	at := harness.NewSite(t, "")
	key = at.Key()
	return at.Serve().URL, key
}

// prefixed puts a server below a path, as a reverse proxy does.
func prefixed(t *testing.T, address, prefix string) string {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.StripPrefix(prefix, harness.Buffered(httputil.NewSingleHostReverseProxy(to))))
	t.Cleanup(s.Close)
	return s.URL + prefix
}

// sight is what the browser saw.
type sight struct {
	Requests, Complaints, Operations []string
	Status                           int
	Called, Sent, Body               string
}

func look(t *testing.T, k tools, address, key, path string) sight {
	t.Helper()
	var s sight
	k.run(t, &s, "reference.mjs", address+"/docs", key, path)
	return s
}

// operations are those of the document that the server gives, and what it calls itself.
func operations(t *testing.T, address string) []string {
	t.Helper()
	var d struct {
		Paths    map[string]map[string]any `json:"paths"`
		Webhooks map[string]map[string]any `json:"webhooks"`
	}
	harness.Client{T: t, At: address, HTTP: http.DefaultClient}.OK("GET", "/openapi.json", nil).Into(&d)
	var all []string
	for _, items := range []map[string]map[string]any{d.Paths, d.Webhooks} {
		for path, item := range items {
			for method := range item {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// The page shows every operation, loads nothing from elsewhere, keeps to its
// policy, and calls the server with the key that was entered; at the root and below
// a base path.
func TestTheReferencePageWorksInABrowser(t *testing.T) {
	k := findTools(t)
	address, key := serve(t)
	for name, at := range map[string]string{"at the root": address, "below a base path": prefixed(t, address, "/memory/api")} {
		t.Run(name, func(t *testing.T) {
			s := look(t, k, at, key, "/models")
			slices.Sort(s.Operations)
			if want := operations(t, address); len(want) < 60 || !slices.Equal(s.Operations, want) {
				t.Errorf("the page shows %d operations, the document has %d:\n%v\n%v", len(s.Operations), len(want),
					s.Operations, want)
			}
			for _, u := range s.Requests {
				if !strings.HasPrefix(u, at+"/") && !strings.HasPrefix(u, "data:") {
					t.Errorf("the page asked for %s", u)
				}
			}
			if len(s.Complaints) > 0 {
				t.Errorf("the browser complains: %q", s.Complaints)
			}
			// The page fills parameters in with their examples.
			if called, _, _ := strings.Cut(s.Called, "?"); s.Status != 200 || called != at+"/models" || s.Sent != "Bearer "+key {
				t.Errorf("the call went to %s with %q and was answered %d", s.Called, s.Sent, s.Status)
			}
			if !strings.Contains(s.Body, `"models"`) {
				t.Errorf("the page shows the answer %q", s.Body)
			}
		})
	}
}
