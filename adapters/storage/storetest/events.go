package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func event(org ident.Org, n int) port.Event {
	return port.Event{ID: fmt.Sprintf("evt_%s_%04d", org, n), Org: org, Kind: "documents.written", Entity: "namespace/docs",
		Namespace: "docs", Body: []byte(fmt.Sprintf(`{"n":%d,"text":"číslo"}`, n)), CreatedAt: at(n)}
}

func (f *fixture) append(events ...port.Event) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error { return w.AppendEvents(f.ctx, events) })
}

// number numbers what is committed, and gives the ids.
func (f *fixture) number() (ids []string) {
	f.Helper()
	var fresh []port.Event
	f.view(func(r port.Reader) (err error) { fresh, err = r.UnnumberedEvents(f.ctx, 1000); return err })
	var numbered []port.Event
	f.update(func(w port.DocumentWriter) (err error) { numbered, err = w.NumberEvents(f.ctx, fresh); return err })
	for _, e := range numbered {
		if e.Seq == 0 || e.Body != nil {
			f.Errorf("numbered: %+v", e)
		}
	}
	for _, e := range fresh {
		ids = append(ids, e.ID)
	}
	return ids
}

func (f *fixture) eventList(org ident.Org, l port.EventList) (found []port.Event, last uint64) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { found, last, err = r.Events(f.ctx, org, l); return err })
	return found, last
}

func seqs(list []port.Event) (out []uint64) {
	for _, e := range list {
		out = append(out, e.Seq)
	}
	return out
}

func (f *fixture) otherOrganization() {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", CreatedAt: at(1)})
	})
}

func events(t *testing.T, f *fixture) {
	f.otherOrganization()
	var all []port.Event
	var ids []string
	for n := range 75 { // as many as several statements take
		e := event(f.org, n)
		switch n % 3 {
		case 1:
			e.Kind, e.Namespace, e.Entity = "key.created", "", fmt.Sprint("key/", n)
		case 2:
			e.Namespace, e.Subject = "other", "int_1/ann"
		}
		all, ids = append(all, e), append(ids, e.ID)
	}
	f.append(all...)
	f.append(event(otherOrg, 1), event(otherOrg, 2))
	got, last := f.eventList(f.org, port.EventList{Limit: 10})
	if len(got) != 0 || last != 0 {
		t.Errorf("before they have numbers: %v, up to %d", got, last)
	}
	f.view(func(r port.Reader) error {
		_, err := r.Event(f.ctx, f.org, ids[0])
		f.want("one without a number", err, fault.NotFound)
		some, err := r.UnnumberedEvents(f.ctx, 3)
		if len(some) != 3 || some[2].ID != ids[2] || some[2].Org != f.org || some[2].Body != nil || some[0].Position == 0 ||
			some[1].Position <= some[0].Position {
			t.Errorf("to be numbered: %+v", some)
		}
		return err
	})
	f.same("numbered", f.number(), append(slices.Clone(ids), event(otherOrg, 1).ID, event(otherOrg, 2).ID))
	if again := f.number(); len(again) != 0 {
		t.Errorf("to be numbered again: %v", again)
	}

	got, last = f.eventList(f.org, port.EventList{Limit: 100})
	if len(got) != len(all) || last != 75 {
		t.Fatalf("%d events up to %d", len(got), last)
	}
	for i := range got {
		want := all[i]
		want.Seq, want.Position = uint64(i+1), got[i].Position
		f.same("as stored", got[i], want)
	}
	f.view(func(r port.Reader) error {
		one, err := r.Event(f.ctx, f.org, ids[4])
		f.same("one", one, got[4])
		_, absent := r.Event(f.ctx, otherOrg, ids[4])
		f.want("another organization's", absent, fault.NotFound)
		s, failed := r.EventStream(f.ctx, f.org)
		f.same("stream", s, port.EventStream{Last: 75})
		f.fine("stream", failed)
		return err
	})
	for what, c := range map[string]struct {
		l    port.EventList
		seqs []uint64
		last uint64
	}{
		"a page":      {port.EventList{After: 70, Limit: 3}, []uint64{71, 72, 73}, 73},
		"the rest":    {port.EventList{After: 73, Limit: 3}, []uint64{74, 75}, 75},
		"the end":     {port.EventList{After: 75, Limit: 3}, nil, 75},
		"none":        {port.EventList{After: 3}, nil, 3},
		"beyond":      {port.EventList{After: 99, Limit: 3}, nil, 99},
		"a kind":      {port.EventList{Kinds: []string{"key.created", "x"}, After: 68, Limit: 9}, []uint64{71, 74}, 75},
		"kinds, full": {port.EventList{Kinds: []string{"key.created"}, Limit: 2}, []uint64{2, 5}, 5},
		"namespace":   {port.EventList{Namespace: "other", After: 70, Limit: 9}, []uint64{72, 75}, 75},
		"both":        {port.EventList{Namespace: "other", Kinds: []string{"key.created"}, Limit: 9}, nil, 75},
	} {
		got, last := f.eventList(f.org, c.l)
		f.same(what, seqs(got), c.seqs)
		if last != c.last {
			t.Errorf("%s: up to %d, want %d", what, last, c.last)
		}
	}
	others, _ := f.eventList(otherOrg, port.EventList{Limit: 9})
	f.same("another's numbers are its own", seqs(others), []uint64{1, 2})

	// No commit, no event; and an event is not another's.
	failed := fmt.Errorf("mine")
	if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		if err := w.AppendEvents(f.ctx, []port.Event{event(f.org, 80)}); err != nil {
			return err
		}
		return failed
	}); err != failed {
		t.Errorf("a function that fails: %v", err)
	}
	if left := f.number(); len(left) != 0 {
		t.Errorf("a transaction that was rolled back left %v", left)
	}
	if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.AppendEvents(f.ctx, []port.Event{{ID: "evt_x", Org: f.org, Kind: "k", Entity: "e"}})
	}); err == nil {
		t.Error("an event without a body was stored")
	}
}

