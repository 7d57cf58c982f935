package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// WebhookRow is an endpoint that an organization's events are sent to, as stored.
type WebhookRow struct {
	ID          string // "whk_..."; never reused
	Org         ident.Org
	URL         string
	Kinds       []string // of the events; empty: all that its keys see
	Admin       bool     // only admin keys see it: it is sent what only they see
	Description string
	Scheme      string // of its signatures: "v1" or "v1a"
	Enabled     bool
	Reason      string // why the server has disabled it; "": it has not
	Health      WebhookHealth
	CreatedAt   time.Time
	UpdatedAt   time.Time // of its settings
}

// WebhookHealth says how an endpoint has failed since it last took something. The zero value is
// one that has not.
type WebhookHealth struct {
	Since  time.Time // of the first failure
	Events int       // whose failures count, some time apart
	Event  string    // id of the last of them
	At     time.Time // when that one failed
}

// WebhookSecret is what deliveries are signed with.
type WebhookSecret struct {
	ID        string // unique in its webhook
	Sealed    []byte // by a Sealer, at {Org, "webhook_secrets", webhook, ID}
	Public    string // the public key of scheme v1a; "": of v1, which has none
	CreatedAt time.Time
	ExpiresAt time.Time // it signs until then; zero: until it is replaced
}

// DeliveryStatus is how far a delivery is.
type DeliveryStatus string

// The statuses (docs/contract.md#webhook-deliveries).
const (
	DeliveryPending   DeliveryStatus = "pending"
	DeliverySucceeded DeliveryStatus = "succeeded"
	DeliveryFailed    DeliveryStatus = "failed"  // every attempt has
	DeliveryDropped   DeliveryStatus = "dropped" // its webhook was disabled
)

// Delivery is an event on its way to a webhook. The pending ones of one entity go one after
// the other, by Seq: the first is due at NextAt, those behind it at no time.
type Delivery struct {
	ID         string // "dlv_..."; unique
	Org        ident.Org
	Webhook    string
	Event      string // its id
	Seq        uint64 // of the event
	Kind       string
	Entity     string
	Status     DeliveryStatus
	Attempts   []DeliveryAttempt // the last ones, in order
	Tries      int               // how many there were
	NextAt     time.Time         // zero: others go before it, or it has ended
	Redelivery string            // id of the delivery that it repeats; "": none
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Position   int64  // its place in the database; 0: not stored yet
	Body       []byte // of the event, where it is read to be sent
}

// DeliveryAttempt is one request and what came of it.
type DeliveryAttempt struct {
	At     time.Time `json:"at"`
	Status int       `json:"status,omitempty"` // of the answer; 0: there was none
	Millis int64     `json:"ms"`
	Error  string    `json:"error,omitempty"`  // "": it succeeded
	Answer string    `json:"answer,omitempty"` // how it begins
}

// DeliveryList asks for deliveries of a webhook, newest first.
type DeliveryList struct {
	Status DeliveryStatus // "": any
	Before int64          // Position of the last one of the page before; 0: from the newest
	Limit  int
}

// UndeliveredList asks for events in rising order that a webhook has not taken: those that no
// delivery to it brings or has brought.
type UndeliveredList struct {
	Webhook      string
	Kinds        []string
	Since, Until time.Time // by CreatedAt, Until left out
	After        uint64    // Seq of the last one of the page before
	Limit        int
}

