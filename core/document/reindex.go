package document

import (
	"context"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// spooled is a document's new chunks and vectors between their making and the
// transaction that stores them.
type spooled struct {
	ID       string
	TextHash [32]byte
	Chunks   []port.Chunk
	Vectors  port.Vectors
}

// Reindex makes the chunks and vectors of all documents of a namespace anew
// with the configured models and stores them, with the models' names, in one
// transaction: until it commits, everything is as it was. Then the indexes are
// built anew; it returns when queries find the documents. Texts, metadata and
// times stay. A namespace whose vectors are of the configured models is left
// alone unless force is set. Documents deleted meanwhile stay deleted; progress
// is told the documents encoded and all there are.
//
// Faults: NamespaceNotFound without documents or when the namespace is deleted
// meanwhile, Unavailable while a model is off, Conflict when documents keep
// being written meanwhile (which only happens with force), and the model's own.
func (s *Service) Reindex(ctx context.Context, p port.Partition, force bool, progress func(done, total int)) (ingest.Reindexed, error) {
	for try := 1; ; try++ {
		out, err := s.tryReindex(ctx, p, force, progress)
		if !errors.Is(err, errMoved) {
			return out, err
		}
		if try == ingest.ReindexTries {
			return ingest.Reindexed{}, fault.New(fault.Conflict, "documents of namespace %q were written during each of %d tries; reindex it when writes pause", p.Name(), try)
		}
	}
}

// Stale reads what Reindex would do: the documents there are, and whether their
// vectors are of other models than the configured ones. Its faults are those of
// Reindex that can be known before.
func (s *Service) Stale(ctx context.Context, p port.Partition) (documents int, stale bool, err error) {
	ns, stale, err := s.stale(ctx, p)
	return int(ns.Documents), stale, err
}

func (s *Service) stale(ctx context.Context, p port.Partition) (ns port.Namespace, stale bool, err error) {
	err = s.Store.View(ctx, func(r port.Reader) (err error) {
		ns, err = holding(ctx, r, p)
		return err
	})
	if err != nil {
		return ns, false, err
	}
	if _, err := s.Encoder.Encode(ctx, nil, ns.Sparse, nil); err != nil { // a model is off
		return ns, false, err
	}
	return ns, s.Check(ns) != nil, nil
}

func (s *Service) tryReindex(ctx context.Context, p port.Partition, force bool, progress func(done, total int)) (out ingest.Reindexed, err error) {
	ns, needed, err := s.stale(ctx, p)
	if err != nil {
		return ingest.Reindexed{}, err
	}
	if !needed && !force {
		return ingest.Reindexed{Unchanged: true}, nil
	}
	p = p.At(ns.Generation)
	made, err := ingest.NewSpool[spooled]()
	if err != nil {
		return ingest.Reindexed{}, err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if err := s.encodeAll(ctx, p, ns, made, progress); err != nil {
		return ingest.Reindexed{}, err
	}
	var seq uint64
	err = s.Store.Update(ctx, func(w port.Writer) (err error) {
		out, seq, err = s.replaceAll(ctx, w, p, ns, made)
		return err
	})
	if err != nil {
		return ingest.Reindexed{}, err
	}
	if err := s.Projector.Anew(ctx, p, seq); err != nil {
		return out, err
	}
	return out, nil
}

// encodeAll chunks and encodes every document into made.
func (s *Service) encodeAll(ctx context.Context, p port.Partition, ns port.Namespace, made *ingest.Spool[spooled], progress func(done, total int)) error {
	list := port.DocumentList{Order: port.ByID, Limit: ingest.ReindexPage, Parts: port.PartText}
	total := int(ns.Documents)
	progress(0, total)
	for {
		var page []port.DocumentHead
		err := s.Store.View(ctx, func(r port.Reader) (err error) {
			page, err = r.ListDocuments(ctx, p, list)
			return err
		})
		if err != nil {
			return err
		}
		for rest := page; len(rest) > 0; {
			n, bytes := 0, 0
			var texts []string
			for n < len(rest) && (n == 0 || bytes+len(rest[n].Text) <= ingest.ReindexBatch) {
				bytes += len(rest[n].Text)
				texts = append(texts, rest[n].Text)
				n++
			}
			encoded, err := s.Encoder.Encode(ctx, texts, ns.Sparse, make([]ingest.Reuse, n))
			if err != nil {
				return err
			}
			for i, e := range encoded {
				if err := made.Put(spooled{ID: rest[i].ID, TextHash: rest[i].TextHash, Chunks: e.Chunks, Vectors: e.Vectors}); err != nil {
					return err
				}
			}
			rest = rest[n:]
			progress(min(made.Len(), total), total)
		}
		if len(page) < list.Limit {
			return nil
		}
		list.AfterID = page[len(page)-1].ID
	}
}

// replaceAll gives every document of the namespace its new chunks and vectors.
// It answers errMoved, for another try, when the namespace holds a document that
// was not encoded, or not with the text it has.
func (s *Service) replaceAll(ctx context.Context, w port.Writer, p port.Partition, seen port.Namespace, made *ingest.Spool[spooled]) (out ingest.Reindexed, seq uint64, err error) {
	ns, err := holding(ctx, w, p)
	if err != nil {
		return out, 0, err
	}
	if ns.Sparse != seen.Sparse {
		return out, 0, errMoved
	}
	if err := w.Restamp(ctx, p, s.Stamp(ns)); err != nil {
		return out, 0, err
	}
	// A change number for each part, so that the log can be replayed in parts.
	err = made.Parts(func(d spooled) int { return len(d.Chunks) }, func(part []spooled) error {
		ids := make([]string, len(part))
		for i := range part {
			ids[i] = part[i].ID
		}
		heads, err := w.Documents(ctx, p, ids, port.PartText|port.PartMetadata) // in the order of ids
		if err != nil {
			return err
		}
		writes, next := make([]port.DocumentWrite, 0, len(heads)), 0
		for _, h := range heads {
			for part[next].ID != h.ID {
				next++ // deleted meanwhile
			}
			if h.TextHash != part[next].TextHash {
				return errMoved
			}
			h.Chunks = part[next].Chunks
			writes = append(writes, port.DocumentWrite{Document: h.Document, Vectors: part[next].Vectors})
			out.Chunks += len(h.Chunks)
		}
		if len(writes) > 0 {
			out.Documents += len(writes)
			// Nobody has updated them, so their times stay.
			if seq, err = w.PutDocuments(ctx, p, time.Time{}, writes); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err == nil && int64(out.Documents) != ns.Documents {
		err = errMoved // one was written meanwhile
	}
	return out, seq, err
}
