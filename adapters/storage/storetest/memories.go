package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// integration makes an integration.
func (f *fixture) integration(org ident.Org, id string) {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		return w.PutIntegration(f.ctx, port.Integration{ID: id, Org: org, Name: "app " + id, CreatedAt: at(0)})
	})
}

// endUser makes an end user's partition; its integration must be there.
func (f *fixture) endUser(p port.Partition) port.Partition {
	f.Helper()
	f.update(func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{Dimensions: dim, CreatedAt: at(0), UpdatedAt: at(0)})
		return err
	})
	return p
}

// ann makes an integration and a partition of its first end user.
func (f *fixture) ann() port.Partition {
	f.Helper()
	f.integration(f.org, "int_1")
	return f.endUser(port.Memories(f.org, "int_1", "ann"))
}

func contentKey(text string) [32]byte { return sha256.Sum256([]byte(text)) }

// memory is a memory that is not source-owned.
func memory(id, container string, created time.Time) port.DocumentWrite {
	w := document(id, 1, 1)
	w.Document.Container, w.Document.CreatedAt, w.Document.ContentKey = container, created, contentKey("says "+id)
	return w
}

// sourced is a source-owned memory.
func sourced(id, source, externalID string) port.DocumentWrite {
	w := document(id, 1, 1)
	w.Document.Source, w.Document.ExternalID, w.Document.CreatedAt = source, externalID, at(1)
	return w
}

func integrations(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: "org_other", Name: "other"})
	})
	b := port.Integration{
		ID:             "int_1",
		Org:            f.org,
		Name:           "b",
		Quotas:         ident.Quotas{MemoriesPerEndUser: 1, ReadRatePerMin: 2, WriteRatePerMin: 3},
		GrantsRequired: true,
		CreatedAt:      at(1),
	}
	a := port.Integration{ID: "int_2", Org: f.org, Name: "a", CreatedAt: at(2)}
	theirs := port.Integration{ID: "int_1", Org: "org_other", Name: "b", CreatedAt: at(3)}
	f.update(func(w port.DocumentWriter) error {
		return errors.Join(w.PutIntegration(f.ctx, b), w.PutIntegration(f.ctx, a), w.PutIntegration(f.ctx, theirs))
	})
	check := func() {
		t.Helper()
		f.view(func(r port.Reader) error {
			all, err := r.Integrations(f.ctx, f.org)
			f.same("by name", all, []port.Integration{a, b})
			got, err2 := r.Integration(f.ctx, f.org, "int_1")
			f.same("by id", got, b)
			got, err3 := r.IntegrationByName(f.ctx, f.org, b.Name)
			f.same("by name", got, b)
			got, err4 := r.Integration(f.ctx, "org_other", "int_1")
			f.same("another organization's of the same id", got, theirs)
			_, absent := r.Integration(f.ctx, "org_other", "int_2")
			f.want("another organization's id", absent, fault.NotFound)
			_, absent = r.IntegrationByName(f.ctx, "org_other", "a")
			f.want("another organization's name", absent, fault.NotFound)
			return errors.Join(err, err2, err3, err4)
		})
	}
	check()
	f.want("taken name", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutIntegration(f.ctx, port.Integration{ID: "int_3", Org: f.org, Name: "a"})
	}), fault.Conflict)
	f.want("absent organization", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		return w.PutIntegration(f.ctx, port.Integration{ID: "int_3", Org: "org_none", Name: "c"})
	}), fault.NotFound)
	b.Name, b.Quotas, b.GrantsRequired = "c", ident.Quotas{}, false
	f.update(func(w port.DocumentWriter) error { return w.PutIntegration(f.ctx, b) })
	check()
}

