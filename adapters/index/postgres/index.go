package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// What the database must have at least.
const (
	minServer = 140000 // server_version_num
	// pgvector 0.7 brought halfvec, 0.8 scans that go on until enough rows are found.
	minVectorMajor, minVectorMinor = 0, 8
)

// Options are what an index gets beside its configuration.
type Options struct {
	Shared bool         // no background work; for a command beside the servers
	Log    *slog.Logger // nil: none

	tuning tuning
}

// tuning holds settings that only tests change.
type tuning struct {
	foldAt int           // bytes of packs at which they are folded
	settle time.Duration // without writes, after which a partition's graph is built
}

// Index is port.Index in a PostgreSQL database.
type Index struct {
	cfg               Config
	log               *slog.Logger
	pool              *pgxpool.Pool
	path              string // search_path: the tables' schema, then pgvector's
	schema, extension string // each quoted
	row               string // statement that reads a partition's row, by itself
	begin             [2]string
	analyzer          *analysis.Analyzer
	tuning            tuning

	background
	mu      sync.Mutex
	running sync.WaitGroup
	closed  bool
	// Generations above the highest live one that the last Retain was not told of.
	unlisted map[int64]bool

	recreating sync.Mutex
}

// A view is one snapshot; an update takes its turn by the partition's row.
const (
	viewing = iota
	updating
)

// ErrClosed is what a closed index answers.
var ErrClosed = errors.New("postgres index: closed")

// Open connects, checks the versions of the server and of pgvector, and makes
// the tables. It refuses a database that can't serve, saying what it lacks.
func Open(ctx context.Context, c Config, o Options) (_ *Index, err error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("postgres index: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.tuning == (tuning{}) {
		o.tuning = tuning{foldAt, quietTime}
	}
	a, err := analysis.New(analysis.Stemmer(c.Keyword.Stemmer), c.Keyword.Languages...)
	if err != nil {
		return nil, err
	}
	config, err := pooling(c)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres index: %w", err)
	}
	x := &Index{cfg: c, log: o.Log, pool: pool, analyzer: a, tuning: o.tuning}
	defer func() {
		if err != nil {
			pool.Close()
		}
	}()
	if err := x.prepare(ctx); err != nil {
		return nil, c.Located(x.fault("open", err))
	}
	if !o.Shared {
		x.startBackground()
	}
	return x, nil
}

// Look connects to the database and reads which version of pgvector it has or could get, and
// changes nothing there. Errors are those of Open.
func Look(ctx context.Context, c Config) error {
	if err := c.Validate(); err != nil {
		return fmt.Errorf("postgres index: %w", err)
	}
	config, err := pooling(c)
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("postgres index: %w", err)
	}
	defer pool.Close()
	x := &Index{cfg: c, pool: pool}
	var found, available string
	err = pool.QueryRow(ctx, "SELECT coalesce(installed_version, ''), coalesce(default_version, '') "+
		"FROM pg_catalog.pg_available_extensions WHERE name = 'vector'").Scan(&found, &available)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errors.New("postgres index: the server has no pgvector; install it there")
	case err != nil:
		return x.fault("look", err)
	case found == "":
		found = available
	}
	if outdated(found) {
		return fmt.Errorf("postgres index: pgvector is version %s, and at least %d.%d is needed", found, minVectorMajor,
			minVectorMinor)
	}
	return nil
}

func pooling(c Config) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(c.DSN.Reveal())
	if err != nil {
		// The message of a DSN that can't be read may hold its password.
		return nil, errors.New("index postgres: dsn: not a PostgreSQL connection string")
	}
	config.MaxConns = int32(c.PoolSize())
	config.MaxConnIdleTime, config.MaxConnLifetime = c.IdleTime, c.Lifetime
	config.MaxConnLifetimeJitter = c.Lifetime / 10
	conn := config.ConnConfig
	c.Configure(conn, "mneme index")
	// A search that is given up, as the slower ones of a query are, must not cost
	// its connection.
	conn.BuildContextWatcherHandler = func(p *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: p, DeadlineDelay: 2 * time.Second}
	}
	return config, nil
}

// version of the tables; a newer one in the database is refused.
const version = 1

