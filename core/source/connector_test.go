package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/source"
)

// scripted is a shelf that says what the test wants; nil: what a shelf says.
type scripted struct {
	*shelf
	list  func(ctx context.Context, c port.Connection, state []byte, l port.SourceListing) error
	fetch func(i port.SourceItem) (port.SourceContent, error)
	check func(ctx context.Context)
}

func (s *scripted) List(ctx context.Context, c port.Connection, state []byte, l port.SourceListing) error {
	s.mu.Lock()
	list := s.list
	s.mu.Unlock()
	if list == nil {
		return s.shelf.List(ctx, c, state, l)
	}
	return list(ctx, c, state, l)
}

func (s *scripted) Fetch(ctx context.Context, c port.Connection, i port.SourceItem) (port.SourceContent, error) {
	if s.fetch == nil {
		return s.shelf.Fetch(ctx, c, i)
	}
	s.set(func(s *shelf) { s.fetched = append(s.fetched, i.Key) })
	return s.fetch(i)
}

func (s *scripted) Check(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
	if s.check != nil {
		s.check(ctx)
	}
	return s.shelf.Check(ctx, c)
}

func newScripted(t *testing.T, change func(*source.Settings, *scripted)) (*fixture, *scripted) {
	t.Helper()
	c := &scripted{}
	f := newFixture(t, func(set *source.Settings, s *shelf) {
		c.shelf, set.Connectors = s, []port.Connector{c}
		if change != nil {
			change(set, c)
		}
	})
	return f, c
}

// lines are what was logged.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// into has a service log to l.
func (l *lines) into(set *source.Settings) { set.Log = slog.New(slog.NewTextHandler(l, nil)) }

func plain(s string) port.SourceContent {
	return port.SourceContent{File: port.File{Name: "x.txt", Content: []byte(s)}}
}

// named are the items that a run has recorded.
func (f *fixture) named(s source.Source, status string) (keys []string) {
	f.Helper()
	list, err := coretest.Call(f.ctx, f.svc.RunItems, source.ListRunItems{Limit: new(1000), Status: status,
		RunRef: source.RunRef{Ref: source.Ref{ID: s.ID}, Run: s.LastRun.ID}})
	if err != nil {
		f.Fatal(err)
	}
	for _, i := range list.Items {
		keys = append(keys, i.Key)
	}
	return keys
}

// An item that is listed twice is read twice if it has changed between, and once if nobody can tell.
func TestItemsListedTwice(t *testing.T) {
	f, c := newScripted(t, nil)
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
		for _, i := range []port.SourceItem{{Key: "a", Version: "1"}, {Key: "a", Version: "2"}, {Key: "b"}, {Key: "b"}} {
			if err := l.Item(ctx, i); err != nil {
				return err
			}
		}
		return l.Complete(ctx, true)
	}
	c.fetch = func(i port.SourceItem) (port.SourceContent, error) {
		return plain(i.Key + " in version " + i.Version), nil
	}
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.counts("listed twice", *s.LastRun, "completed", port.SourceCounts{Seen: 2, Created: 2, Updated: 1})
	if got := f.shelf.took(); !slices.Equal(got, []string{"a", "a", "b"}) {
		t.Errorf("fetched %v", got)
	}
	if got := f.has("docs"); got["a"] != "a in version 2" || len(got) != 2 {
		t.Errorf("there are %v", got)
	}
}

// Of what a listing says of an item, the last word counts.
func TestGoneAndBack(t *testing.T) {
	f, c := newScripted(t, func(_ *source.Settings, c *scripted) { c.kind = "ledger" })
	f.fill(3)
	s := f.idle(f.create(source.CreateSource{}).ID)
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
		item := func(key string) error { return l.Item(ctx, port.SourceItem{Key: key, Version: "new"}) }
		return errors.Join(l.Gone(ctx, "k1000"), item("k1000"), item("k1001"), l.Gone(ctx, "k1001"),
			l.Checkpoint(ctx, []byte("3")), l.Complete(ctx, false))
	}
	f.counts("one is back, one is gone", f.sync(s.ID), "completed", port.SourceCounts{Seen: 2, Updated: 2, Deleted: 1})
	if got := slices.Sorted(maps.Keys(f.has("docs"))); !slices.Equal(got, []string{"k1000", "k1002"}) {
		t.Errorf("left: %v", got)
	}
}

