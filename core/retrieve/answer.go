package retrieve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/span"
)

// Snapshots opens snapshots of the documents in a store.
type Snapshots interface {
	View(ctx context.Context, fn func(port.DocumentReader) error) error
}

// Answer turns the candidates of one search into its results: Rerank rescores
// their head, Hydrate reads the chosen ones. Each text is read from the store
// once: what the reranker has read is shown, unless its document has changed
// since. An Answer serves one search and one goroutine.
type Answer struct {
	Store      Snapshots
	Partition  port.Partition // pinned
	Candidates []*Candidate   // in fused order; Rerank reorders them
	Log        *slog.Logger

	read map[string]port.DocumentHead // texts and layouts read so far, by id
}

// Rescoring says how Rerank rescores.
type Rescoring struct {
	Reranker  port.Reranker // nil: off
	Constants Reranking
	Query     string
	Depth     int // candidates to rescore, see Reranking.Count
	// Bare leaves out the headings above a chunk; else the reranker reads a chunk
	// as it is indexed, headings first.
	Bare bool
	// MaxBytes bounds the texts together, as withinBytes says; 0: any number.
	MaxBytes int
	// Strict makes a reranker that does not answer a fault instead of a Degraded.
	Strict bool
}

// Rerank rescores the head of the candidates; what it does not score stays
// behind in the order it had. It returns what the reranker cut at its
// window. Where the reranker is off or fails, the candidates stay as they were
// and the Degraded says why. Faults: PartitionNotFound when the partition is
// gone; Timeout, Unavailable and TooLong for a strict call; the context's error when
// the caller has left.
func (a *Answer) Rerank(ctx context.Context, r Rescoring) (_ Cut, _ *Degraded, err error) {
	if r.Reranker == nil {
		return unranked(r.Strict, ModelOff, nil)
	}
	ctx, end := span.Start(ctx, "rerank", attribute.Int("mneme.texts", min(r.Depth, len(a.Candidates))))
	defer func() { end(err) }()
	texts, err := a.texts(ctx, a.Candidates[:min(r.Depth, len(a.Candidates))], r.Bare)
	if err != nil {
		return Cut{}, nil, err
	}
	scores, cut, err := Score(ctx, r.Reranker, r.Query, withinBytes(texts, r.MaxBytes))
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return Cut{}, nil, ctx.Err()
		}
		a.Log.WarnContext(ctx, "reranker failed", "partition", a.Partition.String(), "error", err)
		return unranked(r.Strict, Why(err), err)
	}
	if cut.Query && r.Strict {
		return Cut{}, nil, TooLong("rerank")
	}
	r.Constants.Reorder(a.Candidates, scores)
	return cut, nil, nil
}

// unranked is Rerank's answer where the reranker gave none.
func unranked(strict bool, reason string, err error) (Cut, *Degraded, error) {
	if !strict {
		return Cut{}, &Degraded{Part: "rerank", Reason: reason}, nil
	}
	switch reason {
	case TimedOut:
		return Cut{}, nil, fault.Wrap(fault.Timeout, "rerank", err, "the reranker did not answer in time")
	case ModelOff:
		return Cut{}, nil, fault.Off("the reranker is not available")
	}
	return Cut{}, nil, fault.Wrap(fault.Unavailable, "rerank", err, "the reranker is not available").
		After(again(err, 30*time.Second))
}

// texts reads what the reranker scores and keeps the documents for Hydrate. A
// chunk that is gone has an empty text.
func (a *Answer) texts(ctx context.Context, c []*Candidate, bare bool) ([]string, error) {
	if len(c) == 0 {
		return nil, nil
	}
	err := a.Store.View(ctx, func(r port.DocumentReader) (err error) {
		a.read, err = documents(ctx, r, a.Partition, idsOf(c), port.PartText|port.PartChunks)
		return err
	})
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(c))
	for i, k := range c {
		d, ok := a.read[k.Document]
		if !ok || k.Chunk >= len(d.Chunks) {
			continue
		}
		at := d.Chunks[k.Chunk]
		if bare {
			at.Context = ""
		}
		texts[i] = chunk.Text(d.Text, at)
	}
	return texts, nil
}

// leastRescored is how many candidates are rescored however long they are.
const leastRescored = 10