func eventReaders(t *testing.T, f *fixture) {
	f.otherOrganization()
	read := func(org ident.Org) (when time.Time) {
		f.view(func(r port.Reader) (err error) { when, _, err = r.EventsRead(f.ctx, org); return err })
		return when
	}
	note := func(org ident.Org, when time.Time) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.NoteEventsRead(f.ctx, org, when) })
	}
	if !read(f.org).IsZero() {
		t.Error("nobody has read, and it is noted")
	}
	f.fine("note", note(f.org, at(10)))
	f.fine("earlier", note(f.org, at(5)))
	f.same("noted", read(f.org), at(10))
	f.want("of none", note("org_none", at(1)), fault.NotFound)

	// A break puts every place that a reader may have behind what is forgotten.
	stream := func(org ident.Org) (s port.EventStream) {
		f.view(func(r port.Reader) (err error) { s, err = r.EventStream(f.ctx, org); return err })
		return s
	}
	f.append(event(f.org, 1), event(otherOrg, 1), event(f.org, 2))
	f.number()
	f.update(func(w port.DocumentWriter) error { return w.BreakEvents(f.ctx, f.org) })
	f.same("after a break", stream(f.org), port.EventStream{Last: 3, Trimmed: 3})
	f.same("another's", stream(otherOrg), port.EventStream{Last: 1})
	f.append(event(f.org, 3))
	f.number()
	left, _ := f.eventList(f.org, port.EventList{Limit: 9})
	f.same("numbers", seqs(left), []uint64{1, 2, 4})
	f.want("a break of none", f.s.Update(f.ctx, func(w port.Writer) error { return w.BreakEvents(f.ctx, "org_none") }),
		fault.NotFound)
}

func eventTrim(t *testing.T, f *fixture) {
	f.otherOrganization()
	for n := range 5 {
		f.append(event(f.org, n))
	}
	f.append(event(otherOrg, 3))
	f.number()
	slow := event(f.org, 9)
	slow.CreatedAt = at(1)
	f.append(slow) // old, and not numbered yet
	trim := func(before time.Time, limit int) (more bool) {
		f.update(func(w port.DocumentWriter) (err error) { more, err = w.TrimEvents(f.ctx, before, limit); return err })
		return more
	}
	if err := f.s.Update(f.ctx, func(w port.Writer) error { _, err := w.TrimEvents(f.ctx, at(3), 0); return err }); err == nil {
		t.Error("up to none at once")
	}
	if trim(at(0), 10) {
		t.Error("none is old, and there are more")
	}
	if !trim(at(3), 2) || trim(at(3), 2) {
		t.Error("more is not what is left")
	}
	left, _ := f.eventList(f.org, port.EventList{Limit: 9})
	f.same("left", seqs(left), []uint64{4, 5})
	f.view(func(r port.Reader) error {
		s, err := r.EventStream(f.ctx, f.org)
		f.same("stream", s, port.EventStream{Last: 5, Trimmed: 3})
		other, failed := r.EventStream(f.ctx, otherOrg)
		f.same("another's", other, port.EventStream{Last: 1})
		f.fine("another's", failed)
		return err
	})
	if trim(at(9), 9); len(f.number()) != 1 {
		t.Error("an event was forgotten before it had a number")
	}
	left, _ = f.eventList(f.org, port.EventList{Limit: 9})
	f.same("numbers go on", seqs(left), []uint64{6})
}