// memoryPartitions: an end user's memories are apart from those of the same end
// user id in another integration or organization, and from a namespace of that name.
func memoryPartitions(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: "org_other", Name: "other"})
	})
	f.want("absent integration", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		_, err := w.CreatePartition(f.ctx, port.Memories(f.org, "int_1", "ann"), port.PartitionRow{})
		return err
	}), fault.NotFound)
	f.integration(f.org, "int_1")
	f.integration(f.org, "int_2")
	f.integration("org_other", "int_1")
	places := []port.Partition{
		port.Memories(f.org, "int_1", "ann"), port.Memories(f.org, "int_2", "ann"), port.Memories("org_other", "int_1", "ann"),
		port.Memories(f.org, "int_1", "bob"), port.Documents(f.org, "ann"),
	}
	record := func(p port.Partition) (port.Record, port.Receipt) {
		return port.Record{
				Source:      "crm",
				ExternalID:  "1",
				Version:     1,
				Status:      port.RecordActive,
				DocumentID:  "src",
				ContentHash: p.String(),
			},
			port.Receipt{
				Source:      "crm",
				ExternalID:  "1",
				Version:     1,
				Outcome:     "created",
				DocumentID:  "src",
				RequestHash: p.String(),
			}
	}
	text := func(p port.Partition) port.DocumentWrite {
		if p.Space() == port.SpaceDocuments {
			return document("m", 1, 1)
		}
		w := memory("m", "box", at(1))
		w.Document.Metadata = json.RawMessage(fmt.Sprintf(`{"of":%q}`, p))
		return w
	}
	for i, p := range places {
		for _, q := range places[i:] {
			f.want(fmt.Sprintf("%s before it is made", q), f.s.View(f.ctx, func(r port.Reader) error {
				_, err := r.Documents(f.ctx, q, []string{"m"}, 0)
				return err
			}), fault.PartitionNotFound)
		}
		f.endUser(p)
		f.want("taken", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
			_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{})
			return err
		}), fault.Conflict)
		f.put(p, at(2), text(p))
		if p.Space() == port.SpaceMemories {
			f.update(func(w port.DocumentWriter) error { r, receipt := record(p); return w.PutRecord(f.ctx, p, r, receipt) })
		}
	}
	seen := map[int64]bool{}
	check := func() {
		t.Helper()
		for _, p := range places {
			n := f.namespace(p)
			if n.Name != p.Name() || n.Documents != 1 || n.Seq != 1 {
				t.Errorf("%s: %+v", p, n)
			}
			seen[n.Generation] = true
			f.same(p.String(), f.documents(p, everything, "m"),
				[]port.DocumentHead{head(text(p), 1, f.documents(p, 0, "m")[0].CreatedAt, at(2))})
			if p.Space() != port.SpaceMemories {
				continue
			}
			want, wantReceipt := record(p)
			f.view(func(r port.Reader) error {
				got, err := r.Record(f.ctx, p, "crm", "1")
				f.same("record", got, want)
				receipt, err2 := r.Receipt(f.ctx, p, "crm", "1", 0)
				f.same("receipt", receipt, wantReceipt)
				ids, err3 := r.MemoriesByContent(f.ctx, p, []port.ContentKey{{Container: "box", Hash: contentKey("says m")}})
				if len(ids) != 1 {
					t.Errorf("%s: by content %v", p, ids)
				}
				return errors.Join(err, err2, err3)
			})
		}
	}
	check()
	if len(seen) != len(places) {
		t.Errorf("%d generations of %d partitions", len(seen), len(places))
	}
	var live []int64
	f.view(func(r port.Reader) error {
		all, err := r.Namespaces(f.ctx, f.org, "", "", 100)
		if len(all) != 1 || all[0].Name != "ann" || all[0].Generation != f.namespace(places[4]).Generation {
			t.Errorf("a list of namespaces: %+v", all)
		}
		var err2 error
		live, err2 = r.Generations(f.ctx)
		return errors.Join(err, err2)
	})
	if len(live) != len(places) {
		t.Errorf("%d live generations, want %d", len(live), len(places))
	}
	// A generation is no way around the rest of a partition's name.
	for _, p := range places[1:] {
		f.want(fmt.Sprintf("%s by another's generation", p), f.s.View(f.ctx, func(r port.Reader) error {
			_, err := r.Documents(f.ctx, p.At(f.namespace(places[0]).Generation), []string{"m"}, 0)
			return err
		}), fault.PartitionNotFound)
	}
	// What happens to one does not happen to another.
	f.integration(f.org, "int_3")
	gone := f.endUser(port.Memories(f.org, "int_3", "ann"))
	f.put(gone, at(3), memory("m", "box", at(1)))
	f.update(func(w port.DocumentWriter) error {
		r, receipt := record(gone)
		return w.PutRecord(f.ctx, gone, r, receipt)
	})
	f.update(func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, gone); return err })
	f.want("deleted", f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Partition(f.ctx, gone); return err }),
		fault.PartitionNotFound)
	check()
	f.endUser(gone)
	f.view(func(r port.Reader) error {
		_, err := r.Record(f.ctx, gone, "crm", "1")
		f.want("a record of the life before", err, fault.MemoryNotFound)
		return nil
	})
}

