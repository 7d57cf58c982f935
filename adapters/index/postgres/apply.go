package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
)

// Chunks of a partition are numbered as they come, and a number is not used
// again. blockLen of them share a row that has their times and says which of
// them are dead. spanLen of them share posting rows: a term has one row for each
// span, and more where it is frequent.
const (
	blockLen = 512
	spanLen  = 8192
	blocks   = spanLen / blockLen
)

// A term's postings are appended to its row of part openPart. One longer than
// sealAt bytes is renamed, so that what a write rewrites stays small.
const (
	openPart = 0
	sealAt   = 3072
)

// The kinds of posting lists, the first byte of a key.
const (
	keywordList = 'k' // the term; entries: place in the span, occurrences, words of the chunk
	sparseList  = 's' // the term's number; entries: place, weight as float32
	facetList   = 'f' // the token; entries: place
)

// Bytes of an entry.
const (
	rankedEntry = 6
	facetEntry  = 2
)

func entryLen(kind byte) int {
	if kind == facetList {
		return facetEntry
	}
	return rankedEntry
}

func keywordKey(term []byte) []byte { return append([]byte{keywordList}, term...) }

func sparseKey(term uint32) []byte { return binary.BigEndian.AppendUint32([]byte{sparseList}, term) }

func facetKey(token string) []byte { return append([]byte{facetList}, token...) }

// largest finite half-precision number.
const largestHalf = 65504

// most dimensions that pgvector stores, and that it can index in half precision.
const (
	maxStoredDims  = 16_000
	maxIndexedDims = 4_000
)

// check says why a batch can't be indexed, whatever the partition holds; dim are
// its vectors' dimensions, 0 if none.
func check(b port.Batch) (dim int, err error) {
	for _, c := range b.Changes {
		numbers := map[int]bool{}
		for i := range c.Entries {
			e := &c.Entries[i]
			if numbers[e.Chunk] {
				return 0, fmt.Errorf("%s has chunk %d twice", c.Document, e.Chunk)
			}
			numbers[e.Chunk] = true
			if err := checkEntry(e); err != nil {
				return 0, fmt.Errorf("%s, chunk %d: %w", c.Document, e.Chunk, err)
			}
			if n := len(e.Vector); n > 0 && dim == 0 {
				dim = n
			} else if n > 0 && n != dim {
				return 0, fmt.Errorf("%w: %s, chunk %d has %d, others %d", port.ErrDimensions, c.Document, e.Chunk, n, dim)
			}
		}
	}
	return dim, nil
}

func checkEntry(e *port.Entry) error {
	if e.Chunk < 0 || e.Chunk > math.MaxInt32 {
		return errors.New("its number is out of range")
	}
	if len(e.Vector) > maxStoredDims {
		return fmt.Errorf("a vector of %d dimensions; at most %d can be stored", len(e.Vector), maxStoredDims)
	}
	for _, v := range e.Vector {
		if !(v >= -largestHalf && v <= largestHalf) {
			return fmt.Errorf("the vector has a component %g, which half precision does not hold", v)
		}
	}
	if len(e.SparseTerms) != len(e.SparseWeights) {
		return fmt.Errorf("%d sparse terms and %d weights", len(e.SparseTerms), len(e.SparseWeights))
	}
	for i, w := range e.SparseWeights {
		if !(w >= -math.MaxFloat32 && w <= math.MaxFloat32) {
			return errors.New("a sparse weight is not finite")
		}
		if i > 0 && e.SparseTerms[i] <= e.SparseTerms[i-1] {
			return errors.New("sparse terms do not rise")
		}
	}
	return nil
}

