package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// Projector applies the store's changes to the indexes. The store's change log is
// the only input: Log hands over the changes that it has committed, and whatever an
// index misses (after a crash, an eviction or a lost race) is read back from the
// change log, so every path ends in the same state.
type Projector struct {
	store   port.Narrowed[projectorReader, projectorWriter]
	indexes []port.Index // distinct
	log     *slog.Logger
	batch   int

	replays keyedMutex
	builds  deferredBuilds

	consumer consumer
	lag      lag
	deferred deferred
	groups   groups
}

// projectorReader and projectorWriter are what a Projector uses of the store.
type projectorReader interface {
	port.PartitionReader
	port.DocumentReader
}

type projectorWriter interface {
	port.ReplicaWriter
	port.ChangeWriter
}

func narrow(s port.Store) port.Narrowed[projectorReader, projectorWriter] {
	reader := func(r port.Reader) projectorReader { return r }
	return port.Narrow(s, reader, func(w port.Writer) projectorWriter { return w })
}

// indexPartition is one index's data of a partition.
type indexPartition struct {
	index int
	p     port.Partition
}

// NewProjector serves the distinct indexes among those given. id names them among
// the consumers of the change log, also after a restart.
func NewProjector(store port.Store, indexes []port.Index, id string, log *slog.Logger) *Projector {
	pr := &Projector{
		store:    narrow(store),
		log:      log,
		batch:    128,
		replays:  keyedMutex{of: map[indexPartition]*keyedLock{}},
		builds:   newBuilds(),
		consumer: newConsumer(id),
		lag:      newLag(),
		deferred: newDeferred(),
		groups:   newGroups(),
	}
	for _, ix := range indexes {
		known := false
		for _, k := range pr.indexes {
			known = known || k == ix
		}
		if !known {
			pr.indexes = append(pr.indexes, ix)
		}
	}
	return pr
}

// Indexes are the distinct indexes served.
func (pr *Projector) Indexes() []port.Index { return pr.indexes }

// applyCommitted applies the changes of one committed write, of one number. The write
// is durable already, so this runs to the end even if the caller goes away. An index
// that lacks earlier changes catches up within the caller's deadline, and past it in
// the background. searchable is false where one has not taken them yet, since it lags or
// since the write was not to wait for it.
func (pr *Projector) applyCommitted(ctx context.Context, p port.Partition, b port.Batch, until Until,
) (searchable bool, err error) {
	seq := b.Upto
	searchable = true
	end, bounded := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	patience := ctx
	if bounded {
		var cancel context.CancelFunc
		patience, cancel = context.WithDeadline(ctx, end)
		defer cancel()
	}
	for i := range pr.indexes {
		if pr.lags(i, p) {
			pr.markPending(i, p, seq, false)
			searchable = false
			continue
		}
		if until == Stored && pr.mayDefer(i) && pr.deferred.add(indexPartition{i, p}, seq, len(b.Changes)) {
			searchable = false
			continue
		}
		err := pr.apply(ctx, i, p, b)
		if errors.Is(err, port.ErrGap) {
			err = pr.catchUpOrDefer(patience, i, p, seq)
		}
		if err == nil && seq == 1 {
			// An index that has dropped a deleted partition would take its first change
			// again.
			err = pr.checkAlive(ctx, p)
		}
		if fault.IsPartitionNotFound(err) {
			pr.Drop(ctx, p) // deleted since the write was committed: nothing is left to search
			return true, nil
		}
		if err != nil && pr.mayLag(i) {
			// The write is acknowledged all the same; the index catches up in the background.
			pr.log.WarnContext(ctx, "index apply deferred", "partition", p.String(), "seq", seq, "error", err)
			pr.markPending(i, p, seq, true)
			searchable = false
			continue
		}
		if err != nil {
			pr.log.ErrorContext(ctx, "index apply failed", "partition", p.String(), "seq", seq, "error", err)
			return false, fault.Wrap(fault.Unavailable, "index apply", err,
				"the write is stored but not yet searchable; repeating it is safe").After(time.Second)
		}
	}
	pr.consumer.noteApplied(p, seq)
	if seq%trimEvery == 0 {
		if err := pr.trim(ctx, p, seq); err != nil && !fault.IsPartitionNotFound(err) {
			pr.log.WarnContext(ctx, "change log trim failed", "partition", p.String(), "seq", seq, "error", err)
		}
	}
	return searchable, nil
}