// memoryFields: a memory keeps its own fields and takes every new creation time;
// its partition stays when it goes.
func memoryFields(t *testing.T, f *fixture) {
	p := f.ann()
	m, s := memory("m", "box", at(-50)), sourced("s", "crm", "c:1")
	bare := memory("bare", "", time.Time{})
	f.put(p, at(1), m, s, bare)
	f.same("as written", f.documents(p, everything, "m", "s", "bare"), []port.DocumentHead{
		head(m, 1, at(-50), at(1)), head(s, 1, at(1), at(1)), head(bare, 1, at(1), at(1))})
	m = memory("m", "chest", at(-70))
	f.put(p, at(2), m)
	f.same("replaced", f.documents(p, everything, "m"), []port.DocumentHead{head(m, 2, at(-70), at(2))})
	meta := port.DocumentWrite{MetadataOnly: true, Document: describe(port.Document{
		ID:         "m",
		TextHash:   m.Document.TextHash,
		Container:  "trunk",
		ContentKey: m.Document.ContentKey,
		CreatedAt:  at(-90),
	}, 5)}
	f.put(p, at(3), meta)
	want := head(m, 3, at(-90), at(3))
	want.Document = describe(want.Document, 5)
	want.Container = "trunk"
	f.same("metadata replaced", f.documents(p, everything, "m"), []port.DocumentHead{want})
	f.view(func(r port.Reader) error {
		key := port.ContentKey{Container: "trunk", Hash: m.Document.ContentKey}
		ids, err := r.MemoriesByContent(f.ctx, p,
			[]port.ContentKey{{Container: "box", Hash: key.Hash}, {Container: "chest", Hash: key.Hash}, key,
				{Container: "trunk"}, {Hash: contentKey("says bare")}})
		f.same("by content", ids, map[port.ContentKey]string{key: "m", {Hash: contentKey("says bare")}: "bare"})
		return err
	})

	docs := f.create("docs")
	for what, spoil := range map[string]func(*port.Document) port.Partition{
		"container in a namespace":   func(d *port.Document) port.Partition { d.Container = "box"; return docs },
		"content key in a namespace": func(d *port.Document) port.Partition { d.ContentKey[0] = 1; return docs },
		"source in a namespace":      func(d *port.Document) port.Partition { d.Source, d.ExternalID = "crm", "1"; return docs },
		"source alone":               func(d *port.Document) port.Partition { d.Source = "crm"; return p },
		"external id alone":          func(d *port.Document) port.Partition { d.ExternalID = "1"; return p },
		"content key of a source's": func(d *port.Document) port.Partition {
			d.Source, d.ExternalID, d.ContentKey[0] = "crm", "1", 1
			return p
		},
	} {
		w := plain("bad")
		q := spoil(&w.Document)
		if err := f.s.UpdateDocuments(f.ctx, func(tx port.DocumentWriter) error {
			_, err := tx.PutDocuments(f.ctx, q, at(4), []port.DocumentWrite{w})
			return err
		}); err == nil {
			t.Errorf("%s was written", what)
		}
	}

	n := f.namespace(p)
	if bytes := int64(len(m.Document.Text) + len(s.Document.Text) + len(bare.Document.Text)); n.Documents != 3 ||
		n.Chunks != 3 || n.Bytes != bytes || n.Seq != 3 {
		t.Errorf("counts: %+v, want %d bytes", n, bytes)
	}
	if n, seq, gone := f.delete(p, at(5), "m", "s", "bare"); n != 3 || seq != 4 || gone {
		t.Errorf("deleting the last ones: %d, %d, gone %v", n, seq, gone)
	}
	after := n
	after.Documents, after.Chunks, after.Bytes, after.Seq, after.UpdatedAt = 0, 0, 0, 4, at(5)
	f.same("emptied", f.namespace(p), after)
	f.same("changes", f.changes(p, 0, 10), []port.Change{
		{Seq: 4, Document: "bare", Deleted: true}, {Seq: 4, Document: "m", Deleted: true},
		{Seq: 4, Document: "s", Deleted: true}})
	f.put(p, at(6), memory("m", "", at(6)))
	if n := f.namespace(p); n.Documents != 1 || n.Seq != 5 || n.Generation != after.Generation {
		t.Errorf("written again: %+v", n)
	}
	// Trimmed away, then deleted in the same transaction as it was written.
	f.update(func(w port.DocumentWriter) error {
		if err := w.TrimChanges(f.ctx, p, 4); err != nil {
			return err
		}
		if _, err := w.PutDocuments(f.ctx, p, at(7), []port.DocumentWrite{memory("x", "", at(7))}); err != nil {
			return err
		}
		n, _, gone, err := w.DeleteDocuments(f.ctx, p, at(7), []string{"x", "m"})
		if n != 2 || gone {
			t.Errorf("deleted %d, gone %v", n, gone)
		}
		return err
	})
	f.same("changes after trimming", f.changes(p, 0, 10),
		[]port.Change{{Seq: 7, Document: "m", Deleted: true}, {Seq: 7, Document: "x", Deleted: true}})
}

// memoryLists: newest first, ties by id, with and without a container, page by page.
func memoryLists(t *testing.T, f *fixture) {
	p := f.ann()
	type row struct {
		id, container string
		second        int
	}
	var rows []row
	for i := range 40 {
		r := row{fmt.Sprintf("m%02d", i*17%40), []string{"", "a", "b", "a"}[i%4], i / 3}
		rows = append(rows, r)
		f.put(p, at(100), memory(r.id, r.container, at(r.second)))
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.second != b.second {
			return b.second - a.second
		}
		return strings.Compare(a.id, b.id)
	})
	for _, container := range []string{"", "a", "b", "none"} {
		for _, limit := range []int{1, 7, 100} {
			var got, want []string
			for _, r := range rows {
				if container == "" || r.container == container {
					want = append(want, r.id)
				}
			}
			l := port.DocumentList{Order: port.ByCreated, Container: container, Limit: limit}
			for {
				page := f.list(p, l)
				got = append(got, docIDs(page)...)
				if len(page) < limit || len(got) > len(rows) {
					break
				}
				l.AfterID, l.AfterCreated = page[limit-1].ID, page[limit-1].CreatedAt
			}
			f.same(fmt.Sprintf("container %q limit %d", container, limit), got, want)
		}
	}
	f.same("by id", docIDs(f.list(p, port.DocumentList{Limit: 2})), []string{"m00", "m01"})
	if err := f.s.View(f.ctx, func(r port.Reader) error {
		_, err := r.ListDocuments(f.ctx, p, port.DocumentList{Container: "a", Limit: 1})
		return err
	}); err == nil {
		t.Error("a container in order of ids was listed")
	}
	docs := f.create("docs")
	for i, id := range []string{"x", "y", "z"} {
		d := plain(id)
		d.Document.CreatedAt = at(i)
		f.put(docs, at(10), d)
	}
	f.same("a namespace newest first", docIDs(f.list(docs,
		port.DocumentList{Order: port.ByCreated, AfterID: "z", AfterCreated: at(2), Limit: 5})), []string{"y", "x"})
}

func (f *fixture) putRecord(p port.Partition, source, externalID string, version int64) (port.Record, port.Receipt) {
	f.Helper()
	r, receipt := history(source, externalID, version)
	f.update(func(w port.DocumentWriter) error { return w.PutRecord(f.ctx, p, r, receipt) })
	return r, receipt
}

