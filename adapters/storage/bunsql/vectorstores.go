package bunsql

import (
	"context"
	"database/sql"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// scanned reads all rows of a query.
func scanned[T any](ctx context.Context, s *Session, op, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	rows, err := s.query(ctx, op, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var one T
		if err := scan(rows, &one); err != nil {
			return nil, s.d.Fault(op, err)
		}
		out = append(out, one)
	}
	return out, s.d.Fault(op, rows.Err())
}

// pageBy is the condition and the order of a page by a column.
func pageBy(column string, down bool, after string, limit int, args []any) (query string, all []any) {
	compare, order := ` > ?`, ` ORDER BY `+column
	if down {
		compare, order = ` < ?`, order+` DESC`
	}
	if after != "" {
		query, args = ` AND `+column+compare, append(args, after)
	}
	return query + order + ` LIMIT ?`, append(args, limit)
}

// VectorStore implements port.VectorStoreReader.
func (r *Reader) VectorStore(ctx context.Context, org ident.Org, id string) (v port.VectorStore, err error) {
	if err := r.check(ctx); err != nil {
		return v, err
	}
	var metadata string
	var created int64
	v.ID = id
	ok, err := r.s.get(ctx, "read vector store", `SELECT name, metadata, created_at FROM vector_stores WHERE org = ? AND id = ?`,
		[]any{string(org), id}, &v.Name, &metadata, &created)
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "vector store %q does not exist", id)
	}
	v.Metadata, v.CreatedAt = optional(metadata), instant(created)
	return v, err
}

