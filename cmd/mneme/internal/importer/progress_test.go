package importer

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/fault"
)

// Progress counts what is written, not what was read: of a file of many parts or
// records, each stands for its share.
func TestProgressFollowsTheWrites(t *testing.T) {
	words := rand.New(rand.NewPCG(1, 2))
	long := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			fmt.Fprintf(&b, "%x ", words.Uint64())
		}
		return b.String()
	}
	var rows, array strings.Builder
	for i := range 64 {
		fmt.Fprintf(&rows, "{\"id\":\"r%d\",\"text\":%q}\n", i, long(30_000))
		fmt.Fprintf(&array, ",{\"id\":\"r%d\",\"text\":%q}", i, long(30_000))
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(rows.String())); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"long.txt": long(20 * MaxText), "rows.jsonl": rows.String(),
		"rows.jsonl.gz": zipped.String(), "list.json": "[" + array.String()[1:] + "]"} {
		t.Run(name, func(t *testing.T) {
			m := &memory{}
			im := m.importer()
			im.Workers, im.BatchBytes = 1, 200_000
			var seen []int64 // bytes done after each write
			m.before = func([]Record) error {
				m.mu.Lock()
				defer m.mu.Unlock()
				seen = append(seen, -1)
				return nil
			}
			im.OnProgress = func(p Progress) {
				m.mu.Lock()
				defer m.mu.Unlock()
				for i := range seen {
					if seen[i] < 0 && i < m.writes {
						seen[i] = p.BytesDone
					}
				}
			}
			p, err := im.Run(t.Context(), scan(t, tree(map[string]string{name: content})))
			if err != nil || p.BytesDone != p.BytesTotal {
				t.Fatal(p, err)
			}
			if len(seen) < 10 {
				t.Fatalf("%d writes only", len(seen))
			}
			for i, got := range seen {
				want := p.BytesTotal * int64(i+1) / int64(len(seen))
				// A decompressor is ahead of what it has given, by its window and a buffer.
				if off := got - want; off > p.BytesTotal/4 || off < -p.BytesTotal/10 {
					t.Errorf("after %d of %d writes %d of %d bytes are done", i+1, len(seen), got, p.BytesTotal)
				}
			}
		})
	}
}

// A file that ends early has nothing left to do.
func TestProgressReachesTheEndOfBadFiles(t *testing.T) {
	m := &memory{}
	p, err := m.importer().Run(t.Context(), scan(t, tree(map[string]string{"a.json": `[{"id":"a","text":"x"}, no` +
		strings.Repeat(" ", 5000),
		"b.jsonl.gz": strings.Repeat("no gzip", 1000), "c.txt": "\xff", "d.md": strings.Repeat(" ", 100), "e.json": "[]"})))
	if err != nil || p.BytesDone != p.BytesTotal || p.Failed != 4 {
		t.Errorf("%+v, %v", p, err)
	}
}

// While a long write says nothing, the progress is told all the same.
func TestProgressIsToldWhileAWriteRuns(t *testing.T) {
	told := make(chan struct{})
	var once sync.Once
	m := &memory{before: func([]Record) error { <-told; return nil }}
	im := m.importer()
	im.OnProgress = func(p Progress) {
		if p.Elapsed >= time.Second {
			once.Do(func() { close(told) })
		}
	}
	if p, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.md": "a"}))); err != nil || p.Written != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestRetriesAreTold(t *testing.T) {
	failures := 3
	m := &memory{before: func([]Record) error {
		if failures--; failures >= 0 {
			return fault.New(fault.Unavailable, "starting").After(2 * time.Millisecond)
		}
		return nil
	}}
	im := m.importer()
	im.Workers = 1
	var told []string
	im.OnRetry = func(err error, wait time.Duration) {
		if wait < 2*time.Millisecond {
			t.Errorf("waits %s", wait)
		}
		told = append(told, err.Error())
	}
	if _, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.md": "a"}))); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"unavailable: starting", "unavailable: starting", "unavailable: starting"}, told); d != "" {
		t.Error(d)
	}

	var out bytes.Buffer
	b := NewBar(&out, false)
	b.Retry(errors.New("down"), 300*time.Millisecond)
	b.Retry(errors.New("down"), time.Second)
	b.Retry(errors.New("slow"), 2600*time.Millisecond)
	want := "cannot write, trying again in 1s: down\ncannot write, trying again in 3s: slow\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestSummary(t *testing.T) {
	for _, tt := range []struct {
		p    Progress
		want string
	}{
		{Progress{Written: 1, Chunks: 1, Files: 1, FilesTotal: 1, Elapsed: time.Second},
			"1 document (1 new or changed, 0 unchanged, 1 chunk) from 1 of 1 file in 1s, 1.0 documents/s"},
		{Progress{Written: 31, Chunks: 8997, Files: 18, FilesTotal: 25, Failed: 7, Elapsed: 7 * time.Minute},
			"31 documents (31 new or changed, 0 unchanged, 8,997 chunks) from 18 of 25 files in 7m0s, " +
				"4.4 documents/min; 7 not imported"},
		{Progress{Files: 3, FilesTotal: 3, Skipped: 1, FailedBefore: 1, Elapsed: time.Second, Stale: []string{"x"}},
			"0 documents (0 new or changed, 0 unchanged, 0 chunks) from 3 of 3 files in 1s, 0 documents/s; " +
				"1 file unchanged since an earlier import, in which 1 record was not imported then; " +
				"1 document of files that became shorter remain"},
		{Progress{Skipped: 2, FailedBefore: 7, FilesTotal: 2, Files: 2, Written: 100, Elapsed: 10 * time.Second},
			"100 documents (100 new or changed, 0 unchanged, 0 chunks) from 2 of 2 files in 10s, 10 documents/s; " +
				"2 files unchanged since an earlier import, in which 7 records were not imported then"},
	} {
		if d := cmp.Diff(tt.want, Summary(tt.p)); d != "" {
			t.Error(d)
		}
	}
}

