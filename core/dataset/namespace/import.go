package namespace

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mnemehq/mneme/core/dataset"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// checkPolicy refuses to change an existing document where the policy forbids it.
func checkPolicy(p dataset.Policy, there port.DocumentHead) *fault.Error {
	switch {
	case p == dataset.Skip:
		return nil
	case there.SourceID != "":
		return fault.New(fault.Conflict,
			"document %q is kept by source %s and cannot be replaced; on_conflict=skip leaves it as it is",
			there.ID, there.SourceID)
	case p == dataset.Replace:
		return nil
	}
	return fault.New(fault.Conflict, "document %q is there already with other contents; "+
		"choose what to keep with on_conflict=skip (what is there) or replace (what is imported)", there.ID)
}

// Imported says what an import did. Counts are of documents, where not said
// otherwise.
type Imported struct {
	Documents int64 // in the data set
	Created   int64
	Replaced  int64
	Unchanged int64 // there already with the same contents
	Skipped   int64 // there already with other contents, which stayed
	Chunks    int64 // of what was stored
	Embedded  int64 // stored with vectors computed here; the others brought theirs
	Sparse    bool
	Set       string // id of the data set
	Hash      dataset.Digest
}

// Bounds of what is stored at once. A transaction takes about as much.
const (
	batchRows   = 100
	batchBytes  = 4 << 20
	encodeBytes = 128 << 10 // of text encoded at once
)

// How says how a data set is imported.
type How struct {
	Policy dataset.Policy
	// Embedder is the embedding model of its own that a namespace gets which the import creates; "": as the
	// data set has it. Fault Conflict where there is one with another.
	Embedder string
}

// Import stores a data set of one namespace, of whatever name, in a partition. It
// returns once everything is durable and searchable. Faults: InvalidRequest,
// InvalidID, InvalidMetadata and PayloadTooLarge of a data set that is not whole,
// damaged, or against the rules; Conflict by policy, and where the namespace's
// vectors are of other models than are configured; Unavailable; those of a model.
// Where documents were stored before, the message says how many.
func (s *Service) Import(ctx context.Context, p port.Partition, how How, body io.Reader) (out Imported, err error) {
	if how.Embedder, err = s.encoders.Choices().Named(embeddingModel, how.Embedder); err != nil {
		return out, err
	}
	waiting, cancel := context.WithTimeoutCause(ctx, maxWait, busy())
	defer cancel()
	end, err := s.importing.take(waiting, p.Org())
	if err != nil {
		return out, err
	}
	defer end()
	set, err := s.receive(ctx, p, how, body)
	if err != nil {
		return out, err
	}
	defer func() {
		if closed := set.spooled.close(); err == nil {
			err = closed
		}
	}()
	out.Documents, out.Set, out.Hash = set.end.Counts.Documents, set.header.ID, set.end.Hash
	leave, err := take(ctx, s.imports) // not before: how long a client takes to send must not keep others waiting
	if err != nil {
		return out, err
	}
	defer leave()
	in := importer{s: s, p: p, policy: how.Policy, row: set.row, out: &out}
	if err := in.run(ctx, set.spooled.reader()); err != nil {
		return out, withProgress(err, p, out)
	}
	return out, nil
}

// withProgress adds the number of stored documents to an error.
func withProgress(err error, p port.Partition, out Imported) error {
	f := *fault.From(err)
	if f.Code == fault.Canceled {
		return err
	}
	f.Err = err
	if stored := out.Created + out.Replaced; stored == 0 {
		f.Message += "; nothing was imported"
	} else {
		f.Message += fmt.Sprintf("; %d of %d documents are stored in namespace %q, and the same import goes on from there",
			stored, out.Documents, p.Name())
	}
	return &f
}

// importer stores a data set that was received and checked.
type importer struct {
	s      *Service
	p      port.Partition
	policy dataset.Policy
	row    dataset.Namespace
	out    *Imported
	batch  []port.DocumentWrite
	bytes  int
}