// What a listing could not list is named behind the items, in its order, and stored before there is much of it.
func TestProblemsOfAListing(t *testing.T) {
	f, c := newScripted(t, nil)
	var s source.Source
	known := make(chan struct{})
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
		<-known
		for _, key := range []string{"a", "b"} {
			if err := l.Item(ctx, port.SourceItem{Key: key, Version: "1"}); err != nil {
				return err
			}
		}
		for n := range 150 {
			if err := l.Problem(ctx, port.SourceProblem{Path: fmt.Sprintf("p%03d", n), Code: port.SourceSkipped}); err != nil {
				return err
			}
			want := int64(0)
			if n >= 99 {
				want = 100
			}
			if got := f.get(s.ID).LastRun.Counts.Skipped; got != want {
				return fmt.Errorf("after %d problems %d are stored", n+1, got)
			}
		}
		return l.Complete(ctx, true)
	}
	c.fetch = func(i port.SourceItem) (port.SourceContent, error) { return plain(i.Key), nil }
	s = f.create(source.CreateSource{})
	close(known)
	s = f.idle(s.ID)
	f.counts("problems", *s.LastRun, "completed", port.SourceCounts{Seen: 2, Created: 2, Skipped: 150})
	want := []string{"a", "b"}
	for n := range 150 {
		want = append(want, fmt.Sprintf("p%03d", n))
	}
	if got := f.named(s, ""); !slices.Equal(got, want) {
		t.Errorf("named are %v", got)
	}
}

