package bunsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/packing"
	"github.com/mnemehq/mneme/core/port"
)

// headColumns always come; columns gives the rest by parts. memoryColumns lie
// behind the text in a row, so namespaces, whose texts are long, leave them out.
const headColumns = `d.id, d.seq, d.text_hash, d.metadata_hash, d.chunk_count, d.source_id, d.origin_kind, ` +
	`d.origin_key, d.origin_source, d.created_at, d.updated_at`

const memoryColumns = `, d.container, d.content_key, d.source, d.external_id`

func columns(ref namespaceRef, parts port.Part) string {
	c := headColumns
	if ref.memories {
		c += memoryColumns
	}
	if parts&port.PartMetadata != 0 {
		c += `, d.metadata`
	}
	if parts&port.PartChunks != 0 {
		c += `, d.layout`
	}
	if parts&port.PartText != 0 {
		c += `, d.text`
	}
	if parts&port.PartSize != 0 {
		c += `, d.text_bytes`
	}
	return c
}

// each encodes ids as the argument of the token of the same name.
func each(ids []string) (string, error) {
	b, err := json.Marshal(ids)
	if err != nil {
		return "", internal("store", "ids: %w", err)
	}
	return string(b), nil
}

// scanner reads the document rows of one query.
type scanner struct {
	parts              port.Part
	textHash, metaHash sql.RawBytes
	layout, contentKey sql.RawBytes
	metadata           string
	created, updated   int64
	seq                int64
	d                  port.DocumentHead
	dest               []any
}

func newScanner(ref namespaceRef, parts port.Part) *scanner {
	s := &scanner{parts: parts}
	s.dest = []any{&s.d.ID, &s.seq, &s.textHash, &s.metaHash, &s.d.ChunkCount, &s.d.SourceID,
		&s.d.Origin.Kind, &s.d.Origin.KeyID, &s.d.Origin.SourceID, &s.created, &s.updated}
	if ref.memories {
		s.dest = append(s.dest, &s.d.Container, &s.contentKey, &s.d.Source, &s.d.ExternalID)
	}
	if parts&port.PartMetadata != 0 {
		s.dest = append(s.dest, &s.metadata)
	}
	if parts&port.PartChunks != 0 {
		s.dest = append(s.dest, &s.layout)
	}
	if parts&port.PartText != 0 {
		s.dest = append(s.dest, &s.d.Text)
	}
	if parts&port.PartSize != 0 {
		s.dest = append(s.dest, &s.d.TextBytes)
	}
	return s
}

func (s *scanner) scan(rows *sql.Rows) (port.DocumentHead, error) {
	s.d = port.DocumentHead{}
	if err := rows.Scan(s.dest...); err != nil {
		return port.DocumentHead{}, err
	}
	d := s.d
	d.Seq, d.CreatedAt, d.UpdatedAt = uint64(s.seq), instant(s.created), instant(s.updated)
	if copy(d.TextHash[:], s.textHash) != 32 || copy(d.MetadataHash[:], s.metaHash) != 32 {
		return port.DocumentHead{}, fmt.Errorf("document %s: damaged hash", d.ID)
	}
	if s.contentKey != nil && copy(d.ContentKey[:], s.contentKey) != 32 {
		return port.DocumentHead{}, fmt.Errorf("document %s: damaged content key", d.ID)
	}
	if s.parts&port.PartMetadata != 0 && s.metadata != "" {
		d.Metadata = json.RawMessage(s.metadata)
	}
	if s.parts&port.PartChunks != 0 {
		var err error
		if d.Chunks, err = packing.DecodeLayout(s.layout); err != nil {
			return port.DocumentHead{}, fmt.Errorf("document %s: %w", d.ID, err)
		}
	}
	return d, nil
}

