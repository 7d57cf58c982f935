package ingest

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/span"
)

// Log is the only way to change documents. It runs a transaction of the store,
// collects what was changed, and hands it to the indexes in order once it is
// committed, even if the caller has left. Only it reaches the methods of
// port.DocumentWriter, so no service can change a document and forget the indexes.
// Safe for concurrent use.
type Log struct {
	store     port.DocumentStore
	projector *Projector
	listeners []Listener
	usage     port.UsageCounter // nil: nothing is counted
}

// CountedBy has what is written counted, once it is committed. It is called before the first
// transaction.
func (l *Log) CountedBy(c port.UsageCounter) *Log {
	l.usage = c
	return l
}

// NewLog makes the log of a store. Listeners get each change in its transaction,
// in the order given; without any nothing is collected for them.
func NewLog(store port.DocumentStore, projector *Projector, listeners ...Listener) *Log {
	return &Log{store: store, projector: projector, listeners: listeners}
}

// NotSearchable is the error of a change that is committed but that an index did
// not take. The index catches up with the next search or write of the partition.
type NotSearchable struct{ err error }

// Error is the index's.
func (e NotSearchable) Error() string { return e.err.Error() }

// Unwrap is the index's error, fault Unavailable as a rule.
func (e NotSearchable) Unwrap() error { return e.err }

// Until is what a write waits for.
type Until int

// What there is to wait for.
const (
	// Searchable waits for every index that does not lag.
	Searchable Until = iota
	// Stored leaves indexes to which each batch costs much to the background. A query waits for
	// them. A transaction that deletes waits, too, so that what is deleted is in no index once
	// that is answered.
	Stored
)

// Write runs fn in one serialisable transaction and returns once its changes are
// durable and searchable. An error of fn, or of a listener, rolls everything back
// and is returned as it is. fn may run again after a conflict, each time with a
// new Tx, and must have no effect outside it. NotSearchable says that the changes
// are committed all the same.
func (l *Log) Write(ctx context.Context, why Cause, fn func(*Tx) error) error {
	_, err := l.WriteUntil(ctx, Searchable, why, fn)
	return err
}

// WriteUntil is Write, which may return sooner. It says whether every index has the changes.
func (l *Log) WriteUntil(ctx context.Context, until Until, why Cause, fn func(*Tx) error) (searchable bool, err error) {
	var tx *Tx
	storing, end := span.Start(ctx, "commit")
	err = l.store.UpdateDocuments(storing, func(w port.DocumentWriter) error {
		tx = &Tx{writer: w, documents: w, cause: why, listening: len(l.listeners) > 0}
		if err := fn(tx); err != nil {
			return err
		}
		if len(tx.observed) == 0 {
			return nil
		}
		// Last, so that what a listener stores follows the order of the commits: all
		// rows that the changes lock are locked by now.
		for _, listener := range l.listeners {
			if err := listener.Changed(storing, w, tx.observed); err != nil {
				return err
			}
		}
		return nil
	})
	end(err)
	if err != nil {
		return false, err
	}
	if l.usage != nil {
		for _, w := range tx.written {
			l.usage.CountUsage(port.UsageAccountOf(ctx, w.of), w.done)
		}
	}
	indexing, end := span.Start(ctx, "index")
	defer func() { end(err) }()
	if tx.deletes {
		until = Searchable
	}
	searchable = true
	for _, s := range tx.steps {
		took := false
		if took, err = l.apply(indexing, s, until); err != nil {
			return false, NotSearchable{err}
		}
		searchable = searchable && took
	}
	return searchable && !l.projector.behind(tx.unchanged), nil
}

// apply hands a committed step to the indexes.
func (l *Log) apply(ctx context.Context, s step, until Until) (searchable bool, err error) {
	switch {
	case s.gone:
		l.projector.Drop(context.WithoutCancel(ctx), s.partition)
		return true, nil
	case s.rebuild:
		return true, l.projector.rebuild(ctx, s.partition, s.seq)
	}
	return l.projector.applyCommitted(ctx, s.partition,
		port.Batch{After: s.seq - 1, Upto: s.seq, Language: s.language, Changes: s.changes}, until)
}

