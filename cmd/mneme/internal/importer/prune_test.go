package importer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/fault"
)

// place is a folder whose import keeps its journal among those of others.
type place struct {
	t       *testing.T
	dir     string
	journal string
	into    *memory
	scanner Scanner
	im      Importer
	known   []string
	bad     []string
}

func newPlace(t *testing.T, journal string, into *memory, files map[string]string) *place {
	return &place{t: t, dir: folder(t, files), journal: journal, into: into}
}

func (p *place) source() Source {
	return Source{Target: "http://x", Namespace: "ns", Paths: []string{p.dir}}
}

func (p *place) open() *State {
	p.t.Helper()
	st, err := OpenState(p.journal, p.source())
	if err != nil {
		p.t.Fatal(err)
	}
	return st
}

// run imports and returns what is stale then, as "file: reason: ids".
func (p *place) run() (Progress, []string) {
	p.t.Helper()
	st := p.open()
	defer func() {
		if err := st.Close(); err != nil {
			p.t.Error(err)
		}
	}()
	l, err := p.scanner.Scan(p.t.Context(), []string{p.dir})
	if err != nil {
		p.t.Fatal(err)
	}
	im := p.im
	im.Writer, im.Namespace, im.State, im.Backoff = deleting{p.into}, "ns", st, time.Millisecond
	p.known, p.bad = nil, nil
	im.OnKnown = func(s string) { p.known = append(p.known, s) }
	im.OnProblem = func(b *Problem) { p.bad = append(p.bad, b.Error()) }
	if im.Others, err = st.Others(); err != nil {
		p.t.Fatal(err)
	}
	progress, err := im.Run(p.t.Context(), l.Files)
	if err != nil {
		p.t.Fatal(err)
	}
	var out []string
	for _, s := range st.Stale(l, im.Others) {
		out = append(out, s.File+": "+s.Reason+": "+strings.Join(s.IDs, " "))
	}
	return progress, out
}

// drop takes what is stale for deleted.
func (p *place) drop(l Listing) {
	p.t.Helper()
	st := p.open()
	for _, s := range st.Stale(l, Claims{}) {
		if err := st.Drop(s); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) remove(names ...string) {
	p.t.Helper()
	for _, n := range names {
		if err := os.RemoveAll(filepath.Join(p.dir, n)); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *place) put(name, text string) { put(p.t, filepath.Join(p.dir, name), text) }

func TestStale(t *testing.T) {
	rows := `{"id":"r1","text":"1"}` + "\n" + `{"id":"r2","text":"2"}` + "\n"
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{
		"a.md": "a", "b.md": "b", "sub/c.md": "c", "rows.jsonl": rows,
		"list.json":  `[{"id":"l1","text":"x"},{"id":"l2","text":"y"}]`,
		"gone.jsonl": `{"id":"g1","text":"g"}` + "\n" + `{"id":"r1","text":"1"}` + "\n",
	})
	p.im.BatchDocs, p.im.Workers = 1, 1
	if _, stale := p.run(); stale != nil {
		t.Errorf("at first: %q", stale)
	}
	p.remove("a.md", "gone.jsonl")
	if err := os.Rename(filepath.Join(p.dir, "b.md"), filepath.Join(p.dir, "new.md")); err != nil {
		t.Fatal(err)
	}
	p.put("rows.jsonl", `{"id":"r1","text":"1"}`+"\n"+`{"id":"r3","text":"3"}`+"\n")
	p.put("list.json", `[{"id":"l2","text":"y"}]`)
	p.scanner.Exclude = []string{"sub/"}
	want := []string{"a.md: is gone: a.md", "b.md: is gone: b.md", "gone.jsonl: is gone: g1",
		"list.json: is no longer in the file: l1", "rows.jsonl: is no longer in the file: r2", "sub/c.md: is excluded: sub:c.md"}
	if _, stale := p.run(); cmp.Diff(want, stale) != "" {
		t.Error(cmp.Diff(want, stale))
	}
	// It stays so until it is deleted, over journals that are written again.
	for i := range 70 {
		p.put("rows.jsonl", fmt.Sprintf(`{"id":"r1","text":"1"}`+"\n"+`{"id":"r3","text":"%d"}`+"\n", i))
		if _, stale := p.run(); cmp.Diff(want, stale) != "" {
			t.Fatal(i, cmp.Diff(want, stale))
		}
	}
	l, err := p.scanner.Scan(t.Context(), []string{p.dir})
	if err != nil {
		t.Fatal(err)
	}
	p.drop(l)
	if progress, stale := p.run(); stale != nil || progress.Skipped != 3 {
		t.Errorf("after a pruning: %q, %+v", stale, progress)
	}
	// What is back is imported again.
	p.put("a.md", "a")
	if progress, stale := p.run(); stale != nil || progress.Skipped != 3 || progress.Unchanged != 1 {
		t.Errorf("back: %q, %+v", stale, progress)
	}
}

// Nothing goes because it could not be read.
func TestWhatCannotBeReadIsNotStale(t *testing.T) {
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{
		"a.md": "a", "sub/b.md": "b", "rows.jsonl": `{"id":"r1","text":"1"}` + "\n" + `{"id":"r2","text":"2"}` + "\n"})
	p.run()
	p.put("a.md", "\xff")
	p.put("rows.jsonl", `{"id":"r1","text":"1"}`+"\n"+`{"id":"r2","text":`+"\n")
	if progress, stale := p.run(); stale != nil || progress.Failed != 2 {
		t.Errorf("%q, %+v", stale, progress)
	}
	st := p.open()
	defer st.Close()
	l, err := p.scanner.Scan(t.Context(), []string{p.dir})
	if err != nil {
		t.Fatal(err)
	}
	l.Files = slices.DeleteFunc(l.Files, func(f File) bool { return f.Name == "sub/b.md" })
	if stale := st.Stale(l, Claims{}); len(stale) != 1 || stale[0].File != "sub/b.md" {
		t.Errorf("%+v", stale)
	}
	l.Left = append(l.Left, Left{Name: "sub/", Reason: "permission denied", Failed: true})
	if stale := st.Stale(l, Claims{}); len(stale) != 0 {
		t.Errorf("%+v", stale)
	}
}