// history is the record and the receipt of a version; every third is a tombstone.
func history(source, externalID string, version int64) (port.Record, port.Receipt) {
	id := "mem_" + source + externalID
	r := port.Record{
		Source:       source,
		ExternalID:   externalID,
		Version:      version,
		Status:       port.RecordActive,
		OccurredAt:   at(int(version % 1000)),
		UpdatedAt:    at(1000 + int(version%1000)),
		DocumentID:   id,
		ContentHash:  fmt.Sprintf("sha256:%d", version),
		MetadataHash: sha256.Sum256(fmt.Append(nil, version)),
	}
	receipt := port.Receipt{
		Source:      source,
		ExternalID:  externalID,
		Version:     version,
		Operation:   "upsert",
		Outcome:     "updated",
		RequestHash: fmt.Sprintf("sha256:r%d", version),
		OccurredAt:  r.OccurredAt,
		AppliedAt:   r.UpdatedAt,
		DocumentID:  id,
		ContentHash: r.ContentHash,
	}
	if version%3 == 0 {
		r.Status, r.ContentHash, receipt.ContentHash, receipt.Operation, receipt.Outcome = port.RecordTombstoned, "",
			"", "tombstone", "tombstoned"
	}
	return r, receipt
}

func records(t *testing.T, f *fixture) {
	p := f.ann()
	f.put(p, at(1), sourced("mem_crm1", "crm", "1"))
	before := f.namespace(p)
	latest, receipts := map[string]port.Record{}, map[string][]port.Receipt{}
	for _, key := range []string{"crm/1", "crm/10", "crm/2", "a/9", "crm.x/0"} {
		source, externalID, _ := strings.Cut(key, "/")
		for _, version := range []int64{1, 2, 3, 1 << 52} {
			r, receipt := f.putRecord(p, source, externalID, version)
			latest[key], receipts[key] = r, append(receipts[key], receipt)
		}
	}
	f.same("records leave the memories alone", f.namespace(p), before)
	var want []port.Record
	for _, key := range []string{"a/9", "crm/1", "crm/10", "crm/2", "crm.x/0"} {
		want = append(want, latest[key])
	}
	f.view(func(r port.Reader) error {
		for key, w := range latest {
			source, externalID, _ := strings.Cut(key, "/")
			got, err := r.Record(f.ctx, p, source, externalID)
			f.same("record "+key, got, w)
			last, err2 := r.Receipt(f.ctx, p, source, externalID, 0)
			f.same("latest receipt of "+key, last, receipts[key][3])
			second, err3 := r.Receipt(f.ctx, p, source, externalID, 2)
			f.same("a receipt of "+key, second, receipts[key][1])
			all, err4 := r.Receipts(f.ctx, p, source, externalID, 0, 100)
			f.same("receipts of "+key, all, receipts[key])
			page, err5 := r.Receipts(f.ctx, p, source, externalID, 1, 2)
			f.same("a page of receipts of "+key, page, receipts[key][1:3])
			if err := errors.Join(err, err2, err3, err4, err5); err != nil {
				return err
			}
		}
		for _, limit := range []int{1, 2, 100} {
			var got []port.Record
			var source, externalID string
			for {
				page, err := r.Records(f.ctx, p, source, externalID, limit)
				if err != nil {
					return err
				}
				got = append(got, page...)
				if len(page) < limit || len(got) > len(want) {
					break
				}
				source, externalID = page[limit-1].Source, page[limit-1].ExternalID
			}
			f.same(fmt.Sprintf("records by %d", limit), got, want)
		}
		_, err := r.Record(f.ctx, p, "crm", "none")
		f.want("absent record", err, fault.MemoryNotFound)
		_, err = r.Receipt(f.ctx, p, "crm", "none", 0)
		f.want("latest receipt of an absent record", err, fault.MemoryNotFound)
		_, err = r.Receipt(f.ctx, p, "crm", "1", 77)
		f.want("receipt of a version that never was", err, fault.MemoryNotFound)
		none, err := r.Receipts(f.ctx, p, "crm", "none", 0, 10)
		f.same("receipts of an absent record", none, []port.Receipt{})
		return err
	})
	f.want("a version twice", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
		r, receipt := history("crm", "1", 2)
		return w.PutRecord(f.ctx, p, r, receipt)
	}), fault.Conflict)
	r, receipt := history("crm", "1", 9)
	receipt.Version = 8
	if err := f.s.UpdateDocuments(f.ctx,
		func(w port.DocumentWriter) error { return w.PutRecord(f.ctx, p, r, receipt) }); err == nil {
		t.Error("a record was written with the receipt of another version")
	}
	// A record outlives its memory.
	f.delete(p, at(5), "mem_crm1")
	f.view(func(r port.Reader) error {
		got, err := r.Record(f.ctx, p, "crm", "1")
		f.same("of a deleted memory", got, latest["crm/1"])
		return err
	})
	nowhere := port.Memories(f.org, "int_1", "nobody")
	for what, call := range map[string]func(w port.DocumentWriter) error{
		"Record":  func(w port.DocumentWriter) error { _, err := w.Record(f.ctx, nowhere, "crm", "1"); return err },
		"Records": func(w port.DocumentWriter) error { _, err := w.Records(f.ctx, nowhere, "", "", 1); return err },
		"Receipt": func(w port.DocumentWriter) error { _, err := w.Receipt(f.ctx, nowhere, "crm", "1", 0); return err },
		"Receipts": func(w port.DocumentWriter) error {
			_, err := w.Receipts(f.ctx, nowhere, "crm", "1", 0, 1)
			return err
		},
		"MemoriesByContent": func(w port.DocumentWriter) error { _, err := w.MemoriesByContent(f.ctx, nowhere, nil); return err },
		"ErasureTally":      func(w port.DocumentWriter) error { _, err := w.ErasureTally(f.ctx, nowhere); return err },
		"PutRecord": func(w port.DocumentWriter) error {
			r, receipt := history("crm", "1", 1)
			return w.PutRecord(f.ctx, nowhere, r, receipt)
		},
		"SetModels":     func(w port.DocumentWriter) error { return w.SetModels(f.ctx, nowhere, port.PartitionRow{}) },
		"BeginErasure":  func(w port.DocumentWriter) error { _, err := w.BeginErasure(f.ctx, nowhere, at(1)); return err },
		"EraseMemories": func(w port.DocumentWriter) error { _, err := w.EraseMemories(f.ctx, nowhere, 1); return err },
		"EndErasure":    func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, nowhere) },
	} {
		f.want(what+" of an absent end user", f.s.UpdateDocuments(f.ctx, call), fault.PartitionNotFound)
	}
}

