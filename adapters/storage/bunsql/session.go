package bunsql

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Session is one connection with its prepared statements. It is used by one
// goroutine at a time; its owner begins and ends transactions with Control.
type Session struct {
	conn bun.Conn
	d    Dialect
	// By statement before Render: a fixed set, so never evicted.
	stmts map[string]*sql.Stmt
	texts map[string]string // rendered, where the driver prepares
	// changes counts the statements that changed rows, for Writer.Changed: exec does, and
	// the one that writes otherwise.
	changes int64
}

// NewSession takes over a connection.
func NewSession(conn bun.Conn, d Dialect) *Session {
	return &Session{conn: conn, d: d, stmts: map[string]*sql.Stmt{}, texts: map[string]string{}}
}

// Control runs a statement without arguments or rows, such as BEGIN. Unlike
// the other methods it answers the driver's own error.
func (s *Session) Control(ctx context.Context, statement string) error {
	_, err := s.run(ctx, statement)
	return err
}

// Row runs a statement of one database alone and scans its only row; ok is
// false when there is none.
func (s *Session) Row(ctx context.Context, statement string, args []any, dest ...any) (ok bool, err error) {
	return s.get(ctx, s.d.Name(), statement, args, dest...)
}

// Exec runs a statement of one database alone that gives no rows.
func (s *Session) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := s.exec(ctx, s.d.Name(), statement, args...)
	return err
}

// Simple runs statements without arguments or rows, several separated by
// semicolons, in one round trip. Like Control it answers the driver's own error.
func (s *Session) Simple(ctx context.Context, statements string) error {
	_, err := s.conn.Conn.ExecContext(s.d.Context(ctx), statements)
	return err
}

// Close closes the statements and gives the connection back.
func (s *Session) Close() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}

// Read runs fn on a reader that is good until fn returns.
func (s *Session) Read(fn func(port.Reader) error) error {
	r := Reader{s: s}
	defer r.end()
	return fn(&r)
}

// Written is what a function did through a Writer.
type Written struct {
	Bytes   int  // of documents and vectors, to bound a commit
	Dropped bool // namespaces wait to be purged
}

// Write runs fn on a writer that is good until fn returns. When fn answers nil
// although a statement failed, Write answers that failure, since what the
// statement left behind is not known.
func (s *Session) Write(fn func(port.DocumentWriter) error) (Written, error) {
	return write(&Writer{Reader: Reader{s: s, began: s.changes}}, fn)
}

// Enter gives the session of a Writer that was begun without one. It is called
// at the writer's first use, and again each time it turns to a partition other
// than the one before; p is zero where no single partition is used. Its error is
// the answer of the method that was called.
type Enter func(ctx context.Context, p port.Partition) (*Session, error)

// Write is Session.Write on the session that enter gives, so that a transaction
// need not begin before it is known which partition it is for. A function that
// does not use its writer has none.
func Write(enter Enter, fn func(port.DocumentWriter) error) (Written, error) {
	return write(&Writer{Reader: Reader{enter: enter}}, fn)
}

func write(w *Writer, fn func(port.DocumentWriter) error) (Written, error) {
	defer w.end()
	err := fn(w)
	if err == nil {
		err = w.failed
	}
	return w.written, err
}

func (s *Session) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if st := s.stmts[query]; st != nil {
		return st, nil
	}
	st, err := s.conn.Conn.PrepareContext(s.d.Context(ctx), s.d.Render(query))
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

func (s *Session) query(ctx context.Context, op, query string, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var rows *sql.Rows
	var err error
	if s.d.Prepares() {
		var st *sql.Stmt
		if st, err = s.prepare(ctx, query); err == nil {
			rows, err = st.QueryContext(s.d.Context(ctx), args...)
		}
	} else {
		rows, err = s.conn.Conn.QueryContext(s.d.Context(ctx), s.render(query), args...)
	}
	if err != nil {
		return nil, s.d.Fault(op, err)
	}
	return rows, nil
}

// run executes a statement that gives no rows.
func (s *Session) run(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if !s.d.Prepares() {
		return s.conn.Conn.ExecContext(s.d.Context(ctx), s.render(query), args...)
	}
	st, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return st.ExecContext(s.d.Context(ctx), args...)
}

// render is Dialect.Render, remembered.
func (s *Session) render(query string) string {
	r, ok := s.texts[query]
	if !ok {
		r = s.d.Render(query)
		s.texts[query] = r
	}
	return r
}

// get scans the only row of a query; ok is false when there is none.
func (s *Session) get(ctx context.Context, op, query string, args []any, dest ...any) (ok bool, err error) {
	rows, err := s.query(ctx, op, query, args...)
	if err != nil {
		return false, err
	}
	if ok = rows.Next(); ok {
		err = rows.Scan(dest...)
	}
	// A statement may fail behind its row, which Close alone tells: PostgreSQL finds conflicts then.
	if err = cmp.Or(err, rows.Close(), rows.Err()); err != nil {
		return false, s.d.Fault(op, err)
	}
	return ok, nil
}

func (s *Session) exec(ctx context.Context, op, query string, args ...any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	res, err := s.run(ctx, query, args...)
	if err != nil {
		return 0, s.d.Fault(op, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, s.d.Fault(op, err)
	}
	if n > 0 {
		s.changes++
	}
	return n, nil
}

// Once runs a statement without keeping it prepared: one of the schema, or one
// that acts while it is prepared, as some pragmas do. op names it in errors.
func (s *Session) Once(ctx context.Context, op, statement string) error {
	_, err := s.conn.Conn.ExecContext(s.d.Context(ctx), s.d.Render(statement))
	if err != nil {
		return s.d.Fault(op, err)
	}
	return nil
}

func (s *Session) hasTable(ctx context.Context, name string) (bool, error) {
	var n int
	return s.get(ctx, "read the schema", `SELECT 1 FROM {{tables}} WHERE name = ?`, []any{name}, &n)
}

// Reader is port.Reader over a session.
type Reader struct {
	s     *Session
	enter Enter          // not nil: where s comes from
	last  port.Partition // resolved before in this transaction
	at    namespaceRef
	began int64 // s.changes before
	ended bool
}

// Writer is port.DocumentWriter over a session.
type Writer struct {
	Reader
	written Written
	failed  error
}

// Session is what the reader reads with, for statements of one database alone.
func (r *Reader) Session(ctx context.Context) (*Session, error) {
	err := r.check(ctx)
	return r.s, err
}

func (r *Reader) end() { r.ended = true }

func (r *Reader) check(ctx context.Context) error { return r.use(ctx, port.Partition{}) }

// use is check for a method that works on a partition.
func (r *Reader) use(ctx context.Context, p port.Partition) error {
	if r.ended {
		return fault.Wrap(fault.Internal, "store", errors.New("reader or writer used after its function returned"),
			"an internal error occurred")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.enter == nil || r.s != nil && (p == port.Partition{} || p == r.last) {
		return nil
	}
	s, err := r.enter(ctx, p)
	if err != nil {
		return err
	}
	if r.s != s {
		r.s, r.began = s, s.changes
	}
	return nil
}

// fail remembers a statement's failure, after which the transaction must not
// commit; faults of the caller's making pass through check and are not kept.
func (w *Writer) fail(err error) error {
	if err != nil && w.failed == nil {
		w.failed = err
	}
	return err
}

func internal(op, format string, args ...any) error {
	return fault.Wrap(fault.Internal, op, fmt.Errorf(format, args...), "an internal error occurred")
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func instant(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

var (
	_ port.Reader         = (*Reader)(nil)
	_ port.DocumentWriter = (*Writer)(nil)
)
