package webhook

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Settings configure a Service. Store and Pages are required.
type Settings struct {
	Store  port.Store
	Sender port.Sender // nil: nothing is sent
	Sealer port.Sealer // nil: no webhook can be made
	Pages  *page.Signer
	HTTP   bool             // URLs without TLS are taken
	Wake   func()           // called when there may be something to send; nil: nobody sends
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: nothing is logged
}

// Service does the operations of webhooks.
type Service struct {
	store  port.Narrowed[reader, writer]
	sender port.Sender
	sealer port.Sealer
	pages  *page.Signer
	http   bool
	wake   func()
	now    func() time.Time
	log    *slog.Logger
}

// New makes the service.
func New(s Settings) *Service {
	if s.Wake == nil {
		s.Wake = func() {}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{narrow(s.Store), s.Sender, s.Sealer, s.Pages, s.HTTP, s.Wake, s.Now, s.Log}
}

// The schemes of signatures.
const (
	SchemeShared     = "v1"
	SchemeAsymmetric = "v1a"
)

// mostWebhooks is how many an organization may have.
const mostWebhooks = 20

// scope is whose webhooks a call works on.
type scope struct {
	org   ident.Org
	admin bool
}

// own is the caller's organization.
func own(ctx context.Context) (scope, error) {
	who := ident.From(ctx)
	if who.Namespace != "" || who.Source != "" {
		return scope{}, fault.New(fault.Forbidden, "a key that is limited to a namespace or a source does not reach webhooks")
	}
	return scope{org: who.Org}, nil
}

// of is an organization that the caller administers.
func (s *Service) of(ctx context.Context, name string) (c scope, err error) {
	c.admin = true
	err = s.store.View(ctx, func(r reader) (err error) {
		c.org, err = event.Administered(ctx, r, name)
		return err
	})
	if err == nil {
		port.AuditOf(ctx).About(c.org)
	}
	return c, err
}

// find reads a webhook that the caller sees.
func (c scope) find(ctx context.Context, r port.WebhookReader, id string) (port.WebhookRow, error) {
	row, err := r.Webhook(ctx, c.org, id)
	if err == nil && row.Admin && !c.admin {
		err = notThere(id)
	}
	return row, err
}

func (s *Service) moment() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// checkURL refuses what could never be sent to.
func (s *Service) checkURL(raw string) error {
	refuse := func(format string, args ...any) error {
		return fault.Field(fault.InvalidRequest, "url", format, args...)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "" || u.Opaque != "":
		return refuse("is no absolute URL, such as https://example.org/hooks")
	case u.Scheme == "http" && !s.http:
		return refuse("is without TLS, which this server does not send to: it takes https URLs")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("is no https URL")
	case u.User != nil:
		return refuse("must not hold a user or a password")
	case u.Fragment != "":
		return refuse("must not have a fragment")
	}
	return nil
}

// checkKinds refuses unknown kinds, and those that the caller's key does not see. admin says
// whether only admin keys see all that would be sent.
func checkKinds(c scope, kinds []string) (admin bool, err error) {
	all, visible := event.Names(true), event.Names(false)
	if len(kinds) == 0 {
		return c.admin, nil
	}
	for i, k := range kinds {
		field := fmt.Sprintf("kinds[%d]", i)
		switch {
		case !slices.Contains(all, k):
			return false, fault.Field(fault.InvalidRequest, field, "%q is no kind of event%s", fault.Clip(k),
				registry.Suggest(k, all))
		case !slices.Contains(visible, k) && !c.admin:
			return false, fault.New(fault.Forbidden, "events of kind %s are for admin keys", k)
		case !slices.Contains(visible, k):
			admin = true
		}
	}
	return admin, nil
}

// Create are the parameters of a new webhook.
type Create struct {
	URL         string   `json:"url" required:"true" minLength:"1" maxLength:"2000" doc:"where to send events: an https URL"`
	Kinds       []string `json:"kinds,omitempty" maxItems:"100" enum:"namespace.created,namespace.deleted,namespace.reindexed,documents.written,documents.deleted,source.run.completed,source.run.failed,source.deletions_withheld,source.credentials_failed,source.state_changed,memory.created,memory.updated,memory.tombstoned,memory.restored,memory.deleted,user.erased,quota.exceeded,key.created,key.revoked,model.state_changed,webhook.disabled" doc:"the kinds of events to send, as GET /event_kinds lists them; none: all that the key sees, and those that are to come"`
	Description *string  `json:"description,omitempty" pattern:"^[^\\u0000]*$" maxLength:"500" rule:"must be at most 500 characters, none of them NUL" doc:"for people"`
	Signature   *string  `json:"signature,omitempty" enum:"v1,v1a" default:"v1" doc:"v1: a shared secret, which every library of Standard Webhooks checks; v1a: a key pair, of which the receiver gets the public half"`
	Enabled     *bool    `json:"enabled,omitempty" default:"true" doc:"whether to send from now on"`
}

// CreateOf is Create in an organization.
type CreateOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	Create
}