// recordRace: writers that read a record and write the next version make one
// history without a gap, each version with its memory, record and receipt.
func recordRace(t *testing.T, f *fixture) {
	p := f.ann()
	const writers, each = 8, 12
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
					version := int64(1)
					switch r, err := w.Record(f.ctx, p, "crm", "1"); {
					case err == nil:
						version = r.Version + 1
					case fault.CodeOf(err) != fault.MemoryNotFound:
						return err
					}
					r, receipt := history("crm", "1", version)
					if err := w.PutRecord(f.ctx, p, r, receipt); err != nil {
						return err
					}
					m := sourced(r.DocumentID, "crm", "1")
					m.Document = describe(m.Document, int(version))
					_, err := w.PutDocuments(f.ctx, p, at(int(version)), []port.DocumentWrite{m})
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	f.view(func(r port.Reader) error {
		record, err := r.Record(f.ctx, p, "crm", "1")
		want, _ := history("crm", "1", writers*each)
		f.same("record", record, want)
		all, err2 := r.Receipts(f.ctx, p, "crm", "1", 0, 1000)
		if len(all) != writers*each {
			t.Errorf("%d receipts, want %d", len(all), writers*each)
		}
		for i, receipt := range all {
			_, want := history("crm", "1", int64(i+1))
			f.same("receipt", receipt, want)
		}
		return errors.Join(err, err2)
	})
	f.same("memory", string(f.documents(p, port.PartMetadata, "mem_crm1")[0].Metadata),
		fmt.Sprintf(`{"id":"mem_crm1","version":%d}`, writers*each))
}

func replays(t *testing.T, f *fixture) {
	p := f.ann()
	f.integration(f.org, "int_2")
	put := func(org ident.Org, r port.IdempotentReply) error {
		return f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.PutIdempotentReply(f.ctx, org, r) })
	}
	get := func(org ident.Org, integration, key string) (r port.IdempotentReply, err error) {
		err = f.s.View(f.ctx, func(tx port.Reader) (err error) {
			r, err = tx.IdempotentReply(f.ctx, org, integration, key)
			return err
		})
		return r, err
	}
	old := port.IdempotentReply{
		Integration: "int_1",
		Key:         "k",
		EndUser:     p.Name(),
		RequestHash: sha256.Sum256([]byte("r")),
		Answer:      json.RawMessage(`{"success":true}`),
		CreatedAt:   at(1),
	}
	young := port.IdempotentReply{
		Integration: "int_1",
		Key:         "k2",
		EndUser:     p.Name(),
		Answer:      json.RawMessage(`{}`),
		CreatedAt:   at(100),
	}
	others := port.IdempotentReply{
		Integration: "int_2",
		Key:         "k",
		EndUser:     p.Name(),
		Answer:      json.RawMessage(`{"x":1}`),
		CreatedAt:   at(100),
	}
	if err := errors.Join(put(f.org, old), put(f.org, young), put(f.org, others)); err != nil {
		t.Fatal(err)
	}
	check := func(want port.IdempotentReply) {
		t.Helper()
		got, err := get(f.org, want.Integration, want.Key)
		if err != nil {
			t.Error(err)
		}
		f.same("replay", got, want)
	}
	check(old)
	check(others)
	f.want("a key in use", put(f.org, port.IdempotentReply{Integration: "int_1", Key: "k", EndUser: "bob", CreatedAt: at(200)}),
		fault.Conflict)
	f.want("absent organization", put("org_none", old), fault.NotFound)
	_, err := get(f.org, "int_1", "none")
	f.want("absent", err, fault.NotFound)
	_, err = get("org_none", "int_1", "k")
	f.want("another organization's", err, fault.NotFound)
	f.update(func(w port.DocumentWriter) error { return w.DeleteIdempotentReplies(f.ctx, at(100)) })
	_, err = get(f.org, "int_1", "k")
	f.want("expired", err, fault.NotFound)
	check(young)
	check(others)
	if err := put(f.org, old); err != nil {
		t.Errorf("the key of an expired one: %v", err)
	}
}

