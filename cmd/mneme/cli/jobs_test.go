package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// stuckModel is a configuration whose embedding model answers nothing until the end
// of the test.
func stuckModel(t *testing.T) string {
	t.Helper()
	ended := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() {
		close(ended)
		model.Close()
	})
	file := filepath.Join(t.TempDir(), "stuck.yaml")
	text := fmt.Sprintf(`models:
  vectors:
    openai: { task: embedding, base_url: "%s/v1", model: stuck, dimensions: 8, timeout: 10m, retries: 0 }
roles: { embed: vectors, rerank: off }
`, model.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The commands about jobs show and cancel those of a running server: all of them
// beside it, and over its URL those that the key administers.
func TestJobs(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data, "--config", stuckModel(t))
	succeed(t, "orgs", "create", "acme", "--data", data)
	later := func(key, ns string) (id string) {
		t.Helper()
		a := s.Client(t, key).Call("POST", "/namespaces/"+ns+"/documents",
			`{"documents":[{"id":"a","text":"the toucan is confidential"},{"id":"b","text":"so is the hoatzin"}]}`,
			"Prefer", "respond-async").Is(http.StatusAccepted)
		return path.Base(a.Header.Get("Location"))
	}
	key := newKey(t, data)
	running, queued := later(key, "docs"), later(key, "docs")
	others := later(newKey(t, data, "--org", "acme"), "notes")

	type job struct{ ID, Status string }
	list := func(args ...string) (ids []string, more bool) {
		t.Helper()
		var l struct {
			Jobs []job
			More bool
		}
		out := succeed(t, append([]string{"jobs", "list", "--json", "--data", data}, args...)...).Stdout
		if err := json.Unmarshal([]byte(out), &l); err != nil || strings.Contains(out, "confidential") {
			t.Fatalf("%v: %s", err, out)
		}
		for _, j := range l.Jobs {
			ids = append(ids, j.ID)
		}
		return ids, l.More
	}
	show := func(id string) (j job) {
		t.Helper()
		out := succeed(t, "jobs", "show", id, "--json", "--data", data).Stdout
		if err := json.Unmarshal([]byte(out), &j); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return j
	}
	harness.Eventually(t, "the first write runs", func() bool { return show(running).Status == "running" })
	for args, want := range map[string][]string{
		"":                                 {others, queued, running},
		"--org acme":                       {others},
		"--status queued":                  {others, queued},
		"--status queued --org default":    {queued},
		"--kind documents.write --limit 0": {others, queued, running},
		"--kind nothing":                   nil,
		"--limit 3":                        {others, queued, running},
		"--limit 2":                        {others, queued},
		"--limit 1 --kind documents.write": {others},
		"--limit 1 --status running --org default": {running},
	} {
		got, more := list(strings.Fields(args)...)
		// Only those two lists leave some out.
		if !slices.Equal(got, want) || more != (args == "--limit 2" || args == "--limit 1 --kind documents.write") {
			t.Errorf("jobs list %s: %v, more %v; want %v", args, got, more, want)
		}
	}
	r := succeed(t, "jobs", "list", "--data", data, "--limit", "2")
	if !regexp.MustCompile(`(?m)^`+queued+` +documents\.write +namespace docs +queued +0/2 +0 +\d{4}-[0-9 :-]+ +- +-$`).
		MatchString(r.Stdout) || !strings.Contains(r.Stderr, "--limit 0") {
		t.Errorf("jobs list prints\n%s%s", r.Stdout, r.Stderr)
	}
	out := succeed(t, "jobs", "show", running, "--data", data).Stdout
	for _, line := range []string{"id +" + running, "kind +documents.write", "on +namespace docs", "status +running", "done +0/2",
		"tries +1", "started +2.*"} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(out) {
			t.Errorf("jobs show has no line %s:\n%s", line, out)
		}
	}
	if strings.Contains(out, "finished") || strings.Contains(out, "error") {
		t.Errorf("jobs show says of a running job\n%s", out)
	}

	// By URL, with the key of another organization.
	admin := []string{"MNEME_ADMIN_KEY=" +
		made(t, "adm-", succeed(t, "keys", "create", "--data", data, "--type", "admin", "--org", "acme").Stdout)}
	if r := mnemeIn(t, "", admin, "jobs", "list", "--url", s.URL); r.Code != 0 || !strings.Contains(r.Stdout, others) ||
		strings.Contains(r.Stdout, queued) {
		t.Errorf("an organization's list: %+v", r)
	}
	for _, c := range []string{"show", "cancel"} {
		for _, id := range []string{queued, "op_none", ".."} {
			r := mnemeIn(t, "", admin, "jobs", c, id, "--url", s.URL)
			if r.Code != 1 || !strings.Contains(r.Stderr, id) || r.Stdout != "" {
				t.Errorf("jobs %s %s of another organization: %+v", c, id, r)
			}
		}
	}

	out = succeed(t, "jobs", "cancel", queued, "--data", data).Stdout
	for _, line := range []string{`status +cancelled`, `error +canceled: .+`, `finished +2.*`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(out) {
			t.Errorf("jobs cancel of a queued job has no line %s:\n%s", line, out)
		}
	}
	var cancelling struct{ Cancelling bool }
	out = succeed(t, "jobs", "cancel", running, "--json", "--data", data).Stdout
	if err := json.Unmarshal([]byte(out), &cancelling); err != nil || !cancelling.Cancelling {
		t.Errorf("jobs cancel of a running job prints %v\n%s", err, out)
	}
	harness.Eventually(t, "the running job is cancelled", func() bool { return show(running).Status == "cancelled" })

	for args, says := range map[string]string{
		"jobs list --limit -1":     "--limit",
		"jobs list --org nobody":   "nobody",
		"jobs list --status ended": "status",
		"jobs show":                "arg",
		"jobs cancel":              "arg",
		"jobs":                     "cancel",
	} {
		r := mneme(t, append(strings.Fields(args), "--data", data)...)
		if r.Code == 0 || !strings.Contains(r.Stderr, says) || r.Stdout != "" {
			t.Errorf("%s: %+v", args, r)
		}
	}
}