// tables is the schema. The partition's generation comes first in every key.
// Posting data is kept in the row, uncompressed: it is read as a whole, and
// numbers that hardly repeat do not compress.
var tables = []string{
	`CREATE TABLE IF NOT EXISTS index_meta (one boolean PRIMARY KEY DEFAULT true CHECK (one), version int NOT NULL)`,
	`CREATE TABLE IF NOT EXISTS index_partition (
		generation bigint PRIMARY KEY, name text NOT NULL, analyzer text NOT NULL, applied bigint NOT NULL,
		first int NOT NULL, next bigint NOT NULL, pending int NOT NULL, live bigint NOT NULL, words bigint NOT NULL,
		vectors bigint NOT NULL, dim int NOT NULL,
		large boolean NOT NULL, indexed boolean NOT NULL, changed timestamptz NOT NULL, enlarged timestamptz,
		leased timestamptz) WITH (fillfactor = 50)`,
	`CREATE INDEX IF NOT EXISTS index_partition_waiting ON index_partition (generation) WHERE large AND NOT indexed`,
	`CREATE TABLE IF NOT EXISTS index_chunk (
		generation bigint NOT NULL, ord bigint NOT NULL, document text COLLATE "C" NOT NULL, chunk int NOT NULL,
		words int NOT NULL,
		embedding halfvec, PRIMARY KEY (generation, ord))`,
	`CREATE UNIQUE INDEX IF NOT EXISTS index_chunk_document ON index_chunk (generation, document, chunk)`,
	`ALTER TABLE index_chunk ALTER COLUMN embedding SET STORAGE EXTERNAL, SET (toast_tuple_target = 4080)`,
	`CREATE TABLE IF NOT EXISTS index_block (
		generation bigint NOT NULL, block int NOT NULL, times bytea NOT NULL, dead bytea, stale int NOT NULL,
		PRIMARY KEY (generation, block))`,
	`ALTER TABLE index_block ALTER COLUMN times SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160)`,
	`CREATE TABLE IF NOT EXISTS index_posting (
		generation bigint NOT NULL, span int NOT NULL, term bytea NOT NULL, part int NOT NULL, data bytea NOT NULL,
		PRIMARY KEY (generation, span, term, part))`,
	`ALTER TABLE index_posting ALTER COLUMN data SET STORAGE EXTERNAL, SET (toast_tuple_target = 8160)`,
}

// prepare checks the database and brings it up to date, one process at a time.
func (x *Index) prepare(ctx context.Context) error {
	limit := x.cfg.Limit()
	begin := "BEGIN; " + limit + "; SELECT pg_advisory_xact_lock(" +
		strconv.FormatInt(postgres.Lock(x.cfg.Schema, "index"), 10) + ")"
	if s := x.cfg.Schema; s != "" {
		name := pgx.Identifier{s}.Sanitize()
		// Reading the catalog makes the session hear of a schema that another one
		// made while this one waited; taking the lock does not.
		begin += "; SELECT FROM pg_catalog.pg_namespace; CREATE SCHEMA IF NOT EXISTS " + name +
			"; SET LOCAL search_path = " + name + ", public"
	}
	return x.transaction(ctx, begin, func(c *pgxpool.Conn) error {
		var server int
		var name, schema string
		var own *string
		if err := c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int, current_database(), current_schema()").
			Scan(&server, &name, &own); err != nil {
			return err
		}
		if server < minServer {
			return fmt.Errorf("the server is PostgreSQL %d.%d, and 14 is the oldest that serves", server/10000, server%10000)
		}
		if own == nil {
			return errors.New("the connection's search_path names no schema that exists: set schema")
		}
		found, err := extension(ctx, c, &schema)
		if err != nil {
			return err
		}
		if found == "" {
			// Its failure must not end the transaction.
			if _, err := c.Exec(ctx, "SAVEPOINT extension"); err != nil {
				return err
			}
			if _, failed := c.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS vector"); failed != nil {
				return fmt.Errorf("database %q has no pgvector, and making it failed: %w. Install pgvector %d.%d or "+
					"newer for PostgreSQL %d on the server, then run CREATE EXTENSION vector; in this database as a superuser",
					name, failed, minVectorMajor, minVectorMinor, server/10000)
			}
			if found, err = extension(ctx, c, &schema); err != nil {
				return err
			}
		}
		if outdated(found) {
			return fmt.Errorf("database %q has pgvector %s, and %d.%d is the oldest that serves (half-precision "+
				"vectors, iterative scans). Install a newer pgvector for PostgreSQL %d on the server, then run ALTER "+
				"EXTENSION vector UPDATE; (or, where none is there, CREATE EXTENSION vector;)",
				name, found, minVectorMajor, minVectorMinor, server/10000)
		}
		ours, extension := pgx.Identifier{*own}.Sanitize(), pgx.Identifier{schema}.Sanitize()
		path := ours
		if schema != *own {
			path += ", " + extension
		}
		switch x.path {
		case path:
		case "":
			x.schema, x.extension, x.path = ours, extension, path
			x.row = strings.Replace(partitionRow, "index_partition", ours+".index_partition", 1)
			// Plans must not depend on statistics, which a fresh table does not have yet.
			local := "; " + limit + "; SET LOCAL search_path = " + path + "; SET LOCAL jit = off; SET LOCAL enable_seqscan = off"
			x.begin = [2]string{viewing: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" + local,
				updating: "BEGIN ISOLATION LEVEL READ COMMITTED" + local}
		default: // running calls use what was found at first
			return fmt.Errorf("the tables and pgvector were in %s and are in %s now: restart this process", x.path, path)
		}
		if _, err := c.Exec(ctx, "SET LOCAL search_path = "+path); err != nil {
			return err
		}
		return x.migrate(ctx, c)
	})
}

