package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

// history is a partition's changes, as the store would replay them.
type history struct {
	r     *rand.Rand
	log   []port.IndexChange // log[i] belongs to change at[i]
	at    []uint64
	state map[string][]port.Entry
	seq   uint64
	space int // documents; in a small space later changes hide what was lost
}

func newHistory(seed uint64) *history {
	return &history{r: rand.New(rand.NewPCG(seed, 3)), state: map[string][]port.Entry{}, space: 120}
}

func (h *history) entries() []port.Entry {
	out := make([]port.Entry, 1+h.r.IntN(3))
	for i := range out {
		var b strings.Builder
		for range 4 + h.r.IntN(20) {
			fmt.Fprintf(&b, "w%dq ", int(200*h.r.Float64()*h.r.Float64()))
		}
		v := make([]float32, 16)
		for j := range v {
			v[j] = float32(h.r.NormFloat64()) / 4
		}
		out[i] = port.Entry{Chunk: i, Text: b.String(), Vector: v, Time: int64(1 + h.r.IntN(100)),
			SparseTerms: []uint32{uint32(h.r.IntN(9)), uint32(9 + h.r.IntN(50))}, SparseWeights: []float32{1.5, .25},
			Facets: []string{filter.Token("f", fmt.Sprint(h.r.IntN(4))), filter.Token("id", fmt.Sprint(h.r.Uint64()))}}
	}
	return out
}

// step is the next batch.
func (h *history) step() port.Batch {
	b := port.Batch{After: h.seq, Upto: h.seq + 1}
	h.seq++
	for _, id := range h.r.Perm(h.space)[:1+h.r.IntN(20)] {
		c := port.IndexChange{Document: fmt.Sprintf("d%03d", id)}
		if h.r.IntN(4) > 0 {
			c.Entries = h.entries()
		}
		b.Changes = append(b.Changes, c)
		h.log, h.at = append(h.log, c), append(h.at, h.seq)
		h.state[c.Document] = c.Entries
	}
	return b
}

// replay is one batch from a number to now.
func (h *history) replay(after uint64) port.Batch {
	b := port.Batch{After: after, Upto: h.seq}
	seen := map[string]bool{}
	for i, c := range h.log {
		if h.at[i] > after && !seen[c.Document] {
			seen[c.Document] = true
			b.Changes = append(b.Changes, port.IndexChange{Document: c.Document, Entries: h.state[c.Document]})
		}
	}
	return b
}

// fingerprint is what all retrievers answer to some queries: everything that
// is live, by chunk. Keyword scores are left out, for document frequencies
// count deleted chunks until they are merged away.
func fingerprint(t testing.TB, x *Index, p port.Partition) map[string]string {
	t.Helper()
	out := map[string]string{}
	r := rand.New(rand.NewPCG(5, 5))
	for i := range 6 {
		v := make([]float32, 16)
		for j := range v {
			v[j] = float32(r.NormFloat64()) / 4
		}
		f := &filter.Filter{Op: filter.In, Key: "f", Values: []string{fmt.Sprint(i)}}
		if i > 3 {
			f = nil
		}
		for _, q := range []port.IndexQuery{
			{Retriever: port.Vector, Vector: v},
			{Retriever: port.Keyword, Text: fmt.Sprintf("w%dq w0q w1q w%dq", i*3, i*40)},
			{Retriever: port.SparseTerms, SparseTerms: []uint32{uint32(i), 9, 20}, SparseWeights: []float32{1, 2, 3}},
		} {
			q.Limit, q.Filter = 1000, f
			hits, err := x.Search(context.Background(), p, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				score := fmt.Sprint(h.Score)
				if q.Retriever == port.Keyword {
					score = ""
				}
				out[fmt.Sprint(q.Retriever, i, h.Document, h.Chunk)] = score
			}
		}
	}
	return out
}