// Writer is what a transaction may do besides changing documents. Nothing in it changes
// a document, so no index needs to know of it.
type Writer interface {
	port.PartitionReader
	port.PartitionWriter
	port.DocumentReader
	port.MemoryReader
	port.MemoryWriter
	port.JobReader
	port.JobWriter
	port.ReplicaReader
	port.ReplicaWriter
	port.SourceReader
	port.SourceWriter
	port.VectorStoreReader
	port.VectorStoreWriter
	port.EventWriter
	port.GrantReader
	port.GrantWriter
	port.AuditAppender
}

// writer is embedded under a private name: a caller with a Tx has the methods of a
// Writer, but not the value behind them, which can do more.
type writer = Writer

// Tx is one run of a transaction that changes documents, with the methods of Writer. It
// is not safe for concurrent use, and must not be used after the function that it was
// given to has returned.
type Tx struct {
	writer
	documents port.DocumentWriter
	cause     Cause
	listening bool

	languages map[int64]string // of the partitions that were read, by their generation

	written []writing
	rebuilt port.Partition
	deletes bool
	steps   []step

	unchanged port.Partition   // that was to be changed, and had everything already
	observed  []DocumentChange // empty without listeners
	known     heads            // without listeners empty, too
}

// writing is documents that users wrote.
type writing struct {
	of   port.Partition
	done port.Usage
}

// step is what one change number did to a partition.
type step struct {
	partition port.Partition
	seq       uint64
	language  string // of the partition's texts
	changes   []port.IndexChange
	gone      bool // the partition was removed with its last document
	rebuild   bool // its indexes are to be rebuilt from the store
}

// Put inserts or replaces documents of a pinned partition, or of its shadow, all under
// one new change number. at becomes their UpdatedAt; if it is zero, each document keeps
// its own. A document that is MetadataOnly must carry the chunks that are stored.
// Without documents nothing changes. Faults are those of port.DocumentWriter.
func (t *Tx) Put(ctx context.Context, p port.Partition, at time.Time, docs []port.DocumentWrite) error {
	return t.put(ctx, p, at, docs, t.cause)
}

// Reencode replaces the vectors of stored documents, whose contents and times
// stay. It is CauseReencoding, whatever the transaction is for.
func (t *Tx) Reencode(ctx context.Context, p port.Partition, docs []port.DocumentWrite) error {
	return t.put(ctx, p, time.Time{}, docs, CauseReencoding)
}

// RebuildIndexes makes the commit drop the indexes of a partition and rebuild them from
// the store, instead of applying the changes that follow. It is for a transaction that
// replaces every vector, which may be more than should be held in memory.
func (t *Tx) RebuildIndexes(p port.Partition) { t.rebuilt = p }

func (t *Tx) put(ctx context.Context, p port.Partition, at time.Time, docs []port.DocumentWrite, why Cause) error {
	if len(docs) == 0 {
		t.unchanged = p.Unshadowed()
		return nil
	}
	stored, err := t.storedHeads(ctx, p, len(docs), func(i int) string { return docs[i].Document.ID })
	if err != nil {
		return err
	}
	kept, err := t.keptVectors(ctx, p, docs)
	if err != nil {
		return err
	}
	seq, err := t.documents.PutDocuments(ctx, p, at, docs)
	if err != nil {
		return err
	}
	if why.UserMade() {
		t.written = append(t.written, writing{p, writtenOf(docs)})
	}
	pinned := p.Unshadowed() // as the indexes know it
	t.collectPut(ctx, docs, stored, DocumentChange{Partition: pinned, Cause: why, Seq: seq})
	if pinned == t.rebuilt {
		t.noteRebuild(seq)
		return nil
	}
	changes := make([]port.IndexChange, len(docs))
	for i := range docs {
		v := docs[i].Vectors
		if docs[i].MetadataOnly {
			v = kept[docs[i].Document.ID]
		}
		if changes[i], err = indexChange(docs[i].Document, v); err != nil {
			return err
		}
	}
	language, err := t.languageOf(ctx, p)
	if err != nil {
		return err
	}
	t.steps = append(t.steps, step{partition: pinned, seq: seq, language: language, changes: changes})
	return nil
}

// languageOf is the language of a pinned partition's texts. Those of memories tell their own.
func (t *Tx) languageOf(ctx context.Context, p port.Partition) (string, error) {
	if p.Space() == port.SpaceMemories {
		return "", nil
	}
	if l, known := t.languages[p.Generation()]; known {
		return l, nil
	}
	n, err := t.Partition(ctx, p)
	return n.Language, err
}

