package bunsql

import (
	"context"
	"math"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// replicasKept is how long it is remembered of a replica which of its lives was
// the last. An id that is forgotten begins at 1 again.
const replicasKept = 30 * 24 * time.Hour

// now is the database's clock in microseconds.
func (r *Reader) now(ctx context.Context) (us int64, err error) {
	_, err = r.s.get(ctx, "read the clock", `SELECT {{now}}`, nil, &us)
	return us, err
}

// Now implements port.ReplicaReader.
func (r *Reader) Now(ctx context.Context) (time.Time, error) {
	if err := r.check(ctx); err != nil {
		return time.Time{}, err
	}
	us, err := r.now(ctx)
	return instant(us), err
}

// Replicas implements port.ReplicaReader.
func (r *Reader) Replicas(ctx context.Context) ([]port.Replica, error) {
	return r.replicas(ctx, "list replicas", `SELECT id, epoch FROM replicas WHERE expires_at > ? ORDER BY id`)
}

// Unacknowledged implements port.ReplicaReader.
func (r *Reader) Unacknowledged(ctx context.Context, p port.Partition) ([]port.Replica, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	return r.replicas(ctx, "list acknowledgements", `SELECT r.id, r.epoch FROM replicas r WHERE r.expires_at > ? AND NOT EXISTS
  (SELECT 1 FROM erasure_acks a WHERE a.generation = ? AND a.replica = r.id AND a.epoch = r.epoch) ORDER BY r.id`, ref.generation)
}

// replicas reads rows of id and epoch; the statement's first argument is the time.
func (r *Reader) replicas(ctx context.Context, op, query string, args ...any) ([]port.Replica, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	now, err := r.now(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, query, append([]any{now}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Replica
	for rows.Next() {
		var one port.Replica
		if err := rows.Scan(&one.ID, &one.Epoch); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, one)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// Watermarks implements port.ReplicaReader.
func (r *Reader) Watermarks(ctx context.Context, p port.Partition) (map[string]uint64, error) {
	const op = "read watermarks"
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	now, err := r.now(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT m.consumer, m.seq FROM watermarks m JOIN consumers c ON c.id = m.consumer `+
		`WHERE m.generation = ? AND c.expires_at > ?`, ref.generation, now)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]uint64{}
	for rows.Next() {
		var consumer string
		var seq int64
		if err := rows.Scan(&consumer, &seq); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out[consumer] = uint64(seq)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// Bucket implements port.ReplicaReader. Tokens are kept in millionths.
func (r *Reader) Bucket(ctx context.Context, name string) (b port.Bucket, ok bool, now time.Time, err error) {
	if err := r.check(ctx); err != nil {
		return b, false, now, err
	}
	us, err := r.now(ctx)
	if err != nil {
		return b, false, now, err
	}
	var tokens, at int64
	ok, err = r.s.get(ctx, "read rate limit", `SELECT tokens, at FROM buckets WHERE name = ?`, []any{name}, &tokens, &at)
	return port.Bucket{Tokens: float64(tokens) / 1e6, At: instant(at)}, ok, instant(us), err
}

// JoinReplica implements port.ReplicaWriter.
func (w *Writer) JoinReplica(ctx context.Context, id string, lease time.Duration) (port.Replica, error) {
	const op = "join replica"
	if err := w.check(ctx); err != nil {
		return port.Replica{}, err
	}
	now, err := w.now(ctx)
	if err != nil {
		return port.Replica{}, err
	}
	for _, step := range []struct {
		statement string
		args      []any
	}{
		{`DELETE FROM claims WHERE replica = ?`, []any{id}},
		{`DELETE FROM claims WHERE replica IN (SELECT r.id FROM replicas r WHERE r.expires_at <= ?)`,
			[]any{now - replicasKept.Microseconds()}},
		{`DELETE FROM replicas WHERE expires_at <= ? AND id <> ?`, []any{now - replicasKept.Microseconds(), id}},
		{`INSERT INTO replicas (id, epoch, expires_at) VALUES (?, 1, ?) ON CONFLICT (id) DO UPDATE ` +
			`SET epoch = replicas.epoch + 1, expires_at = EXCLUDED.expires_at`,
			[]any{id, now + lease.Microseconds()}},
	} {
		if _, err := w.s.exec(ctx, op, step.statement, step.args...); err != nil {
			return port.Replica{}, w.fail(err)
		}
	}
	r := port.Replica{ID: id}
	_, err = w.s.get(ctx, op, `SELECT epoch FROM replicas WHERE id = ?`, []any{id}, &r.Epoch)
	return r, err
}

func lifeOver(r port.Replica) error {
	return fault.New(fault.Conflict, "replica %s has lost its lease", r.ID)
}

// RenewReplica implements port.ReplicaWriter.
func (w *Writer) RenewReplica(ctx context.Context, r port.Replica, lease time.Duration) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	now, err := w.now(ctx)
	if err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "renew replica", `UPDATE replicas SET expires_at = ? WHERE id = ? AND epoch = ? AND expires_at > ?`,
		now+lease.Microseconds(), r.ID, r.Epoch, now)
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return lifeOver(r)
	}
	return nil
}

// LeaveReplica implements port.ReplicaWriter.
func (w *Writer) LeaveReplica(ctx context.Context, r port.Replica) error {
	const op = "leave replica"
	if err := w.check(ctx); err != nil {
		return err
	}
	if _, err := w.s.exec(ctx, op, `DELETE FROM claims WHERE replica = ? AND epoch = ?`, r.ID, r.Epoch); err != nil {
		return w.fail(err)
	}
	_, err := w.s.exec(ctx, op, `UPDATE replicas SET expires_at = 0 WHERE id = ? AND epoch = ?`, r.ID, r.Epoch)
	return w.fail(err)
}

// TakeClaim implements port.ReplicaWriter.
func (w *Writer) TakeClaim(ctx context.Context, r port.Replica, name string) (c port.Claim, ok bool, err error) {
	const op = "take claim"
	if err := w.check(ctx); err != nil {
		return c, false, err
	}
	now, err := w.now(ctx)
	if err != nil {
		return c, false, err
	}
	var live int64
	if ok, err := w.s.get(ctx, op, `SELECT 1 FROM replicas WHERE id = ? AND epoch = ? AND expires_at > ?`,
		[]any{r.ID, r.Epoch, now}, &live); err != nil || !ok {
		if err == nil {
			err = lifeOver(r)
		}
		return c, false, err
	}
	var holder port.Replica
	var fence int64
	var until int64
	taken, err := w.s.get(ctx, op, `SELECT c.replica, c.epoch, c.fence, coalesce(r.expires_at, 0) FROM claims c LEFT `+
		`JOIN replicas r ON r.id = c.replica AND r.epoch = c.epoch WHERE c.name = ?`,
		[]any{name}, &holder.ID, &holder.Epoch, &fence, &until)
	switch {
	case err != nil:
		return c, false, err
	case taken && holder == r:
		return port.Claim{Name: name, Replica: r, Fence: fence}, true, nil
	case taken && until > now:
		return c, false, nil
	}
	// Claims come and go, so the fence is of the clock; it only has to differ.
	fence = max(now, fence+1)
	_, err = w.s.exec(ctx, op, `INSERT INTO claims (name, replica, epoch, fence) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET replica = EXCLUDED.replica, epoch = EXCLUDED.epoch, fence = EXCLUDED.fence`, name,
		r.ID, r.Epoch, fence)
	return port.Claim{Name: name, Replica: r, Fence: fence}, err == nil, w.fail(err)
}

// ConfirmClaim implements port.ReplicaWriter.
func (w *Writer) ConfirmClaim(ctx context.Context, c port.Claim) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	var mine int64
	ok, err := w.s.get(ctx, "confirm claim", `SELECT 1 FROM claims WHERE name = ? AND replica = ? AND epoch = ? AND fence = ?`,
		[]any{c.Name, c.Replica.ID, c.Replica.Epoch, c.Fence}, &mine)
	if err == nil && !ok {
		err = fault.New(fault.Conflict, "another replica has taken %s over", c.Name)
	}
	return err
}

// EndClaim implements port.ReplicaWriter.
func (w *Writer) EndClaim(ctx context.Context, c port.Claim) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "end claim", `DELETE FROM claims WHERE name = ? AND replica = ? AND epoch = ? AND fence = ?`,
		c.Name, c.Replica.ID, c.Replica.Epoch, c.Fence)
	return w.fail(err)
}

// PutWatermarks implements port.ReplicaWriter.
func (w *Writer) PutWatermarks(ctx context.Context, consumer string, keep time.Duration, marks []port.Watermark) error {
	const op = "write watermarks"
	if err := w.check(ctx); err != nil {
		return err
	}
	now, err := w.now(ctx)
	if err != nil {
		return err
	}
	if _, err := w.s.exec(ctx, op, `INSERT INTO consumers (id, expires_at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE `+
		`SET expires_at = EXCLUDED.expires_at`,
		consumer, now+keep.Microseconds()); err != nil {
		return w.fail(err)
	}
	for _, m := range marks {
		if m.Seq == 0 {
			_, err = w.s.exec(ctx, op, `DELETE FROM watermarks WHERE generation = ? AND consumer = ?`, m.Generation, consumer)
		} else {
			_, err = w.s.exec(ctx, op, `INSERT INTO watermarks (generation, consumer, seq) SELECT n.generation, ?, ?
				FROM namespaces n WHERE n.generation = ? AND n.dropped = 0
ON CONFLICT (generation, consumer) DO UPDATE SET seq = EXCLUDED.seq`, consumer, int64(min(m.Seq, math.MaxInt64)), m.Generation)
		}
		if err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// DropWatermarks implements port.ReplicaWriter.
func (w *Writer) DropWatermarks(ctx context.Context) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	now, err := w.now(ctx)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, "drop watermarks", `DELETE FROM consumers WHERE expires_at <= ?`, now)
	return w.fail(err)
}

// AcknowledgeErasure implements port.ReplicaWriter.
func (w *Writer) AcknowledgeErasure(ctx context.Context, p port.Partition, r port.Replica) error {
	const op = "acknowledge erasure"
	ref, err := w.erasable(ctx, op, p)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO erasure_acks (generation, replica, epoch) VALUES (?, ?, ?) `+
		`ON CONFLICT (generation, replica) DO UPDATE SET epoch = EXCLUDED.epoch`,
		ref.generation, r.ID, r.Epoch)
	return w.fail(err)
}

// PutBucket implements port.ReplicaWriter.
func (w *Writer) PutBucket(ctx context.Context, name string, b port.Bucket, full time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write rate limit", `INSERT INTO buckets (name, tokens, at, full_at) VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET tokens = EXCLUDED.tokens, at = EXCLUDED.at, full_at = EXCLUDED.full_at`,
		name, int64(math.Round(b.Tokens*1e6)), micros(b.At), micros(full))
	return w.fail(err)
}

// DropBuckets implements port.ReplicaWriter.
func (w *Writer) DropBuckets(ctx context.Context) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	now, err := w.now(ctx)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, "drop rate limits", `DELETE FROM buckets WHERE full_at <= ?`, now)
	return w.fail(err)
}
