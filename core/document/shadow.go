package document

import (
	"context"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// CheckReindex implements reindex.Rebuilder.
func (s *Service) CheckReindex(
	ctx context.Context, p port.Partition, in reindex.Request,
) (documents int, needed bool, err error) {
	err = s.store.View(ctx, func(r reader) error {
		ns, shadow, in, err := s.checkReindexable(ctx, r, p, in)
		documents = int(ns.Documents)
		needed = in.Force || in.Back || s.encoders.Stale(ns) || in.LanguageOf(ns) != ns.Language ||
			in.EmbedderOf(ns) != ns.Embedder || shadow != nil && shadow.State == port.Building
		return err
	})
	return documents, needed, err
}

// checkReindexable reads a namespace and its shadow, nil if there is none, and refuses a
// reindexing that is impossible. settled is the request with the embedder's own name, and, where it
// names none, with what a shadow was begun with that it goes on with.
func (s *Service) checkReindexable(ctx context.Context, r reader, p port.Partition, in reindex.Request) (
	ns port.PartitionRow, shadow *port.PartitionRow, settled reindex.Request, err error) {
	if ns, err = readNonEmpty(ctx, r, p); err != nil {
		return ns, nil, in, err
	}
	row, err := r.Partition(ctx, p.Shadow())
	switch {
	case err == nil:
		shadow = &row
	case !fault.IsPartitionNotFound(err):
		return ns, nil, in, err
	}
	if in.Back {
		if shadow == nil || shadow.State != port.Retained {
			return ns, nil, in, fault.New(fault.Conflict, "nothing is kept of namespace %q to go back to", p.Name())
		}
		return ns, shadow, in, s.encoders.Check(*shadow)
	}
	if in.EmbeddingModel != nil {
		own, err := s.encoders.Choices().Named("embedding_model", *in.EmbeddingModel)
		if err != nil {
			return ns, nil, in, err
		}
		in.EmbeddingModel = &own
	}
	if shadow != nil && shadow.State == port.Building {
		if in.EmbeddingModel == nil {
			in.EmbeddingModel = &shadow.Embedder
		}
		if in.Language == "" {
			in.Language = port.ShownLanguage(shadow.Language)
		}
	}
	due, err := s.encoders.Due(port.PartitionRow{Name: ns.Name, Embedder: in.EmbedderOf(ns)})
	if err == nil {
		err = due.Ready(ns.Sparse)
	}
	return ns, shadow, in, err
}

// Reindex recomputes the chunks and vectors of all documents of a namespace with the
// configured models, or the embedder that is or was chosen for it, in a shadow: a hidden second generation with its own indexes.
// Writes are copied to it until none is missing, both generations are compared by
// the same queries, and then one small transaction swaps them. Queries and writes go
// on throughout, with the previous models where these are loaded (Encoders). Texts,
// metadata and times stay. The replaced generation is kept for Back, unless its model
// is not loaded, until Discard or the next reindexing. An interrupted reindexing
// loses nothing: the next one goes on with its shadow.
//
// A namespace whose vectors are of the configured models is left alone unless
// Force is set.
//
// Faults: NamespaceNotFound without documents or when the namespace is deleted
// in between, Unavailable while a model is off, Conflict when there is nothing to go
// back to or its model is not loaded, and the model's own.
func (s *Service) Reindex(ctx context.Context, p port.Partition, run reindex.Run) (reindex.Result, error) {
	p = p.At(0)
	b, err := s.beginShadow(ctx, p, run)
	if err != nil {
		return reindex.Result{}, err
	}
	if b == nil {
		return reindex.Result{Unchanged: true}, nil
	}
	if err := b.fill(ctx); err != nil {
		return reindex.Result{}, err
	}
	out := reindex.Result{Documents: int(b.of.Documents), Chunks: int(b.of.Chunks)}
	if out.Comparison, err = b.compare(ctx, run.Queries); err != nil {
		return reindex.Result{}, err
	}
	short := out.Comparison != nil && out.Comparison.Overlap < run.MinOverlap
	if out.Held = run.Hold || short; out.Held {
		return out, nil
	}
	return out, b.swap(ctx, out)
}

var _ reindex.GenerationRebuilder = (*Service)(nil)

// Discard removes the shadow of a namespace, whether it is kept to go back to or held.
// discarded is false when there is none.
func (s *Service) Discard(ctx context.Context, p port.Partition) (discarded bool, err error) {
	p = p.At(0)
	var gone port.Partition
	err = s.store.Update(ctx, func(w writer) error {
		discarded = false
		if _, err := readNonEmpty(ctx, w, p); err != nil {
			return err
		}
		shadow, err := w.Partition(ctx, p.Shadow())
		if fault.IsPartitionNotFound(err) {
			return nil
		}
		if err == nil {
			gone = p.At(shadow.Generation)
			discarded, err = w.DeletePartition(ctx, p.Shadow())
		}
		return err
	})
	if err == nil && discarded {
		s.projector.Drop(context.WithoutCancel(ctx), gone)
	}
	return discarded, err
}

// shadow is a second generation of a namespace that is catching up with the served
// one. It never holds a document that the other lacks: the store deletes from both at
// once.
type shadow struct {
	*Service
	live, own port.Partition    // pinned
	models    *ingest.Encoder   // of the shadow
	of        port.PartitionRow // the shadow's row, as it was read last
	upto      uint64            // change of the live generation up to which everything is copied
	sample    sample
	run       reindex.Run
}

// beginShadow finds the shadow to fill, or makes it; nil: there is nothing to do.
func (s *Service) beginShadow(ctx context.Context, p port.Partition, run reindex.Run) (*shadow, error) {
	b := &shadow{Service: s, run: run}
	var given port.Partition // up
	err := s.store.Update(ctx, func(w writer) error {
		b.own, given = port.Partition{}, port.Partition{}
		ns, had, in, err := s.checkReindexable(ctx, w, p, run.Request)
		if err != nil {
			return err
		}
		b.live = p.At(ns.Generation)
		goOn := had != nil && had.State == port.Building
		language, embedder := in.LanguageOf(ns), in.EmbedderOf(ns)
		if !in.Back && !in.Force && !goOn && !s.encoders.Stale(ns) && language == ns.Language && embedder == ns.Embedder {
			return nil
		}
		want := s.withConfiguredModels(port.PartitionRow{Name: ns.Name, Sparse: ns.Sparse, Language: language,
			Embedder: embedder})
		want.CreatedAt, want.UpdatedAt = ns.CreatedAt, ns.UpdatedAt
		switch {
		case in.Back, goOn && (!in.Force || run.Resumed) && sameSettings(*had, want):
			b.of = *had
		default:
			if had != nil {
				given = p.At(had.Generation)
				if _, err := w.DeletePartition(ctx, p.Shadow()); err != nil {
					return err
				}
			}
			if b.of, err = w.CreatePartition(ctx, p.Shadow(), want); err != nil {
				return err
			}
		}
		b.own = p.At(b.of.Generation)
		b.models = s.encoders.Of(b.of)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if given.Generation() != 0 {
		s.projector.Drop(context.WithoutCancel(ctx), given)
	}
	if b.own.Generation() == 0 {
		return nil, nil
	}
	return b, nil
}

func sameSettings(a, b port.PartitionRow) bool {
	return a.Embedder == b.Embedder && a.EmbeddingDigest == b.EmbeddingDigest && a.SparseDigest == b.SparseDigest &&
		a.Sparse == b.Sparse && a.Dimensions == b.Dimensions && a.Chunker == b.Chunker && a.Language == b.Language
}

// fill copies every document, then the writes since, until only those of the last
// moment are missing.
func (b *shadow) fill(ctx context.Context) error {
	if err := b.copyDifferences(ctx); err != nil {
		return err
	}
	for range catchUps {
		behind, err := b.catchUp(ctx)
		if err != nil {
			return err
		}
		if behind <= reindex.Page {
			break
		}
	}
	return b.catchUpIndexes(ctx)
}

// catchUps bounds the runs before the comparison: where writes come as fast as they
// are copied, only the pause before the swap ends it.
const catchUps = 50

// copyDifferences compares every document with the shadow's and copies those that differ.
func (b *shadow) copyDifferences(ctx context.Context) error {
	ns, err := b.row(ctx, b.live)
	if err != nil {
		return err
	}
	total, done := int(ns.Documents), 0
	b.run.Progress(0, total)
	list := port.DocumentList{Order: port.ByID, Limit: reindex.Page}
	for {
		var heads []port.DocumentHead
		err := b.store.View(ctx, func(r reader) (err error) {
			heads, err = r.ListDocuments(ctx, b.live, list)
			return err
		})
		if err != nil {
			return err
		}
		ids := make([]string, len(heads))
		for i, h := range heads {
			ids[i] = h.ID
			b.sample.add(h.ID)
		}
		if err := b.copyDocuments(ctx, ids); err != nil {
			return err
		}
		done += len(ids)
		b.run.Progress(min(done, total), total)
		if len(ids) < list.Limit {
			b.upto = ns.Seq
			return nil
		}
		list.AfterID = ids[len(ids)-1]
	}
}

// row reads what the store has of a generation.
func (b *shadow) row(ctx context.Context, p port.Partition) (ns port.PartitionRow, err error) {
	err = b.store.View(ctx, func(r reader) error {
		ns, err = r.Partition(ctx, p)
		return err
	})
	return ns, err
}

// catchUp copies the documents written since the last time and returns how many they
// were.
func (b *shadow) catchUp(ctx context.Context) (behind int, err error) {
	ns, err := b.row(ctx, b.live)
	for err == nil && b.upto < ns.Seq {
		var changes []port.Change
		err = b.store.View(ctx, func(r reader) (err error) {
			changes, err = r.Changes(ctx, b.live, b.upto, reindex.Page)
			return err
		})
		if err != nil {
			return behind, err
		}
		to := ns.Seq
		if len(changes) >= reindex.Page {
			to = changes[len(changes)-1].Seq
		}
		ids := make([]string, len(changes))
		for i, c := range changes {
			ids[i] = c.Document
		}
		for page := range slices.Chunk(ids, reindex.Page) {
			if err := b.copyDocuments(ctx, page); err != nil {
				return behind, err
			}
		}
		behind += len(changes)
		b.upto = max(to, b.upto)
	}
	return behind, err
}

// moved is a document on its way into the shadow.
type moved struct {
	head    port.DocumentHead // of the live generation, with text and metadata
	keeps   bool              // the chunks that the shadow has of it
	encoded ingest.Encoded
}

// sameChunks reports whether two documents, with their metadata, are cut the same.
func sameChunks(a, b port.DocumentHead) bool {
	return a.TextHash == b.TextHash &&
		(a.MetadataHash == b.MetadataHash || filter.TitleOf(a.Metadata) == filter.TitleOf(b.Metadata))
}

// copyDocuments makes documents of the shadow equal to those of the live generation.
// Deleted ones are in neither.
func (b *shadow) copyDocuments(ctx context.Context, ids []string) error {
	var todo []moved
	err := b.store.View(ctx, func(r reader) error {
		todo = nil
		heads, err := r.Documents(ctx, b.live, ids, 0)
		if err != nil {
			return err
		}
		have, err := byID(ctx, r, b.own, ids, 0)
		if err != nil {
			return err
		}
		var differ []string
		for _, h := range heads {
			if d, ok := have[h.ID]; !ok || !sameDocument(d, h) {
				differ = append(differ, h.ID)
			}
		}
		if have, err = byID(ctx, r, b.own, differ, port.PartMetadata); err != nil {
			return err
		}
		whole, err := r.Documents(ctx, b.live, differ, port.PartText|port.PartMetadata)
		for _, h := range whole {
			d, ok := have[h.ID]
			todo = append(todo, moved{head: h, keeps: ok && sameChunks(d, h)})
		}
		return err
	})
	if err != nil {
		return err
	}
	for len(todo) > 0 {
		n, bytes := 0, 0
		for n < len(todo) && (n == 0 || bytes+len(todo[n].head.Text) <= reindex.Batch) {
			bytes += len(todo[n].head.Text)
			n++
		}
		if err := b.encode(ctx, todo[:n]); err != nil {
			return err
		}
		if err := b.put(ctx, todo[:n]); err != nil {
			return err
		}
		todo = todo[n:]
	}
	return nil
}

func byID(ctx context.Context, r reader, p port.Partition, ids []string,
	parts port.Part) (map[string]port.DocumentHead, error) {
	heads, err := r.Documents(ctx, p, ids, parts)
	out := make(map[string]port.DocumentHead, len(heads))
	for _, h := range heads {
		out[h.ID] = h
	}
	return out, err
}

// sameDocument compares all that a reindexing keeps.
func sameDocument(a, b port.DocumentHead) bool {
	return a.TextHash == b.TextHash && a.MetadataHash == b.MetadataHash && a.UpdatedAt.Equal(b.UpdatedAt) &&
		a.CreatedAt.Equal(b.CreatedAt) &&
		a.SourceID == b.SourceID && a.Origin == b.Origin
}

func (b *shadow) encode(ctx context.Context, batch []moved) error {
	var docs []chunk.Document
	var at []int
	for i := range batch {
		if h := &batch[i].head; !batch[i].keeps {
			docs, at = append(docs, chunk.Document{Text: h.Text, Title: filter.TitleOf(h.Metadata)}), append(at, i)
		}
	}
	encoded, err := b.models.Encode(port.OnAccountOf(ctx, b.own), docs, b.of.Sparse, make([]ingest.Reuse, len(docs)))
	for i := range encoded {
		batch[at[i]].encoded = encoded[i]
	}
	return err
}

// put writes a batch to the shadow and its indexes. What was rewritten or
// deleted since it was read is left for the next time.
func (b *shadow) put(ctx context.Context, batch []moved) error {
	return b.changes.Write(ctx, ingest.CauseShadow, func(w *ingest.Tx) error {
		ids := make([]string, len(batch))
		for i := range batch {
			ids[i] = batch[i].head.ID
		}
		now, err := byID(ctx, w, b.live, ids, 0)
		if err != nil {
			return err
		}
		have, err := byID(ctx, w, b.own, ids, port.PartChunks|port.PartMetadata)
		if err != nil {
			return err
		}
		var writes []port.DocumentWrite
		for i := range batch {
			m := &batch[i]
			d, ok := have[m.head.ID]
			if l, there := now[m.head.ID]; !there || !sameDocument(l, m.head) ||
				m.keeps && (!ok || !sameChunks(d, m.head)) {
				continue
			}
			doc := m.head.Document
			if doc.Chunks = m.encoded.Chunks; m.keeps {
				doc.Chunks = d.Chunks
			}
			writes = append(writes, port.DocumentWrite{Document: doc, Vectors: m.encoded.Vectors, MetadataOnly: m.keeps})
		}
		return w.Put(ctx, b.own.Shadow(), time.Time{}, writes)
	})
}

// catchUpIndexes brings the shadow's indexes up to date and reads its row.
func (b *shadow) catchUpIndexes(ctx context.Context) (err error) {
	if b.of, err = b.row(ctx, b.own); err != nil {
		return err
	}
	return b.projector.Ensure(ctx, b.own, b.of.Seq)
}

const (
	freely    = 3               // attempts to swap while writes go on
	paused    = 20              // attempts while they wait
	pauseFor  = 5 * time.Second // at most; it ends with the swap
	pauseStep = 5 * time.Millisecond
)

// swap makes the shadow the served generation once it has every write. Where writes
// come too fast for that, they wait while it does.
func (b *shadow) swap(ctx context.Context, result reindex.Result) error {
	for try := 0; ; try++ {
		if _, err := b.catchUp(ctx); err != nil {
			return err
		}
		if err := b.catchUpIndexes(ctx); err != nil {
			return err
		}
		swapped, drop := false, false
		err := b.store.Update(ctx, func(w writer) error {
			swapped, drop = false, false
			ns, err := w.Partition(ctx, b.live)
			if err != nil {
				return err
			}
			ready, err := b.caughtUp(ctx, w, ns)
			if err != nil {
				return err
			}
			if !ready {
				if try < freely {
					return nil
				}
				return w.PausePartition(ctx, b.live, b.now().Add(pauseFor))
			}
			if err := w.SwapPartition(ctx, b.live); err != nil {
				return err
			}
			swapped = true
			if drop = b.encoders.Check(ns) != nil; drop { // going back to it would be impossible
				if _, err := w.DeletePartition(ctx, b.live.At(0).Shadow()); err != nil {
					return err
				}
			}
			return b.run.Finish(ctx, w, result)
		})
		if err != nil {
			return err
		}
		if drop {
			b.projector.Drop(context.WithoutCancel(ctx), b.live)
		}
		if swapped {
			return nil
		}
		if try == freely+paused {
			return fault.New(fault.Conflict,
				"documents of namespace %q were written during each of %d attempts to swap; what was made is kept, so "+
					"reindex it again when writes pause", b.live.Name(), try)
		}
		if err := ingest.Sleep(ctx, pauseStep); err != nil {
			return err
		}
	}
}

// caughtUp reports whether the shadow has every write. Deletions are made in both.
func (b *shadow) caughtUp(ctx context.Context, r reader, live port.PartitionRow) (bool, error) {
	for after := b.upto; after < live.Seq; {
		changes, err := r.Changes(ctx, b.live, after, reindex.Page)
		if err != nil {
			return false, err
		}
		for _, c := range changes {
			if !c.Deleted {
				return false, nil
			}
		}
		if len(changes) < reindex.Page {
			break
		}
		after = changes[len(changes)-1].Seq
	}
	own, err := r.Partition(ctx, b.own)
	return own.Documents == live.Documents, err
}