// recreateTables creates the tables again if err says that the database lacks them, as it
// does after it was replaced by a new one. What they held is replayed from the store, as
// for any index that is behind. False: err has another cause.
func (x *Index) recreateTables(ctx context.Context, err error) bool {
	if postgres.State(err) != undefinedTable {
		return false
	}
	x.recreating.Lock()
	defer x.recreating.Unlock()
	var there bool
	if err := x.pool.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", x.schema+".index_partition").Scan(&there); err != nil ||
		there {
		return there && err == nil
	}
	if err := x.prepare(ctx); err != nil {
		x.log.ErrorContext(ctx, "index tables missing", "schema", x.schema, "error", err)
		return false
	}
	x.log.WarnContext(ctx, "index tables recreated", "schema", x.schema)
	return true
}

func (x *Index) migrate(ctx context.Context, c *pgxpool.Conn) error {
	// By its full name: pgvector's schema, where another installation may have its
	// tables, is in the path, too.
	var there bool
	if err := c.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", x.schema+".index_meta").Scan(&there); err != nil {
		return err
	}
	at := 0
	if there {
		if err := c.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM index_meta").Scan(&at); err != nil {
			return err
		}
	}
	if at > version {
		return fmt.Errorf("the tables are of version %d, made by a newer program; this one knows %d", at, version)
	}
	if at == version {
		return nil
	}
	for _, statement := range tables {
		if _, err := c.Exec(ctx, statement); err != nil {
			return fmt.Errorf("make the tables: %w", err)
		}
	}
	_, err := c.Exec(ctx, "INSERT INTO index_meta (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = "+
		"excluded.version", version)
	return err
}

// extension is the version of pgvector and its schema; "": it is not there.
func extension(ctx context.Context, c *pgxpool.Conn, schema *string) (found string, err error) {
	err = c.QueryRow(ctx, "SELECT e.extversion, n.nspname FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n "+
		"ON n.oid = e.extnamespace WHERE e.extname = 'vector'").
		Scan(&found, schema)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return found, err
}

// outdated reports a version of pgvector that lacks something.
func outdated(found string) bool {
	parts := strings.SplitN(found, ".", 3)
	if len(parts) < 2 {
		return true
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 != nil || err2 != nil || major < minVectorMajor || major == minVectorMajor && minor < minVectorMinor
}

// transaction runs fn between begin and COMMIT. When the connection is lost in
// COMMIT the outcome is not known: Apply, repeated, finds what was done.
func (x *Index) transaction(ctx context.Context, begin string, fn func(*pgxpool.Conn) error) error {
	c, err := x.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release() // closes one that is still in a transaction
	if err := execSimple(ctx, c, begin); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done { // fn failed or panicked
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = execSimple(end, c, "ROLLBACK")
		}
	}()
	if err := fn(c); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done = true
	return execSimple(context.WithoutCancel(ctx), c, "COMMIT")
}

