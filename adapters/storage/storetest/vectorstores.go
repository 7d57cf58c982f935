package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// vectorStores: descriptions are there without documents, and namespaces without descriptions.
func vectorStores(t *testing.T, f *fixture) {
	f.otherOrganization()
	put := func(v port.VectorStore) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutVectorStore(f.ctx, f.org, v) })
	}
	read := func(id string) (v port.VectorStore) {
		t.Helper()
		f.view(func(r port.Reader) (err error) { v, err = r.VectorStore(f.ctx, f.org, id); return err })
		return v
	}
	gone := func(what, id string) {
		t.Helper()
		f.want(what, f.s.View(f.ctx, func(r port.Reader) error { _, err := r.VectorStore(f.ctx, f.org, id); return err }),
			fault.NotFound)
	}
	list := func(l port.VectorStoreList) (ids []string) {
		t.Helper()
		f.view(func(r port.Reader) error {
			rows, err := r.VectorStores(f.ctx, f.org, l)
			for _, row := range rows {
				ids = append(ids, fmt.Sprintf("%s %s %d %d", row.ID, row.Name, row.Documents, row.Bytes))
			}
			return err
		})
		return ids
	}
	gone("of none", "b")
	b := port.VectorStore{ID: "b", Name: "Bread", Metadata: []byte(`{"a":"ä"}`), CreatedAt: at(2)}
	f.fine("write", put(b))
	f.fine("write another of its time", put(port.VectorStore{ID: "a", Name: "Bread", CreatedAt: at(2)}))
	f.fine("write a later one", put(port.VectorStore{ID: "c", CreatedAt: at(3)}))
	f.same("read", read("b"), b)
	b.Name, b.Metadata, b.CreatedAt = "Soup", nil, at(9)
	f.fine("replace", put(b))
	b.CreatedAt = at(2)
	f.same("replaced, and made when it was", read("b"), b)
	f.want("in no organization", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutVectorStore(f.ctx, "org_none", b)
	}), fault.NotFound)

	p, bread := f.create("plain"), port.Documents(f.org, "b")
	f.update(func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, bread, port.PartitionRow{Dimensions: dim, CreatedAt: at(5), UpdatedAt: at(5)})
		return err
	})
	f.same("a namespace without documents is none", list(port.VectorStoreList{Limit: 9}),
		[]string{"a Bread 0 0", "b Soup 0 0", "c  0 0"})
	doc := func(p port.Partition, id string) {
		f.put(p, at(6), port.DocumentWrite{Document: describe(port.Document{ID: id, Text: "four", CreatedAt: at(6),
			UpdatedAt: at(6)}, 1)})
	}
	doc(p, "x")
	doc(bread, "y")
	all := []string{"plain plain 1 4", "a Bread 0 0", "b Soup 1 4", "c  0 0"}
	rows := func(down bool) (rows []port.VectorStoreRow) {
		f.view(func(r port.Reader) (err error) {
			rows, err = r.VectorStores(f.ctx, f.org, port.VectorStoreList{Down: down, Limit: 9})
			return err
		})
		return rows
	}
	f.same("changed when its documents did, else made", []time.Time{rows(false)[1].UpdatedAt, rows(false)[2].UpdatedAt},
		[]time.Time{at(2), at(6)})
	for _, down := range []bool{false, true} {
		want := slices.Clone(all)
		if down {
			slices.Reverse(want)
		}
		f.same("in their order", list(port.VectorStoreList{Down: down, Limit: 9}), want)
		var got []string
		l := port.VectorStoreList{Down: down, Limit: 1}
		for range want {
			got = append(got, list(l)...)
			row := rows(down)[len(got)-1]
			l.After, l.AfterCreated = row.ID, row.CreatedAt
		}
		f.same("one by one", got, want)
		f.same("and no more", list(l), []string(nil))
	}

	f.fine("of the namespace that goes", put(port.VectorStore{ID: "plain", Name: "P", CreatedAt: at(1)}))
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, p); return err })
	gone("with its namespace", "plain")
	if _, _, emptied := f.delete(bread, at(7), "y"); !emptied {
		t.Error("the namespace outlived its last document")
	}
	f.same("after its last document", read("b"), b)
	remove := func(id string) (removed bool) {
		f.update(func(w port.DocumentWriter) (err error) {
			removed, err = w.RemoveVectorStore(f.ctx, f.org, id)
			return err
		})
		return removed
	}
	f.same("removed, and again", []bool{remove("b"), remove("b")}, []bool{true, false})
	gone("removed", "b")
	f.view(func(r port.Reader) error {
		rows, err := r.VectorStores(f.ctx, otherOrg, port.VectorStoreList{Limit: 9})
		f.same("another organization's", rows, []port.VectorStoreRow(nil))
		return err
	})
}

