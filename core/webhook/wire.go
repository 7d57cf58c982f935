package webhook

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Webhook is a webhook as it is shown.
type Webhook struct {
	ID           string     `json:"id"`
	URL          string     `json:"url" doc:"where events are sent to"`
	Kinds        []string   `json:"kinds" doc:"the kinds of events that are sent; none: all that the kind of key sees that set them"`
	Description  string     `json:"description" doc:"for people"`
	Signature    string     `json:"signature" enum:"v1,v1a" doc:"v1: HMAC-SHA256 with a shared secret; v1a: ed25519, checked with a public key"`
	Enabled      bool       `json:"enabled" doc:"false: nothing is sent, and nothing waits for it"`
	State        string     `json:"state" enum:"active,failing,disabled,secret_unavailable" doc:"failing: its last attempt failed; disabled: enabled is false; secret_unavailable: the server cannot read its secrets, so that deliveries wait"`
	Reason       *string    `json:"reason" doc:"why the server has disabled it: gone, its endpoint answered 410, or failing, it took nothing for days; null: it has not"`
	FailingSince *time.Time `json:"failing_since" doc:"when the first delivery failed that none has succeeded after; null: none has"`
	Secrets      []Secret   `json:"secrets" doc:"what deliveries are signed with, the newest first; two during a rotation"`
	CreatedAt    time.Time  `json:"created_at"`
	UpdatedAt    time.Time  `json:"updated_at" doc:"when its settings last changed"`
}

// Secret is what there is to know of a secret.
type Secret struct {
	ID        string     `json:"id"`
	PublicKey *string    `json:"public_key" doc:"of signature v1a, whpk_ and base64; null: of v1, which has none"`
	CreatedAt time.Time  `json:"created_at"`
	ExpiresAt *time.Time `json:"expires_at" doc:"it signs until then; null: until it is replaced"`
}

// Made is a webhook with its new secret.
type Made struct {
	Webhook
	Secret *string `json:"secret" doc:"whsec_ and base64, for the receiver's library: shown this once; null: signature v1a needs none"`

	status int
}

// StatusCode is 201 where the webhook is new.
func (m Made) StatusCode() int { return m.status }

// Webhooks answers GET /webhooks.
type Webhooks struct {
	Webhooks []Webhook `json:"webhooks" doc:"the oldest first"`
}

// Delivery is the delivery of an event as it is shown.
type Delivery struct {
	ID            string     `json:"id"`
	EventID       string     `json:"event_id" doc:"also the header webhook-id"`
	Kind          string     `json:"kind" doc:"of the event"`
	Entity        string     `json:"entity" doc:"what the event happened to: of one entity one delivery goes after the other"`
	Status        string     `json:"status" enum:"pending,succeeded,failed,dropped" doc:"failed: so did all attempts; dropped: the webhook was disabled"`
	Tries         int        `json:"tries" minimum:"0" doc:"how many attempts there were"`
	Attempts      []Attempt  `json:"attempts" maxItems:"12" doc:"the last ones, in order"`
	NextAttemptAt *time.Time `json:"next_attempt_at" doc:"null: it has ended, or waits for an earlier one of its entity"`
	RedeliveryOf  *string    `json:"redelivery_of" doc:"id of the delivery that it repeats; null: it repeats none"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`

	status int
}

// StatusCode is 202 for a delivery that has been asked for.
func (d Delivery) StatusCode() int { return d.status }

// Attempt is one request and what came of it.
type Attempt struct {
	At     time.Time `json:"at"`
	Status *int      `json:"status" doc:"of the answer; null: there was none"`
	Millis int64     `json:"ms" minimum:"0" doc:"how long it took"`
	Error  *string   `json:"error" doc:"what it failed for; null: it succeeded"`
	Answer *string   `json:"answer" doc:"the first 512 bytes of the answer; null: it was empty"`
}

// Deliveries answers GET /webhooks/{id}/deliveries.
type Deliveries struct {
	Deliveries []Delivery `json:"deliveries" doc:"the newest first"`
	NextCursor *string    `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// Tested answers POST /webhooks/{id}/test.
type Tested struct {
	Delivered bool   `json:"delivered" doc:"whether the endpoint answered 2xx"`
	EventID   string `json:"event_id" doc:"the header webhook-id of the test"`
	Attempt
}

// Deleted answers DELETE /webhooks/{id}.
type Deleted struct {
	Deleted bool `json:"deleted" doc:"false: there was none"`
}

// Recovered answers POST /webhooks/{id}/recover.
type Recovered struct {
	Deliveries int  `json:"deliveries" minimum:"0" doc:"how many were made"`
	More       bool `json:"more" doc:"true: there are more; repeat the call"`
}

func maybe[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}

// show is a webhook as it is shown. It tries its secrets, so that nobody waits for deliveries
// that cannot be signed.
func (s *Service) show(ctx context.Context, row port.WebhookRow, secrets []port.WebhookSecret) Webhook {
	out := Webhook{ID: row.ID, URL: row.URL, Kinds: append([]string{}, row.Kinds...), Description: row.Description,
		Signature: row.Scheme, Enabled: row.Enabled, State: "active", Reason: maybe(row.Reason),
		FailingSince: moment(row.Health.Since), Secrets: []Secret{}, CreatedAt: row.CreatedAt.UTC(),
		UpdatedAt: row.UpdatedAt.UTC()}
	readable := true
	for _, one := range live(secrets, s.now()) {
		if _, err := open(ctx, s.sealer, row, one); err != nil && ctx.Err() == nil {
			readable = false
		}
		out.Secrets = append(out.Secrets, Secret{ID: one.ID, PublicKey: maybe(one.Public), CreatedAt: one.CreatedAt.UTC(),
			ExpiresAt: moment(one.ExpiresAt)})
	}
	switch {
	case !row.Enabled:
		out.State = "disabled"
	case !readable:
		out.State = "secret_unavailable"
	case !row.Health.Since.IsZero():
		out.State = "failing"
	}
	return out
}

func showDelivery(d port.Delivery) Delivery {
	out := Delivery{ID: d.ID, EventID: d.Event, Kind: d.Kind, Entity: d.Entity, Status: string(d.Status), Tries: d.Tries,
		Attempts: make([]Attempt, len(d.Attempts)), NextAttemptAt: moment(d.NextAt), RedeliveryOf: maybe(d.Redelivery),
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC()}
	for i, a := range d.Attempts {
		out.Attempts[i] = showAttempt(a)
	}
	return out
}

func showAttempt(a port.DeliveryAttempt) Attempt {
	return Attempt{At: a.At.UTC(), Status: maybe(a.Status), Millis: a.Millis, Error: maybe(a.Error), Answer: maybe(a.Answer)}
}

func notThere(id string) error {
	return fault.New(fault.NotFound, "there is no webhook %q", fault.Clip(id))
}