// execSimple runs statements without parameters or rows in one round trip.
func execSimple(ctx context.Context, c *pgxpool.Conn, statements string) error {
	return c.Conn().PgConn().Exec(ctx, statements).Close()
}

// enter counts a running call, unless the index is closed.
func (x *Index) enter() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.closed {
		x.running.Add(1)
	}
	return !x.closed
}

// errRetry says that another transaction interfered.
var errRetry = errors.New("the partition was dropped during the operation")

// attempts bounds the runs of a transaction that others interfere with.
const attempts = 5

// run is transaction, repeated after an obstacle that is gone by the next attempt: a
// deadlock, or the vectors' table of a partition that was just dropped.
func (x *Index) run(ctx context.Context, op string, kind int, fn func(*pgxpool.Conn) error) error {
	if !x.enter() {
		return ErrClosed
	}
	defer x.running.Done()
	for attempt := 1; ; attempt++ {
		err := x.transaction(ctx, x.begin[kind], fn)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("postgres index: %s: %w", op, ctx.Err())
		}
		if attempt == attempts || !x.recreateTables(ctx, err) && !isTransient(err) {
			return x.fault(op, err)
		}
		if err := sleep(ctx, time.Duration(rand.Int64N(int64(attempt*attempt)*int64(pause)))); err != nil {
			return fmt.Errorf("postgres index: %s: %w", op, err)
		}
	}
}

// pause is the longest before the second attempt; it grows with the square.
const pause = 20 * time.Millisecond

func sleep(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return nil
	}
}

// isTransient reports whether an error is unlikely to recur at the next attempt.
func isTransient(err error) bool {
	if errors.Is(err, errRetry) {
		return true
	}
	switch postgres.State(err) {
	case postgres.SerializationFailure, postgres.DeadlockDetected, undefinedTable:
		return true
	case internalError:
		// A row of the catalog was changed by another transaction, as when a
		// table is dropped while an index on it is being built. PostgreSQL has no
		// code of its own for these, and does not translate them.
		var e *pgconn.PgError
		return errors.As(err, &e) && (e.Message == "tuple concurrently updated" || e.Message == "tuple concurrently deleted")
	}
	return false
}

// The SQLSTATE codes that decide something here (PostgreSQL manual, appendix A).
const (
	undefinedTable = "42P01"
	internalError  = "XX000"
)