func TestRestartStillKnowsWhatItBrought(t *testing.T) {
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{"a.md": "a", "b.md": "b", "bad.txt": "\xff"})
	p.run()
	p.remove("a.md")
	st := p.open()
	if err := st.Reread(p.source()); err != nil {
		t.Fatal(err)
	}
	if st.Problems("bad.txt") != nil {
		t.Errorf("%q", st.Problems("bad.txt"))
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	progress, stale := p.run()
	if d := cmp.Diff([]string{"a.md: is gone: a.md"}, stale); d != "" || progress.Unchanged != 1 || progress.Skipped != 0 {
		t.Errorf("%+v %s", progress, d)
	}
}

// Journals of versions that noted no ids: those of documents follow from the names,
// those of records are found by reading again.
func TestStaleByAnOldJournal(t *testing.T) {
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{"rows.jsonl": `{"id":"r1","text":"1"}` + "\n"})
	info, err := os.Stat(filepath.Join(p.dir, "rows.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	st := p.open()
	for name, m := range map[string]Mark{
		"a.md": {Done: true}, "long.txt": {Done: true, Parts: 2}, "half.md": {}, "was.jsonl": {Done: true},
		"rows.jsonl": {Done: true, Size: info.Size(), ModTime: info.ModTime().UnixNano(), Offset: info.Size()},
	} {
		if err := st.Put(name, m); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"a.md: is gone: a.md", "long.txt: is gone: long.txt:part-0001 long.txt:part-0002"}
	if progress, stale := p.run(); cmp.Diff(want, stale) != "" || progress.Skipped != 1 {
		t.Errorf("%+v, %q", progress, stale)
	}
	p.im.Prune = true
	if progress, _ := p.run(); progress.Skipped != 0 || progress.Documents() != 1 {
		t.Errorf("%+v", progress)
	}
	p.put("rows.jsonl", `{"id":"r2","text":"2"}`+"\n")
	if progress, stale := p.run(); !slices.Contains(stale, "rows.jsonl: is no longer in the file: r1") || progress.Skipped != 0 {
		t.Errorf("%+v, %q", progress, stale)
	}
}

func TestFailuresStayUntilTheyAreMended(t *testing.T) {
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{"good.md": "x", "bad.txt": "M\xfcnchen", "empty.md": " ",
		"list.json": "[{}]", "rows.jsonl": `{"id":"r1","text":"1"}` + "\nno\n" + `{"id":"no","text":"refused"}` + "\n"})
	p.into.before = func(docs []Record) error {
		for _, d := range docs {
			if d.ID == "no" {
				return fault.New(fault.InvalidMetadata, "is odd")
			}
		}
		return nil
	}
	first, _ := p.run()
	if first.Failed != 5 || first.FailedBefore != 0 || len(p.bad) != 5 {
		t.Fatalf("%+v %q", first, p.bad)
	}
	for range 2 {
		again, _ := p.run()
		if again.Failed != 3 || again.FailedBefore != 2 || again.Skipped != 2 {
			t.Errorf("again: %+v", again)
		}
		want := []string{"bad.txt: is not valid UTF-8: byte 2 of line 1", "empty.md: holds no text",
			"list.json[1]: text: is missing"}
		if d := cmp.Diff(want, p.bad); d != "" {
			t.Error(d)
		}
		slices.Sort(p.known)
		if d := cmp.Diff([]string{"rows.jsonl:2: bad JSON: invalid character 'o' in literal null (expecting 'u')",
			"rows.jsonl:3: document no: is odd"}, p.known); d != "" {
			t.Error(d)
		}
	}
	e, err := Encoding("latin1")
	if err != nil {
		t.Fatal(err)
	}
	p.scanner.Encoding = e
	if got, _ := p.run(); got.Failed != 4 || got.FailedBefore != 0 || p.into.docs["bad.txt"] != "München" {
		t.Errorf("with an encoding: %+v, %q", got, p.into.docs["bad.txt"])
	}
	p.put("rows.jsonl", `{"id":"r1","text":"1"}`+"\n")
	p.put("list.json", "[]")
	p.remove("empty.md")
	if got, _ := p.run(); got.Failed != 0 || got.FailedBefore != 0 {
		t.Errorf("mended: %+v %q", got, p.bad)
	}
	if got, _ := p.run(); got.Skipped != 4 || p.known != nil {
		t.Errorf("at last: %+v %q", got, p.known)
	}
}

