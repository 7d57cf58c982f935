package bunsql

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Database is one of several that an installation is spread over (package sharded).
type Database struct {
	Name         string
	Number       int64 // 0: the home; never given twice
	Installation string
}

// Databases lists what is known here of the installation's databases, by number: in the home all
// of them, in another one itself, in one that is alone none.
func (r *Reader) Databases(ctx context.Context) ([]Database, error) {
	const op = "list databases"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT name, number, installation FROM databases ORDER BY number`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Database
	for rows.Next() {
		var d Database
		if err := rows.Scan(&d.Name, &d.Number, &d.Installation); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, d)
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// PutDatabase inserts a database.
func (w *Writer) PutDatabase(ctx context.Context, d Database) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write database", `INSERT INTO databases (name, number, installation) VALUES (?, ?, ?)`,
		d.Name, d.Number, d.Installation)
	return w.fail(err)
}

// numbersApart is how far the identity columns of two databases lie apart: what one numbers has a number that
// no other gives, and stays below 2^53.
const numbersApart = 1 << 40

// MostDatabases is how many databases keep their numbers below 2^53.
const MostDatabases = 1 << 13

// Distance has the identity columns begin where those of no other database are.
func (w *Writer) Distance(ctx context.Context, n Numbers, number int64) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	for _, i := range identities {
		last, err := n.Last(ctx, w.s, i.table, i.column)
		if err != nil {
			return w.fail(err)
		}
		if from := number * numbersApart; last < from {
			if err := n.Set(ctx, w.s, i.table, i.column, from); err != nil {
				return w.fail(err)
			}
		}
	}
	return nil
}

// Placement names the database that has the rows of an organization; "": the home.
func (r *Reader) Placement(ctx context.Context, org ident.Org) (name string, err error) {
	if err := r.check(ctx); err != nil {
		return "", err
	}
	_, err = r.s.get(ctx, "read placement", `SELECT name FROM placements WHERE org = ?`, []any{string(org)}, &name)
	return name, err
}

// Placed names the databases of the organizations that are not in the home.
func (r *Reader) Placed(ctx context.Context) (map[ident.Org]string, error) {
	const op = "list placements"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT org, name FROM placements`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[ident.Org]string{}
	for rows.Next() {
		var org, name string
		if err := rows.Scan(&org, &name); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out[ident.Org(org)] = name
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// CountPlacements counts the organizations of each database but the home.
func (r *Reader) CountPlacements(ctx context.Context) (map[string]int64, error) {
	const op = "count placements"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT name, count(*) FROM placements GROUP BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out[name] = n
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// PutPlacement says which database has the rows of an organization; "": the home, or none.
func (w *Writer) PutPlacement(ctx context.Context, org ident.Org, name string) (err error) {
	if err := w.check(ctx); err != nil {
		return err
	}
	if name == "" {
		_, err = w.s.exec(ctx, "remove placement", `DELETE FROM placements WHERE org = ?`, string(org))
	} else {
		_, err = w.s.exec(ctx, "write placement", `INSERT INTO placements (org, name) VALUES (?, ?) `+
			`ON CONFLICT (org) DO UPDATE SET name = EXCLUDED.name`, string(org), name)
	}
	return w.fail(err)
}

// MirrorReplica begins here the life of a replica that the home says has begun: an earlier one is over, and so
// are its claims.
func (w *Writer) MirrorReplica(ctx context.Context, r port.Replica, lease time.Duration) error {
	const op = "mirror replica"
	if err := w.check(ctx); err != nil {
		return err
	}
	now, err := w.now(ctx)
	if err != nil {
		return err
	}
	if _, err := w.s.exec(ctx, op, `DELETE FROM claims WHERE replica = ?`, r.ID); err != nil {
		return w.fail(err)
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO replicas (id, epoch, expires_at) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE `+
		`SET epoch = EXCLUDED.epoch, expires_at = EXCLUDED.expires_at`, r.ID, r.Epoch, now+lease.Microseconds())
	return w.fail(err)
}

// FenceClaim keeps out of this database whoever held a claim of the home before c: fault Conflict
// when a later holder was here first.
func (w *Writer) FenceClaim(ctx context.Context, c port.Claim) error {
	const op = "fence claim"
	if err := w.check(ctx); err != nil {
		return err
	}
	var fence int64
	seen, err := w.s.get(ctx, op, `SELECT fence FROM claims WHERE name = ?`, []any{c.Name}, &fence)
	switch {
	case err != nil:
		return err
	case seen && fence == c.Fence:
		return nil
	case seen && fence > c.Fence:
		return fault.New(fault.Conflict, "another replica has taken %s over", c.Name)
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO claims (name, replica, epoch, fence) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET replica = EXCLUDED.replica, epoch = EXCLUDED.epoch, fence = EXCLUDED.fence`, c.Name,
		c.Replica.ID, c.Replica.Epoch, c.Fence)
	return w.fail(err)
}

// TakeAudit has audit records wait here that wait in another database, each once however often it is taken.
func (w *Writer) TakeAudit(ctx context.Context, from string, rs []port.AuditRecord) error {
	const op = "take audit records over"
	if err := w.check(ctx); err != nil {
		return err
	}
	for _, r := range rs {
		n, err := w.s.exec(ctx, op, `INSERT INTO audit_taken (id, name) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`, r.ID, from)
		if err == nil && n > 0 {
			err = w.AppendAudit(ctx, r)
		}
		if err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// DropAudit forgets audit records that wait here and were taken over elsewhere.
func (w *Writer) DropAudit(ctx context.Context, rs []port.AuditRecord) error {
	return w.eachAudit(ctx, `DELETE FROM audit_waiting WHERE id IN (SELECT value FROM {{each}})`, rs)
}

// DoneAudit says that records which TakeAudit took wait nowhere else any more.
func (w *Writer) DoneAudit(ctx context.Context, rs []port.AuditRecord) error {
	return w.eachAudit(ctx, `DELETE FROM audit_taken WHERE id IN (SELECT value FROM {{each}})`, rs)
}

func (w *Writer) eachAudit(ctx context.Context, statement string, rs []port.AuditRecord) error {
	const op = "forget audit records"
	if err := w.check(ctx); err != nil {
		return err
	}
	ids := make([]string, len(rs))
	for i, r := range rs {
		ids[i] = r.ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return w.fail(internal(op, "%w", err))
	}
	_, err = w.s.exec(ctx, op, statement, string(list))
	return w.fail(err)
}

// TakenAudit lists the ids of records that were taken over from a database and may still wait there.
func (r *Reader) TakenAudit(ctx context.Context, from string, limit int) ([]port.AuditRecord, error) {
	const op = "read audit records taken over"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT id FROM audit_taken WHERE name = ? ORDER BY id LIMIT ?`, from, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.AuditRecord
	for rows.Next() {
		var x port.AuditRecord
		if err := rows.Scan(&x.ID); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, x)
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// LockDatabase has transactions of the home that concern another database follow one another.
func (w *Writer) LockDatabase(ctx context.Context, name string) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "lock database", `UPDATE databases SET number = number WHERE name = ?`, name)
	return w.fail(err)
}

// HasWebhook reports whether a webhook is here.
func (r *Reader) HasWebhook(ctx context.Context, id string) (bool, error) {
	return r.has(ctx, `SELECT 1 FROM webhooks WHERE id = ?`, id)
}

// HasSource reports whether a source is here.
func (r *Reader) HasSource(ctx context.Context, id string) (bool, error) {
	return r.has(ctx, `SELECT 1 FROM sources WHERE id = ?`, id)
}

// HasSourceRun reports whether a run of a source is here.
func (r *Reader) HasSourceRun(ctx context.Context, id string) (bool, error) {
	return r.has(ctx, `SELECT 1 FROM source_runs WHERE id = ?`, id)
}

// HasMember reports whether a member is here.
func (r *Reader) HasMember(ctx context.Context, id string) (bool, error) {
	return r.has(ctx, `SELECT 1 FROM members WHERE id = ?`, id)
}

// WebhookDue is since when a delivery of a webhook is due; zero: none is by then.
func (r *Reader) WebhookDue(ctx context.Context, id string, by time.Time) (time.Time, error) {
	if err := r.check(ctx); err != nil {
		return time.Time{}, err
	}
	var at int64
	_, err := r.s.get(ctx, "look when a webhook is due",
		`SELECT coalesce(min(next_at), 0) FROM deliveries WHERE webhook = ? AND next_at <= ?`, []any{id, micros(by)}, &at)
	return instant(at), err
}

func (r *Reader) has(ctx context.Context, query string, key any) (bool, error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	var one int64
	return r.s.get(ctx, "look where it is", query, []any{key}, &one)
}
