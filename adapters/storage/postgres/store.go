package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Options are what a store gets beside its configuration.
type Options struct {
	Shared bool             // no background work; for a command beside the servers
	Log    *slog.Logger     // nil: none
	Now    func() time.Time // nil: the system's clock
}

// Store is port.DocumentStore in a PostgreSQL database.
type Store struct {
	db     *bun.DB
	log    *slog.Logger
	now    func() time.Time
	begin  [2]string // statements that begin a view and an update
	queues *writeQueues
	views  *fair.Slots // one for each view that may run
	slots  *fair.Slots // one for each transaction on a partition
	purge  *bunsql.Purger

	mu      sync.Mutex
	running sync.WaitGroup
	closed  bool
	ended   error
}

// A view is one snapshot; an update must be as if it ran alone.
const (
	viewing = iota
	updating
)

// byKey makes updates read small tables by key. The planner would scan them whole, and a
// transaction that has scanned a table conflicts with every writer of a row in it. What
// still has to be scanned is not worth compiling.
const byKey = "; SET LOCAL enable_seqscan = off; SET LOCAL jit = off"

// writersShare: one in so many connections may run a transaction on a partition at the
// same time. Partitions share pages of small indexes, so many concurrent transactions make
// one another fail. More of them are no faster on the same disk, and readers keep the rest
// of the connections.
const writersShare = 4

// Open connects and brings the schema up to date or, without c.Migrate, requires that it
// is. Errors: fault Unavailable when the database cannot be reached or refuses; one that
// is bunsql.ErrNewerSchema when a newer program wrote the schema, ErrOlderSchema when an
// older one did.
func Open(ctx context.Context, c Config, o Options) (_ *Store, err error) {
	s, err := connect(c, o)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if c.Migrate {
		err = s.migrate(ctx, c.Schema)
	} else {
		err = s.current(ctx)
	}
	if err != nil {
		return nil, c.Located(err)
	}
	if !o.Shared {
		s.purge = bunsql.NewPurger(s, s.log,
			func(ctx context.Context, w *bunsql.Writer) (bool, error) { return s.tryLock(ctx, w, "purge") })
		s.purge.Start()
	}
	return s, nil
}

// connect makes a store without looking at its schema.
func connect(c Config, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	config, err := connection(c)
	if err != nil {
		return nil, err
	}
	pool := stdlib.OpenDB(*config)
	n := c.PoolSize()
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	pool.SetConnMaxIdleTime(c.IdleTime)
	pool.SetConnMaxLifetime(c.Lifetime)
	local := "; " + c.Limit()
	if c.Schema != "" {
		local += "; SET LOCAL search_path = " + pgx.Identifier{c.Schema}.Sanitize()
	}
	return &Store{
		db:     bun.NewDB(pool, pgdialect.New()),
		log:    o.Log,
		now:    o.Now,
		queues: newWriteQueues(),
		views:  fair.NewSlots(n),
		slots:  fair.NewSlots(max(1, n/writersShare)),
		begin: [2]string{
			viewing:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" + local,
			updating: "BEGIN ISOLATION LEVEL SERIALIZABLE" + local + byKey,
		},
	}, nil
}

func connection(c Config) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(c.DSN.Reveal())
	if err != nil {
		// The message of a DSN that can't be read may hold its password.
		return nil, errors.New("storage.postgres.dsn: not a PostgreSQL connection string")
	}
	c.Configure(config, "mneme")
	return config, nil
}

// migrate runs the schema's steps under an advisory lock, so that replicas that
// start together take turns.
func (s *Store) migrate(ctx context.Context, schema string) error {
	known, err := bunsql.Migrations()
	if err != nil {
		return err
	}
	return s.migrateTo(ctx, known, schema)
}