// build makes a directory with a few files and a history, closed.
func buildDir(t testing.TB, dir string, p port.Partition, steps int) *history {
	t.Helper()
	h := newHistory(1)
	x := openTest(t, dir, tinyFiles)
	for range steps {
		if err := x.Apply(context.Background(), p, h.step()); err != nil {
			t.Fatal(err)
		}
	}
	settle(x, p)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return h
}

func tinyFiles(c *Config) { c.FlushChunks, c.Merges = 40, 2 }

// recovered opens a directory as it is, brings the partition up to date and
// compares it with an index built from nothing.
func recovered(t testing.TB, dir string, p port.Partition, h *history) (from uint64) {
	t.Helper()
	x := openTest(t, dir, tinyFiles)
	defer x.Close()
	ctx := context.Background()
	from, err := x.Applied(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Apply(ctx, p, h.replay(from)); err != nil {
		t.Fatal(err)
	}
	settle(x, p)
	fresh := openTest(t, t.TempDir(), nil)
	defer fresh.Close()
	if err := fresh.Apply(ctx, p, h.replay(0)); err != nil {
		t.Fatal(err)
	}
	if got, want := fingerprint(t, x, p), fingerprint(t, fresh, p); !reflect.DeepEqual(got, want) {
		t.Fatalf("recovered from %d: %d answers, a rebuild gives %d", from, len(got), len(want))
	}
	return from
}

func copyDir(t testing.TB, to, from string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed by a merge in between
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, path)
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A damaged file is noticed, the partition starts from nothing, and replaying
// gives what a rebuild gives.
func TestDamagedFiles(t *testing.T) {
	p := port.Documents("org", "n").At(7)
	dir := t.TempDir()
	h := buildDir(t, dir, p, 40)
	if from := recovered(t, dir, p, h); from != h.seq {
		t.Fatalf("undamaged: recovered from %d, want %d", from, h.seq)
	}
	r := rand.New(rand.NewPCG(8, 8))
	files, err := filepath.Glob(filepath.Join(dir, partitionDirName(7), "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("files %v, %v", files, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		spoil := map[string][]byte{"missing": nil, "empty": {}, "grown": append(whole[:len(whole):len(whole)], 0)}
		for i := range 4 {
			spoil[fmt.Sprint("truncated", i)] = whole[:r.IntN(len(whole))]
			flipped := append([]byte(nil), whole...)
			flipped[r.IntN(len(flipped))] ^= 1 << r.IntN(8)
			spoil[fmt.Sprint("flipped", i)] = flipped
		}
		flipped := append([]byte(nil), whole...)
		flipped[r.IntN(min(len(flipped), headerLen))] ^= 1
		spoil["header"] = flipped
		for how, b := range spoil {
			t.Run(name+"/"+how, func(t *testing.T) {
				dir2 := t.TempDir()
				copyDir(t, dir2, dir)
				target := filepath.Join(dir2, partitionDirName(7), name)
				if b == nil {
					if err := os.Remove(target); err != nil {
						t.Fatal(err)
					}
				} else if err := os.WriteFile(target, b, 0o600); err != nil {
					t.Fatal(err)
				}
				// A flipped bit of padding between sections changes nothing.
				if from := recovered(t, dir2, p, h); from != 0 && from != h.seq {
					t.Errorf("recovered from %d, want 0 or %d", from, h.seq)
				} else if from != 0 && !strings.HasPrefix(how, "flipped") {
					t.Errorf("the damage was not noticed")
				}
			})
		}
	}
}

// A file cut off under a running index gives ErrGap, and a rebuild serves again.
func TestFileVanishesUnderneath(t *testing.T) {
	p := port.Documents("org", "n").At(7)
	dir := t.TempDir()
	h := buildDir(t, dir, p, 40)
	x := openTest(t, dir, tinyFiles)
	want := fingerprint(t, x, p)
	files, err := filepath.Glob(filepath.Join(dir, partitionDirName(7), "*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.Truncate(f, 0); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	q := port.IndexQuery{Retriever: port.Keyword, Text: "w0q", Limit: 10}
	if _, err := x.Search(ctx, p, q); !errors.Is(err, port.ErrGap) {
		t.Fatalf("search of a vanished file: %v, want ErrGap", err)
	}
	if _, err := x.Search(ctx, p, q); !errors.Is(err, port.ErrGap) {
		t.Fatalf("search before the rebuild: %v, want ErrGap", err)
	}
	if n, err := x.Applied(ctx, p); err != nil || n != 0 {
		t.Fatalf("applied %d, %v; want 0", n, err)
	}
	if err := x.Apply(ctx, p, h.replay(0)); err != nil {
		t.Fatal(err)
	}
	if got := fingerprint(t, x, p); !reflect.DeepEqual(got, want) {
		t.Fatalf("after the rebuild: %d answers, want %d", len(got), len(want))
	}
	if st := x.Stats(); st.Rebuilds != 1 {
		t.Errorf("%d rebuilds counted, want 1", st.Rebuilds)
	}
}

// A copy of the directory taken at any moment of flushes and merges is what a
// crash leaves: it opens, and replaying from its number gives the whole.
func TestCrashAtAnyMoment(t *testing.T) {
	p := port.Documents("org", "n").At(7)
	dir := t.TempDir()
	x := openTest(t, dir, tinyFiles)
	h := newHistory(2)
	h.space = 500 // all chunks fit the largest answer
	type crash struct{ dir string }
	var crashes []crash
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for len(crashes) < 40 {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(len(crashes)%7) * time.Millisecond):
			}
			to := t.TempDir()
			copyCrash(t, to, dir)
			crashes = append(crashes, crash{to})
		}
	})
	for i := range 150 {
		if err := x.Apply(context.Background(), p, h.step()); err != nil {
			t.Fatal(err)
		}
		if time.Sleep(time.Duration(i%3) * time.Millisecond / 2); i%20 == 0 {
			settle(x, p)
		}
	}
	close(stop)
	wg.Wait()
	if st := x.Stats(); st.Flushes < 3 || st.Merges < 1 {
		t.Fatalf("%d flushes and %d merges: nothing to crash in", st.Flushes, st.Merges)
	}
	durable := 0
	for _, c := range crashes {
		if recovered(t, c.dir, p, h) > 0 {
			durable++
		}
	}
	if durable == 0 {
		t.Error("no copy held anything durable")
	}
}

