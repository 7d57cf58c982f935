package bunsql

import (
	"context"
	"math"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// hourOf counts the hours since 1970 up to the one that a time lies in.
func hourOf(t time.Time) int64 {
	s := t.Unix()
	h := s / 3600
	if s%3600 < 0 {
		h--
	}
	return h
}

func ofHour(h int64) time.Time { return time.Unix(h*3600, 0).UTC() }

// Usage implements port.UsageReader.
func (r *Reader) Usage(ctx context.Context, l port.UsageList) ([]port.UsageRow, error) {
	const op = "read usage"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	since, until, every := int64(0), int64(math.MaxInt64), int64(l.Hours)
	if !l.Since.IsZero() {
		since = hourOf(l.Since.Add(time.Hour - 1))
	}
	if !l.Until.IsZero() {
		until = hourOf(l.Until.Add(time.Hour - 1))
	}
	if every <= 0 {
		every = math.MaxInt64 // one sum over all that there is
	}
	where, args := `hour >= ? AND hour < ?`, []any{every, every, since, until}
	for _, c := range []struct{ column, value string }{{"namespace", l.Namespace}, {"integration", l.Integration},
		{"key_id", l.KeyID}} {
		where, args = where+` AND (? = '' OR `+c.column+` = ?)`, append(args, c.value, c.value)
	}
	if l.Org != "" {
		where, args = where+` AND org = ?`, append(args, string(l.Org))
	}
	after := ``
	if a := l.After; a != nil {
		from := int64(0)
		if !a.From.IsZero() {
			from = hourOf(a.From)
		}
		after = ` WHERE (began, org, namespace, integration, key_id) > (?, ?, ?, ?, ?)`
		args = append(args, from, string(a.Org), a.Namespace, a.Integration, a.KeyID)
	}
	sums := ``
	for _, column := range usageColumns {
		sums += `, CAST(sum(` + column + `) AS bigint)`
	}
	rows, err := r.s.query(ctx, op, `SELECT began, org, namespace, integration, key_id`+sums+` FROM
  (SELECT hour / ? * ? AS began, usage_hours.* FROM usage_hours WHERE `+where+`) AS u`+after+
		` GROUP BY began, org, namespace, integration, key_id ORDER BY began, org, namespace, integration, key_id LIMIT ?`,
		append(args, atMost(l.Limit))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.UsageRow
	for rows.Next() {
		var x port.UsageRow
		var began int64
		var org string
		into := append([]any{&began, &org, &x.Namespace, &x.Integration, &x.KeyID}, counts(&x.Usage)...)
		if err := rows.Scan(into...); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if x.Org = ident.Org(org); l.Hours > 0 {
			x.From = ofHour(began)
		}
		out = append(out, x)
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// usageColumns are those of what counts points to.
var usageColumns = [...]string{"requests", "documents", "chunks", "tokens_embedded", "tokens_sparse", "pairs_reranked", "recalls"}

func counts(u *port.Usage) []any {
	return []any{&u.Requests, &u.Documents, &u.Chunks, &u.TokensEmbedded, &u.TokensSparse, &u.PairsReranked, &u.Recalls}
}

// UsageBytes implements port.UsageReader.
func (r *Reader) UsageBytes(ctx context.Context, l port.UsageBytesList) ([]port.UsageBytes, error) {
	const op = "read what was kept"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	at := hourOf(l.At)
	where, args := `hour <= ? AND NOT EXISTS (SELECT 1 FROM usage_bytes AS l WHERE l.org = b.org AND l.namespace = b.namespace AND
  l.integration = b.integration AND l.hour > b.hour AND l.hour <= ?)`, []any{at, at}
	for _, c := range []struct{ column, value string }{{"namespace", l.Namespace}, {"integration", l.Integration}} {
		where, args = where+` AND (? = '' OR `+c.column+` = ?)`, append(args, c.value, c.value)
	}
	if l.Org != "" {
		where, args = where+` AND org = ?`, append(args, string(l.Org))
	}
	if !l.Empty {
		where += ` AND bytes > 0`
	}
	if a := l.After; a != nil {
		where += ` AND (org, namespace, integration) > (?, ?, ?)`
		args = append(args, string(a.Org), a.Namespace, a.Integration)
	}
	rows, err := r.s.query(ctx, op, `SELECT org, namespace, integration, hour, bytes, read_at FROM usage_bytes AS b WHERE `+where+
		` ORDER BY org, namespace, integration LIMIT ?`, append(args, atMost(l.Limit))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.UsageBytes
	for rows.Next() {
		var x port.UsageBytes
		var org string
		var hour, read int64
		if err := rows.Scan(&org, &x.Namespace, &x.Integration, &hour, &x.Bytes, &read); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		x.Org, x.Hour, x.ReadAt = ident.Org(org), ofHour(hour), instant(read)
		out = append(out, x)
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// Kept implements port.UsageReader.
func (r *Reader) Kept(ctx context.Context, a port.UsageAccount) ([]port.UsageBytes, error) {
	const op = "read what is kept"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	now, err := r.now(ctx)
	if err != nil {
		return nil, err
	}
	made := func(org, namespace, integration string, bytes int64) port.UsageBytes {
		return port.UsageBytes{Org: ident.Org(org), Namespace: namespace, Integration: integration, Bytes: bytes,
			Hour: ofHour(hourOf(instant(now))), ReadAt: instant(now)}
	}
	if a.Org != "" {
		where, args := `space = 'documents' AND name = ?`, []any{string(a.Org), a.Namespace}
		if a.Integration != "" {
			where, args[1] = `space = 'memories' AND integration = ?`, a.Integration
		}
		var bytes int64
		_, err := r.s.get(ctx, op, `SELECT coalesce(CAST(sum(bytes) AS bigint), 0) FROM namespaces WHERE org = ? AND `+where+
			` AND dropped = 0 AND life = 0`, args, &bytes)
		return []port.UsageBytes{made(string(a.Org), a.Namespace, a.Integration, bytes)}, err
	}
	rows, err := r.s.query(ctx, op, `SELECT org, CASE space WHEN 'documents' THEN name ELSE '' END AS namespace, integration,
  CAST(sum(bytes) AS bigint) FROM namespaces WHERE dropped = 0 AND life = 0
  GROUP BY 1, 2, 3 HAVING sum(bytes) > 0 ORDER BY 1, 2, 3`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.UsageBytes
	for rows.Next() {
		var org, namespace, integration string
		var bytes int64
		if err := rows.Scan(&org, &namespace, &integration, &bytes); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, made(org, namespace, integration, bytes))
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// Holdings implements port.UsageReader.
func (r *Reader) Holdings(ctx context.Context, org ident.Org) (h port.Holdings, err error) {
	if err := r.check(ctx); err != nil {
		return h, err
	}
	_, err = r.s.get(ctx, "sum up an organization", `SELECT coalesce(CAST(sum(bytes) AS bigint), 0) +
  (SELECT coalesce(CAST(sum(text_bytes) AS bigint), 0) FROM kept_files WHERE org = ?),
  coalesce(CAST(sum(CASE space WHEN 'documents' THEN documents ELSE 0 END) AS bigint), 0) +
  (SELECT coalesce(CAST(sum(parts) AS bigint), 0) FROM kept_files WHERE org = ?),
  coalesce(CAST(sum(CASE space WHEN 'documents' THEN 1 ELSE 0 END) AS bigint), 0),
  coalesce(CAST(sum(CASE space WHEN 'documents' THEN 0 ELSE 1 END) AS bigint), 0)
FROM namespaces WHERE org = ? AND dropped = 0 AND life = 0`, []any{string(org), string(org), string(org)},
		&h.Bytes, &h.Documents, &h.Namespaces, &h.EndUsers)
	return h, err
}

// Quotas implements port.UsageReader.
func (r *Reader) Quotas(ctx context.Context, org ident.Org) ([]port.Quota, error) {
	const op = "read quotas"
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT name, bound, exceeded_at FROM quotas WHERE org = ? ORDER BY name`, string(org))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Quota
	for rows.Next() {
		var q port.Quota
		var name string
		var exceeded int64
		if err := rows.Scan(&name, &q.Limit, &exceeded); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		q.Name, q.Exceeded = port.QuotaName(name), instant(exceeded)
		out = append(out, q)
	}
	return out, r.s.d.Fault(op, rows.Err())
}

// living asks whether organizations are there, each once.
func (w *Writer) living() func(context.Context, ident.Org) (bool, error) {
	known := map[ident.Org]bool{}
	return func(ctx context.Context, org ident.Org) (bool, error) {
		if lives, ok := known[org]; ok {
			return lives, nil
		}
		err := w.requireOrganization(ctx, org)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return false, err
		}
		known[org] = err == nil
		return known[org], nil
	}
}

// AddUsage implements port.UsageWriter.
func (w *Writer) AddUsage(ctx context.Context, all []port.UsageRow) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	columns, values, sums := ``, ``, ``
	for i, column := range usageColumns {
		if i > 0 {
			sums += `, `
		}
		columns, values = columns+`, `+column, values+`, ?`
		sums += column + ` = usage_hours.` + column + ` + excluded.` + column
	}
	lives := w.living()
	for _, x := range all {
		if ok, err := lives(ctx, x.Org); err != nil {
			return err
		} else if !ok {
			continue
		}
		u := x.Usage
		if _, err := w.s.exec(ctx, "add usage", `INSERT INTO usage_hours (hour, org, namespace, integration, key_id`+columns+
			`) VALUES (?, ?, ?, ?, ?`+values+`) ON CONFLICT (hour, org, namespace, integration, key_id) DO UPDATE SET `+sums,
			hourOf(x.From), string(x.Org), x.Namespace, x.Integration, x.KeyID, u.Requests, u.Documents, u.Chunks,
			u.TokensEmbedded, u.TokensSparse, u.PairsReranked, u.Recalls); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// PutUsageBytes implements port.UsageWriter.
func (w *Writer) PutUsageBytes(ctx context.Context, all []port.UsageBytes) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	lives := w.living()
	for _, x := range all {
		if ok, err := lives(ctx, x.Org); err != nil {
			return err
		} else if !ok {
			continue
		}
		if _, err := w.s.exec(ctx, "store what is kept", `INSERT INTO usage_bytes
  (org, namespace, integration, hour, bytes, read_at) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (org, namespace, integration, hour) DO UPDATE SET bytes = excluded.bytes,
  read_at = excluded.read_at WHERE usage_bytes.read_at <= excluded.read_at`, string(x.Org), x.Namespace, x.Integration,
			hourOf(x.Hour), x.Bytes, micros(x.ReadAt)); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// TrimUsage implements port.UsageWriter.
func (w *Writer) TrimUsage(ctx context.Context, before time.Time, limit int) (int, error) {
	const op = "trim usage"
	if err := w.check(ctx); err != nil {
		return 0, err
	}
	hour := hourOf(before)
	done, err := w.s.exec(ctx, op, `DELETE FROM usage_hours WHERE (hour, org, namespace, integration, key_id) IN
  (SELECT hour, org, namespace, integration, key_id FROM usage_hours WHERE hour < ?
  ORDER BY hour, org, namespace, integration, key_id LIMIT ?)`, hour, atMost(limit))
	if err != nil {
		return 0, w.fail(err)
	}
	kept, err := w.s.exec(ctx, op, `DELETE FROM usage_bytes WHERE (org, namespace, integration, hour) IN
  (SELECT org, namespace, integration, hour FROM usage_bytes AS b WHERE hour < ? AND (bytes = 0 OR EXISTS (SELECT 1
  FROM usage_bytes AS l WHERE l.org = b.org AND l.namespace = b.namespace AND l.integration = b.integration AND
  l.hour > b.hour AND l.hour <= ?)) ORDER BY org, namespace, integration, hour LIMIT ?)`, hour, hour, atMost(limit))
	if err != nil {
		return 0, w.fail(err)
	}
	return int(done + kept), nil
}

// PutQuota implements port.UsageWriter.
func (w *Writer) PutQuota(ctx context.Context, org ident.Org, name port.QuotaName, limit int64) error {
	const op = "set quota"
	if limit <= 0 {
		if err := w.check(ctx); err != nil {
			return err
		}
		_, err := w.s.exec(ctx, op, `DELETE FROM quotas WHERE org = ? AND name = ?`, string(org), string(name))
		return w.fail(err)
	}
	if err := w.requireLasting(ctx, org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, op, `INSERT INTO quotas (org, name, bound, exceeded_at) VALUES (?, ?, ?, 0) ON CONFLICT (org, name)
DO UPDATE SET bound = excluded.bound, exceeded_at = 0`, string(org), string(name), limit)
	return w.fail(err)
}

// ExceedQuota implements port.UsageWriter.
func (w *Writer) ExceedQuota(ctx context.Context, org ident.Org, name port.QuotaName, _ int64, at time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "note an exceeded quota", `UPDATE quotas SET exceeded_at = ? WHERE org = ? AND name = ?`, micros(at),
		string(org), string(name))
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "organization %s has no quota of %s", org, name)
	}
	return w.fail(err)
}
