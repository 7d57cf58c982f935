package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// sourced is a site whose sources may read a folder.
type sourced struct {
	*harness.Site
	folder string
	reach  []string // how commands reach the server
}

func newSourced(t *testing.T, how string, reach ...string) *sourced {
	t.Helper()
	folder := t.TempDir()
	list, err := json.Marshal(append([]string{}, reach...))
	if err != nil {
		t.Fatal(err)
	}
	s := &sourced{Site: harness.NewSite(t, fmt.Sprintf(
		"sources: {enabled: true, directories: [%q], allow_private: %s}\n", folder, list)), folder: folder}
	switch how {
	case "beside a server":
		s.Serve()
	case "by URL":
		key := s.Key()
		s.reach = []string{"--url", s.Serve().URL, "--key", key}
	}
	return s
}

func (s *sourced) sources(args ...string) harness.Result {
	s.T.Helper()
	return s.Run(slices.Concat([]string{"sources"}, args, s.reach)...)
}

// does runs a command and checks its exit code and what it says.
func (s *sourced) does(code int, says []string, args ...string) harness.Result {
	s.T.Helper()
	r := s.sources(args...)
	for _, want := range says {
		if r.Code != code || !strings.Contains(r.Stdout+r.Stderr, want) {
			s.T.Errorf("sources %q: want %d and %q, got %d:\n%s%s", args, code, want, r.Code, r.Stdout, r.Stderr)
		}
	}
	return r
}

func (s *sourced) put(name, text string) {
	write(s.T.(*testing.T), filepath.Join(s.folder, name), text)
}

// A source is added, followed, looked at, paused, changed and removed, beside a running server and
// without one.
func TestSources(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"alone", "by URL"} {
		t.Run(how, func(t *testing.T) {
			s := newSourced(t, how)
			s.put("gate.md", "The gate sticks in the rain.\n")
			s.put("more/hedge.md", "The hedge is cut in February.\n")
			s.put("empty.md", "")
			s.does(0, []string{"more/hedge.md", "all of its items; nothing was written"},
				"add", "directory", "garden", s.folder, "--dry-run")
			added := s.does(1, []string{"added Garden", "Garden: partial: 3 items, 2 created, 1 failed",
				"failed empty.md: no_text: "},
				"add", "directory", "garden", s.folder, "--name", "Garden", "--wait")
			id := strings.TrimSuffix(added.Stdout, "\n")
			if !strings.HasPrefix(id, "src_") || strings.ContainsAny(id, " \n") {
				t.Fatalf("add prints %q, not an id alone", added.Stdout)
			}
			asked := s.Run(slices.Concat([]string{"query", "garden", "hedge February", "--mode", "keyword"}, s.reach)...)
			if !strings.Contains(asked.Stdout, " more/hedge.md ") || strings.Contains(asked.Stdout, id) {
				t.Errorf("query says of what a source has brought\n%s%s", asked.Stdout, asked.Stderr)
			}
			found := s.Mneme(slices.Concat([]string{"query", "garden", "when is the hedge cut"}, s.reach)...).Stdout
			if !strings.Contains(found, "The hedge is cut in February.") {
				t.Errorf("the query finds %s", found)
			}
			s.does(0, []string{id, "Garden", "directory", "garden", "idle", "partial"}, "list")
			var list struct {
				Sources []struct {
					ID        string
					Documents int
				}
				More bool
			}
			decodedInto(t, s.does(0, nil, "list", "--kind", "directory", "--limit", "1", "--json").Stdout, &list)
			if len(list.Sources) != 1 || list.Sources[0].ID != id || list.Sources[0].Documents != 2 || list.More {
				t.Errorf("list --json: %+v", list)
			}
			decodedInto(t, s.does(0, nil, "list", "--state", "error", "--json").Stdout, &list)
			if len(list.Sources) != 0 {
				t.Errorf("in error: %+v", list)
			}
			s.does(0, []string{"empty.md", "failed", "no_text"}, "items", id, "--status", "failed")
			if r := s.does(0, []string{"more/hedge.md"}, "items", "Garden", "--prefix", "more/"); strings.Contains(r.Stdout,
				"gate.md") {
				t.Errorf("items --prefix prints\n%s", r.Stdout)
			}

			s.put("empty.md", "Not empty any more.\n")
			s.put("gate.md", "The gate is oiled.\n")
			if err := os.Rename(filepath.Join(s.folder, "more/hedge.md"), filepath.Join(s.folder, "fence.md")); err != nil {
				t.Fatal(err)
			}
			s.does(0, []string{"Garden: completed: 3 items, 2 created, 1 updated, 1 document deleted\n"}, "sync", "Garden",
				"--wait")
			var runs struct {
				Runs []struct{ ID, Trigger, Status string }
				More bool
			}
			decodedInto(t, s.does(0, nil, "runs", id, "--json").Stdout, &runs)
			if len(runs.Runs) != 2 || runs.Runs[0].Trigger != "manual" || runs.Runs[1].Status != "partial" {
				t.Fatalf("runs: %+v", runs)
			}
			s.does(0, []string{"TRIGGER", "1 document deleted", "create"}, "runs", id)
			s.does(0, []string{"STATUS", "deleted  more/hedge.md"}, "runs", id, runs.Runs[0].ID, "--status", "deleted")
			s.does(0, []string{`"key": "fence.md"`}, "runs", id, runs.Runs[0].ID, "--json")
			s.does(0, []string{"fence.md", "nothing was written"}, "check", "Garden")

			s.does(0, []string{"every 1h", `"include":["*.md"]`, "keep"}, "change", id, "--every", "1h", "--set", "include=*.md",
				"--deletions", "keep")
			s.does(0, []string{"Garden: completed: 3 items, 3 unchanged"}, "sync", id, "--full", "--wait")
			s.does(0, []string{"Garden is paused"}, "pause", id)
			s.does(1, []string{"conflict", "is paused"}, "sync", id)
			s.does(0, []string{"Garden is idle"}, "resume", id)
			s.does(0, []string{"schedule   none\n"}, "change", id, "--no-schedule")
			if r := answeringAt(s, "n\n", "rm", id, "--documents"); r.Code != 1 ||
				!strings.Contains(r.Stderr, "disconnect Garden for good and delete its 3 documents?") {
				t.Errorf("rm: %+v", r)
			}
			s.does(0, []string{"Garden is gone"}, "rm", id, "--documents", "--wait", "--yes")
			s.does(1, []string{"there is no source with the name or the id"}, "show", "Garden")
			if r := s.Run(slices.Concat([]string{"namespaces", "show", "garden"}, s.reach)...); r.Code != 1 {
				t.Errorf("its documents are left: %s", r.Stdout)
			}
		})
	}
}

