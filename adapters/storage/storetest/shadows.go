package storetest

import (
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// shadows: the second life of a namespace's name is hidden until it is swapped,
// loses what the served one loses, and takes no write by mistake.
func shadows(t *testing.T, f *fixture) {
	p := port.Documents(f.org, "docs")
	put := func(p port.Partition, when time.Time, docs ...port.DocumentWrite) func(port.DocumentWriter) error {
		return func(w port.DocumentWriter) error { _, err := w.PutDocuments(f.ctx, p, when, docs); return err }
	}
	create := func(p port.Partition, digest string) (n port.PartitionRow) {
		t.Helper()
		f.update(func(w port.DocumentWriter) (err error) {
			n, err = w.CreatePartition(f.ctx, p, port.PartitionRow{EmbeddingDigest: digest, CreatedAt: at(1), UpdatedAt: at(1)})
			return err
		})
		return n
	}
	read := func(p port.Partition) (n port.PartitionRow) {
		t.Helper()
		f.view(func(r port.Reader) (err error) { n, err = r.Partition(f.ctx, p); return err })
		return n
	}
	none := func(what string, p port.Partition) {
		t.Helper()
		err := f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Partition(f.ctx, p); return err })
		f.want(what, err, fault.PartitionNotFound)
	}
	ids := func(p port.Partition) (out []string) {
		t.Helper()
		f.view(func(r port.Reader) error {
			list, err := r.ListDocuments(f.ctx, p, port.DocumentList{Limit: 100})
			for _, d := range list {
				out = append(out, d.ID)
			}
			return err
		})
		return out
	}
	remove := func(p port.Partition, ids ...string) (gone bool) {
		t.Helper()
		f.update(func(w port.DocumentWriter) (err error) {
			_, _, gone, err = w.DeleteDocuments(f.ctx, p, at(9), ids)
			return err
		})
		return gone
	}
	text := func(id, text string) port.DocumentWrite {
		return port.DocumentWrite{Document: describe(port.Document{ID: id, Text: text, CreatedAt: at(2), UpdatedAt: at(3)}, 1)}
	}

	f.expect("the shadow of nothing", fault.PartitionNotFound, func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, p.Shadow(), port.PartitionRow{})
		return err
	})
	served := p.At(create(p, "old").Generation)
	none("no shadow yet", p.Shadow())
	f.expect("nothing to swap with", fault.PartitionNotFound,
		func(w port.DocumentWriter) error { return w.SwapPartition(f.ctx, p) })
	f.expect("documents", "", put(served, at(4), text("a", "one"), text("b", "two"), text("c", "three")))
	own := p.At(create(p.Shadow(), "new").Generation)
	f.expect("a second shadow", fault.Conflict, func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, p.Shadow(), port.PartitionRow{})
		return err
	})

	// The shadow is hidden from its name, and found by its generation.
	f.same("the name is the served one", read(p).Generation, served.Generation())
	f.same("the shadow", read(p.Shadow()).Generation, own.Generation())
	f.same("by generation", read(own).EmbeddingDigest, "new")
	f.same("its life", read(own).State, port.Building)
	f.view(func(r port.Reader) error {
		list, err := r.Namespaces(f.ctx, f.org, "", "", 10)
		if err == nil && (len(list) != 1 || list[0].Generation != served.Generation()) {
			t.Errorf("listed: %+v", list)
		}
		held, err2 := r.Shadows(f.ctx, f.org)
		if len(held) != 1 || held[0].Partition != own || held[0].Row.State != port.Building {
			t.Errorf("shadows: %+v", held)
		}
		all, err3 := r.Shadows(f.ctx, "")
		if len(all) != 1 {
			t.Errorf("all shadows: %+v", all)
		}
		live, err4 := r.Generations(f.ctx)
		f.same("its derived data live", len(live), 2)
		for _, err := range []error{err, err2, err3, err4} {
			if err != nil {
				return err
			}
		}
		return nil
	})

	// Only a caller that names the shadow writes to it, with each document's own time.
	f.expect("by mistake", fault.PartitionNotFound, put(own, at(5), text("a", "one")))
	f.expect("the served one as a shadow", fault.PartitionNotFound, put(served.Shadow(), at(5), text("a", "one")))
	f.expect("documents of the shadow", "", put(own.Shadow(), time.Time{}, text("a", "one"), text("b", "two")))
	f.view(func(r port.Reader) error {
		d, err := r.Documents(f.ctx, own, []string{"a"}, 0)
		if err == nil && (!d[0].UpdatedAt.Equal(at(3)) || !d[0].CreatedAt.Equal(at(2))) {
			t.Errorf("times %v and %v, want the document's own", d[0].CreatedAt, d[0].UpdatedAt)
		}
		return err
	})
	f.same("the served one has its own", ids(p), []string{"a", "b", "c"})
	before := read(own).Seq
	remove(p, "a", "c")
	f.same("deleted in both", ids(own), []string{"b"})
	f.view(func(r port.Reader) error {
		changes, err := r.Changes(f.ctx, own, before, 10)
		if err == nil && (len(changes) != 1 || changes[0].Document != "a" || !changes[0].Deleted) {
			t.Errorf("the shadow's log after it: %+v", changes)
		}
		return err
	})
	if remove(own.Shadow(), "b") {
		t.Error("a shadow went with its last document")
	}
	f.expect("again", "", put(own.Shadow(), time.Time{}, text("b", "two")))

	// Swapped there and back.
	f.update(func(w port.DocumentWriter) error { return w.PausePartition(f.ctx, p, at(60)) })
	f.same("paused", read(p).PausedUntil.Equal(at(60)), true)
	f.update(func(w port.DocumentWriter) error { return w.SwapPartition(f.ctx, served) })
	f.same("now served", read(p).Generation, own.Generation())
	f.same("kept", read(p.Shadow()).Generation, served.Generation())
	f.same("as such", read(served).State, port.Retained)
	f.same("and served", read(own).State, port.Active)
	f.same("the pause has ended", read(served).PausedUntil.IsZero(), true)
	f.expect("a write that comes late", fault.PartitionNotFound, put(served, at(6), text("late", "late")))
	f.same("a read that comes late", ids(served), []string{"b"})
	f.expect("a write", "", put(p, at(6), text("d", "four")))
	f.same("goes to what is served", ids(p), []string{"b", "d"})
	f.expect("swapped from what is not served", fault.PartitionNotFound,
		func(w port.DocumentWriter) error { return w.SwapPartition(f.ctx, served) })
	f.update(func(w port.DocumentWriter) error { return w.SwapPartition(f.ctx, p) })
	f.same("back", read(p).Generation, served.Generation())

	// Deleted alone, and with its namespace.
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, p.Shadow()); return err })
	none("discarded", p.Shadow())
	none("its generation", own)
	f.same("the served one stays", ids(p), []string{"b"})
	own = p.At(create(p.Shadow(), "newer").Generation)
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, p); return err })
	none("gone", p)
	none("with its shadow", own)
	create(p, "third")
	none("another life has none", p.Shadow())
	create(p.Shadow(), "fourth")
	f.expect("a last document", "", put(p, at(7), text("z", "last")))
	if !remove(p, "z") {
		t.Error("the namespace outlived its last document")
	}
	none("with its last document its shadow", p.Shadow())
}
