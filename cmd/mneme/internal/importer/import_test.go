package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/fault"
)

// memory is a Writer that keeps documents, with the refusals of the real one.
type memory struct {
	mu      sync.Mutex
	docs    map[string]string
	writes  int
	sizes   []int
	deleted []string
	before  func(docs []Record) error // may refuse or wait
}

func (m *memory) Write(ctx context.Context, namespace string, docs []Record) (Result, error) {
	if namespace != "ns" {
		return Result{}, fault.New(fault.InvalidNamespace, "namespace %q", namespace)
	}
	if m.before != nil {
		if err := m.before(docs); err != nil {
			return Result{}, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	m.sizes = append(m.sizes, len(docs))
	seen := map[string]bool{}
	for _, d := range docs {
		if seen[d.ID] {
			return Result{}, fault.New(fault.InvalidID, "id %s twice", d.ID)
		}
		seen[d.ID] = true
	}
	var res Result
	for _, d := range docs {
		if m.docs[d.ID] == d.Text {
			res.Unchanged++
		} else {
			res.Written++
			res.Chunks++
		}
		if m.docs == nil {
			m.docs = map[string]string{}
		}
		m.docs[d.ID] = d.Text
	}
	return res, nil
}

type deleting struct{ *memory }

func (d deleting) Delete(_ context.Context, _ string, ids []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		delete(d.docs, id)
	}
	d.deleted = append(d.deleted, ids...)
	return nil
}

func jsonl(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"id\":\"d%05d\",\"text\":\"text %d\"}\n", i, i)
	}
	return b.String()
}

func state(t testing.TB, dir string) *State {
	t.Helper()
	st, err := OpenState(dir, Source{Target: "http://x", Namespace: "ns", Paths: []string{"/docs"}})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func (m *memory) importer() *Importer {
	return &Importer{Writer: m, Namespace: "ns", Backoff: time.Millisecond}
}

func TestImport(t *testing.T) {
	m := &memory{}
	files := scan(t, tree(map[string]string{"a.md": "# A", "b/c.txt": "c", "data.jsonl": jsonl(1234), "bad.txt": "\xff",
		"page.html": "<p>x"}))
	im := m.importer()
	var problems []string
	var last Progress
	im.OnProblem = func(p *Problem) { problems = append(problems, p.Error()) }
	im.OnProgress = func(p Progress) {
		if p.BytesDone < last.BytesDone || p.Documents() < last.Documents() {
			t.Errorf("progress went back from %+v to %+v", last, p)
		}
		last = p
	}
	p, err := im.Run(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if p.Written != 1237 || p.Failed != 1 || p.Files != 5 || p.BytesDone != p.BytesTotal || len(m.docs) != 1237 {
		t.Errorf("%+v, %d stored", p, len(m.docs))
	}
	if slices.Max(m.sizes) > 100 || m.writes > 20 {
		t.Errorf("%d writes of up to %d documents", m.writes, slices.Max(m.sizes))
	}
	if d := cmp.Diff([]string{"bad.txt: is not valid UTF-8: byte 1 of line 1"}, problems); d != "" {
		t.Error(d)
	}
	if m.docs["b:c.txt"] != "c" || m.docs["page.html"] != "x" || m.docs["d01233"] != "text 1233" {
		t.Error("a text is wrong")
	}
}

func TestBatchesKeepToTheirBytes(t *testing.T) {
	m := &memory{before: func(docs []Record) error {
		n := 0
		for _, d := range docs {
			n += len(d.Text)
		}
		if n > 1<<20 {
			t.Errorf("%d bytes in a batch", n)
		}
		return nil
	}}
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("%d.txt", i)] = strings.Repeat("x", 100_000)
	}
	im := m.importer()
	im.BatchBytes = 1 << 20
	if _, err := im.Run(t.Context(), scan(t, tree(files))); err != nil {
		t.Fatal(err)
	}
	if m.writes > 5 {
		t.Errorf("%d writes", m.writes)
	}
}

