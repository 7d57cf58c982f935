package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// remade is a memory's new vectors between their making and the transaction that
// stores them, with what they were made from.
type remade struct {
	ID                     string
	TextHash, MetadataHash [32]byte
	Container              string
	CreatedAt              time.Time
	Chunks                 []port.Chunk
	Vectors                port.Vectors

	Lead     string // "": none
	LeadHash [32]byte
	Own      []float32 // the vector without the lead
}

func (m *remade) of(h *port.DocumentHead) bool {
	return h.TextHash == m.TextHash && h.MetadataHash == m.MetadataHash && h.Container == m.Container && h.CreatedAt.Equal(m.CreatedAt)
}

// Look reads what Reindex would do: the memories there are, and whether anything
// is to be done. Its faults are those of Reindex that can be known before.
func (s *Service) Look(ctx context.Context, p port.Partition, in ingest.Reindexing) (memories int, needed bool, err error) {
	ns, stale, err := s.stale(ctx, p)
	return int(ns.Documents), stale || in.Force, err
}

func (s *Service) stale(ctx context.Context, p port.Partition) (ns port.Namespace, stale bool, err error) {
	err = s.Store.View(ctx, func(r port.Reader) (err error) {
		ns, err = s.holding(ctx, r, p)
		return err
	})
	if err != nil {
		return ns, false, err
	}
	if err := s.Encoders.Configured().Ready(ns.Sparse); err != nil {
		return ns, false, err
	}
	return ns, s.Encoders.Stale(ns), nil
}

// holding reads an end user who has memories and is not being erased.
func (s *Service) holding(ctx context.Context, r port.Reader, p port.Partition) (port.Namespace, error) {
	ns, exists, err := s.writable(ctx, r, p)
	switch {
	case err != nil:
		return ns, err
	case !exists || ns.Documents == 0:
		return ns, fault.New(fault.NotFound, "end user %s has no memories", p.Name())
	}
	return ns, nil
}

// Reindex makes the vectors of all memories of an end user anew with the
// configured models, those of turns in the context that they stand in now, and
// stores them in one transaction: an end user has few enough. Until it commits all
// is as it was, and where the models before are loaded searches and writes go on
// with them. An erasure that begins meanwhile ends it.
//
// Faults: NotFound without memories, Unavailable while a model is off or the end
// user is erased, Conflict when memories keep being written meanwhile, and the
// model's own.
func (s *Service) Reindex(ctx context.Context, p port.Partition, in ingest.Reindexing, progress func(done, total int)) (ingest.Reindexed, error) {
	leave := s.work.enter(p) // an erasure waits for the end of what is held here
	defer leave()
	for try := 1; ; try++ {
		out, err := s.tryReindex(ctx, p, in.Force, progress)
		if fault.CodeOf(err) == fault.NamespaceNotFound {
			err = fault.New(fault.NotFound, "end user %s has no memories", p.Name())
		}
		if !errors.Is(err, ingest.ErrMoved) {
			return out, err
		}
		if try == ingest.ReindexTries {
			return ingest.Reindexed{}, fault.New(fault.Conflict, "memories of end user %s were written during each of %d tries; reindex them when writes pause", p.Name(), try)
		}
	}
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
	made, err := ingest.NewSpool[remade]()
	if err != nil {
		return ingest.Reindexed{}, err
	}
	defer func() { err = errors.Join(err, made.Close()) }()
	if err := s.remakeAll(ctx, p, ns, made, progress); err != nil {
		return ingest.Reindexed{}, err
	}
	var seq uint64
	var unled []string
	err = s.Store.Update(ctx, func(tx port.Writer) (err error) {
		out, seq, unled, err = s.replaceAll(ctx, tx, p, ns, made)
		return err
	})
	if err != nil {
		return ingest.Reindexed{}, err
	}
	if err := s.Projector.Anew(ctx, p, seq); err != nil {
		return out, err
	}
	s.settle(ctx, p, unled)
	return out, nil
}

