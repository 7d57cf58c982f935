package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Event says that something has happened in an organization. It is stored by the
// transaction that made it happen, and numbered once that is committed.
type Event struct {
	ID   string // "evt_..."; unique, and rising with the time
	Org  ident.Org
	Kind string // such as "documents.written"
	// Entity is what the event happened to, such as "namespace/docs". The events of one
	// entity are numbered in the order of their commits.
	Entity string
	// Namespace is the one that it concerns, for keys that are limited to one; "": none.
	Namespace string
	// Subject names the end user that it tells of, as EventSubject does: an erasure
	// removes it. "": none.
	Subject   string
	Body      []byte // as it is sent; never changed
	CreatedAt time.Time
	Seq       uint64 // its number in the organization; 0: not numbered yet
	Position  int64  // its place in the database; 0: not stored yet
}

// EventSubject names the end user of a memory partition.
func EventSubject(p Partition) string { return p.Integration() + "/" + p.Name() }

// EventList asks for numbered events of an organization in rising order.
type EventList struct {
	After     uint64
	Kinds     []string // empty: all
	Namespace string   // "": any
	Limit     int
}

// EventStream is where an organization's events stand.
type EventStream struct {
	Last    uint64 // the number given last
	Trimmed uint64 // up to which events are forgotten by their age
}

// EventReader reads events.
type EventReader interface {
	// Events lists numbered events of the organization. It may give none, or fewer than
	// there are, where it passed over many that the list does not ask for: last is how
	// far it has looked, and at least After.
	Events(ctx context.Context, org ident.Org, l EventList) (found []Event, last uint64, err error)
	// Event finds a numbered event; fault NotFound when the organization has none of that id.
	Event(ctx context.Context, org ident.Org, id string) (Event, error)
	// EventStream tells where an organization's events stand; zeros when it has none.
	EventStream(ctx context.Context, org ident.Org) (EventStream, error)
	// UnnumberedEvents lists committed events without a number in the order in which the
	// database got them, without their bodies.
	UnnumberedEvents(ctx context.Context, limit int) ([]Event, error)
	// EventsRead is when somebody last read the organization's events, as NoteEventsRead
	// has it (zero: nobody has), and whether it has webhooks.
	EventsRead(ctx context.Context, org ident.Org) (at time.Time, webhooks bool, err error)
}

// EventWriter changes events.
type EventWriter interface {
	EventReader
	// AppendEvents stores events without numbers. It is called last in a transaction:
	// what the transaction locks is locked by then, so that of one entity the database gets
	// events in the order of the commits.
	AppendEvents(ctx context.Context, events []Event) error
	// NumberEvents gives events the next numbers of their organizations, by Position, and
	// answers those that got one, in the order of their numbers, without their bodies.
	// One that has a number, or is gone, is passed over, and may leave a gap. Only one process at a time may do
	// it: the caller holds a claim.
	NumberEvents(ctx context.Context, events []Event) ([]Event, error)
	// TrimEvents forgets numbered events older than a time with their deliveries, of up to limit
	// that are the oldest. more says to call it again.
	TrimEvents(ctx context.Context, before time.Time, limit int) (more bool, err error)
	// NoteEventsRead records that the organization's events were read, never moving back.
	NoteEventsRead(ctx context.Context, org ident.Org, at time.Time) error
	// BreakEvents says that events of an organization were not stored from here on: those
	// that have numbers count as forgotten, and so does the next number, so that
	// every reader's place lies behind EventStream.Trimmed.
	BreakEvents(ctx context.Context, org ident.Org) error
}
