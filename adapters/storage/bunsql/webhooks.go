package bunsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const webhookColumns = `w.org, w.id, w.url, w.kinds, w.admin, w.description, w.scheme, w.enabled, w.reason, w.failing_since, ` +
	`w.failing_events, w.failing_event, w.failing_at, w.created_at, w.updated_at`

// webhooks reads the webhooks, called w, that rest selects, which stands behind FROM.
func (r *Reader) webhooks(ctx context.Context, op, rest string, args ...any) ([]port.WebhookRow, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT `+webhookColumns+` FROM webhooks w `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.WebhookRow
	for rows.Next() {
		var w port.WebhookRow
		var org, kinds string
		var admin, enabled, since, at, created, updated int64
		if err := rows.Scan(&org, &w.ID, &w.URL, &kinds, &admin, &w.Description, &w.Scheme, &enabled, &w.Reason, &since,
			&w.Health.Events, &w.Health.Event, &at, &created, &updated); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if err := json.Unmarshal([]byte(kinds), &w.Kinds); err != nil {
			return nil, internal(op, "damaged kinds of %s: %w", w.ID, err)
		}
		w.Org, w.Admin, w.Enabled = ident.Org(org), admin != 0, enabled != 0
		w.Health.Since, w.Health.At, w.CreatedAt, w.UpdatedAt = instant(since), instant(at), instant(created), instant(updated)
		out = append(out, w)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// Webhook implements port.WebhookReader.
func (r *Reader) Webhook(ctx context.Context, org ident.Org, id string) (port.WebhookRow, error) {
	found, err := r.webhooks(ctx, "read webhook", `WHERE w.org = ? AND w.id = ?`, string(org), id)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "there is no webhook %q", fault.Clip(id))
	}
	if err != nil {
		return port.WebhookRow{}, err
	}
	return found[0], nil
}

// Webhooks implements port.WebhookReader.
func (r *Reader) Webhooks(ctx context.Context, org ident.Org) ([]port.WebhookRow, error) {
	return r.webhooks(ctx, "list webhooks", `WHERE w.org = ? ORDER BY w.id`, string(org))
}

// HasWebhooks implements port.WebhookReader.
func (r *Reader) HasWebhooks(ctx context.Context) (bool, error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	var one int64
	return r.s.get(ctx, "look for webhooks", `SELECT 1 FROM webhooks LIMIT 1`, nil, &one)
}

// WebhookSecrets implements port.WebhookReader.
func (r *Reader) WebhookSecrets(ctx context.Context, org ident.Org, webhook string) ([]port.WebhookSecret, error) {
	const op = "read secrets of webhook"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT id, sealed, public, created_at, expires_at FROM webhook_secrets
WHERE org = ? AND webhook = ? ORDER BY created_at DESC, id DESC`, string(org), webhook)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.WebhookSecret
	for rows.Next() {
		var s port.WebhookSecret
		var created, expires int64
		if err := rows.Scan(&s.ID, &s.Sealed, &s.Public, &created, &expires); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		s.CreatedAt, s.ExpiresAt = instant(created), instant(expires)
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// DueWebhooks implements port.WebhookReader.
func (r *Reader) DueWebhooks(ctx context.Context, self port.Replica, by time.Time, limit int) (due []port.WebhookRow,
	next time.Time, err error) {
	const op = "list due webhooks"
	if err := r.check(ctx); err != nil {
		return nil, next, err
	}
	var after int64
	if _, err := r.s.get(ctx, op, `SELECT coalesce(min(next_at), 0) FROM deliveries WHERE next_at > ?`, []any{micros(by)},
		&after); err != nil {
		return nil, next, err
	}
	var one int64
	if ok, err := r.s.get(ctx, op, `SELECT 1 FROM deliveries WHERE next_at <= ? LIMIT 1`, []any{micros(by)}, &one); err != nil ||
		!ok {
		return nil, instant(after), err
	}
	now, err := r.now(ctx)
	if err != nil {
		return nil, next, err
	}
	due, err = r.webhooks(ctx, op, `JOIN organizations o ON o.id = w.org AND o.suspended = 0 JOIN
  (SELECT v.org, v.id, (SELECT d.next_at FROM deliveries d WHERE d.webhook = v.id AND d.next_at <= ? ORDER BY d.next_at
    LIMIT 1) AS since FROM webhooks v WHERE v.enabled = 1) q ON q.org = w.org AND q.id = w.id AND q.since IS NOT NULL
WHERE NOT EXISTS (SELECT 1 FROM claims c JOIN replicas r ON r.id = c.replica AND r.epoch = c.epoch
  WHERE c.name = 'webhook/' || w.id AND r.expires_at > ? AND (r.id <> ? OR r.epoch <> ?))
ORDER BY q.since, w.id LIMIT ?`, micros(by), now, self.ID, self.Epoch, int64(limit))
	return due, instant(after), err
}

const deliveryColumns = `d.position, d.id, d.org, d.webhook, d.event, d.seq, d.kind, d.entity, d.status, d.attempts, d.tries, ` +
	`d.next_at, d.redelivery_of, d.created_at, d.updated_at`

// deliveries reads the deliveries, called d, that rest selects, which stands behind FROM.
func (r *Reader) deliveries(ctx context.Context, op string, bodies bool, rest string, args ...any) ([]port.Delivery, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	columns := deliveryColumns
	if bodies {
		columns += `, e.body`
	}
	rows, err := r.s.query(ctx, op, `SELECT `+columns+` FROM deliveries d `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Delivery
	for rows.Next() {
		var d port.Delivery
		var org, attempts string
		var next sql.NullInt64
		var created, updated int64
		into := []any{&d.Position, &d.ID, &org, &d.Webhook, &d.Event, &d.Seq, &d.Kind, &d.Entity, &d.Status, &attempts,
			&d.Tries, &next, &d.Redelivery, &created, &updated}
		if bodies {
			into = append(into, &d.Body)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if err := json.Unmarshal([]byte(attempts), &d.Attempts); err != nil {
			return nil, internal(op, "damaged attempts of %s: %w", d.ID, err)
		}
		d.Org, d.NextAt, d.CreatedAt, d.UpdatedAt = ident.Org(org), instant(next.Int64), instant(created), instant(updated)
		out = append(out, d)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// DueDeliveries implements port.WebhookReader.
func (r *Reader) DueDeliveries(ctx context.Context, org ident.Org, webhook string, by time.Time, limit int) ([]port.Delivery,
	error) {
	return r.deliveries(ctx, "list due deliveries", true, `JOIN events e ON e.id = d.event AND e.org = d.org
WHERE d.webhook = ? AND d.next_at <= ? AND d.org = ? ORDER BY d.next_at, d.position LIMIT ?`, webhook, micros(by), string(org),
		int64(limit))
}

// Delivery implements port.WebhookReader.
func (r *Reader) Delivery(ctx context.Context, org ident.Org, webhook, id string) (port.Delivery, error) {
	found, err := r.deliveries(ctx, "read delivery", false, `WHERE d.id = ? AND d.org = ? AND d.webhook = ?`, id, string(org),
		webhook)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "there is no delivery %q", fault.Clip(id))
	}
	if err != nil {
		return port.Delivery{}, err
	}
	return found[0], nil
}

// Deliveries implements port.WebhookReader.
func (r *Reader) Deliveries(ctx context.Context, org ident.Org, webhook string, l port.DeliveryList) ([]port.Delivery, error) {
	where, args := `d.webhook = ? AND d.org = ?`, []any{webhook, string(org)}
	if l.Status != "" {
		where, args = where+` AND d.status = ?`, append(args, string(l.Status))
	}
	if l.Before > 0 {
		where, args = where+` AND d.position < ?`, append(args, l.Before)
	}
	return r.deliveries(ctx, "list deliveries", false, `WHERE `+where+` ORDER BY d.position DESC LIMIT ?`,
		append(args, int64(l.Limit))...)
}

// DeliveriesOf implements port.WebhookReader.
func (r *Reader) DeliveriesOf(ctx context.Context, org ident.Org, event string, limit int) ([]port.Delivery, error) {
	return r.deliveries(ctx, "list deliveries of event", false,
		`WHERE d.event = ? AND d.org = ? ORDER BY d.position DESC LIMIT ?`,
		event, string(org), int64(limit))
}

// Undelivered implements port.WebhookReader.
func (r *Reader) Undelivered(ctx context.Context, org ident.Org, l port.UndeliveredList) ([]port.Event, error) {
	if err := r.check(ctx); err != nil || l.Limit <= 0 {
		return nil, err
	}
	kinds, err := each(l.Kinds)
	if err != nil {
		return nil, err
	}
	return r.events(ctx, "list undelivered events", false, `WHERE org = ? AND seq > ? AND created_at >= ? AND created_at < ?
AND kind IN (SELECT j.value FROM {{each}}) AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event = events.id
  AND d.webhook = ? AND d.status IN ('pending', 'succeeded')) ORDER BY seq LIMIT ?`, string(org), int64(l.After),
		micros(l.Since), micros(l.Until), kinds, l.Webhook, int64(l.Limit))
}

// PutWebhook implements port.WebhookWriter.
func (w *Writer) PutWebhook(ctx context.Context, row port.WebhookRow) error {
	const op = "write webhook"
	if err := w.requireLasting(ctx, row.Org); err != nil {
		return err
	}
	kinds, err := json.Marshal(append([]string{}, row.Kinds...))
	if err != nil {
		return internal(op, "%w", err)
	}
	n, err := w.s.exec(ctx, op, `INSERT INTO webhooks (org, id, url, kinds, admin, description, scheme, enabled, reason,
  failing_since, failing_events, failing_event, failing_at, created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '', 0, ?, ?)
ON CONFLICT (id) DO UPDATE SET url = EXCLUDED.url, kinds = EXCLUDED.kinds, admin = EXCLUDED.admin,
  description = EXCLUDED.description, scheme = EXCLUDED.scheme, enabled = EXCLUDED.enabled, reason = EXCLUDED.reason,
  updated_at = EXCLUDED.updated_at WHERE webhooks.org = EXCLUDED.org`,
		string(row.Org), row.ID, row.URL, string(kinds), flag(row.Admin), row.Description, row.Scheme, flag(row.Enabled),
		row.Reason, micros(row.CreatedAt), micros(row.UpdatedAt))
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "the id %s is another organization's", row.ID)
	}
	return nil
}

// NoteWebhookHealth implements port.WebhookWriter.
func (w *Writer) NoteWebhookHealth(ctx context.Context, org ident.Org, id string, h port.WebhookHealth) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "note health of webhook", `UPDATE webhooks SET failing_since = ?, failing_events = ?,
  failing_event = ?, failing_at = ? WHERE org = ? AND id = ?`, micros(h.Since), int64(h.Events), h.Event, micros(h.At),
		string(org), id)
	return w.fail(err)
}

