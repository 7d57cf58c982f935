package document

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// WriteDocuments is the body of POST /namespaces/{namespace}/documents.
type WriteDocuments struct {
	Namespace    string  `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace; it is made when there is none"`
	Prefer       string  `header:"Prefer" json:"-" example:"respond-async" doc:"respond-async answers 202 with an operation; searchable=soon does not wait for a remote index"`
	Documents    []Input `json:"documents" maxDecoded:"1000" minItems:"1" maxItems:"100" doc:"documents to write, each id once"`
	ExpectSparse *bool   `json:"expect_sparse,omitempty" doc:"409 when the namespace has another index than this says"`
	Origin       string  `json:"-"` // how the documents come in, as port.Origin.Kind; "": api

	// Obsolete are documents to delete in the same transaction, of callers within the process;
	// those that do not exist, or that another source keeps than Source, are passed over.
	Obsolete []string `json:"-"`

	// Source is the source that writes what it keeps; "": nobody's, and what a source keeps is
	// refused.
	Source string `json:"-"`
}

// Input is one document to write.
type Input struct {
	ID       string          `json:"id" schema:"DocumentID" label:"true"`
	Text     *string         `json:"text" schema:"Text" maxBytes:"262144" doc:"at most 262144 bytes of UTF-8"`
	Metadata json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"for filters; comes back with hits"`

	metadata filter.Metadata
}

// Validate refuses an id that is given twice, and parses metadata.
func (in *WriteDocuments) Validate() error {
	seen := make(map[string]int, len(in.Documents))
	for i := range in.Documents {
		d, at := &in.Documents[i], fmt.Sprintf("documents[%d]", i)
		if j, ok := seen[d.ID]; ok {
			return fault.Field(fault.InvalidID, at+".id", "%q duplicates documents[%d]", d.ID, j)
		}
		seen[d.ID] = i
		m, err := filter.ParseMetadata(at+" (id "+d.ID+").metadata", d.Metadata)
		if err != nil {
			return err
		}
		d.metadata = m
	}
	return nil
}

// NamespaceName is for keys limited to one namespace.
func (in *WriteDocuments) NamespaceName() string { return in.Namespace }

// Written answers a synchronous write.
type Written struct {
	Namespace string `json:"namespace" schema:"NamespaceName"`
	Sparse    bool   `json:"sparse" doc:"whether the namespace has a learned-sparse index"`
	Written   int    `json:"written" minimum:"0" doc:"documents created or changed"`
	Unchanged int    `json:"unchanged" minimum:"0" doc:"documents that were stored already, as they are"`
	Chunks    int    `json:"chunks" minimum:"0" doc:"chunks of all documents of the call"`
	// Searchable is nil in the result of an operation, which is stored before an index has it.
	Searchable *bool             `json:"searchable,omitempty" doc:"whether every index has the documents; false: one takes them in the background; not in an operation's result"`
	Documents  []WrittenDocument `json:"documents" doc:"one for each document, in the order of the call"`
}

// WrittenDocument is the outcome of one document.
type WrittenDocument struct {
	ID        string    `json:"id" schema:"DocumentID"`
	Created   bool      `json:"created" doc:"the id was new"`
	Unchanged bool      `json:"unchanged" doc:"the same was stored already"`
	Chunks    int       `json:"chunks" minimum:"0"`
	UpdatedAt time.Time `json:"updated_at"`
}

// WriteResult is what the write answers: Written, or an Operation with 202.
type WriteResult struct {
	*Written
	*Operation
	location string
	soon     bool // was asked for, and done
}

// StatusCode is 202 for an accepted operation.
func (w WriteResult) StatusCode() int {
	if w.Operation != nil {
		return 202
	}
	return 200
}

// Headers names the operation's place, and the preference that was followed.
func (w WriteResult) Headers() map[string]string {
	switch {
	case w.Operation != nil:
		return map[string]string{"Location": w.location, "Preference-Applied": respondAsync}
	case w.soon:
		return map[string]string{"Preference-Applied": searchableSoon}
	}
	return nil
}

// The preferences (RFC 7240) of a write.
const (
	respondAsync   = "respond-async"   // answer before the work is done
	searchableSoon = "searchable=soon" // answer before an index to which each batch costs much has taken it
)

// Write stores up to 100 documents in one transaction and answers once they
// are durable and, unless the caller prefers otherwise, searchable. Text that is
// unchanged, under an unchanged title, is not embedded again.
func (s *Service) Write(ctx context.Context, in WriteDocuments) (WriteResult, error) {
	return s.WriteNoted(ctx, in, nil)
}

// Note is what a caller within the process keeps of a write, in the transaction that stores or
// accepts it: operation is the id of an accepted one, "" of a stored one. It may run several
// times; its error rolls everything back.
type Note func(w port.VectorStoreWriter, operation string) error

// WriteNoted is Write with a note; nil: none.
func (s *Service) WriteNoted(ctx context.Context, in WriteDocuments, note Note) (WriteResult, error) {
	if prefers(in.Prefer, respondAsync) {
		return s.accept(ctx, in, note)
	}
	soon := prefers(in.Prefer, searchableSoon)
	t := task{}
	if note != nil {
		t.hook = func(w *ingest.Tx, _ Written) error { return note(w, "") }
	}
	if soon {
		t.until = ingest.Stored
	}
	w, err := s.write(ctx, in, t)
	if err != nil {
		return WriteResult{}, err
	}
	return WriteResult{Written: &w, soon: soon && !*w.Searchable}, nil
}

// prefers reports whether a header names a preference. Its value may be quoted, and parameters
// may follow.
func prefers(header, preference string) bool {
	for p := range strings.SplitSeq(header, ",") {
		p, _, _ = strings.Cut(p, ";")
		name, value, _ := strings.Cut(p, "=")
		p = strings.TrimSpace(name)
		if value = strings.Trim(strings.TrimSpace(value), `"`); value != "" {
			p += "=" + value
		}
		if strings.EqualFold(p, preference) {
			return true
		}
	}
	return false
}