func TestKnownProblemsAreBounded(t *testing.T) {
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{"rows.jsonl": strings.Repeat("no\n", 3*maxProblems)})
	p.run()
	if got, _ := p.run(); got.FailedBefore != 3*maxProblems || len(p.known) != maxProblems {
		t.Errorf("%+v, %d told", got, len(p.known))
	}
}

// Two folders, each with a README.md, into one namespace.
func TestNoImportOverwritesAnotherUnseen(t *testing.T) {
	journal, into := t.TempDir(), &memory{}
	one := newPlace(t, journal, into, map[string]string{"README.md": "one", "a.md": "a"})
	two := newPlace(t, journal, into, map[string]string{"README.md": "two", "b.md": "b",
		"r.jsonl": `{"id":"a.md","text":"row"}` + "\n"})
	one.run()
	for range 2 {
		got, _ := two.run()
		if got.Failed != 1 || into.docs["README.md"] != "one" || into.docs["b.md"] != "b" {
			t.Errorf("%+v, %v", got, into.docs)
		}
		if len(two.bad) != 1 || !strings.Contains(two.bad[0], filepath.Join(one.dir, "README.md")) ||
			!strings.Contains(two.bad[0], "--prefix") {
			t.Errorf("%q", two.bad)
		}
	}
	if got, _ := one.run(); got.Failed != 0 || got.Skipped != 2 {
		t.Errorf("the first again: %+v", got)
	}
	// What both have put there is not stale while one still does.
	one.remove("a.md")
	if _, stale := one.run(); stale != nil {
		t.Errorf("%q", stale)
	}
	two.scanner.Prefix = "two"
	if got, stale := two.run(); got.Failed != 0 || into.docs["two:README.md"] != "two" || !slices.Equal(stale,
		[]string{"b.md: is gone: b.md"}) {
		t.Errorf("with a prefix: %+v, %q", got, stale)
	}
	// The same file, by itself or in its folder, is no other one; nor is one that has moved.
	alone := &place{t: t, dir: filepath.Join(one.dir, "README.md"), journal: journal, into: into}
	if got, _ := alone.run(); got.Failed != 0 {
		t.Errorf("alone: %q", alone.bad)
	}
	moved := newPlace(t, journal, into, map[string]string{"README.md": "moved"})
	one.remove("README.md")
	if got, _ := moved.run(); got.Failed != 0 || into.docs["README.md"] != "moved" {
		t.Errorf("moved: %q", moved.bad)
	}
}

