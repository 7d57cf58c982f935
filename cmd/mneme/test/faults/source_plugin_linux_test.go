package faults_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// notes is the app that the example of a connector follows; what it holds changes with set.
type notes struct {
	mu   sync.Mutex
	all  map[string]string
	gone []string
}

// set makes the app hold these notes, and no longer those that are gone.
func (n *notes) set(all map[string]string, gone ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all, n.gone = all, gone
}

// ServeHTTP lists all notes, and as changes all notes and what is gone.
func (n *notes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer tok-that-nobody-may-see" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	list := []harness.Object{}
	for _, id := range slices.Sorted(maps.Keys(n.all)) {
		list = append(list, harness.Object{"id": id, "title": id, "seq": len(n.all[id]), "text": n.all[id],
			"modified": "2026-01-02T03:04:05Z"})
	}
	for _, id := range n.gone {
		if r.URL.Path == "/changes" {
			list = append(list, harness.Object{"id": id, "deleted": true, "modified": "2026-01-02T03:04:05Z"})
		}
	}
	_ = json.NewEncoder(w).Encode(harness.Object{"notes": list, "more": false, "seq": 1})
}

var connectorStarted = regexp.MustCompile(`msg="backend started".* connector=acme pid=(\d+)`)

// TestSourcePlugin: a vendor's connector, a program of its own, brings a kind along, whose
// sources follow its app; and the server outlives the program.
func TestSourcePlugin(t *testing.T) {
	program := filepath.Join(t.TempDir(), "acme")
	build := exec.Command("go", "build", "-o", program, "../../../../plugins/examples/source-go")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	app := &notes{}
	app.set(map[string]string{"hedges": "The hedges are cut in February.", "bees": "Bees need water in July."})
	upstream := httptest.NewServer(app)
	defer upstream.Close()
	site := harness.NewSite(t, fmt.Sprintf(
		"sources: {enabled: true, plugins: {acme: {process: {command: [%q], unverified: true}}}}\n"+
			"roles: {rerank: \"off\"}\n", program))
	server := site.Serve()
	api := server.Client(t, site.Key("--name", "test"))
	kinds := string(api.OK("GET", "/source_kinds", nil).Body)
	if !strings.Contains(kinds, `"notes"`) || !strings.Contains(kinds, `"directory"`) {
		t.Fatalf("the kinds are %s", kinds)
	}
	made := api.Call("POST", "/sources", harness.Object{"name": "Notes", "kind": "notes", "namespace": "docs",
		"config":  harness.Object{"url": upstream.URL},
		"secrets": harness.Object{"token": "tok-that-nobody-may-see"}}).Is(http.StatusCreated)
	id, _ := made.JSON()["id"].(string)
	ended := func(runs int) harness.Object {
		t.Helper()
		var last harness.Object
		harness.EventuallySees(t, "the run ends", func() (bool, string) {
			all := api.OK("GET", "/sources/"+id+"/runs", nil)
			var page struct{ Runs []harness.Object }
			all.Into(&page)
			if len(page.Runs) < runs {
				return false, all.String()
			}
			last = page.Runs[0]
			return last["finished_at"] != nil, all.String()
		})
		return last
	}
	held := func() string {
		t.Helper()
		all := string(api.OK("GET", "/namespaces/docs/documents", nil).Body)
		var has []string
		for _, word := range []string{"hedges", "bees", "apples"} {
			if strings.Contains(all, `"path":"`+word+`"`) {
				has = append(has, word)
			}
		}
		return strings.Join(has, " ")
	}
	if run := ended(1); run["status"] != "completed" || held() != "hedges bees" {
		t.Errorf("%v, kept are %s", run, held())
	}
	app.set(map[string]string{"hedges": "The hedges are cut in March, this year.", "apples": "Apples keep in straw."}, "bees")
	// The program is killed: the server goes on, and so does the source, once it is back.
	started := connectorStarted.FindAllStringSubmatch(server.Logged(), -1)
	if len(started) != 1 {
		t.Fatalf("started %d times\n%s", len(started), server.Logged())
	}
	pid, _ := strconv.Atoi(started[0][1])
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the program is started again", func() bool {
		return len(connectorStarted.FindAllString(server.Logged(), -1)) == 2
	})
	api.Call("POST", "/sources/"+id+"/sync", harness.Object{}).Is(http.StatusAccepted)
	if run := ended(2); run["status"] != "completed" || held() != "hedges apples" {
		t.Errorf("%v, kept are %s", run, held())
	}
	if strings.Contains(server.Logged(), "tok-that-nobody-may-see") {
		t.Error("the token is in the log")
	}
	server.Kill()
	// A program that is not there, or that brings a kind which there is already, keeps the
	// server from starting, and the server says so.
	own := fmt.Sprintf("command: [%q], unverified: true", program)
	for config, want := range map[string]string{
		"acme: {process: {command: [/not/there], unverified: true}}": "/not/there",
		"a: {process: &p {" + own + "}}, b: {process: *p}":           `kind of source "notes"`,
		fmt.Sprintf("acme: {process: {command: [%q]}}", program):     "unverified: true",
		"acme: {process: {" + own + ", timeot: 1s}}":                 `did you mean "timeout"`,
		"acme: {proces: {" + own + "}}":                              `did you mean "process"`,
		"acme: {process: {" + own + ", silence_timeout: 48h}}":       "silence_timeout",
		"acme: {process: {" + own + ", files: [{path: \"\"}]}}":      "files[0]",
	} {
		out := harness.NewSite(t, "sources: {enabled: true, plugins: {"+config+"}}\n").Run("serve", "--addr", "127.0.0.1:0")
		if out.Code == 0 || !strings.Contains(out.Stderr, want) {
			t.Errorf("%s: %d, want %q\n%s", config, out.Code, want, out.Stderr)
		}
	}
}