func TestRerunSkipsWhatIsUnchanged(t *testing.T) {
	dir, m := t.TempDir(), &memory{}
	fsys := tree(map[string]string{"a.md": "a", "b.md": "b", "x.jsonl": jsonl(10)})
	run := func() Progress {
		t.Helper()
		m.writes = 0
		im := m.importer()
		im.State = state(t, dir)
		defer im.State.Close()
		p, err := im.Run(t.Context(), scan(t, fsys))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := run(); p.Written != 12 {
		t.Errorf("first: %+v", p)
	}
	if p := run(); p.Skipped != 3 || m.writes != 0 || p.Files != 3 || p.BytesDone != p.BytesTotal {
		t.Errorf("again: %+v, %d writes", p, m.writes)
	}
	fsys["a.md"].ModTime = then.Add(time.Hour) // touched
	fsys["b.md"] = &fstest.MapFile{Data: []byte("B"), ModTime: then.Add(time.Hour)}
	fsys["x.jsonl"].Data = append(fsys["x.jsonl"].Data, `{"id":"new","text":"n"}`...)
	if p := run(); p.Skipped != 1 || p.Written != 2 || p.Unchanged != 0 {
		t.Errorf("after changes: %+v", p)
	}
	if p := run(); p.Skipped != 3 {
		t.Errorf("at last: %+v", p)
	}
	st := state(t, dir)
	if err := st.Reset(Source{Target: "http://x", Namespace: "ns", Paths: []string{"/docs"}}); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if p := run(); p.Skipped != 0 || p.Unchanged != 13 {
		t.Errorf("after a reset: %+v", p)
	}
}

func TestInterruptAndResume(t *testing.T) {
	dir, m := t.TempDir(), &memory{}
	fsys := tree(map[string]string{"a.md": "a", "x.jsonl": jsonl(5000), "z.md": "z"})
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	m.before = func([]Record) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.writes >= 7 {
			once.Do(cancel)
		}
		return nil
	}
	im := m.importer()
	im.State = state(t, dir)
	p, err := im.Run(ctx, scan(t, fsys))
	if !errors.Is(err, ErrInterrupted) || !strings.Contains(err.Error(), "run the same command again") {
		t.Fatalf("got %v", err)
	}
	if p.Written == 0 || p.Written != len(m.docs) || p.Written >= 5000 {
		t.Errorf("%+v with %d stored", p, len(m.docs))
	}
	if err := im.State.Close(); err != nil {
		t.Fatal(err)
	}
	before := p.Written
	m.before = nil
	im = m.importer()
	im.State = state(t, dir)
	defer im.State.Close()
	p, err = im.Run(t.Context(), scan(t, fsys))
	if err != nil || len(m.docs) != 5002 {
		t.Fatalf("%v, %d documents", err, len(m.docs))
	}
	if p.Written != 5002-before || p.Unchanged > 400 {
		t.Errorf("resumed with %+v after %d", p, before)
	}
}

// busy is an error as a client of another protocol would have it.
type busy struct{ after time.Duration }

func (busy) Error() string                       { return "busy" }
func (b busy) RetryAfter() (time.Duration, bool) { return b.after, true }

func TestRetries(t *testing.T) {
	for name, fail := range map[string]error{
		"rate limit":  fault.New(fault.RateLimited, "slow down").After(20 * time.Millisecond),
		"unavailable": fault.New(fault.Unavailable, "starting"),
		"connection":  errors.New("connection refused"),
		"interface":   fmt.Errorf("wrapped: %w", busy{20 * time.Millisecond}),
	} {
		t.Run(name, func(t *testing.T) {
			failures := 3
			m := &memory{}
			m.before = func([]Record) error {
				if failures--; failures >= 0 {
					return fail
				}
				return nil
			}
			im := m.importer()
			im.Workers = 1
			began := time.Now()
			p, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.md": "a"})))
			if err != nil || p.Retries != 3 || p.Written != 1 {
				t.Fatalf("%v, %+v", err, p)
			}
			if took := time.Since(began); (name == "rate limit" || name == "interface") && took < 60*time.Millisecond {
				t.Errorf("waited only %s", took)
			}
		})
	}
}