func TestResetAllForgetsOtherImports(t *testing.T) {
	journal, into := t.TempDir(), &memory{}
	one := newPlace(t, journal, into, map[string]string{"README.md": "one"})
	two := newPlace(t, journal, into, map[string]string{"README.md": "two"})
	one.run()
	elsewhere, err := OpenState(journal, Source{Target: "http://x", Namespace: "other", Paths: []string{one.dir}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(elsewhere.Put("README.md", Mark{Done: true}), elsewhere.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(journal, "import-torn.jsonl"), []byte(`{"vers`), 0o600); err != nil {
		t.Fatal(err)
	}
	st := two.open()
	if err := errors.Join(st.ResetAll(two.source()), st.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := two.run(); got.Failed != 0 || into.docs["README.md"] != "two" {
		t.Errorf("%+v %q", got, two.bad)
	}
	two.remove("README.md")
	if got, _ := one.run(); got.Skipped != 0 || into.docs["README.md"] != "one" {
		t.Errorf("%+v", got)
	}
	elsewhere, err = ReadState(journal, Source{Target: "http://x", Namespace: "other", Paths: []string{one.dir}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := elsewhere.Mark("README.md"); !ok {
		t.Error("what was imported into another namespace is forgotten")
	}
}

func TestPlan(t *testing.T) {
	journal, into := t.TempDir(), &memory{}
	other := newPlace(t, journal, into, map[string]string{"README.md": "other"})
	other.run()
	p := newPlace(t, journal, into, map[string]string{"same.md": "a", "b.md": "b", "bad.txt": "\xff",
		"rows.jsonl": `{"id":"r1","text":"1"}` + "\n" + `{"id":"r2","text":"2"}` + "\nno\n"})
	p.run()
	p.put("b.md", "b2")
	p.put("c.md", "c")
	p.put("README.md", "mine")
	p.put("torn.jsonl.gz", "this is no gzip file")
	before, err := os.ReadDir(journal)
	if err != nil {
		t.Fatal(err)
	}
	docs := len(into.docs)
	st, err := ReadState(journal, p.source())
	if err != nil {
		t.Fatal(err)
	}
	l, err := p.scanner.Scan(t.Context(), []string{p.dir})
	if err != nil {
		t.Fatal(err)
	}
	im := &Importer{State: st}
	if im.Others, err = st.Others(); err != nil {
		t.Fatal(err)
	}
	var plans []Plan
	if err := im.Plan(t.Context(), l.Files, func(p Plan) { plans = append(plans, p) }); err != nil {
		t.Fatal(err)
	}
	want := []Plan{
		{File: "README.md", Reason: "is new",
			Problems: []string{"README.md: another import has put a document of this name into the namespace, out of " +
				filepath.Join(other.dir, "README.md") + ": import both with one command, or give this one a --prefix"}},
		{File: "b.md", Reason: "has changed", Documents: 1},
		{File: "bad.txt", Reason: "was not imported whole", Problems: []string{"bad.txt: is not valid UTF-8: byte 1 of line 1"}},
		{File: "c.md", Reason: "is new", Documents: 1},
		{File: "rows.jsonl", Reason: "is unchanged since an earlier import", Skipped: true,
			Problems: []string{"rows.jsonl:3: bad JSON: invalid character 'o' in literal null (expecting 'u')"}},
		{File: "same.md", Reason: "is unchanged since an earlier import", Skipped: true},
		{File: "torn.jsonl.gz", Reason: "is new", Problems: []string{"torn.jsonl.gz:1: not a gzip file: gzip: invalid header"}},
	}
	if d := cmp.Diff(want, plans); d != "" {
		t.Error(d)
	}
	after, err := os.ReadDir(journal)
	if err != nil || len(after) != len(before) || len(into.docs) != docs {
		t.Errorf("a plan has written something: %v, %d documents", after, len(into.docs))
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if err := im.Plan(stopped, l.Files, func(Plan) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Of a file that was read again, only the problems of this reading are told, all of them.
func TestKnownProblemsAreOfTheLastReading(t *testing.T) {
	p := newPlace(t, t.TempDir(), &memory{}, map[string]string{
		"rows.jsonl": "{}\n" + `{"id":"a","text":"1"}` + "\n" + `{"id":"b","text":"2"}` + "\n{}\n"})
	p.im.BatchDocs = 1
	p.run()
	p.run()
	if d := cmp.Diff([]string{"rows.jsonl:1: text: is missing", "rows.jsonl:4: text: is missing"}, p.known); d != "" {
		t.Error(d)
	}
	p.put("rows.jsonl", `{"id":"a","text":"1"}`+"\n{}\n")
	p.run()
	p.run()
	if d := cmp.Diff([]string{"rows.jsonl:2: text: is missing"}, p.known); d != "" {
		t.Error(d)
	}
}

// The journal says where a file lies when its name does not.
func TestNamesWithAPrefixAreHeld(t *testing.T) {
	journal, into := t.TempDir(), &memory{}
	one := newPlace(t, journal, into, map[string]string{"README.md": "one"})
	two := newPlace(t, journal, into, map[string]string{"README.md": "two"})
	one.scanner.Prefix, two.scanner.Prefix = "p", "p"
	one.run()
	if got, _ := two.run(); got.Failed != 1 || into.docs["p:README.md"] != "one" {
		t.Errorf("%+v, %v", got, into.docs)
	}
}

func TestResetAllKeepsWhatAnImportHolds(t *testing.T) {
	journal, into := t.TempDir(), &memory{}
	one := newPlace(t, journal, into, map[string]string{"a.md": "one"})
	two := newPlace(t, journal, into, map[string]string{"b.md": "two"})
	one.run()
	held, st := one.open(), two.open()
	if err := errors.Join(st.ResetAll(two.source()), st.Close(), held.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := one.run(); got.Skipped != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTextOfJSONIsChecked(t *testing.T) {
	_, bad := one(t, "a.json", "[{\"text\":\"\xff\"}]")
	if d := cmp.Diff([]string{"a.json: is not valid UTF-8: byte 11 of line 1"}, bad); d != "" {
		t.Error(d)
	}
}