// task is what a write is to do beside its work; the zero task nothing.
type task struct {
	until    ingest.Until
	progress func(ingest.Progress)                 // of the documents' texts
	hook     func(w *ingest.Tx, out Written) error // in the transaction; it may run several times
	within   Within                                // the same, of a source; nil: none
}

func (s *Service) write(ctx context.Context, in WriteDocuments, t task) (Written, error) {
	return ingest.Retry(ctx, func() (Written, error) { return s.tryWrite(ctx, in, t) })
}

// plan is the state of one document before the transaction.
type plan struct {
	in       *Input
	textHash [32]byte
	metaHash [32]byte
	keeps    bool // its chunks, as they were stored when it was read
	encoded  ingest.Encoded
}

// of is the document that it writes, as it is cut.
func (p *plan) of() chunk.Document {
	return chunk.Document{Text: *p.in.Text, Title: p.in.metadata.Title()}
}

// sameChunks reports whether a stored document is cut as the one that is written.
func (p *plan) sameChunks(h port.DocumentHead) bool {
	return h.TextHash == p.textHash && (h.MetadataHash == p.metaHash || filter.TitleOf(h.Metadata) == p.in.metadata.Title())
}

func (s *Service) tryWrite(ctx context.Context, in WriteDocuments, t task) (Written, error) {
	who := ident.From(ctx)
	p := port.Documents(who.Org, in.Namespace)
	plans := make([]plan, len(in.Documents))
	ids := make([]string, len(in.Documents))
	for i := range in.Documents {
		d := &in.Documents[i]
		plans[i] = plan{in: d, textHash: sha256.Sum256([]byte(*d.Text)), metaHash: d.metadata.Hash()}
		ids[i] = d.ID
	}
	var ns port.PartitionRow
	var exists bool
	reuse := make([]ingest.Reuse, 0, len(plans))
	var docs []chunk.Document
	var encode []int
	err := s.store.View(ctx, func(r reader) (err error) {
		ns, exists, err = s.readForWrite(ctx, r, p, in.ExpectSparse)
		if err != nil {
			return err
		}
		stored := map[string]port.DocumentHead{}
		if exists {
			heads, err := r.Documents(ctx, p, ids, port.PartChunks|port.PartMetadata)
			if err != nil {
				return err
			}
			for _, h := range heads {
				stored[h.ID] = h
			}
		}
		var changed []string
		reusable := 0 // chunks; above a bound, vectors are computed again rather than held in memory
		for i := range plans {
			pl := &plans[i]
			h, ok := stored[pl.in.ID]
			pl.keeps = ok && pl.sameChunks(h)
			if ok {
				if err := mayWrite(ctx, r, who.Org, h, in.Source); err != nil {
					return err
				}
			}
			if !pl.keeps {
				encode = append(encode, i)
				docs = append(docs, pl.of())
				if ok && h.ChunkCount > 0 && reusable+h.ChunkCount <= ingest.MaxChunks {
					reusable += h.ChunkCount
					changed = append(changed, h.ID)
				}
			}
		}
		vectors := map[string]port.Vectors{}
		if len(changed) > 0 {
			if vectors, err = r.Vectors(ctx, p, changed); err != nil {
				return err
			}
		}
		for _, i := range encode {
			id := plans[i].in.ID
			reuse = append(reuse, ingest.NewReuse(stored[id].Chunks, vectors[id]))
			if _, ok := vectors[id]; !ok {
				reuse[len(reuse)-1] = ingest.Reuse{}
			}
		}
		return nil
	})
	if err != nil {
		return Written{}, err
	}
	models := s.encoders.For(ns)
	if err := models.Ready(ns.Sparse); err != nil {
		return Written{}, err
	}
	if len(encode) > 0 {
		var progress func(ingest.Progress)
		if t.progress != nil {
			unchanged := len(plans) - len(docs)
			progress = func(p ingest.Progress) {
				p.Texts += unchanged
				t.progress(p)
			}
		}
		encoded, err := s.attempts.Encode(port.OnAccountOf(ctx, p), who.Org, models, docs, ns.Sparse, reuse, progress)
		if err != nil {
			return Written{}, ofDocument(err, plans, encode)
		}
		for k, i := range encode {
			plans[i].encoded = encoded[k]
		}
		out, err := s.commit(ctx, p, models, ns.Sparse, in, plans, t)
		if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
			s.attempts.Keep(who.Org, models, ns.Sparse, encoded)
		}
		return out, err
	}
	return s.commit(ctx, p, models, ns.Sparse, in, plans, t)
}