func eventErasure(t *testing.T, f *fixture) {
	p := f.ann()
	f.otherOrganization()
	of := func(org ident.Org, n int, subject string) port.Event {
		e := event(org, n)
		e.Subject = subject
		return e
	}
	ann := port.EventSubject(p)
	for n := range 5 {
		f.append(of(f.org, n, ann))
	}
	f.number()
	f.append(of(f.org, 5, ann), of(f.org, 6, "int_1/bob"), of(f.org, 7, ""), of(otherOrg, 8, ann))
	var rounds int
	f.update(func(w port.DocumentWriter) (err error) { p, err = w.BeginErasure(f.ctx, p, at(20)); return err })
	for more := true; more; rounds++ {
		f.update(func(w port.DocumentWriter) (err error) { more, err = w.EraseMemories(f.ctx, p, 2); return err })
	}
	if rounds != 4 {
		t.Errorf("six events went in %d rounds of two", rounds)
	}
	f.append(of(f.org, 9, ann)) // of a personal key that was made in the meantime
	f.update(func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, p) })
	f.same("left", f.number(), []string{event(f.org, 6).ID, event(f.org, 7).ID, event(otherOrg, 8).ID})
	f.append(of(f.org, 10, ann), of(f.org, 11, ""))
	f.update(func(w port.DocumentWriter) error { return w.ErasePersonalKeys(f.ctx, p.At(0)) })
	f.same("of one who has saved nothing", f.number(), []string{event(f.org, 11).ID})

	// An organization goes with all that is kept of it.
	f.update(func(w port.DocumentWriter) error {
		if err := w.NoteEventsRead(f.ctx, otherOrg, at(1)); err != nil {
			return err
		}
		return w.BeginDeletion(f.ctx, otherOrg, at(30))
	})
	f.append(of(otherOrg, 12, ""), of(otherOrg, 13, ""))
	f.expect("a reader of one that goes", fault.NotFound,
		func(w port.DocumentWriter) error { return w.NoteEventsRead(f.ctx, otherOrg, at(2)) })
	var gone []port.Event
	f.view(func(r port.Reader) (err error) { gone, err = r.UnnumberedEvents(f.ctx, 9); return err })
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 2)
			return err
		})
	}
	// By a publisher that is late.
	f.update(func(w port.DocumentWriter) error { _, err := w.NumberEvents(f.ctx, gone); return err })
	f.view(func(r port.Reader) error {
		s, err := r.EventStream(f.ctx, otherOrg)
		f.same("its stream", s, port.EventStream{})
		when, _, failed := r.EventsRead(f.ctx, otherOrg)
		if !when.IsZero() || failed != nil {
			t.Errorf("its reader: %v, %v", when, failed)
		}
		return err
	})
	if left, _ := f.eventList(otherOrg, port.EventList{Limit: 9}); len(left) != 0 {
		t.Errorf("an organization that is gone has %v", left)
	}
	mine, _ := f.eventList(f.org, port.EventList{Limit: 9})
	if len(mine) == 0 {
		t.Error("another's events went along")
	}
}

// lateCommit: an event that the database got first and that is committed last has the last
// number. A store with one writer at a time has it committed first.
func lateCommit(t *testing.T, f *fixture) {
	f.append(event(f.org, 0))
	f.number()
	appended, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	var once sync.Once
	go func() {
		ended <- f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
			err := w.AppendEvents(f.ctx, []port.Event{event(f.org, 1)})
			once.Do(func() { close(appended) })
			select {
			case <-done:
			case <-time.After(200 * time.Millisecond): // the other one waits for this one
			}
			return err
		})
	}()
	<-appended
	go func() {
		defer close(done)
		err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
			return w.AppendEvents(f.ctx, []port.Event{event(f.org, 2)})
		})
		f.number()
		ended <- err
	}()
	for range 2 {
		f.fine("commit", <-ended)
	}
	f.number()
	got, _ := f.eventList(f.org, port.EventList{Limit: 9})
	f.same("numbers", seqs(got), []uint64{1, 2, 3})
}

