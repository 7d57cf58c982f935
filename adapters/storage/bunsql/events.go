package bunsql

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const eventColumns = `position, id, org, coalesce(seq, 0), kind, entity, namespace, coalesce(subject, ''), created_at`

// events reads the events that rest selects, which stands behind FROM.
func (r *Reader) events(ctx context.Context, op string, bodies bool, rest string, args ...any) ([]port.Event, error) {
	columns := eventColumns
	if bodies {
		columns += `, body`
	}
	rows, err := r.s.query(ctx, op, `SELECT `+columns+` FROM events `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Event
	for rows.Next() {
		var e port.Event
		var org string
		var created int64
		into := []any{&e.Position, &e.ID, &org, &e.Seq, &e.Kind, &e.Entity, &e.Namespace, &e.Subject, &created}
		if bodies {
			into = append(into, &e.Body)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		e.Org, e.CreatedAt = ident.Org(org), instant(created)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// eventWindow is how many events a list looks at that selects among them.
const eventWindow = 10_000

// Events implements port.EventReader.
func (r *Reader) Events(ctx context.Context, org ident.Org, l port.EventList) (found []port.Event, last uint64, err error) {
	const op = "list events"
	if err := r.check(ctx); err != nil || l.Limit <= 0 {
		return nil, l.After, err
	}
	where, args := `org = ? AND seq > ?`, []any{string(org), int64(l.After)}
	last = l.After
	if len(l.Kinds) > 0 || l.Namespace != "" {
		var upto int64
		if _, err := r.s.get(ctx, op, `SELECT coalesce(max(seq), 0) FROM
  (SELECT seq FROM events WHERE org = ? AND seq > ? ORDER BY seq LIMIT ?) AS w`,
			[]any{string(org), int64(l.After), int64(eventWindow)}, &upto); err != nil {
			return nil, l.After, err
		}
		last = max(last, uint64(upto))
		where, args = where+` AND seq <= ?`, append(args, upto)
	}
	if len(l.Kinds) > 0 {
		list, err := each(l.Kinds)
		if err != nil {
			return nil, l.After, err
		}
		where, args = where+` AND kind IN (SELECT j.value FROM {{each}})`, append(args, list)
	}
	if l.Namespace != "" {
		where, args = where+` AND namespace = ?`, append(args, l.Namespace)
	}
	found, err = r.events(ctx, op, true, `WHERE `+where+` ORDER BY seq LIMIT ?`, append(args, int64(l.Limit))...)
	if err != nil {
		return nil, l.After, err
	}
	if n := len(found); n == l.Limit || n > 0 && found[n-1].Seq > last {
		last = found[n-1].Seq
	}
	return found, last, nil
}

// Event implements port.EventReader.
func (r *Reader) Event(ctx context.Context, org ident.Org, id string) (port.Event, error) {
	if err := r.check(ctx); err != nil {
		return port.Event{}, err
	}
	found, err := r.events(ctx, "read event", true, `WHERE id = ? AND org = ? AND seq IS NOT NULL`, id, string(org))
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "there is no event %q", fault.Clip(id))
	}
	if err != nil {
		return port.Event{}, err
	}
	return found[0], nil
}

// EventStream implements port.EventReader.
func (r *Reader) EventStream(ctx context.Context, org ident.Org) (s port.EventStream, err error) {
	if err := r.check(ctx); err != nil {
		return s, err
	}
	_, err = r.s.get(ctx, "read stream of events", `SELECT seq, trimmed FROM event_streams WHERE org = ?`, []any{string(org)},
		&s.Last, &s.Trimmed)
	return s, err
}

// UnnumberedEvents implements port.EventReader.
func (r *Reader) UnnumberedEvents(ctx context.Context, limit int) ([]port.Event, error) {
	if err := r.check(ctx); err != nil || limit <= 0 {
		return nil, err
	}
	return r.events(ctx, "list new events", false, `WHERE seq IS NULL ORDER BY position LIMIT ?`, int64(limit))
}

// EventsRead implements port.EventReader.
func (r *Reader) EventsRead(ctx context.Context, org ident.Org) (at time.Time, webhooks bool, err error) {
	if err := r.check(ctx); err != nil {
		return time.Time{}, false, err
	}
	var us, has int64
	_, err = r.s.get(ctx, "read readers of events", `SELECT coalesce((SELECT read_at FROM event_readers WHERE org = ?), 0),
  CASE WHEN EXISTS (SELECT 1 FROM webhooks WHERE org = ?) THEN 1 ELSE 0 END`, []any{string(org), string(org)}, &us, &has)
	return instant(us), has != 0, err
}

// The numbers of rows that one statement inserts: few, since each is a statement that
// stays prepared.
var eventInserts = [...]int{64, 8, 1}

var insertEvents = func() map[int]string {
	all := map[int]string{}
	for _, n := range eventInserts {
		all[n] = `INSERT INTO events (id, org, kind, entity, namespace, subject, body, created_at) VALUES ` +
			strings.TrimSuffix(strings.Repeat(`(?, ?, ?, ?, ?, ?, ?, ?), `, n), `, `)
	}
	return all
}()

// AppendEvents implements port.EventWriter.
func (w *Writer) AppendEvents(ctx context.Context, events []port.Event) error {
	const op = "append events"
	if err := w.check(ctx); err != nil || len(events) == 0 {
		return err
	}
	for _, n := range eventInserts {
		for ; len(events) >= n; events = events[n:] {
			args := make([]any, 0, 8*n)
			for _, e := range events[:n] {
				if e.ID == "" || e.Kind == "" || e.Entity == "" || len(e.Body) == 0 {
					return w.fail(internal(op, "event %q of kind %q of %q with %d bytes", e.ID, e.Kind, e.Entity, len(e.Body)))
				}
				args = append(args, e.ID, string(e.Org), e.Kind, e.Entity, e.Namespace,
					sql.NullString{String: e.Subject, Valid: e.Subject != ""}, e.Body, micros(e.CreatedAt))
			}
			if _, err := w.s.exec(ctx, op, insertEvents[n], args...); err != nil {
				return w.fail(err)
			}
		}
	}
	return nil
}

// positions is a list of rows as the argument of {{each}}.
func positions(of []int64) (string, error) {
	list := make([]string, len(of))
	for i, p := range of {
		list[i] = strconv.FormatInt(p, 10)
	}
	return each(list)
}

// NumberEvents implements port.EventWriter.
func (w *Writer) NumberEvents(ctx context.Context, events []port.Event) ([]port.Event, error) {
	const op = "number events"
	if err := w.check(ctx); err != nil {
		return nil, err
	}
	var orgs []ident.Org
	rows := map[ident.Org][]int64{}
	for _, e := range events {
		if rows[e.Org] == nil {
			orgs = append(orgs, e.Org)
		}
		rows[e.Org] = append(rows[e.Org], e.Position)
	}
	var numbered []port.Event
	for _, org := range orgs {
		stream, err := w.EventStream(ctx, org)
		if err != nil {
			return nil, w.fail(err)
		}
		list, err := positions(rows[org])
		if err != nil {
			return nil, w.fail(err)
		}
		n, err := w.s.exec(ctx, op, `UPDATE events SET seq = CAST(? AS {{int64}}) + n.place FROM
  (SELECT CAST(j.value AS {{int64}}) AS position, row_number() OVER (ORDER BY CAST(j.value AS {{int64}})) AS place
  FROM {{each}}) n
WHERE events.position = n.position AND events.seq IS NULL AND events.org = ?`, int64(stream.Last), list, string(org))
		if err != nil {
			return nil, w.fail(err)
		}
		if n == 0 {
			continue // an erasure was quicker; an organization that is gone gets no stream
		}
		last := int64(stream.Last) + int64(len(rows[org]))
		if _, err := w.s.exec(ctx, op, `INSERT INTO event_streams (org, seq, trimmed) VALUES (?, ?, 0)
  ON CONFLICT (org) DO UPDATE SET seq = EXCLUDED.seq`, string(org), last); err != nil {
			return nil, w.fail(err)
		}
		got, err := w.events(ctx, op, false, `WHERE org = ? AND seq > ? AND seq <= ? ORDER BY seq`, string(org),
			int64(stream.Last), last)
		if err != nil {
			return nil, w.fail(err)
		}
		numbered = append(numbered, got...)
	}
	return numbered, nil
}

// TrimEvents implements port.EventWriter.
func (w *Writer) TrimEvents(ctx context.Context, before time.Time, limit int) (more bool, err error) {
	const op = "trim events"
	if err := w.check(ctx); err != nil {
		return false, err
	}
	if limit <= 0 {
		return false, internal(op, "limit %d", limit)
	}
	oldest, err := w.events(ctx, op, false, `ORDER BY position LIMIT ?`, int64(limit))
	if err != nil {
		return false, err
	}
	var old []int64
	trimmed := map[ident.Org]uint64{}
	for _, e := range oldest {
		if e.Seq != 0 && e.CreatedAt.Before(before) {
			old = append(old, e.Position)
			trimmed[e.Org] = max(trimmed[e.Org], e.Seq)
		}
	}
	if len(old) == 0 {
		return false, nil
	}
	list, err := positions(old)
	if err != nil {
		return false, w.fail(err)
	}
	if _, err := w.deleteEvents(ctx, op, `SELECT CAST(j.value AS {{int64}}) FROM {{each}}`, list); err != nil {
		return false, err
	}
	for org, seq := range trimmed {
		if _, err := w.s.exec(ctx, op, `UPDATE event_streams SET trimmed = ? WHERE org = ? AND trimmed < ?`,
			int64(seq), string(org), int64(seq)); err != nil {
			return false, w.fail(err)
		}
	}
	return len(old) == limit, nil
}

// deleteEvents deletes the events whose positions a query gives, and their deliveries.
func (w *Writer) deleteEvents(ctx context.Context, op, positions string, args ...any) (int64, error) {
	if err := w.deleteDeliveries(ctx, op, `SELECT id FROM events WHERE position IN (`+positions+`)`, args...); err != nil {
		return 0, err
	}
	n, err := w.s.exec(ctx, op, `DELETE FROM events WHERE position IN (`+positions+`)`, args...)
	return n, w.fail(err)
}

// NoteEventsRead implements port.EventWriter.
func (w *Writer) NoteEventsRead(ctx context.Context, org ident.Org, at time.Time) error {
	if err := w.requireLasting(ctx, org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "note reader of events", `INSERT INTO event_readers (org, read_at) VALUES (?, ?)
  ON CONFLICT (org) DO UPDATE SET read_at = EXCLUDED.read_at WHERE event_readers.read_at < EXCLUDED.read_at`,
		string(org), micros(at))
	return w.fail(err)
}

// BreakEvents implements port.EventWriter.
func (w *Writer) BreakEvents(ctx context.Context, org ident.Org) error {
	if err := w.requireLasting(ctx, org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "break stream of events", `INSERT INTO event_streams (org, seq, trimmed) VALUES (?, 1, 1)
  ON CONFLICT (org) DO UPDATE SET seq = event_streams.seq + 1, trimmed = event_streams.seq + 1`, string(org))
	return w.fail(err)
}
