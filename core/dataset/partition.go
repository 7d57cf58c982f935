package dataset

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// Sink takes the lines of a data set.
type Sink interface {
	// Write adds a line and returns its hash.
	Write(kind string, v any) ([32]byte, error)
}

// Reader is what a Source reads of the store.
type Reader interface {
	port.PartitionReader
	port.DocumentReader
	port.MemoryReader
}

// Snapshots are what a Source reads.
func Snapshots(s port.Store) port.Snapshots[Reader] {
	return port.NarrowReads(s, func(r port.Reader) Reader { return r })
}

// Source reads partitions of a store as lines.
type Source struct {
	Store   port.Snapshots[Reader]
	Vectors bool // with chunk layouts
	// OnDocuments gets the number of documents written since its last call; nil: none.
	OnDocuments func(n int)
}

const (
	pageDocuments = 64 // documents read at once, with their vectors
	pageRows      = 500
)

// ErrNotMovable is the error of a store that cannot list its partitions.
var ErrNotMovable = errors.New("the store cannot list all that it holds, so it cannot be moved")

// Write writes a partition from one snapshot, with its opening and end lines. It
// returns the counts of what the partition holds and the change number of the snapshot.
// Fault PartitionNotFound, with nothing written, if there is no such partition.
func (s Source) Write(ctx context.Context, h port.PartitionEntry, out Sink) (c Counts, seq uint64, err error) {
	sum := sha256.New()
	err = s.Store.View(ctx, func(r Reader) error {
		ns, err := r.Partition(ctx, h.Partition)
		if err != nil {
			return err
		}
		h.Row, seq = ns, ns.Seq
		p := h.Partition
		if _, err := out.Write(KindPartition, NewPartition(p)); err != nil {
			return err
		}
		if c, err = s.contents(ctx, r, h, hashingSink{out, sum}); err != nil {
			return err
		}
		_, err = out.Write(KindEnd, End{Seq: seq, Seen: h.Seen, Counts: c, Hash: Digest(sum.Sum(nil))})
		return err
	})
	if err != nil && !fault.IsPartitionNotFound(err) {
		err = fmt.Errorf("read %s: %w", h.Partition, err)
	}
	return c, seq, err
}

// Hash is the hash that the end line of a partition has, and its counts.
func (s Source) Hash(ctx context.Context, h port.PartitionEntry) (c Counts, hash Digest, err error) {
	sum := sha256.New()
	var buf bytes.Buffer
	err = s.Store.View(ctx, func(r Reader) error {
		if h.Row, err = r.Partition(ctx, h.Partition); err != nil {
			return err
		}
		c, err = s.contents(ctx, r, h, hashingSink{discardSink{&buf}, sum})
		return err
	})
	if err != nil {
		return c, hash, fmt.Errorf("read back %s: %w", h.Partition, err)
	}
	return c, Digest(sum.Sum(nil)), nil
}

// hashingSink adds the hashes of lines to a hash.
type hashingSink struct {
	Sink
	sum hash.Hash
}

func (s hashingSink) Write(kind string, v any) ([32]byte, error) {
	h, err := s.Sink.Write(kind, v)
	_, _ = s.sum.Write(h[:]) // never fails
	return h, err
}

// discardSink computes the hashes of lines without writing them.
type discardSink struct{ buf *bytes.Buffer }

func (n discardSink) Write(kind string, v any) ([32]byte, error) {
	data, err := marshal(n.buf, v)
	return lineHash(kind, data), err
}

// contents writes the lines between opening and end.
func (s Source) contents(ctx context.Context, r Reader, h port.PartitionEntry, out Sink) (c Counts, err error) {
	p, n := h.Partition, h.Row
	line := Namespace{Sparse: n.Sparse, Language: n.Language, Embedder: n.Embedder, Created: n.CreatedAt, Updated: n.UpdatedAt}
	if s.Vectors {
		line.Models = &Models{n.EmbeddingModel, n.EmbeddingDigest, n.Dimensions, n.SparseModel, n.SparseDigest, n.Chunker}
	}
	memories := p.Space() == port.SpaceMemories
	if memories {
		c.EndUsers = 1
	} else {
		c.Namespaces = 1
	}
	if _, err := out.Write(KindNamespace, line); err != nil {
		return c, err
	}
	if err := s.documents(ctx, r, p, out, &c); err != nil || !memories {
		return c, err
	}
	if s.Vectors {
		if err := s.links(ctx, r, p, out, &c); err != nil {
			return c, err
		}
	}
	if err := s.records(ctx, r, p, out, &c); err != nil {
		return c, err
	}
	return c, s.replays(ctx, r, p, out, &c)
}