func answeringAt(s *sourced, answer string, args ...string) harness.Result {
	s.T.Helper()
	cmd := s.Command(slices.Concat([]string{"sources"}, args, s.reach)...)
	cmd.Stdin = strings.NewReader(answer)
	return harness.Run(s.T, cmd)
}

// Suspicious deletions are withheld, counted, and applied on demand.
func TestSourcesWithholdDeletions(t *testing.T) {
	s := newSourced(t, "beside a server")
	for i := range 12 {
		s.put(fmt.Sprintf("%02d.md", i), fmt.Sprintf("Note %d.\n", i))
	}
	id := strings.TrimSpace(s.does(0, []string{"12 created"}, "add", "directory", "notes", s.folder, "--wait").Stdout)
	for i := range 12 {
		if err := os.Remove(filepath.Join(s.folder, fmt.Sprintf("%02d.md", i))); err != nil {
			t.Fatal(err)
		}
	}
	s.does(1, []string{"partial: 0 items, 12 documents withheld", "--apply-deletions 12 deletes them"}, "sync", id, "--wait")
	s.does(1, []string{"12 documents withheld"}, "sync", id, "--apply-deletions", "11", "--wait")
	s.does(0, []string{"completed: 0 items, 12 documents deleted"}, "sync", id, "--apply-deletions", "12", "--wait")
	s.does(1, []string{"conflict: the run has ended as completed"}, "sync", id, "--cancel")
	s.does(0, []string{`"status": "completed"`}, "sync", id, "--retry-failed", "--wait", "--json")
}

// Where sources are off the command says what switches them on.
func TestSourcesAreOff(t *testing.T) {
	s := &sourced{Site: harness.NewSite(t, "")}
	s.does(1, []string{"sources are off: set sources.enabled to true", "sources.directories"}, "add", "directory", "docs",
		t.TempDir())
	s.does(1, []string{"sources are off"}, "list")
}