func roster(t *testing.T, f *fixture) {
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: "org_other", Name: "other"})
	})
	f.integration("org_other", "int_1")
	f.endUser(port.Memories("org_other", "int_1", "theirs"))
	f.create("ann") // no end user
	var want []port.EndUser
	for _, name := range []string{"ann", "ann@x.org", "anna", "bob", "B"} {
		for _, integration := range []string{"int_1", "int_2"} {
			if integration == "int_2" && name == "bob" {
				continue
			}
			f.integration(f.org, integration)
			p := f.endUser(port.Memories(f.org, integration, name))
			u := port.EndUser{
				Integration: integration,
				ID:          name,
				Generation:  f.namespace(p).Generation,
				FirstSeen:   at(0),
				LastSeen:    at(0),
			}
			if name != "anna" { // anna has nothing
				for i, container := range []string{"a", "", "b", "a"} {
					w := memory(fmt.Sprint("m", i), container, at(-i))
					f.put(p, at(5), w)
					u.Memories++
					u.Bytes += int64(len(w.Document.Text))
				}
				u.Containers, u.LastSeen = 2, at(5)
			}
			want = append(want, u)
		}
	}
	slices.SortFunc(want, func(a, b port.EndUser) int {
		return strings.Compare(a.ID+"\x00"+a.Integration, b.ID+"\x00"+b.Integration)
	})
	f.update(func(w port.DocumentWriter) error {
		return w.TouchEndUsers(f.ctx, map[int64]time.Time{want[0].Generation: at(50), want[1].Generation: at(2),
			1 << 40: at(50), f.namespace(port.Documents(f.org, "ann")).Generation: at(50)})
	})
	f.update(func(w port.DocumentWriter) error {
		return w.TouchEndUsers(f.ctx, map[int64]time.Time{want[0].Generation: at(40)})
	})
	want[0].LastSeen = at(50)
	f.update(func(w port.DocumentWriter) error {
		_, err := w.BeginErasure(f.ctx, port.Memories(f.org, want[2].Integration, want[2].ID), at(60))
		return errors.Join(err, w.TouchEndUsers(f.ctx, map[int64]time.Time{want[2].Generation: at(99)}))
	})
	want[2].Erasing = at(60)
	for _, integration := range []string{"", "int_1", "int_2", "none"} {
		for _, prefix := range []string{"", "ann", "B", "zz"} {
			for _, limit := range []int{1, 2, 100} {
				var some, got []port.EndUser
				for _, u := range want {
					if (integration == "" || u.Integration == integration) && strings.HasPrefix(u.ID, prefix) {
						some = append(some, u)
					}
				}
				l := port.EndUserList{Integration: integration, Prefix: prefix, Limit: limit}
				for {
					var page []port.EndUser
					f.view(func(r port.Reader) (err error) { page, err = r.EndUsers(f.ctx, f.org, l); return err })
					got = append(got, page...)
					if len(page) < limit || len(got) > len(want) {
						break
					}
					l.AfterID, l.AfterIntegration = page[limit-1].ID, page[limit-1].Integration
				}
				f.same(fmt.Sprintf("integration %q prefix %q limit %d", integration, prefix, limit), got, some)
			}
		}
	}
}