// ofDocument names the document whose text made a model fail, where that is known.
func ofDocument(err error, plans []plan, encoded []int) error {
	var at *port.TextError
	if !errors.As(err, &at) || at.Text < 0 || at.Text >= len(encoded) {
		return err
	}
	i, f := encoded[at.Text], fault.From(err)
	reason, ok := f.Details["reason"].(string)
	if !ok {
		reason = f.Message
	}
	out := fault.Field(f.Code, fmt.Sprintf("documents[%d] (id %s).text", i, plans[i].in.ID), "%s", reason)
	out.Op, out.Err, out.RetryAfter = f.Op, err, f.RetryAfter
	return out
}

// mayWrite answers fault Conflict for a document that another source keeps than the one
// that writes. What was left of a source that is gone is everybody's.
func mayWrite(ctx context.Context, r port.SourceReader, org ident.Org, h port.DocumentHead, source string) error {
	if h.SourceID == "" || h.SourceID == source {
		return nil
	}
	_, err := r.Source(ctx, org, h.SourceID)
	if fault.CodeOf(err) == fault.SourceNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	return fault.New(fault.Conflict, "document %q is kept by source %s and cannot be written directly", h.ID, h.SourceID)
}

// readForWrite reads the namespace that a write goes to; exists is false when the
// write will create it. It refuses what can be refused before any model work.
func (s *Service) readForWrite(ctx context.Context, r reader, p port.Partition,
	expectSparse *bool) (ns port.PartitionRow, exists bool, err error) {
	ns, err = r.Partition(ctx, p)
	switch {
	case fault.IsPartitionNotFound(err):
		ns = port.PartitionRow{Name: p.Name()}
	case err != nil:
		return ns, false, err
	default:
		exists = true
		if err := s.encoders.Check(ns); err != nil {
			return ns, true, err
		}
	}
	if expectSparse != nil && *expectSparse != ns.Sparse {
		have, want := "no sparse index", "one"
		if ns.Sparse {
			have, want = "a sparse index", "none"
		}
		return ns, exists, fault.New(fault.Conflict, "namespace %q has %s; expect_sparse asks for %s", p.Name(), have, want)
	}
	return ns, exists, nil
}