// checkAlive returns fault PartitionNotFound if the partition's generation is gone.
func (pr *Projector) checkAlive(ctx context.Context, p port.Partition) error {
	return pr.store.View(ctx, func(r projectorReader) error {
		_, err := r.Partition(ctx, p)
		return err
	})
}

// trimEvery is how many changes of a partition pass between trims of its log.
const trimEvery = 1024

// Ensure brings every index of the partition to at least seq.
func (pr *Projector) Ensure(ctx context.Context, p port.Partition, seq uint64) error {
	for i := range pr.indexes {
		if err := pr.EnsureIndex(ctx, pr.indexes[i], p, seq); err != nil {
			return err
		}
	}
	return nil
}

// EnsureIndex brings one index of the partition to at least seq. It fails at once
// while the index lags or, for a caller with a deadline, is being built in the background.
func (pr *Projector) EnsureIndex(ctx context.Context, ix port.Index, p port.Partition, seq uint64) error {
	_, hurried := ctx.Deadline()
	for i := range pr.indexes {
		if pr.indexes[i] == ix && (pr.lags(i, p) || hurried && pr.builds.inProgress(indexPartition{i, p})) {
			return errLags()
		}
	}
	at, err := ix.Applied(ctx, p)
	if err != nil {
		return fmt.Errorf("index state: %w", err)
	}
	if at >= seq {
		return nil
	}
	for i := range pr.indexes {
		if pr.indexes[i] == ix {
			return pr.catchUpOrDefer(ctx, i, p, seq)
		}
	}
	return errors.New("ingest: index is not served by this projector")
}

// catchUp replays the log; one replay of an index and partition at a time. What it
// has applied when ctx ends stays.
func (pr *Projector) catchUp(ctx context.Context, i int, p port.Partition, seq uint64) error {
	unlock, err := pr.replays.lock(ctx, indexPartition{i, p})
	if err != nil {
		return fmt.Errorf("wait for the index to catch up: %w", err)
	}
	defer unlock()
	ix := pr.indexes[i]
	started, replayed, rebuilt := time.Now(), 0, false
	reported := started
	// A replay from the start is complete as long as the log is not cut further while
	// it runs.
	fromStart, forgotten := false, uint64(0)
	for {
		at, err := ix.Applied(ctx, p)
		if err != nil {
			return fmt.Errorf("index state: %w", err)
		}
		if at >= seq {
			pr.consumer.noteApplied(p, at)
			if replayed > 10_000 {
				pr.log.InfoContext(ctx, "index caught up",
					"partition", p.String(), "documents", replayed, "took", time.Since(started).Round(time.Millisecond))
			}
			return nil
		}
		b, trimmed, err := pr.readBatch(ctx, p, at, pr.batchOf(ix))
		if err != nil {
			return err
		}
		if at == 0 {
			fromStart, forgotten = true, trimmed
			seq = max(seq, trimmed)
		}
		if at > 0 && at < trimmed && !(fromStart && trimmed == forgotten) {
			// The log no longer holds deletions that this index has not seen: it was
			// unreachable for longer than they are kept for it.
			pr.log.WarnContext(ctx, "index rebuild needed", "partition", p.String(), "applied", at, "trimmed", trimmed)
			if err := ix.Drop(ctx, p); err != nil {
				return fmt.Errorf("drop the index that fell behind: %w", err)
			}
			fromStart = false
			continue
		}
		if b.Upto <= at {
			return fmt.Errorf("ingest: the log of %s ends at %d, before %d", p, at, seq)
		}
		err = ix.Apply(ctx, p, b)
		if errors.Is(err, port.ErrDimensions) && at > 0 && !rebuilt {
			// The process died between the commit that gave the partition another
			// model's vectors and the end of the old index.
			if err := ix.Drop(ctx, p); err != nil {
				return fmt.Errorf("drop the index of another model: %w", err)
			}
			rebuilt = true
			continue
		}
		if err != nil && !errors.Is(err, port.ErrGap) {
			return fmt.Errorf("index apply: %w", err)
		}
		replayed += len(b.Changes)
		if time.Since(reported) >= progressEvery {
			reported = time.Now()
			pr.log.InfoContext(ctx, "index catching up", "partition", p.String(), "change", b.Upto, "of", seq,
				"documents", replayed, "took", time.Since(started).Round(time.Second))
		}
	}
}

