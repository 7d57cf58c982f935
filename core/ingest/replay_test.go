package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// events counts what is logged, by message.
type events struct {
	mu   sync.Mutex
	seen map[string]int
}

func logs() (*events, *slog.Logger) {
	e := &events{seen: map[string]int{}}
	return e, slog.New(e)
}

func (e *events) Enabled(context.Context, slog.Level) bool { return true }
func (e *events) WithAttrs([]slog.Attr) slog.Handler       { return e }
func (e *events) WithGroup(string) slog.Handler            { return e }
func (e *events) Handle(_ context.Context, r slog.Record) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen[r.Message]++
	return nil
}

func (e *events) of(message string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[message]
}

// want fails unless just this was logged.
func (e *events) want(t *testing.T, want string) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if got := fmt.Sprint(e.seen); got != want {
		t.Errorf("logged %s, want %s", got, want)
	}
}

// elsewhere is the log of another process, whose changes this one's index lacks.
func (c *changed) elsewhere() *ingest.Log {
	return ingest.NewLog(c.Store, ingest.NewProjector(c.Store, nil, "elsewhere", slog.New(slog.DiscardHandler)))
}

func (c *changed) writeTo(log *ingest.Log, fn func(tx *ingest.Tx) error) {
	c.Helper()
	c.must(log.Write(c.ctx, ingest.CauseWrite, fn))
}

func (c *changed) delete(tx *ingest.Tx, ids ...string) error {
	_, err := tx.Delete(c.ctx, c.p, time.Now(), ids)
	return err
}

// trim has the store forget deletions up to a change.
func (c *changed) trim(upto uint64) {
	c.Helper()
	c.must(c.Store.Update(c.ctx, func(w port.Writer) error { return w.TrimChanges(c.ctx, c.p, upto) }))
}

