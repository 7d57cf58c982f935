package mcp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/standard"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/cmd/mneme/test/assembled"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/transports/mcp"
)

// suites are the runs of the official conformance suite: each of its versions by
// the revisions that it knows.
func suites() []suite {
	return []suite{
		{"0.1.16", rev2511, "conformance-2025-11-25", []string{"--suite", "all", "--spec-version", rev2511}, 32},
		{"0.2.0-alpha.12", rev2511, "conformance-2026-07-28", []string{"--requirements", rev2511}, 30},
		{"0.2.0-alpha.12", rev2026, "conformance-2026-07-28", []string{"--requirements", rev2026}, 37},
	}
}

type suite struct {
	version, revision, folder string
	args                      []string
	scenarios                 int // at least so many are run
}

// TestConformance runs the suite with its fixtures on the production assembly:
// same transport, same keys, same limits. What fails must be what
// testdata/conformance lists, with its reason, and nothing more.
func TestConformance(t *testing.T) {
	t.Parallel()
	clients(t)
	add := fixtures()
	a := inProcess(t, func(o *mcp.Options) { o.Extend, o.Configure = add, configureFixtures })
	url := withKey(t, a.URL, a.Issue(key.Issue{Name: "conformance"}))
	for _, s := range suites() {
		t.Run(s.version+"/"+s.revision, func(t *testing.T) {
			t.Parallel()
			s.run(t, url, filepath.Join("testdata", "conformance", s.version+"-"+s.revision+".yaml"))
		})
	}
}

// TestConformanceOfTheProduct runs what needs no fixture against the real binary.
func TestConformanceOfTheProduct(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	clients(t)
	s := newSite(t)
	s.serve()
	url := withKey(t, s.url, s.key)
	for _, run := range []struct {
		suite
		want []string
	}{
		{suites()[0], []string{"server-initialize", "ping", "tools-list", "server-sse-multiple-streams",
			"dns-rebinding-protection"}},
		{suites()[1], []string{"server-initialize", "ping", "tools-list", "server-sse-multiple-streams",
			"dns-rebinding-protection"}},
		{suites()[2], []string{"tools-list", "server-sse-multiple-streams", "dns-rebinding-protection",
			"http-header-validation", "input-required-result-unsupported-methods"}},
	} {
		t.Run(run.version+"/"+run.revision, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := run.suite.start(t, url)
			passed, failed := results(stdout)
			for _, name := range run.want {
				if !slices.Contains(passed, name) {
					t.Errorf("scenario %s does not pass", name)
				}
			}
			t.Logf("passed: %s\nfailed, most for want of a fixture: %s", strings.Join(passed, " "), strings.Join(failed, " "))
			if t.Failed() {
				t.Logf("exit code %d\n%s%s", code, clip(stdout, 12000), stderr)
			}
		})
	}
}

func (s suite) start(t *testing.T, url string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	all := append([]string{"server", "--url", url, "--output-dir", dir}, s.args...)
	r := script(t, filepath.Join(s.folder, "dist", "index.js"), append(all, args...)...)
	return r.Code, r.Stdout, r.Stderr + reasons(t, dir)
}

// reasons are what the suite found wrong, in its own words.
func reasons(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(content, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				fmt.Fprintf(&out, "%s %s: %s: %s\n", c.Status, filepath.Base(filepath.Dir(file)), c.ID, clip(c.ErrorMessage, 600))
			}
		}
	}
	return out.String()
}

// run wants exactly the scenarios that the file names to fail: the suite's exit
// code says whether others do, or one of them does not.
func (s suite) run(t *testing.T, url, expected string) {
	t.Helper()
	expected, err := filepath.Abs(expected)
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := s.start(t, url, "--expected-failures", expected)
	passed, failed := results(stdout)
	if code != 0 || len(passed)+len(failed) < s.scenarios {
		t.Errorf("exit code %d; %d scenarios passed, %d did not, want at least %d in all\n%s\n%s", code, len(passed),
			len(failed), s.scenarios, clip(stderr, 12000), clip(stdout, 6000))
	}
	t.Logf("suite %s, revision %s: %d scenarios pass, %d do not: %s", s.version, s.revision, len(passed), len(failed),
		strings.Join(failed, " "))
}

var resultLine = regexp.MustCompile(`(?m)^([✓✗]) ([a-z0-9-]+): \d+ passed, (\d+) failed`)

// results reads the summary at the end of a run.
func results(stdout string) (passed, failed []string) {
	for _, m := range resultLine.FindAllStringSubmatch(stdout, -1) {
		if m[1] == "✓" {
			passed = append(passed, m[2])
		} else {
			failed = append(failed, m[2])
		}
	}
	return passed, failed
}

// inProcess is the product in this process; change may add to its tools.
func inProcess(t *testing.T, change func(*mcp.Options)) *assembled.Server {
	t.Helper()
	components := registry.New()
	standard.Register(components)
	config, err := configs.Load(components,
		configs.Source{Settings: []configs.Setting{{Path: "data_dir", Value: filepath.Join(t.TempDir(), "data")}}})
	if err != nil {
		t.Fatal(err)
	}
	return assembled.Open(t, func(string) app.Settings {
		return app.Settings{Registry: components, Config: config, MCP: change}
	})
}

// withKey is a proxy on this machine that adds the key to each request, since the
// suite can't be given one. Everything else passes as it is, the Host header too.
func withKey(t *testing.T, server, key string) (mcpURL string) {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(harness.Buffered(&httputil.ReverseProxy{FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+key)
		}}))
	t.Cleanup(proxy.Close)
	return proxy.URL + "/mcp"
}