// Apply implements port.Index. It is one transaction that holds the lock of the
// partition's row, so what several processes apply comes one after the other.
func (x *Index) Apply(ctx context.Context, p port.Partition, b port.Batch) error {
	if err := checkPinned(p); err != nil {
		return err
	}
	dim, err := check(b)
	if err != nil {
		return fmt.Errorf("postgres index: apply to %s: %w", p, err)
	}
	grown := false
	err = x.run(ctx, "apply to "+p.String(), updating, func(c *pgxpool.Conn) error {
		var err error
		grown, err = x.apply(ctx, c, p, b, dim)
		return err
	})
	if err == nil && grown {
		x.wakeBackground()
	}
	return err
}

func (x *Index) apply(ctx context.Context, c *pgxpool.Conn, p port.Partition, b port.Batch, dim int) (grown bool, err error) {
	var s partition
	g := p.Generation()
	err = s.scan(c.QueryRow(ctx, partitionRow+" FOR UPDATE", g))
	if errors.Is(err, pgx.ErrNoRows) {
		if b.After > 0 {
			return false, port.ErrGap
		}
		if _, err := c.Exec(ctx, `INSERT INTO index_partition (generation, name, analyzer, applied, first, next,
			pending, live, words, vectors, dim, large, indexed, changed)
			VALUES ($1, $2, $3, 0, 0, 0, 0, 0, 0, 0, 0, false, false, now()) ON CONFLICT (generation) DO NOTHING`, g,
			p.String(), x.analyzer.Version()); err != nil {
			return false, err
		}
		if err = s.scan(c.QueryRow(ctx, partitionRow+" FOR UPDATE", g)); errors.Is(err, pgx.ErrNoRows) {
			return false, errRetry
		}
	}
	if err != nil {
		return false, err
	}
	if err := s.checkOwner(p); err != nil {
		return false, err
	}
	if s.analyzer != x.analyzer.Version() {
		if b.After > 0 {
			return false, port.ErrGap
		}
		if err := x.deleteData(ctx, c, g); err != nil {
			return false, err
		}
		// A number is not used again, and a span is filled from its start.
		next := (s.next + spanLen - 1) / spanLen
		s = partition{name: s.name, analyzer: x.analyzer.Version(), first: int32(next), next: next * spanLen}
	}
	switch {
	case s.applied >= b.Upto:
		return false, nil
	case s.applied < b.After:
		return false, port.ErrGap
	case dim > 0 && s.vectors > 0 && dim != s.dim:
		return false, fmt.Errorf("%w: %d in the batch, %d in the index", port.ErrDimensions, dim, s.dim)
	case dim > 0 && s.dim != dim:
		if s.large { // it is of another type now
			if _, err := c.Exec(ctx, "DROP TABLE "+vectorsTable(g)); err != nil {
				return false, err
			}
			s.large, s.indexed = false, false
		}
		s.dim = dim
	}
	w := &batchWriter{x: x, c: c, generation: g, state: &s}
	if err := w.remove(ctx, b.Changes); err != nil {
		return false, fmt.Errorf("remove old chunks: %w", err)
	}
	if err := w.add(ctx, b); err != nil {
		return false, fmt.Errorf("add chunks: %w", err)
	}
	if !s.large && s.vectors > int64(x.cfg.Vector.ExactChunks) && s.dim <= maxIndexedDims {
		if err := w.createVectorTable(ctx); err != nil {
			return false, fmt.Errorf("move vectors to a table of their own: %w", err)
		}
		grown = true
	}
	_, err = c.Exec(ctx, `UPDATE index_partition SET analyzer = $2, applied = $3, next = $4, live = $5, words = $6,
		vectors = $7, dim = $8,
		large = $9, indexed = $10, first = $11, pending = $12,
		changed = now(), enlarged = CASE WHEN $9 THEN coalesce(enlarged, now()) END WHERE generation = $1`, g,
		s.analyzer, int64(b.Upto), s.next, s.live, s.words, s.vectors, s.dim, s.large, s.indexed, s.first, s.pending)
	return grown, err
}

// batchWriter writes one batch within a transaction.
type batchWriter struct {
	x          *Index
	c          *pgxpool.Conn
	generation int64
	state      *partition
}

