package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mnemehq/mneme/core/port"
)

// vectorsTable is the table of a large partition's vectors. Its index is over
// that partition alone, so a search never walks through another's vectors, and
// planning a query does not look at the indexes of thousands of partitions.
// The name is quoted, as that of a probe's partition, which is below zero, must be.
func vectorsTable(generation int64) string { return fmt.Sprintf(`"index_vectors_%d"`, generation) }

func vectorsIndex(generation int64) string {
	return fmt.Sprintf(`"index_vectors_%d_hnsw"`, generation)
}

// createVectorTable gives the partition's vectors a table of their own.
func (w *batchWriter) createVectorTable(ctx context.Context) error {
	table := vectorsTable(w.generation)
	if err := execSimple(ctx, w.c, fmt.Sprintf(
		`CREATE TABLE %s (ord bigint PRIMARY KEY, document text COLLATE "C" NOT NULL, chunk int NOT NULL,
			embedding halfvec(%d) NOT NULL);
		ALTER TABLE %[1]s ALTER COLUMN embedding SET STORAGE EXTERNAL, SET (toast_tuple_target = 4080)`, table, w.state.dim,
	)); err != nil {
		return err
	}
	// Those in the other table stay where they are, unused: taking them out would
	// rewrite all rows.
	if _, err := w.c.Exec(ctx, "INSERT INTO "+table+
		" SELECT ord, document, chunk, embedding FROM index_chunk WHERE generation = $1 AND embedding IS NOT NULL",
		w.generation); err != nil {
		return err
	}
	w.state.large, w.state.indexed = true, false
	return nil
}

// searchVectors finds the chunks whose vectors are most like the query's.
func (s *search) searchVectors(ctx context.Context) ([]port.Hit, error) {
	if s.state.vectors == 0 {
		return nil, nil
	}
	if len(s.q.Vector) != s.state.dim {
		return nil, fmt.Errorf("the query's vector has %d dimensions, the partition's %d", len(s.q.Vector), s.state.dim)
	}
	allowed := s.state.vectors
	if s.allowed != nil {
		allowed = 0
		for _, m := range s.allowed {
			allowed += int64(m.count())
		}
	}
	if allowed == 0 {
		return nil, nil
	}
	if s.state.indexed {
		if hits, err := s.searchGraph(ctx, allowed); err != nil || hits != nil {
			return hits, err
		}
	}
	hits, err := s.scanVectors(ctx)
	return s.best(hits), err
}

// best are the best hits, as many as asked for.
func (s *search) best(hits []port.Hit) []port.Hit { return hits[:min(len(hits), s.q.Limit)] }

// Subselects are computed once for each query, whatever plan was prepared; a
// LATERAL with OFFSET 0 is looked up for each chunk by its key, whatever the
// statistics say.
const (
	queryHalf  = "(SELECT $1::text::halfvec)"
	queryWhole = "(SELECT $1::text::vector)"
	eachOrd    = "unnest($2::bigint[]) AS o(ord) CROSS JOIN LATERAL (SELECT * FROM %s OFFSET 0) AS c"
)

// scanVectors looks at every allowed vector.
func (s *search) scanVectors(ctx context.Context) ([]port.Hit, error) {
	args := []any{vectorText(s.q.Vector, -1)}
	var from string
	if s.allowed != nil {
		var ords []int64
		for span, m := range s.allowed {
			m.each(func(i int) { ords = append(ords, int64(span)*spanLen+int64(i)) })
		}
		slices.Sort(ords)
		args = append(args, ords)
		table := fmt.Sprintf("index_chunk WHERE generation = %d AND ord = o.ord AND embedding IS NOT NULL", s.generation)
		if s.state.large {
			table = vectorsTable(s.generation) + " WHERE ord = o.ord"
		}
		from = fmt.Sprintf(eachOrd, table)
	} else if s.state.large {
		from = vectorsTable(s.generation) + " AS c"
		if _, err := s.c.Exec(ctx, "SET LOCAL enable_seqscan = on"); err != nil {
			return nil, err
		}
	} else {
		args = append(args, s.generation)
		from = "index_chunk AS c WHERE c.generation = $2 AND c.embedding IS NOT NULL"
	}
	// The sum keeps the planner from walking the graph: this is the exact way.
	return s.vectorHits(ctx, "SELECT ord, document, chunk, -(embedding::vector <#> "+queryWhole+")::float4 FROM "+
		"(SELECT c.ord, c.document, c.chunk, c.embedding, (c.embedding <#> "+queryHalf+") + 0::float8 AS distance FROM "+from+
		" ORDER BY distance, document, chunk LIMIT "+strconv.Itoa(s.q.Limit)+") AS t", args...)
}

// margin is how many more hits than asked for are taken from the graph, to be scored
// exactly.
const margin = 32