// Create makes a webhook of the caller's organization.
func (s *Service) Create(ctx context.Context, in Create) (Made, error) {
	c, err := own(ctx)
	if err != nil {
		return Made{}, err
	}
	return s.create(ctx, c, in)
}

// CreateOf makes a webhook of an organization that the caller administers.
func (s *Service) CreateOf(ctx context.Context, in CreateOf) (Made, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Made{}, err
	}
	return s.create(ctx, c, in.Create)
}

func (s *Service) create(ctx context.Context, c scope, in Create) (Made, error) {
	if err := s.checkURL(in.URL); err != nil {
		return Made{}, err
	}
	admin, err := checkKinds(c, in.Kinds)
	if err != nil {
		return Made{}, err
	}
	now := s.moment()
	row := port.WebhookRow{ID: "whk_" + uuid.Must(uuid.NewV7()).String(), Org: c.org, URL: in.URL, Kinds: unique(in.Kinds),
		Admin: admin, Scheme: SchemeShared, Enabled: in.Enabled == nil || *in.Enabled, CreatedAt: now, UpdatedAt: now}
	if in.Description != nil {
		row.Description = *in.Description
	}
	if in.Signature != nil {
		row.Scheme = *in.Signature
	}
	secret, shown, err := s.newSecret(ctx, row, now)
	if err != nil {
		return Made{}, err
	}
	secrets := []port.WebhookSecret{secret}
	err = s.store.Update(ctx, func(w writer) error {
		port.AuditOf(ctx).Made(row.ID)
		all, err := w.Webhooks(ctx, c.org)
		if err != nil {
			return err
		}
		if len(all) >= mostWebhooks {
			return fault.New(fault.Conflict, "the organization has %d webhooks, as many as it may", len(all))
		}
		if err := w.PutWebhook(ctx, row); err != nil {
			return err
		}
		return w.SetWebhookSecrets(ctx, c.org, row.ID, secrets)
	})
	if err != nil {
		return Made{}, err
	}
	return Made{s.show(ctx, row, secrets), shown, 201}, nil
}

// unique are kinds, each once.
func unique(kinds []string) (out []string) {
	for _, k := range kinds {
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

const secretBytes = 32

// newSecret makes a secret, and what the caller is shown of it.
func (s *Service) newSecret(ctx context.Context, row port.WebhookRow, now time.Time) (out port.WebhookSecret, shown *string,
	err error) {
	if s.sealer == nil {
		return out, nil, fault.Off("this server cannot keep secrets: it has no key to encrypt them with")
	}
	out = port.WebhookSecret{ID: "whs_" + uuid.Must(uuid.NewV7()).String(), CreatedAt: now}
	var plain string
	if row.Scheme == SchemeAsymmetric {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return out, nil, fmt.Errorf("make a key: %w", err)
		}
		plain = "whsk_" + base64.StdEncoding.EncodeToString(private)
		out.Public = "whpk_" + base64.StdEncoding.EncodeToString(public)
	} else {
		var key [secretBytes]byte
		rand.Read(key[:]) // never fails
		plain = "whsec_" + base64.StdEncoding.EncodeToString(key[:])
		shown = &plain
	}
	out.Sealed, err = s.sealer.Seal(ctx, sealPlace(row, out.ID), []byte(plain))
	return out, shown, err
}

// List are the parameters of GET /webhooks.
type List struct{}

// ListOf is List in an organization.
type ListOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
}

