package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// pendingVectors are a memory's re-encoded vectors that await their commit, with the
// hashes of what they were made from.
type pendingVectors struct {
	ID                     string
	TextHash, MetadataHash [32]byte
	Container              string
	CreatedAt              time.Time
	Chunks                 []port.Chunk
	Vectors                port.Vectors

	Preceding     string // "": none
	PrecedingHash [32]byte
	Own           []float32 // the vector without the preceding turn
}

func (m *pendingVectors) matches(h *port.DocumentHead) bool {
	return h.TextHash == m.TextHash && h.MetadataHash == m.MetadataHash && h.Container == m.Container &&
		h.CreatedAt.Equal(m.CreatedAt)
}

// CheckReindex implements reindex.Rebuilder.
func (s *Service) CheckReindex(
	ctx context.Context, p port.Partition, in reindex.Request,
) (memories int, needed bool, err error) {
	ns, stale, err := s.stale(ctx, p)
	return int(ns.Documents), stale || in.Force, err
}

func (s *Service) stale(ctx context.Context, p port.Partition) (ns port.PartitionRow, stale bool, err error) {
	err = s.store.View(ctx, func(r snapshot) (err error) {
		ns, err = s.holding(ctx, r, p)
		return err
	})
	if err != nil {
		return ns, false, err
	}
	if err := s.encoders.Configured().Ready(ns.Sparse); err != nil {
		return ns, false, err
	}
	return ns, s.encoders.Stale(ns), nil
}

// holding reads an end user who has memories and is not being erased.
func (s *Service) holding(ctx context.Context, r reader, p port.Partition) (port.PartitionRow, error) {
	ns, exists, err := s.readForWrite(ctx, r, p)
	switch {
	case err != nil:
		return ns, err
	case !exists || ns.Documents == 0:
		return ns, fault.New(fault.NotFound, "end user %s has no memories", p.Name())
	}
	return ns, nil
}

// Reindex implements reindex.Rebuilder: it recomputes the vectors of all memories of an end user with the configured
// models, those of turns in their present context, and stores them in one
// transaction: an end user has few enough. Until it commits nothing changes, and
// where the previous models are loaded searches and writes go on with them. An
// erasure that begins in between ends it.
//
// Faults: NotFound without memories, Unavailable while a model is off or the end
// user is erased, Conflict when memories keep being written, and the
// model's own.
func (s *Service) Reindex(ctx context.Context, p port.Partition, run reindex.Run) (reindex.Result, error) {
	leave := s.work.enter(p) // an erasure waits until these vectors are dropped
	defer leave()
	for try := 1; ; try++ {
		out, err := s.tryReindex(ctx, p, run)
		if fault.IsPartitionNotFound(err) {
			err = fault.New(fault.NotFound, "end user %s has no memories", p.Name())
		}
		if !errors.Is(err, ingest.ErrMoved) {
			return out, err
		}
		if try == reindex.Tries {
			return reindex.Result{}, fault.New(fault.Conflict,
				"memories of end user %s were written during each of %d tries; reindex them when writes pause", p.Name(), try)
		}
	}
}

