package bunsql

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Memories, their records and their receipts go through prepared statements,
// as documents do: every save and search of an end user runs them.

// CountEndUsers implements port.MemoryReader.
func (r *Reader) CountEndUsers(ctx context.Context, org ident.Org, integration string) (n int64, err error) {
	if err := r.check(ctx); err != nil {
		return 0, err
	}
	_, err = r.s.get(ctx, "count end users", `SELECT count(*) FROM namespaces n WHERE n.org = ? AND n.space = 'memories'
  AND n.integration = ? AND n.dropped = 0 AND n.erasing_at = 0`, []any{string(org), integration}, &n)
	return n, err
}

// EndUsers implements port.MemoryReader.
func (r *Reader) EndUsers(ctx context.Context, org ident.Org, l port.EndUserList) ([]port.EndUser, error) {
	const op = "list end users"
	if err := r.check(ctx); err != nil || l.Limit <= 0 {
		return nil, err
	}
	var q strings.Builder
	q.WriteString(`SELECT n.integration, n.name, n.generation, n.documents, n.bytes, n.created_at, n.updated_at,
		n.seen_at, n.erasing_at,
  (SELECT count(DISTINCT d.container) FROM documents d WHERE d.generation = n.generation AND d.container <> '')
FROM namespaces n WHERE n.org = ? AND n.space = 'memories' AND n.dropped = 0`)
	args := []any{string(org)}
	add := func(where string, a ...any) { q.WriteString(` AND ` + where); args = append(args, a...) }
	if l.Integration != "" {
		add(`n.integration = ?`, l.Integration)
	}
	if l.Prefix != "" {
		add(`n.name >= ? AND n.name < ?`, l.Prefix, prefixEnd(l.Prefix))
	}
	switch {
	case l.AfterID != "" && l.Integration != "":
		add(`n.name > ?`, l.AfterID)
	case l.AfterID != "":
		add(`n.name >= ? AND (n.name > ? OR n.integration > ?)`, l.AfterID, l.AfterID, l.AfterIntegration)
	}
	if l.Integration != "" {
		q.WriteString(` ORDER BY n.name LIMIT ?`)
	} else {
		q.WriteString(` ORDER BY n.name, n.integration LIMIT ?`)
	}
	rows, err := r.s.query(ctx, op, q.String(), append(args, l.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.EndUser
	for rows.Next() {
		var u port.EndUser
		var created, updated, seen, erasing int64
		if err := rows.Scan(&u.Integration, &u.ID, &u.Generation, &u.Memories, &u.Bytes, &created, &updated, &seen,
			&erasing, &u.Containers); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		u.FirstSeen, u.LastSeen, u.Erasing = instant(created), instant(max(updated, seen)), instant(erasing)
		out = append(out, u)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// HasEndUsers reports whether there is any memory partition.
func (r *Reader) HasEndUsers(ctx context.Context) (bool, error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	var n int
	return r.s.get(ctx, "find end users", `SELECT 1 FROM namespaces WHERE space = 'memories' AND dropped = 0 LIMIT 1`, nil, &n)
}

// MemoriesByContent implements port.MemoryReader. Of several memories that say
// the same, it finds the one with the lowest id.
func (r *Reader) MemoriesByContent(ctx context.Context, p port.Partition,
	keys []port.ContentKey) (map[port.ContentKey]string, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	out := make(map[port.ContentKey]string, len(keys))
	for _, k := range keys {
		var id string
		ok, err := r.s.get(ctx, "find memory by content", `SELECT id FROM documents
WHERE generation = ? AND content_key = ? AND container = ? AND content_key IS NOT NULL ORDER BY id LIMIT 1`,
			[]any{ref.generation, k.Hash[:], k.Container}, &id)
		if err != nil {
			return nil, err
		}
		if ok {
			out[k] = id
		}
	}
	return out, nil
}

const recordColumns = `SELECT source, external_id, version, status, occurred_at, updated_at, document_id, content_hash, ` +
	`metadata_hash FROM memory_records WHERE generation = ? AND `

// recordScan scans a row of recordColumns.
type recordScan struct {
	record            port.Record
	occurred, updated int64
	metadataHash      []byte
}

func (s *recordScan) dest() []any {
	r := &s.record
	return []any{&r.Source, &r.ExternalID, &r.Version, &r.Status, &s.occurred, &s.updated, &r.DocumentID,
		&r.ContentHash, &s.metadataHash}
}

func (s *recordScan) port() (port.Record, error) {
	r := s.record
	r.OccurredAt, r.UpdatedAt = instant(s.occurred), instant(s.updated)
	if copy(r.MetadataHash[:], s.metadataHash) != 32 {
		return port.Record{}, internal("read record", "record %s of %s: damaged hash", r.ExternalID, r.Source)
	}
	return r, nil
}

func noRecord(source, externalID string) error {
	return fault.New(fault.MemoryNotFound, "source %s has no memory with external id %s", source, externalID)
}

// Record implements port.MemoryReader.
func (r *Reader) Record(ctx context.Context, p port.Partition, source, externalID string) (port.Record, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return port.Record{}, err
	}
	var s recordScan
	ok, err := r.s.get(ctx, "read record", recordColumns+`source = ? AND external_id = ?`,
		[]any{ref.generation, source, externalID}, s.dest()...)
	if err != nil {
		return port.Record{}, err
	}
	if !ok {
		return port.Record{}, noRecord(source, externalID)
	}
	return s.port()
}

// Records implements port.MemoryReader.
func (r *Reader) Records(ctx context.Context, p port.Partition, afterSource, afterExternalID string,
	limit int) ([]port.Record, error) {
	const op = "list records"
	ref, err := r.resolve(ctx, p)
	if err != nil || limit <= 0 {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, recordColumns+`(source, external_id) > (?, ?) ORDER BY source, external_id LIMIT ?`,
		ref.generation, afterSource, afterExternalID, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Record
	for rows.Next() {
		var s recordScan
		if err := rows.Scan(s.dest()...); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		record, err := s.port()
		if err != nil {
			return nil, err
		}
		out = append(out, record)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

const receiptColumns = `SELECT source, external_id, version, operation, request_hash, outcome, occurred_at, applied_at,
	document_id, content_hash
FROM memory_receipts WHERE generation = ? AND source = ? AND external_id = ? AND `

// receiptScan scans a row of receiptColumns.
type receiptScan struct {
	receipt           port.Receipt
	occurred, applied int64
}

func (s *receiptScan) dest() []any {
	r := &s.receipt
	return []any{&r.Source, &r.ExternalID, &r.Version, &r.Operation, &r.RequestHash, &r.Outcome, &s.occurred,
		&s.applied, &r.DocumentID, &r.ContentHash}
}

func (s *receiptScan) port() port.Receipt {
	r := s.receipt
	r.OccurredAt, r.AppliedAt = instant(s.occurred), instant(s.applied)
	return r
}

// Receipt implements port.MemoryReader.
func (r *Reader) Receipt(ctx context.Context, p port.Partition, source, externalID string, version int64) (port.Receipt, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return port.Receipt{}, err
	}
	var s receiptScan
	where, args := `version = ?`, []any{ref.generation, source, externalID, version}
	if version == 0 {
		where, args = `version > 0 ORDER BY version DESC LIMIT 1`, args[:3]
	}
	ok, err := r.s.get(ctx, "read receipt", receiptColumns+where, args, s.dest()...)
	if err != nil {
		return port.Receipt{}, err
	}
	if !ok {
		if version == 0 {
			return port.Receipt{}, noRecord(source, externalID)
		}
		return port.Receipt{}, fault.New(fault.MemoryNotFound,
			"source %s has no version %d of the memory with external id %s", source, version, externalID)
	}
	return s.port(), nil
}

// Receipts implements port.MemoryReader.
func (r *Reader) Receipts(ctx context.Context, p port.Partition, source, externalID string, after int64,
	limit int) ([]port.Receipt, error) {
	const op = "list receipts"
	ref, err := r.resolve(ctx, p)
	if err != nil || limit <= 0 {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, receiptColumns+`version > ? ORDER BY version LIMIT ?`, ref.generation, source,
		externalID, after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Receipt
	for rows.Next() {
		var s receiptScan
		if err := rows.Scan(s.dest()...); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, s.port())
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// IdempotentReply implements port.MemoryReader.
func (r *Reader) IdempotentReply(ctx context.Context, org ident.Org, integration, key string) (port.IdempotentReply, error) {
	if err := r.check(ctx); err != nil {
		return port.IdempotentReply{}, err
	}
	out := port.IdempotentReply{Integration: integration, Key: key}
	var hash []byte
	var answer string
	var created int64
	ok, err := r.s.get(ctx, "read replay",
		`SELECT end_user, request_hash, answer, created_at FROM replays WHERE org = ? AND integration = ? `+
			`AND idempotency_key = ?`,
		[]any{string(org), integration, key}, &out.EndUser, &hash, &answer, &created)
	if err != nil {
		return port.IdempotentReply{}, err
	}
	if !ok {
		return port.IdempotentReply{}, fault.New(fault.NotFound, "no answer is stored for this idempotency key")
	}
	if copy(out.RequestHash[:], hash) != 32 {
		return port.IdempotentReply{}, internal("read replay", "damaged hash")
	}
	out.Answer, out.CreatedAt = []byte(answer), instant(created)
	return out, nil
}

// PutRecord implements port.MemoryWriter; fault Conflict when the version has
// its receipt already.
func (w *Writer) PutRecord(ctx context.Context, p port.Partition, r port.Record, receipt port.Receipt) error {
	const op = "write record"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	if !ref.memories || r.Source == "" || r.ExternalID == "" || r.Version <= 0 ||
		receipt.Source != r.Source || receipt.ExternalID != r.ExternalID || receipt.Version != r.Version {
		return internal(op, "record %s/%s version %d with receipt %s/%s version %d in %s",
			r.Source, r.ExternalID, r.Version, receipt.Source, receipt.ExternalID, receipt.Version, p)
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO memory_receipts
  (generation, source, external_id, version, operation, request_hash, outcome, occurred_at, applied_at, document_id, content_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		ref.generation, r.Source, r.ExternalID, r.Version, receipt.Operation, receipt.RequestHash, receipt.Outcome,
		micros(receipt.OccurredAt), micros(receipt.AppliedAt), receipt.DocumentID, receipt.ContentHash)
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "version %d of %s of source %s has a receipt already", r.Version, r.ExternalID, r.Source)
	}
	if err != nil {
		return w.fail(err)
	}
	_, err = w.s.exec(ctx, op, `INSERT INTO memory_records
  (generation, source, external_id, version, status, occurred_at, updated_at, document_id, content_hash, metadata_hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (generation, source, external_id) DO UPDATE SET version = EXCLUDED.version, status = EXCLUDED.status,
  occurred_at = EXCLUDED.occurred_at, updated_at = EXCLUDED.updated_at, document_id = EXCLUDED.document_id,
  content_hash = EXCLUDED.content_hash, metadata_hash = EXCLUDED.metadata_hash`,
		ref.generation, r.Source, r.ExternalID, r.Version, string(r.Status), micros(r.OccurredAt), micros(r.UpdatedAt),
		r.DocumentID, r.ContentHash, r.MetadataHash[:])
	return w.fail(err)
}

// PutIdempotentReply implements port.MemoryWriter.
func (w *Writer) PutIdempotentReply(ctx context.Context, org ident.Org, r port.IdempotentReply) error {
	if _, err := w.writable(ctx, port.Memories(org, r.Integration, r.EndUser)); err != nil &&
		!fault.IsPartitionNotFound(err) {
		return err
	}
	if err := w.requireOrganization(ctx, org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write replay",
		`INSERT INTO replays (org, integration, idempotency_key, end_user, request_hash, answer, created_at) `+
			`VALUES (?, ?, ?, ?, ?, ?, ?)`,
		string(org), r.Integration, r.Key, r.EndUser, r.RequestHash[:], string(r.Answer), micros(r.CreatedAt))
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "the idempotency key is in use")
	}
	w.written.Bytes += len(r.Answer)
	return w.fail(err)
}

// DeleteIdempotentReplies implements port.MemoryWriter.
func (w *Writer) DeleteIdempotentReplies(ctx context.Context, before time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "delete replays", `DELETE FROM replays WHERE created_at < ?`, micros(before))
	return w.fail(err)
}

// TouchEndUsers implements port.MemoryWriter.
func (w *Writer) TouchEndUsers(ctx context.Context, seen map[int64]time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	generations := make([]int64, 0, len(seen))
	for g := range seen {
		generations = append(generations, g)
	}
	slices.Sort(generations) // one locking order on databases that lock rows
	for _, g := range generations {
		at := micros(seen[g])
		if _, err := w.s.exec(ctx, "touch end user", `UPDATE namespaces SET seen_at = ?
WHERE generation = ? AND space = 'memories' AND dropped = 0 AND erasing_at = 0 AND seen_at < ?`, at, g, at); err != nil {
			return w.fail(err)
		}
	}
	return nil
}