// A listing that met a problem proves nothing after its process has died, either, unless what it met was
// left out on purpose.
func TestProblemsBeforeADeath(t *testing.T) {
	for code, want := range map[port.SourceCode]port.SourceCounts{
		port.SourceForbidden: {Seen: 2, Unchanged: 2, Skipped: 1},
		port.SourceSkipped:   {Seen: 2, Unchanged: 2, Skipped: 1, Deleted: 1},
	} {
		f, c := newScripted(t, nil)
		f.fill(3)
		s := f.idle(f.create(source.CreateSource{}).ID)
		known := map[string]string{}
		items, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: source.Ref{ID: s.ID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items.Items {
			known[i.Key] = i.Version
		}
		reached := make(chan struct{})
		c.list = func(ctx context.Context, _ port.Connection, state []byte, l port.SourceListing) error {
			item := func(key string) error { return l.Item(ctx, port.SourceItem{Key: key, Version: known[key]}) }
			if state == nil {
				err := errors.Join(item("k1000"), l.Problem(ctx, port.SourceProblem{Path: "p", Code: code}),
					l.Checkpoint(ctx, []byte("1")))
				close(reached)
				<-ctx.Done()
				return errors.Join(err, ctx.Err())
			}
			return errors.Join(item("k1001"), l.Complete(ctx, true))
		}
		f.begun(s.ID)
		<-reached
		f.stop()
		f.begin()
		f.counts(string(code), *f.idle(s.ID).LastRun, "completed", want)
	}
}

// A connector is told under which version an item is kept, unless it failed or all is to be read again.
func TestWhatConnectorsAreTold(t *testing.T) {
	f, c := newScripted(t, nil)
	told := map[string]string{}
	c.list = func(ctx context.Context, c port.Connection, _ []byte, l port.SourceListing) error {
		for _, key := range []string{"good", "bad", "none"} {
			version, ok, err := c.Known(ctx, key)
			if err != nil {
				return err
			}
			told[key] = fmt.Sprint(version, ok)
		}
		return errors.Join(l.Item(ctx, port.SourceItem{Key: "good", Version: "1"}),
			l.Item(ctx, port.SourceItem{Key: "bad", Version: "2"}), l.Complete(ctx, true))
	}
	c.fetch = func(i port.SourceItem) (port.SourceContent, error) {
		if i.Key == "bad" {
			return port.SourceContent{}, port.SourceErrorf(port.SourceForbidden, nil, "is locked")
		}
		return plain(i.Key), nil
	}
	s := f.idle(f.create(source.CreateSource{}).ID)
	for _, v := range []struct {
		full       bool
		good, what string
	}{{false, "1true", "again"}, {true, "1false", "all of it"}} {
		if _, err := coretest.Call(f.ctx, f.svc.Sync, source.SyncSource{Ref: source.Ref{ID: s.ID}, Full: v.full}); err != nil {
			t.Fatal(err)
		}
		f.idle(s.ID)
		if told["good"] != v.good || told["bad"] != "2false" || told["none"] != "false" {
			t.Errorf("%s: told %v", v.what, told)
		}
	}
}

// An upstream that says when to come back is asked again then, a few times and within an hour; one that
// does not say so, or whose failure does not pass, ends its run.
func TestUpstreamsThatAskToWait(t *testing.T) {
	var log lines
	f, c := newScripted(t, func(set *source.Settings, _ *scripted) {
		set.Backoff = time.Millisecond
		log.into(set)
	})
	asked, failures := 0, 0
	var why port.SourceError
	c.list = func(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
		if asked++; asked <= failures {
			e := why
			return &e
		}
		return l.Complete(ctx, true)
	}
	failed := 0
	for what, v := range map[string]struct {
		code     port.SourceCode
		after    time.Duration
		failures int
		status   string
		asked    int
	}{
		"busy":               {port.SourceRateLimited, time.Millisecond, 2, "completed", 3},
		"away":               {port.SourceUnavailable, time.Millisecond, 2, "completed", 3},
		"away for good":      {port.SourceUnavailable, time.Millisecond, 100, "failed", 5},
		"locked":             {port.SourceForbidden, time.Millisecond, 1, "failed", 1},
		"without a word":     {port.SourceUnavailable, 0, 1, "failed", 1},
		"for an hour":        {port.SourceUnavailable, time.Hour, 1, "cancelled", 1},
		"for more than that": {port.SourceUnavailable, time.Hour + 1, 1, "failed", 1},
	} {
		asked, failures, why = 0, v.failures, port.SourceError{Code: v.code, Message: "comes back", RetryAfter: v.after}
		s := f.create(source.CreateSource{})
		if v.status == "cancelled" {
			r := f.get(s.ID).LastRun
			for ; r.Status == "running" || r.Status == "queued" && r.Error == nil; r = f.get(s.ID).LastRun {
				f.wait()
			}
			if _, err := f.svc.Cancel(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: r.ID}); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if r := f.idle(s.ID).LastRun; r.Status != v.status || asked != v.asked {
			t.Errorf("%s: %s, asked %d times", what, r.Status, asked)
		}
		if v.status == "failed" {
			failed++
		}
		if got := log.count("run of source failed"); got != failed || log.count("waiting run not stored") != 0 {
			t.Errorf("%s: %d failures are logged, want %d", what, got, failed)
		}
	}
}

// A connector may be the first to set a secret.
func TestFirstSecretByItsConnector(t *testing.T) {
	f, _ := newScripted(t, func(set *source.Settings, c *scripted) {
		set.Sealer = &keeper{}
		c.conn = func(ctx context.Context, c port.Connection) error {
			if c.Secrets["token"] != "" {
				return nil
			}
			return c.Renew(ctx, map[string]string{"token": "tok-1"})
		}
	})
	s := f.idle(f.create(source.CreateSource{}).ID)
	if !slices.Equal(s.SecretsSet, []string{"token"}) {
		t.Errorf("set are %v, %+v", s.SecretsSet, s.LastRun.Error)
	}
	if f.sync(s.ID); f.shelf.secrets["token"] != "tok-1" {
		t.Errorf("the next run has %v", f.shelf.secrets)
	}
}

// What cannot be read of an item is the item's own, whatever it is; what is left out on purpose is no failure.
func TestFailuresOfFetches(t *testing.T) {
	f, c := newScripted(t, func(set *source.Settings, _ *scripted) { set.MaxItem = 10 })
	for _, key := range []string{"fits", "long", "broken", "strange", "left"} {
		f.shelf.put(key, key)
	}
	body := func(r io.Reader) port.SourceContent {
		return port.SourceContent{File: port.File{Name: "x.txt"}, Body: io.NopCloser(r)}
	}
	c.fetch = func(i port.SourceItem) (port.SourceContent, error) {
		switch i.Key {
		case "fits":
			return body(strings.NewReader("0123456789")), nil
		case "long":
			return body(strings.NewReader("0123456789a")), nil
		case "broken":
			return body(iotest.ErrReader(port.SourceErrorf(port.SourceUnavailable, nil, "hung up"))), nil
		case "left":
			return port.SourceContent{}, port.SourceErrorf(port.SourceSkipped, nil, "is no text")
		}
		return port.SourceContent{}, errors.New("something strange")
	}
	s := f.idle(f.create(source.CreateSource{}).ID)
	f.counts("at first", *s.LastRun, "partial", port.SourceCounts{Seen: 5, Created: 1, Failed: 3, Skipped: 1})
	if got := f.named(s, "skipped"); !slices.Equal(got, []string{"left"}) {
		t.Errorf("skipped: %v", got)
	}
	codes := map[string]string{}
	list, err := coretest.Call(f.ctx, f.svc.Items, source.ListItems{Ref: source.Ref{ID: s.ID}, Status: "failed"})
	for _, i := range list.Items {
		codes[i.Key] = i.Error.Code
	}
	if want := map[string]string{"long": "too_large", "broken": "unavailable", "strange": "internal",
		"left": "skipped"}; err != nil || !maps.Equal(codes, want) {
		t.Errorf("they fail as %v, %v", codes, err)
	}
	f.counts("again", f.sync(s.ID), "partial", port.SourceCounts{Seen: 5, Unchanged: 1, Failed: 3, Skipped: 1})
	if got := f.has("docs"); !maps.Equal(got, map[string]string{"fits": "0123456789"}) {
		t.Errorf("there are %v", got)
	}
}

// However many items of a run have failed, each is tried once more; their size is not known then.
func TestRetriesOfManyItems(t *testing.T) {
	f, c := newScripted(t, nil)
	f.fill(101)
	sizes := make(chan int64, 1000)
	c.fetch = func(i port.SourceItem) (port.SourceContent, error) {
		sizes <- i.Size
		return port.SourceContent{}, port.SourceErrorf(port.SourceForbidden, nil, "is locked")
	}
	s := f.idle(f.create(source.CreateSource{}).ID)
	all := f.shelf.took()
	for len(sizes) > 0 {
		<-sizes
	}
	if _, err := f.svc.RetryFailed(f.ctx, source.RunRef{Ref: source.Ref{ID: s.ID}, Run: s.LastRun.ID}); err != nil {
		t.Fatal(err)
	}
	f.counts("again", *f.idle(s.ID).LastRun, "partial", port.SourceCounts{Seen: 101, Failed: 101})
	if got := f.shelf.took(); len(got) != 101 || !slices.Equal(got, all) {
		t.Errorf("%d are fetched, %v", len(got), got)
	}
	for len(sizes) > 0 {
		if n := <-sizes; n != -1 {
			t.Errorf("a size of %d", n)
		}
	}
}

// spy are documents that see what is written, and may do something before.
type spy struct {
	*document.Service
	mu     sync.Mutex
	bytes  []int // of the texts of each call
	before func(in document.WriteDocuments) error
	short  bool // texts are written shorter than they are
}

func (s *spy) Sync(ctx context.Context, in document.WriteDocuments, within document.Within,
	progress func()) (document.Written, error) {
	n := 0
	for i, d := range in.Documents {
		if n += len(*d.Text); s.short {
			in.Documents[i].Text = new("Short.")
		}
	}
	s.mu.Lock()
	s.bytes = append(s.bytes, n)
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(in); err != nil {
			return document.Written{}, err
		}
	}
	return s.Service.Sync(ctx, in, within, progress)
}

