package ingest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/dataset"
	datasets "github.com/mnemehq/mneme/core/dataset/namespace"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// outbox is a listener that stores what it hears in the transaction that it hears
// it in, one numbered row a call, so that only what was committed can be read back.
type outbox struct {
	fails error     // of every call
	read  int       // rows taken
	org   ident.Org // of what was heard
}

// row is a row with a text: a job of a kind that nobody runs.
func (o *outbox) row(n int, text string) (port.Job, error) {
	state, err := json.Marshal(text)
	return port.Job{
		ID:        fmt.Sprintf("heard-%d", n),
		Org:       o.org,
		Kind:      "heard",
		Partition: port.Documents(o.org, "heard"),
		Status:    port.JobQueued,
		State:     state,
		CreatedAt: time.Now(),
	}, err
}

func (o *outbox) Changed(ctx context.Context, w ingest.Writer, changes []ingest.DocumentChange) error {
	o.org = changes[0].Partition.Org()
	lines := make([]string, len(changes))
	for i, c := range changes {
		lines[i] = strings.TrimSpace(fmt.Sprintf("%s %s %s in %s", c.Cause, c.Action, c.ID, c.Partition.Name()))
		if c.MetadataOnly {
			lines[i] += ", same text"
		}
		if c.SourceID+c.Source != "" {
			lines[i] += ", of " + c.SourceID + c.Source + " " + c.ExternalID
		}
		if c.KeyID != "" {
			lines[i] += ", by " + c.KeyID
		}
		if c.Job != "" {
			kind, _, _ := strings.Cut(c.Job, "_")
			lines[i] += ", in a " + kind
		}
		if c.At.IsZero() || c.Partition.Generation() == 0 || c.Partition.IsShadow() ||
			(c.Seq == 0) != (c.Action == ingest.Erased) {
			lines[i] += fmt.Sprintf(", incomplete: %+v", c)
		}
	}
	for n := 0; ; n++ {
		row, err := o.row(n, strings.Join(lines, "\n"))
		if err != nil {
			return err
		}
		if _, err = w.Job(ctx, o.org, row.ID); fault.CodeOf(err) == fault.NotFound {
			return errors.Join(w.CreateJob(ctx, row, port.JobRequest{}), o.fails)
		}
		if err != nil {
			return err
		}
	}
}