// An index that lacks deletions which the log has forgotten is built again.
func TestAnIndexBehindTheLogIsBuiltAnew(t *testing.T) {
	c := open(t)
	log, logger := logs()
	pr := ingest.NewProjector(c.Store, []port.Index{c.Index}, "here", logger)
	c.writeTo(c.log, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x"), c.of("b", "heron", "x")) })
	other := c.elsewhere()
	c.writeTo(other, func(tx *ingest.Tx) error { return c.delete(tx, "b") })
	c.writeTo(other, func(tx *ingest.Tx) error { return c.put(tx, c.of("c", "crane", "x")) })
	c.trim(2)
	drops := 0
	broken := errors.New("it can't be removed")
	c.Index.OnDrop.Set(func() error { drops++; return broken })
	if err := pr.Ensure(c.ctx, c.p, 3); !errors.Is(err, broken) || drops != 1 {
		t.Errorf("an index that can't be removed: %v after %d times", err, drops)
	}
	c.applied(1)
	c.Index.OnDrop.Set(func() error { drops++; return nil })
	c.must(pr.Ensure(c.ctx, c.p, 3))
	c.applied(3)
	if ids := c.found(port.Keyword, "pelican heron crane", ""); len(ids) != 2 || slices.Contains(ids, "b") || drops != 2 {
		t.Errorf("found %v after %d removals", ids, drops)
	}
	log.want(t, "map[index rebuild needed:2]")

	// Of a log that is cut at what the index has, or before, it needs no more.
	c.writeTo(other, func(tx *ingest.Tx) error { return c.delete(tx, "a") })
	c.must(pr.Ensure(c.ctx, c.p, 4))
	c.writeTo(other, func(tx *ingest.Tx) error { return c.put(tx, c.of("d", "gull", "x")) })
	c.trim(4)
	c.must(pr.Ensure(c.ctx, c.p, 5))
	c.applied(5)
	if drops != 2 {
		t.Errorf("an index that has what was forgotten is removed: %d times", drops)
	}
	log.want(t, "map[index rebuild needed:2]")
}

// An index that is empty is built from a log that has forgotten deletions, in several
// parts, without beginning again after each, and up to where the log is whole.
func TestAnEmptyIndexIsBuiltInParts(t *testing.T) {
	c := open(t)
	log, logger := logs()
	pr := ingest.NewProjector(c.Store, []port.Index{c.Index}, "here", logger)
	c.writeTo(c.elsewhere(), func(tx *ingest.Tx) error {
		for i := range 300 {
			if err := c.put(tx, c.of(fmt.Sprintf("d%03d", i), "pelican", "x")); err != nil {
				return err
			}
		}
		return c.delete(tx, "d000")
	})
	c.trim(301)
	applies, drops := 0, 0
	c.Index.OnApply.Set(func() error { applies++; return nil })
	c.Index.OnDrop.Set(func() error { drops++; return nil })
	c.must(pr.Ensure(c.ctx, c.p, 1))
	c.applied(301)
	if applies != 3 || drops != 0 {
		t.Errorf("%d parts, %d removals; want 3 parts", applies, drops)
	}
	log.want(t, "map[]")
}

// What nobody has written can't be waited for.
func TestAnIndexCantBeAheadOfTheLog(t *testing.T) {
	c := open(t)
	c.writeTo(c.log, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	if err := c.Projector.Ensure(c.ctx, c.p, 2); err == nil {
		t.Error("a change that there is not is in the index")
	}
	stranger := &coretest.Index{Index: c.Index.Index, IndexHooks: &coretest.IndexHooks{}}
	if err := c.Projector.EnsureIndex(c.ctx, stranger, c.p, 1); err != nil {
		t.Errorf("an index that is up to date: %v", err)
	}
	if err := c.Projector.EnsureIndex(c.ctx, stranger, c.p, 2); err == nil {
		t.Error("an index of another projector is brought up")
	}
}

// reencode gives the partition's documents vectors of two dimensions.
func (c *changed) reencode(log *ingest.Log, docs ...port.DocumentWrite) {
	c.Helper()
	c.writeTo(log, func(tx *ingest.Tx) error {
		row, err := tx.Partition(c.ctx, c.p)
		if err != nil {
			return err
		}
		row.Dimensions = 2
		if err := tx.SetModels(c.ctx, c.p, row); err != nil {
			return err
		}
		for i := range docs {
			docs[i].Vectors = port.Vectors{Dense: port.Dense{Dim: 2, Data: []float32{0, 1}}}
		}
		return tx.Reencode(c.ctx, c.p, docs)
	})
}

// An index that still has another model's vectors, because its process died before they
// were dropped, is built again.
func TestAnIndexOfAnotherModelIsBuiltAnew(t *testing.T) {
	c := open(t)
	d := c.of("a", "pelican", "x")
	c.writeTo(c.log, func(tx *ingest.Tx) error { return c.put(tx, d) })
	c.reencode(c.elsewhere(), d)
	drops := 0
	broken := errors.New("it can't be removed")
	c.Index.OnDrop.Set(func() error { drops++; return broken })
	if err := c.Projector.Ensure(c.ctx, c.p, 2); !errors.Is(err, broken) || drops != 1 {
		t.Errorf("an index that can't be removed: %v after %d times", err, drops)
	}
	c.Index.OnDrop.Set(func() error { drops++; return nil })
	c.must(c.Projector.Ensure(c.ctx, c.p, 2))
	c.applied(2)
	hits, err := c.Index.Search(c.ctx, c.p, port.IndexQuery{Retriever: port.Vector, Vector: []float32{0, 1}, Limit: 10})
	if err != nil || len(hits) != 1 || drops != 2 {
		t.Errorf("found %v, %v after %d removals", hits, err, drops)
	}
	// One that refuses these vectors whatever it holds is not emptied again and again.
	c.writeTo(c.elsewhere(), func(tx *ingest.Tx) error {
		d.Document.Text, d.Vectors = "another pelican", port.Vectors{Dense: port.Dense{Dim: 2, Data: []float32{1, 0}}}
		return c.put(tx, d)
	})
	c.Index.OnApply.Set(func() error { return port.ErrDimensions })
	if err := c.Projector.Ensure(c.ctx, c.p, 3); !errors.Is(err, port.ErrDimensions) || drops != 3 {
		t.Errorf("an index that refuses all: %v after %d removals", err, drops)
	}
}

// A namespace that is deleted while its first write is on its way to the index leaves
// nothing there.
func TestAnIndexOfADeletedNamespaceIsDropped(t *testing.T) {
	c := open(t)
	log, logger := logs()
	pr := ingest.NewProjector(c.Store, []port.Index{c.Index}, "here", logger)
	drops := 0
	c.Index.OnDrop.Set(func() error { drops++; return nil })
	c.Index.OnApply.Set(func() error {
		return c.Store.Update(c.ctx, func(w port.Writer) error {
			_, err := w.DeletePartition(c.ctx, c.p)
			return err
		})
	})
	c.writeTo(ingest.NewLog(c.Store, pr), func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	if c.applied(0); drops != 1 {
		t.Errorf("dropped %d times", drops)
	}
	log.want(t, "map[]")

	c.Index.OnDrop.Set(func() error { return errors.New("it can't be removed") })
	pr.Drop(c.ctx, c.p)
	log.want(t, "map[index drop failed:1]")
}

// Of several indexes each is served once, and one that is behind keeps the others from
// nothing.
func TestIndexesAreServedOnce(t *testing.T) {
	c := open(t)
	lost := &coretest.Index{Index: away{c.Index.Index}, IndexHooks: &coretest.IndexHooks{}}
	pr := ingest.NewProjector(c.Store, []port.Index{c.Index, lost, c.Index}, "here", slog.New(slog.DiscardHandler))
	if got := pr.Indexes(); len(got) != 2 || got[0] != port.Index(c.Index) || got[1] != port.Index(lost) {
		t.Fatalf("serves %v", got)
	}
	lost.OnApply.Set(func() error { return errors.New("it is away") })
	c.writeTo(ingest.NewLog(c.Store, pr), func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	c.must(pr.EnsureIndex(c.ctx, c.Index, c.p, 1))
	if err := pr.EnsureIndex(c.ctx, lost, c.p, 1); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("an index that is away: %v", err)
	}
	if err := pr.Ensure(c.ctx, c.p, 1); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("all indexes: %v", err)
	}
}

// One replay of an index runs at a time, however many wait for it.
func TestOneReplayRunsAtATime(t *testing.T) {
	c := open(t)
	c.writeTo(c.elsewhere(), func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	store := &coretest.Store{DocumentStore: c.Store.DocumentStore} // which nobody else reads
	pr := ingest.NewProjector(store, []port.Index{c.Index}, "here", slog.New(slog.DiscardHandler))
	entered, goOn := make(chan bool), make(chan error)
	c.Index.OnApply.Set(func() error { entered <- true; return <-goOn })
	broken := errors.New("it is broken")
	ends := make(chan error, 2)
	for range 2 {
		go func() { ends <- pr.Ensure(c.ctx, c.p, 1) }()
	}
	<-entered
	goOn <- broken
	if err := <-ends; !errors.Is(err, broken) {
		t.Errorf("the first: %v", err)
	}
	<-entered // the second, which has waited
	left, leave := context.WithCancel(c.ctx)
	leave()
	reads := 0
	store.OnView.Set(func() error { reads++; return nil })
	for range 20 {
		if err := pr.Ensure(left, c.p, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("who leaves while another one replays: %v", err)
		}
	}
	if reads != 0 {
		t.Errorf("%d of them read the log in the meantime", reads)
	}
	store.OnView.Clear()
	goOn <- nil
	c.must(<-ends)
	c.applied(1)
}

// What callers had no time to build is built one after the other, hurried callers hear
// that in the meantime, and what can't be built is logged and left for the next one.
func TestBuildsInTheBackground(t *testing.T) {
	c := open(t)
	log, logger := logs()
	pr := ingest.NewProjector(c.Store, []port.Index{c.Index}, "here", logger)
	other := c.elsewhere()
	first := c.p
	c.writeTo(other, func(tx *ingest.Tx) error { return c.put(tx, c.of("a", "pelican", "x")) })
	c.must(c.Store.Update(c.ctx, func(w port.Writer) error {
		second := port.Documents(first.Org(), "more")
		row, err := w.CreatePartition(c.ctx, second, c.Models.WithConfiguredModels(port.PartitionRow{Name: "more"}))
		c.p = second.At(row.Generation)
		return err
	}))
	second := c.p
	c.writeTo(other, func(tx *ingest.Tx) error { return c.put(tx, c.of("b", "heron", "x")) })
	hurried, cancel := context.WithTimeout(c.ctx, time.Hour)
	defer cancel()
	leaves := func(p port.Partition, seq uint64) { // in the midst of a build
		t.Helper()
		gone, leave := context.WithCancel(c.ctx)
		c.Index.OnApply.Set(func() error { leave(); return gone.Err() })
		if err := pr.EnsureIndex(gone, c.Index, p, seq); !errors.Is(err, context.Canceled) {
			t.Errorf("who leaves: %v", err)
		}
		c.Index.OnApply.Clear()
	}
	for _, p := range []port.Partition{first, second} {
		leaves(p, 1)
		if err := pr.EnsureIndex(hurried, c.Index, p, 1); fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("who has no time for a build: %v", err)
		}
	}
	c.backlog(pr, "two builds", ingest.Backlog{Building: 2})
	c.catchesUp(pr)
	log.want(t, "map[]")
	for _, c.p = range []port.Partition{first, second} {
		c.applied(1)
	}
	c.must(pr.EnsureIndex(hurried, c.Index, first, 1))

	c.writeTo(other, func(tx *ingest.Tx) error { return c.put(tx, c.of("c", "crane", "x")) })
	leaves(second, 2)
	c.Index.OnApply.Set(func() error { return errors.New("it is broken") })
	ctx, stop := context.WithCancel(c.ctx)
	var running sync.WaitGroup
	running.Go(func() { pr.Run(ctx) })
	for began := time.Now(); log.of("index build failed") == 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("a build that fails is not logged")
		}
	}
	c.Index.OnApply.Clear()
	c.must(pr.EnsureIndex(hurried, c.Index, second, 2))
	stop()
	running.Wait()
	log.want(t, "map[index build failed:1]")
}