// WebhookReader reads webhooks and their deliveries.
type WebhookReader interface {
	// Webhook finds one; fault NotFound when the organization has none of that id.
	Webhook(ctx context.Context, org ident.Org, id string) (WebhookRow, error)
	// Webhooks lists those of an organization by id.
	Webhooks(ctx context.Context, org ident.Org) ([]WebhookRow, error)
	// WebhookSecrets lists the secrets of a webhook, the newest first.
	WebhookSecrets(ctx context.Context, org ident.Org, webhook string) ([]WebhookSecret, error)
	// DueWebhooks lists enabled webhooks with deliveries that are due by a time, those that have
	// waited longest first: none of a suspended organization, none that another living replica
	// has claimed ("webhook/" and its id). next is when the first delivery after that time is due;
	// zero: none is.
	DueWebhooks(ctx context.Context, self Replica, by time.Time, limit int) (due []WebhookRow, next time.Time, err error)
	// HasWebhooks reports whether any organization has one.
	HasWebhooks(ctx context.Context) (bool, error)
	// DueDeliveries lists deliveries of a webhook that are due by a time, those that have waited
	// longest first, with their bodies.
	DueDeliveries(ctx context.Context, org ident.Org, webhook string, by time.Time, limit int) ([]Delivery, error)
	// Delivery finds one; fault NotFound when the webhook has none of that id.
	Delivery(ctx context.Context, org ident.Org, webhook, id string) (Delivery, error)
	// Deliveries lists deliveries of a webhook, newest first.
	Deliveries(ctx context.Context, org ident.Org, webhook string, l DeliveryList) ([]Delivery, error)
	// DeliveriesOf lists the newest deliveries of an event.
	DeliveriesOf(ctx context.Context, org ident.Org, event string, limit int) ([]Delivery, error)
	// Undelivered lists numbered events that a webhook has not taken, without their bodies.
	Undelivered(ctx context.Context, org ident.Org, l UndeliveredList) ([]Event, error)
}

// WebhookWriter changes webhooks and their deliveries.
type WebhookWriter interface {
	// PutWebhook inserts or replaces a webhook by id, but for its Health; fault NotFound when the
	// organization is absent or being deleted, Conflict when the id is another organization's.
	PutWebhook(ctx context.Context, row WebhookRow) error
	// NoteWebhookHealth replaces the Health of a webhook, if there is one.
	NoteWebhookHealth(ctx context.Context, org ident.Org, id string, h WebhookHealth) error
	// SetWebhookSecrets replaces the secrets of a webhook.
	SetWebhookSecrets(ctx context.Context, org ident.Org, webhook string, secrets []WebhookSecret) error
	// DeleteWebhook forgets a webhook with its secrets, and up to limit of its deliveries. more
	// is false when all is gone; one that is absent is no error.
	DeleteWebhook(ctx context.Context, org ident.Org, id string, limit int) (more bool, err error)
	// AppendDeliveries stores pending deliveries in the order of their entities.
	AppendDeliveries(ctx context.Context, deliveries []Delivery) error
	// SettleDeliveries stores Status, Attempts, Tries, NextAt and UpdatedAt of deliveries of a
	// webhook that are pending. Where one ends, the next one of its entity is due at once. One that
	// was dropped while it was being sent keeps what came of it, and is dropped still unless it succeeded.
	SettleDeliveries(ctx context.Context, org ident.Org, webhook string, deliveries []Delivery) error
	// DropDeliveries ends what is pending of a webhook, as dropped.
	DropDeliveries(ctx context.Context, org ident.Org, webhook string, at time.Time) error
}

// WebhookMessage is one attempt to deliver an event.
type WebhookMessage struct {
	URL     string
	ID      string    // of the event, the same in every attempt
	At      time.Time // of the attempt
	Body    []byte    // the bytes that are signed and sent
	Secrets []string  // those that sign, as they were given out: "whsec_..." or "whsk_..."
}

// WebhookAnswer is what an endpoint answered.
type WebhookAnswer struct {
	Status     int
	RetryAfter time.Duration // that it asks for; 0: it does not
	Text       string        // how its body begins, at most 512 bytes of it, as valid UTF-8
}

// Sender makes the requests of deliveries. Safe for concurrent use.
type Sender interface {
	// Send signs and sends a message, once. What cannot be reached, and what answers with
	// another status than 2xx, is an error whose text the one who named the URL may read.
	Send(ctx context.Context, m WebhookMessage) (WebhookAnswer, error)
}