// take reads what was heard since the last time, a text for each transaction.
func (o *outbox) take(t *testing.T, store port.Store) (heard []string) {
	t.Helper()
	err := store.View(t.Context(), func(r port.Reader) error {
		for heard = nil; ; {
			row, err := o.row(o.read+len(heard), "")
			if err != nil {
				return err
			}
			row, err = r.Job(t.Context(), o.org, row.ID)
			if fault.CodeOf(err) == fault.NotFound {
				return nil
			}
			var text string
			if err := errors.Join(err, json.Unmarshal(row.State, &text)); err != nil {
				return err
			}
			heard = append(heard, text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	o.read += len(heard)
	return heard
}

// heard is a fixture whose changes an outbox hears.
type heard struct {
	*testing.T
	*coretest.Fixture
	outbox *outbox
}

func listen(t *testing.T, o coretest.Options) *heard {
	t.Helper()
	h := &heard{T: t, outbox: &outbox{}}
	o.Listeners = []ingest.Listener{h.outbox}
	h.Fixture = coretest.New(t, o)
	return h
}

// hears fails unless just these transactions were told of since the last time, in
// order.
func (h *heard) hears(what string, want ...string) {
	h.Helper()
	if got := h.outbox.take(h.T, h.Store); !slices.Equal(got, want) {
		h.Errorf("%s: heard\n\t%q, want\n\t%q", what, got, want)
	}
}

func (h *heard) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *heard) documents() *document.Service {
	return services.Documents(h.Fixture)
}

func (h *heard) memories() *memory.Service {
	return services.Memories(h.Fixture, nil)
}

// write writes documents, given as id and text, a text with "|" having metadata
// after it.
func (h *heard) write(ctx context.Context, s *document.Service, docs ...string) {
	h.Helper()
	in := document.WriteDocuments{Namespace: "docs"}
	for i := 0; i < len(docs); i += 2 {
		text, metadata, _ := strings.Cut(docs[i+1], "|")
		in.Documents = append(in.Documents, document.Input{ID: docs[i], Text: &text, Metadata: []byte(metadata)})
	}
	_, err := coretest.Call(ctx, s.Write, in)
	h.must(err)
}

// forced recomputes vectors that are current, and belongs to no job.
var forced = reindex.Run{
	Request:  reindex.Request{Force: true},
	Progress: func(int, int) {},
	Finish:   func(context.Context, job.Writer, reindex.Result) error { return nil },
}

// TestWritersOfDocumentsAreHeard: each change that a caller makes is told once, in
// its transaction; what changes nothing, or is rolled back, is not.
func TestWritersOfDocumentsAreHeard(t *testing.T) {
	h := listen(t, coretest.Options{})
	docs, ctx := h.documents(), h.Caller(key.Issue{})
	by := ", by " + ident.From(ctx).KeyID

	h.write(ctx, docs, "a", "pelican", "b", "heron")
	h.hears("a write", "write created a in docs"+by+"\nwrite created b in docs"+by)
	h.write(ctx, docs, "a", "pelican")
	h.hears("the same again")
	h.write(ident.WithJob(ctx, "job_1"), docs, "a", "pelican two", "b", `heron|{"n":1}`, "c", "crane")
	h.hears("changes in a job", strings.Join([]string{
		"write updated a in docs" + by + ", in a job",
		"write updated b in docs, same text" + by + ", in a job",
		"write created c in docs" + by + ", in a job",
	}, "\n"))

	_, err := coretest.Call(ctx, docs.Delete, document.DeleteDocuments{Namespace: "docs", IDs: &[]string{"a", "nobody"}})
	h.must(err)
	h.hears("a deletion by id", "delete deleted a in docs"+by)
	_, err = coretest.Call(ctx, docs.Delete, document.DeleteDocuments{Namespace: "docs", IDs: &[]string{"nobody"}})
	h.must(err)
	h.hears("a deletion of nothing")
	_, err = coretest.Call(ctx, docs.Delete, document.DeleteDocuments{Namespace: "docs", Filter: []byte(`{"n":1}`)})
	h.must(err)
	h.hears("a deletion by filter", "delete deleted b in docs"+by)

	h.outbox.fails = errors.New("the listener fails")
	text := "never"
	in := document.WriteDocuments{Namespace: "docs", Documents: []document.Input{{ID: "d", Text: &text}}}
	if _, err := coretest.Call(ctx, docs.Write, in); !errors.Is(err, h.outbox.fails) {
		t.Errorf("a write that a listener fails answers %v", err)
	}
	h.outbox.fails = nil
	h.hears("a write that a listener fails")
	_, err = coretest.Call(ctx, docs.Get, document.GetDocument{Namespace: "docs", ID: "d"})
	if fault.CodeOf(err) != fault.DocumentNotFound {
		t.Errorf("of a write that a listener fails is left: %v", err)
	}

	_, err = docs.Reindex(context.Background(), port.Documents(ident.From(ctx).Org, "docs"), forced)
	h.must(err)
	h.hears("a reindexing", "shadow created c in docs")

	_, err = coretest.Call(ctx, docs.Delete, document.DeleteDocuments{Namespace: "docs", IDs: &[]string{"c"}})
	h.must(err)
	h.hears("the deletion of the last one", "delete deleted c in docs"+by)
}

// TestAnImportIsHeard, each batch once, and not what is there already.
func TestAnImportIsHeard(t *testing.T) {
	h := listen(t, coretest.Options{})
	docs, ctx := h.documents(), h.Caller(key.Issue{})
	who := ident.From(ctx)
	by := ", by " + who.KeyID
	h.write(ctx, docs, "a", "pelican", "b", "heron")
	h.outbox.take(t, h.Store)
	s := datasets.New(datasets.Settings{
		Store:                h.Store,
		Changes:              h.Changes,
		Encoders:             h.Encoders,
		WithConfiguredModels: h.Models.WithConfiguredModels,
	})
	export, err := s.Export(ctx, port.Organization{ID: who.Org, Name: who.OrgName}, port.Documents(who.Org, "docs"), true)
	h.must(err)
	var set bytes.Buffer
	h.must(export.Stream(ctx, &set))
	for _, want := range [][]string{{"import created a in copy" + by + "\nimport created b in copy" + by}, nil} {
		_, err = s.Import(ctx, port.Documents(who.Org, "copy"), datasets.How{Policy: dataset.Fail}, bytes.NewReader(set.Bytes()))
		h.must(err)
		h.hears("an import", want...)
	}
	h.write(ctx, docs, "b", "another heron")
	h.outbox.take(t, h.Store)
	set.Reset()
	h.must(export.Stream(ctx, &set))
	_, err = s.Import(ctx, port.Documents(who.Org, "copy"), datasets.How{Policy: dataset.Replace}, bytes.NewReader(set.Bytes()))
	h.must(err)
	h.hears("an import that replaces", "import updated b in copy"+by)
}

// TestWritersOfMemoriesAreHeard: a caller's changes once each, and what they bring
// about in the vectors of memories beside them as derivations.
func TestWritersOfMemoriesAreHeard(t *testing.T) {
	h := listen(t, coretest.Options{})
	s, ctx := h.memories(), h.Integration("app")
	who := ident.From(ctx)
	by := ", by " + who.KeyID
	at := func(minute int) *string {
		text := time.Date(2026, 5, 1, 12, minute, 0, 0, time.UTC).Format(time.RFC3339)
		return &text
	}
	said := func(minute int, content string) memory.BatchItem {
		return memory.BatchItem{Content: &content, OccurredAt: at(minute)}
	}
	saved, err := coretest.Call(ctx, s.Batch, memory.Batch{EndUserID: "ann", Memories: []memory.BatchItem{
		said(0, "Ann: Do you go hiking?"), said(10, "Ben: Yes, in May!"), said(0, "Ann: Do you go hiking?"),
	}})
	h.must(err)
	first, second := saved.Results[0].Memory.ID, saved.Results[1].Memory.ID
	h.hears("a batch", "write created "+first+" in ann"+by+"\nwrite created "+second+" in ann"+by)

	content := "Ann: Or rather climbing?"
	one, err := coretest.Call(ctx, s.Save, memory.Save{EndUserID: "ann", Item: memory.Item{Content: &content, OccurredAt: at(5)}})
	h.must(err)
	between := one.Memory.ID
	h.hears("a save between two turns", "write created "+between+" in ann"+by,
		"reencoding updated "+second+" in ann, same text"+by)

	_, err = coretest.Call(ctx, s.Delete, memory.Delete{EndUserID: "ann", IDs: []string{between}})
	h.must(err)
	h.hears("a deletion of a turn before another",
		"reencoding updated "+second+" in ann, same text"+by+"\ndelete deleted "+between+" in ann"+by,
		"reencoding updated "+second+" in ann, same text"+by)

	upsert := func(version int64, content, metadata string) memory.Applied {
		t.Helper()
		out, err := coretest.Call(ctx, s.Upsert, memory.Upsert{
			ExternalID: "7",
			EndUserID:  "ann",
			Source:     "crm",
			Version:    &version,
			Content:    &content,
			Metadata:   []byte(metadata),
			OccurredAt: at(30),
		})
		h.must(err)
		return out
	}
	of := ", of crm 7" + by
	id := upsert(1, "likes tea", "").Record.DocumentID
	h.hears("a first version", "write created "+id+" in ann"+of)
	upsert(1, "likes tea", "")
	h.hears("the same version again")
	upsert(2, "likes tea", `{"n":1}`)
	h.hears("other metadata", "write updated "+id+" in ann, same text"+of)
	upsert(3, "likes coffee", "")
	h.hears("another content", "write updated "+id+" in ann"+of)
	version := int64(4)
	_, err = coretest.Call(ctx, s.Tombstone,
		memory.Tombstone{ExternalID: "7", EndUserID: "ann", Source: "crm", Version: &version})
	h.must(err)
	h.hears("a tombstone", "delete deleted "+id+" in ann"+of)
	upsert(5, "likes water", "")
	h.hears("a restored one", "write created "+id+" in ann"+of)

	p := port.Memories(who.Org, who.Integration, "ann")
	_, err = s.Reindex(context.Background(), p, forced)
	h.must(err)
	ids := []string{first, second, id}
	slices.Sort(ids)
	for i, id := range ids {
		ids[i] = "reencoding updated " + id + " in ann, same text"
		if i == 2 {
			ids[i] += ", of crm 7"
		}
	}
	h.hears("a reindexing", strings.Join(ids, "\n"))

	_, err = coretest.Call(ctx, s.EraseUser, memory.EraseUser{EndUserID: "ann"})
	h.must(err)
	h.hears("an erasure", "erasure erased  in ann"+by+", in a job")
	_, err = coretest.Call(ctx, s.EraseUser, memory.EraseUser{EndUserID: "ann"})
	h.must(err)
	h.hears("an erasure of nobody")
}