// progressEvery is how often a long replay logs its progress.
const progressEvery = 5 * time.Second

// batchOf is how many documents of the log an index is brought at once.
func (pr *Projector) batchOf(ix port.Index) int {
	if bulky, ok := ix.(port.Bulky); ok {
		return bulky.BatchDocuments()
	}
	return pr.batch
}

// readBatch makes a batch of about so many documents from the log and their state in one snapshot,
// and returns the change number up to which deletions may be missing from the log.
func (pr *Projector) readBatch(ctx context.Context, p port.Partition, after uint64,
	size int) (b port.Batch, trimmed uint64, err error) {
	b = port.Batch{After: after, Upto: after}
	err = pr.store.View(ctx, func(r projectorReader) error {
		ns, err := r.Partition(ctx, p)
		if err != nil {
			return err
		}
		trimmed, b.Language = ns.Trimmed, ns.Language
		log, err := r.Changes(ctx, p, after, size)
		if err != nil {
			return err
		}
		// The compacted log may lack numbers whose documents changed again.
		if b.Upto = ns.Seq; len(log) >= size {
			b.Upto = log[len(log)-1].Seq
		}
		short, err := pr.limitBatch(ctx, r, p, log)
		if err != nil {
			return err
		}
		if len(short) < len(log) {
			log, b.Upto = short, short[len(short)-1].Seq
		}
		ids := make([]string, 0, len(log))
		for _, c := range log {
			if c.Deleted {
				b.Changes = append(b.Changes, port.IndexChange{Document: c.Document})
			} else {
				ids = append(ids, c.Document)
			}
		}
		docs, err := r.Documents(ctx, p, ids, port.PartText|port.PartMetadata|port.PartChunks)
		if err != nil {
			return err
		}
		vectors, err := r.Vectors(ctx, p, ids)
		if err != nil {
			return err
		}
		for _, d := range docs {
			c, err := indexChange(d.Document, vectors[d.ID])
			if err != nil {
				return err
			}
			b.Changes = append(b.Changes, c)
		}
		return nil
	})
	if err != nil {
		return port.Batch{}, 0, fmt.Errorf("read the change log: %w", err)
	}
	return b, trimmed, nil
}

// replayChunks is about how many chunks a batch of the log may hold in memory.
const replayChunks = 16_384

// limitBatch cuts a run of the log, between change numbers, before its documents would
// take too much memory at once; at least one number stays.
func (pr *Projector) limitBatch(ctx context.Context, r projectorReader, p port.Partition,
	log []port.Change) ([]port.Change, error) {
	ids := make([]string, len(log))
	for i, c := range log {
		ids[i] = c.Document
	}
	heads, err := r.Documents(ctx, p, ids, 0)
	if err != nil {
		return nil, err
	}
	chunks := make(map[string]int, len(heads))
	for _, h := range heads {
		chunks[h.ID] = h.ChunkCount
	}
	sum := 0
	for i, c := range log {
		if i > 0 && c.Seq != log[i-1].Seq && sum+chunks[c.Document] > replayChunks {
			return log[:i], nil
		}
		sum += chunks[c.Document]
	}
	return log, nil
}

