package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/core/registry"
)

// errNoSchema keeps a mistake in the configuration from dropping the default schema.
var errNoSchema = errors.New("the connection names no schema")

// open connects once, without a pool. The driver's error may hold the password,
// so it is left out.
func (c Connection) open(ctx context.Context) (*pgx.Conn, error) {
	if c.Schema == "" {
		return nil, errNoSchema
	}
	config, err := pgx.ParseConfig(c.DSN.Reveal())
	if err != nil {
		return nil, errors.New("the dsn cannot be read")
	}
	c.Configure(config, "mneme")
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // a pooler may stand between
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, errors.New("the database cannot be reached")
	}
	return conn, nil
}

// DropSchema removes the schema with everything in it. One that does not exist
// is no error.
func (c Connection) DropSchema(ctx context.Context) error {
	conn, err := c.open(ctx)
	if err != nil {
		return fmt.Errorf("drop schema %s: %w", c.Schema, err)
	}
	_, err = conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{c.Schema}.Sanitize()+" CASCADE")
	if err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))); err != nil {
		return fmt.Errorf("drop schema %s: %w", c.Schema, err)
	}
	return nil
}

// Usage measures the tables of the schema and finds the server's process.
func (c Connection) Usage(ctx context.Context) (_ registry.Usage, err error) {
	conn, err := c.open(ctx)
	if err != nil {
		return registry.Usage{}, fmt.Errorf("measure schema %s: %w", c.Schema, err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	at := conn.Config()
	u := registry.Usage{
		Place:  fmt.Sprintf("%s/%s/%s", net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port))), at.Database, c.Schema),
		Tables: map[string]int64{},
	}
	rows, err := conn.Query(ctx, `SELECT c.relname,
			CASE c.relkind WHEN 'i' THEN pg_relation_size(c.oid) ELSE pg_table_size(c.oid) END
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1 AND c.relkind IN ('r', 'i', 'm')`, c.Schema)
	if err != nil {
		return u, fmt.Errorf("measure schema %s: %w", c.Schema, err)
	}
	var name string
	var size int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &size}, func() error {
		u.Tables[name] = size
		return nil
	}); err != nil {
		return u, fmt.Errorf("measure schema %s: %w", c.Schema, err)
	}
	// A standby and some managed servers refuse this; the sizes are still worth having.
	var backend int
	var wal float64
	if conn.QueryRow(ctx, "SELECT pg_backend_pid(), pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8").
		Scan(&backend, &wal) == nil {
		u.WAL = int64(wal)
		if local(at.Host) {
			u.PID = parent(backend)
		}
	}
	return u, nil
}

// local reports whether a host of a connection is this machine.
func local(host string) bool {
	return strings.HasPrefix(host, "/") || host == "localhost" || net.ParseIP(host).IsLoopback()
}

// parent is the process that started another one: field 4 of /proc/PID/stat. 0:
// unknown, as in another container and on systems without /proc.
func parent(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ") // after the program's name
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	n, err := strconv.Atoi(fields[1])
	if err != nil || n <= 1 { // init adopts orphans and is no database
		return 0
	}
	return n
}