func (r *Reader) heads(ctx context.Context, op string, ref namespaceRef, parts port.Part, query string,
	args ...any) ([]port.DocumentHead, error) {
	rows, err := r.s.query(ctx, op, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.DocumentHead
	s := newScanner(ref, parts)
	for rows.Next() {
		d, err := s.scan(rows)
		if err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		out = append(out, d)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// Documents implements port.DocumentReader. An id given twice is read once, at
// its first place.
func (r *Reader) Documents(ctx context.Context, p port.Partition, ids []string, parts port.Part) ([]port.DocumentHead, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	const op = "read documents"
	if len(ids) == 1 {
		return r.heads(ctx, op, ref, parts,
			`SELECT `+columns(ref, parts)+` FROM documents d WHERE d.generation = ? AND d.id = ?`, ref.generation, ids[0])
	}
	list, err := each(ids)
	if err != nil {
		return nil, err
	}
	found, err := r.heads(ctx, op, ref, parts,
		`SELECT `+columns(ref, parts)+` FROM {{each}} CROSS JOIN {{lookup}}documents d WHERE d.generation = ? `+
			`AND d.id = j.value{{found d}}`, list, ref.generation)
	if err != nil {
		return nil, err
	}
	place := make(map[string]int, len(ids))
	for i, id := range ids {
		if _, twice := place[id]; !twice {
			place[id] = i
		}
	}
	slices.SortFunc(found, func(a, b port.DocumentHead) int { return place[a.ID] - place[b.ID] })
	return slices.CompactFunc(found, func(a, b port.DocumentHead) bool { return a.ID == b.ID }), nil
}

// ListDocuments implements port.DocumentReader.
func (r *Reader) ListDocuments(ctx context.Context, p port.Partition, l port.DocumentList) ([]port.DocumentHead, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil || l.Limit <= 0 {
		return nil, err
	}
	var q strings.Builder
	q.WriteString(`SELECT ` + columns(ref, l.Parts) + ` FROM documents d WHERE d.generation = ?`)
	args := []any{ref.generation}
	add := func(where string, a ...any) { q.WriteString(` AND ` + where); args = append(args, a...) }
	if l.SourceID != "" {
		add(`d.source_id = ? AND d.source_id <> ''`, l.SourceID)
	}
	if l.Prefix != "" {
		add(`d.id >= ? AND d.id < ?`, l.Prefix, prefixEnd(l.Prefix))
	}
	if l.Container != "" {
		if !ref.memories || l.Order != port.ByCreated {
			return nil, internal("list documents", "container with order %q of %s", l.Order, p)
		}
		add(`d.container = ? AND d.container <> ''`, l.Container)
	}
	switch l.Order {
	case port.ByCreated:
		if ref.memories {
			add(`d.container IS NOT NULL`)
		}
		if l.AfterID != "" {
			at := micros(l.AfterCreated)
			add(`d.created_at <= ? AND (d.created_at < ? OR d.id > ?)`, at, at, l.AfterID)
		}
		q.WriteString(` ORDER BY d.created_at DESC, d.id LIMIT ?`)
	case port.ByUpdated:
		if l.AfterID != "" {
			at := micros(l.AfterUpdated)
			add(`d.updated_at <= ? AND (d.updated_at < ? OR d.id > ?)`, at, at, l.AfterID)
		}
		q.WriteString(` ORDER BY d.updated_at DESC, d.id LIMIT ?`)
	case port.ByID, "":
		if l.AfterID != "" {
			add(`d.id > ?`, l.AfterID)
		}
		q.WriteString(` ORDER BY d.id LIMIT ?`)
	case port.ByIDDown:
		if l.AfterID != "" {
			add(`d.id < ?`, l.AfterID)
		}
		q.WriteString(` ORDER BY d.id DESC LIMIT ?`)
	default:
		return nil, internal("list documents", "order %q", l.Order)
	}
	return r.heads(ctx, "list documents", ref, l.Parts, q.String(), append(args, l.Limit)...)
}

// Vectors implements port.DocumentReader.
func (r *Reader) Vectors(ctx context.Context, p port.Partition, ids []string) (map[string]port.Vectors, error) {
	const op = "read vectors"
	ref, err := r.resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	out := make(map[string]port.Vectors, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	list, err := each(ids)
	if err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, op, `SELECT v.id, v.dense, v.sparse FROM {{each}} CROSS JOIN {{lookup}}vectors v `+
		`WHERE v.generation = ? AND v.id = j.value{{found v}}`, list, ref.generation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var dense, sparse sql.RawBytes
		if err := rows.Scan(&id, &dense, &sparse); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		var v port.Vectors
		if v.Dense, err = packing.DecodeDense(dense); err == nil {
			v.Sparse, err = packing.DecodeSparse(sparse)
		}
		if err != nil {
			return nil, r.s.d.Fault(op, fmt.Errorf("document %s: %w", id, err))
		}
		out[id] = v
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// Changes implements port.DocumentReader.
func (r *Reader) Changes(ctx context.Context, p port.Partition, after uint64, limit int) ([]port.Change, error) {
	ref, err := r.resolve(ctx, p)
	if err != nil || limit <= 0 {
		return nil, err
	}
	written, err := r.changes(ctx, false, nil,
		`SELECT seq, id FROM documents WHERE generation = ? AND seq > ? ORDER BY seq, id LIMIT ?`, ref.generation, after, limit)
	if err != nil {
		return nil, err
	}
	all, err := r.changes(ctx, true, written,
		`SELECT seq, id FROM tombstones WHERE generation = ? AND seq > ? ORDER BY seq, id LIMIT ?`, ref.generation, after, limit)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, byChange)
	if len(all) < limit {
		return all, nil
	}
	// The rows of the last number may go on past the limit: read it whole.
	last := all[limit-1].Seq
	all = all[:slices.IndexFunc(all, func(c port.Change) bool { return c.Seq == last })]
	whole := len(all)
	all, err = r.changes(ctx, false, all, `SELECT seq, id FROM documents WHERE generation = ? AND seq = ? ORDER BY id`,
		ref.generation, last)
	if err != nil {
		return nil, err
	}
	all, err = r.changes(ctx, true, all, `SELECT seq, id FROM tombstones WHERE generation = ? AND seq = ? ORDER BY id`,
		ref.generation, last)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all[whole:], byChange)
	return all, nil
}

func byChange(a, b port.Change) int {
	if a.Seq != b.Seq {
		if a.Seq < b.Seq {
			return -1
		}
		return 1
	}
	return strings.Compare(a.Document, b.Document)
}

func (r *Reader) changes(ctx context.Context, deleted bool, to []port.Change, query string, args ...any) ([]port.Change, error) {
	const op = "read changes"
	for i, a := range args {
		if n, ok := a.(uint64); ok {
			args[i] = int64(min(n, 1<<63-1))
		}
	}
	rows, err := r.s.query(ctx, op, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		c := port.Change{Deleted: deleted}
		var seq int64
		if err := rows.Scan(&seq, &c.Document); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		c.Seq = uint64(seq)
		to = append(to, c)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return to, nil
}

// stored is what PutDocuments needs of a document's row before it writes.
type stored struct {
	chunks, bytes int64
	textHash      [32]byte
}

func (w *Writer) stored(ctx context.Context, ref namespaceRef, list string) (map[string]stored, error) {
	const op = "write documents"
	rows, err := w.s.query(ctx, op, `SELECT d.id, d.chunk_count, d.text_bytes, d.text_hash `+
		`FROM {{each}} CROSS JOIN {{lookup}}documents d WHERE d.generation = ? AND d.id = j.value{{found d}}`, list,
		ref.generation)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]stored{}
	for rows.Next() {
		var id string
		var s stored
		var hash sql.RawBytes
		if err := rows.Scan(&id, &s.chunks, &s.bytes, &hash); err != nil {
			return nil, w.s.d.Fault(op, err)
		}
		copy(s.textHash[:], hash)
		out[id] = s
	}
	if err := rows.Err(); err != nil {
		return nil, w.s.d.Fault(op, err)
	}
	return out, nil
}

// packed is a document ready to be bound to a statement.
type packed struct {
	layout, dense, sparse []byte
}

// PutDocuments implements port.DocumentWriter. UpdatedAt of a document and of
// the namespace never goes back, even when the clock does. A MetadataOnly write
// of a document that is gone, or whose text is no longer the one with TextHash,
// is fault Conflict; faults leave nothing written.
func (w *Writer) PutDocuments(ctx context.Context, p port.Partition, at time.Time, docs []port.DocumentWrite) (uint64, error) {
	const op = "write documents"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return 0, err
	}
	if len(docs) == 0 {
		return 0, internal(op, "no documents")
	}
	ids := make([]string, len(docs))
	blobs := make([]packed, len(docs))
	for i := range docs {
		d := &docs[i]
		ids[i] = d.Document.ID
		if err := checkMemoryFields(ref, &d.Document); err != nil {
			return 0, internal(op, "document %s: %w", d.Document.ID, err)
		}
		if d.MetadataOnly {
			continue
		}
		if blobs[i], err = pack(ref, d); err != nil {
			return 0, internal(op, "document %s: %w", d.Document.ID, err)
		}
	}
	list, err := each(ids)
	if err != nil {
		return 0, err
	}
	before, err := w.stored(ctx, ref, list)
	if err != nil {
		return 0, err
	}
	for i := range docs {
		d := &docs[i]
		if !d.MetadataOnly {
			continue
		}
		if old, ok := before[d.Document.ID]; !ok || old.textHash != d.Document.TextHash {
			return 0, fault.New(fault.Conflict, "document %s was changed by another call", d.Document.ID)
		}
	}
	seq, err := w.nextSeq(ctx, ref)
	if err != nil {
		return 0, err
	}
	now, newest := micros(at), micros(at)
	var documents, chunks, bytes int64
	for i := range docs {
		d := &docs[i].Document
		if at.IsZero() {
			now = micros(d.UpdatedAt)
			newest = max(newest, now)
		}
		if docs[i].MetadataOnly {
			err = w.putMetadata(ctx, ref, seq, now, d)
		} else {
			old, replaces := before[d.ID]
			if replaces {
				err = w.replace(ctx, ref, seq, now, d, blobs[i])
			} else {
				documents++
				err = w.insert(ctx, ref, seq, now, d, blobs[i])
			}
			is := stored{chunks: int64(len(d.Chunks)), bytes: int64(len(d.Text)), textHash: d.TextHash}
			chunks += is.chunks - old.chunks
			bytes += is.bytes - old.bytes
			before[d.ID] = is // the same id again in this call replaces this one
			w.written.Bytes += len(d.Text) + len(blobs[i].layout) + len(blobs[i].dense) + len(blobs[i].sparse)
		}
		w.written.Bytes += len(d.Metadata)
		if err != nil {
			return 0, w.fail(err)
		}
	}
	if documents > 0 {
		_, err := w.s.exec(ctx, op, `DELETE FROM tombstones WHERE generation = ? AND id IN (SELECT j.value FROM {{each}})`,
			ref.generation, list)
		if err != nil {
			return 0, w.fail(err)
		}
	}
	return seq, w.count(ctx, ref, seq, newest, documents, chunks, bytes)
}

// checkMemoryFields checks the fields that only a memory has.
func checkMemoryFields(ref namespaceRef, d *port.Document) error {
	zero := d.ContentKey == [32]byte{}
	switch {
	case !ref.memories && (d.Container != "" || !zero || d.Source != "" || d.ExternalID != ""):
		return errors.New("fields of a memory in a namespace")
	case (d.Source == "") != (d.ExternalID == ""):
		return errors.New("source and external id come together")
	case d.Source != "" && !zero:
		return errors.New("content key of a source-owned memory")
	}
	return nil
}

// memory gives the arguments of memoryColumns: no container and content key in a
// namespace, which keeps its documents out of the memories' indexes.
func memory(ref namespaceRef, d *port.Document) (container sql.NullString, contentKey []byte) {
	if d.ContentKey != [32]byte{} {
		contentKey = d.ContentKey[:]
	}
	return sql.NullString{String: d.Container, Valid: ref.memories}, contentKey
}

func pack(ref namespaceRef, d *port.DocumentWrite) (b packed, err error) {
	if d.Vectors.Dense.Data != nil && int64(d.Vectors.Dense.Dim) != ref.dimensions {
		return b, fmt.Errorf("vectors of %d dimensions in a namespace of %d", d.Vectors.Dense.Dim, ref.dimensions)
	}
	for i, c := range d.Document.Chunks {
		if c.End > len(d.Document.Text) {
			return b, fmt.Errorf("chunk %d ends at %d in a text of %d bytes", i, c.End, len(d.Document.Text))
		}
	}
	if b.layout, err = packing.EncodeLayout(d.Document.Chunks); err != nil {
		return b, err
	}
	if b.dense, err = packing.EncodeDense(d.Vectors.Dense, len(d.Document.Chunks)); err != nil {
		return b, err
	}
	b.sparse, err = packing.EncodeSparse(d.Vectors.Sparse, len(d.Document.Chunks))
	return b, err
}

func (w *Writer) nextSeq(ctx context.Context, ref namespaceRef) (uint64, error) {
	var seq int64
	ok, err := w.s.get(ctx, "read namespace", `SELECT seq FROM namespaces WHERE generation = ?`, []any{ref.generation}, &seq)
	if err == nil && !ok {
		err = internal("read namespace", "generation %d is gone", ref.generation)
	}
	return uint64(seq) + 1, err
}

func (w *Writer) count(ctx context.Context, ref namespaceRef, seq uint64, now, documents, chunks, bytes int64) error {
	_, err := w.s.exec(ctx, "count documents",
		`UPDATE namespaces SET seq = ?, documents = documents + ?, chunks = chunks + ?, bytes = bytes + ?,
  updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END WHERE generation = ?`,
		int64(seq), documents, chunks, bytes, now, now, ref.generation)
	return w.fail(err)
}

func (w *Writer) insert(ctx context.Context, ref namespaceRef, seq uint64, now int64, d *port.Document, b packed) error {
	created := micros(d.CreatedAt)
	if created == 0 {
		created = now
	}
	container, contentKey := memory(ref, d)
	_, err := w.s.exec(ctx, "write document",
		`INSERT INTO documents (generation, id, seq, text_hash, metadata_hash, chunk_count, text_bytes,
  source_id, origin_kind, origin_key, origin_source, created_at, updated_at, metadata, layout, text, container,
  content_key, source, external_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		ref.generation, d.ID, int64(seq), d.TextHash[:], d.MetadataHash[:], len(d.Chunks), len(d.Text),
		d.SourceID, d.Origin.Kind, d.Origin.KeyID, d.Origin.SourceID, created, now, string(d.Metadata), b.layout,
		d.Text, container, contentKey, d.Source, d.ExternalID)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, "write vectors", `INSERT INTO vectors (generation, id, dense, sparse) VALUES (?, ?, ?, ?)`,
		ref.generation, d.ID, b.dense, b.sparse)
	return err
}

// memoryTime is a replaced memory's CreatedAt; a document keeps its first.
func memoryTime(ref namespaceRef, now int64, d *port.Document) sql.NullInt64 {
	at := micros(d.CreatedAt)
	if at == 0 {
		at = now
	}
	return sql.NullInt64{Int64: at, Valid: ref.memories}
}

func (w *Writer) replace(ctx context.Context, ref namespaceRef, seq uint64, now int64, d *port.Document, b packed) error {
	container, contentKey := memory(ref, d)
	_, err := w.s.exec(ctx, "write document",
		`UPDATE documents SET seq = ?, text_hash = ?, metadata_hash = ?, chunk_count = ?, text_bytes = ?,
  source_id = ?, origin_kind = ?, origin_key = ?, origin_source = ?, updated_at = CASE
  WHEN updated_at < ? THEN ? ELSE updated_at END,
  metadata = ?, layout = ?, text = ?, container = ?, content_key = ?, source = ?, external_id = ?,
  created_at = coalesce(?, created_at)
WHERE generation = ? AND id = ?`,
		int64(seq), d.TextHash[:], d.MetadataHash[:], len(d.Chunks), len(d.Text),
		d.SourceID, d.Origin.Kind, d.Origin.KeyID, d.Origin.SourceID, now, now, string(d.Metadata), b.layout, d.Text,
		container, contentKey, d.Source, d.ExternalID, memoryTime(ref, now, d), ref.generation, d.ID)
	if err != nil {
		return err
	}
	_, err = w.s.exec(ctx, "write vectors", `UPDATE vectors SET dense = ?, sparse = ? WHERE generation = ? AND id = ?`,
		b.dense, b.sparse, ref.generation, d.ID)
	return err
}

func (w *Writer) putMetadata(ctx context.Context, ref namespaceRef, seq uint64, now int64, d *port.Document) error {
	container, contentKey := memory(ref, d)
	_, err := w.s.exec(ctx, "write metadata",
		`UPDATE documents SET seq = ?, metadata_hash = ?, source_id = ?, origin_kind = ?, origin_key = ?, origin_source = ?,
  updated_at = CASE WHEN updated_at < ? THEN ? ELSE updated_at END, metadata = ?,
  container = ?, content_key = ?, source = ?, external_id = ?, created_at = coalesce(?, created_at)
  WHERE generation = ? AND id = ?`,
		int64(seq), d.MetadataHash[:], d.SourceID, d.Origin.Kind, d.Origin.KeyID, d.Origin.SourceID, now, now, string(d.Metadata),
		container, contentKey, d.Source, d.ExternalID, memoryTime(ref, now, d), ref.generation, d.ID)
	return err
}

// DeleteDocuments implements port.DocumentWriter.
func (w *Writer) DeleteDocuments(ctx context.Context, p port.Partition, at time.Time,
	ids []string) (deleted int, seq uint64, gone bool, err error) {
	const op = "delete documents"
	ref, err := w.writable(ctx, p)
	if err != nil || len(ids) == 0 {
		return 0, 0, false, err
	}
	list, err := each(ids)
	if err != nil {
		return 0, 0, false, err
	}
	if seq, err = w.nextSeq(ctx, ref); err != nil {
		return 0, 0, false, err
	}
	var chunks, bytes sql.NullInt64
	var n int64
	if _, err = w.s.get(ctx, op, `SELECT count(*), sum(d.chunk_count), sum(d.text_bytes) FROM documents d `+
		`WHERE d.generation = ? AND d.id IN (SELECT j.value FROM {{each}})`,
		[]any{ref.generation, list}, &n, &chunks, &bytes); err != nil || n == 0 {
		return 0, 0, false, err
	}
	var held int64
	if _, err = w.s.get(ctx, op, `SELECT documents FROM namespaces WHERE generation = ?`, []any{ref.generation},
		&held); err != nil {
		return 0, 0, false, err
	}
	if held == n && !ref.memories && ref.life == port.Active { // the last ones: purging removes them
		if err = w.count(ctx, ref, seq, micros(at), -n, -chunks.Int64, -bytes.Int64); err == nil {
			err = w.drop(ctx, p, ref)
		}
		return int(n), seq, err == nil, err
	}
	// What is deleted is to be nowhere. The shadow's own numbers tell its indexes.
	if _, ok, err := w.shadowOf(ctx, p, ref); err != nil {
		return 0, 0, false, err
	} else if ok {
		if _, _, _, err := w.DeleteDocuments(ctx, served(p).Shadow(), at, ids); err != nil {
			return 0, 0, false, err
		}
	}
	if _, err = w.s.exec(ctx, op, `INSERT INTO tombstones (generation, id, seq) SELECT d.generation, d.id, ? `+
		`FROM documents d WHERE d.generation = ? AND d.id IN (SELECT j.value FROM {{each}})`,
		int64(seq), ref.generation, list); err == nil {
		_, err = w.s.exec(ctx, op, `DELETE FROM documents WHERE generation = ? AND id IN (SELECT j.value FROM {{each}})`,
			ref.generation, list)
	}
	if err != nil {
		return 0, 0, false, w.fail(err)
	}
	if err = w.count(ctx, ref, seq, micros(at), -n, -chunks.Int64, -bytes.Int64); err != nil {
		return 0, 0, false, err
	}
	return int(n), seq, false, nil
}

// trimAtOnce bounds one TrimChanges, and with it how long others wait.
const trimAtOnce = 10000

// TrimChanges implements port.DocumentWriter. It forgets some ten thousand
// deletions, the oldest first; the next call goes on.
func (w *Writer) TrimChanges(ctx context.Context, p port.Partition, upto uint64) error {
	const op = "trim changes"
	ref, err := w.resolve(ctx, p) // indexes don't tell a shadow
	if err == nil && ref.erasing {
		err = errErasing(p)
	}
	if err != nil {
		return err
	}
	marks, err := w.Watermarks(ctx, p)
	if err != nil {
		return err
	}
	for _, seq := range marks {
		upto = min(upto, seq)
	}
	var last sql.NullInt64
	if _, err := w.s.get(ctx, op, `SELECT max(t.seq) FROM (SELECT seq FROM tombstones WHERE generation = ? AND seq <= ? `+
		`ORDER BY seq LIMIT ?) t`,
		[]any{ref.generation, int64(min(upto, 1<<63-1)), trimAtOnce}, &last); err != nil || !last.Valid {
		return err
	}
	if _, err := w.s.exec(ctx, op, `DELETE FROM tombstones WHERE generation = ? AND seq <= ?`, ref.generation,
		last.Int64); err != nil {
		return w.fail(err)
	}
	_, err = w.s.exec(ctx, op, `UPDATE namespaces SET trimmed = ? WHERE generation = ? AND trimmed < ?`, last.Int64,
		ref.generation, last.Int64)
	return w.fail(err)
}
