package bunsql

import (
	"context"
	"database/sql"
	"errors"

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
	EmbeddingModel  string `bun:"embedding_model"`
	EmbeddingDigest string `bun:"embedding_digest"`
	Dimensions      int64  `bun:"dimensions"`
	SparseModel     string `bun:"sparse_model"`
	SparseDigest    string `bun:"sparse_digest"`
	Chunker         string `bun:"chunker"`
	Documents       int64  `bun:"documents"`
	Chunks          int64  `bun:"chunks"`
	Bytes           int64  `bun:"bytes"`
	Seq             int64  `bun:"seq"`
	CreatedAt       int64  `bun:"created_at"`
	UpdatedAt       int64  `bun:"updated_at"`
}

func (r namespaceRow) port() port.Namespace {
	return port.Namespace{
		Name: r.Name, Generation: r.Generation, Sparse: r.Sparse != 0,
		EmbeddingModel: r.EmbeddingModel, EmbeddingDigest: r.EmbeddingDigest, Dimensions: int(r.Dimensions),
		SparseModel: r.SparseModel, SparseDigest: r.SparseDigest, Chunker: r.Chunker,
		Documents: r.Documents, Chunks: r.Chunks, Bytes: r.Bytes, Seq: uint64(r.Seq),
		CreatedAt: instant(r.CreatedAt), UpdatedAt: instant(r.UpdatedAt),
	}
}

// namespaceRef is what statements on a namespace's data need of its row.
type namespaceRef struct {
	generation int64
	dimensions int64
}

func absent(p port.Partition) error {
	return fault.New(fault.NamespaceNotFound, "namespace %s does not exist", p.Name())
}

// documents refuses partitions of other spaces.
func documents(p port.Partition) error {
	if p.Space() != port.SpaceDocuments {
		return internal("store", "partition %s: this store keeps namespaces only", p)
	}
	return nil
}

// resolve finds the live namespace of a partition; fault NamespaceNotFound
// when there is none or the partition is pinned to another life of the name.
func (r *Reader) resolve(ctx context.Context, p port.Partition) (namespaceRef, error) {
	if err := r.check(ctx); err != nil {
		return namespaceRef{}, err
	}
	if p == r.last {
		return r.at, nil
	}
	if err := documents(p); err != nil {
		return namespaceRef{}, err
	}
	var ref namespaceRef
	ok, err := r.s.get(ctx, "find namespace",
		`SELECT generation, dimensions FROM namespaces WHERE org = ? AND name = ? AND dropped = 0`,
		[]any{string(p.Org()), p.Name()}, &ref.generation, &ref.dimensions)
	if err != nil {
		return namespaceRef{}, err
	}
	if !ok || p.Generation() != 0 && p.Generation() != ref.generation {
		return namespaceRef{}, absent(p)
	}
	r.last, r.at = p, ref
	return ref, nil
}

// forget drops what resolve remembers, after a namespace came or went.
func (r *Reader) forget() { r.last, r.at = port.Partition{}, namespaceRef{} }

// Namespace implements port.NamespaceReader.
func (r *Reader) Namespace(ctx context.Context, p port.Partition) (port.Namespace, error) {
	if err := r.check(ctx); err != nil {
		return port.Namespace{}, err
	}
	if err := documents(p); err != nil {
		return port.Namespace{}, err
	}
	// By prepared statement: every query of the service reads this row.
	var n namespaceRow
	ok, err := r.s.get(ctx, "read namespace", `SELECT generation, name, sparse, embedding_model, embedding_digest, dimensions,
  sparse_model, sparse_digest, chunker, documents, chunks, bytes, seq, created_at, updated_at
FROM namespaces WHERE org = ? AND name = ? AND dropped = 0`, []any{string(p.Org()), p.Name()},
		&n.Generation, &n.Name, &n.Sparse, &n.EmbeddingModel, &n.EmbeddingDigest, &n.Dimensions,
		&n.SparseModel, &n.SparseDigest, &n.Chunker, &n.Documents, &n.Chunks, &n.Bytes, &n.Seq, &n.CreatedAt, &n.UpdatedAt)
	if err != nil {
		return port.Namespace{}, err
	}
	if !ok || p.Generation() != 0 && p.Generation() != n.Generation {
		return port.Namespace{}, absent(p)
	}
	return n.port(), nil
}

// Namespaces implements port.NamespaceReader.
func (r *Reader) Namespaces(ctx context.Context, org ident.Org, prefix, after string, limit int) ([]port.Namespace, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var rows []namespaceRow
	q := r.s.conn.NewSelect().Model(&rows).Where("org = ?", string(org)).Where("dropped = 0").Where("documents > 0").
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
	out := make([]port.Namespace, len(rows))
	for i := range rows {
		out[i] = rows[i].port()
	}
	return out, nil
}