// run stores the data set that r has compressed.
func (in *importer) run(ctx context.Context, r io.Reader) error {
	plain, err := gzip.NewReader(r)
	if err != nil {
		return fmt.Errorf("read what was kept of a data set: %w", err)
	}
	scan := dataset.NewScan(plain)
	for {
		l, err := scan.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read what was kept of a data set: %w", err)
		}
		if l.Kind != dataset.KindDocument {
			continue
		}
		var d dataset.Document
		if err := l.Decode(&d); err != nil {
			return err
		}
		w, updated, err := d.Write()
		if err != nil {
			return err
		}
		m, err := filter.ParseMetadata("metadata", d.Metadata)
		if err != nil {
			return err
		}
		if updated.IsZero() {
			updated = in.s.now().UTC().Truncate(time.Millisecond)
		}
		w.Document.Metadata, w.Document.UpdatedAt = m.JSON(), updated
		if len(in.batch) == batchRows || in.bytes+len(l.Data) > batchBytes && len(in.batch) > 0 {
			if err := in.flush(ctx); err != nil {
				return err
			}
		}
		in.batch, in.bytes = append(in.batch, w), in.bytes+len(l.Data)
	}
	return in.flush(ctx) // an empty data set makes an empty namespace
}

// flush stores the batch.
func (in *importer) flush(ctx context.Context) error {
	done, err := ingest.Retry(ctx, func() (Imported, error) { return in.tryFlush(ctx) })
	in.out.Created += done.Created
	in.out.Replaced += done.Replaced
	in.out.Chunks += done.Chunks
	in.out.Embedded += done.Embedded
	if err != nil {
		return err
	}
	in.out.Unchanged += done.Unchanged
	in.out.Skipped += done.Skipped
	in.out.Sparse = done.Sparse
	clear(in.batch)
	in.batch, in.bytes = in.batch[:0], 0
	return nil
}

const embeddingModel = "embedding_model" // the parameter that names one

// target reads the namespace that the data set goes to, as it is or as it will be
// created: fault InvalidRequest where that takes an embedder which there is not.
func (s *Service) target(ctx context.Context, r dataset.Reader, p port.Partition,
	row dataset.Namespace) (n port.PartitionRow, exists bool, err error) {
	n, err = r.Partition(ctx, p)
	switch {
	case fault.IsPartitionNotFound(err):
		embedder, err := s.encoders.Choices().Named(embeddingModel, row.Embedder)
		return s.withCurrentModels(port.PartitionRow{
			Name:      p.Name(),
			Sparse:    row.Sparse,
			Language:  port.SaidLanguage(row.Language),
			Embedder:  embedder,
			CreatedAt: row.Created,
			UpdatedAt: row.Updated,
		}), false, err
	case err != nil:
		return n, true, err
	}
	return n, true, s.encoders.Check(n)
}

// withCurrentModels is a namespace without documents, with the configured models and
// its own times.
func (s *Service) withCurrentModels(n port.PartitionRow) port.PartitionRow {
	out := s.withConfiguredModels(n)
	if !n.CreatedAt.IsZero() {
		out.CreatedAt, out.UpdatedAt = n.CreatedAt, n.UpdatedAt
	}
	return out
}

// reusable reports whether the vectors of a data set are those that a namespace's
// models would make.
func reusable(row dataset.Namespace, n port.PartitionRow) bool {
	m := row.Models
	return m != nil && n.EmbeddingDigest != "" && m.EmbeddingDigest == n.EmbeddingDigest &&
		m.Dimensions == n.Dimensions && m.Chunker == n.Chunker &&
		(!n.Sparse || n.SparseDigest != "" && m.SparseDigest == n.SparseDigest)
}

// hasAllVectors reports whether a document has all the vectors that a namespace needs.
func hasAllVectors(w *port.DocumentWrite, n port.PartitionRow) bool {
	if len(w.Document.Chunks) == 0 {
		return w.Document.Text == ""
	}
	return w.Vectors.Dense.Data != nil && (!n.Sparse || w.Vectors.Sparse.Rows != nil)
}

// decision says what an import does with a document.
type decision int

const (
	create decision = iota
	replace
	unchanged
	skip
)

// decide decides about the batch.
func (in *importer) decide(ctx context.Context, r dataset.Reader, p port.Partition) ([]decision, error) {
	out := make([]decision, len(in.batch)) // create
	ids, at := make([]string, len(in.batch)), make(map[string]int, len(in.batch))
	for i := range in.batch {
		ids[i] = in.batch[i].Document.ID
		at[ids[i]] = i
	}
	there, err := r.Documents(ctx, p, ids, 0)
	if err != nil {
		return nil, err
	}
	for _, h := range there {
		i := at[h.ID]
		d := &in.batch[i].Document
		switch {
		case h.TextHash == d.TextHash && h.MetadataHash == d.MetadataHash:
			out[i] = unchanged
			continue
		case in.policy == dataset.Skip:
			out[i] = skip
			continue
		}
		if err := checkPolicy(in.policy, h); err != nil {
			return nil, err
		}
		out[i] = replace
	}
	return out, nil
}