func (s *Service) tryReindex(ctx context.Context, p port.Partition, run reindex.Run) (out reindex.Result, err error) {
	ns, needed, err := s.stale(ctx, p)
	if err != nil {
		return reindex.Result{}, err
	}
	if !needed && !run.Force {
		return reindex.Result{Unchanged: true}, nil
	}
	p = p.At(ns.Generation)
	made, err := reindex.NewSpool[pendingVectors]()
	if err != nil {
		return reindex.Result{}, err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if err := s.reencodeAll(ctx, p, ns, made, run.Progress); err != nil {
		return reindex.Result{}, err
	}
	var toRelink []string
	err = s.changes.Write(ctx, ingest.CauseReencoding, func(tx *ingest.Tx) (err error) {
		tx.RebuildIndexes(p)
		if out, toRelink, err = s.replaceAll(ctx, tx, p, ns, made); err != nil {
			return err
		}
		return run.Finish(ctx, tx, out)
	})
	if errors.As(err, new(ingest.NotSearchable)) { // the next search brings the index along
		s.log.WarnContext(ctx, "reindexed memories not searchable yet", "partition", p.String(), "error", err)
		err = nil
	}
	if err != nil {
		return reindex.Result{}, err
	}
	s.relink(ctx, p, toRelink)
	return out, nil
}

// reencodeAll encodes every memory, with the turn before it where it has one.
func (s *Service) reencodeAll(ctx context.Context, p port.Partition, ns port.PartitionRow,
	made *reindex.Spool[pendingVectors], progress func(done, total int)) error {
	list := port.DocumentList{Order: port.ByID, Limit: reindex.Page, Parts: port.PartText | port.PartMetadata}
	total := int(ns.Documents)
	progress(0, total)
	for {
		var page []port.DocumentHead
		var beside []port.Neighbors
		err := s.store.View(ctx, func(r snapshot) (err error) {
			if _, err := s.holding(ctx, r, p); err != nil {
				return err
			}
			if page, err = r.ListDocuments(ctx, p, list); err != nil {
				return err
			}
			places := make([]port.Position, len(page))
			for i, d := range page {
				places[i] = port.Position{Container: d.Container, CreatedAt: d.CreatedAt, ID: d.ID}
			}
			beside, err = r.Neighbors(ctx, p, places)
			return err
		})
		if err != nil {
			return err
		}
		for at := 0; at < len(page); {
			var batch []*pendingMemory
			from, bytes := at, 0
			for at < len(page) && (at == from || bytes+len(page[at].Text) <= reindex.Batch) {
				d := &page[at]
				n := &pendingMemory{text: text{content: d.Text}, id: d.ID, created: d.CreatedAt}
				if before := beside[at].Before; isTurn(d.Text, d.Metadata) && isPrecedingTurn(before, d.CreatedAt) {
					n.preceding = &precedingTurn{id: before.ID, text: before.Text}
				}
				batch, bytes = append(batch, n), bytes+len(d.Text)
				at++
			}
			if err := s.encode(port.OnAccountOf(ctx, p), s.encoders.Configured(), ns.Sparse, batch); err != nil {
				return err
			}
			for i, n := range batch {
				d := &page[from+i]
				m := pendingVectors{
					ID:           d.ID,
					TextHash:     d.TextHash,
					MetadataHash: d.MetadataHash,
					Container:    d.Container,
					CreatedAt:    d.CreatedAt,
					Chunks:       n.encoded.Chunks,
					Vectors:      n.encoded.Vectors,
				}
				if n.preceding != nil {
					m.Preceding, m.PrecedingHash, m.Own = n.preceding.id, sha256.Sum256([]byte(n.preceding.text)), n.own
				}
				if err := made.Put(m); err != nil {
					return err
				}
			}
			progress(min(made.Len(), total), total)
		}
		if len(page) < list.Limit {
			return nil
		}
		list.AfterID = page[len(page)-1].ID
	}
}

// replaceAll gives every memory its new vectors and every turn its link. It answers
// ingest.ErrMoved, for another try, when a memory was written or changed since they
// were made. toRelink are the turns whose preceding one was deleted, which get the
// vector of their own text.
func (s *Service) replaceAll(ctx context.Context, tx *ingest.Tx, p port.Partition, seen port.PartitionRow,
	made *reindex.Spool[pendingVectors]) (out reindex.Result, toRelink []string, err error) {
	ns, err := s.holding(ctx, tx, p)
	if err != nil {
		return out, nil, err
	}
	if ns.Sparse != seen.Sparse {
		return out, nil, ingest.ErrMoved
	}
	if err := tx.SetModels(ctx, p, s.withConfiguredModels(ns)); err != nil {
		return out, nil, err
	}
	err = made.Parts(func(m pendingVectors) int { return len(m.Chunks) }, func(part []pendingVectors) error {
		var ids, precedingIDs []string
		for i := range part {
			ids = append(ids, part[i].ID)
			if part[i].Preceding != "" {
				precedingIDs = append(precedingIDs, part[i].Preceding)
			}
		}
		heads, err := tx.Documents(ctx, p, ids, port.PartText|port.PartMetadata) // in the order of ids
		if err != nil {
			return err
		}
		found, err := tx.Documents(ctx, p, precedingIDs, 0)
		if err != nil {
			return err
		}
		said := make(map[string][32]byte, len(found))
		for _, l := range found {
			said[l.ID] = l.TextHash
		}
		writes, links, next := make([]port.DocumentWrite, 0, len(heads)), make([]port.ContextLink, 0, len(heads)), 0
		for i := range heads {
			h := &heads[i]
			for part[next].ID != h.ID {
				next++ // deleted since
			}
			m := &part[next]
			if !m.matches(h) {
				return ingest.ErrMoved
			}
			link := port.ContextLink{ID: h.ID}
			switch hash, there := said[m.Preceding]; {
			case m.Preceding == "":
			case !there:
				m.Vectors.Dense.Data = m.Own
				toRelink = append(toRelink, h.ID)
			case hash != m.PrecedingHash:
				return ingest.ErrMoved
			default:
				link.Context, link.Own = m.Preceding, m.Own
			}
			h.Chunks = m.Chunks
			writes, links = append(writes, port.DocumentWrite{Document: h.Document, Vectors: m.Vectors}), append(links, link)
			out.Chunks += len(h.Chunks)
		}
		if len(writes) > 0 {
			out.Documents += len(writes)
			if err := tx.Reencode(ctx, p, writes); err != nil {
				return err
			}
			if err := tx.PutContextLinks(ctx, p, links); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err == nil && int64(out.Documents) != ns.Documents {
		err = ingest.ErrMoved // one was written in between
	}
	return out, toRelink, err
}
