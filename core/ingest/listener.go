package ingest

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Cause says why documents change.
type Cause string

// The causes, all there are.
const (
	// CauseWrite is a caller's write of documents or memories.
	CauseWrite Cause = "write"
	// CauseDelete is a caller's deletion, the tombstone of a source-owned memory too.
	CauseDelete Cause = "delete"
	// CauseImport is a data set that comes into a namespace.
	CauseImport Cause = "import"
	// CauseSync is a source that brings its documents.
	CauseSync Cause = "sync"
	// CauseErasure is the end of an end user's erasure.
	CauseErasure Cause = "erasure"
	// CauseReencoding replaces vectors; what the document says stays.
	CauseReencoding Cause = "reencoding"
	// CauseShadow copies a document into the hidden generation that a reindexing
	// builds.
	CauseShadow Cause = "shadow"
)

// UserMade reports whether a caller or a source changed stored data. Other changes
// are derivations, which only the indexes need to see.
func (c Cause) UserMade() bool { return c != CauseReencoding && c != CauseShadow }

// Action says what a change did to a document.
type Action string

// The actions.
const (
	Created Action = "created"
	Updated Action = "updated"
	Deleted Action = "deleted"
	Erased  Action = "erased" // all of a partition; nothing names what it held
)

// DocumentChange describes one changed document to a Listener.
type DocumentChange struct {
	Partition port.Partition // pinned
	ID        string         // "" when Erased
	Action    Action
	Cause     Cause
	// MetadataOnly says that an updated document's text is what it was.
	MetadataOnly bool
	// Seq is the change number of the partition; documents that changed together
	// share it. 0 when Erased.
	Seq uint64
	// At is the document's UpdatedAt, which a derivation leaves as it was, or the
	// time of the deletion.
	At time.Time

	SourceID           string // of a document that a source keeps; "": none
	Source, ExternalID string // of a source-owned memory; "": none

	KeyID string // of the caller; "": the server on its own
	Job   string // id of the background job that made the change; "": none
}

// Listener observes changes of documents in the transaction that makes them.
type Listener interface {
	// Changed is called once for each transaction that changed documents, after all
	// that the transaction does. What it stores through w commits with the changes
	// or not at all, and its error rolls both back. Like the transaction it may run
	// again after a conflict, so it must have no effect outside w, and must not keep
	// changes. Calls may run concurrently.
	Changed(ctx context.Context, w Writer, changes []DocumentChange) error
}

// heads are documents that the transaction has read and not changed since.
type heads struct {
	of   port.Partition
	byID map[string]*port.Document // nil: it is not there
}

// Documents implements port.DocumentReader. One that changes documents has read them
// before, as a rule, so that listeners cost no second reading.
func (t *Tx) Documents(ctx context.Context, p port.Partition, ids []string, parts port.Part) ([]port.DocumentHead, error) {
	found, err := t.writer.Documents(ctx, p, ids, parts)
	if err != nil || !t.listening {
		return found, err
	}
	t.known = heads{p, make(map[string]*port.Document, len(ids))}
	for _, id := range ids {
		t.known.byID[id] = nil
	}
	for i := range found {
		d := &found[i].Document
		t.known.byID[d.ID] = &port.Document{ID: d.ID, TextHash: d.TextHash, SourceID: d.SourceID, Source: d.Source,
			ExternalID: d.ExternalID}
	}
	return found, nil
}

// storedHeads are the documents that are about to change; nothing without listeners.
func (t *Tx) storedHeads(ctx context.Context, p port.Partition, n int, id func(int) string) (map[string]*port.Document, error) {
	if !t.listening || n == 0 {
		return nil, nil
	}
	defer func() { t.known = heads{} }() // they change now
	ids, all := make([]string, n), t.known.of == p
	for i := range ids {
		ids[i] = id(i)
		_, read := t.known.byID[ids[i]]
		all = all && read
	}
	if !all {
		if _, err := t.Documents(ctx, p, ids, 0); err != nil {
			return nil, err
		}
	}
	return t.known.byID, nil
}

// collectPut collects for the listeners what a put did.
func (t *Tx) collectPut(
	ctx context.Context, docs []port.DocumentWrite, before map[string]*port.Document, c DocumentChange,
) {
	if !t.listening {
		return
	}
	for i := range docs {
		d := &docs[i].Document
		c.Action, c.MetadataOnly, c.At = Created, false, d.UpdatedAt
		if h := before[d.ID]; h != nil {
			c.Action, c.MetadataOnly = Updated, h.TextHash == d.TextHash
		}
		t.collectChange(ctx, d, c)
	}
}

// collectChange collects one change.
func (t *Tx) collectChange(ctx context.Context, d *port.Document, c DocumentChange) {
	c.ID, c.SourceID, c.Source, c.ExternalID = d.ID, d.SourceID, d.Source, d.ExternalID
	if who := ident.Known(ctx); who != nil {
		c.KeyID = who.KeyID
	}
	c.Job = ident.Job(ctx)
	t.observed = append(t.observed, c)
}