// keptFiles: a file's text is kept whole, of its organization alone, until it is removed.
func keptFiles(t *testing.T, f *fixture) {
	f.otherOrganization()
	parts := []port.KeptPart{{Metadata: []byte(`{"part":1}`), Text: "one\n"}, {Metadata: []byte(`{"part":2}`), Text: "zwölf"}}
	kept := func(id, namespace, purpose string) port.KeptFile {
		return port.KeptFile{ID: id, Namespace: namespace, Name: id + ".txt", Purpose: purpose, MediaType: "text/plain",
			Size:      1 << 40,
			TextBytes: 10, Parts: 2, CreatedAt: at(3)}
	}
	put := func(k port.KeptFile, parts []port.KeptPart) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutKeptFile(f.ctx, f.org, k, parts) })
	}
	one, two, three := kept("file-1", "", "assistants"), kept("file-2", "docs", "user_data"), kept("file-3", "docs", "assistants")
	for _, k := range []port.KeptFile{one, two, three} {
		f.fine("write", put(k, parts))
	}
	f.want("with another number of parts", put(kept("file-4", "", ""), parts[:1]), fault.Internal)
	f.want("in no organization", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutKeptFile(f.ctx, "org_none", one, parts)
	}), fault.NotFound)
	read := func(org bool, id string) (k port.KeptFile, p []port.KeptPart, err error) {
		of := f.org
		if !org {
			of = otherOrg
		}
		err = f.s.View(f.ctx, func(r port.Reader) (err error) {
			if p, err = r.KeptParts(f.ctx, of, id); err == nil {
				k, err = r.KeptFile(f.ctx, of, id)
			}
			return err
		})
		return k, p, err
	}
	k, p, err := read(true, "file-2")
	f.fine("read", err)
	f.same("as it was written", k, two)
	f.same("with its parts in order", p, parts)
	_, p, err = read(false, "file-2")
	f.want("another organization's", err, fault.NotFound)
	f.same("another organization's", p, []port.KeptPart(nil))
	list := func(l port.KeptFileList) (ids []string) {
		t.Helper()
		f.view(func(r port.Reader) error {
			files, err := r.KeptFiles(f.ctx, f.org, l)
			for _, k := range files {
				ids = append(ids, k.ID)
			}
			return err
		})
		return ids
	}
	for _, c := range []struct {
		l    port.KeptFileList
		want []string
	}{
		{port.KeptFileList{Limit: 9}, []string{"file-1", "file-2", "file-3"}},
		{port.KeptFileList{Limit: 2, Down: true}, []string{"file-3", "file-2"}},
		{port.KeptFileList{Limit: 9, After: "file-1"}, []string{"file-2", "file-3"}},
		{port.KeptFileList{Limit: 9, After: "file-2", Down: true}, []string{"file-1"}},
		{port.KeptFileList{Limit: 9, Namespace: "docs"}, []string{"file-2", "file-3"}},
		{port.KeptFileList{Limit: 9, Purpose: "assistants"}, []string{"file-1", "file-3"}},
		{port.KeptFileList{Limit: 9, Purpose: "assistants", Namespace: "docs", After: "file-3"}, nil},
	} {
		f.same(fmt.Sprintf("%+v", c.l), list(c.l), c.want)
	}
	holdings := func() (h port.Holdings) {
		f.view(func(r port.Reader) (err error) { h, err = r.Holdings(f.ctx, f.org); return err })
		return h
	}
	f.same("what the organization has", holdings(), port.Holdings{Bytes: 30, Documents: 6})

	docs, other := port.Documents(f.org, "docs"), port.Documents(f.org, "other")
	attach := func(p port.Partition, a port.Attachment) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutAttachment(f.ctx, p, a) })
	}
	a := port.Attachment{File: "file-1", CreatedAt: at(1)}
	b := port.Attachment{File: "file-2", Batch: "batch", Operation: "op_2", CreatedAt: at(2)}
	c := port.Attachment{File: "file-3", Batch: "batch", Operation: "op_3", CreatedAt: at(3)}
	for _, one := range []port.Attachment{c, a, b} {
		f.fine("attach", attach(docs, one))
	}
	f.fine("to another", attach(other, a))
	f.want("of no file", attach(docs, port.Attachment{File: "file-9", CreatedAt: at(1)}), fault.NotFound)
	f.want("another organization's", attach(port.Documents(otherOrg, "docs"), a), fault.NotFound)
	attachments := func(p port.Partition, l port.AttachmentList) (all []port.Attachment) {
		t.Helper()
		f.view(func(r port.Reader) (err error) { all, err = r.Attachments(f.ctx, p, l); return err })
		return all
	}
	for _, each := range []struct {
		l    port.AttachmentList
		want []port.Attachment
	}{
		{port.AttachmentList{Written: true, Limit: 9}, []port.Attachment{a, b, c}},
		{port.AttachmentList{Written: true, Limit: 2, Down: true}, []port.Attachment{c, b}},
		{port.AttachmentList{Limit: 9}, []port.Attachment{b, c}},
		{port.AttachmentList{Limit: 9, Since: at(3)}, []port.Attachment{c}},
		{port.AttachmentList{Batch: "batch", Written: true, Limit: 9, After: "file-2"}, []port.Attachment{c}},
		{port.AttachmentList{Batch: "none", Written: true, Limit: 9}, nil},
		{port.AttachmentList{Written: true, Limit: 9, After: "file-2", Down: true}, []port.Attachment{a}},
	} {
		f.same(fmt.Sprintf("%+v", each.l), attachments(docs, each.l), each.want)
	}
	f.same("another organization's", attachments(port.Documents(otherOrg, "docs"), port.AttachmentList{Written: true, Limit: 9}),
		[]port.Attachment(nil))
	b.Operation, b.CreatedAt = "", at(8)
	f.fine("attach again", attach(docs, b))
	f.view(func(r port.Reader) error {
		got, err := r.Attachment(f.ctx, docs, "file-2")
		f.same("replaced", got, b)
		if _, missing := r.Attachment(f.ctx, other, "file-2"); fault.CodeOf(missing) != fault.NotFound {
			t.Errorf("in another namespace: %v", missing)
		}
		to, err2 := r.AttachedTo(f.ctx, f.org, "file-1")
		f.same("attached to", to, []string{"docs", "other"})
		f.fine("attached to", err2)
		return err
	})
	f.update(func(w port.DocumentWriter) error {
		removed, err := w.RemoveAttachment(f.ctx, docs, "file-3")
		f.same("detached", removed, true)
		if again, err := w.RemoveAttachment(f.ctx, docs, "file-3"); again || err != nil {
			t.Errorf("detached again: %t, %v", again, err)
		}
		return err
	})
	f.update(func(w port.DocumentWriter) error {
		_, err := w.RemoveVectorStore(f.ctx, f.org, "other")
		return err
	})
	f.same("of the store that went", attachments(other, port.AttachmentList{Written: true, Limit: 9}), []port.Attachment(nil))

	f.update(func(w port.DocumentWriter) error {
		theirs, err := w.RemoveKeptFile(f.ctx, otherOrg, "file-1")
		f.same("another organization's", theirs, false)
		f.fine("another organization's", err)
		removed, err := w.RemoveKeptFile(f.ctx, f.org, "file-1")
		f.same("removed", removed, true)
		return err
	})
	_, p, err = read(true, "file-1")
	f.want("removed", err, fault.NotFound)
	f.same("its parts", p, []port.KeptPart(nil))
	f.same("its attachments", attachments(docs, port.AttachmentList{Written: true, Limit: 9}), []port.Attachment{b})
	f.same("what the organization has left", holdings(), port.Holdings{Bytes: 20, Documents: 4})

	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, f.org, at(9)) })
	f.want("while it is deleted", put(kept("file-5", "", ""), parts), fault.NotFound)
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, f.org, 1)
			return err
		})
	}
	_, p, err = read(true, "file-2")
	f.want("after its organization", err, fault.NotFound)
	f.same("its parts after its organization", p, []port.KeptPart(nil))
	f.same("its attachments after its organization", attachments(docs, port.AttachmentList{Written: true, Limit: 9}),
		[]port.Attachment(nil))
}