func (s *spy) took() (bytes []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes, s.bytes = s.bytes, nil
	return bytes
}

func newSpied(t *testing.T, kind string) (*pushing, *spy) {
	t.Helper()
	var d *spy
	f := newFixture(t, func(set *source.Settings, s *shelf) {
		d = &spy{Service: set.Documents.(*document.Service)}
		set.Documents = d
	})
	p := &pushing{fixture: f}
	if kind == "push" {
		p.ref.ID = f.create(source.CreateSource{Kind: kind}).ID
	}
	return p, d
}

// What is written in one transaction is bounded, whether it is fetched or pushed.
func TestMuchTextAtOnce(t *testing.T) {
	half := strings.Repeat("x", 2<<20)
	for _, kind := range []string{"shelf", "push"} {
		p, d := newSpied(t, kind)
		d.short = true
		if kind == "push" {
			p.push("", brought("a", "1", half), brought("b", "1", half), brought("c", "1", "The last one."))
		} else {
			for _, key := range []string{"a", "b"} {
				p.shelf.put(key, half)
			}
			p.shelf.put("c", "The last one.")
			p.ref.ID = p.create(source.CreateSource{}).ID
		}
		if s := p.idle(p.ref.ID); s.Items != 3 {
			t.Errorf("%s: %d items", kind, s.Items)
		}
		// What is fetched has line breaks between its parts.
		if got := d.took(); len(got) != 2 || got[0] < 4<<20 || kind == "push" && got[0] > 4<<20 ||
			got[1] != len("The last one.") {
			t.Errorf("%s: texts of %v bytes", kind, got)
		}
	}
}