// eventOrder: while writers commit in any order, and the right to number moves among three
// replicas, readers that go on from the last number see every event once, those of
// one entity in the order of their commits.
func eventOrder(t *testing.T, f *fixture) {
	const writers, rounds = 4, 12
	spaces := make([]port.Partition, writers)
	for i := range spaces {
		spaces[i] = f.create(fmt.Sprint("space", i%2))
		if i == 1 {
			break
		}
	}
	spaces[2], spaces[3] = spaces[0], spaces[1]
	ctx, stop := context.WithCancel(f.ctx)
	defer stop()
	var publishers, readers, all sync.WaitGroup
	for i := range 3 {
		r := f.join(fmt.Sprint("replica", i), longLease)
		publishers.Go(func() { f.publish(ctx, r) })
	}
	written := make(chan struct{})
	seen := make([][]port.Event, 2)
	for i := range seen {
		readers.Go(func() { seen[i] = f.follow(written, writers*rounds*2) })
	}
	for i := range writers {
		all.Go(func() {
			for n := range rounds {
				err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
					seq, err := w.PutDocuments(f.ctx, spaces[i], at(n), []port.DocumentWrite{plain(fmt.Sprint(i))})
					if err != nil {
						return err
					}
					list := []port.Event{event(f.org, 0), event(f.org, 0)}
					for k := range list {
						list[k].ID = fmt.Sprintf("evt_%d_%d_%d", i, n, k)
						list[k].Entity = spaces[i].Name()
						list[k].Body = []byte(fmt.Sprintf("%06d.%d", seq, k))
					}
					if err := w.AppendEvents(f.ctx, list); err != nil {
						return err
					}
					time.Sleep(time.Duration((i*7+n*3)%5) * time.Millisecond) // the others overtake
					return nil
				})
				f.fine("write", err)
			}
		})
	}
	all.Wait()
	close(written)
	readers.Wait()
	stop()
	publishers.Wait()
	for i, got := range seen {
		last, ids := map[string]string{}, map[string]bool{}
		for _, e := range got {
			if ids[e.ID] {
				t.Errorf("reader %d saw %s twice", i, e.ID)
			}
			if ids[e.ID] = true; strings.Compare(last[e.Entity], string(e.Body)) >= 0 {
				t.Errorf("reader %d saw %s of %s after %s", i, e.Body, e.Entity, last[e.Entity])
			}
			last[e.Entity] = string(e.Body)
		}
		if len(ids) != writers*rounds*2 {
			t.Errorf("reader %d saw %d events of %d", i, len(ids), writers*rounds*2)
		}
	}
}

// publish numbers events while it has the claim, and gives it up now and then.
func (f *fixture) publish(ctx context.Context, r port.Replica) {
	var c port.Claim
	have := false
	for n := 0; ctx.Err() == nil; n++ {
		var fresh []port.Event
		f.fine("look", f.s.View(f.ctx, func(r port.Reader) (err error) { fresh, err = r.UnnumberedEvents(f.ctx, 5); return err }))
		err := f.s.Update(f.ctx, func(w port.Writer) (err error) {
			if !have {
				c, have, err = w.TakeClaim(f.ctx, r, "publish")
			} else if n%4 == 3 {
				have, err = false, w.EndClaim(f.ctx, c)
			}
			if err != nil || !have {
				return err
			}
			if err := w.ConfirmClaim(f.ctx, c); err != nil {
				return err
			}
			_, err = w.NumberEvents(f.ctx, fresh)
			return err
		})
		if err != nil && fault.CodeOf(err) != fault.Conflict {
			f.Errorf("publish: %v", err)
		}
		if err != nil {
			have = false
		}
		time.Sleep(time.Millisecond)
	}
	if have {
		f.fine("give up", f.s.Update(f.ctx, func(w port.Writer) error { return w.EndClaim(f.ctx, c) }))
	}
}

// follow reads events as they come, until it has as many as there will be, or none has come
// for long after all were written.
func (f *fixture) follow(written <-chan struct{}, want int) (seen []port.Event) {
	var after uint64
	var idle time.Time
	for len(seen) < want {
		var got []port.Event
		err := f.s.View(f.ctx, func(r port.Reader) (err error) {
			got, after, err = r.Events(f.ctx, f.org, port.EventList{After: after, Limit: 7})
			return err
		})
		if err != nil {
			f.Errorf("follow: %v", err)
			return seen
		}
		if seen = append(seen, got...); len(got) > 0 {
			idle = time.Time{}
			continue
		}
		select {
		case <-written:
			if idle.IsZero() {
				idle = time.Now()
			} else if time.Since(idle) > time.Minute {
				return seen
			}
		default:
		}
		time.Sleep(time.Millisecond)
	}
	return seen
}