// remove takes out the chunks of all documents of the changes.
func (w *batchWriter) remove(ctx context.Context, changes []port.IndexChange) error {
	if w.state.live == 0 || len(changes) == 0 {
		return nil
	}
	ids := make([]string, len(changes))
	for i := range changes {
		ids[i] = changes[i].Document
	}
	query := "DELETE FROM index_chunk WHERE generation = $1 AND document = ANY($2) RETURNING ord, words, embedding IS NOT NULL"
	if w.state.large {
		query = "WITH gone AS (DELETE FROM index_chunk WHERE generation = $1 AND document = ANY($2) RETURNING ord, words), " +
			"vectors AS (DELETE FROM " + vectorsTable(w.generation) + " WHERE ord IN (SELECT ord FROM gone) RETURNING ord) " +
			"SELECT g.ord, g.words, v.ord IS NOT NULL FROM gone g LEFT JOIN vectors v ON v.ord = g.ord"
	}
	rows, err := w.c.Query(ctx, query, w.generation, ids)
	if err != nil {
		return err
	}
	dead := map[int32]mask{}
	var ord int64
	var words int
	var vector bool
	if _, err := pgx.ForEachRow(rows, []any{&ord, &words, &vector}, func() error {
		block := int32(ord / blockLen)
		if dead[block] == nil {
			dead[block] = newMask(blockLen)
		}
		dead[block].set(int(ord % blockLen))
		w.state.live--
		w.state.words -= int64(words)
		if vector {
			w.state.vectors--
		}
		return nil
	}); err != nil || len(dead) == 0 {
		return err
	}
	if err := w.markDead(ctx, dead); err != nil {
		return err
	}
	return w.compactSpans(ctx)
}

// markDead marks chunks as dead.
func (w *batchWriter) markDead(ctx context.Context, dead map[int32]mask) error {
	rows, err := w.c.Query(ctx, "SELECT block, dead, stale FROM index_block WHERE generation = $1 AND block = ANY($2)",
		w.generation, slices.Sorted(maps.Keys(dead)))
	if err != nil {
		return err
	}
	var changed, stale []int32
	var masks [][]byte
	var block, before int32
	var bits []byte
	if _, err := pgx.ForEachRow(rows, []any{&block, &bits, &before}, func() error {
		m, d := newMask(blockLen), dead[block]
		m.read(bits)
		m.or(d)
		changed, masks, stale = append(changed, block), append(masks, m.bytes()), append(stale, before+int32(d.count()))
		return nil
	}); err != nil {
		return err
	}
	_, err = w.c.Exec(ctx, "UPDATE index_block b SET dead = u.dead, stale = u.stale FROM unnest($2::int[], $3::bytea[], "+
		"$4::int[]) AS u(block, dead, stale) WHERE b.generation = $1 AND b.block = u.block", w.generation, changed, masks, stale)
	return err
}

// Postings of a span are cleaned when they hold this many dead chunks: maxStale, or down
// to minStale in a small partition.
const (
	maxStale = spanLen / 2
	minStale = 256
)