// shelf is an index that keeps nothing but what it was given last and how far it is.
type shelf struct {
	port.Index
	mu       sync.Mutex
	applied  uint64
	durable  uint64
	fails    error // of Durable and Applied
	refuses  error // of Apply
	ping     func() error
	batches  []port.Batch
	lagsBack bool
}

func (s *shelf) MayLag() bool { return s.lagsBack }
func (s *shelf) Ping(context.Context) error {
	if s.ping == nil {
		return nil
	}
	return s.ping()
}
func (s *shelf) Applied(context.Context, port.Partition) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied, s.fails
}
func (s *shelf) Durable(context.Context, port.Partition) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.durable, s.fails
}
func (s *shelf) Apply(_ context.Context, _ port.Partition, b port.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuses != nil {
		return s.refuses
	}
	s.applied, s.batches = b.Upto, append(s.batches, b)
	return nil
}
func (s *shelf) Drop(context.Context, port.Partition) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied = 0
	return nil
}

// ledger is a store with a change log of a test's own, of documents without a text.
type ledger struct {
	port.DocumentStore
	row     port.PartitionRow
	changes []port.Change
	chunks  map[string]int // of each document
	seq     uint64         // of the next write
	fails   error          // of Update
	marks   [][]port.Watermark
	trims   []uint64
}

