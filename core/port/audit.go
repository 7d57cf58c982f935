package port

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// AuditActor says what kind of caller did something.
type AuditActor string

// The actors.
const (
	ActorKey       AuditActor = "key"       // an API key, AuditRecord.KeyID
	ActorMember    AuditActor = "member"    // a member who signed in to the console, AuditRecord.KeyID
	ActorAnonymous AuditActor = "anonymous" // a caller without a valid key, who was refused
	ActorCLI       AuditActor = "cli"       // a command on the machine of the data folder, past the API
	ActorSystem    AuditActor = "system"    // background work
)

// AuditRecord says who did what to what. It holds no text, no value and no secret:
// names of fields, ids and the names of namespaces are all. An end user stands in it as a
// keyed hash.
type AuditRecord struct {
	ID        string // "aud_..."; rises with time, and orders what waits for a number
	At        time.Time
	Org       ident.Org // whose data it was about; "": no organization's
	Actor     AuditActor
	KeyID     string // or id of the member
	Action    string // an operation's name, "job." and a kind of job, or "cli." and a command
	Target    string // id or name of what it was done to; "": told by the action
	RequestID string
	Status    int      // HTTP status of the answer that it leads to
	Fields    []string // names of the fields that the request's body set

	// The place in the log, given after the commit by NumberAudit.
	Seq      uint64   // 1, 2, 3...
	Previous [32]byte // Hash of the record numbered before; zero for the first
	Hash     [32]byte // Sum
}

// Sum is the SHA-256 of a record with its number and the hash of the one before, so that
// records which are removed, changed or put in show.
func (r AuditRecord) Sum() [32]byte {
	b, _ := json.Marshal([]any{ // cannot fail: texts and numbers
		r.Seq, hex.EncodeToString(r.Previous[:]), r.ID, r.At.UnixMicro(), r.Org, r.Actor, r.KeyID, r.Action, r.Target,
		r.RequestID, r.Status, r.Fields,
	})
	return sha256.Sum256(b)
}

// AuditHead says where the log ends, and up to where retention has removed it.
type AuditHead struct {
	Seq         uint64 // of the last record; 0: there was none yet
	Hash        [32]byte
	Trimmed     uint64 // of the last record that was removed; 0: none
	TrimmedHash [32]byte
}

// AuditList asks for numbered records. What is left out is any.
type AuditList struct {
	Org       ident.Org
	Actor     AuditActor
	KeyID     string
	Action    string
	Target    string // alone, or one of several with commas between them
	RequestID string
	Since     time.Time // made then or later
	Until     time.Time // made before
	Refused   bool      // only those with a status of 400 or more
	Ascending bool      // oldest first; else newest first
	After     uint64    // only numbers above
	Before    uint64    // only numbers below; 0: all
	Limit     int       // 0: all
}

// AuditReader reads the audit log.
type AuditReader interface {
	// AuditRecords lists a page of numbered records.
	AuditRecords(ctx context.Context, l AuditList) ([]AuditRecord, error)
	// AuditHead says where the log ends.
	AuditHead(ctx context.Context) (AuditHead, error)
	// WaitingAudit reads records that have no number yet, by id, oldest first.
	WaitingAudit(ctx context.Context, limit int) ([]AuditRecord, error)
}

// AuditAppender takes the record of a change in the change's own transaction.
type AuditAppender interface {
	// AppendAudit stores a record without a number.
	AppendAudit(ctx context.Context, r AuditRecord) error
}

// AuditWriter changes the audit log.
type AuditWriter interface {
	AuditAppender
	// NumberAudit moves records that wait to the end of the log. Their numbers follow
	// AuditHead.Seq. Fault Conflict where one does not wait, or a number is taken.
	NumberAudit(ctx context.Context, rs []AuditRecord) error
	// TrimAudit removes the oldest records, as many as were made before a time and follow
	// each other, up to limit, and says how many.
	TrimAudit(ctx context.Context, before time.Time, limit int) (int, error)
	// Changed reports whether the transaction has changed anything so far.
	Changed() bool
}

// ActorOf says as what a caller stands in the log.
func ActorOf(p ident.Principal) AuditActor {
	if p.Role != "" {
		return ActorMember
	}
	return ActorKey
}

// AuditEntry is what is being done, as far as it is known: the context carries it from the
// edge to the transaction that does it, which stores its record. Safe for concurrent use.
type AuditEntry struct {
	// Record makes the record when it is to be stored. Without ID and At it gets them then.
	Record func() AuditRecord
	// Reads is of a call that changes nothing: no transaction takes it, and what About says
	// stands in the record of a refusal.
	Reads bool

	mu     sync.Mutex
	org    ident.Org
	target string
	state  auditState
}

type auditState int

const (
	auditOpen auditState = iota
	auditTaken
	auditStored
)

type auditEntryKey struct{}

// WithAudit carries an entry.
func WithAudit(ctx context.Context, e *AuditEntry) context.Context {
	return context.WithValue(ctx, auditEntryKey{}, e)
}

// AuditOf is the entry that a context carries; nil: what is done is not recorded.
func AuditOf(ctx context.Context) *AuditEntry {
	e, _ := ctx.Value(auditEntryKey{}).(*AuditEntry)
	return e
}

// About says whose data is changed or read, where it is not the caller's organization. A nil entry
// takes it and does nothing.
func (e *AuditEntry) About(org ident.Org) {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.org = org
	}
}

// Made says the id of what the transaction makes, which no request could name. A nil entry
// takes it and does nothing.
func (e *AuditEntry) Made(id string) {
	if e != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.target = id
	}
}

// Said is what About and Made said last.
func (e *AuditEntry) Said() (org ident.Org, target string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.org, e.target
}

// Take reserves the entry for one transaction; false: another one has it, or has stored it.
func (e *AuditEntry) Take() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Reads || e.state != auditOpen {
		return false
	}
	e.state = auditTaken
	return true
}

// Settle says whether the transaction that took the entry has committed its record.
func (e *AuditEntry) Settle(stored bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state = auditOpen
	if stored {
		e.state = auditStored
	}
}

// Stored reports whether the record is in the store.
func (e *AuditEntry) Stored() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state == auditStored
}
