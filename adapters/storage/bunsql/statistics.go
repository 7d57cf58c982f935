package bunsql

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// Statistics implements port.StatisticsReader.
func (r *Reader) Statistics(ctx context.Context) (s port.Statistics, err error) {
	if err := r.check(ctx); err != nil {
		return s, err
	}
	now, err := r.now(ctx)
	if err != nil {
		return s, err
	}
	if _, err := r.s.get(ctx, "count organizations", `SELECT count(*) FROM organizations`, nil, &s.Organizations); err != nil {
		return s, err
	}
	if _, err := r.s.get(ctx, "count replicas", `SELECT count(*) FROM replicas WHERE expires_at > ?`, []any{now},
		&s.Replicas); err != nil {
		return s, err
	}
	if err := r.contents(ctx, &s); err != nil {
		return s, err
	}
	if err := r.pendingDeliveries(ctx, &s, now); err != nil {
		return s, err
	}
	return s, r.jobQueues(ctx, &s, now)
}

func (r *Reader) pendingDeliveries(ctx context.Context, s *port.Statistics, now int64) error {
	var oldest int64
	_, err := r.s.get(ctx, "count deliveries", `SELECT count(*), coalesce(min(created_at), 0) FROM deliveries
WHERE status = 'pending'`, nil, &s.Deliveries, &oldest)
	if err == nil && s.Deliveries > 0 {
		s.OldestDelivery = time.Duration(max(0, now-oldest)) * time.Microsecond
	}
	return err
}

// contents counts what partitions hold, which their rows say.
func (r *Reader) contents(ctx context.Context, s *port.Statistics) error {
	const op = "count documents"
	// Sums of 64-bit numbers are numeric in PostgreSQL.
	rows, err := r.s.query(ctx, op, `SELECT space, count(*), CAST(sum(documents) AS bigint), CAST(sum(chunks) AS bigint),
  CAST(sum(bytes) AS bigint) FROM namespaces WHERE dropped = 0 AND life = 0 GROUP BY space`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var space string
		var c port.Contents
		if err := rows.Scan(&space, &c.Partitions, &c.Documents, &c.Chunks, &c.Bytes); err != nil {
			return r.s.d.Fault(op, err)
		}
		if port.Space(space) == port.SpaceMemories {
			s.EndUsers = c
		} else {
			s.Namespaces = c
		}
	}
	return r.s.d.Fault(op, rows.Err())
}

func (r *Reader) jobQueues(ctx context.Context, s *port.Statistics, now int64) error {
	const op = "count jobs"
	rows, err := r.s.query(ctx, op, `SELECT kind, status, count(*), min(created_at) FROM jobs WHERE finished_at = 0
GROUP BY kind, status ORDER BY kind, status`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var q port.JobQueue
		var oldest int64
		if err := rows.Scan(&q.Kind, &q.Status, &q.Jobs, &oldest); err != nil {
			return r.s.d.Fault(op, err)
		}
		q.Oldest = time.Duration(max(0, now-oldest)) * time.Microsecond
		s.Jobs = append(s.Jobs, q)
	}
	return r.s.d.Fault(op, rows.Err())
}