type ledgerReader struct {
	port.Reader
	*ledger
}

func (r ledgerReader) Partition(context.Context, port.Partition) (port.PartitionRow, error) {
	return r.row, nil
}
func (r ledgerReader) Vectors(context.Context, port.Partition, []string) (map[string]port.Vectors, error) {
	return nil, nil
}
func (r ledgerReader) Changes(_ context.Context, _ port.Partition, after uint64, limit int) (out []port.Change, err error) {
	for _, c := range r.changes {
		if c.Seq > after && (len(out) < limit || c.Seq == out[len(out)-1].Seq) {
			out = append(out, c)
		}
	}
	return out, nil
}
func (r ledgerReader) Documents(
	_ context.Context, _ port.Partition, ids []string, _ port.Part,
) (out []port.DocumentHead, err error) {
	for _, id := range ids {
		out = append(out, port.DocumentHead{Document: port.Document{ID: id}, ChunkCount: r.chunks[id]})
	}
	return out, nil
}

type ledgerWriter struct {
	port.DocumentWriter
	*ledger
}

func (w ledgerWriter) PutDocuments(context.Context, port.Partition, time.Time, []port.DocumentWrite) (uint64, error) {
	return w.seq, nil
}
func (w ledgerWriter) Partition(context.Context, port.Partition) (port.PartitionRow, error) {
	return port.PartitionRow{Generation: w.row.Generation, Language: w.row.Language}, nil
}
func (w ledgerWriter) PutWatermarks(_ context.Context, _ string, _ time.Duration, marks []port.Watermark) error {
	if w.fails == nil {
		w.marks = append(w.marks, slices.Clone(marks))
	}
	return w.fails
}
func (w ledgerWriter) TrimChanges(_ context.Context, _ port.Partition, upto uint64) error {
	w.trims = append(w.trims, upto)
	return nil
}