// Partition implements port.PartitionReader, and keeps the language for languageOf.
func (t *Tx) Partition(ctx context.Context, p port.Partition) (port.PartitionRow, error) {
	n, err := t.writer.Partition(ctx, p)
	return t.keepLanguage(n), err
}

// CreatePartition implements port.PartitionWriter in the same way.
func (t *Tx) CreatePartition(ctx context.Context, p port.Partition, n port.PartitionRow) (port.PartitionRow, error) {
	n, err := t.writer.CreatePartition(ctx, p, n)
	return t.keepLanguage(n), err
}

func (t *Tx) keepLanguage(n port.PartitionRow) port.PartitionRow {
	if n.Generation != 0 { // it is none where the call failed
		if t.languages == nil {
			t.languages = map[int64]string{}
		}
		t.languages[n.Generation] = n.Language
	}
	return n
}

// writtenOf counts documents, and the chunks of those whose text is written.
func writtenOf(docs []port.DocumentWrite) port.Usage {
	u := port.Usage{Documents: int64(len(docs))}
	for i := range docs {
		if !docs[i].MetadataOnly {
			u.Chunks += int64(len(docs[i].Document.Chunks))
		}
	}
	return u
}

// noteRebuild notes the last change of the partition whose indexes are to be rebuilt.
func (t *Tx) noteRebuild(seq uint64) {
	if n := len(t.steps); n > 0 && t.steps[n-1].rebuild {
		t.steps[n-1].seq = seq
		return
	}
	t.steps = append(t.steps, step{partition: t.rebuilt, seq: seq, rebuild: true})
}

// keptVectors reads the vectors of those documents whose text stays.
func (t *Tx) keptVectors(
	ctx context.Context, p port.Partition, docs []port.DocumentWrite,
) (map[string]port.Vectors, error) {
	var ids []string
	for i := range docs {
		if docs[i].MetadataOnly {
			ids = append(ids, docs[i].Document.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return t.Vectors(ctx, p, ids)
}

// Delete removes those of ids that exist from a pinned partition, and from its shadow,
// under one new change number, and returns how many there were. A namespace is removed
// with its last document.
func (t *Tx) Delete(ctx context.Context, p port.Partition, at time.Time, ids []string) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	stored, err := t.storedHeads(ctx, p, len(ids), func(i int) string { return ids[i] })
	if err != nil {
		return 0, err
	}
	deleted, seq, gone, err := t.documents.DeleteDocuments(ctx, p, at, ids)
	if err != nil || deleted == 0 {
		return 0, err
	}
	t.deletes = true
	for _, id := range ids {
		if d := stored[id]; d != nil {
			t.collectChange(ctx, d, DocumentChange{Partition: p, Action: Deleted, Cause: t.cause, Seq: seq, At: at})
		}
	}
	done := step{partition: p, seq: seq, gone: gone}
	if !gone {
		done.changes = make([]port.IndexChange, len(ids))
		for i, id := range ids {
			done.changes[i].Document = id
		}
	}
	t.steps = append(t.steps, done)
	return deleted, nil
}

// DropEmpty removes the row of a namespace without documents, so that it can be created
// again with other models. Fault Conflict if it holds documents.
func (t *Tx) DropEmpty(ctx context.Context, p port.Partition) error {
	row, err := t.Partition(ctx, p)
	if err != nil {
		return err
	}
	if row.Documents > 0 {
		return fault.New(fault.Conflict, "namespace %q holds %d documents", p.Name(), row.Documents)
	}
	_, err = t.documents.DeletePartition(ctx, p)
	return err
}

// EndErasure removes the row of an end user whose data an erasure has removed. The
// erasure itself bypasses this log: behind its mark, which keeps every writer out, it
// removes memories in batches, and every replica drops its indexes before this call.
// So the indexes have nothing to apply, and listeners get one change for the end user
// and none for the erased memories.
func (t *Tx) EndErasure(ctx context.Context, p port.Partition, at time.Time) error {
	if err := t.documents.EndErasure(ctx, p); err != nil {
		return err
	}
	if t.listening {
		t.collectChange(ctx, &port.Document{}, DocumentChange{Partition: p, Action: Erased, Cause: t.cause, At: at})
	}
	return nil
}