// indexChange is what the indexes see of a stored document.
func indexChange(d port.Document, v port.Vectors) (port.IndexChange, error) {
	var m filter.Metadata
	if len(d.Metadata) > 0 {
		var err error
		if m, err = filter.ParseMetadata("metadata", d.Metadata); err != nil {
			return port.IndexChange{}, fmt.Errorf("stored metadata of %s: %w", d.ID, err)
		}
	}
	out := port.IndexChange{Document: d.ID, Entries: make([]port.Entry, len(d.Chunks))}
	facets := m.Tokens()
	if d.Container != "" {
		facets = append(facets, filter.Token(filter.ContainerKey, d.Container))
	}
	// The day of a memory is indexed too, for questions such as "what did she say in May?"
	day := ""
	if d.ContentKey != ([32]byte{}) || d.Source != "" {
		day = "\n" + d.CreatedAt.UTC().Format("2 January 2006")
	}
	for i, c := range d.Chunks {
		e := port.Entry{Chunk: i, Text: chunk.Text(d.Text, c) + day, Facets: facets, Time: d.CreatedAt.UnixMilli()}
		if v.Dense.Dim > 0 {
			e.Vector = v.Dense.Row(i)
		}
		if len(v.Sparse.Rows) > 0 {
			lo, hi := v.Sparse.Rows[i], v.Sparse.Rows[i+1]
			e.SparseTerms, e.SparseWeights = v.Sparse.Terms[lo:hi], v.Sparse.Weights[lo:hi]
		}
		out.Entries[i] = e
	}
	return out, nil
}

// Drop forgets a deleted partition's derived data.
func (pr *Projector) Drop(ctx context.Context, p port.Partition) {
	pr.consumer.forget(p)
	pr.forgetPending(p)
	for i, ix := range pr.indexes {
		pr.deferred.forget(indexPartition{i, p})
		if err := ix.Drop(ctx, p); err != nil {
			// The next start removes it.
			pr.log.ErrorContext(ctx, "index drop failed", "partition", p.String(), "error", err)
		}
	}
}

// rebuild drops the indexes of a partition whose vectors were all replaced, and rebuilds
// them up to seq. In between they lag the store by every document, so no search is
// answered from them, even after a crash.
func (pr *Projector) rebuild(ctx context.Context, p port.Partition, seq uint64) error {
	for _, ix := range pr.indexes {
		if err := ix.Drop(ctx, p); err != nil {
			return fmt.Errorf("drop the index of the models before: %w", err)
		}
	}
	if err := pr.Ensure(ctx, p, seq); err != nil {
		return fmt.Errorf("rebuild the index: %w", err)
	}
	return nil
}

// trim lets the store forget deletions that every index has durably applied,
// those of the other replicas that are alive too.
func (pr *Projector) trim(ctx context.Context, p port.Partition, seq uint64) error {
	if len(pr.indexes) == 0 {
		return nil
	}
	low := ^uint64(0)
	for _, ix := range pr.indexes {
		at, err := ix.Durable(ctx, p)
		if err != nil {
			return err
		}
		if at == 0 {
			// The index keeps nothing on disk. A flush in progress is of changes
			// younger than the last trim.
			at = seq - trimEvery
		}
		low = min(low, at)
	}
	mark := []port.Watermark{{Generation: p.Generation(), Seq: low}}
	return pr.store.Update(ctx, func(w projectorWriter) error {
		if err := w.PutWatermarks(ctx, pr.consumer.id, consumerTTL, mark); err != nil {
			return err
		}
		return w.TrimChanges(ctx, p, low)
	})
}