func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		tries int
		want  string
	}{
		{"wrong key", fault.New(fault.Unauthorized, "wrong key"), 1, "unauthorized: wrong key"},
		{"no such namespace name", fault.New(fault.InvalidNamespace, "bad name"), 1, "invalid_namespace: bad name"},
		{"down for good", fault.New(fault.Unavailable, "down"), 3, "after 3 tries: unavailable: down"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tries := 0
			m := &memory{before: func([]Record) error { tries++; return tt.err }}
			im := m.importer()
			im.Workers, im.Retries = 1, 2
			im.State = state(t, t.TempDir())
			defer im.State.Close()
			_, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.md": "a", "x.jsonl": jsonl(1000)})))
			if err == nil || err.Error() != tt.want || !errors.Is(err, tt.err) || tries != tt.tries {
				t.Errorf("%v after %d tries, want %s after %d", err, tries, tt.want, tt.tries)
			}
			if m, ok := im.State.Mark("a.md"); ok {
				t.Errorf("a file that was not written is marked: %+v", m)
			}
		})
	}
}

// Before a batch is sent again, it is asked whether that is worth it.
func TestHopeless(t *testing.T) {
	for name, c := range map[string]struct {
		hopeless error
		tries    int
	}{
		"hope": {nil, 2},
		"none": {errors.New("the disk is full"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			down, tries, asked := fault.New(fault.Unavailable, "down"), 0, 0
			m := &memory{}
			m.before = func([]Record) error {
				if tries++; tries > 1 {
					return nil
				}
				return down
			}
			im := m.importer()
			im.Hopeless = func(err error) error {
				if asked++; !errors.Is(err, down) {
					t.Errorf("asked about %v", err)
				}
				return c.hopeless
			}
			_, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.md": "a"})))
			if !errors.Is(err, c.hopeless) || tries != c.tries || asked != 1 {
				t.Errorf("%v after %d tries, asked %d times", err, tries, asked)
			}
		})
	}
}

func TestBadDocumentIsFound(t *testing.T) {
	m := &memory{}
	m.before = func(docs []Record) error {
		for i, d := range docs {
			if d.ID == "d00042" {
				return fault.Field(fault.InvalidMetadata, fmt.Sprintf("documents[%d].metadata", i), "is odd")
			}
		}
		return nil
	}
	im := m.importer()
	im.State = state(t, t.TempDir())
	defer im.State.Close()
	var problems []string
	im.OnProblem = func(p *Problem) { problems = append(problems, p.Error()) }
	files := scan(t, tree(map[string]string{"x.jsonl": jsonl(300) + "{\n"}))
	p, err := im.Run(t.Context(), files)
	if err != nil || p.Written != 299 || p.Failed != 2 {
		t.Fatalf("%v, %+v", err, p)
	}
	slices.Sort(problems)
	if d := cmp.Diff([]string{"x.jsonl:301: bad JSON: unexpected EOF",
		"x.jsonl:43: document d00042: documents[0].metadata: is odd"}, problems); d != "" {
		t.Error(d)
	}
	if p, err = im.Run(t.Context(), files); err != nil || p.Skipped != 1 || p.FailedBefore != 2 || p.Failed != 0 {
		t.Errorf("again: %v, %+v", err, p)
	}
}

func TestStrict(t *testing.T) {
	m := &memory{}
	im := m.importer()
	im.Strict = true
	told := 0
	im.OnProblem = func(*Problem) { told++ }
	_, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.jsonl": jsonl(50) + "{bad\n" + jsonl(50)})))
	var p *Problem
	if !errors.As(err, &p) || p.At.String() != "a.jsonl:51" || told != 1 {
		t.Errorf("got %v, told %d times", err, told)
	}
}

func TestLaterRecordOfAnIDWins(t *testing.T) {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "{\"id\":\"d%d\",\"text\":\"version %d\"}\n", i%7, i)
	}
	m := &memory{}
	im := m.importer()
	im.Workers = 8
	if _, err := im.Run(t.Context(), scan(t, tree(map[string]string{"x.jsonl": b.String()}))); err != nil {
		t.Fatal(err)
	}
	for i := 393; i < 400; i++ {
		if got, want := m.docs[fmt.Sprintf("d%d", i%7)], fmt.Sprintf("version %d", i); got != want {
			t.Errorf("d%d is %q, want %q", i%7, got, want)
		}
	}
}