// remakeAll encodes every memory, with the turn before it where it has one.
func (s *Service) remakeAll(ctx context.Context, p port.Partition, ns port.Namespace, made *ingest.Spool[remade], progress func(done, total int)) error {
	list := port.DocumentList{Order: port.ByID, Limit: ingest.ReindexPage, Parts: port.PartText | port.PartMetadata}
	total := int(ns.Documents)
	progress(0, total)
	for {
		var page []port.DocumentHead
		var beside []port.Beside
		err := s.Store.View(ctx, func(r port.Reader) (err error) {
			if _, err := s.holding(ctx, r, p); err != nil {
				return err
			}
			if page, err = r.ListDocuments(ctx, p, list); err != nil {
				return err
			}
			places := make([]port.Place, len(page))
			for i, d := range page {
				places[i] = port.Place{Container: d.Container, CreatedAt: d.CreatedAt, ID: d.ID}
			}
			beside, err = r.Beside(ctx, p, places)
			return err
		})
		if err != nil {
			return err
		}
		for at := 0; at < len(page); {
			var batch []*newcomer
			from, bytes := at, 0
			for at < len(page) && (at == from || bytes+len(page[at].Text) <= ingest.ReindexBatch) {
				d := &page[at]
				n := &newcomer{text: text{content: d.Text}, id: d.ID, created: d.CreatedAt}
				if before := beside[at].Before; speaks(d.Text, d.Metadata) && leads(before, d.CreatedAt) {
					n.lead = &lead{id: before.ID, text: before.Text}
				}
				batch, bytes = append(batch, n), bytes+len(d.Text)
				at++
			}
			if err := s.encode(ctx, s.Encoders.Configured(), ns.Sparse, batch); err != nil {
				return err
			}
			for i, n := range batch {
				d := &page[from+i]
				m := remade{ID: d.ID, TextHash: d.TextHash, MetadataHash: d.MetadataHash, Container: d.Container, CreatedAt: d.CreatedAt,
					Chunks: n.encoded.Chunks, Vectors: n.encoded.Vectors}
				if n.lead != nil {
					m.Lead, m.LeadHash, m.Own = n.lead.id, sha256.Sum256([]byte(n.lead.text)), n.own
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

// replaceAll gives every memory its new vectors and every turn its link. It
// answers ingest.ErrMoved, for another try, when one came to be or changed meanwhile.
// A turn whose lead was deleted stands by its own words; unled are those.
func (s *Service) replaceAll(ctx context.Context, tx port.Writer, p port.Partition, seen port.Namespace, made *ingest.Spool[remade]) (out ingest.Reindexed, seq uint64, unled []string, err error) {
	ns, err := s.holding(ctx, tx, p)
	if err != nil {
		return out, 0, nil, err
	}
	if ns.Sparse != seen.Sparse {
		return out, 0, nil, ingest.ErrMoved
	}
	if err := tx.Restamp(ctx, p, s.Stamp(ns)); err != nil {
		return out, 0, nil, err
	}
	err = made.Parts(func(m remade) int { return len(m.Chunks) }, func(part []remade) error {
		var ids, leadIDs []string
		for i := range part {
			ids = append(ids, part[i].ID)
			if part[i].Lead != "" {
				leadIDs = append(leadIDs, part[i].Lead)
			}
		}
		heads, err := tx.Documents(ctx, p, ids, port.PartText|port.PartMetadata) // in the order of ids
		if err != nil {
			return err
		}
		found, err := tx.Documents(ctx, p, leadIDs, 0)
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
				next++ // deleted meanwhile
			}
			m := &part[next]
			if !m.of(h) {
				return ingest.ErrMoved
			}
			link := port.ContextLink{ID: h.ID}
			switch hash, there := said[m.Lead]; {
			case m.Lead == "":
			case !there:
				m.Vectors.Dense.Data = m.Own
				unled = append(unled, h.ID)
			case hash != m.LeadHash:
				return ingest.ErrMoved
			default:
				link.Context, link.Own = m.Lead, m.Own
			}
			h.Chunks = m.Chunks
			writes, links = append(writes, port.DocumentWrite{Document: h.Document, Vectors: m.Vectors}), append(links, link)
			out.Chunks += len(h.Chunks)
		}
		if len(writes) > 0 {
			out.Documents += len(writes)
			// Nobody has updated them, so their times stay.
			if seq, err = tx.PutDocuments(ctx, p, time.Time{}, writes); err != nil {
				return err
			}
			if err := tx.PutContextLinks(ctx, p, links); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err == nil && int64(out.Documents) != ns.Documents {
		err = ingest.ErrMoved // one was written meanwhile
	}
	return out, seq, unled, err
}
