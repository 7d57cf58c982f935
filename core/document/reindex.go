package document

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Reindexed is what a reindexing has made anew.
type Reindexed struct {
	Documents int
	Chunks    int
	Unchanged bool // the vectors were of the configured models already; nothing was done
}

// Bounds of a reindexing. It holds a page of texts and the vectors of one batch
// in memory, or of one page when it stores them; the rest is in a temporary file.
const (
	reindexPage   = 128       // documents read at once
	reindexBatch  = 128 << 10 // bytes of text encoded at once
	reindexChunks = 16_384    // chunks stored by one call
	reindexTries  = 5         // documents written meanwhile start it over
)

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
func (s *Service) Reindex(ctx context.Context, p port.Partition, force bool, progress func(done, total int)) (Reindexed, error) {
	for try := 1; ; try++ {
		out, err := s.tryReindex(ctx, p, force, progress)
		if !errors.Is(err, errMoved) {
			return out, err
		}
		if try == reindexTries {
			return Reindexed{}, fault.New(fault.Conflict, "documents of namespace %q were written during each of %d tries; reindex it when writes pause", p.Name(), try)
		}
	}
}

// stale reads a namespace that is to be reindexed; needed is false where its
// vectors are of the configured models.
func (s *Service) stale(ctx context.Context, p port.Partition) (ns port.Namespace, needed bool, err error) {
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

func (s *Service) tryReindex(ctx context.Context, p port.Partition, force bool, progress func(done, total int)) (out Reindexed, err error) {
	ns, needed, err := s.stale(ctx, p)
	if err != nil {
		return Reindexed{}, err
	}
	if !needed && !force {
		return Reindexed{Unchanged: true}, nil
	}
	p = p.At(ns.Generation)
	made, err := newSpool()
	if err != nil {
		return Reindexed{}, err
	}
	defer func() { err = errors.Join(err, made.close()) }()
	if err := s.encodeAll(ctx, p, ns, made, progress); err != nil {
		return Reindexed{}, err
	}
	var seq uint64
	err = s.Store.Update(ctx, func(w port.Writer) (err error) {
		out, seq, err = s.replaceAll(ctx, w, p, ns, made)
		return err
	})
	if err != nil {
		return Reindexed{}, err
	}
	// From here on the indexes are behind the store by every document, and so
	// no query is answered from them. A crash leaves them so for the next start.
	for _, ix := range s.Projector.Indexes() {
		if err := ix.Drop(ctx, p); err != nil {
			return out, fmt.Errorf("drop the index of the models before: %w", err)
		}
	}
	if err := s.Projector.Ensure(ctx, p, seq); err != nil {
		return out, fmt.Errorf("build the index anew: %w", err)
	}
	return out, nil
}

// encodeAll chunks and encodes every document into made.
func (s *Service) encodeAll(ctx context.Context, p port.Partition, ns port.Namespace, made *spool, progress func(done, total int)) error {
	list := port.DocumentList{Order: port.ByID, Limit: reindexPage, Parts: port.PartText}
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
			for n < len(rest) && (n == 0 || bytes+len(rest[n].Text) <= reindexBatch) {
				bytes += len(rest[n].Text)
				texts = append(texts, rest[n].Text)
				n++
			}
			encoded, err := s.Encoder.Encode(ctx, texts, ns.Sparse, make([]ingest.Reuse, n))
			if err != nil {
				return err
			}
			for i, e := range encoded {
				if err := made.put(spooled{ID: rest[i].ID, TextHash: rest[i].TextHash, Chunks: e.Chunks, Vectors: e.Vectors}); err != nil {
					return err
				}
			}
			rest = rest[n:]
			progress(min(int(made.count), total), total)
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
func (s *Service) replaceAll(ctx context.Context, w port.Writer, p port.Partition, seen port.Namespace, made *spool) (out Reindexed, seq uint64, err error) {
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
	part, chunks := make([]spooled, 0, reindexPage), 0
	store := func() error {
		if len(part) == 0 {
			return nil
		}
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
		part, chunks = part[:0], 0
		return ctx.Err()
	}
	err = made.each(func(d spooled) error {
		if len(part) == cap(part) || chunks+len(d.Chunks) > reindexChunks {
			if err := store(); err != nil {
				return err
			}
		}
		part, chunks = append(part, d), chunks+len(d.Chunks)
		return nil
	})
	if err == nil {
		err = store()
	}
	if err == nil && int64(out.Documents) != ns.Documents {
		err = errMoved // one was written meanwhile
	}
	return out, seq, err
}

// The states of a reindexing.
const (
	Waiting   = "waiting" // for another namespace's
	Running   = "running"
	Succeeded = "succeeded"
	Failed    = "failed"
)

// Reindexing is a reindexing under way or done.
type Reindexing struct {
	Status      string
	Done, Total int   // documents encoded
	Reindexed         // once it has succeeded
	Err         error // why it failed
	ended       time.Time
}

func (r Reindexing) underway() bool { return r.Status == Waiting || r.Status == Running }

// reindexer runs reindexings in the background, one after the other: each keeps
// the models busy.
type reindexer struct {
	mu     sync.Mutex
	states map[port.Partition]*Reindexing // by unpinned partition
	turn   chan struct{}
	run    context.Context // from Start to Stop; nil: not started
	stop   context.CancelFunc
	all    sync.WaitGroup
}

// reindexKept is how long it is remembered how a reindexing ended.
const reindexKept = time.Hour

// StartReindex begins Reindex of a namespace in the background, or joins the one
// under way. One that has nothing to do is answered at once, as are the faults
// of Reindex that can be known before. Stop ends it, and leaves the namespace as
// it was.
func (s *Service) StartReindex(ctx context.Context, p port.Partition, force bool) (Reindexing, error) {
	ns, needed, err := s.stale(ctx, p)
	if err != nil {
		return Reindexing{}, err
	}
	x := s.reindexes
	x.mu.Lock()
	defer x.mu.Unlock()
	now := s.Now()
	for key, r := range x.states {
		if !r.underway() && now.Sub(r.ended) > reindexKept {
			delete(x.states, key)
		}
	}
	r := x.states[p]
	switch {
	case r != nil && r.underway():
		return *r, nil
	case !needed && !force:
		return Reindexing{Status: Succeeded, Reindexed: Reindexed{Unchanged: true}}, nil
	case x.run == nil || x.run.Err() != nil:
		return Reindexing{}, fault.New(fault.Unavailable, "the server is shutting down").After(5 * time.Second)
	}
	r = &Reindexing{Status: Waiting, Total: int(ns.Documents)}
	x.states[p] = r
	x.all.Add(1)
	go func() {
		defer x.all.Done()
		out, err := s.inTurn(p, force, r)
		x.mu.Lock()
		defer x.mu.Unlock()
		r.Status, r.Reindexed, r.Err, r.ended = Succeeded, out, err, s.Now()
		if err != nil {
			r.Status = Failed
			s.Log.WarnContext(x.run, "reindexing failed", "partition", p.String(), "error", err)
			return
		}
		s.Log.InfoContext(x.run, "reindexed", "partition", p.String(), "documents", out.Documents, "chunks", out.Chunks)
	}()
	return *r, nil
}

// inTurn runs one reindexing after those before it. A panic, of a model for one,
// fails it alone.
func (s *Service) inTurn(p port.Partition, force bool, r *Reindexing) (out Reindexed, err error) {
	x := s.reindexes
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	select {
	case x.turn <- struct{}{}:
		defer func() { <-x.turn }()
	case <-x.run.Done():
		return out, x.run.Err()
	}
	return s.Reindex(x.run, p, force, func(done, total int) {
		x.mu.Lock()
		defer x.mu.Unlock()
		r.Status, r.Done, r.Total = Running, done, total
	})
}

// ReindexState is how far the last reindexing of a namespace is, or how it
// ended; false when none is known.
func (s *Service) ReindexState(p port.Partition) (Reindexing, bool) {
	x := s.reindexes
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.states[p]; r != nil {
		return *r, true
	}
	return Reindexing{}, false
}