// List lists the webhooks of the caller's organization.
func (s *Service) List(ctx context.Context, _ List) (Webhooks, error) {
	c, err := own(ctx)
	if err != nil {
		return Webhooks{}, err
	}
	return s.list(ctx, c)
}

// ListOf lists the webhooks of an organization that the caller administers.
func (s *Service) ListOf(ctx context.Context, in ListOf) (Webhooks, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Webhooks{}, err
	}
	return s.list(ctx, c)
}

func (s *Service) list(ctx context.Context, c scope) (Webhooks, error) {
	var rows []port.WebhookRow
	secrets := map[string][]port.WebhookSecret{}
	err := s.store.View(ctx, func(r reader) (err error) {
		if rows, err = r.Webhooks(ctx, c.org); err != nil {
			return err
		}
		for _, row := range rows {
			if secrets[row.ID], err = r.WebhookSecrets(ctx, c.org, row.ID); err != nil {
				return err
			}
		}
		return nil
	})
	out := Webhooks{Webhooks: []Webhook{}}
	for _, row := range rows {
		if err == nil && (c.admin || !row.Admin) {
			out.Webhooks = append(out.Webhooks, s.show(ctx, row, secrets[row.ID]))
		}
	}
	return out, err
}

// Ref names a webhook in a path.
type Ref struct {
	ID string `path:"id" json:"-" schema:"Text" doc:"id of the webhook"`
}

// RefOf is Ref in an organization.
type RefOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	Ref
}

// Get reads a webhook of the caller's organization.
func (s *Service) Get(ctx context.Context, in Ref) (Webhook, error) {
	c, err := own(ctx)
	if err != nil {
		return Webhook{}, err
	}
	return s.get(ctx, c, in.ID)
}

// GetOf reads a webhook of an organization that the caller administers.
func (s *Service) GetOf(ctx context.Context, in RefOf) (Webhook, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Webhook{}, err
	}
	return s.get(ctx, c, in.ID)
}

func (s *Service) read(ctx context.Context, c scope, id string) (row port.WebhookRow, secrets []port.WebhookSecret, err error) {
	err = s.store.View(ctx, func(r reader) (err error) {
		if row, err = c.find(ctx, r, id); err == nil {
			secrets, err = r.WebhookSecrets(ctx, c.org, id)
		}
		return err
	})
	return row, secrets, err
}

func (s *Service) get(ctx context.Context, c scope, id string) (Webhook, error) {
	row, secrets, err := s.read(ctx, c, id)
	if err != nil {
		return Webhook{}, err
	}
	return s.show(ctx, row, secrets), nil
}

// Change is what changes of a webhook. What is left out stays.
type Change struct {
	Ref
	URL         *string   `json:"url,omitempty" minLength:"1" maxLength:"2000" doc:"where to send events: an https URL"`
	Kinds       *[]string `json:"kinds,omitempty" maxItems:"100" enum:"namespace.created,namespace.deleted,namespace.reindexed,documents.written,documents.deleted,source.run.completed,source.run.failed,source.deletions_withheld,source.credentials_failed,source.state_changed,memory.created,memory.updated,memory.tombstoned,memory.restored,memory.deleted,user.erased,quota.exceeded,key.created,key.revoked,model.state_changed,webhook.disabled" doc:"the kinds of events to send; none: all that the key sees"`
	Description *string   `json:"description,omitempty" pattern:"^[^\\u0000]*$" maxLength:"500" rule:"must be at most 500 characters, none of them NUL" doc:"for people"`
	Enabled     *bool     `json:"enabled,omitempty" doc:"false drops what waits to be sent; true starts afresh"`
}

// ChangeOf is Change in an organization.
type ChangeOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	Change
}

// JSONSchema implements op.Schemer: a change of nothing is refused.
func (c *Change) JSONSchema() string {
	return `{"not": {"properties": {"url": {"const": null}, "kinds": {"const": null}, "description": {"const": null}, ` +
		`"enabled": {"const": null}}}}`
}