func (l *ledger) View(_ context.Context, fn func(port.Reader) error) error {
	return fn(ledgerReader{ledger: l})
}
func (l *ledger) Update(_ context.Context, fn func(port.Writer) error) error {
	return fn(ledgerWriter{ledger: l})
}
func (l *ledger) UpdateDocuments(_ context.Context, fn func(port.DocumentWriter) error) error {
	return fn(ledgerWriter{ledger: l})
}

var shelved = port.Documents(ident.Org("org"), "docs").At(7)

// commit writes a document under a change number.
func (l *ledger) commit(t *testing.T, pr *ingest.Projector, seq uint64, d port.DocumentWrite) {
	t.Helper()
	l.seq = seq
	if err := ingest.NewLog(l, pr).Write(t.Context(), ingest.CauseWrite, func(tx *ingest.Tx) error {
		return tx.Put(t.Context(), shelved, time.Now(), []port.DocumentWrite{d})
	}); err != nil {
		t.Fatal(err)
	}
}

// A part of a replay ends between change numbers, with 128 changes or about 16,384
// chunks, and never without any.
func TestPartsOfAReplay(t *testing.T) {
	// change is so many documents of so many chunks under one number.
	type change struct{ documents, chunks int }
	hundred := slices.Repeat([]change{{1, 1}}, 100)
	for name, c := range map[string]struct {
		changes []change
		last    uint64 // of the partition, where the log has lost numbers
		want    string // the last change of each part, and its documents
	}{
		"few":                     {hundred, 100, "[100:100]"},
		"numbers that are gone":   {hundred, 120, "[120:100]"},
		"a full part":             {append(slices.Clone(hundred), hundred[:28]...), 128, "[128:128]"},
		"two parts":               {append(slices.Clone(hundred), hundred...), 200, "[128:128 200:72]"},
		"one number of many":      {[]change{{1, 1}, {200, 1}, {1, 1}}, 3, "[2:201 3:1]"},
		"as many as go in":        {[]change{{1, 16_384}}, 1, "[1:1]"},
		"just as many":            {[]change{{1, 16_000}, {1, 384}, {1, 1}}, 3, "[2:2 3:1]"},
		"one too many":            {[]change{{1, 16_000}, {1, 385}}, 2, "[1:1 2:1]"},
		"two large ones":          {[]change{{1, 10_000}, {1, 10_000}}, 9, "[1:1 9:1]"},
		"one that is far too big": {[]change{{1, 1}, {1, 90_000}, {1, 1}}, 3, "[1:1 2:1 3:1]"},
		"a number is not cut":     {[]change{{3, 10_000}, {1, 1}}, 2, "[1:3 2:1]"},
	} {
		t.Run(name, func(t *testing.T) {
			l, ix := &ledger{row: port.PartitionRow{Seq: c.last}, chunks: map[string]int{}}, &shelf{}
			for i, n := range c.changes {
				for k := range n.documents {
					id := fmt.Sprintf("%d-%d", i, k)
					l.changes = append(l.changes, port.Change{Seq: uint64(i + 1), Document: id})
					l.chunks[id] = n.chunks
				}
			}
			log, logger := logs()
			if err := ingest.NewProjector(l, []port.Index{ix}, "here", logger).Ensure(t.Context(), shelved, c.last); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range ix.batches {
				got = append(got, fmt.Sprintf("%d:%d", b.Upto, len(b.Changes)))
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("parts %v, want %s", got, c.want)
			}
			log.want(t, "map[]")
		})
	}
}

// bulky is an index that asks for larger parts.
type bulky struct{ *shelf }

func (bulky) BatchDocuments() int { return 1000 }