func TestBarShowsOneShare(t *testing.T) {
	p := Progress{BytesDone: 1 << 20, BytesTotal: 4 << 20, Written: 2, Elapsed: 10 * time.Second}
	if s := line(p, false); strings.Contains(s, "%") || !strings.Contains(s, "12.0/min") && !strings.Contains(s, "12/min") {
		t.Error(s)
	}
	if s := line(p, true); !strings.Contains(s, "(25%)") {
		t.Error(s)
	}
}

func TestAdviceOnEncodings(t *testing.T) {
	for content, want := range map[string]bool{"M\xfcnchen": true, "nul\x00": false} {
		var out bytes.Buffer
		b := NewBar(&out, false)
		im := (&memory{}).importer()
		im.OnProblem = b.Problem
		p, err := im.Run(t.Context(), scan(t, tree(map[string]string{"a.txt": content, "b.txt": content})))
		if err != nil || p.Failed != 2 {
			t.Fatal(p, err)
		}
		b.Known("rows.jsonl:1: text: is missing")
		b.Finish(p)
		advice := strings.Count(out.String(), "--encoding")
		if want != (advice == 1) || !want && advice != 0 || !strings.Contains(out.String(),
			"not changed since: rows.jsonl:1: text") {
			t.Error(out.String())
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, tt := range []struct{ name, encoding, content, text, bad string }{
		{"a.txt", "latin1", "Gr\xfc\xdfe", "Grüße", ""},
		{"a.txt", "windows-1252", "\x80 5", "€ 5", ""},
		{"a.md", "windows-1251", "\xcf\xf0\xe8", "При", ""},
		{"a.txt", "shift_jis", "\x93\xfa\x96\x7b", "日本", ""},
		{"a.txt", "utf-16le", "a\x00b\x00", "ab", ""},
		{"a.txt", "latin1", "Grüße", "Grüße", ""}, // UTF-8 stays what it is
		{"a.jsonl", "latin1", "{\"id\":\"x\",\"text\":\"Gr\xfc\xdfe\"}\n", "Grüße", ""},
		{"a.json", "latin1", "[{\"id\":\"x\",\"text\":\"Gr\xfc\xdfe\"}]", "Grüße", ""},
		{"a.json", "", "\xef\xbb\xbf[{\"id\":\"x\",\"text\":\"a\"}]", "a", ""},
		{"a.html", "latin1", "<meta charset=windows-1251><p>\xcf\xf0\xe8", "При", ""}, // which says so itself
		{"a.txt", "shift_jis", "\xff\xff", "", "a.txt: is not valid UTF-8, and not Shift JIS either"},
		{"a.jsonl", "shift_jis", "\"\xff\xff\"\n", "", "a.jsonl:1: is not valid UTF-8, and not Shift JIS either"},
		{"a.jsonl", "", "\"\xff\xff\"\n", "", "a.jsonl:1: is not valid UTF-8"},
	} {
		f := scan(t, tree(map[string]string{tt.name: tt.content}))[0]
		if tt.encoding != "" {
			var err error
			if f.Encoding, err = Encoding(tt.encoding); err != nil {
				t.Fatal(err)
			}
		}
		recs, bad, _ := read(t, f, Mark{})
		if tt.bad != "" {
			if len(recs) != 0 || len(bad) != 1 || bad[0] != tt.bad {
				t.Errorf("%s in %s: %q", tt.name, tt.encoding, bad)
			}
			continue
		}
		if len(recs) != 1 || recs[0].Text != tt.text {
			t.Errorf("%s in %s: %+v %q", tt.name, tt.encoding, recs, bad)
		}
	}
	for _, name := range []string{"", "klingon", "iso-2022-kr"} {
		if _, err := Encoding(name); err == nil || !strings.Contains(err.Error(), "windows-1252") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
