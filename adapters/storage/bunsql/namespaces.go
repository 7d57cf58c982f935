package bunsql

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

type namespaceRow struct {
	bun.BaseModel `bun:"table:namespaces,alias:n"`

	Generation      int64  `bun:"generation,pk,autoincrement"`
	Org             string `bun:"org"`
	Name            string `bun:"name"`
	Dropped         int64  `bun:"dropped"`
	Sparse          int64  `bun:"sparse"`
	Embedder        string `bun:"embedder"`
	EmbeddingModel  string `bun:"embedding_model"`
	EmbeddingDigest string `bun:"embedding_digest"`
	Dimensions      int64  `bun:"dimensions"`
	SparseModel     string `bun:"sparse_model"`
	SparseDigest    string `bun:"sparse_digest"`
	Chunker         string `bun:"chunker"`
	Language        string `bun:"language"`
	Documents       int64  `bun:"documents"`
	Chunks          int64  `bun:"chunks"`
	Bytes           int64  `bun:"bytes"`
	Seq             int64  `bun:"seq"`
	Trimmed         int64  `bun:"trimmed"`
	CreatedAt       int64  `bun:"created_at"`
	UpdatedAt       int64  `bun:"updated_at"`
	Space           string `bun:"space"`
	Integration     string `bun:"integration"`
	ErasingAt       int64  `bun:"erasing_at"`
	Life            int64  `bun:"life"`
	PausedUntil     int64  `bun:"paused_until"`
}

func (r namespaceRow) port() port.PartitionRow {
	return port.PartitionRow{
		Name:            r.Name,
		Generation:      r.Generation,
		Sparse:          r.Sparse != 0,
		Embedder:        r.Embedder,
		EmbeddingModel:  r.EmbeddingModel,
		EmbeddingDigest: r.EmbeddingDigest,
		Dimensions:      int(r.Dimensions),
		SparseModel:     r.SparseModel,
		SparseDigest:    r.SparseDigest,
		Chunker:         r.Chunker,
		Language:        r.Language,
		Documents:       r.Documents,
		Chunks:          r.Chunks,
		Bytes:           r.Bytes,
		Seq:             uint64(r.Seq),
		Trimmed:         uint64(r.Trimmed),
		Erasing:         instant(r.ErasingAt),
		CreatedAt:       instant(r.CreatedAt),
		UpdatedAt:       instant(r.UpdatedAt),
		State:           port.GenerationState(r.Life),
		PausedUntil:     instant(r.PausedUntil),
	}
}

// namespaceRef is what statements on a partition's data need of its row.
type namespaceRef struct {
	generation int64
	dimensions int64
	memories   bool // a memory partition
	erasing    bool
	life       port.GenerationState
}

// byName finds a partition by one index lookup: the life that is pinned, else the
// one that is served, or its shadow. The space is in the text: SQLite would prepare
// a statement with space = ? again for every run, to see whether a partial index
// applies to its value.
func byName(p port.Partition, columns string) (query string, args []any) {
	space := `'documents'`
	if p.Space() == port.SpaceMemories {
		space = `'memories'`
	}
	query = `SELECT ` + columns + ` FROM namespaces WHERE org = ? AND space = ` + space +
		` AND name = ? AND integration = ? AND dropped = 0 AND `
	args = []any{string(p.Org()), p.Name(), p.Integration()}
	switch {
	case p.Generation() != 0:
		return query + `generation = ?`, append(args, p.Generation())
	case p.IsShadow():
		return query + `life <> 0`, args
	}
	return query + `life = 0`, args
}

// kind names what a partition is, for messages.
func kind(p port.Partition) string {
	if p.Space() == port.SpaceMemories {
		return "end user"
	}
	return "namespace"
}

func absent(p port.Partition) error {
	return fault.New(fault.PartitionNotFound, "%s %q does not exist", kind(p), p.Name())
}

// resolve finds a partition's row; fault PartitionNotFound when there is none
// or the partition is pinned to another life of the name.
func (r *Reader) resolve(ctx context.Context, p port.Partition) (namespaceRef, error) {
	if err := r.use(ctx, p); err != nil {
		return namespaceRef{}, err
	}
	if p == r.last {
		return r.at, nil
	}
	ref := namespaceRef{memories: p.Space() == port.SpaceMemories}
	var erasing int64
	query, args := byName(p, `generation, dimensions, erasing_at, life`)
	ok, err := r.s.get(ctx, "find namespace", query, args, &ref.generation, &ref.dimensions, &erasing, &ref.life)
	if err != nil {
		return namespaceRef{}, err
	}
	if !ok {
		return namespaceRef{}, absent(p)
	}
	ref.erasing = erasing != 0
	r.last, r.at = p, ref
	return ref, nil
}

// writable is resolve for a method that writes: fault Unavailable while the
// partition is being erased, PartitionNotFound for a generation that is not, or no
// longer, what the partition says: the one served, or a shadow.
func (w *Writer) writable(ctx context.Context, p port.Partition) (namespaceRef, error) {
	ref, err := w.resolve(ctx, p)
	switch {
	case err != nil:
		return namespaceRef{}, err
	case ref.erasing:
		return namespaceRef{}, errErasing(p)
	case (ref.life != port.Active) != p.IsShadow():
		return namespaceRef{}, absent(p)
	}
	return ref, nil
}