// What cannot work is said before anything is written; a secret on the command line is not taken.
func TestSourceMistakes(t *testing.T) {
	s := newSourced(t, "beside a server")
	outside := t.TempDir()
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, `"direktory" is no kind of source of this server; did you mean "directory"?`, []string{"direktory", "docs",
			s.folder}},
		{1, `config.pth: is unknown; did you mean "path"?`, []string{"directory", "docs", "--set", "pth=" + s.folder}},
		{1, "config.path: is in none of the folders", []string{"directory", "docs", outside}},
		{1, "config: cannot work: the folder does not exist", []string{"directory", "docs", filepath.Join(s.folder, "absent")}},
		{1, "config.follow_symlinks: must be of type boolean", []string{"directory", "docs", s.folder, "--set",
			"follow_symlinks=yes"}},
		{1, "config.path: is required", []string{"directory", "docs"}},
		{1, "address is not a public one", []string{"git", "docs", "https://10.255.255.1/x.git", "--set", "ref=a"}},
		{1, "schedule.cron: must be five fields", []string{"directory", "docs", s.folder, "--cron", "soon"}},
		{1, "schedule.every: must be a duration", []string{"directory", "docs", s.folder, "--every", "1s"}},
		{1, "deletions", []string{"directory", "docs", s.folder, "--deletions", "never"}},
		{2, "is no namespace", []string{"directory", "Do cs", s.folder}},
		{2, "a source of kind push is not in one place", []string{"push", "docs", "here"}},
		{2, "is not like path=/srv/handbook", []string{"directory", "docs", "--set", "path"}},
		{2, "a value is not given on the command line", []string{"git", "docs", "https://a.example/x", "--secret",
			"token=hunter2"}},
		{2, "the environment variable NONE_SUCH is not set", []string{"git", "docs", "https://a.example/x", "--secret",
			"token=env:NONE_SUCH"}},
		{1, "read the secret token", []string{"git", "docs", "https://a.example/x", "--secret",
			"token=file:" + outside + "/none"}},
		{2, "the secret token is empty", []string{"git", "docs", "https://a.example/x", "--secret", "token=-"}},
	} {
		r := s.does(c.code, []string{c.says}, append([]string{"add"}, c.args...)...)
		if strings.Contains(r.Stderr, "hunter2") {
			t.Errorf("the secret is said: %s", r.Stderr)
		}
	}
	if r := answeringAt(s, "tok\n", "add", "git", "docs", "https://a.example/x", "--secret", "a=-", "--secret",
		"b=-"); r.Code != 2 ||
		!strings.Contains(r.Stderr, "standard input holds one secret") {
		t.Errorf("two secrets: %+v", r)
	}
	if r := s.does(0, nil, "list", "--json"); !strings.Contains(r.Stdout, `"sources": []`) {
		t.Errorf("something was added: %s", r.Stdout)
	}
	s.does(2, []string{"sources has no command"}, "remove", "x")
	s.does(2, []string{"go one at a time"}, "sync", "x", "--full", "--cancel")
	s.does(2, []string{"--status goes with a run"}, "runs", "x", "--status", "failed")
	s.does(2, []string{"--no-schedule goes with neither"}, "change", "x", "--no-schedule", "--every", "1h")
	s.does(2, []string{"--limit must not be negative"}, "items", "x", "--limit", "-1")
	s.does(0, []string{"push", "A program brings the items"}, "kinds")
	s.does(0, []string{"--secret  ssh_key", "--set     url", "Git repository"}, "kinds", "git")
	added := strings.TrimSpace(s.does(0, []string{"added tickets"}, "add", "push", "help", "--name", "tickets").Stdout)
	s.does(0, []string{"added tickets"}, "add", "push", "help", "--name", "tickets", "--paused", "--json")
	s.does(1, []string{`2 sources have the name "tickets": src_`, "give the id"}, "show", "tickets")
	s.does(1, []string{"conflict", "is of kind push"}, "sync", added)
}

// Secrets reach the upstream from the environment, a file and standard input, and nobody else.
func TestSourceSecrets(t *testing.T) {
	var mu sync.Mutex
	var keys []string
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		id, _, _ := strings.Cut(credential, "/")
		mu.Lock()
		keys = append(keys, id)
		mu.Unlock()
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write([]byte(`<ListBucketResult><Name>reports</Name><IsTruncated>false</IsTruncated></ListBucketResult>`))
	}))
	t.Cleanup(bucket.Close)
	s := newSourced(t, "beside a server", bucket.Listener.Addr().String())
	s.Env = append(s.Env, "BUCKET_KEY=id-of-the-environment")
	file := filepath.Join(t.TempDir(), "key")
	write(t, file, "secret-of-a-file\n")
	add := []string{"add", "s3", "reports", "reports", "--set", "endpoint=" + bucket.URL, "--set", "region=r"}
	s.does(0, []string{"completed: 0 items"}, append(add, "--name", "one", "--secret", "access_key_id=env:BUCKET_KEY", "--secret",
		"secret_access_key=file:"+file, "--wait")...)
	if r := answeringAt(s, "id-of-standard-input\n", "change", "one", "--secret", "access_key_id=-"); r.Code != 0 ||
		!strings.Contains(r.Stdout, "secrets set  access_key_id, secret_access_key\n") {
		t.Errorf("change: %+v", r)
	}
	shown := s.does(0, nil, "show", "one", "--json").Stdout
	if strings.Contains(shown, "id-of-") || strings.Contains(shown, "secret-of") {
		t.Errorf("shown: %s", shown)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(keys, "id-of-the-environment") || !slices.Contains(keys, "id-of-standard-input") {
		t.Errorf("the bucket got the keys %q", keys)
	}
}