func (s Source) documents(ctx context.Context, r Reader, p port.Partition, out Sink, c *Counts) error {
	list := port.DocumentList{Order: port.ByID, Limit: pageDocuments, Parts: port.PartText | port.PartMetadata}
	if s.Vectors {
		list.Parts |= port.PartChunks
	}
	for {
		page, err := r.ListDocuments(ctx, p, list)
		if err != nil {
			return err
		}
		vectors := map[string]port.Vectors{}
		if s.Vectors {
			ids := make([]string, len(page))
			for i := range page {
				ids[i] = page[i].ID
			}
			if vectors, err = r.Vectors(ctx, p, ids); err != nil {
				return err
			}
		}
		for i := range page {
			d, err := newDocument(&page[i], vectors[page[i].ID], s.Vectors)
			if err != nil {
				return err
			}
			if _, err := out.Write(KindDocument, d); err != nil {
				return err
			}
			c.Documents++
			c.Bytes += int64(len(d.Text))
			if s.Vectors {
				c.Chunks += int64(len(page[i].Chunks))
			}
		}
		if s.OnDocuments != nil {
			s.OnDocuments(len(page))
		}
		if len(page) < list.Limit {
			return nil
		}
		list.AfterID = page[len(page)-1].ID
	}
}

// links writes the context links of memories, by id.
func (s Source) links(ctx context.Context, r Reader, p port.Partition, out Sink, c *Counts) error {
	list := port.DocumentList{Order: port.ByID, Limit: pageRows}
	for {
		page, err := r.ListDocuments(ctx, p, list)
		if err != nil {
			return err
		}
		ids, own := make([]string, len(page)), make(map[string]bool, len(page))
		for i := range page {
			ids[i], own[page[i].ID] = page[i].ID, true
		}
		links, err := r.ContextLinks(ctx, p, ids, true)
		if err != nil {
			return err
		}
		for _, l := range links {
			if !own[l.ID] { // its context is on this page, the memory itself on another
				continue
			}
			vector, err := packing.EncodeDense(port.Dense{Dim: len(l.Own), Data: l.Own}, 1)
			if err != nil {
				return fmt.Errorf("memory %s: %w", l.ID, err)
			}
			if _, err := out.Write(KindLink, Link{l.ID, l.Context, vector}); err != nil {
				return err
			}
			c.Links++
		}
		if len(page) < list.Limit {
			return nil
		}
		list.AfterID = page[len(page)-1].ID
	}
}

func (s Source) records(ctx context.Context, r Reader, p port.Partition, out Sink, c *Counts) error {
	source, external := "", ""
	for {
		page, err := r.Records(ctx, p, source, external, pageRows)
		if err != nil {
			return err
		}
		for _, rec := range page {
			if _, err := out.Write(KindRecord, newRecord(rec)); err != nil {
				return err
			}
			c.Records++
			for after := int64(0); ; {
				receipts, err := r.Receipts(ctx, p, rec.Source, rec.ExternalID, after, pageRows)
				if err != nil {
					return err
				}
				for _, v := range receipts {
					_, err := out.Write(KindReceipt,
						Receipt{v.Version, v.Operation, v.RequestHash, v.Outcome, v.OccurredAt, v.AppliedAt,
							v.DocumentID, v.ContentHash})
					if err != nil {
						return err
					}
					c.Receipts++
					after = v.Version
				}
				if len(receipts) < pageRows {
					break
				}
			}
		}
		if len(page) < pageRows {
			return nil
		}
		source, external = page[len(page)-1].Source, page[len(page)-1].ExternalID
	}
}

func (s Source) replays(ctx context.Context, r Reader, p port.Partition, out Sink, c *Counts) error {
	survey, ok := r.(port.PartitionLister)
	if !ok {
		return ErrNotMovable
	}
	for after := ""; ; {
		page, err := survey.IdempotentReplies(ctx, p, after, pageRows)
		if err != nil {
			return err
		}
		for _, a := range page {
			if _, err := out.Write(KindReplay, Replay{a.Key, a.RequestHash, a.Answer, a.CreatedAt}); err != nil {
				return err
			}
			c.Replays++
			after = a.Key
		}
		if len(page) < pageRows {
			return nil
		}
	}
}
