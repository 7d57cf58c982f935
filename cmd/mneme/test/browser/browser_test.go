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
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// need finds a tool, or ends the test.
func need(t *testing.T, what string, found bool) {
	t.Helper()
	switch {
	case found:
	case os.Getenv("MNEME_TEST_REQUIRE") == "1":
		t.Fatalf("%s is missing", what)
	default:
		t.Skipf("SKIPPED: %s is missing", what)
	}
}

// tools are what drives a browser.
type tools struct{ node, chromium, modules string }

func findTools(t *testing.T) tools {
	t.Helper()
	var k tools
	var err error
	k.node, err = exec.LookPath("node")
	need(t, "node", err == nil)
	if k.chromium = os.Getenv("MNEME_CHROMIUM"); k.chromium == "" {
		k.chromium, err = exec.LookPath("chromium")
		need(t, "chromium (or MNEME_CHROMIUM)", err == nil)
	}
	k.modules, err = filepath.Abs("../../../../.cache/browser")
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(k.modules, "node_modules", "playwright-core"))
	need(t, "playwright-core (sh cmd/mneme/test/browser/install.sh)", err == nil)
	return k
}

// program is the real one.
var program *harness.Program

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	program = harness.New()
	defer program.Remove()
	return m.Run()
}

// serve starts the program on a fresh folder.
func serve(t *testing.T) (address, key string) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	key = strings.TrimSpace(harness.Succeed(t, exec.Command(program.Path(t), "keys", "create", "--data", data)).Stdout)
	s := harness.Serve(t, exec.Command(program.Path(t), "serve", "--addr", "127.0.0.1:0", "--data", data))
	return s.URL, key
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
	var out, problems bytes.Buffer
	c := exec.CommandContext(t.Context(), k.node, "reference.mjs", k.modules, k.chromium, address+"/docs", key, path)
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		t.Fatalf("browser: %v\n%s", err, problems.String())
	}
	var s sight
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	return s
}

// operations are those of the document that the server gives.
func operations(t *testing.T, address string) []string {
	t.Helper()
	r, err := http.Get(address + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var d struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		t.Fatal(err)
	}
	var all []string
	for path, item := range d.Paths {
		for method := range item {
			all = append(all, strings.ToUpper(method)+" "+path)
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