func (s *Service) commit(ctx context.Context, p port.Partition, models *ingest.Encoder, sparse bool, in WriteDocuments,
	plans []plan, t task) (Written, error) {
	who := ident.From(ctx)
	var out Written
	ids := make([]string, len(plans))
	for i := range plans {
		ids[i] = plans[i].in.ID
	}
	store := func(w *ingest.Tx) error {
		out = Written{Namespace: in.Namespace, Sparse: sparse, Documents: make([]WrittenDocument, len(plans))}
		ns, exists, err := s.readForWrite(ctx, w, p, in.ExpectSparse)
		if err != nil {
			return err
		}
		if ns.Sparse != sparse || !s.encoders.For(ns).SameModels(models) {
			return ingest.ErrMoved // deleted and created again with the other index, or reindexed
		}
		if ns.PausedUntil.After(s.now()) {
			return ingest.ErrPaused
		}
		if exists && ns.Documents == 0 && s.withConfiguredModels(ns) != ns {
			// It was created empty with other models, or while they were off; it
			// gets vectors of the current ones.
			if err := w.DropEmpty(ctx, p); err != nil {
				return err
			}
			exists = false
		}
		if !exists {
			if ns, err = w.CreatePartition(ctx, p,
				s.withConfiguredModels(port.PartitionRow{Name: in.Namespace, Sparse: sparse,
					Language: ns.Language, Embedder: ns.Embedder})); err != nil {
				return err
			}
		}
		pinned := p.At(ns.Generation)
		heads, err := w.Documents(ctx, pinned, ids, port.PartChunks|port.PartMetadata)
		if err != nil {
			return err
		}
		stored := make(map[string]port.DocumentHead, len(heads))
		for _, h := range heads {
			stored[h.ID] = h
		}
		now := s.now().UTC().Truncate(time.Millisecond)
		var writes []port.DocumentWrite
		chunks := 0
		for i := range plans {
			pl := &plans[i]
			h, ok := stored[pl.in.ID]
			if ok {
				if err := mayWrite(ctx, w, who.Org, h, in.Source); err != nil {
					return err
				}
			}
			same := ok && pl.sameChunks(h)
			if pl.keeps && !same {
				return ingest.ErrMoved // it has been rewritten or deleted since and must be embedded
			}
			wd := WrittenDocument{ID: pl.in.ID, Created: !ok, UpdatedAt: now}
			if same {
				wd.Chunks = h.ChunkCount
			} else {
				wd.Chunks = len(pl.encoded.Chunks)
			}
			out.Chunks += wd.Chunks
			if same && h.MetadataHash == pl.metaHash && h.SourceID == in.Source {
				wd.Unchanged, wd.UpdatedAt = true, h.UpdatedAt.UTC()
				out.Unchanged++
				out.Documents[i] = wd
				continue
			}
			if chunks += wd.Chunks; chunks > ingest.MaxChunks {
				return ingest.TooManyChunks()
			}
			out.Written++
			d := port.Document{
				ID:           pl.in.ID,
				Text:         *pl.in.Text,
				Metadata:     pl.in.metadata.JSON(),
				TextHash:     pl.textHash,
				MetadataHash: pl.metaHash,
				Chunks:       pl.encoded.Chunks,
				SourceID:     in.Source,
				Origin:       port.Origin{Kind: cmp.Or(in.Origin, "api"), KeyID: who.KeyID, SourceID: in.Source},
				CreatedAt:    now,
				UpdatedAt:    now,
			}
			if ok {
				d.CreatedAt = h.CreatedAt
				if now.Before(h.UpdatedAt) { // the clock was set back; a document's time must not be
					d.UpdatedAt, wd.UpdatedAt = h.UpdatedAt, h.UpdatedAt.UTC()
				}
			}
			if same {
				d.Chunks = h.Chunks
			}
			writes = append(writes, port.DocumentWrite{Document: d, Vectors: pl.encoded.Vectors, MetadataOnly: same})
			out.Documents[i] = wd
		}
		if err := w.Put(ctx, pinned, now, writes); err != nil {
			return err
		}
		if _, err := deleteKept(ctx, w, pinned, now, in.Source, in.Obsolete); err != nil || t.within == nil {
			return err
		}
		return t.within(w, pinned, out)
	}
	cause := ingest.CauseWrite
	if in.Source != "" {
		cause = ingest.CauseSync
	}
	searchable, err := s.changes.WriteUntil(ctx, t.until, cause, func(w *ingest.Tx) error {
		if err := store(w); err != nil || t.hook == nil {
			return err
		}
		return t.hook(w, out)
	})
	if err != nil {
		return Written{}, err
	}
	out.Searchable = &searchable
	return out, nil
}

// deleteKept deletes those of ids that a source keeps, or, with "", that none does.
func deleteKept(ctx context.Context, w *ingest.Tx, p port.Partition, now time.Time, source string, ids []string) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	heads, err := w.Documents(ctx, p, ids, 0)
	if err != nil {
		return 0, err
	}
	var gone []string
	for _, h := range heads {
		if h.SourceID == source {
			gone = append(gone, h.ID)
		}
	}
	return w.Delete(ctx, p, now, gone)
}

// Preview cuts documents into the chunks that a write into the namespace would make of them.
// Nothing is stored.
func (s *Service) Preview(ctx context.Context, namespace string, docs []chunk.Document) ([][]port.Chunk, error) {
	p := port.Documents(ident.From(ctx).Org, namespace)
	var ns port.PartitionRow
	err := s.store.View(ctx, func(r reader) (err error) {
		ns, _, err = s.readForWrite(ctx, r, p, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.encoders.For(ns).Split(ctx, docs)
}