// Documents that cannot be written fail their item, and keep none beside it from being written.
func TestRefusedDocuments(t *testing.T) {
	p, d := newSpied(t, "shelf")
	p.fill(3)
	code := fault.InvalidMetadata
	d.before = func(in document.WriteDocuments) error {
		for _, v := range in.Documents {
			if strings.Contains(*v.Text, "number 1 ") {
				return fault.New(code, "it is refused")
			}
		}
		return nil
	}
	s := p.idle(p.create(source.CreateSource{}).ID)
	p.counts("refused", *s.LastRun, "partial", port.SourceCounts{Seen: 3, Created: 2, Failed: 1})
	list, err := coretest.Call(p.ctx, p.svc.Items, source.ListItems{Ref: source.Ref{ID: s.ID}, Status: "failed"})
	if err != nil || len(list.Items) != 1 || list.Items[0].Key != "k1001" || list.Items[0].Error.Code != "invalid_metadata" {
		t.Errorf("%+v, %v", list.Items, err)
	}
	code = fault.Internal
	if r := *p.idle(p.create(source.CreateSource{}).ID).LastRun; r.Status != "failed" || r.Counts.Failed != 0 {
		t.Errorf("by a failure of the store: %+v", r)
	}
}

// A call whose items another one has changed since it read them makes them again, a few times.
func TestPushesThatAreOvertaken(t *testing.T) {
	p, d := newSpied(t, "push")
	times, left, nested := 0, 1, false
	d.before = func(document.WriteDocuments) error {
		if nested || left == 0 {
			return nil
		}
		times, left, nested = times+1, left-1, true
		p.push("", brought("a", "", "The other text "+strconv.Itoa(times)+"."))
		nested = false
		return nil
	}
	if got := p.push("", brought("a", "", "The text.")); got[0].Status != "updated" {
		t.Errorf("overtaken once: %+v", got)
	}
	if got := p.has("docs"); got["a"] != "The text." {
		t.Errorf("there are %v", got)
	}
	times, left = 0, 100
	_, err := coretest.Call(p.ctx, p.svc.Push, source.PushItems{Ref: p.ref,
		Items: []source.PushItem{brought("a", "", "A text.")}})
	if p.want("overtaken for ever", err, fault.Unavailable); times != 10 {
		t.Errorf("it is tried %d times", times)
	}
	p.consistent()
}