// fault says what is the matter with the database.
func (x *Index) fault(op string, err error) error {
	op = "postgres index: " + op
	s := postgres.State(err)
	switch {
	case errors.Is(err, port.ErrGap), errors.Is(err, port.ErrDimensions), errors.Is(err, ErrClosed):
		return fmt.Errorf("%s: %w", op, err)
	case s == postgres.QueryCanceled:
		return fault.Wrap(fault.Timeout, op, err, "the index's database took too long")
	case strings.HasPrefix(s, "53"): // disk, memory or connections are used up
		return fault.Wrap(fault.Unavailable, op, err, "the index's database is short of resources").After(5 * time.Second)
	case postgres.Unreachable(err):
		return fault.Wrap(fault.Unavailable, op, err, "the index's database is not reachable").After(2 * time.Second)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// Retrievers implements port.Index.
func (x *Index) Retrievers() []port.Retriever {
	return []port.Retriever{port.Keyword, port.Vector, port.SparseTerms}
}

// partition is the state of one, as its row has it.
type partition struct {
	name, analyzer    string
	applied           uint64
	first             int32 // span that may have chunks
	pending           int32 // bytes in packs
	next, live, words int64
	vectors           int64
	dim               int
	large, indexed    bool
}

const partitionRow = "SELECT name, analyzer, applied, first, next, pending, live, words, vectors, dim, large, indexed " +
	"FROM index_partition WHERE generation = $1"

// single runs one statement, which needs no transaction around it.
func (x *Index) single(ctx context.Context, op string, fn func() error) error {
	if !x.enter() {
		return ErrClosed
	}
	defer x.running.Done()
	err := fn()
	if err != nil && x.recreateTables(ctx, err) {
		err = fn()
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("postgres index: %s: %w", op, ctx.Err())
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return x.fault(op, err)
	}
	return err
}

func (s *partition) scan(row pgx.Row) error {
	return row.Scan(&s.name, &s.analyzer, &s.applied, &s.first, &s.next, &s.pending, &s.live, &s.words, &s.vectors,
		&s.dim, &s.large, &s.indexed)
}

// checkOwner says that a generation's data are of another partition.
func (s *partition) checkOwner(p port.Partition) error {
	if s.name != p.String() {
		return fmt.Errorf("generation %d belongs to %s, not %s: two installations share these tables; give each a "+
			"schema of its own", p.Generation(), s.name, p)
	}
	return nil
}

func checkPinned(p port.Partition) error {
	if p.Generation() == 0 {
		return fmt.Errorf("postgres index: partition %s is not pinned to a generation", p)
	}
	return nil
}

// Applied implements port.Index.
func (x *Index) Applied(ctx context.Context, p port.Partition) (uint64, error) {
	if err := checkPinned(p); err != nil {
		return 0, err
	}
	var s partition
	err := x.single(ctx, "state of "+p.String(), func() error { return s.scan(x.pool.QueryRow(ctx, x.row, p.Generation())) })
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err == nil {
		err = s.checkOwner(p)
	}
	if err != nil || s.analyzer != x.analyzer.Version() {
		return 0, err // words were cut in another way: rebuild it
	}
	return s.applied, nil
}

// Durable implements port.Index: what is applied is committed.
func (x *Index) Durable(ctx context.Context, p port.Partition) (uint64, error) {
	return x.Applied(ctx, p)
}

// Drop implements port.Index.
func (x *Index) Drop(ctx context.Context, p port.Partition) error {
	if err := checkPinned(p); err != nil {
		return err
	}
	return x.run(ctx, "drop "+p.String(), updating, func(c *pgxpool.Conn) error {
		var s partition
		err := s.scan(c.QueryRow(ctx, partitionRow+" FOR UPDATE", p.Generation()))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.checkOwner(p); err != nil {
			return err
		}
		return x.deleteData(ctx, c, p.Generation(), "index_partition")
	})
}

// deleteData removes everything of a partition whose row is locked; also says from
// which tables beside those of the data.
func (x *Index) deleteData(ctx context.Context, c *pgxpool.Conn, generation int64, also ...string) error {
	var b pgx.Batch
	b.Queue("DROP TABLE IF EXISTS " + vectorsTable(generation))
	b.Queue("SET LOCAL statement_timeout = 0") // deleting grows with the partition, waiting for a lock is over
	for _, table := range append([]string{"index_posting", "index_block", "index_chunk"}, also...) {
		b.Queue("DELETE FROM "+table+" WHERE generation = $1", generation)
	}
	b.Queue("SET LOCAL statement_timeout = " + strconv.FormatInt(x.cfg.StatementTimeout.Milliseconds(), 10))
	return c.SendBatch(ctx, &b).Close()
}

// Ping implements port.Index.
func (x *Index) Ping(ctx context.Context) error {
	return x.single(ctx, "ping", func() error {
		err := new(partition).scan(x.pool.QueryRow(ctx, x.row, 0))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
}

// Pool implements port.Pooled.
func (x *Index) Pool() port.Pool {
	s := x.pool.Stat()
	return port.Pool{InUse: int(s.AcquiredConns()), Max: int(s.MaxConns()), Waits: s.EmptyAcquireCount(),
		Waited: s.EmptyAcquireWaitTime()}
}

// Close implements port.Index. It waits for running calls.
func (x *Index) Close() error {
	x.mu.Lock()
	first := !x.closed
	x.closed = true
	x.mu.Unlock()
	if first {
		x.stopBackground()
		x.running.Wait()
		x.pool.Close()
	}
	return nil
}

var (
	_ port.Index       = (*Index)(nil)
	_ port.Highlighter = (*Index)(nil)
	_ port.Pooled      = (*Index)(nil)
)