// An index to which each batch costs much gets parts of its own size.
func TestPartsOfABulkyIndex(t *testing.T) {
	l, ix := &ledger{row: port.PartitionRow{Seq: 2500}, chunks: map[string]int{}}, &shelf{}
	for i := range uint64(2500) {
		id := fmt.Sprint(i)
		l.changes = append(l.changes, port.Change{Seq: i + 1, Document: id})
		l.chunks[id] = 1
	}
	_, logger := logs()
	pr := ingest.NewProjector(l, []port.Index{bulky{ix}}, "here", logger)
	if err := pr.Ensure(t.Context(), shelved, 2500); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range ix.batches {
		got = append(got, fmt.Sprintf("%d:%d", b.Upto, len(b.Changes)))
	}
	if want := "[1000:1000 2000:1000 2500:500]"; fmt.Sprint(got) != want {
		t.Errorf("parts %v, want %s", got, want)
	}
}

// The log is cut each 1,024 changes, at what each index has on disk or, where it keeps
// nothing there, at the cut before.
func TestTheLogIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		durable []uint64 // of each index
		seq     uint64
		trims   string
	}{
		"before":           {[]uint64{1000}, 1023, "[]"},
		"after":            {[]uint64{1000}, 1025, "[]"},
		"on disk":          {[]uint64{1000}, 1024, "[1000]"},
		"nothing on disk":  {[]uint64{0}, 3072, "[2048]"},
		"the least of two": {[]uint64{2000, 1500}, 2048, "[1500]"},
		"no index":         {nil, 1024, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			l, log := &ledger{}, &events{seen: map[string]int{}}
			var indexes []port.Index
			for _, n := range c.durable {
				indexes = append(indexes, &shelf{durable: n})
			}
			l.commit(t, ingest.NewProjector(l, indexes, "here", slog.New(log)), c.seq, port.DocumentWrite{})
			if got := fmt.Sprint(l.trims); got != c.trims || len(l.marks) != len(l.trims) {
				t.Errorf("cut at %s, with marks %v; want %s", got, l.marks, c.trims)
			}
			log.want(t, "map[]")
		})
	}
	l, ix := &ledger{fails: errors.New("the store is away")}, &shelf{durable: 1}
	log, logger := logs()
	pr := ingest.NewProjector(l, []port.Index{ix}, "here", logger)
	l.commit(t, pr, 1024, port.DocumentWrite{})
	log.want(t, "map[change log trim failed:1]")
	l.fails, ix.fails = nil, errors.New("the index is away")
	l.commit(t, pr, 2048, port.DocumentWrite{})
	log.want(t, "map[change log trim failed:2]")
	l.fails, ix.fails = fault.New(fault.PartitionNotFound, "it is deleted"), nil
	l.commit(t, pr, 3072, port.DocumentWrite{})
	log.want(t, "map[change log trim failed:2]")
	if len(l.trims) != 0 {
		t.Errorf("cut at %v without a watermark", l.trims)
	}
}

// Publish tells the store how far the indexes are in the partitions that have moved,
// when that is far enough for their logs to be cut, and again what it could not store.
func TestPublish(t *testing.T) {
	l := &ledger{}
	a, b := &shelf{}, &shelf{}
	pr := ingest.NewProjector(l, []port.Index{a, b}, "here", slog.New(slog.DiscardHandler))
	publish := func(what string, fails error, want string) {
		t.Helper()
		l.marks = nil
		if err := pr.Publish(t.Context()); !errors.Is(err, fails) {
			t.Errorf("%s: %v, want %v", what, err, fails)
		}
		if got := fmt.Sprint(l.marks); got != want {
			t.Errorf("%s: published %s, want %s", what, got, want)
		}
	}
	publish("nothing moved", nil, "[[]]") // which says that this process is alive
	l.commit(t, pr, 511, port.DocumentWrite{})
	publish("a short log", nil, "[[]]")
	l.commit(t, pr, 512, port.DocumentWrite{})
	b.durable = 300
	publish("in memory and on disk", nil, "[[{7 300}]]")
	publish("nothing moved since", nil, "[[]]")
	l.commit(t, pr, 513, port.DocumentWrite{})
	publish("what is known", nil, "[[]]")
	l.commit(t, pr, 514, port.DocumentWrite{})
	a.durable, b.durable = 400, 0
	b.applied = 0
	publish("one that has nothing", nil, "[[{7 400}]]")
	l.commit(t, pr, 515, port.DocumentWrite{})
	a.durable, a.applied, b.applied = 0, 0, 0
	publish("all have nothing", nil, "[[{7 0}]]")

	l.commit(t, pr, 516, port.DocumentWrite{})
	l.fails = errors.New("the store is away")
	publish("a store that is away", l.fails, "[]")
	l.fails, a.fails = nil, errors.New("the index is away")
	publish("an index that is away", a.fails, "[]")
	a.fails = nil
	publish("afterwards", nil, "[[{7 516}]]")
	l.commit(t, pr, 517, port.DocumentWrite{})
	pr.Drop(t.Context(), shelved)
	publish("a partition that is gone", nil, "[[]]")

	l.marks = nil
	pr = ingest.NewProjector(l, nil, "here", slog.New(slog.DiscardHandler))
	publish("without an index", nil, "[]")
}