// compactSpans removes spans whose chunks are all dead, and takes the dead out of the
// postings of one that holds many; others wait for the next batches.
func (w *batchWriter) compactSpans(ctx context.Context) error {
	rows, err := w.c.Query(ctx, "SELECT block / $2::int, sum(stale), sum(coalesce(bit_count(dead), 0)) FROM index_block "+
		"WHERE generation = $1 GROUP BY 1 HAVING sum(stale) >= $3 OR sum(coalesce(bit_count(dead), 0)) = $4 ORDER BY 2 DESC",
		w.generation, blocks, min(maxStale, max(minStale, w.state.live)), spanLen)
	if err != nil {
		return err
	}
	var gone []int32
	crowded := int32(-1)
	var span int32
	var stale, dead int64
	if _, err := pgx.ForEachRow(rows, []any{&span, &stale, &dead}, func() error {
		switch {
		case dead == spanLen:
			gone = append(gone, span)
		case crowded < 0:
			crowded = span
		}
		return nil
	}); err != nil {
		return err
	}
	if len(gone) > 0 {
		if slices.Contains(gone, int32((w.state.next-1)/spanLen)) {
			w.state.pending = 0
		}
		var b pgx.Batch
		b.Queue("DELETE FROM index_posting WHERE generation = $1 AND span = ANY($2)", w.generation, gone)
		b.Queue("DELETE FROM index_block WHERE generation = $1 AND block / $3::int = ANY($2)", w.generation, gone, blocks)
		b.Queue("SELECT coalesce(min(block) / $2::int, $3) FROM index_block WHERE generation = $1", w.generation,
			blocks, w.state.next/spanLen)
		r := w.c.SendBatch(ctx, &b)
		_, err1 := r.Exec()
		_, err2 := r.Exec()
		err := errors.Join(err1, err2, r.QueryRow().Scan(&w.state.first), r.Close())
		if err != nil {
			return err
		}
	}
	if crowded >= 0 {
		return w.removeDead(ctx, crowded)
	}
	return nil
}

// removeDead takes the dead out of a span's postings.
func (w *batchWriter) removeDead(ctx context.Context, span int32) error {
	if w.state.pending > 0 && span == int32((w.state.next-1)/spanLen) {
		if err := w.foldLast(ctx); err != nil {
			return err
		}
	}
	dead := newMask(spanLen)
	var block int32
	var bits []byte
	rows, err := w.c.Query(ctx, "SELECT block, dead FROM index_block WHERE generation = $1 AND block >= $2 AND block < "+
		"$3 AND dead IS NOT NULL", w.generation, span*blocks, (span+1)*blocks)
	if err != nil {
		return err
	}
	if _, err := pgx.ForEachRow(rows, []any{&block, &bits}, func() error {
		blockMask(dead, block).read(bits)
		return nil
	}); err != nil {
		return err
	}
	if rows, err = w.c.Query(ctx, "SELECT term, part, data FROM index_posting WHERE generation = $1 AND span = $2",
		w.generation, span); err != nil {
		return err
	}
	var terms, data, gone [][]byte
	var parts, goneParts []int32
	var term, list []byte
	var part int32
	if _, err := pgx.ForEachRow(rows, []any{&term, &part, &list}, func() error {
		if len(term) == 0 {
			return errors.New("a posting list without a term")
		}
		size := entryLen(term[0])
		kept := make([]byte, 0, len(list))
		for d := list; len(d) >= size; d = d[size:] {
			if !dead.has(firstPlace(d)) {
				kept = append(kept, d[:size]...)
			}
		}
		switch {
		case len(kept) == 0:
			gone, goneParts = append(gone, bytes.Clone(term)), append(goneParts, part)
		case len(kept) < len(list):
			terms, parts, data = append(terms, bytes.Clone(term)), append(parts, part), append(data, kept)
		}
		return nil
	}); err != nil {
		return err
	}
	var b pgx.Batch
	b.Queue("DELETE FROM index_posting p USING unnest($3::bytea[], $4::int[]) AS u(term, part) WHERE p.generation = $1 "+
		"AND p.span = $2 AND p.term = u.term AND p.part = u.part",
		w.generation, span, gone, goneParts)
	b.Queue("UPDATE index_posting p SET data = u.data FROM unnest($3::bytea[], $4::int[], $5::bytea[]) AS u(term, part, "+
		"data) WHERE p.generation = $1 AND p.span = $2 AND p.term = u.term AND p.part = u.part",
		w.generation, span, terms, parts, data)
	b.Queue("UPDATE index_block SET stale = 0 WHERE generation = $1 AND block >= $2 AND block < $3", w.generation,
		span*blocks, (span+1)*blocks)
	return w.c.SendBatch(ctx, &b).Close()
}