func optional(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// VectorStores implements port.VectorStoreReader.
func (r *Reader) VectorStores(ctx context.Context, org ident.Org, l port.VectorStoreList) ([]port.VectorStoreRow, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	const live = `n.space = 'documents' AND n.integration = '' AND n.dropped = 0 AND n.life = 0`
	query := `SELECT id, name, metadata, created_at, documents, bytes, updated_at FROM (
SELECT v.id, v.name, v.metadata, v.created_at, coalesce(n.documents, 0) AS documents, coalesce(n.bytes, 0) AS bytes,
  coalesce(n.updated_at, v.created_at) AS updated_at
FROM vector_stores v LEFT JOIN namespaces n ON n.org = v.org AND n.name = v.id AND ` + live + ` WHERE v.org = ?
UNION ALL
SELECT n.name, n.name, '', n.created_at, n.documents, n.bytes, n.updated_at FROM namespaces n
WHERE n.org = ? AND ` + live + ` AND n.documents > 0
  AND NOT EXISTS (SELECT 1 FROM vector_stores v WHERE v.org = n.org AND v.id = n.name)) s`
	args := []any{string(org), string(org)}
	compare, order := `>`, ` ORDER BY created_at, id LIMIT ?`
	if l.Down {
		compare, order = `<`, ` ORDER BY created_at DESC, id DESC LIMIT ?`
	}
	if l.After != "" {
		query += ` WHERE (created_at, id) ` + compare + ` (?, ?)`
		args = append(args, micros(l.AfterCreated), l.After)
	}
	return scanned(ctx, r.s, "list vector stores", query+order, append(args, l.Limit),
		func(rows *sql.Rows, v *port.VectorStoreRow) error {
			var metadata string
			var created, updated int64
			err := rows.Scan(&v.ID, &v.Name, &metadata, &created, &v.Documents, &v.Bytes, &updated)
			v.Metadata, v.CreatedAt, v.UpdatedAt = optional(metadata), instant(created), instant(updated)
			return err
		})
}

const keptColumns = `SELECT id, namespace, name, purpose, media_type, size, text_bytes, parts, created_at
  FROM kept_files WHERE org = ?`

func scanKept(rows *sql.Rows, f *port.KeptFile) error {
	var created int64
	err := rows.Scan(&f.ID, &f.Namespace, &f.Name, &f.Purpose, &f.MediaType, &f.Size, &f.TextBytes, &f.Parts, &created)
	f.CreatedAt = instant(created)
	return err
}

// KeptFile implements port.VectorStoreReader.
func (r *Reader) KeptFile(ctx context.Context, org ident.Org, id string) (port.KeptFile, error) {
	if err := r.check(ctx); err != nil {
		return port.KeptFile{}, err
	}
	found, err := scanned(ctx, r.s, "read file", keptColumns+` AND id = ?`, []any{string(org), id}, scanKept)
	if err != nil {
		return port.KeptFile{}, err
	}
	if len(found) == 0 {
		return port.KeptFile{}, fault.New(fault.NotFound, "file %q does not exist", id)
	}
	return found[0], nil
}

// KeptFiles implements port.VectorStoreReader.
func (r *Reader) KeptFiles(ctx context.Context, org ident.Org, l port.KeptFileList) ([]port.KeptFile, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	query, args := keptColumns, []any{string(org)}
	if l.Namespace != "" {
		query, args = query+` AND namespace = ?`, append(args, l.Namespace)
	}
	if l.Purpose != "" {
		query, args = query+` AND purpose = ?`, append(args, l.Purpose)
	}
	page, args := pageBy("id", l.Down, l.After, l.Limit, args)
	return scanned(ctx, r.s, "list files", query+page, args, scanKept)
}

// KeptParts implements port.VectorStoreReader.
func (r *Reader) KeptParts(ctx context.Context, org ident.Org, file string) ([]port.KeptPart, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	return scanned(ctx, r.s, "read file", `SELECT metadata, text FROM kept_parts WHERE org = ? AND file = ? ORDER BY number`,
		[]any{string(org), file}, func(rows *sql.Rows, p *port.KeptPart) error {
			var metadata string
			err := rows.Scan(&metadata, &p.Text)
			p.Metadata = []byte(metadata)
			return err
		})
}

const attachmentColumns = `SELECT file, batch, operation, created_at FROM attachments WHERE org = ? AND namespace = ?`

func scanAttachment(rows *sql.Rows, a *port.Attachment) error {
	var created int64
	err := rows.Scan(&a.File, &a.Batch, &a.Operation, &created)
	a.CreatedAt = instant(created)
	return err
}

// Attachments implements port.VectorStoreReader.
func (r *Reader) Attachments(ctx context.Context, p port.Partition, l port.AttachmentList) ([]port.Attachment, error) {
	if err := r.use(ctx, p); err != nil {
		return nil, err
	}
	query, args := attachmentColumns, []any{string(p.Org()), p.Name()}
	if l.Batch != "" {
		query, args = query+` AND batch = ? AND batch <> ''`, append(args, l.Batch)
	}
	if !l.Written {
		query += ` AND operation <> ''`
	}
	if !l.Since.IsZero() {
		query, args = query+` AND created_at >= ?`, append(args, micros(l.Since))
	}
	page, args := pageBy("file", l.Down, l.After, l.Limit, args)
	return scanned(ctx, r.s, "list attachments", query+page, args, scanAttachment)
}

// Attachment implements port.VectorStoreReader.
func (r *Reader) Attachment(ctx context.Context, p port.Partition, file string) (port.Attachment, error) {
	if err := r.use(ctx, p); err != nil {
		return port.Attachment{}, err
	}
	found, err := scanned(ctx, r.s, "read attachment", attachmentColumns+` AND file = ?`, []any{string(p.Org()), p.Name(), file},
		scanAttachment)
	if err != nil {
		return port.Attachment{}, err
	}
	if len(found) == 0 {
		return port.Attachment{}, fault.New(fault.NotFound, "file %q was not put into namespace %q", file, p.Name())
	}
	return found[0], nil
}

// AttachedTo implements port.VectorStoreReader.
func (r *Reader) AttachedTo(ctx context.Context, org ident.Org, file string) ([]string, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	return scanned(ctx, r.s, "list attachments",
		`SELECT namespace FROM attachments WHERE org = ? AND file = ? ORDER BY namespace`,
		[]any{string(org), file}, func(rows *sql.Rows, name *string) error { return rows.Scan(name) })
}

// PutVectorStore implements port.VectorStoreWriter.
func (w *Writer) PutVectorStore(ctx context.Context, org ident.Org, v port.VectorStore) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write vector store", `INSERT INTO vector_stores (org, id, name, metadata, created_at)
  VALUES (?, ?, ?, ?, ?) ON CONFLICT (org, id) DO UPDATE SET name = EXCLUDED.name, metadata = EXCLUDED.metadata`,
		string(org), v.ID, v.Name, string(v.Metadata), micros(v.CreatedAt))
	return w.fail(err)
}

// RemoveVectorStore implements port.VectorStoreWriter.
func (w *Writer) RemoveVectorStore(ctx context.Context, org ident.Org, id string) (bool, error) {
	const op = "remove vector store"
	if err := w.check(ctx); err != nil {
		return false, err
	}
	if _, err := w.s.exec(ctx, op, `DELETE FROM attachments WHERE org = ? AND namespace = ?`, string(org), id); err != nil {
		return false, w.fail(err)
	}
	n, err := w.s.exec(ctx, op, `DELETE FROM vector_stores WHERE org = ? AND id = ?`, string(org), id)
	return n > 0, w.fail(err)
}

// PutKeptFile implements port.VectorStoreWriter.
func (w *Writer) PutKeptFile(ctx context.Context, org ident.Org, f port.KeptFile, parts []port.KeptPart) error {
	const op = "write file"
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, org); err != nil {
		return err
	}
	if f.Parts != len(parts) {
		return internal(op, "%s has %d parts and not %d", f.ID, len(parts), f.Parts)
	}
	if _, err := w.s.exec(ctx, op,
		`INSERT INTO kept_files (org, id, namespace, name, purpose, media_type, size, text_bytes, parts,
  created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(org), f.ID, f.Namespace, f.Name, f.Purpose, f.MediaType, f.Size,
		f.TextBytes, f.Parts, micros(f.CreatedAt)); err != nil {
		return w.fail(err)
	}
	for i, p := range parts {
		if _, err := w.s.exec(ctx, op, `INSERT INTO kept_parts (org, file, number, metadata, text) VALUES (?, ?, ?, ?, ?)`,
			string(org), f.ID, i+1, string(p.Metadata), p.Text); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// RemoveKeptFile implements port.VectorStoreWriter.
func (w *Writer) RemoveKeptFile(ctx context.Context, org ident.Org, id string) (bool, error) {
	const op = "remove file"
	if err := w.check(ctx); err != nil {
		return false, err
	}
	for _, statement := range []string{`DELETE FROM attachments WHERE org = ? AND file = ?`,
		`DELETE FROM kept_parts WHERE org = ? AND file = ?`} {
		if _, err := w.s.exec(ctx, op, statement, string(org), id); err != nil {
			return false, w.fail(err)
		}
	}
	n, err := w.s.exec(ctx, op, `DELETE FROM kept_files WHERE org = ? AND id = ?`, string(org), id)
	return n > 0, w.fail(err)
}

// PutAttachment implements port.VectorStoreWriter.
func (w *Writer) PutAttachment(ctx context.Context, p port.Partition, a port.Attachment) error {
	if err := w.use(ctx, p); err != nil {
		return err
	}
	if _, err := w.KeptFile(ctx, p.Org(), a.File); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write attachment", `INSERT INTO attachments (org, namespace, file, batch, operation, created_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org, namespace, file) DO UPDATE SET batch = EXCLUDED.batch,
  operation = EXCLUDED.operation, created_at = EXCLUDED.created_at`, string(p.Org()), p.Name(), a.File, a.Batch, a.Operation,
		micros(a.CreatedAt))
	return w.fail(err)
}

// RemoveAttachment implements port.VectorStoreWriter.
func (w *Writer) RemoveAttachment(ctx context.Context, p port.Partition, file string) (bool, error) {
	if err := w.use(ctx, p); err != nil {
		return false, err
	}
	n, err := w.s.exec(ctx, "remove attachment", `DELETE FROM attachments WHERE org = ? AND namespace = ? AND file = ?`,
		string(p.Org()), p.Name(), file)
	return n > 0, w.fail(err)
}