// Validate refuses a change of nothing.
func (c *Change) Validate() error {
	if c.URL == nil && c.Kinds == nil && c.Description == nil && c.Enabled == nil {
		return fault.New(fault.InvalidRequest, "nothing is changed: give url, kinds, description or enabled")
	}
	return nil
}

// Change changes a webhook of the caller's organization.
func (s *Service) Change(ctx context.Context, in Change) (Webhook, error) {
	c, err := own(ctx)
	if err != nil {
		return Webhook{}, err
	}
	return s.change(ctx, c, in)
}

// ChangeOf changes a webhook of an organization that the caller administers.
func (s *Service) ChangeOf(ctx context.Context, in ChangeOf) (Webhook, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Webhook{}, err
	}
	return s.change(ctx, c, in.Change)
}

func (s *Service) change(ctx context.Context, c scope, in Change) (Webhook, error) {
	if in.URL != nil {
		if err := s.checkURL(*in.URL); err != nil {
			return Webhook{}, err
		}
	}
	var admin bool
	if in.Kinds != nil {
		var err error
		if admin, err = checkKinds(c, *in.Kinds); err != nil {
			return Webhook{}, err
		}
	}
	now := s.moment()
	err := s.store.Update(ctx, func(w writer) error {
		row, err := c.find(ctx, w, in.ID)
		if err != nil {
			return err
		}
		if in.URL != nil {
			row.URL = *in.URL
		}
		if in.Kinds != nil {
			row.Kinds, row.Admin = unique(*in.Kinds), admin
		}
		if in.Description != nil {
			row.Description = *in.Description
		}
		switched := in.Enabled != nil && *in.Enabled != row.Enabled
		if switched {
			row.Enabled, row.Reason = *in.Enabled, ""
		}
		row.UpdatedAt = now
		if err := w.PutWebhook(ctx, row); err != nil || !switched {
			return err
		}
		if err := w.NoteWebhookHealth(ctx, c.org, row.ID, port.WebhookHealth{}); err != nil || row.Enabled {
			return err
		}
		return w.DropDeliveries(ctx, c.org, row.ID, now)
	})
	if err != nil {
		return Webhook{}, err
	}
	s.wake()
	return s.get(ctx, c, in.ID)
}

// Delete deletes a webhook of the caller's organization.
func (s *Service) Delete(ctx context.Context, in Ref) (Deleted, error) {
	c, err := own(ctx)
	if err != nil {
		return Deleted{}, err
	}
	return s.remove(ctx, c, in.ID)
}

// DeleteOf deletes a webhook of an organization that the caller administers.
func (s *Service) DeleteOf(ctx context.Context, in RefOf) (Deleted, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Deleted{}, err
	}
	return s.remove(ctx, c, in.ID)
}

// removeAtOnce is how many deliveries a transaction forgets.
const removeAtOnce = 1000

func (s *Service) remove(ctx context.Context, c scope, id string) (out Deleted, err error) {
	for more := true; more && err == nil; {
		err = s.store.Update(ctx, func(w writer) (err error) {
			switch _, err = c.find(ctx, w, id); {
			case err == nil:
				out.Deleted = true
			case fault.CodeOf(err) != fault.NotFound:
				return err
			default:
				row, err := w.Webhook(ctx, c.org, id)
				if err == nil && row.Admin { // it is not the caller's to see
					more = false
					return nil
				}
			}
			more, err = w.DeleteWebhook(ctx, c.org, id, removeAtOnce)
			return err
		})
	}
	return out, err
}

// Test sends a test to a webhook of the caller's organization.
func (s *Service) Test(ctx context.Context, in Ref) (Tested, error) {
	c, err := own(ctx)
	if err != nil {
		return Tested{}, err
	}
	return s.test(ctx, c, in.ID)
}

// TestOf sends a test to a webhook of an organization that the caller administers.
func (s *Service) TestOf(ctx context.Context, in RefOf) (Tested, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Tested{}, err
	}
	return s.test(ctx, c, in.ID)
}