// firstPlace is that of a posting list's first entry.
func firstPlace(list []byte) int { return int(binary.LittleEndian.Uint16(list)) % spanLen }

// blockMask is the part of a span's mask that belongs to a block.
func blockMask(span mask, block int32) mask {
	at := int(block%blocks) * (blockLen / 64)
	return span[at : at+blockLen/64]
}

// rows are the chunks of a batch that fall into one block, as columns.
type rows struct {
	ords          []int64
	documents     []string
	chunks, words []int32
	vectors       []*string // pgvector's text form
	times         []byte
	posts         map[string][]byte // by key
	counted       int
	occurrences   map[string]uint16
}

// add appends the chunks, a block at a time, so that what is in memory and in a
// statement is bounded.
func (w *batchWriter) add(ctx context.Context, b port.Batch) error {
	changes := b.Changes
	r := &rows{posts: map[string][]byte{}, occurrences: map[string]uint16{}}
	scan := w.x.analyzer.Scanner(r.token)
	for i := range changes {
		for j := range changes[i].Entries {
			e := &changes[i].Entries[j]
			if w.state.next > 0 && w.state.next%blockLen == 0 && len(r.ords) > 0 {
				if err := w.flush(ctx, r); err != nil {
					return err
				}
			}
			if w.state.pending > 0 && w.state.next%spanLen == 0 {
				if err := w.foldLast(ctx); err != nil {
					return err
				}
			}
			if w.state.next/blockLen >= math.MaxInt32 {
				return errors.New("the partition has used up its chunk numbers: reindex it")
			}
			clear(r.occurrences)
			r.counted = 0
			scan.Scan(port.Wording{Text: e.Text, Language: b.Language})
			r.append(w.state.next, changes[i].Document, e)
			w.state.next++
			w.state.live++
			w.state.words += int64(r.words[len(r.words)-1])
			if len(e.Vector) > 0 {
				w.state.vectors++
			}
		}
	}
	return w.flush(ctx, r)
}

// token counts a term of the chunk that is being read.
func (r *rows) token(t analysis.Token) {
	if !t.Extra {
		r.counted++
	}
	if n := r.occurrences[string(t.Term)]; n < math.MaxUint16 {
		r.occurrences[string(t.Term)] = n + 1
	}
}

func (r *rows) append(ord int64, document string, e *port.Entry) {
	words := min(r.counted, math.MaxUint16)
	r.ords, r.documents = append(r.ords, ord), append(r.documents, document)
	r.chunks, r.words = append(r.chunks, int32(e.Chunk)), append(r.words, int32(words))
	var vector *string
	if len(e.Vector) > 0 {
		v := vectorText(e.Vector, 6)
		vector = &v
	}
	r.vectors = append(r.vectors, vector)
	r.times = binary.LittleEndian.AppendUint64(r.times, uint64(e.Time))
	place := uint16(ord % spanLen)
	post := func(kind byte, key string, pay ...byte) {
		k := string(kind) + key
		r.posts[k] = append(binary.LittleEndian.AppendUint16(r.posts[k], place), pay...)
	}
	var pay [4]byte
	for term, n := range r.occurrences {
		binary.LittleEndian.PutUint16(pay[:], n)
		binary.LittleEndian.PutUint16(pay[2:], uint16(words))
		post(keywordList, term, pay[:]...)
	}
	for i, term := range e.SparseTerms {
		if e.SparseWeights[i] > 0 {
			binary.LittleEndian.PutUint32(pay[:], math.Float32bits(e.SparseWeights[i]))
			post(sparseList, string(sparseKey(term)[1:]), pay[:]...)
		}
	}
	for i, f := range e.Facets {
		if !slices.Contains(e.Facets[:i], f) {
			post(facetList, f)
		}
	}
}

