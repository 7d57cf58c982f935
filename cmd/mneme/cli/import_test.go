package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/model/remotetest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// living is a folder that is imported again and again.
type living struct {
	t    *testing.T
	dir  string
	data string
}

func newLiving(t *testing.T, files map[string]string) *living {
	dir := t.TempDir()
	l := &living{t, filepath.Join(dir, "in"), filepath.Join(dir, "data")}
	for name, text := range files {
		l.put(name, text)
	}
	return l
}

func (l *living) put(name, text string) { l.t.Helper(); write(l.t, filepath.Join(l.dir, name), text) }

func (l *living) command(args ...string) *exec.Cmd {
	site := harness.Site{T: l.t, Data: l.data}
	cmd := site.Command(append([]string{"import", ".", "--namespace", "notes"}, args...)...)
	cmd.Dir = l.dir
	return cmd
}

// run imports, wants an exit code, and texts in what is said on standard error.
func (l *living) run(code int, want []string, args ...string) string {
	l.t.Helper()
	r := harness.Run(l.t, l.command(args...))
	for _, w := range want {
		if !strings.Contains(r.Stderr, w) {
			l.t.Errorf("import %q does not say %q:\n%s", args, w, r.Stderr)
		}
	}
	if r.Code != code {
		l.t.Errorf("import %q ends with %d, want %d:\n%s", args, r.Code, code, r.Stderr)
	}
	return r.Stdout
}

// finds is what a query prints.
func (l *living) finds(text string) string {
	l.t.Helper()
	return (&harness.Site{T: l.t, Data: l.data}).Mneme("query", "notes", text, "--mode", "keyword").Stdout
}