func erasure(t *testing.T, f *fixture) {
	p := f.ann()
	bob := f.endUser(port.Memories(f.org, "int_1", "bob"))
	f.put(bob, at(1), memory("m", "box", at(1)))
	f.putRecord(bob, "crm", "1", 1)
	first := f.namespace(p).Generation
	var want port.Erased
	for i := range 23 {
		w := memory(fmt.Sprintf("m%02d", i), "box", at(i))
		chunks := 1
		switch i {
		case 3: // of three chunks, dense and sparse
			w = document("m03", 1, 3)
			w.Vectors.Sparse = port.Sparse{Rows: []uint32{0, 1, 1, 2}, Terms: []uint32{1, 2}, Weights: []float32{1, 1}}
			chunks = 6
		case 4: // without vectors
			w.Vectors = port.Vectors{}
			chunks = 0
		}
		f.put(p, at(i), w)
		want.Memories++
		want.Vectors += int64(chunks)
	}
	f.delete(p, at(30), "m00", "m01")
	want.Memories, want.Vectors = want.Memories-2, want.Vectors-2
	for i := range 5 {
		for version := range int64(4) {
			f.putRecord(p, "crm", fmt.Sprint(i), version+1)
			want.Receipts++
		}
		want.Records++
		f.update(func(w port.DocumentWriter) error {
			return errors.Join(
				w.PutIdempotentReply(f.ctx, f.org, port.IdempotentReply{
					Integration: "int_1",
					Key:         fmt.Sprint("ann", i),
					EndUser:     "ann",
					CreatedAt:   at(1),
				}),
				w.PutIdempotentReply(f.ctx, f.org, port.IdempotentReply{
					Integration: "int_1",
					Key:         fmt.Sprint("bob", i),
					EndUser:     "bob",
					CreatedAt:   at(1),
				}))
		})
		want.Replays++
	}
	docs := f.create("docs")
	for what, call := range map[string]func(w port.DocumentWriter) error{
		"EraseMemories": func(w port.DocumentWriter) error { _, err := w.EraseMemories(f.ctx, p, 1); return err },
		"EndErasure":    func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, p) },
		"BeginErasure of documents": func(w port.DocumentWriter) error {
			_, err := w.BeginErasure(f.ctx, docs, at(1))
			return err
		},
	} {
		if err := f.s.UpdateDocuments(f.ctx, call); err == nil {
			t.Errorf("%s, which must not be: no error", what)
		}
	}

	var pinned port.Partition
	f.update(func(w port.DocumentWriter) (err error) { pinned, err = w.BeginErasure(f.ctx, p, at(40)); return err })
	if pinned != p.At(first) {
		t.Errorf("begun on %s, want %s", pinned, p.At(first))
	}
	f.update(func(w port.DocumentWriter) (err error) {
		pinned, err = w.BeginErasure(f.ctx, pinned, at(50))
		return err
	})
	if n := f.namespace(p); !n.Erasing.Equal(at(40)) {
		t.Errorf("erasing since %v, want the first time", n.Erasing)
	}
	r, receipt := history("crm", "9", 1)
	blocked := func() {
		t.Helper()
		for what, call := range map[string]func(w port.DocumentWriter) error{
			"PutDocuments": func(w port.DocumentWriter) error {
				_, err := w.PutDocuments(f.ctx, p, at(60), []port.DocumentWrite{memory("new", "", at(1))})
				return err
			},
			"DeleteDocuments": func(w port.DocumentWriter) error {
				_, _, _, err := w.DeleteDocuments(f.ctx, p, at(60), []string{"m05"})
				return err
			},
			"TrimChanges": func(w port.DocumentWriter) error { return w.TrimChanges(f.ctx, pinned, 9) },
			"PutRecord":   func(w port.DocumentWriter) error { return w.PutRecord(f.ctx, p, r, receipt) },
			"PutContextLinks": func(w port.DocumentWriter) error {
				return w.PutContextLinks(f.ctx, p, []port.ContextLink{{ID: "m05"}})
			},
			"SetModels": func(w port.DocumentWriter) error { return w.SetModels(f.ctx, p, port.PartitionRow{}) },
			"PutIdempotentReply": func(w port.DocumentWriter) error {
				return w.PutIdempotentReply(f.ctx, f.org,
					port.IdempotentReply{Integration: "int_1", Key: "late", EndUser: "ann", CreatedAt: at(60)})
			},
			"CreatePartition": func(w port.DocumentWriter) error {
				_, err := w.CreatePartition(f.ctx, p, port.PartitionRow{})
				return err
			},
			"DeletePartition": func(w port.DocumentWriter) error { _, err := w.DeletePartition(f.ctx, p); return err },
		} {
			err := f.s.UpdateDocuments(f.ctx, call)
			f.want(what+" during an erasure", err, fault.Unavailable)
			if e := fault.From(err); e != nil && e.RetryAfter <= 0 {
				t.Errorf("%s: no RetryAfter", what)
			}
		}
	}
	blocked()
	tally := func() (e port.Erased) {
		t.Helper()
		f.view(func(r port.Reader) (err error) { e, err = r.ErasureTally(f.ctx, pinned); return err })
		return e
	}
	f.same("tally at first", tally(), port.Erased{})
	held := f.namespace(p)
	steps := 0
	for more := true; more; steps++ {
		// A step that is rolled back has removed and counted nothing.
		undo := errors.New("undo")
		before := tally()
		if err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
			if _, err := w.EraseMemories(f.ctx, pinned, 4); err != nil {
				return err
			}
			return undo
		}); err != undo {
			t.Fatal(err)
		}
		f.same("tally after a rollback", tally(), before)
		f.update(func(w port.DocumentWriter) (err error) { more, err = w.EraseMemories(f.ctx, pinned, 4); return err })
		now := tally()
		if got := f.namespace(p).Documents; got != held.Documents-now.Memories {
			t.Errorf("%d memories left after %d of %d were removed", got, now.Memories, held.Documents)
		}
		if now != want {
			if err := f.s.UpdateDocuments(f.ctx,
				func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, pinned) }); err == nil {
				t.Fatalf("ended with %+v of %+v removed", now, want)
			}
		}
		blocked()
		f.view(func(r port.Reader) error {
			all, err := r.Erasing(f.ctx)
			f.same("under way", fmt.Sprint(all), fmt.Sprint([]port.Partition{pinned}))
			return err
		})
		if steps > 100 {
			t.Fatal("the erasure does not end")
		}
	}
	f.same("tally", tally(), want)
	if n := f.namespace(p); n.Documents != 0 || n.Chunks != 0 || n.Bytes != 0 {
		t.Errorf("emptied: %+v", n)
	}
	f.same("changes", f.changes(p, 0, 100), []port.Change{})
	f.integration(f.org, "int_2")
	f.update(func(w port.DocumentWriter) error {
		var errs []error
		for i, k := range []port.Key{
			{ID: "ann", Kind: ident.Personal, Integration: "int_1", EndUser: "ann"},
			{ID: "bob", Kind: ident.Personal, Integration: "int_1", EndUser: "bob"},
			{ID: "another ann", Kind: ident.Personal, Integration: "int_2", EndUser: "ann"},
			{ID: "app", Kind: ident.Integration, Integration: "int_1"},
			{ID: "eve", Kind: ident.Personal, Integration: "int_2", EndUser: "eve"},
		} {
			k.Org, k.Hash, k.CreatedAt = f.org, [32]byte{9, byte(i)}, at(i)
			errs = append(errs, w.PutKey(f.ctx, k))
		}
		return errors.Join(errs...)
	})
	keys := func() (ids []string) {
		f.view(func(r port.Reader) error {
			all, err := r.Keys(f.ctx, f.org, port.KeyList{})
			for _, k := range all {
				if k.Hash[0] == 9 {
					ids = append(ids, k.ID)
				}
			}
			return err
		})
		return ids
	}
	f.update(func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, pinned) })
	f.same("keys that are left", keys(), []string{"bob", "another ann", "app", "eve"})
	f.update(func(w port.DocumentWriter) error { // who has saved nothing
		return w.ErasePersonalKeys(f.ctx, port.Memories(f.org, "int_2", "eve"))
	})
	f.same("keys that are left", keys(), []string{"bob", "another ann", "app"})
	for what, nobody := range map[string]port.Partition{
		"documents": port.Documents(f.org, "ann"),
		"nobody":    port.Memories(f.org, "int_1", ""),
	} {
		if err := f.s.Update(f.ctx, func(w port.Writer) error { return w.ErasePersonalKeys(f.ctx, nobody) }); err == nil {
			t.Errorf("keys of %s were erased", what)
		}
	}
	f.want("ended", f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Partition(f.ctx, p); return err }),
		fault.PartitionNotFound)
	f.want("ended twice", f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error { return w.EndErasure(f.ctx, pinned) }),
		fault.PartitionNotFound)
	f.view(func(r port.Reader) error {
		all, err := r.Erasing(f.ctx)
		if len(all) != 0 {
			t.Errorf("still under way: %v", all)
		}
		_, absent := r.IdempotentReply(f.ctx, f.org, "int_1", "ann0")
		f.want("an answer", absent, fault.NotFound)
		_, err2 := r.IdempotentReply(f.ctx, f.org, "int_1", "bob0")
		_, err3 := r.Record(f.ctx, bob, "crm", "1")
		return errors.Join(err, err2, err3)
	})
	f.same("another end user's", docIDs(f.documents(bob, 0, "m")), []string{"m"})

	// The name is free for a new end user, who has nothing of the first one's.
	f.endUser(p)
	if n := f.namespace(p); n.Generation == first || n.Documents != 0 || n.Seq != 0 || !n.Erasing.IsZero() {
		t.Errorf("new life: %+v", n)
	}
	f.put(p, at(70), memory("m05", "box", at(70)))
	f.putRecord(p, "crm", "0", 1)
	f.want("the first life", f.s.View(f.ctx, func(r port.Reader) error { _, err := r.Partition(f.ctx, pinned); return err }),
		fault.PartitionNotFound)
	f.view(func(r port.Reader) error {
		all, err := r.Receipts(f.ctx, p, "crm", "0", 0, 10)
		if len(all) != 1 {
			t.Errorf("receipts of the new life: %v", all)
		}
		return err
	})
	// An end user without memories is erased too, with their records.
	f.delete(bob, at(80), "m")
	f.update(func(w port.DocumentWriter) error {
		p, err := w.BeginErasure(f.ctx, bob, at(81))
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			more, err = w.EraseMemories(f.ctx, p, 100)
		}
		e, err2 := w.ErasureTally(f.ctx, p)
		f.same("tally within one transaction", e, port.Erased{Records: 1, Receipts: 1, Replays: 5})
		return errors.Join(err, err2, w.EndErasure(f.ctx, p))
	})
}