// copyCrash copies as a crash would leave it: the manifest first, then the
// files that it names; a merge may have removed some since, then it starts over.
func copyCrash(t testing.TB, to, from string) {
	t.Helper()
	for {
		if err := os.RemoveAll(to); err != nil {
			t.Error(err)
			return
		}
		before, _ := os.ReadFile(filepath.Join(from, partitionDirName(7), manifestName))
		copyDir(t, to, from)
		after, _ := os.ReadFile(filepath.Join(from, partitionDirName(7), manifestName))
		if string(before) == string(after) {
			if err := os.MkdirAll(to, 0o700); err != nil {
				t.Error(err)
			}
			return
		}
	}
}

// Changes that arrive while files are written and merged are not lost, neither
// in memory nor on disk.
func TestChangesDuringMerges(t *testing.T) {
	p := port.Documents("org", "n").At(7)
	dir := t.TempDir()
	busy := func(c *Config) { c.FlushChunks, c.Merges = 12, 4 }
	x := openTest(t, dir, busy)
	h := newHistory(9)
	ctx := context.Background()
	for i := range 600 {
		if err := x.Apply(ctx, p, h.step()); err != nil {
			t.Fatal(err)
		}
		if i%30 != 29 {
			continue
		}
		settle(x, p)
		got, seq, err := x.Contents(ctx, p)
		if err != nil || seq != h.seq {
			t.Fatalf("contents at %d, %v; want %d", seq, err, h.seq)
		}
		want := map[string]int{}
		for id, e := range h.state {
			if len(e) > 0 {
				want[id] = len(e)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("at %d: contents %v, want %v", seq, got, want)
		}
	}
	if st := x.Stats(); st.Flushes < 20 || st.Merges < 3 {
		t.Fatalf("%d flushes, %d merges", st.Flushes, st.Merges)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	recovered(t, dir, p, h)
}

// TestFlushesWaitForNoMerge: what a partition holds in memory is written although a merge takes its time.
func TestFlushesWaitForNoMerge(t *testing.T) {
	x := openTest(t, t.TempDir(), func(c *Config) { c.FlushChunks = 40 })
	for range cap(x.mergeSlots) {
		x.mergeSlots <- struct{}{} // a merge of another partition
	}
	t.Cleanup(func() { // before the index is closed, which waits for what is under way
		for range cap(x.mergeSlots) {
			<-x.mergeSlots
		}
	})
	p, h := port.Documents("org", "n").At(1), newHistory(5)
	for began := time.Now(); x.Stats().Flushes < 3; {
		if err := x.Apply(t.Context(), p, h.step()); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("%d flushes", x.Stats().Flushes)
		}
	}
}

// Files that were written fast become one when nothing has been written for a while; a small one beside a large one stays.
func TestFilesAtRestAreCompacted(t *testing.T) {
	dir := t.TempDir()
	x := openTest(t, dir, func(c *Config) { c.FlushChunks = 20 })
	p := port.Documents("org", "n").At(7)
	ctx := t.Context()
	seq := uint64(0)
	apply := func(chunks int) {
		t.Helper()
		b := port.Batch{After: seq, Upto: seq + 1}
		seq++
		for i := range chunks {
			e := port.Entry{Text: fmt.Sprintf("word%d all", seq), Vector: []float32{1, float32(i), float32(seq)}}
			b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%d.%d", seq, i), Entries: []port.Entry{e}})
		}
		if err := x.Apply(ctx, p, b); err != nil {
			t.Fatal(err)
		}
	}
	write := func(files, chunks int) {
		t.Helper()
		for range files {
			apply(chunks)
			settle(x, p)
		}
	}
	segments := func(when string, want int) {
		t.Helper()
		s := x.open[7].acquire()
		defer s.release()
		if len(s.segs) != want || s.live != x.Stats().Chunks {
			t.Fatalf("%s: %d files of %d chunks, want %d", when, len(s.segs), s.live, want)
		}
	}
	write(3, 20)
	write(1, 60)
	segments("written", 4)
	Compact(x, p)
	segments("at rest", 1)
	write(1, 59) // less than half of what is there
	Compact(x, p)
	segments("with a smaller file", 2)
	write(1, 20)
	Compact(x, p)
	segments("with two", 1)
	for i := range seq {
		hits, err := x.Search(ctx, p, port.IndexQuery{Retriever: port.Keyword, Text: fmt.Sprintf("word%d", i+1), Limit: 100})
		if want := []int{20, 20, 20, 60, 59, 20}[i]; err != nil || len(hits) != want {
			t.Errorf("%d of %d hits, %v", len(hits), want, err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openTest(t, dir, func(c *Config) { c.FlushChunks = 20 })
	x.compactAfter = time.Millisecond
	apply(100)
	for began := time.Now(); x.Stats().Merges == 0; time.Sleep(time.Millisecond) { // the time comes by itself
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("%d files", x.Stats().Segments)
		}
	}
	if n, err := x.Durable(ctx, p); n != seq || err != nil {
		t.Errorf("durable %d of %d, %v", n, seq, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openTest(t, dir, nil)
	if n, err := x.Applied(ctx, p); n != seq || err != nil || x.Stats().Segments != 1 || x.Stats().Chunks != 299 {
		t.Errorf("opened again: applied %d, %v, %+v", n, err, x.Stats())
	}
}

// Files are compacted only to what a file can hold.
func TestCompactionHasALimit(t *testing.T) {
	file := func(chunks, section, size int) segView {
		seg := &segment{chunks: chunks, file: new(segmentFile)}
		seg.sec[section] = make([]byte, size)
		return segView{segment: seg, alive: chunks}
	}
	limit := fileLimit{chunks: 1000, bytes: 99}
	const half = 50
	for name, c := range map[string]struct {
		segs []segView
		want int
	}{
		"none":                         {nil, 0},
		"one":                          {[]segView{file(100, secMeta, 0)}, 0},
		"as many as one file holds":    {[]segView{file(500, secMeta, 0), file(500, secMeta, 0)}, 2},
		"more chunks":                  {[]segView{file(500, secMeta, 0), file(500+1, secMeta, 0)}, 0},
		"more postings":                {[]segView{file(100, secPostings, half), file(100, secPostings, half)}, 0},
		"more of sparse terms":         {[]segView{file(100, secSparse, half), file(100, secSparse, half)}, 0},
		"more ids":                     {[]segView{file(100, secDocIDs, half), file(100, secDocIDs, half)}, 0},
		"more words":                   {[]segView{file(100, secTerms, half), file(100, secTerms, half)}, 0},
		"more of what has no limit":    {[]segView{file(100, secCode, half), file(100, secCode, half)}, 2},
		"two small ones":               {[]segView{file(601, secMeta, 0), file(100, secMeta, 0), file(200, secMeta, 0)}, 2},
		"twice what all smaller have":  {[]segView{file(600, secMeta, 0), file(100, secMeta, 0), file(200, secMeta, 0)}, 3},
		"three, of which one is small": {[]segView{file(10, secMeta, 0), file(100, secMeta, 0), file(120, secMeta, 0)}, 3},
		"in memory":                    {[]segView{file(100, secMeta, 0), {segment: &segment{chunks: 100}, alive: 100}}, 0},
	} {
		if got := pickCompaction(&snapshot{segs: c.segs}, nil, limit); len(got) != c.want {
			t.Errorf("%s: %d files are merged, want %d", name, len(got), c.want)
		}
	}
}

// A disk that takes nothing more costs durability, not service.
func TestUnwritableDirectory(t *testing.T) {
	dir := t.TempDir()
	x := openTest(t, dir, tinyFiles)
	p := port.Documents("org", "n").At(7)
	// A file stands where the partition's directory should be.
	block := filepath.Join(dir, partitionDirName(7))
	if err := os.WriteFile(block, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := newHistory(3)
	for range 30 {
		if err := x.Apply(context.Background(), p, h.step()); err != nil {
			t.Fatal(err)
		}
	}
	settle(x, p)
	if d, err := x.Durable(context.Background(), p); err != nil || d != 0 {
		t.Fatalf("durable %d, %v", d, err)
	}
	fresh := openTest(t, t.TempDir(), nil)
	if err := fresh.Apply(context.Background(), p, h.replay(0)); err != nil {
		t.Fatal(err)
	}
	if got, want := fingerprint(t, x, p), fingerprint(t, fresh, p); !reflect.DeepEqual(got, want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	if err := os.Remove(block); err != nil {
		t.Fatal(err)
	}
	x.mu.Lock()
	part := x.open[7]
	x.mu.Unlock()
	part.mu.Lock()
	part.retry = time.Time{}
	part.mu.Unlock()
	if err := x.Apply(context.Background(), p, h.step()); err != nil {
		t.Fatal(err)
	}
	settle(x, p)
	if d, err := x.Durable(context.Background(), p); err != nil || d != h.seq {
		t.Fatalf("durable %d, %v after the disk came back; want %d", d, err, h.seq)
	}
}

// Partitions leave memory under the budget; a search of one says so, and
// what is replayed is complete.
func TestEviction(t *testing.T) {
	x := openTest(t, t.TempDir(), func(c *Config) { c.MemoryMB = 1 })
	ctx := context.Background()
	h := newHistory(4)
	for range 10 {
		h.step()
	}
	first := 0 // entries of the first change
	for h.at[first] == 1 {
		first++
	}
	var parts []port.Partition
	for g := range int64(200) {
		p := port.Memories("org", "i", fmt.Sprint(g)).At(g + 1)
		parts = append(parts, p)
		if err := x.Apply(ctx, p, h.replay(0)); err != nil {
			t.Fatal(err)
		}
	}
	st := x.Stats()
	if st.Evictions == 0 || st.Bytes > 2<<20+1<<18 {
		t.Fatalf("%d evictions, %d bytes held with a budget of 1 MiB", st.Evictions, st.Bytes)
	}
	want := fingerprint(t, x, parts[199])
	gaps := 0
	for _, p := range parts {
		n, err := x.Applied(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			gaps++
			if _, err := x.Search(ctx, p,
				port.IndexQuery{Retriever: port.Keyword, Text: "w0q", Limit: 1}); !errors.Is(err, port.ErrGap) {
				t.Fatalf("search of an evicted partition: %v, want ErrGap", err)
			}
			// A part of the changes is not what the caller saw before.
			if err := x.Apply(ctx, p, port.Batch{Upto: 1, Changes: h.log[:first]}); err != nil {
				t.Fatal(err)
			}
			if _, err := x.Search(ctx, p,
				port.IndexQuery{Retriever: port.Keyword, Text: "w0q", Limit: 1}); !errors.Is(err, port.ErrGap) {
				t.Fatalf("search of a part of an evicted partition: %v, want ErrGap", err)
			}
			if err := x.Apply(ctx, p, h.replay(1)); err != nil {
				t.Fatal(err)
			}
		}
		if got := fingerprint(t, x, p); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %d answers, want %d", p, len(got), len(want))
		}
	}
	if gaps == 0 {
		t.Fatal("nothing was evicted")
	}
}

// Retain removes what no live generation owns.
func TestRetain(t *testing.T) {
	dir := t.TempDir()
	x := openTest(t, dir, tinyFiles)
	h := newHistory(5)
	for range 20 {
		h.step()
	}
	for g := range int64(3) {
		if err := x.Apply(context.Background(), port.Documents("org", fmt.Sprint(g)).At(g+1), h.replay(0)); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openTest(t, dir, tinyFiles)
	// One of them is in memory, one on disk alone.
	if _, err := x.Search(context.Background(), port.Documents("org", "0").At(1),
		port.IndexQuery{Retriever: port.Keyword, Text: "a", Limit: 1}); err != nil {
		t.Fatal(err)
	}
	if err := x.Retain([]int64{2}); err != nil {
		t.Fatal(err)
	}
	for g := range int64(3) {
		n, err := x.Applied(context.Background(), port.Documents("org", fmt.Sprint(g)).At(g+1))
		if err != nil || (n > 0) != (g+1 == 2) {
			t.Errorf("generation %d: applied %d, %v", g+1, n, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("directory holds %v, %v", left, err)
	}
	// Settings of keyword search are part of what was built.
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openTest(t, dir, func(c *Config) { tinyFiles(c); c.Keyword.K1 = 1.7 })
	if n, err := x.Applied(context.Background(), port.Documents("org", "1").At(2)); err != nil || n != 0 {
		t.Errorf("applied %d, %v with other settings; want 0", n, err)
	}
}

// reseal recomputes the checksums, so that fuzzing gets past them.
func reseal(image []byte) {
	if len(image) < headerLen {
		return
	}
	le := binary.LittleEndian
	copy(image, segmentMagic)
	le.PutUint32(image[8:], segmentVersion)
	le.PutUint32(image[12:], sectionCount)
	le.PutUint64(image[16:], uint64(len(image)))
	for i := range sectionCount {
		h := image[24+i*24:]
		if off, n := le.Uint64(h), le.Uint64(h[8:]); off <= uint64(len(image)) && n <= uint64(len(image))-off {
			le.PutUint32(h[16:], crc32.Checksum(image[off:off+n], castagnoli()))
		}
	}
	le.PutUint32(image[headerLen-8:], crc32.Checksum(image[:headerLen-8], castagnoli()))
}

// FuzzSegment reads damaged images whose checksums are right: any error will
// do, a crash or a hang will not.
func FuzzSegment(f *testing.F) {
	x := openTest(f, f.TempDir(), nil)
	h := newHistory(6)
	var changes []port.IndexChange
	for range 3 {
		changes = append(changes, h.step().Changes...)
	}
	bl := x.builders.Get().(*builder)
	s, err := bl.build(distinct(changes), 16)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{}, uint32(len(s.image)))
	f.Add(uint32(headerLen), []byte{1, 2, 3}, uint32(len(s.image)))
	f.Add(uint32(24), []byte{255, 255}, uint32(700))
	for i := range s.sec {
		f.Add(uint32(24+24*i), []byte{8}, uint32(len(s.image)))
		if len(s.sec[i]) > 0 {
			off := binary.LittleEndian.Uint64(s.image[24+i*24:])
			f.Add(uint32(off), []byte{255, 255, 255, 255, 3}, uint32(len(s.image)))
		}
	}
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, n uint32) {
		image := append([]byte(nil), s.image[:min(int(n), len(s.image))]...)
		if int(at) < len(image) {
			copy(image[at:], patch)
		}
		reseal(image)
		seg, err := openSegment(image, verifyAll)
		if err != nil {
			return
		}
		err = guard(func() error {
			snap := &snapshot{
				segs:  []segView{{segment: seg, alive: seg.chunks}},
				dim:   seg.dim,
				live:  seg.chunks,
				words: seg.words,
			}
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			q := port.IndexQuery{Limit: 20, Explain: true, Text: "w0q w1q w2q w30q", Vector: make([]float32, seg.dim),
				SparseTerms: []uint32{1, 9, 20}, SparseWeights: []float32{1, 1, 1},
				Filter: &filter.Filter{Op: filter.In, Key: "f", Values: []string{"0", "1"}}}
			if seg.dim > 0 {
				q.Vector[0] = 1
			}
			for _, q.Retriever = range x.Retrievers() {
				if _, err := x.search(ctx, snap, q); err != nil {
					return err
				}
			}
			_, err := x.mergeHeap(ctx, []mergeInput{{seg, nil}})
			return err
		})
		if errors.Is(err, context.DeadlineExceeded) {
			t.Fatal("hangs")
		}
	})
}

func FuzzManifest(f *testing.F) {
	m := manifest{Partition: "p", Durable: 4, Dim: 8, Next: 9, Segments: []manifestSegment{{ID: 3, Header: 4}}}
	live := fullBitset(100)
	live.unset(40)
	dead, err := encodeDead(live, 100)
	if err != nil {
		f.Fatal(err)
	}
	m.Segments[0].Dead = dead
	b, err := m.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[16:], dead)
	f.Add([]byte(`{"segments":[{"id":1}]}`), []byte{})
	f.Fuzz(func(t *testing.T, body, dead []byte) {
		b := append([]byte(manifestMagic), 0, 0, 0, 0, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(body, castagnoli()))
		binary.LittleEndian.PutUint32(b[12:], uint32(len(body)))
		if m, err := decodeManifest(append(b, body...)); err == nil {
			again, err := m.encode()
			if err != nil {
				t.Fatal(err)
			}
			if n, err := decodeManifest(again); err != nil || n.Durable != m.Durable || len(n.Segments) != len(m.Segments) {
				t.Fatalf("encode and decode: %+v, %v; want %+v", n, err, m)
			}
		}
		live, alive, err := decodeDead(dead, 100)
		if err == nil && live != nil && live.count() != alive {
			t.Fatalf("%d live, counted %d", live.count(), alive)
		}
	})
}
