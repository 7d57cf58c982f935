package namespace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/dataset"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// tenants makes organizations beside the depot's own.
func (d *depot) tenants(ids ...ident.Org) {
	d.t.Helper()
	if err := d.Store.Update(d.ctx, func(w port.Writer) error {
		for _, id := range ids {
			if err := w.PutOrganization(d.ctx, port.Organization{ID: id, Name: string(id)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		d.t.Fatal(err)
	}
}

// underway is an import whose data set is being sent.
type underway struct {
	*io.PipeWriter
	t     *testing.T
	ended chan error
}

// begin has an import under way that has got the first byte of a data set.
func (d *depot) begin(t *testing.T, p port.Partition, set []byte) *underway {
	t.Helper()
	read, write := io.Pipe()
	u := &underway{write, t, make(chan error, 1)}
	go func() {
		_, err := d.transfers.Import(d.ctx, p, fail, read)
		u.ended <- errors.Join(err, read.Close())
	}()
	u.send(set[:1])
	return u
}

func (u *underway) send(b []byte) {
	u.t.Helper()
	if _, err := u.Write(b); err != nil {
		u.t.Fatal(err)
	}
}

// An organization imports one data set at a time: a further one waits for its turn, is gone
// with its caller, and is refused unread when that takes long. Others don't wait, however
// many send slowly.
func TestImportsOfAnOrganizationWait(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha.", ""))
	set := from.export("docs", true)
	to.tenants("b", "c", "d")
	mine := to.begin(t, to.partition("one"), set)
	slow := []*underway{mine, to.begin(t, port.Documents("b", "one"), set), to.begin(t, port.Documents("c", "one"), set)}

	if _, err := to.transfers.Import(to.ctx, port.Documents("d", "one"), fail, bytes.NewReader(set)); err != nil {
		t.Errorf("beside three that send slowly: %v", err)
	}
	ctx, cancel := context.WithCancel(to.ctx)
	cancel()
	unread := failingReader{errors.New("was read")}
	if _, err := to.transfers.Import(ctx, to.partition("two"), fail, unread); !errors.Is(err, context.Canceled) {
		t.Errorf("a second import whose caller has left: %v", err)
	}
	_, err := to.transfers.Import(to.ctx, to.partition("two"), fail, unread)
	if fault.CodeOf(err) != fault.Unavailable || fault.From(err).RetryAfter == 0 {
		t.Errorf("a second import that waits too long: %v", err)
	}
	second := make(chan error, 1)
	go func() { _, err := to.bring("two", dataset.Fail, set); second <- err }()
	for _, u := range slow {
		u.send(set[1:])
		if err := u.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-u.ended; err != nil {
			t.Error(err)
		}
	}
	if err := <-second; err != nil {
		t.Errorf("after the first has ended: %v", err)
	}
	to.brings("three", dataset.Fail, set, tally{created: 1})
}

// Two imports are stored at a time, however many were sent.
func TestTwoImportsAreStoredAtATime(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha.", ""))
	set := from.export("docs", false) // so that vectors are made here
	orgs := []ident.Org{"b", "c", "d", "e", "f"}
	to.tenants(orgs...)
	var mu sync.Mutex
	now, most := 0, 0
	two, goOn := make(chan struct{}), make(chan struct{})
	to.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error {
		mu.Lock()
		now++
		most = max(most, now)
		if now == 2 && most == 2 {
			select {
			case <-two:
			default:
				close(two)
			}
		}
		mu.Unlock()
		<-goOn
		mu.Lock()
		defer mu.Unlock()
		now--
		return nil
	})
	ended := make(chan error, len(orgs))
	for _, org := range orgs {
		go func() {
			_, err := to.transfers.Import(to.ctx, port.Documents(org, "docs"), fail, bytes.NewReader(set))
			ended <- err
		}()
	}
	<-two
	ctx, cancel := context.WithCancel(to.ctx)
	body := &closing{Reader: bytes.NewReader(set), atEnd: cancel} // who leaves before it is stored
	if _, err := to.transfers.Import(ctx, to.partition("docs"), fail, body); !errors.Is(err, context.Canceled) {
		t.Errorf("an import that waits to be stored: %v", err)
	}
	close(goOn)
	for range orgs {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if most != 2 {
		t.Errorf("%d at a time", most)
	}
}

// closing calls a function when it is read to its end.
type closing struct {
	io.Reader
	atEnd func()
}

func (c *closing) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil {
		c.atEnd()
	}
	return n, err
}

// A data set is taken up to a size, counted as it was before it was compressed.
func TestAnImportHasASize(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha.", ""))
	set := from.export("docs", true)
	to.settings.MaxImport = int64(len(set)) - 1
	to.transfers = to.over(to.Store)
	to.refuses("docs", dataset.Fail, set, "payload_too_large", "limits.import_mb", "nothing was imported")
	if to.stored("docs") != nil {
		t.Error("something was imported")
	}
	to.settings.MaxImport++
	to.transfers = to.over(to.Store)
	to.brings("docs", dataset.Fail, set, tally{created: 1})
}

// compressed is what a data set takes while it is imported.
func compressed(t *testing.T, set []byte) int64 {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(set); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(out.Len())
}

// Data sets are kept only where their folder has room, of which an organization takes as
// much as it leaves to others, and leaves the disk a reserve. What was kept is counted
// until it is gone.
func TestDataSetsNeedRoom(t *testing.T) {
	t.Parallel()
	from, to := open(t, coretest.Options{}), open(t, coretest.Options{})
	from.write("docs", doc("a", "Alpha.", ""))
	set := from.export("docs", true)
	size := compressed(t, set)
	const reserve = 256 << 20
	free := func(n int64, err error) func(string) (uint64, error) {
		return func(dir string) (uint64, error) {
			if dir == "" {
				t.Error("asked for the room of no folder")
			}
			return uint64(n), err
		}
	}
	for i, c := range []struct {
		spool datasets.Spool
		taken bool
	}{
		{datasets.Spool{Max: 2 * size}, true},
		{datasets.Spool{Max: 2*size - 1}, false},
		{datasets.Spool{Free: free(reserve+2*size, nil)}, true},
		{datasets.Spool{Free: free(reserve+2*size-1, nil), Dir: t.TempDir()}, false},
		{datasets.Spool{Free: free(reserve-1, nil)}, false},
		{datasets.Spool{Free: free(0, errors.New("nobody knows"))}, true},
		{datasets.Spool{Free: free(0, errors.New("nobody knows")), Max: 2*size - 1}, false},
		{datasets.Spool{Free: free(1<<40, nil), Max: 2*size - 1}, false},
		{datasets.Spool{Free: free(1<<40, nil), Max: 2 * size, Dir: t.TempDir()}, true},
	} {
		to.settings.Spool = c.spool
		to.transfers = to.over(to.Store)
		for round := range 3 { // what is kept is gone afterwards, and what was refused, too
			_, err := to.bring(fmt.Sprint("n", i), dataset.Skip, set)
			if (err == nil) != c.taken || err != nil && fault.CodeOf(err) != fault.Unavailable {
				t.Errorf("%d, round %d: %v", i, round, err)
			}
		}
	}
	to.settings.Spool = datasets.Spool{Dir: "/none/such"}
	to.transfers = to.over(to.Store)
	to.refuses("docs", dataset.Fail, set, "internal_error", "make a file")
}

// blocked is a writer that says that something came, and then takes nothing until it is
// told to.
type blocked struct{ came, goOn chan struct{} }

func (w *blocked) Write(p []byte) (int, error) {
	w.came <- struct{}{}
	<-w.goOn
	return len(p), nil
}

// What an organization keeps in the folder, exports included, counts for it twice: it is
// gone from the room, and others are to have as much.
func TestRoomIsShared(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("a", "Alpha.", ""))
	set := s.export("docs", true)
	s.tenants("b")
	kept, size := int64(len(set)), compressed(t, set) // of an export as it is, of an import compressed
	o, err := s.Keys.Organization(s.ctx, string(ident.From(s.ctx).Org))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		org   ident.Org
		max   int64
		taken bool
	}{
		{"b", kept + 2*size, true}, {"b", kept + 2*size - 1, false},
		{o.ID, 2*kept + 2*size, true}, {o.ID, 2*kept + 2*size - 1, false},
	} {
		s.settings.Spool = datasets.Spool{Max: max(c.max, 2*kept)}
		if c.max < 2*kept {
			t.Fatalf("%d: the export itself has no room", i)
		}
		transfers := s.over(s.Store)
		x, err := transfers.Export(s.ctx, o, s.partition("docs"), true)
		if err != nil {
			t.Fatal(err)
		}
		w := &blocked{make(chan struct{}), make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- x.Stream(s.ctx, w) }()
		<-w.came
		_, err = transfers.Import(s.ctx, port.Documents(c.org, fmt.Sprint("n", i)), fail, bytes.NewReader(set))
		if (err == nil) != c.taken || err != nil && fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%d: %v", i, err)
		}
		close(w.goOn)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// waiting is a store in which the reads of one organization's documents wait.
type waiting struct {
	port.Store
	org   ident.Org
	reads chan struct{}
	goOn  chan struct{}
}

func (s *waiting) View(ctx context.Context, fn func(port.Reader) error) error {
	return s.Store.View(ctx, func(r port.Reader) error { return fn(&waitingReader{r, s}) })
}

type waitingReader struct {
	port.Reader
	s *waiting
}

func (r *waitingReader) ListDocuments(ctx context.Context, p port.Partition, l port.DocumentList) ([]port.DocumentHead, error) {
	if p.Org() == r.s.org {
		r.s.reads <- struct{}{}
		<-r.s.goOn
	}
	return r.Reader.ListDocuments(ctx, p, l)
}

// An organization's exports are read one after the other, so that others' don't wait for
// them.
func TestExportsOfAnOrganizationWait(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{})
	s.write("docs", doc("a", "Alpha.", ""))
	s.tenants("b")
	set := s.export("docs", true)
	if _, err := s.transfers.Import(s.ctx, port.Documents("b", "docs"), fail, bytes.NewReader(set)); err != nil {
		t.Fatal(err)
	}
	mine := ident.From(s.ctx).Org
	slow := &waiting{s.Store, mine, make(chan struct{}, 10), make(chan struct{})}
	transfers := s.over(slow)
	export := func(ctx context.Context, org ident.Org) error {
		o, err := s.Keys.Organization(s.ctx, string(mine))
		if err != nil {
			return err
		}
		x, err := transfers.Export(ctx, o, port.Documents(org, "docs"), true)
		if err != nil {
			return err
		}
		return x.Stream(ctx, io.Discard)
	}
	ended := make(chan error, 3)
	for range 3 {
		go func() { ended <- export(s.ctx, mine) }()
	}
	<-slow.reads
	if err := export(s.ctx, "b"); err != nil {
		t.Errorf("another organization's: %v", err)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if err := export(ctx, mine); !errors.Is(err, context.Canceled) {
		t.Errorf("one whose reader has left: %v", err)
	}
	if n := len(slow.reads); n != 0 {
		t.Errorf("%d more are being read", n)
	}
	close(slow.goOn)
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