// tryFlush stores the batch in one transaction and applies it to the indexes.
func (in *importer) tryFlush(ctx context.Context) (done Imported, err error) {
	s := in.s
	var n port.PartitionRow
	var planned []decision
	err = s.store.View(ctx, func(r dataset.Reader) error {
		var exists bool
		if n, exists, err = s.target(ctx, r, in.p, in.row); err != nil {
			return err
		}
		if n.Documents == 0 {
			n = s.withCurrentModels(n)
		}
		if !exists {
			planned = make([]decision, len(in.batch))
			return nil
		}
		planned, err = in.decide(ctx, r, in.p)
		return err
	})
	if err != nil {
		return done, err
	}
	fresh, err := in.encode(ctx, n, planned)
	if err != nil {
		return done, err
	}
	var wrote Imported
	err = s.changes.Write(ctx, ingest.CauseImport, func(w *ingest.Tx) error {
		wrote = Imported{Sparse: n.Sparse}
		now, exists, err := s.target(ctx, w, in.p, in.row)
		if err != nil {
			return err
		}
		if today := s.withCurrentModels(now); exists && now.Documents == 0 && today != now {
			// Created empty under other models, or while they were off.
			if err := w.DropEmpty(ctx, in.p); err != nil {
				return err
			}
			exists, now = false, today
		}
		switch {
		case !sameSettings(now, n):
			return ingest.ErrMoved
		case now.PausedUntil.After(s.now()):
			return ingest.ErrPaused
		}
		if !exists {
			if now, err = w.CreatePartition(ctx, in.p, now); err != nil {
				return err
			}
		}
		pinned := in.p.At(now.Generation)
		fates, err := in.decide(ctx, w, pinned)
		if err != nil {
			return err
		}
		var writes []port.DocumentWrite
		for i, f := range fates {
			switch f {
			case unchanged:
				wrote.Unchanged++
				continue
			case skip:
				wrote.Skipped++
				continue
			case create:
				wrote.Created++
			case replace:
				wrote.Replaced++
			}
			if planned[i] == unchanged || planned[i] == skip {
				return ingest.ErrMoved // rewritten or deleted in between: it needs its vectors after all
			}
			d := in.batch[i]
			if e, ok := fresh[i]; ok {
				d.Document.Chunks, d.Vectors = e.Chunks, e.Vectors
				wrote.Embedded++
			} else if !n.Sparse {
				d.Vectors.Sparse = port.Sparse{}
			}
			wrote.Chunks += int64(len(d.Document.Chunks))
			writes = append(writes, d)
		}
		return w.Put(ctx, pinned, time.Time{}, writes) // each keeps the time of its last update
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		wrote = Imported{}
	}
	return wrote, err
}

// sameSettings reports whether what was prepared for one namespace can be stored in another.
func sameSettings(a, b port.PartitionRow) bool {
	return a.Sparse == b.Sparse && a.EmbeddingDigest == b.EmbeddingDigest && a.SparseDigest == b.SparseDigest &&
		a.Chunker == b.Chunker
}

// encode computes the vectors of the documents to store that did not bring those of
// the namespace's models, by position in the batch.
func (in *importer) encode(ctx context.Context, n port.PartitionRow, fates []decision) (map[int]ingest.Encoded, error) {
	fresh := map[int]ingest.Encoded{}
	take, models := reusable(in.row, n), in.s.encoders.For(n)
	var places []int
	var docs []chunk.Document
	bytes := 0
	encode := func() error {
		if len(docs) == 0 {
			return nil
		}
		made, err := models.Encode(port.OnAccountOf(ctx, in.p), docs, n.Sparse, make([]ingest.Reuse, len(docs)))
		if err != nil {
			return err
		}
		for k, i := range places {
			fresh[i] = made[k]
		}
		places, docs, bytes = places[:0], docs[:0], 0
		return nil
	}
	for i := range in.batch {
		d := &in.batch[i]
		if fates[i] == unchanged || fates[i] == skip || take && hasAllVectors(d, n) {
			continue
		}
		if bytes+len(d.Document.Text) > encodeBytes {
			if err := encode(); err != nil {
				return nil, err
			}
		}
		places, bytes = append(places, i), bytes+len(d.Document.Text)
		docs = append(docs, chunk.Document{Text: d.Document.Text, Title: filter.TitleOf(d.Document.Metadata)})
	}
	return fresh, encode()
}