// Under a filter a walk takes deeper times as many candidates as would hold those
// wanted: what is far from the query is found less surely than what is near. It
// takes one more in the time in which perCandidate vectors are looked up by their
// numbers and compared (25 us, 2.6 us).
const (
	filterDepth  = 3
	perCandidate = 10
)

// searchGraph searches the HNSW graph. It returns nil if the graph gave too few allowed
// chunks, or so many ties that better ones may have been missed; then all vectors must be
// compared.
func (s *search) searchGraph(ctx context.Context, allowed int64) ([]port.Hit, error) {
	v := s.x.cfg.Vector
	want := s.q.Limit + s.q.Limit/2 + margin
	if s.allowed != nil {
		want = int(filterDepth * float64(want) * float64(s.state.vectors) / float64(allowed))
	}
	for ; want <= v.MaxScanTuples; want *= 4 {
		if s.allowed != nil && perCandidate*int64(max(v.EfSearch, want)) > allowed {
			return nil, nil // comparing them all takes no longer
		}
		ef := min(1000, max(v.EfSearch, want))
		if _, err := s.c.Exec(ctx, fmt.Sprintf(
			"SELECT set_config('hnsw.ef_search', '%d', true), set_config('hnsw.iterative_scan', 'relaxed_order', true), "+
				"set_config('hnsw.max_scan_tuples', '%d', true), set_config('enable_sort', 'off', true)", ef,
			max(v.MaxScanTuples, 2*want),
		)); err != nil {
			return nil, err
		}
		hits, err := s.vectorHits(ctx, "SELECT ord, document, chunk, -(embedding::vector <#> "+queryWhole+
			")::float4 FROM (SELECT ord, document, chunk, embedding FROM "+
			vectorsTable(s.generation)+" ORDER BY embedding <#> "+queryHalf+" LIMIT "+strconv.Itoa(want)+") AS t",
			vectorText(s.q.Vector, -1))
		if err != nil {
			return nil, err
		}
		if n := len(hits); n > s.q.Limit && hits[n-1].Score < hits[s.q.Limit-1].Score {
			return s.best(hits), nil
		}
	}
	return nil, nil
}

// vectorHits runs a query for number, document, chunk and score, and gives the
// allowed ones, best first.
func (s *search) vectorHits(ctx context.Context, query string, args ...any) ([]port.Hit, error) {
	rows, err := s.c.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var hits []port.Hit
	var ord int64
	var h port.Hit
	if _, err := pgx.ForEachRow(rows, []any{&ord, &h.Document, &h.Chunk, &h.Score}, func() error {
		if s.allowed != nil {
			if m := s.allowed[int32(ord/spanLen)]; m == nil || !m.has(int(ord%spanLen)) {
				return nil
			}
		}
		hits = append(hits, h)
		return nil
	}); err != nil {
		return nil, err
	}
	slices.SortFunc(hits, compareHits)
	return hits, nil
}

// background builds the HNSW indexes of partitions that became large.
type background struct {
	nudge  chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
}

// Building a graph in one go costs a fraction of adding vectors to it one by one, so a
// partition that is being filled is left alone, up to maxWait.
const (
	quietTime = 5 * time.Second
	maxWait   = 5 * time.Minute
	pollEvery = 5 * time.Second
	leaseFor  = 10 * time.Minute // renewed while a build runs
)

func (x *Index) startBackground() {
	ctx, cancel := context.WithCancel(context.Background())
	x.background = background{nudge: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			if err := x.buildAll(ctx); err != nil && ctx.Err() == nil {
				x.log.Warn("vector index build failed", "error", err)
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			case <-x.nudge:
			}
		}
	}()
}

func (x *Index) stopBackground() {
	if x.cancel != nil {
		x.cancel()
		<-x.done
	}
}

// wakeBackground makes the background look for work.
func (x *Index) wakeBackground() {
	select {
	case x.nudge <- struct{}{}:
	default:
	}
}

// buildAll builds one index after the other, those that no process is building.
func (x *Index) buildAll(ctx context.Context) error {
	for ctx.Err() == nil {
		var generation int64
		err := x.run(ctx, "look for vectors to index", updating, func(c *pgxpool.Conn) error {
			return c.QueryRow(ctx, "UPDATE index_partition SET leased = now() + $1::interval WHERE generation = (SELECT "+
				"generation FROM index_partition WHERE large AND NOT indexed AND (leased IS NULL OR leased < now()) AND "+
				"(changed <= now() - $2::interval OR enlarged <= now() - $3::interval) ORDER BY generation LIMIT 1 FOR "+
				"UPDATE SKIP LOCKED) RETURNING generation", leaseFor, x.tuning.settle, maxWait).Scan(&generation)
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := x.build(ctx, generation); err != nil {
			return err
		}
	}
	return ctx.Err()
}