func TestShrunkFileLeavesNoParts(t *testing.T) {
	long := func(n int) string { return strings.Repeat(strings.Repeat("word ", 20)+"\n\n", n*MaxText/102) }
	dir, m := t.TempDir(), &memory{}
	import_ := func(w Writer, text string, at time.Time) Progress {
		t.Helper()
		fsys := fstest.MapFS{"big.md": &fstest.MapFile{Data: []byte(text), ModTime: at}}
		im := &Importer{Writer: w, Namespace: "ns", State: state(t, dir)}
		defer im.State.Close()
		p, err := im.Run(t.Context(), scan(t, fsys))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ids := func() string {
		var out []string
		for id := range m.docs {
			out = append(out, id)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	import_(deleting{m}, long(3), then)
	import_(deleting{m}, long(2), then.Add(1))
	if got := ids(); got != "big.md:part-0001 big.md:part-0002" {
		t.Errorf("two parts: %s", got)
	}
	import_(deleting{m}, "short", then.Add(2))
	if got := ids(); got != "big.md" {
		t.Errorf("short: %s", got)
	}
	import_(deleting{m}, long(2), then.Add(3))
	if got := ids(); got != "big.md:part-0001 big.md:part-0002" {
		t.Errorf("long again: %s", got)
	}
	if p := import_(m, "short", then.Add(4)); cmp.Diff([]string{"big.md:part-0001", "big.md:part-0002"}, p.Stale) != "" {
		t.Errorf("without deletes: %+v", p)
	}
}

func TestStateSurvives(t *testing.T) {
	dir := t.TempDir()
	st := state(t, dir)
	for i := range 500 {
		if err := st.Put(fmt.Sprintf("f%d", i%5), Mark{Offset: int64(i), Sum: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenState(dir, Source{Target: "http://x", Namespace: "ns", Paths: []string{"/docs"}}); !errors.Is(err,
		fault.New(fault.Conflict, "")) {
		t.Errorf("two imports of one source: %v", err)
	}
	if other, err := OpenState(dir, Source{Target: "http://x", Namespace: "other", Paths: []string{"/docs"}}); err != nil {
		t.Errorf("another source: %v", err)
	} else {
		_ = other.Close()
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "import-*.jsonl"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	path := st.path
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := len(whole); cut > len(whole)-120; cut-- { // torn anywhere in the last lines
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		st := state(t, dir)
		if m, ok := st.Mark("f1"); !ok || m.Offset != 496 && m.Offset != 491 {
			t.Errorf("cut to %d: %+v", cut, m)
		}
		if err := st.Put("f1", Mark{Offset: 1000}); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		st = state(t, dir)
		if m, _ := st.Mark("f1"); m.Offset != 1000 {
			t.Errorf("a mark after a torn line is lost: %+v", m)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Size() > int64(len(whole))/4 {
		t.Errorf("the journal was not rewritten: %v %v", info.Size(), err)
	}
	if err := os.WriteFile(path, []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	st = state(t, dir)
	if _, ok := st.Mark("f1"); ok {
		t.Error("a mark out of garbage")
	}
	_ = st.Close()
}

// A journal of a version that took names as the system spells them goes on: what it knows of a
// file is of the file as it is called now, whose document of before goes once it has another.
func TestStateOfOtherSpelling(t *testing.T) {
	const two, one = "cafe\u0301.md", "caf\u00e9.md"
	dir := t.TempDir()
	st := state(t, dir)
	for _, l := range []stateLine{{File: two, Mark: Mark{Size: 7, Done: true, Reading: 1}, IDs: []string{"before"}},
		{File: "x" + two, Mark: Mark{Done: true}}} {
		if err := st.put(l); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = state(t, dir)
	defer st.Close()
	if m, ok := st.Mark(one); !ok || m.Size != 7 || !m.Done {
		t.Errorf("the mark is %+v, %v", m, ok)
	}
	listed := Listing{Files: []File{{Name: one}, {Name: "x" + one}}}
	if stale := st.Stale(listed, Claims{}); len(stale) > 0 {
		t.Errorf("stale: %+v", stale)
	}
	if err := st.put(stateLine{File: one, Mark: Mark{Done: true, Reading: 2}, IDs: []string{"after"}}); err != nil {
		t.Fatal(err)
	}
	if stale := st.Stale(listed, Claims{}); len(stale) != 1 || stale[0].File != one ||
		!slices.Equal(stale[0].IDs, []string{"before"}) {
		t.Errorf("stale after a change: %+v", stale)
	}
	// A version that kept no ids made them of the name as it was spelled.
	if stale := st.Stale(Listing{Files: listed.Files[:1]}, Claims{}); len(stale) != 2 || stale[1].File != "x"+one ||
		!slices.Equal(stale[1].IDs, fileDocuments("x"+two, 0)) {
		t.Errorf("stale of the oldest version: %+v", stale)
	}
}

// files is a Writer of files, so that what a killed process wrote can be seen.
type files string

func (d files) Write(_ context.Context, _ string, docs []Record) (Result, error) {
	for _, r := range docs {
		f := filepath.Join(string(d), r.ID)
		if err := os.WriteFile(f+".tmp", []byte(r.Text), 0o600); err != nil {
			return Result{}, err
		}
		if err := os.Rename(f+".tmp", f); err != nil {
			return Result{}, err
		}
	}
	return Result{Written: len(docs)}, nil
}

// TestKill kills an importing process again and again; at the end every document
// is there and the runs together did little twice.
func TestKill(t *testing.T) {
	const total = 4000
	if dir := os.Getenv("IMPORT_TEST_CHILD"); dir != "" {
		im := &Importer{Writer: files(filepath.Join(dir, "out")), Namespace: "ns", State: state(t, dir), BatchDocs: 20}
		p, err := im.Run(t.Context(), scan(t, tree(map[string]string{"x.jsonl": jsonl(total)})))
		fmt.Println("finished", err, p.Written)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for wait := 60 * time.Millisecond; ; wait += 60 * time.Millisecond {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$", "-test.v")
		cmd.Env = append(os.Environ(), "IMPORT_TEST_CHILD="+dir)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		kill.Stop()
		if err == nil {
			if !strings.Contains(out.String(), "finished <nil>") {
				t.Fatal(out.String())
			}
			break
		}
		if !strings.Contains(err.Error(), "killed") {
			t.Fatal(err, out.String())
		}
		kills++
	}
	names, err := filepath.Glob(filepath.Join(dir, "out", "d?????"))
	if err != nil || len(names) != total {
		t.Errorf("%d of %d documents after %d kills, %v", len(names), total, kills, err)
	}
	st := state(t, dir)
	defer st.Close()
	if m, _ := st.Mark("x.jsonl"); !m.Done || m.Line != total {
		t.Errorf("%+v", m)
	}
}

func TestBar(t *testing.T) {
	p := Progress{
		BytesDone:  3 << 20,
		BytesTotal: 12 << 20,
		Files:      1,
		FilesTotal: 3,
		Written:    11_500,
		Unchanged:  845,
		Chunks:     20_000,
		Failed:     2,
		Elapsed:    10 * time.Second,
	}
	var out bytes.Buffer
	b := NewBar(&out, false)
	b.Update(Progress{Elapsed: time.Second}) // too early for a line
	b.Update(p)
	p.Elapsed += time.Second
	b.Update(p)
	b.Problem(&Problem{At: Position{File: "x.jsonl", Line: 7}, Err: errors.New("text: is missing")})
	b.Finish(p)
	b.Finish(p)
	want := "import: 12,345 documents, 3.0 MiB of 12.0 MiB (25%), 1234/s, 30s left, 2 not imported\n" +
		"not imported: x.jsonl:7: text: is missing\n" +
		"import: 12,345 documents (11,500 new or changed, 845 unchanged, 20,000 chunks) from 1 of 3 files in 11s, 1122 " +
		"documents/s; 2 not imported\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}

	out.Reset()
	b = NewBar(&out, true)
	for i := int64(0); i <= 12; i++ {
		p.BytesDone = i << 20
		b.Update(p)
		time.Sleep(20 * time.Millisecond)
	}
	b.Finish(p)
	if s := out.String(); !strings.Contains(s, "[") || !strings.Contains(s, "left") || !strings.HasSuffix(s, "2 not imported\n") {
		t.Errorf("%q", s)
	}
}

func BenchmarkRun(b *testing.B) {
	files := scan(b, tree(map[string]string{"x.jsonl": jsonl(50_000)}))
	b.SetBytes(files[0].Size)
	for b.Loop() {
		im := (&memory{}).importer()
		if p, err := im.Run(b.Context(), files); err != nil || p.Written != 50_000 {
			b.Fatal(err, p)
		}
	}
}