// SetWebhookSecrets implements port.WebhookWriter.
func (w *Writer) SetWebhookSecrets(ctx context.Context, org ident.Org, webhook string, secrets []port.WebhookSecret) error {
	const op = "write secrets of webhook"
	if _, err := w.Webhook(ctx, org, webhook); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, op, `DELETE FROM webhook_secrets WHERE org = ? AND webhook = ?`, string(org), webhook)
	if err != nil {
		return w.fail(err)
	}
	for _, s := range secrets {
		if _, err := w.s.exec(ctx, op, `INSERT INTO webhook_secrets (org, webhook, id, sealed, public, created_at, expires_at)
VALUES (?, ?, ?, ?, ?, ?, ?)`, string(org), webhook, s.ID, s.Sealed, s.Public, micros(s.CreatedAt),
			micros(s.ExpiresAt)); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// DeleteWebhook implements port.WebhookWriter.
func (w *Writer) DeleteWebhook(ctx context.Context, org ident.Org, id string, limit int) (more bool, err error) {
	const op = "delete webhook"
	if err := w.check(ctx); err != nil {
		return false, err
	}
	if limit <= 0 {
		return false, internal(op, "limit %d", limit)
	}
	for _, statement := range [...]string{
		`DELETE FROM webhook_secrets WHERE org = ? AND webhook = ?`,
		`DELETE FROM webhooks WHERE org = ? AND id = ?`,
	} {
		if _, err := w.s.exec(ctx, op, statement, string(org), id); err != nil {
			return false, w.fail(err)
		}
	}
	n, err := w.s.exec(ctx, op, `DELETE FROM deliveries WHERE position IN (SELECT position FROM deliveries WHERE webhook = ?
  AND org = ? ORDER BY position LIMIT ?)`, id, string(org), int64(limit))
	return n == int64(limit), w.fail(err)
}

var insertDeliveries = func() map[int]string {
	all := map[int]string{}
	for _, n := range eventInserts {
		all[n] = `INSERT INTO deliveries (id, org, webhook, event, seq, kind, entity, status, attempts, tries, redelivery_of, ` +
			`created_at, updated_at) VALUES ` +
			strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?, ?, ?, ?, 'pending', '[]', 0, ?, ?, ?), `, n), `, `)
	}
	return all
}()

// AppendDeliveries implements port.WebhookWriter.
func (w *Writer) AppendDeliveries(ctx context.Context, deliveries []port.Delivery) error {
	const op = "append deliveries"
	if err := w.check(ctx); err != nil || len(deliveries) == 0 {
		return err
	}
	of := lanes{}
	for rest := deliveries; len(rest) > 0; {
		for _, n := range eventInserts {
			for ; len(rest) >= n; rest = rest[n:] {
				args := make([]any, 0, 10*n)
				for _, d := range rest[:n] {
					if d.ID == "" || d.Webhook == "" || d.Event == "" || d.Seq == 0 || d.Entity == "" {
						return w.fail(internal(op, "delivery %q of event %q, number %d, of %q to %q", d.ID, d.Event, d.Seq,
							d.Entity, d.Webhook))
					}
					of.add(d.Webhook, d.Entity)
					args = append(args, d.ID, string(d.Org), d.Webhook, d.Event, int64(d.Seq), d.Kind, d.Entity, d.Redelivery,
						micros(d.CreatedAt), micros(d.CreatedAt))
				}
				if _, err := w.s.exec(ctx, op, insertDeliveries[n], args...); err != nil {
					return w.fail(err)
				}
			}
		}
	}
	return w.order(ctx, op, of)
}

// lanes are entities by webhook. Of the pending deliveries of each, one after the other is due.
type lanes map[string]map[string]bool

func (l lanes) add(webhook, entity string) {
	if l[webhook] == nil {
		l[webhook] = map[string]bool{}
	}
	l[webhook][entity] = true
}

// firstOfLane is the pending delivery that goes first, of a webhook and an entity that stand for the verbs.
const firstOfLane = `(SELECT f.position FROM deliveries f WHERE f.webhook = %w AND f.entity = %e AND f.status = 'pending'
  ORDER BY f.seq, f.position LIMIT 1)`

var (
	// What has come to the front is due since it was made: others were before it until now.
	dueFirst = `UPDATE deliveries SET next_at = created_at WHERE next_at IS NULL AND status = 'pending' AND position IN
  (SELECT ` + strings.NewReplacer("%w", "?", "%e", "j.value").Replace(firstOfLane) + ` FROM {{each}})`
	waitBehind = `UPDATE deliveries SET next_at = NULL WHERE webhook = ? AND next_at IS NOT NULL AND entity IN
  (SELECT j.value FROM {{each}}) AND position <> ` +
		strings.NewReplacer("%w", "deliveries.webhook", "%e", "deliveries.entity").Replace(firstOfLane)
)

// order has the first pending delivery of each lane be due, and no other.
func (w *Writer) order(ctx context.Context, op string, of lanes) error {
	for webhook, entities := range of {
		list := make([]string, 0, len(entities))
		for e := range entities {
			list = append(list, e)
		}
		names, err := each(list)
		if err != nil {
			return w.fail(err)
		}
		for _, statement := range [...]string{waitBehind, dueFirst} {
			if _, err := w.s.exec(ctx, op, statement, webhook, names); err != nil {
				return w.fail(err)
			}
		}
	}
	return nil
}

// SettleDeliveries implements port.WebhookWriter.
func (w *Writer) SettleDeliveries(ctx context.Context, org ident.Org, webhook string, deliveries []port.Delivery) error {
	const op = "settle deliveries"
	if err := w.check(ctx); err != nil {
		return err
	}
	ended := lanes{}
	for _, d := range deliveries {
		attempts, err := json.Marshal(append([]port.DeliveryAttempt{}, d.Attempts...))
		if err != nil {
			return w.fail(internal(op, "%w", err))
		}
		next := sql.NullInt64{Int64: micros(d.NextAt), Valid: d.Status == port.DeliveryPending && !d.NextAt.IsZero()}
		of := []any{d.ID, string(org), webhook}
		n, err := w.s.exec(ctx, op, `UPDATE deliveries SET status = ?, attempts = ?, tries = ?, next_at = ?, updated_at = ?
WHERE id = ? AND org = ? AND webhook = ? AND status = 'pending'`, append([]any{string(d.Status), string(attempts),
			int64(d.Tries), next, micros(d.UpdatedAt)}, of...)...)
		if err != nil {
			return w.fail(err)
		}
		if n > 0 {
			ended.add(webhook, d.Entity)
			continue
		}
		status := port.DeliveryDropped
		if d.Status == port.DeliverySucceeded {
			status = d.Status
		}
		if _, err := w.s.exec(ctx, op, `UPDATE deliveries SET status = ?, attempts = ?, tries = ?, updated_at = ?
WHERE id = ? AND org = ? AND webhook = ? AND status = 'dropped'`, append([]any{string(status), string(attempts),
			int64(d.Tries), micros(d.UpdatedAt)}, of...)...); err != nil {
			return w.fail(err)
		}
	}
	return w.order(ctx, op, ended)
}

// DropDeliveries implements port.WebhookWriter.
func (w *Writer) DropDeliveries(ctx context.Context, org ident.Org, webhook string, at time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "drop deliveries", `UPDATE deliveries SET status = 'dropped', next_at = NULL, updated_at = ?
WHERE webhook = ? AND status = 'pending' AND org = ?`, micros(at), webhook, string(org))
	return w.fail(err)
}

// deleteDeliveries deletes the deliveries of the events whose ids a query gives.
func (w *Writer) deleteDeliveries(ctx context.Context, op, events string, args ...any) error {
	left, err := w.lanesOf(ctx, op, events, args...)
	if err != nil {
		return w.fail(err)
	}
	if _, err := w.s.exec(ctx, op, `DELETE FROM deliveries WHERE event IN (`+events+`)`, args...); err != nil {
		return w.fail(err)
	}
	return w.order(ctx, op, left)
}

// lanesOf are the lanes of the pending deliveries of events.
func (r *Reader) lanesOf(ctx context.Context, op, events string, args ...any) (lanes, error) {
	rows, err := r.s.query(ctx, op, `SELECT DISTINCT webhook, entity FROM deliveries WHERE status = 'pending' AND event IN (`+
		events+`)`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := lanes{}
	for rows.Next() {
		var webhook, entity string
		if err := rows.Scan(&webhook, &entity); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out.add(webhook, entity)
	}
	return out, r.s.d.Fault(op, rows.Err())
}