func (s *Store) migrateTo(ctx context.Context, known []bunsql.Migration, schema string) error {
	in := func(ctx context.Context, fn func(*bunsql.Session) error) error {
		d := &dialect{}
		session, err := s.session(ctx, d)
		if err != nil {
			return err
		}
		// READ COMMITTED, so that a process that waited for the lock sees what the one before it did.
		begin := strings.Replace(s.begin[updating], "SERIALIZABLE", "READ COMMITTED", 1)
		begin += "; SELECT pg_advisory_xact_lock(" + strconv.FormatInt(postgres.Lock(schema, "migrate"), 10) + ")"
		if schema != "" {
			begin += "; CREATE SCHEMA IF NOT EXISTS " + pgx.Identifier{schema}.Sanitize()
		}
		return s.transaction(ctx, session, d, begin, "change the schema", func() error { return fn(session) })
	}
	// First, so that what a crash leaves of a new schema is no version at all.
	err := in(ctx, func(session *bunsql.Session) error {
		if ok, err := hasLockTables(ctx, session); err != nil || ok {
			return err
		}
		for n := range lockTables {
			if err := session.Once(ctx, "change the schema", "CREATE TABLE IF NOT EXISTS "+lockTable(n)+" ()"); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return bunsql.Migrate(ctx, known, s.now, in)
}

// conn takes a connection from the pool.
func (s *Store) conn(ctx context.Context, d *dialect) (bun.Conn, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil && ctx.Err() != nil {
		return conn, ctx.Err()
	}
	return conn, d.Fault("connect to the database", err)
}

func (s *Store) session(ctx context.Context, d *dialect) (*bunsql.Session, error) {
	conn, err := s.conn(ctx, d)
	if err != nil {
		return nil, err
	}
	return bunsql.NewSession(conn, d), nil
}

// transaction runs fn between begin and COMMIT on a session, which it gives back.
// When the connection is lost while committing, the outcome is not known: the error is
// Unavailable, and a caller who repeats the write finds what was done.
func (s *Store) transaction(ctx context.Context, session *bunsql.Session, d *dialect, begin, op string,
	fn func() error) (err error) {
	defer func() {
		if e := session.Close(); err == nil && e != nil {
			s.log.Warn("connection release failed", "error", e)
		}
	}()
	if err := session.Simple(ctx, begin); err != nil {
		return d.Fault(op, err)
	}
	done := false
	defer func() {
		if !done { // fn failed or panicked
			_ = session.Simple(context.WithoutCancel(ctx), "ROLLBACK") // a connection that can't is closed by its driver
		}
	}()
	if err := fn(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	done = true
	return d.Fault(op, session.Simple(context.WithoutCancel(ctx), "COMMIT"))
}

var errStoreClosed = errors.New("the store is closed")

// enter counts a running function, unless the store is closed.
func (s *Store) enter(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.Wrap(fault.Unavailable, op, errStoreClosed, "the server is shutting down").After(time.Second)
	}
	s.running.Add(1)
	return nil
}

// View implements port.DocumentStore.
func (s *Store) View(ctx context.Context, fn func(port.Reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter("read"); err != nil {
		return err
	}
	defer s.running.Done()
	if !s.views.Take(ctx, nil) {
		return ctx.Err()
	}
	defer s.views.Give()
	d := &dialect{}
	session, err := s.session(ctx, d)
	if err != nil {
		return err
	}
	return s.transaction(ctx, session, d, s.begin[viewing], "read", func() error { return session.Read(fn) })
}

// Attempts of one update: it waits a random time, longer each time that others
// came first, and gives up at the caller's deadline or this long after the first.
const (
	firstPause = 2 * time.Millisecond
	longPause  = 250 * time.Millisecond
	patience   = 30 * time.Second

	mostViolations = 10 // of constraints; one that stays is a mistake of ours
)

// Update implements port.Store.
func (s *Store) Update(ctx context.Context, fn func(port.Writer) error) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

// UpdateDocuments implements port.DocumentStore.
func (s *Store) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter("write"); err != nil {
		return err
	}
	defer s.running.Done()
	var line port.Partition
	var since time.Time // the first conflict
	violations, tries, pause := 0, 0, firstPause
	for {
		a := &attempt{s: s, queue: line, tries: tries}
		written, how, err := a.run(ctx, fn)
		if line = a.queue; a.g != nil && a.g.p != (port.Partition{}) {
			line = a.g.p
		}
		switch how {
		case decided:
			if err == nil && written.Dropped && s.purge != nil {
				s.purge.Wake()
			}
			return err
		case displaced:
			if !errors.Is(a.refused, errMustQueue) {
				tries++
			}
			continue
		case violated:
			violations++
		}
		if since.IsZero() {
			since = time.Now()
		}
		if violations > mostViolations || time.Since(since) > patience {
			return err
		}
		tries++
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, longPause)
	}
}

// tryLock takes an advisory lock until the end of w's transaction; false when
// another has it.
func (s *Store) tryLock(ctx context.Context, w *bunsql.Writer, name string) (bool, error) {
	var mine bool
	session, err := w.Session(ctx)
	if err != nil {
		return false, err
	}
	_, err = session.Row(ctx, "SELECT pg_try_advisory_xact_lock(?)", []any{postgres.Lock("", name)}, &mine)
	return mine, err
}

// Ping implements port.DocumentStore: it reads, and writes through to the disk.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.View(ctx, func(r port.Reader) error { _, err := r.Organizations(ctx); return err }); err != nil {
		return err
	}
	return s.Update(ctx, func(w port.Writer) error { return w.(*bunsql.Writer).Ping(ctx, s.now().UnixMicro()) })
}

// Pool implements port.Pooled.
func (s *Store) Pool() port.Pool {
	p := s.db.Stats()
	waits, waited := s.views.Waits()
	return port.Pool{InUse: p.InUse, Max: p.MaxOpenConnections, Waits: p.WaitCount + waits, Waited: p.WaitDuration + waited}
}

// Close implements port.DocumentStore. It waits for running functions; later calls
// answer fault Unavailable.
func (s *Store) Close() error {
	if s.purge != nil {
		s.purge.Stop()
	}
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	if first {
		if err := s.db.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
			s.ended = fmt.Errorf("close the database: %w", err)
		}
	}
	return s.ended
}

var (
	_ port.DocumentStore = (*Store)(nil)
	_ port.Pooled        = (*Store)(nil)
)
