package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite" // the driver named sqlite

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// applicationID marks our files in the database header: "MNEM".
const applicationID = 0x4d4e454d

// Options tune a store; the zero value is the default of all.
type Options struct {
	// Shared opens beside the process that serves the directory, without its
	// lock and its background work. For keys and organizations only.
	Shared bool
	// Readers is the number of reading connections; 0: 4 a core, at least 8.
	Readers int
	// Log receives what happens in the background; nil: none.
	Log *slog.Logger
	// Now tells the time; nil: the system's clock.
	Now func() time.Time
	// Disk is where the store changes files beside SQLite; nil: the operating system's.
	Disk disk.FS
}

// Store is port.DocumentStore in a data directory.
type Store struct {
	dir    string
	o      Options
	db     *bun.DB
	unlock func() error
	commit *committer
	read   *readers
	purge  *bunsql.Purger
	log    writeAheadLog
	scrub  scrubber
	file   *os.File // the database beside SQLite, for Scrub; nil where it is shared

	closing sync.Once
	closed  error
}

// Open opens the database of a data directory, creating both when absent, and
// brings its schema up to date. Errors: fault Unavailable when the directory is
// in use (ErrLocked), not writable or full; an error that is
// bunsql.ErrNewerSchema, naming both versions, when a newer program wrote it;
// ErrForeign when the file is not ours. A refused file is left as it was.
func Open(ctx context.Context, dir string, o Options) (_ *Store, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Disk == nil {
		o.Disk = disk.OS()
	}
	if o.Readers <= 0 {
		o.Readers = max(8, 4*runtime.GOMAXPROCS(0))
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("open data directory: %w", err)
	}
	if err := disk.MakeDir(o.Disk, dir); err != nil {
		return nil, directoryFault("create data directory", dir, err)
	}
	s := &Store{
		dir:    dir,
		o:      o,
		unlock: func() error { return nil },
		scrub:  scrubber{running: make(chan struct{}, 1), untracked: true},
	}
	if !o.Shared {
		if s.unlock, err = LockDir(dir); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.release())
		}
	}()
	path := filepath.Join(dir, databaseFile)
	s.log.path, s.log.disk = path+"-wal", o.Disk
	known, err := bunsql.Migrations()
	if err != nil {
		return nil, err
	}
	if err := touch(path); err != nil {
		return nil, directoryFault("open database", dir, err)
	}
	if !o.Shared {
		if s.file, err = os.Open(path); err != nil {
			return nil, directoryFault("open database", dir, err)
		}
	}
	if err := inspect(ctx, path, known, looking); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite", source(path, writing))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pool.SetMaxOpenConns(o.Readers + 1)
	pool.SetMaxIdleConns(o.Readers + 1)
	s.db = bun.NewDB(pool, sqlitedialect.New())
	writer, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	s.commit = newCommitter(writer, o.Log)
	s.read = newReaders(o.Readers, s.session)
	migrate := func(ctx context.Context, fn func(*bunsql.Session) error) error { return s.commit.runExclusive(ctx, fn) }
	if err := bunsql.Migrate(ctx, known, o.Now, migrate); err != nil {
		return nil, err
	}
	if err := s.writeApplicationID(ctx); err != nil {
		return nil, err
	}
	if !o.Shared {
		s.commit.afterTransaction = s.keepLogShort
	}
	s.commit.start()
	if !o.Shared {
		s.purge = bunsql.NewPurger(s, o.Log, nil)
		s.commit.onDropped = s.purge.Wake
		s.purge.Start()
		ahead, cancel := context.WithCancel(context.Background())
		s.scrub.cancel = cancel
		s.scrub.background.Go(func() { s.scrubAhead(ahead) })
	}
	return s, nil
}

// keepLogShort runs after each transaction.
func (s *Store) keepLogShort() {
	if err := s.log.keepShort(context.Background(), s.commit.s); err != nil {
		s.o.Log.Warn("wal checkpoint failed", "error", err)
	}
}

// access is what a connection may do.
type access int

const (
	writing access = iota
	looking        // reading; the files of the log are made where they are missing
	// lookingAlone leaves the folder as it is. A process that has the database open
	// in the meantime is not seen.
	lookingAlone
)

// source is the driver's data source name with the settings of a connection.
//
// The log is copied back (checkpoint) by writeAheadLog alone. Pages of 8 KB hold most documents whole: a tenth less
// processor time than 4 KB for writing and replaying. Pages are cached 16 MB a
// connection; blobs are read once, so more gives nothing. Mapping the file into
// memory would replay up to twice as fast, but turns a failing disk into a
// crash of the process.
func source(path string, as access) string {
	q := url.Values{}
	if as != writing {
		q.Set("mode", "ro")
		q.Add("_pragma", "busy_timeout(5000)")
		if as == lookingAlone {
			q.Set("immutable", "1")
		}
	} else {
		for _, p := range []string{
			"busy_timeout(5000)", "page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
			"secure_delete(1)",
			"wal_autocheckpoint(0)", "journal_size_limit(67108864)", "cache_size(-16384)", "temp_store(MEMORY)",
			"trusted_schema(0)", "cell_size_check(1)",
			"fullfsync(1)", "checkpoint_fullfsync(1)", // for macOS, which else syncs into the disk's cache alone
		} {
			q.Add("_pragma", p)
		}
	}
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") { // C:/data would be a host and a port
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name, RawQuery: q.Encode()}).String()
}