func errErasing(p port.Partition) error {
	const after = 2 * time.Second // most erasures take less
	return fault.New(fault.Unavailable, "%s %s is being erased; try again later", kind(p), p.Name()).After(after)
}

// forget drops what resolve remembers, after a partition came, went or changed.
func (r *Reader) forget() { r.last, r.at = port.Partition{}, namespaceRef{} }

// Partition implements port.PartitionReader.
func (r *Reader) Partition(ctx context.Context, p port.Partition) (port.PartitionRow, error) {
	if err := r.use(ctx, p); err != nil {
		return port.PartitionRow{}, err
	}
	// By prepared statement: every query of the service reads this row.
	var n namespaceRow
	query, args := byName(p, `generation, name, sparse, embedder, embedding_model, embedding_digest, dimensions,
  sparse_model, sparse_digest, chunker, language, documents, chunks, bytes, seq, trimmed, created_at, updated_at, erasing_at, `+
		`life, paused_until`)
	ok, err := r.s.get(ctx, "read namespace", query, args,
		&n.Generation, &n.Name, &n.Sparse, &n.Embedder, &n.EmbeddingModel, &n.EmbeddingDigest, &n.Dimensions,
		&n.SparseModel, &n.SparseDigest, &n.Chunker, &n.Language, &n.Documents, &n.Chunks, &n.Bytes, &n.Seq, &n.Trimmed,
		&n.CreatedAt, &n.UpdatedAt, &n.ErasingAt,
		&n.Life, &n.PausedUntil)
	if err != nil {
		return port.PartitionRow{}, err
	}
	if !ok {
		return port.PartitionRow{}, absent(p)
	}
	return n.port(), nil
}

// Namespaces implements port.PartitionReader.
func (r *Reader) Namespaces(ctx context.Context, org ident.Org, prefix, after string, limit int) ([]port.PartitionRow, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var rows []namespaceRow
	q := r.s.conn.NewSelect().Model(&rows).Where("org = ?",
		string(org)).Where("space = 'documents'").Where("dropped = 0").Where("life = 0").Where("documents > 0").
		Order("name").Limit(int64(limit))
	if after != "" {
		q = q.Where("name > ?", after)
	}
	if prefix != "" {
		q = q.Where("name >= ?", prefix).Where("name < ?", prefixEnd(prefix))
	}
	if err := q.Scan(r.s.d.Context(ctx)); err != nil {
		return nil, r.s.d.Fault("list namespaces", err)
	}
	out := make([]port.PartitionRow, len(rows))
	for i := range rows {
		out[i] = rows[i].port()
	}
	return out, nil
}

// prefixEnd sorts bytewise after every text that begins with prefix.
func prefixEnd(prefix string) string { return prefix + "\U0010FFFF" }

// Generations implements port.PartitionReader.
func (r *Reader) Generations(ctx context.Context) ([]int64, error) {
	return r.generations(ctx, `SELECT generation FROM namespaces WHERE dropped = 0 ORDER BY generation`)
}

// Dropped lists deleted namespaces whose documents are still to be purged.
func (r *Reader) Dropped(ctx context.Context) ([]int64, error) {
	return r.generations(ctx, `SELECT generation FROM namespaces WHERE dropped <> 0 ORDER BY generation`)
}

func (r *Reader) generations(ctx context.Context, query string, args ...any) ([]int64, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, "list generations", query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []int64
	for rows.Next() {
		var g int64
		if err := rows.Scan(&g); err != nil {
			return nil, r.s.d.Fault("list generations", err)
		}
		out = append(out, g)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault("list generations", err)
	}
	return out, nil
}

// CreatePartition implements port.PartitionWriter; fault NotFound when the
// organization, or the integration of a memory partition, is absent. The name
// is the partition's.
func (w *Writer) CreatePartition(ctx context.Context, p port.Partition, n port.PartitionRow) (port.PartitionRow, error) {
	if err := w.use(ctx, p); err != nil {
		return port.PartitionRow{}, err
	}
	if p.Generation() != 0 {
		return port.PartitionRow{}, internal("create namespace", "partition %s is pinned", p)
	}
	if err := w.requireLasting(ctx, p.Org()); err != nil {
		return port.PartitionRow{}, err
	}
	if p.Space() == port.SpaceMemories {
		if _, err := w.Integration(ctx, p.Org(), p.Integration()); err != nil {
			return port.PartitionRow{}, err
		}
	}
	switch ref, err := w.resolve(ctx, p); {
	case err == nil && ref.erasing:
		return port.PartitionRow{}, errErasing(p)
	case err == nil:
		return port.PartitionRow{}, fault.New(fault.Conflict, "%s %s exists already", kind(p), p.Name())
	case !fault.IsPartitionNotFound(err):
		return port.PartitionRow{}, err
	}
	life := port.Active
	if p.IsShadow() {
		life = port.Building
		if _, err := w.resolve(ctx, served(p)); err != nil {
			return port.PartitionRow{}, err
		}
	}
	row := namespaceRow{
		Life: int64(life),
		Org:  string(p.Org()), Space: string(p.Space()), Integration: p.Integration(), Name: p.Name(), Sparse: flag(n.Sparse),
		Embedder: n.Embedder, EmbeddingModel: n.EmbeddingModel, EmbeddingDigest: n.EmbeddingDigest,
		Dimensions:  int64(n.Dimensions),
		SparseModel: n.SparseModel, SparseDigest: n.SparseDigest, Chunker: n.Chunker, Language: n.Language,
		CreatedAt: micros(n.CreatedAt), UpdatedAt: micros(n.UpdatedAt),
	}
	w.s.changes++
	err := w.s.conn.NewInsert().Model(&row).ExcludeColumn("generation").Returning("generation").Scan(w.s.d.Context(ctx))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		if w.s.d.Unique(err) {
			return port.PartitionRow{}, fault.New(fault.Conflict, "%s %s exists already", kind(p), p.Name())
		}
		return port.PartitionRow{}, w.fail(w.s.d.Fault("create namespace", err))
	}
	return row.port(), nil
}