func TestImportPrunesWhatIsGone(t *testing.T) {
	l := newLiving(t, map[string]string{"harbour.md": "The harbour closes at dusk.", "tide.md": "Tide tables hang in the office.",
		"other.md": "Nothing else."})
	l.run(0, []string{"3 documents (3 new"})
	if err := os.Remove(filepath.Join(l.dir, "harbour.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(l.dir, "tide.md"), filepath.Join(l.dir, "tides.md")); err != nil {
		t.Fatal(err)
	}
	gone := "2 documents of 2 files that are gone or left out now can still be found; --prune deletes them"
	l.run(0, []string{"1 document (1 new", gone})
	if out := l.finds("harbour"); !strings.Contains(out, "harbour.md") {
		t.Errorf("before it is pruned:\n%s", out)
	}
	if out := l.run(0, nil, "--prune", "--dry-run"); !strings.Contains(out, "delete  harbour.md: is gone (1 document)") {
		t.Errorf("a dry run says\n%s", out)
	}
	refused := l.command("--prune")
	refused.Stdin = strings.NewReader("n\n")
	if r := harness.Run(t, refused); r.Code != 1 || !strings.Contains(r.Stderr, "delete 2 documents from namespace notes?") ||
		!strings.Contains(r.Stderr, "nothing was pruned") {
		t.Errorf("answered no: %+v", r)
	}
	if out := l.finds("harbour"); !strings.Contains(out, "harbour.md") {
		t.Errorf("pruned without consent:\n%s", out)
	}
	agreed := l.command("--prune")
	agreed.Stdin = strings.NewReader("y\n")
	if r := harness.Run(t, agreed); r.Code != 0 || !strings.Contains(r.Stderr, "pruned: 2 documents") {
		t.Errorf("answered yes: %+v", r)
	}
	if out := l.finds("harbour"); strings.Contains(out, "harbour.md") {
		t.Errorf("after it is pruned:\n%s", out)
	}
	if out := l.finds("tide"); strings.Contains(out, "tide.md") || !strings.Contains(out, "tides.md") {
		t.Errorf("a renamed file:\n%s", out)
	}
	l.run(0, []string{"1 document of 1 file that"}, "--exclude", "other.md")
	l.run(0, []string{"pruned: 1 document"}, "--exclude", "other.md", "--prune", "--yes")
	// An empty folder is more likely one that is not mounted.
	for _, name := range []string{"tides.md", "other.md"} {
		if err := os.Remove(filepath.Join(l.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	l.run(1, []string{"nothing to import"}, "--prune", "--yes")
	if out := l.finds("tide"); !strings.Contains(out, "tides.md") {
		t.Errorf("an empty folder was pruned:\n%s", out)
	}
}

func TestImportLeavesOutAndSaysSo(t *testing.T) {
	l := newLiving(t, map[string]string{"a.md": "---\ntitle: Lease\nlang: en\n---\nNotice is three months.", "b.gif": "GIF89a",
		"c.png":      "x",
		".gitignore": "draft.md\n", "draft.md": "x", "node_modules/p/README.md": "x",
		"Verträge/Büro.txt": "Die Miete beträgt zehn Taler.",
		"old.txt":           "Gr\xfc\xdfe", "rows.jsonl": `{"id":"r1","text":"row"}` + "\n{}\n"})
	plan := l.run(1, nil, "--dry-run")
	for _, want := range []string{"import  a.md: is new (1 document)", "leave   b.gif: is of another kind",
		"leave   node_modules/: holds packages of others",
		"leave   draft.md: is named in a .gitignore file", "refuse  old.txt: is not valid UTF-8: byte 3 of line 1",
		"import  rows.jsonl: is new (1 document)", "refuse  rows.jsonl:2: text: is missing"} {
		if !strings.Contains(plan, want+"\n") {
			t.Errorf("the plan lacks %q:\n%s", want, plan)
		}
	}
	if _, err := os.Stat(l.data); !os.IsNotExist(err) {
		t.Errorf("a dry run made the data folder: %v", err)
	}
	failed := []string{"not imported: old.txt: is not valid UTF-8", "--encoding windows-1252", "rows.jsonl:2: text: is missing",
		"4 files left out (1 hidden, 1 .gif, 1 .png, 1 named in a .gitignore file); --dry-run names each"}
	l.run(1, append(failed, "3 documents (3 new"))
	l.run(1, append(failed, "not imported, and not changed since: rows.jsonl:2"))
	l.put("rows.jsonl", `{"id":"r1","text":"row"}`+"\n")
	l.run(0, []string{"2 documents (1 new or changed, 1 unchanged"}, "--encoding", "latin1")
	l.run(0, []string{"0 documents"})
	if out := l.run(0, nil, "--dry-run"); !strings.Contains(out, "skip    a.md: is unchanged since an earlier import\n") {
		t.Errorf("after an import the plan is\n%s", out)
	}
	if out := l.finds("Taler"); !strings.Contains(out, "Verträge/Büro.txt") {
		t.Errorf("a name with umlauts is shown as\n%s", out)
	}
	filtered := (&harness.Site{T: t, Data: l.data}).Mneme("query", "notes", "notice", "--filter", `{"lang":"en"}`,
		"--json").Stdout
	if !strings.Contains(filtered, `"title": "Lease"`) || strings.Contains(filtered, "lang: en") {
		t.Errorf("front matter:\n%s", filtered)
	}
}

func TestImportOfNamedFiles(t *testing.T) {
	l := newLiving(t, map[string]string{"in/a.md": "x", "in/b.png": "x", "p/a.md": "other"})
	site := &harness.Site{T: t, Data: l.data}
	at := func(name string) string { return filepath.Join(l.dir, name) }
	r := site.Run("import", at("in/a.md"), at("in/b.png"), "--namespace", "notes")
	if r.Code != 0 || !strings.Contains(r.Stderr, "left out: "+at("in/b.png")+": not one of .txt") ||
		!strings.Contains(r.Stderr, "1 document (1 new") {
		t.Errorf("with a file of another kind: %+v", r)
	}
	r = site.Run("import", at("in/a.md"), at("in/absent.md"), "--namespace", "notes")
	if r.Code != 1 || !strings.Contains(r.Stderr, "not imported: "+at("in/absent.md")+": no such file") ||
		!strings.Contains(r.Stderr, "1 unchanged") {
		t.Errorf("with a file that is absent: %+v", r)
	}
	r = site.Run("import", at("p"), "--namespace", "notes")
	if r.Code != 1 || !strings.Contains(r.Stderr, "a.md: another import has put a document of this name") {
		t.Errorf("a folder with the same name in it: %+v", r)
	}
	if r := site.Run("import", at("p"), "--namespace", "notes", "--prefix", "p"); r.Code != 0 {
		t.Errorf("with a prefix: %+v", r)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"in/a.md", "--prune"}, "--prune takes folders only"},
		{[]string{"in", "--watch", "--prune"}, "--yes"},
		{[]string{"in", "--watch", "--dry-run"}, "--dry-run"},
		{[]string{"in", "--encoding", "klingon"}, "windows-1252"},
		{[]string{"in", "--prefix", "../up"}, "--prefix"},
		{[]string{"in", "--prefix", "/abs"}, "--prefix"},
		{[]string{"in", "--prefix", "."}, "--prefix"},
		{[]string{"in", "--batch", "101"}, "--batch"},
		{[]string{"in", "--workers", "0"}, "--workers"},
	} {
		args := append([]string{"import", at(tt.args[0]), "--namespace", "notes"}, tt.args[1:]...)
		if r := site.Run(args...); r.Code != 2 || !strings.Contains(r.Stderr, tt.want) {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

// A folder that is watched, with the data folder in it: what changes is imported,
// what goes is deleted, and an interrupt ends it well.
func TestImportWatches(t *testing.T) {
	l := newLiving(t, map[string]string{"a.md": "The harbour closes at dusk."})
	l.data = filepath.Join(l.dir, "mneme-data")
	site := &harness.Site{T: t, Data: l.data}
	site.Serve()
	said := filepath.Join(t.TempDir(), "said")
	out, err := os.Create(said)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := l.command("--watch", "--prune", "--yes")
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	says := func(what string) {
		t.Helper()
		harness.EventuallySees(t, "the import says "+what, func() (bool, string) {
			text, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(string(text), what), string(text)
		})
	}
	says("watching")
	if err := os.Rename(filepath.Join(l.dir, "a.md"), filepath.Join(t.TempDir(), "a.md")); err != nil {
		t.Fatal(err)
	}
	l.put("sub/b.md", "Tide tables hang in the office.")
	says("pruned: 1 document")
	harness.EventuallySees(t, "the new file is found and the old one is not", func() (bool, string) {
		found := l.finds("tide") + l.finds("harbour")
		return strings.Contains(found, "sub:b.md") && !strings.Contains(found, "a.md"), found
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		text, _ := os.ReadFile(said)
		t.Errorf("an interrupt: %v\n%s", err, text)
	}
	if text, err := os.ReadFile(said); err != nil || strings.Contains(string(text), "mneme-data") {
		t.Errorf("the data folder is imported: %v\n%s", err, text)
	}
}

// While one long document is written the progress moves, chunk by chunk.
func TestImportTellsHowFarALongDocumentIs(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	free := sync.OnceFunc(func() { close(release) })
	model := remotetest.OpenAI(t, remotetest.Options{})
	t.Cleanup(free) // before the model's server waits for its calls
	for range 100 {
		model.Inject(func(w http.ResponseWriter, r *http.Request, dialect http.Handler) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			switch n := bytes.Count(body, []byte("buoy")); {
			case n > 16: // the second piece and what comes after it
				<-release
			case n > 1: // the first, so long that what is told after it is stored
				time.Sleep(600 * time.Millisecond)
			}
			dialect.ServeHTTP(w, r)
		})
	}
	site := harness.NewSite(t, fmt.Sprintf("models: { vectors: { openai: { task: embedding, base_url: \"%s/v1\", model: m, "+
		"dimensions: 64, max_input_tokens: 512, timeout: 5m } } }\n"+
		"roles: { embed: vectors, sparse: off, rerank: off }\n", model.URL))
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "The buoy number %d lies in the fairway.%s\n\n", i, strings.Repeat(" It rings in fog.", 20))
	}
	file := filepath.Join(t.TempDir(), "log.txt")
	write(t, file, text.String())
	out, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	said := func() string {
		t.Helper()
		text, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	cmd := site.Command("import", file, "--namespace", "sea")
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	within := regexp.MustCompile(`import: 0 documents, .* \(([1-9]|[1-9][0-9])%\)`)
	harness.EventuallySees(t, "the import tells a share of its only document", func() (bool, string) {
		return within.MatchString(said()), said()
	})
	free()
	if err := <-done; err != nil || !strings.Contains(said(), "1 document (1 new or changed") {
		t.Errorf("the import ended with %v:\n%s", err, said())
	}
}