// touch creates the database file for its owner alone and checks that it can
// be written.
func touch(path string) error {
	f, err := disk.OpenPrivate(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return err
	}
	return f.Close()
}

// ErrForeign is inside the error of Open for a file that Mneme did not make.
var ErrForeign = errors.New("not a Mneme database")

// inspect refuses a file of another program or of a newer version of this one,
// through a connection that cannot write.
func inspect(ctx context.Context, path string, known []bunsql.Migration, as access) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return directoryFault("open database", filepath.Dir(path), err)
	case info.Size() == 0:
		return nil
	}
	foreign := func(err error) error {
		return fault.Wrap(fault.Unavailable, "open database", errors.Join(ErrForeign, err),
			"%s is not a Mneme database; move it away or choose another data directory", path)
	}
	pool, err := sql.Open("sqlite", source(path, as))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer pool.Close()
	db := bun.NewDB(pool, sqlitedialect.New())
	conn, err := db.Conn(ctx)
	if err != nil {
		return openFault(path, err, foreign)
	}
	session := bunsql.NewSession(conn, dialect{})
	defer session.Close()
	var id, tables int64
	err = conn.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&id)
	if err == nil {
		err = conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	}
	if err != nil {
		return openFault(path, err, foreign)
	}
	if id != applicationID && tables > 0 {
		// A first start that died before the mark left our tables without it.
		if at, err := bunsql.CheckSchema(ctx, session, known); id != 0 || err != nil || at == 0 {
			return foreign(err)
		}
	}
	_, err = bunsql.CheckSchema(ctx, session, known)
	return err
}

func openFault(path string, err error, foreign func(error) error) error {
	if notDatabase(err) {
		return foreign(err)
	}
	return dialect{}.Fault("open database "+path, err)
}

// writeApplicationID writes the application id, once.
func (s *Store) writeApplicationID(ctx context.Context) error {
	return s.commit.runExclusive(ctx, func(w *bunsql.Session) error {
		return dialect{}.Fault("mark database", w.Control(ctx, `PRAGMA application_id = `+strconv.Itoa(applicationID)))
	})
}

// session opens a connection.
func (s *Store) session(ctx context.Context) (*bunsql.Session, error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return nil, dialect{}.Fault("open database", err)
	}
	return bunsql.NewSession(conn, dialect{}), nil
}

// View implements port.DocumentStore.
func (s *Store) View(ctx context.Context, fn func(port.Reader) error) error {
	return s.read.view(ctx, fn)
}

// Update implements port.Store.
func (s *Store) Update(ctx context.Context, fn func(port.Writer) error) error {
	return s.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

// UpdateDocuments implements port.DocumentStore. A full or failing disk, or a lock held too
// long by another process, is fault Unavailable with RetryAfter; nothing of fn
// is kept then.
func (s *Store) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	return s.commit.update(ctx, fn)
}

// leastRoom is how much of the disk has to be free: documents of one call may take as
// much. What Ping writes fits into what the write-ahead log holds already, and would
// go through on a disk on which no write of documents does.
const leastRoom = 8 << 20

// Ping implements port.DocumentStore: it reads, looks for room on the disk, and writes
// through to it.
func (s *Store) Ping(ctx context.Context) error {
	if free, err := disk.Free(s.dir); err == nil && free < leastRoom {
		return fault.New(fault.Unavailable, "the disk of the data directory is full: %d KiB are free", free>>10).
			After(10 * time.Second)
	}
	if err := s.View(ctx, func(r port.Reader) error { _, err := r.Organizations(ctx); return err }); err != nil {
		return err
	}
	return s.Update(ctx, func(w port.Writer) error { return w.(*bunsql.Writer).Ping(ctx, s.o.Now().UnixMicro()) })
}

// Pool implements port.Pooled, of the connections that read; there is one that writes.
func (s *Store) Pool() port.Pool { return s.read.pool() }

// Close implements port.DocumentStore. It waits for running functions; later calls
// answer fault Unavailable.
func (s *Store) Close() error {
	s.closing.Do(func() { s.closed = s.release() })
	return s.closed
}

func (s *Store) release() error {
	var errs []error
	if s.scrub.cancel != nil {
		s.scrub.cancel()
		s.scrub.background.Wait()
	}
	if s.purge != nil {
		s.purge.Stop()
	}
	if s.read != nil {
		errs = append(errs, s.read.close())
	}
	if s.commit != nil {
		errs = append(errs, s.commit.close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.file != nil { // only now: closing it takes SQLite's locks away
		errs = append(errs, s.file.Close())
	}
	return errors.Join(append(errs, s.unlock())...)
}

var (
	_ port.DocumentStore = (*Store)(nil)
	_ port.Pooled        = (*Store)(nil)
)