func (s *Service) test(ctx context.Context, c scope, id string) (Tested, error) {
	row, secrets, err := s.read(ctx, c, id)
	if err != nil {
		return Tested{}, err
	}
	if s.sender == nil {
		return Tested{}, fault.Off("this server sends nothing to webhooks")
	}
	m := port.WebhookMessage{URL: row.URL, ID: "evt_" + uuid.Must(uuid.NewV7()).String()}
	for _, one := range live(secrets, s.now()) {
		secret, err := open(ctx, s.sealer, row, one)
		if err != nil {
			return Tested{}, fault.Wrap(fault.Unavailable, "read the secret of a webhook", err,
				"the server cannot read the webhook's secrets, and sends nothing unsigned")
		}
		m.Secrets = append(m.Secrets, secret)
	}
	m.Body, err = event.Encode(event.WebhookTest, s.moment(), event.TestData{OrganizationID: string(c.org), WebhookID: id})
	if err != nil {
		return Tested{}, fmt.Errorf("encode a test: %w", err)
	}
	got, _ := attempt(ctx, s.sender, m, s.now)
	if err := ctx.Err(); err != nil {
		return Tested{}, err
	}
	return Tested{Delivered: got.Error == "", EventID: m.ID, Attempt: showAttempt(got)}, nil
}

// Rotate are the parameters of POST /webhooks/{id}/rotate.
type Rotate struct {
	Ref
	Overlap string `json:"overlap,omitempty" maxLength:"32" default:"24h" doc:"how long the secret that is replaced signs along, such as 90m: 0s to 168h"`
	Force   bool   `json:"force,omitempty" default:"false" doc:"also while two secrets sign: the older one ends at once"`
}

// RotateOf is Rotate in an organization.
type RotateOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	Rotate
}

// Rotate replaces the secret of a webhook of the caller's organization.
func (s *Service) Rotate(ctx context.Context, in Rotate) (Made, error) {
	c, err := own(ctx)
	if err != nil {
		return Made{}, err
	}
	return s.rotate(ctx, c, in)
}

// RotateOf replaces the secret of a webhook of an organization that the caller administers.
func (s *Service) RotateOf(ctx context.Context, in RotateOf) (Made, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Made{}, err
	}
	return s.rotate(ctx, c, in.Rotate)
}

const defaultOverlap, longestOverlap = 24 * time.Hour, 7 * 24 * time.Hour

func (s *Service) rotate(ctx context.Context, c scope, in Rotate) (Made, error) {
	overlap := defaultOverlap
	if in.Overlap != "" {
		var err error
		if overlap, err = time.ParseDuration(in.Overlap); err != nil || overlap < 0 || overlap > longestOverlap {
			return Made{}, fault.Field(fault.InvalidRequest, "overlap", "is no duration between 0s and 168h, such as 24h")
		}
	}
	row, _, err := s.read(ctx, c, in.ID)
	if err != nil {
		return Made{}, err
	}
	now := s.moment()
	fresh, shown, err := s.newSecret(ctx, row, now)
	if err != nil {
		return Made{}, err
	}
	var secrets []port.WebhookSecret
	err = s.store.Update(ctx, func(w writer) (err error) {
		if row, err = c.find(ctx, w, in.ID); err != nil {
			return err
		}
		all, err := w.WebhookSecrets(ctx, c.org, in.ID)
		if err != nil {
			return err
		}
		secrets = []port.WebhookSecret{fresh}
		before := live(all, now)
		if len(before) > 1 && !in.Force {
			return fault.New(fault.Conflict, "two secrets sign until %s: the receiver may not know the newer one yet; force it "+
				"to end the older one now", before[1].ExpiresAt.UTC().Format(time.RFC3339))
		}
		if len(before) > 0 && overlap > 0 {
			before[0].ExpiresAt = now.Add(overlap)
			secrets = append(secrets, before[0])
		}
		return w.SetWebhookSecrets(ctx, c.org, in.ID, secrets)
	})
	if err != nil {
		return Made{}, err
	}
	return Made{s.show(ctx, row, secrets), shown, 200}, nil
}

