package bunsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const sourceColumns = `org, id, name, kind, namespace, config, secrets, schedule, keep, enabled, state, reason, failures, ` +
	`cursor, items, numbers, documents, run, last_run, next_run_at, retry_at, created_at, updated_at`

// sources reads the sources that rest selects, which stands behind FROM.
func (r *Reader) sources(ctx context.Context, op, rest string, args ...any) ([]port.SourceRow, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT `+sourceColumns+` FROM sources `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.SourceRow
	for rows.Next() {
		var s port.SourceRow
		var org, config, secrets, schedule string
		var keep, enabled, next, retry, created, updated int64
		var reason sql.NullString
		if err := rows.Scan(&org, &s.ID, &s.Name, &s.Kind, &s.Namespace, &config, &secrets, &schedule, &keep, &enabled, &s.State,
			&reason, &s.Failures, &s.Cursor, &s.Items, &s.Numbers, &s.Documents, &s.Run, &s.LastRun, &next, &retry,
			&created, &updated); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		s.Org, s.Config, s.Keep, s.Enabled = ident.Org(org), json.RawMessage(config), keep != 0, enabled != 0
		s.NextRun, s.NextRetry, s.CreatedAt, s.UpdatedAt = instant(next), instant(retry), instant(created), instant(updated)
		if err := json.Unmarshal([]byte(secrets), &s.Secrets); err != nil {
			return nil, internal(op, "damaged names of secrets of %s: %w", s.ID, err)
		}
		if err := json.Unmarshal([]byte(schedule), &s.Schedule); err != nil {
			return nil, internal(op, "damaged schedule of %s: %w", s.ID, err)
		}
		if s.Reason, err = decodeReason(op, reason); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

func decodeReason(op string, text sql.NullString) (*port.SourceReason, error) {
	if !text.Valid {
		return nil, nil
	}
	reason := new(port.SourceReason)
	if err := json.Unmarshal([]byte(text.String), reason); err != nil {
		return nil, internal(op, "damaged reason: %w", err)
	}
	return reason, nil
}

// encode is JSON as a nullable text argument; nil is NULL.
func encode[T any](op string, v *T) (sql.NullString, error) {
	if v == nil {
		return sql.NullString{}, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return sql.NullString{}, internal(op, "%w", err)
	}
	return text(b), nil
}

func noSource(id string) error {
	return fault.New(fault.SourceNotFound, "there is no source %q", fault.Clip(id))
}

// Source implements port.SourceReader.
func (r *Reader) Source(ctx context.Context, org ident.Org, id string) (port.SourceRow, error) {
	found, err := r.sources(ctx, "read source", `WHERE id = ? AND org = ?`, id, string(org))
	if err == nil && len(found) == 0 {
		err = noSource(id)
	}
	if err != nil {
		return port.SourceRow{}, err
	}
	return found[0], nil
}

// Sources implements port.SourceReader.
func (r *Reader) Sources(ctx context.Context, l port.SourceList) ([]port.SourceRow, error) {
	where, args := []string{`id > ?`}, []any{l.After}
	for _, c := range []struct{ column, value string }{
		{"org", string(l.Org)}, {"namespace", l.Namespace}, {"kind", l.Kind}, {"state", string(l.State)}} {
		if c.value != "" {
			where, args = append(where, c.column+` = ?`), append(args, c.value)
		}
	}
	return r.sources(ctx, "list sources", `WHERE `+strings.Join(where, ` AND `)+` ORDER BY id LIMIT ?`,
		append(args, atMost(l.Limit))...)
}

// atMost is a limit as an argument; 0 is none.
func atMost(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// DueSources implements port.SourceReader.
func (r *Reader) DueSources(ctx context.Context, by time.Time, limit int) ([]port.SourceRow, error) {
	return r.sources(ctx, "list due sources",
		`WHERE enabled <> 0 AND due_at <> 0 AND run = '' AND due_at <= ? AND NOT EXISTS
  (SELECT 1 FROM organizations o WHERE o.id = sources.org AND o.suspended <> 0) ORDER BY due_at, id LIMIT ?`,
		micros(by), atMost(limit))
}

// ownsSource answers fault SourceNotFound unless the source is the organization's.
func (r *Reader) ownsSource(ctx context.Context, org ident.Org, id string) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	var one int
	ok, err := r.s.get(ctx, "find source", `SELECT 1 FROM sources WHERE id = ? AND org = ?`, []any{id, string(org)}, &one)
	if err == nil && !ok {
		err = noSource(id)
	}
	return err
}

// ownsRun answers fault NotFound unless the run is of a source of the organization.
func (r *Reader) ownsRun(ctx context.Context, org ident.Org, id string) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	var one int
	ok, err := r.s.get(ctx, "find run",
		`SELECT 1 FROM source_runs r JOIN sources s ON s.id = r.source WHERE r.id = ? AND s.org = ?`,
		[]any{id, string(org)}, &one)
	if err == nil && !ok {
		err = noRun(id)
	}
	return err
}

func noRun(id string) error { return fault.New(fault.NotFound, "there is no run %q", fault.Clip(id)) }

// SourceSecrets implements port.SourceReader.
func (r *Reader) SourceSecrets(ctx context.Context, org ident.Org, source string) (map[string][]byte, error) {
	const op = "read secrets of source"
	if err := r.ownsSource(ctx, org, source); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT name, sealed FROM source_secrets WHERE source = ?`, source)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string][]byte{}
	for rows.Next() {
		var name string
		var sealed []byte
		if err := rows.Scan(&name, &sealed); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out[name] = sealed
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

const itemColumns = `number, key_hash, item_key, version, name, url, content_hash, documents, generation, error, attempts, ` +
	`next_at, updated_at`

// sourceItems reads the items that from selects, which stands behind FROM.
func (r *Reader) sourceItems(ctx context.Context, op, from string, args ...any) ([]port.SourceItemRow, error) {
	rows, err := r.s.query(ctx, op, `SELECT `+itemColumns+` FROM `+from, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.SourceItemRow
	var key, content sql.RawBytes
	for rows.Next() {
		var i port.SourceItemRow
		var reason sql.NullString
		var next, updated int64
		if err := rows.Scan(&i.Number, &key, &i.Key, &i.Version, &i.Name, &i.URL, &content, &i.Documents, &i.Generation, &reason,
			&i.Attempts, &next, &updated); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if copy(i.KeyHash[:], key) != 32 || copy(i.ContentHash[:], content) != 32 {
			return nil, internal(op, "item %d has a damaged hash", i.Number)
		}
		if i.Error, err = decodeReason(op, reason); err != nil {
			return nil, err
		}
		i.NextAttempt, i.UpdatedAt = instant(next), instant(updated)
		out = append(out, i)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// keysAtOnce is how many keys one statement looks for.
const keysAtOnce = 100

// amongKeys is a join: of keys IN a list SQLite reads all items of the source.
var amongKeys = `(VALUES (CAST(? AS {{blob}}))` + strings.Repeat(`, (CAST(? AS {{blob}}))`, keysAtOnce-1) + `) k
CROSS JOIN source_items i WHERE i.key_hash = k.column1 AND i.source = ?`

// SourceItems implements port.SourceReader.
func (r *Reader) SourceItems(ctx context.Context, org ident.Org, source string,
	keys [][32]byte) (map[[32]byte]port.SourceItemRow, error) {
	if err := r.ownsSource(ctx, org, source); err != nil {
		return nil, err
	}
	out := make(map[[32]byte]port.SourceItemRow, len(keys))
	for len(keys) > 0 {
		page := keys[:min(len(keys), keysAtOnce)]
		keys = keys[len(page):]
		among, args := amongKeys, []any{}
		if len(page) == 1 {
			among = `source_items WHERE key_hash = ? AND source = ?`
		}
		for i := range keysAtOnce { // one statement for any number: the rest are repeats
			if len(page) > 1 || i == 0 {
				args = append(args, page[min(i, len(page)-1)][:])
			}
		}
		found, err := r.sourceItems(ctx, "find items", among, append(args, source)...)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			out[i.KeyHash] = i
		}
	}
	return out, nil
}

// ListSourceItems implements port.SourceReader.
func (r *Reader) ListSourceItems(ctx context.Context, org ident.Org, source string,
	l port.SourceItemList) ([]port.SourceItemRow, error) {
	if err := r.ownsSource(ctx, org, source); err != nil {
		return nil, err
	}
	rest, args := ` AND number >= ?`, []any{source, l.From}
	if l.Prefix != "" {
		rest, args = rest+` AND item_key >= ? AND item_key < ?`, append(args, l.Prefix, prefixEnd(l.Prefix))
	}
	if l.Failed != nil && *l.Failed {
		rest += ` AND error IS NOT NULL`
	} else if l.Failed != nil {
		rest += ` AND error IS NULL`
	}
	if !l.Due.IsZero() {
		rest, args = rest+` AND error IS NOT NULL AND next_at <> 0 AND next_at <= ?`, append(args, micros(l.Due))
	}
	return r.sourceItems(ctx, "list items", `source_items WHERE source = ?`+rest+` ORDER BY number LIMIT ?`,
		append(args, atMost(l.Limit))...)
}

const runColumns = `id, source, run_trigger, mode, status, params, counts, error, problems, recorded, created_at, started_at, ` +
	`heartbeat_at, progress_at, finished_at`

func (r *Reader) sourceRuns(ctx context.Context, org ident.Org, whole bool, rest string, args ...any) ([]port.SourceRun, error) {
	const op = "read runs"
	columns := runColumns
	if whole {
		columns += `, cursor, seen`
	}
	rows, err := r.s.query(ctx, op, `SELECT `+columns+` FROM source_runs WHERE source = ?`+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.SourceRun
	for rows.Next() {
		run := port.SourceRun{Org: org}
		var params, reason sql.NullString
		var counts string
		var created, started, heartbeat, progress, finished int64
		to := []any{&run.ID, &run.Source, &run.Trigger, &run.Mode, &run.Status, &params, &counts, &reason, &run.Problems,
			&run.Recorded, &created, &started, &heartbeat, &progress, &finished}
		if whole {
			to = append(to, &run.Cursor, &run.Seen)
		}
		if err := rows.Scan(to...); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if err := json.Unmarshal([]byte(counts), &run.Counts); err != nil {
			return nil, internal(op, "damaged counts of %s: %w", run.ID, err)
		}
		if run.Error, err = decodeReason(op, reason); err != nil {
			return nil, err
		}
		if params.Valid {
			run.Params = json.RawMessage(params.String)
		}
		run.CreatedAt, run.StartedAt, run.HeartbeatAt = instant(created), instant(started), instant(heartbeat)
		run.ProgressAt, run.FinishedAt = instant(progress), instant(finished)
		out = append(out, run)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// SourceRun implements port.SourceReader.
func (r *Reader) SourceRun(ctx context.Context, org ident.Org, source, id string) (port.SourceRun, error) {
	if err := r.ownsSource(ctx, org, source); err != nil {
		return port.SourceRun{}, err
	}
	found, err := r.sourceRuns(ctx, org, true, ` AND id = ?`, source, id)
	if err == nil && len(found) == 0 {
		err = noRun(id)
	}
	if err != nil {
		return port.SourceRun{}, err
	}
	return found[0], nil
}

// SourceRuns implements port.SourceReader.
func (r *Reader) SourceRuns(ctx context.Context, org ident.Org, source string, l port.SourceRunList) ([]port.SourceRun, error) {
	if err := r.ownsSource(ctx, org, source); err != nil {
		return nil, err
	}
	rest, args := ``, []any{source}
	if l.AfterID != "" {
		rest, args = ` AND (created_at, id) < (?, ?)`, append(args, micros(l.AfterCreated), l.AfterID)
	}
	return r.sourceRuns(ctx, org, false, rest+` ORDER BY created_at DESC, id DESC LIMIT ?`, append(args, atMost(l.Limit))...)
}

// SourceRunItems implements port.SourceReader.
func (r *Reader) SourceRunItems(ctx context.Context, org ident.Org, run string, from int64, status string,
	limit int) ([]port.SourceRunItem, error) {
	const op = "read items of run"
	if err := r.ownsRun(ctx, org, run); err != nil {
		return nil, err
	}
	where, args := `run = ? AND place >= ?`, []any{run, from}
	if status != "" {
		where, args = where+` AND status = ?`, append(args, status)
	}
	rows, err := r.s.query(ctx, op, `SELECT place, item_key, status, error, document FROM source_run_items WHERE `+where+
		` ORDER BY place LIMIT ?`, append(args, atMost(limit))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.SourceRunItem
	for rows.Next() {
		var i port.SourceRunItem
		var reason sql.NullString
		if err := rows.Scan(&i.Place, &i.Key, &i.Status, &reason, &i.Document); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if i.Error, err = decodeReason(op, reason); err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// PutSource implements port.SourceWriter.
func (w *Writer) PutSource(ctx context.Context, s port.SourceRow) error {
	const op = "write source"
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, s.Org); err != nil {
		return err
	}
	if s.Secrets == nil {
		s.Secrets = []string{}
	}
	secrets, err := encode(op, &s.Secrets)
	if err != nil {
		return err
	}
	schedule, err := encode(op, &s.Schedule)
	if err != nil {
		return err
	}
	reason, err := encode(op, s.Reason)
	if err != nil {
		return err
	}
	due := micros(s.NextRun)
	if retry := micros(s.NextRetry); due == 0 || retry != 0 && retry < due {
		due = retry
	}
	n, err := w.s.exec(ctx, op, `INSERT INTO sources (`+sourceColumns+`, due_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, kind = EXCLUDED.kind, namespace = EXCLUDED.namespace,
  config = EXCLUDED.config, secrets = EXCLUDED.secrets, schedule = EXCLUDED.schedule, keep = EXCLUDED.keep,
  enabled = EXCLUDED.enabled, state = EXCLUDED.state, reason = EXCLUDED.reason, failures = EXCLUDED.failures,
  cursor = EXCLUDED.cursor, items = EXCLUDED.items, numbers = EXCLUDED.numbers, documents = EXCLUDED.documents,
  run = EXCLUDED.run, last_run = EXCLUDED.last_run, next_run_at = EXCLUDED.next_run_at, retry_at = EXCLUDED.retry_at,
  due_at = EXCLUDED.due_at, created_at = EXCLUDED.created_at, updated_at = EXCLUDED.updated_at
WHERE sources.org = EXCLUDED.org`,
		string(s.Org), s.ID, s.Name, s.Kind, s.Namespace, string(s.Config), secrets, schedule, flag(s.Keep), flag(s.Enabled),
		string(s.State), reason, s.Failures, s.Cursor, s.Items, s.Numbers, s.Documents, s.Run, s.LastRun, micros(s.NextRun),
		micros(s.NextRetry), micros(s.CreatedAt), micros(s.UpdatedAt), due)
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "source %s is of another organization", s.ID)
	}
	return nil
}

// PutSourceSecrets implements port.SourceWriter.
func (w *Writer) PutSourceSecrets(ctx context.Context, org ident.Org, source string, sealed map[string][]byte) error {
	const op = "write secrets of source"
	if err := w.ownsSource(ctx, org, source); err != nil {
		return err
	}
	for name, value := range sealed {
		var err error
		if value == nil {
			_, err = w.s.exec(ctx, op, `DELETE FROM source_secrets WHERE source = ? AND name = ?`, source, name)
		} else {
			_, err = w.s.exec(ctx, op, `INSERT INTO source_secrets (source, name, sealed) VALUES (?, ?, ?)
ON CONFLICT (source, name) DO UPDATE SET sealed = EXCLUDED.sealed`, source, name, value)
		}
		if err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// PutSourceItems implements port.SourceWriter.
func (w *Writer) PutSourceItems(ctx context.Context, org ident.Org, source string, items []port.SourceItemRow) error {
	const op = "write items"
	if err := w.ownsSource(ctx, org, source); err != nil {
		return err
	}
	for i := range items {
		v := &items[i]
		reason, err := encode(op, v.Error)
		if err != nil {
			return err
		}
		if _, err := w.s.exec(ctx, op, `INSERT INTO source_items (source, `+itemColumns+`)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (source, number) DO UPDATE SET key_hash = EXCLUDED.key_hash, item_key = EXCLUDED.item_key,
  version = EXCLUDED.version, name = EXCLUDED.name, url = EXCLUDED.url, content_hash = EXCLUDED.content_hash,
  documents = EXCLUDED.documents, generation = EXCLUDED.generation, error = EXCLUDED.error, attempts = EXCLUDED.attempts,
  next_at = EXCLUDED.next_at, updated_at = EXCLUDED.updated_at`,
			source, v.Number, v.KeyHash[:], v.Key, v.Version, v.Name, v.URL, v.ContentHash[:], v.Documents, v.Generation, reason,
			v.Attempts, micros(v.NextAttempt), micros(v.UpdatedAt)); err != nil {
			return w.fail(err)
		}
		w.written.Bytes += len(v.Key) + len(v.Name) + len(v.URL)
	}
	return nil
}

// DeleteSourceItems implements port.SourceWriter.
func (w *Writer) DeleteSourceItems(ctx context.Context, org ident.Org, source string, numbers []int64) error {
	if err := w.ownsSource(ctx, org, source); err != nil {
		return err
	}
	for _, n := range numbers {
		if _, err := w.s.exec(ctx, "delete items", `DELETE FROM source_items WHERE source = ? AND number = ?`, source,
			n); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// PutSourceRun implements port.SourceWriter.
func (w *Writer) PutSourceRun(ctx context.Context, r port.SourceRun) error {
	const op = "write run"
	if err := w.ownsSource(ctx, r.Org, r.Source); err != nil {
		return err
	}
	counts, err := encode(op, &r.Counts)
	if err != nil {
		return err
	}
	reason, err := encode(op, r.Error)
	if err != nil {
		return err
	}
	n, err := w.s.exec(ctx, op, `INSERT INTO source_runs (`+runColumns+`, cursor, seen)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET run_trigger = EXCLUDED.run_trigger, mode = EXCLUDED.mode, status = EXCLUDED.status,
  params = EXCLUDED.params, counts = EXCLUDED.counts, error = EXCLUDED.error, problems = EXCLUDED.problems,
  recorded = EXCLUDED.recorded, created_at = EXCLUDED.created_at, started_at = EXCLUDED.started_at,
  heartbeat_at = EXCLUDED.heartbeat_at, progress_at = EXCLUDED.progress_at, finished_at = EXCLUDED.finished_at,
  cursor = EXCLUDED.cursor, seen = EXCLUDED.seen
WHERE source_runs.source = EXCLUDED.source`,
		r.ID, r.Source, r.Trigger, r.Mode, string(r.Status), text(r.Params), counts, reason, r.Problems, r.Recorded,
		micros(r.CreatedAt), micros(r.StartedAt), micros(r.HeartbeatAt), micros(r.ProgressAt), micros(r.FinishedAt),
		r.Cursor, r.Seen)
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "run %s is of another source", r.ID)
	}
	return nil
}

// PutSourceRunItems implements port.SourceWriter.
func (w *Writer) PutSourceRunItems(ctx context.Context, org ident.Org, run string, items []port.SourceRunItem) error {
	const op = "write items of run"
	if err := w.ownsRun(ctx, org, run); err != nil {
		return err
	}
	for i := range items {
		v := &items[i]
		reason, err := encode(op, v.Error)
		if err != nil {
			return err
		}
		if _, err := w.s.exec(ctx, op, `INSERT INTO source_run_items (run, place, item_key, status, error, document)
VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (run, place) DO UPDATE SET item_key = EXCLUDED.item_key, status = EXCLUDED.status,
  error = EXCLUDED.error, document = EXCLUDED.document`, run, v.Place, v.Key, v.Status, reason, v.Document); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// TrimSourceRuns implements port.SourceWriter.
func (w *Writer) TrimSourceRuns(ctx context.Context, org ident.Org, source string, before time.Time,
	keep, limit int) (bool, error) {
	const op = "trim runs"
	if err := w.ownsSource(ctx, org, source); err != nil {
		return false, err
	}
	var run string
	// One look at the oldest and one at the first beyond what is kept: there may be many runs.
	old, err := w.s.get(ctx, op, `SELECT id FROM source_runs WHERE source = ? AND finished_at <> 0 AND (created_at < ? OR
  (created_at, id) <= (SELECT created_at, id FROM source_runs WHERE source = ?
    ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ?))
ORDER BY created_at, id LIMIT 1`, []any{source, micros(before), source, keep}, &run)
	if err != nil || !old {
		return false, err
	}
	n, err := w.s.exec(ctx, op, `DELETE FROM source_run_items WHERE run = ? AND place IN
  (SELECT place FROM source_run_items WHERE run = ? ORDER BY place LIMIT ?)`, run, run, limit)
	if err == nil && n < int64(limit) {
		_, err = w.s.exec(ctx, op, `DELETE FROM source_runs WHERE id = ?`, run)
	}
	return true, w.fail(err)
}

// DeleteSource implements port.SourceWriter.
func (w *Writer) DeleteSource(ctx context.Context, org ident.Org, id string, limit int) (bool, error) {
	if err := w.ownsSource(ctx, org, id); err != nil {
		if fault.CodeOf(err) == fault.SourceNotFound {
			err = nil
		}
		return false, err
	}
	return w.eraseSource(ctx, "delete source", id, limit)
}

// eraseSource removes up to limit rows of each kind of a source, and in the end itself.
func (w *Writer) eraseSource(ctx context.Context, op, id string, limit int) (more bool, err error) {
	for _, statement := range [...]string{
		`DELETE FROM source_run_items WHERE (run, place) IN (SELECT i.run, i.place FROM source_run_items i
  JOIN source_runs r ON r.id = i.run WHERE r.source = ? LIMIT ?)`,
		`DELETE FROM source_items WHERE source = ? AND number IN
  (SELECT number FROM source_items WHERE source = ? ORDER BY number LIMIT ?)`,
	} {
		args := []any{id, id, limit}
		if strings.Count(statement, "?") == 2 {
			args = args[1:]
		}
		n, err := w.s.exec(ctx, op, statement, args...)
		if err != nil {
			return false, w.fail(err)
		}
		more = more || n == int64(limit)
	}
	if more {
		return true, nil
	}
	for _, statement := range [...]string{`DELETE FROM source_runs WHERE source = ?`,
		`DELETE FROM source_secrets WHERE source = ?`, `DELETE FROM sources WHERE id = ?`} {
		if _, err := w.s.exec(ctx, op, statement, id); err != nil {
			return false, w.fail(err)
		}
	}
	return false, nil
}