// prefixEnd sorts bytewise after every text that begins with prefix.
func prefixEnd(prefix string) string { return prefix + "\U0010FFFF" }

// Generations implements port.NamespaceReader.
func (r *Reader) Generations(ctx context.Context) ([]int64, error) {
	return r.generations(ctx, `SELECT generation FROM namespaces WHERE dropped = 0 ORDER BY generation`)
}

// Dropped lists deleted namespaces whose documents are still to be purged.
func (r *Reader) Dropped(ctx context.Context) ([]int64, error) {
	return r.generations(ctx, `SELECT generation FROM namespaces WHERE dropped <> 0 ORDER BY generation`)
}

func (r *Reader) generations(ctx context.Context, query string) ([]int64, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rows, err := r.s.query(ctx, "list generations", query)
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

// CreateNamespace implements port.NamespaceWriter; fault NotFound when the
// organization is absent. The name is the partition's.
func (w *Writer) CreateNamespace(ctx context.Context, p port.Partition, n port.Namespace) (port.Namespace, error) {
	if err := w.check(ctx); err != nil {
		return port.Namespace{}, err
	}
	if err := documents(p); err != nil {
		return port.Namespace{}, err
	}
	if p.Generation() != 0 {
		return port.Namespace{}, internal("create namespace", "partition %s is pinned", p)
	}
	if err := w.requireOrganization(ctx, p.Org()); err != nil {
		return port.Namespace{}, err
	}
	switch _, err := w.resolve(ctx, p); {
	case err == nil:
		return port.Namespace{}, fault.New(fault.Conflict, "namespace %s exists already", p.Name())
	case fault.CodeOf(err) != fault.NamespaceNotFound:
		return port.Namespace{}, err
	}
	row := namespaceRow{
		Org: string(p.Org()), Name: p.Name(), Sparse: flag(n.Sparse),
		EmbeddingModel: n.EmbeddingModel, EmbeddingDigest: n.EmbeddingDigest, Dimensions: int64(n.Dimensions),
		SparseModel: n.SparseModel, SparseDigest: n.SparseDigest, Chunker: n.Chunker,
		CreatedAt: micros(n.CreatedAt), UpdatedAt: micros(n.UpdatedAt),
	}
	err := w.s.conn.NewInsert().Model(&row).ExcludeColumn("generation").Returning("generation").Scan(w.s.d.Context(ctx))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		if w.s.d.Unique(err) {
			return port.Namespace{}, fault.New(fault.Conflict, "namespace %s exists already", p.Name())
		}
		return port.Namespace{}, w.fail(w.s.d.Fault("create namespace", err))
	}
	return row.port(), nil
}

// DeleteNamespace implements port.NamespaceWriter. The name is free at once;
// the documents go later, see Purge.
func (w *Writer) DeleteNamespace(ctx context.Context, p port.Partition) (bool, error) {
	ref, err := w.resolve(ctx, p)
	if fault.CodeOf(err) == fault.NamespaceNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, w.drop(ctx, ref)
}

func (w *Writer) drop(ctx context.Context, ref namespaceRef) error {
	w.forget()
	if _, err := w.s.exec(ctx, "delete namespace", `UPDATE namespaces SET dropped = 1 WHERE generation = ?`, ref.generation); err != nil {
		return w.fail(err)
	}
	w.written.Dropped = true
	return nil
}

// Purge removes up to limit documents or tombstones of a deleted namespace,
// and its row once none is left; done says so.
func (w *Writer) Purge(ctx context.Context, generation int64, limit int) (done bool, err error) {
	if err := w.check(ctx); err != nil {
		return false, err
	}
	for _, step := range []string{
		`DELETE FROM documents WHERE generation = ? AND id IN
  (SELECT d.id FROM documents d JOIN namespaces n ON n.generation = d.generation WHERE d.generation = ? AND n.dropped <> 0 LIMIT ?)`,
		`DELETE FROM tombstones WHERE generation = ? AND id IN
  (SELECT t.id FROM tombstones t JOIN namespaces n ON n.generation = t.generation WHERE t.generation = ? AND n.dropped <> 0 LIMIT ?)`,
	} {
		n, err := w.s.exec(ctx, "purge namespace", step, generation, generation, limit)
		if err != nil {
			return false, w.fail(err)
		}
		if n > 0 {
			return false, nil
		}
	}
	if _, err := w.s.exec(ctx, "purge namespace", `DELETE FROM namespaces WHERE generation = ? AND dropped <> 0`, generation); err != nil {
		return false, w.fail(err)
	}
	return true, nil
}

// Ping writes the time, so that it is known that writes reach the disk.
func (w *Writer) Ping(ctx context.Context, at int64) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "ping", `INSERT INTO pings (id, at) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET at = EXCLUDED.at`, at)
	return w.fail(err)
}