// ListDeliveries are the parameters of GET /webhooks/{id}/deliveries.
type ListDeliveries struct {
	Ref
	Status string `query:"status" json:"-" enum:"pending,succeeded,failed,dropped" doc:"only deliveries of this status"`
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
}

// ListDeliveriesOf is ListDeliveries in an organization.
type ListDeliveriesOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	ListDeliveries
}

// Deliveries lists the deliveries of a webhook of the caller's organization.
func (s *Service) Deliveries(ctx context.Context, in ListDeliveries) (Deliveries, error) {
	c, err := own(ctx)
	if err != nil {
		return Deliveries{}, err
	}
	return s.deliveries(ctx, c, in)
}

// DeliveriesOf lists the deliveries of a webhook of an organization that the caller administers.
func (s *Service) DeliveriesOf(ctx context.Context, in ListDeliveriesOf) (Deliveries, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Deliveries{}, err
	}
	return s.deliveries(ctx, c, in.ListDeliveries)
}

// place is what a cursor of deliveries holds.
type place struct {
	Before int64 `json:"b"`
}

func (s *Service) deliveries(ctx context.Context, c scope, in ListDeliveries) (Deliveries, error) {
	bind := []string{"deliveries", string(c.org), in.ID, in.Status}
	var at place
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return Deliveries{}, err
	}
	limit := page.Limit(in.Limit)
	var rows []port.Delivery
	err := s.store.View(ctx, func(r reader) (err error) {
		if _, err = c.find(ctx, r, in.ID); err == nil {
			rows, err = r.Deliveries(ctx, c.org, in.ID, port.DeliveryList{
				Status: port.DeliveryStatus(in.Status), Before: at.Before,
				Limit: limit + 1})
		}
		return err
	})
	if err != nil {
		return Deliveries{}, err
	}
	out := Deliveries{Deliveries: []Delivery{}}
	if len(rows) > limit {
		rows = rows[:limit]
		out.NextCursor = new(s.pages.Seal(place{rows[limit-1].Position}, bind...))
	}
	for _, d := range rows {
		out.Deliveries = append(out.Deliveries, showDelivery(d))
	}
	return out, nil
}

// DeliveryRef names a delivery in a path.
type DeliveryRef struct {
	Ref
	Delivery string `path:"delivery_id" json:"-" schema:"Text" doc:"id of the delivery"`
}

// DeliveryRefOf is DeliveryRef in an organization.
type DeliveryRefOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	DeliveryRef
}

// Delivery reads a delivery of a webhook of the caller's organization.
func (s *Service) Delivery(ctx context.Context, in DeliveryRef) (Delivery, error) {
	c, err := own(ctx)
	if err != nil {
		return Delivery{}, err
	}
	return s.delivery(ctx, c, in)
}

// DeliveryOf reads a delivery of a webhook of an organization that the caller administers.
func (s *Service) DeliveryOf(ctx context.Context, in DeliveryRefOf) (Delivery, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Delivery{}, err
	}
	return s.delivery(ctx, c, in.DeliveryRef)
}

func (s *Service) delivery(ctx context.Context, c scope, in DeliveryRef) (out Delivery, err error) {
	err = s.store.View(ctx, func(r reader) error {
		if _, err := c.find(ctx, r, in.ID); err != nil {
			return err
		}
		d, err := r.Delivery(ctx, c.org, in.ID, in.Delivery)
		out = showDelivery(d)
		return err
	})
	return out, err
}

// Redeliver sends an event again, to a webhook of the caller's organization.
func (s *Service) Redeliver(ctx context.Context, in DeliveryRef) (Delivery, error) {
	c, err := own(ctx)
	if err != nil {
		return Delivery{}, err
	}
	return s.redeliver(ctx, c, in)
}

// RedeliverOf sends an event again, to a webhook of an organization that the caller administers.
func (s *Service) RedeliverOf(ctx context.Context, in DeliveryRefOf) (Delivery, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Delivery{}, err
	}
	return s.redeliver(ctx, c, in.DeliveryRef)
}

func disabled() error {
	return fault.New(fault.Conflict, "the webhook is disabled: enable it first")
}

