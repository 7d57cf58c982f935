package bunsql

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// AppendAudit implements port.AuditAppender.
func (w *Writer) AppendAudit(ctx context.Context, r port.AuditRecord) error {
	const op = "append to the audit log"
	if err := w.check(ctx); err != nil {
		return err
	}
	body, err := json.Marshal(r)
	if err != nil {
		return w.fail(internal(op, "%w", err))
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO audit_waiting (id, record) VALUES (?, ?)`, r.ID, string(body))
	return w.fail(err)
}

// Changed implements port.AuditWriter.
func (w *Writer) Changed() bool { return w.s != nil && w.s.changes != w.began }

// WaitingAudit implements port.AuditReader.
func (r *Reader) WaitingAudit(ctx context.Context, limit int) ([]port.AuditRecord, error) {
	const op = "read waiting audit records"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT record FROM audit_waiting ORDER BY id LIMIT ?`, atMost(limit))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.AuditRecord
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		var x port.AuditRecord
		if err := json.Unmarshal([]byte(body), &x); err != nil {
			return nil, internal(op, "damaged record: %w", err)
		}
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// AuditHead implements port.AuditReader.
func (r *Reader) AuditHead(ctx context.Context) (h port.AuditHead, err error) {
	if err := r.check(ctx); err != nil {
		return h, err
	}
	var seq, trimmed int64
	var hash, trimmedHash []byte
	_, err = r.s.get(ctx, "read the head of the audit log",
		`SELECT seq, hash, trimmed, trimmed_hash FROM audit_head WHERE id = 1`, nil, &seq, &hash, &trimmed, &trimmedHash)
	h.Seq, h.Trimmed = uint64(seq), uint64(trimmed)
	copy(h.Hash[:], hash)
	copy(h.TrimmedHash[:], trimmedHash)
	return h, err
}

func (w *Writer) putAuditHead(ctx context.Context, h port.AuditHead) error {
	_, err := w.s.exec(ctx, "write the head of the audit log",
		`INSERT INTO audit_head (id, seq, hash, trimmed, trimmed_hash) VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE `+
			`SET seq = excluded.seq, hash = excluded.hash, trimmed = excluded.trimmed, trimmed_hash = excluded.trimmed_hash`,
		int64(h.Seq), h.Hash[:], int64(h.Trimmed), h.TrimmedHash[:])
	return w.fail(err)
}

// NumberAudit implements port.AuditWriter.
func (w *Writer) NumberAudit(ctx context.Context, rs []port.AuditRecord) error {
	const op = "number audit records"
	head, err := w.AuditHead(ctx)
	if err != nil {
		return w.fail(err)
	}
	for _, r := range rs {
		if r.Seq != head.Seq+1 {
			return fault.New(fault.Conflict, "the audit log ends with %d: %d does not follow", head.Seq, r.Seq)
		}
		n, err := w.s.exec(ctx, op, `DELETE FROM audit_waiting WHERE id = ?`, r.ID)
		if err != nil {
			return w.fail(err)
		}
		if n == 0 {
			return w.fail(fault.New(fault.Conflict, "the audit record %s does not wait for a number", r.ID))
		}
		fields, err := json.Marshal(r.Fields)
		if err != nil {
			return w.fail(internal(op, "%w", err))
		}
		if _, err := w.s.exec(ctx, op, `INSERT INTO audit (seq, id, at, org, actor, key_id, action, target, request_id, status, `+
			`fields, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, int64(r.Seq), r.ID, micros(r.At),
			string(r.Org), string(r.Actor), r.KeyID, r.Action, r.Target, r.RequestID, int64(r.Status), string(fields),
			r.Previous[:], r.Hash[:]); err != nil {
			return w.fail(err)
		}
		head.Seq, head.Hash = r.Seq, r.Hash
	}
	return w.putAuditHead(ctx, head)
}

// AuditRecords implements port.AuditReader.
func (r *Reader) AuditRecords(ctx context.Context, l port.AuditList) ([]port.AuditRecord, error) {
	const op = "read the audit log"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	until, before, status := int64(math.MaxInt64), int64(math.MaxInt64), 0
	if !l.Until.IsZero() {
		until = micros(l.Until)
	}
	if l.Before > 0 {
		before = int64(l.Before)
	}
	if l.Refused {
		status = 400
	}
	// Few statements, since sessions keep them prepared.
	where := `seq > ? AND seq < ? AND at >= ? AND at < ? AND status >= ?`
	args := []any{int64(l.After), before, micros(l.Since), until, status}
	for _, c := range []struct{ column, value string }{{"actor", string(l.Actor)}, {"key_id", l.KeyID}, {"action", l.Action},
		{"request_id", l.RequestID}} {
		where, args = where+` AND (? = '' OR `+c.column+` = ?)`, append(args, c.value, c.value)
	}
	// A target may be several, with commas between them.
	where += ` AND (? = '' OR target = ?
  OR replace(',' || target || ',', ',' || CAST(? AS text) || ',', '') <> ',' || target || ',')`
	args = append(args, l.Target, l.Target, l.Target)
	if l.Org != "" {
		where, args = where+` AND org = ?`, append(args, string(l.Org))
	}
	order := ` ORDER BY seq DESC LIMIT ?`
	if l.Ascending {
		order = ` ORDER BY seq LIMIT ?`
	}
	rows, err := r.s.query(ctx, op, `SELECT seq, id, at, org, actor, key_id, action, target, request_id, status, fields, `+
		`previous, hash FROM audit WHERE `+where+order, append(args, atMost(l.Limit))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.AuditRecord
	for rows.Next() {
		var x port.AuditRecord
		var seq, at, status int64
		var org, actor, fields string
		var previous, hash []byte
		if err := rows.Scan(&seq, &x.ID, &at, &org, &actor, &x.KeyID, &x.Action, &x.Target, &x.RequestID, &status, &fields,
			&previous, &hash); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		x.Seq, x.At, x.Org, x.Actor, x.Status = uint64(seq), instant(at), ident.Org(org), port.AuditActor(actor), int(status)
		if err := json.Unmarshal([]byte(fields), &x.Fields); err != nil {
			return nil, internal(op, "damaged fields of record %d: %w", seq, err)
		}
		copy(x.Previous[:], previous)
		copy(x.Hash[:], hash)
		out = append(out, x)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// TrimAudit implements port.AuditWriter.
func (w *Writer) TrimAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	oldest, err := w.AuditRecords(ctx, port.AuditList{Ascending: true, Limit: limit})
	if err != nil {
		return 0, w.fail(err)
	}
	n := 0
	for n < len(oldest) && oldest[n].At.Before(before) {
		n++
	}
	if n == 0 {
		return 0, nil
	}
	head, err := w.AuditHead(ctx)
	if err != nil {
		return 0, w.fail(err)
	}
	last := oldest[n-1]
	if _, err := w.s.exec(ctx, "trim the audit log", `DELETE FROM audit WHERE seq <= ?`, int64(last.Seq)); err != nil {
		return 0, w.fail(err)
	}
	head.Trimmed, head.TrimmedHash = last.Seq, last.Hash
	return n, w.putAuditHead(ctx, head)
}