// withinBytes is the head of texts that a reranker is given: as many as have at
// most so many bytes together, 0 for any number, and leastRescored at least. A
// short text costs a fraction of a long one, so work is bounded rather than
// counted.
func withinBytes(texts []string, bytes int) []string {
	if bytes <= 0 {
		return texts
	}
	for i, t := range texts {
		if bytes -= len(t); bytes < 0 && i >= leastRescored {
			return texts[:i]
		}
	}
	return texts
}

// Selection says which candidates are shown.
type Selection struct {
	Limit       int // chunks at most
	PerDocument int // chunks of one document at most
	// Eligible filters candidates before they are read; nil: all are.
	Eligible func(*Candidate) bool
	// Current filters documents as they are stored now, since they may have been
	// rewritten after the index found them; nil: all may be shown.
	Current func(port.DocumentHead) (bool, error)
}

// Found is a candidate with its document, which has the candidate's chunk.
type Found struct {
	*Candidate
	Document port.DocumentHead // with text, metadata and layout
}

// Hydrate reads the best candidates from the store, in their order. A candidate
// whose document or chunk is gone, or whose document Current refuses, is skipped for
// the next. Fault PartitionNotFound when the partition is gone.
func (a *Answer) Hydrate(ctx context.Context, s Selection) (_ []Found, err error) {
	ctx, end := span.Start(ctx, "hydrate")
	defer func() { end(err) }()
	var out []Found
	err = a.Store.View(ctx, func(r port.DocumentReader) error {
		out = make([]Found, 0, min(s.Limit, len(a.Candidates)))
		shown := map[string]int{} // chunks by document
		for next := 0; ; {
			var batch []*Candidate // as many as are still to be shown
			for ; next < len(a.Candidates) && len(batch)+len(out) < s.Limit; next++ {
				c := a.Candidates[next]
				if shown[c.Document] >= s.PerDocument || s.Eligible != nil && !s.Eligible(c) {
					continue
				}
				shown[c.Document]++
				batch = append(batch, c)
			}
			if len(batch) == 0 {
				return nil
			}
			docs, err := a.current(ctx, r, idsOf(batch))
			if err != nil {
				return err
			}
			for _, c := range batch {
				d, ok := docs[c.Document]
				if ok = ok && c.Chunk < len(d.Chunks); ok && s.Current != nil {
					if ok, err = s.Current(d); err != nil {
						return err
					}
				}
				if !ok {
					shown[c.Document]--
					continue
				}
				out = append(out, Found{c, d})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// current reads documents as they are now, without the texts of those that were
// read before and have not changed since.
func (a *Answer) current(ctx context.Context, r port.DocumentReader, ids []string) (map[string]port.DocumentHead, error) {
	var known, unread []string
	for _, id := range ids {
		if _, ok := a.read[id]; ok {
			known = append(known, id)
		} else {
			unread = append(unread, id)
		}
	}
	out, err := documents(ctx, r, a.Partition, known, port.PartMetadata)
	if err != nil {
		return nil, err
	}
	for id, d := range out {
		was := a.read[id]
		if was.Seq != d.Seq { // rewritten
			unread = append(unread, id)
			continue
		}
		d.Text, d.Chunks = was.Text, was.Chunks
		out[id] = d
	}
	rest, err := documents(ctx, r, a.Partition, unread, port.PartText|port.PartMetadata|port.PartChunks)
	if err != nil {
		return nil, err
	}
	if a.read == nil {
		a.read = rest
	}
	for id, d := range rest {
		out[id], a.read[id] = d, d
	}
	return out, nil
}

// idsOf are the documents of candidates, each once.
func idsOf(c []*Candidate) []string {
	ids, seen := make([]string, 0, len(c)), make(map[string]bool, len(c))
	for _, k := range c {
		if !seen[k.Document] {
			seen[k.Document] = true
			ids = append(ids, k.Document)
		}
	}
	return ids
}

// documents reads documents by id; those that are gone are left out. No ids: no
// read.
func documents(ctx context.Context, r port.DocumentReader, p port.Partition, ids []string, parts port.Part,
) (map[string]port.DocumentHead, error) {
	out := make(map[string]port.DocumentHead, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	docs, err := r.Documents(ctx, p, ids, parts)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		out[d.ID] = d
	}
	return out, nil
}