// erasureRace: writers go on saving for an end user who is erased over and over.
// Each save lands whole in a life that a later erasure counts, or is refused.
func erasureRace(t *testing.T, f *fixture) {
	p := f.ann()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var saved, refused atomic.Int64
	for g := range 4 {
		wg.Go(func() {
			for n := int64(1); ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				err := f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
					if _, err := w.Partition(f.ctx, p); fault.IsPartitionNotFound(err) {
						if _, err := w.CreatePartition(f.ctx, p, port.PartitionRow{Dimensions: dim}); err != nil {
							return err
						}
					} else if err != nil {
						return err
					}
					id := fmt.Sprintf("w%d-%d", g, n)
					if _, err := w.PutDocuments(f.ctx, p, at(1), []port.DocumentWrite{sourced(id, "crm", id)}); err != nil {
						return err
					}
					r, receipt := history("crm", id, 1)
					return errors.Join(w.PutRecord(f.ctx, p, r, receipt),
						w.PutIdempotentReply(f.ctx, f.org,
							port.IdempotentReply{Integration: "int_1", Key: id, EndUser: "ann", CreatedAt: at(1)}))
				})
				switch fault.CodeOf(err) {
				case "":
					saved.Add(1)
				case fault.Unavailable:
					refused.Add(1)
				default:
					t.Error(err)
					return
				}
			}
		})
	}
	var total port.Erased
	erase := func() {
		pinned := p
		err := f.s.UpdateDocuments(f.ctx,
			func(w port.DocumentWriter) (err error) { pinned, err = w.BeginErasure(f.ctx, p, at(1)); return err })
		if fault.IsPartitionNotFound(err) {
			return
		}
		for more := true; more && err == nil; {
			err = f.s.UpdateDocuments(f.ctx,
				func(w port.DocumentWriter) (err error) { more, err = w.EraseMemories(f.ctx, pinned, 10); return err })
		}
		if err == nil {
			err = f.s.UpdateDocuments(f.ctx, func(w port.DocumentWriter) error {
				e, err := w.ErasureTally(f.ctx, pinned)
				if err != nil {
					return err
				}
				if err := w.EndErasure(f.ctx, pinned); err != nil {
					return err
				}
				total.Memories += e.Memories
				total.Records += e.Records
				total.Receipts += e.Receipts
				total.Replays += e.Replays
				return nil
			})
		}
		if err != nil {
			t.Error(err)
		}
	}
	for n := 0; n < 15 || saved.Load() == 0 && !t.Failed(); n++ {
		erase()
		time.Sleep(3 * time.Millisecond)
	}
	close(stop)
	wg.Wait()
	erase()
	n := saved.Load()
	f.same("erased in all", total, port.Erased{Memories: n, Records: n, Receipts: n, Replays: n})
	if n == 0 {
		t.Error("nothing was saved")
	}
	t.Logf("%d saved, %d refused", n, refused.Load())
}