// DeletePartition implements port.PartitionWriter. The name is free at once;
// the documents go later, see Purge.
func (w *Writer) DeletePartition(ctx context.Context, p port.Partition) (bool, error) {
	ref, err := w.writable(ctx, p)
	if fault.IsPartitionNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if ref.memories { // at once: they are kept by name, which is free from now on
		if _, err := w.deleteReplays(ctx, p, allReplays); err != nil {
			return false, err
		}
	} else if ref.life == port.Active {
		if _, err := w.RemoveVectorStore(ctx, p.Org(), p.Name()); err != nil {
			return false, err
		}
	}
	return true, w.drop(ctx, p, ref)
}

// drop removes a life of a name; with the one that is served goes its shadow.
func (w *Writer) drop(ctx context.Context, p port.Partition, ref namespaceRef) error {
	gone := []int64{ref.generation}
	if shadow, ok, err := w.shadowOf(ctx, p, ref); err != nil {
		return err
	} else if ok {
		gone = append(gone, shadow)
	}
	if !ref.memories && ref.life == port.Active { // kept by name, which is free from now on
		if _, err := w.s.exec(ctx, "delete namespace", `DELETE FROM saved_queries WHERE org = ? AND namespace = ?`,
			string(p.Org()), p.Name()); err != nil {
			return w.fail(err)
		}
	}
	w.forget()
	for _, generation := range gone {
		if _, err := w.s.exec(ctx, "delete namespace", `UPDATE namespaces SET dropped = 1 WHERE generation = ?`,
			generation); err != nil {
			return w.fail(err)
		}
	}
	w.written.Dropped = true
	return nil
}

// Each removes up to a number of rows of a generation.
const (
	purgeDocuments = `DELETE FROM documents WHERE generation = ? AND id IN (SELECT id FROM documents ` +
		`WHERE generation = ? ORDER BY id LIMIT ?)`
	purgeTombstones = `DELETE FROM tombstones WHERE generation = ? AND id IN (SELECT id FROM tombstones ` +
		`WHERE generation = ? ORDER BY id LIMIT ?)`
	purgeRecords = `DELETE FROM memory_records WHERE generation = ? AND (source, external_id) IN
  (SELECT source, external_id FROM memory_records WHERE generation = ? ORDER BY source, external_id LIMIT ?)`
	purgeReceipts = `DELETE FROM memory_receipts WHERE generation = ? AND (source, external_id, version) IN
  (SELECT source, external_id, version FROM memory_receipts WHERE generation = ? ORDER BY source, external_id, version LIMIT ?)`
)

// Purge removes up to limit documents or other rows of a deleted namespace,
// and its row once none is left; done says so.
func (w *Writer) Purge(ctx context.Context, generation int64, limit int) (done bool, err error) {
	if err := w.check(ctx); err != nil {
		return false, err
	}
	// By the primary key: a condition on dropped could have PostgreSQL read all living namespaces by an index of these.
	var dropped int64
	there, err := w.s.get(ctx, "purge namespace", `SELECT dropped FROM namespaces WHERE generation = ?`, []any{generation},
		&dropped)
	if err != nil {
		return false, err
	}
	if there && dropped == 0 {
		return false, internal("purge namespace", "generation %d is in use", generation)
	}
	for _, table := range [...]string{purgeDocuments, purgeTombstones, purgeRecords, purgeReceipts} {
		n, err := w.s.exec(ctx, "purge namespace", table, generation, generation, limit)
		if err != nil {
			return false, w.fail(err)
		}
		if n > 0 {
			return false, nil
		}
	}
	if _, err := w.s.exec(ctx, "purge namespace", `DELETE FROM namespaces WHERE generation = ? AND dropped <> 0`,
		generation); err != nil {
		return false, w.fail(err)
	}
	return true, nil
}

// Ping writes the time, so that it is known that writes reach the disk.
func (w *Writer) Ping(ctx context.Context, at int64) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "ping", `INSERT INTO pings (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at`,
		at)
	return w.fail(err)
}