func (s *Service) redeliver(ctx context.Context, c scope, in DeliveryRef) (out Delivery, err error) {
	now := s.moment()
	err = s.store.Update(ctx, func(w writer) error {
		row, err := c.find(ctx, w, in.ID)
		if err != nil {
			return err
		}
		d, err := w.Delivery(ctx, c.org, in.ID, in.Delivery)
		if err != nil {
			return err
		}
		switch {
		case !row.Enabled:
			return disabled()
		case d.Status == port.DeliveryPending && d.NextAt.IsZero():
			return fault.New(fault.Conflict, "the delivery waits for an earlier one to the same webhook, of %s", d.Entity)
		case d.Status == port.DeliveryPending:
			d.NextAt, d.UpdatedAt = now, now
			err = w.SettleDeliveries(ctx, c.org, in.ID, []port.Delivery{d})
		default:
			again := event.NewDelivery(row, port.Event{ID: d.Event, Org: c.org, Seq: d.Seq, Kind: d.Kind, Entity: d.Entity}, now)
			again.Redelivery = d.ID
			d = again
			err = w.AppendDeliveries(ctx, []port.Delivery{again})
		}
		if err == nil {
			d, err = w.Delivery(ctx, c.org, in.ID, d.ID)
		}
		out = showDelivery(d)
		return err
	})
	if err == nil {
		s.wake()
	}
	out.status = 202
	return out, err
}

// Recover are the parameters of POST /webhooks/{id}/recover.
type Recover struct {
	Ref
	Since time.Time  `json:"since" required:"true" doc:"of the first event"`
	Until *time.Time `json:"until,omitempty" doc:"of the event after the last; none: now"`
}

// RecoverOf is Recover in an organization.
type RecoverOf struct {
	Org string `path:"org" json:"-" schema:"Text" doc:"id or name of the organization"`
	Recover
}

// Recover sends what a webhook of the caller's organization has not taken.
func (s *Service) Recover(ctx context.Context, in Recover) (Recovered, error) {
	c, err := own(ctx)
	if err != nil {
		return Recovered{}, err
	}
	return s.recover(ctx, c, in)
}

// RecoverOf sends what a webhook has not taken of an organization that the caller administers.
func (s *Service) RecoverOf(ctx context.Context, in RecoverOf) (Recovered, error) {
	c, err := s.of(ctx, in.Org)
	if err != nil {
		return Recovered{}, err
	}
	return s.recover(ctx, c, in.Recover)
}

const (
	// recoverAtOnce is how many deliveries a transaction makes, recoverMost a call.
	recoverAtOnce, recoverMost = 500, 50_000
)

func (s *Service) recover(ctx context.Context, c scope, in Recover) (out Recovered, err error) {
	until := s.now()
	if in.Until != nil {
		until = *in.Until
	}
	if in.Since.IsZero() {
		return out, fault.Field(fault.InvalidRequest, "since", "is required")
	}
	if !in.Since.Before(until) {
		return out, fault.Field(fault.InvalidRequest, "since", "is not before until, or now")
	}
	list := port.UndeliveredList{Webhook: in.ID, Since: in.Since, Until: until, Limit: recoverAtOnce}
	for out.More = true; out.More && out.Deliveries < recoverMost; {
		made, last := 0, list.After
		err = s.store.Update(ctx, func(w writer) error {
			row, err := c.find(ctx, w, in.ID)
			if err != nil {
				return err
			}
			if !row.Enabled {
				return disabled()
			}
			list.Kinds = event.WantedKinds(row)
			found, err := w.Undelivered(ctx, c.org, list)
			if err != nil {
				return err
			}
			var all []port.Delivery
			now := s.moment()
			for _, e := range found {
				if last = e.Seq; event.Wanted(row, e) {
					all = append(all, event.NewDelivery(row, e, now))
				}
			}
			made, out.More = len(all), len(found) == recoverAtOnce
			return w.AppendDeliveries(ctx, all)
		})
		if err != nil {
			return out, err
		}
		out.Deliveries += made
		list.After = last
		s.wake()
	}
	return out, nil
}