// flush writes the chunks gathered, which are of one block.
func (w *batchWriter) flush(ctx context.Context, r *rows) error {
	if len(r.ords) == 0 {
		return nil
	}
	block := int32(r.ords[0] / blockLen)
	var b pgx.Batch
	embedding := "u.embedding::halfvec"
	if w.state.large {
		embedding = "NULL"
		b.Queue("INSERT INTO "+vectorsTable(w.generation)+
			" (ord, document, chunk, embedding) SELECT u.ord, u.document, u.chunk, u.embedding::halfvec "+
			"FROM unnest($1::bigint[], $2::text[], $3::int[], $4::text[]) AS u(ord, document, chunk, embedding) WHERE "+
			"u.embedding IS NOT NULL",
			r.ords, r.documents, r.chunks, r.vectors)
	}
	b.Queue("INSERT INTO index_chunk (generation, ord, document, chunk, words, embedding) SELECT $1, u.ord, u.document, "+
		"u.chunk, u.words, "+embedding+
		" FROM unnest($2::bigint[], $3::text[], $4::int[], $5::int[], $6::text[]) AS u(ord, document, chunk, words, embedding)",
		w.generation, r.ords, r.documents, r.chunks, r.words, r.vectors)
	b.Queue("INSERT INTO index_block AS b (generation, block, times, stale) VALUES ($1, $2, $3, 0) "+
		"ON CONFLICT (generation, block) DO UPDATE SET times = b.times || excluded.times", w.generation, block, r.times)
	span, last := int32(r.ords[0]/spanLen), int(r.ords[len(r.ords)-1]%spanLen)
	packed := pack(r.posts)
	whole := int(w.state.pending)+len(packed) < w.x.tuning.foldAt
	if whole {
		b.Queue("INSERT INTO index_posting (generation, span, term, part, data) VALUES ($1, $2, $3, $4, $5)",
			w.generation, span, []byte{packList}, last+1, packed)
		w.state.pending += int32(len(packed))
	}
	if err := w.c.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	var err error
	if !whole {
		err = w.appendToPacks(ctx, span, last, r.posts)
	}
	r.ords, r.documents, r.chunks, r.words, r.vectors, r.times = r.ords[:0], r.documents[:0], r.chunks[:0], r.words[:0],
		r.vectors[:0], r.times[:0]
	clear(r.posts)
	return err
}

// appendPostings appends to posting lists of a span; last is the place of the last chunk.
func (w *batchWriter) appendPostings(ctx context.Context, span int32, last int, posts map[string][]byte) error {
	if len(posts) == 0 {
		return nil
	}
	keys := slices.Sorted(maps.Keys(posts))
	terms, data := make([][]byte, len(keys)), make([][]byte, len(keys))
	for i, k := range keys {
		terms[i], data[i] = []byte(k), posts[k]
	}
	rows, err := w.c.Query(ctx, "WITH grown AS (INSERT INTO index_posting AS p (generation, span, term, part, data) "+
		"SELECT $1, $2, u.term, $3, u.data FROM unnest($4::bytea[], $5::bytea[]) AS u(term, data) ON CONFLICT "+
		"(generation, span, term, part) DO UPDATE SET data = p.data || excluded.data RETURNING term, octet_length(data) "+
		"AS size) SELECT term FROM grown WHERE size > $6", w.generation, span, openPart, terms, data, sealAt)
	if err != nil {
		return err
	}
	full, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil || len(full) == 0 {
		return err
	}
	_, err = w.c.Exec(ctx, "UPDATE index_posting p SET part = $4 WHERE p.generation = $1 AND p.span = $2 AND p.part = "+
		"$3 AND p.term = ANY($5)",
		w.generation, span, openPart, last+1, full)
	return err
}

// vectorText is a vector as pgvector reads it, with so many significant digits.
// Six are more than half precision has.
func vectorText(v []float32, digits int) string {
	b := make([]byte, 0, 10*len(v)+2)
	b = append(b, '[')
	for i, f := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, float64(f), 'g', digits, 32)
	}
	return string(append(b, ']'))
}