// A transaction of Publish takes 500 watermarks.
func TestPublishTakesPartsOfMany(t *testing.T) {
	for _, fails := range []error{nil, errors.New("the store is away")} {
		l := &ledger{row: port.PartitionRow{Seq: 600}, changes: []port.Change{{Seq: 600, Document: "a"}}}
		ix := &shelf{}
		pr := ingest.NewProjector(l, []port.Index{ix}, "here", slog.New(slog.DiscardHandler))
		for i := range 501 {
			if err := ix.Drop(t.Context(), shelved); err != nil {
				t.Fatal(err)
			}
			if err := pr.Ensure(t.Context(), port.Documents("org", fmt.Sprint(i)).At(int64(i+1)), 600); err != nil {
				t.Fatal(err)
			}
		}
		l.fails = fails
		if err := pr.Publish(t.Context()); !errors.Is(err, fails) {
			t.Errorf("%v, want %v", err, fails)
		}
		l.fails = nil
		if fails != nil {
			if err := pr.Publish(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if len(l.marks) != 2 || len(l.marks[0]) != 500 || len(l.marks[1]) != 1 {
			t.Errorf("published in %d parts", len(l.marks))
		}
	}
}

// An index gets the vectors of each chunk, the facets of the metadata and of the
// container, and the day of a memory.
func TestWhatAnIndexGets(t *testing.T) {
	may := time.Date(2026, 5, 7, 12, 0, 0, 0, time.UTC)
	chunks := []port.Chunk{{Start: 0, End: 3}, {Start: 4, End: 9}}
	token := func(key, value string) []string { return []string{filter.Token(key, value)} }
	document := func(change func(*port.Document)) port.Document {
		d := port.Document{ID: "a", Text: "One. Two.", Chunks: chunks, CreatedAt: may}
		change(&d)
		return d
	}
	sparse := port.Sparse{Rows: []uint32{0, 1, 3}, Terms: []uint32{5, 2, 9}, Weights: []float32{1, 2, 3}}
	for name, c := range map[string]struct {
		document port.Document
		facets   []string
		day      string
	}{
		"a document":     {document(func(*port.Document) {}), nil, ""},
		"with metadata":  {document(func(d *port.Document) { d.Metadata = []byte(`{"n":1}`) }), token("n", "1"), ""},
		"a memory":       {document(func(d *port.Document) { d.ContentKey[3] = 1 }), nil, "\n7 May 2026"},
		"of a source":    {document(func(d *port.Document) { d.Source = "crm" }), nil, "\n7 May 2026"},
		"in a container": {document(func(d *port.Document) { d.Container = "box" }), token(filter.ContainerKey, "box"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l, ix := &ledger{}, &shelf{}
			l.commit(t, ingest.NewProjector(l, []port.Index{ix}, "here", slog.New(slog.DiscardHandler)), 2, port.DocumentWrite{
				Document: c.document,
				Vectors:  port.Vectors{Dense: port.Dense{Dim: 2, Data: []float32{1, 0, 0, 1}}, Sparse: sparse},
			})
			want := []port.Entry{
				{Chunk: 0, Text: "One" + c.day, Vector: []float32{1, 0}, SparseTerms: []uint32{5}, SparseWeights: []float32{1}},
				{Chunk: 1, Text: " Two." + c.day, Vector: []float32{0, 1}, SparseTerms: []uint32{2, 9},
					SparseWeights: []float32{2, 3}},
			}
			for i := range want {
				want[i].Facets, want[i].Time = c.facets, may.UnixMilli()
			}
			if got := fmt.Sprintf("%+v", ix.batches[0].Changes[0].Entries); got != fmt.Sprintf("%+v", want) {
				t.Errorf("gets %s\nwant %+v", got, want)
			}
		})
	}
}
