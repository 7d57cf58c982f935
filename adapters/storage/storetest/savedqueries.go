package storetest

import (
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// savedQueries: they are one namespace's, outlive its reindexing, and go with it.
func savedQueries(t *testing.T, f *fixture) {
	f.otherOrganization()
	docs, theirs := port.Documents(f.org, "docs"), port.Documents(otherOrg, "docs")
	put := func(p port.Partition, q port.SavedQuery) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSavedQuery(f.ctx, p, q) })
	}
	list := func(p port.Partition) (all []port.SavedQuery) {
		t.Helper()
		f.view(func(r port.Reader) (err error) { all, err = r.SavedQueries(f.ctx, p); return err })
		return all
	}
	create := func(p port.Partition) {
		t.Helper()
		f.update(func(w port.DocumentWriter) error {
			_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{CreatedAt: at(1), UpdatedAt: at(1)})
			return err
		})
	}
	one := port.SavedQuery{Name: "one", Body: []byte(`{"query":"x"}`), CreatedAt: at(1), UpdatedAt: at(1)}
	two := port.SavedQuery{Name: "two", Body: []byte(`{"query":"ä\n"}`), CreatedAt: at(2), UpdatedAt: at(2)}
	f.want("of no namespace", put(docs, one), fault.PartitionNotFound)
	f.same("of no namespace", list(docs), []port.SavedQuery(nil))
	other := f.create("other")
	create(docs)
	create(theirs)
	f.fine("write", put(docs, two))
	f.fine("write", put(docs, one))
	f.fine("another's of the same name", put(theirs, two))
	f.same("by name", list(docs), []port.SavedQuery{one, two})
	f.same("in another namespace", list(other), []port.SavedQuery(nil))
	f.same("another organization's", list(theirs), []port.SavedQuery{two})

	again := port.SavedQuery{Name: "one", Body: []byte(`{"query":"y"}`), CreatedAt: at(7), UpdatedAt: at(8)}
	f.fine("write again", put(docs, again))
	again.CreatedAt = one.CreatedAt
	f.same("replaced, and made when it was", list(docs), []port.SavedQuery{again, two})

	remove := func(p port.Partition, name string) (removed bool) {
		t.Helper()
		f.update(func(w port.DocumentWriter) (err error) {
			removed, err = w.RemoveSavedQuery(f.ctx, p, name)
			return err
		})
		return removed
	}
	f.same("removed in another namespace, by another organization, by its own, again",
		[]bool{remove(other, "one"), remove(theirs, "one"), remove(docs, "one"), remove(docs, "one")},
		[]bool{false, false, true, false})
	f.same("the other stays", list(docs), []port.SavedQuery{two})

	create(docs.Shadow())
	f.update(func(w port.DocumentWriter) error { return w.SwapPartition(f.ctx, docs) })
	f.same("reindexed", list(docs), []port.SavedQuery{two})
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, docs.Shadow()); return err })
	f.same("without what it was before", list(docs), []port.SavedQuery{two})
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, docs); return err })
	create(docs)
	f.same("in another life of the name", list(docs), []port.SavedQuery(nil))
	f.same("another organization's stay", list(theirs), []port.SavedQuery{two})

	f.fine("write", put(docs, one))
	f.put(docs, at(3), port.DocumentWrite{Document: describe(port.Document{ID: "a", Text: "x", CreatedAt: at(2),
		UpdatedAt: at(3)}, 1)})
	if _, _, gone := f.delete(docs, at(4), "a"); !gone {
		t.Error("the namespace outlived its last document")
	}
	create(docs)
	f.same("after its last document", list(docs), []port.SavedQuery(nil))
}