// An item goes with all of its documents.
func TestItemOfSeveralDocuments(t *testing.T) {
	p, _ := newSpied(t, "push")
	got := p.push("", brought("a", "", strings.Repeat("The hedge is cut in February, when no bird breeds in it. ", 6000)))
	if got[0].Documents < 2 {
		t.Fatalf("%+v", got)
	}
	p.push("", source.PushItem{Key: "a", Deleted: true})
	if left := p.has("docs"); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
}

// rows reads what is kept of a source's items, and stores them as change leaves them.
func (f *fixture) rows(id string, change func(*port.SourceItemRow)) (rows []port.SourceItemRow) {
	f.Helper()
	org := ident.From(f.ctx).Org
	if err := f.Store.Update(f.Context(), func(w port.Writer) (err error) {
		if rows, err = w.ListSourceItems(f.Context(), org, id, port.SourceItemList{Limit: 100}); err != nil || change == nil {
			return err
		}
		for i := range rows {
			change(&rows[i])
		}
		return w.PutSourceItems(f.Context(), org, id, rows)
	}); err != nil {
		f.Fatal(err)
	}
	return rows
}

// Documents that a reindexing has moved are not written again, beside those that have changed.
func TestMovedDocuments(t *testing.T) {
	f, _ := newScripted(t, nil)
	f.fill(3)
	s := f.idle(f.create(source.CreateSource{}).ID)
	generation := f.rows(s.ID, nil)[0].Generation
	f.rows(s.ID, func(r *port.SourceItemRow) { r.Generation = generation - 1 })
	f.shelf.put("k1001", "The gate is painted.")
	f.counts("after it", f.sync(s.ID), "completed", port.SourceCounts{Seen: 3, Updated: 1, Unchanged: 2})
	for _, r := range f.rows(s.ID, nil) {
		if r.Generation != generation {
			t.Errorf("%s is of generation %d, want %d", r.Key, r.Generation, generation)
		}
	}
}

// Deletions that are withheld are named, and all of them can be applied.
func TestWithheldDeletionsAreNamed(t *testing.T) {
	f, _ := newScripted(t, nil)
	f.fill(102)
	f.shelf.failing["k1000"] = port.SourceErrorf(port.SourceForbidden, nil, "is locked")
	s := f.idle(f.create(source.CreateSource{}).ID)
	var want []string
	for key := range maps.Clone(f.shelf.items) {
		if f.shelf.drop(key); key != "k1000" { // which has no document
			want = append(want, key)
		}
	}
	slices.Sort(want)
	f.counts("withheld", f.sync(s.ID), "partial", port.SourceCounts{Withheld: 101})
	if got := f.named(f.get(s.ID), "withheld"); !slices.Equal(got, want) {
		t.Errorf("named are %v", got)
	}
	if _, err := coretest.Call(f.ctx, f.svc.ApplyDeletions, source.ApplyDeletions{Ref: source.Ref{ID: s.ID},
		Max: new(int64(101))}); err != nil {
		t.Fatal(err)
	}
	f.counts("applied", *f.idle(s.ID).LastRun, "completed", port.SourceCounts{Deleted: 101})
	if s = f.get(s.ID); s.Items != 0 || s.Documents != 0 {
		t.Errorf("%d items, %d documents", s.Items, s.Documents)
	}
}
