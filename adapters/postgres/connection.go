package postgres

import (
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/core/registry"
)

// Connection is how a database is reached. A component's configuration embeds it,
// so that its settings are the component's own.
type Connection struct {
	DSN              registry.Secret `yaml:"dsn" help:"Connection string, postgres://user:password@host:5432/database?sslmode=verify-full, or key=value pairs. Store and index may share a database. What it leaves out comes from the PG* environment variables."`
	Schema           string          `yaml:"schema" help:"Schema that holds the tables; made when absent. Empty: the first of the connection's search_path. One installation of mneme each."`
	MaxConnections   int             `yaml:"max_connections" help:"Connections of this process at most, 2 to 1000. 0: eight for each core, at least 16."`
	IdleTime         time.Duration   `yaml:"idle_time" help:"How long an unused connection is kept."`
	Lifetime         time.Duration   `yaml:"lifetime" help:"How long a connection is used before it is replaced, so that a fail-over or a rebalanced pool is noticed."`
	StatementTimeout time.Duration   `yaml:"statement_timeout" help:"Longest time one statement may take, but for the building of a vector index. It bounds what a call that was given up leaves running."`
	ConnectTimeout   time.Duration   `yaml:"connect_timeout" help:"Longest time to open a connection."`
	Pooler           bool            `yaml:"pooler" help:"A pooler in transaction mode, such as pgBouncer, stands between. Statements are then not kept prepared."`
}

// DefaultConnection is everything but the DSN.
func DefaultConnection() Connection {
	return Connection{
		IdleTime:         5 * time.Minute,
		Lifetime:         time.Hour,
		StatementTimeout: time.Minute,
		ConnectTimeout:   10 * time.Second,
	}
}

// Validate reports every setting that is out of range, each as registry.Invalid.
func (c Connection) Validate() error {
	var errs []error
	bad := func(path, format string, args ...any) {
		errs = append(errs, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
	}
	if c.MaxConnections != 0 && (c.MaxConnections < 2 || c.MaxConnections > 1000) {
		bad("max_connections", "must be 0 or between 2 and 1000")
	}
	for _, d := range []struct {
		path        string
		value       time.Duration
		least, most time.Duration
	}{
		{"idle_time", c.IdleTime, time.Second, 24 * time.Hour},
		{"lifetime", c.Lifetime, time.Second, 24 * time.Hour},
		{"statement_timeout", c.StatementTimeout, time.Second, time.Hour},
		{"connect_timeout", c.ConnectTimeout, 100 * time.Millisecond, 5 * time.Minute},
	} {
		if d.value < d.least || d.value > d.most {
			bad(d.path, "must be between %s and %s", d.least, d.most)
		}
	}
	if len(c.Schema) > 63 {
		bad("schema", "must be at most 63 bytes")
	}
	return errors.Join(errs...)
}

// PoolSize is how many connections this process opens at most.
func (c Connection) PoolSize() int {
	if c.MaxConnections == 0 {
		return max(16, 8*runtime.GOMAXPROCS(0))
	}
	return c.MaxConnections
}

// Configure puts the settings into a driver's configuration. name is what the
// server calls the session where the DSN does not say.
func (c Connection) Configure(config *pgx.ConnConfig, name string) {
	config.ConnectTimeout = c.ConnectTimeout
	if config.RuntimeParams == nil {
		config.RuntimeParams = map[string]string{}
	}
	if _, ok := config.RuntimeParams["application_name"]; !ok {
		config.RuntimeParams["application_name"] = name
	}
	if c.Pooler {
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		config.StatementCacheCapacity, config.DescriptionCacheCapacity = 0, 0
	}
}

// Located adds to an error of a start where the address came from, when no setting gave it: an operator who
// forgot dsn would look for it in vain.
func (c Connection) Located(err error) error {
	if err == nil || c.DSN != "" {
		return err
	}
	return fmt.Errorf("%w (dsn is not set, so the PG* environment variables or their defaults say where the database is)", err)
}

// Limit is the statement that bounds those after it in a transaction. Settings go
// with each transaction: a pooler hands connections on between them.
func (c Connection) Limit() string {
	return "SET LOCAL statement_timeout = " + strconv.FormatInt(c.StatementTimeout.Milliseconds(), 10)
}

// Lock is the number of an advisory lock, which all of a database share.
func Lock(schema, name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("mneme\x00" + schema + "\x00" + name)) // never fails
	return int64(h.Sum64())
}
