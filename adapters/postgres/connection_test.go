package postgres_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/postgres"
)

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		about  string
		change func(*postgres.Connection)
		path   string // "": valid
	}{
		{"the default", func(*postgres.Connection) {}, ""},
		{"the fewest connections", func(c *postgres.Connection) { c.MaxConnections = 2 }, ""},
		{"one connection", func(c *postgres.Connection) { c.MaxConnections = 1 }, "max_connections"},
		{"the most connections", func(c *postgres.Connection) { c.MaxConnections = 1000 }, ""},
		{"the shortest idle time", func(c *postgres.Connection) { c.IdleTime = time.Second }, ""},
		{"the longest idle time", func(c *postgres.Connection) { c.IdleTime = 24 * time.Hour }, ""},
		{"too many connections", func(c *postgres.Connection) { c.MaxConnections = 1001 }, "max_connections"},
		{"no idle time", func(c *postgres.Connection) { c.IdleTime = 0 }, "idle_time"},
		{"a lifetime of days", func(c *postgres.Connection) { c.Lifetime = 25 * time.Hour }, "lifetime"},
		{"no time for a statement", func(c *postgres.Connection) { c.StatementTimeout = time.Millisecond }, "statement_timeout"},
		{"no time to connect", func(c *postgres.Connection) { c.ConnectTimeout = time.Millisecond }, "connect_timeout"},
		{"the longest name", func(c *postgres.Connection) { c.Schema = strings.Repeat("s", 63) }, ""},
		{"a name that is cut", func(c *postgres.Connection) { c.Schema = strings.Repeat("s", 64) }, "schema"},
	} {
		t.Run(c.about, func(t *testing.T) {
			connection := postgres.DefaultConnection()
			c.change(&connection)
			err := connection.Validate()
			if c.path == "" && err != nil || c.path != "" && (err == nil || !strings.HasPrefix(err.Error(), c.path+": ")) {
				t.Errorf("Validate: %v, want a problem of %q", err, c.path)
			}
		})
	}
}

// An error says that nothing in the configuration named the database, and stays what it is.
func TestLocated(t *testing.T) {
	c := postgres.DefaultConnection()
	refused := errors.New("connection refused")
	if err := c.Located(refused); !errors.Is(err, refused) || !strings.Contains(err.Error(), "dsn is not set") {
		t.Errorf("without dsn: %v", err)
	}
	if err := c.Located(nil); err != nil {
		t.Errorf("without an error: %v", err)
	}
	c.DSN = "postgres://u@h/d"
	if err := c.Located(refused); err != refused {
		t.Errorf("with dsn: %v", err)
	}
}

func TestConfigure(t *testing.T) {
	for _, c := range []struct {
		dsn, name string
		pooler    bool
		mode      pgx.QueryExecMode
	}{
		{"postgres://u@h/d", "given", false, pgx.QueryExecModeCacheStatement},
		{"postgres://u@h/d?application_name=own", "own", true, pgx.QueryExecModeExec},
	} {
		config, err := pgx.ParseConfig(c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		connection := postgres.DefaultConnection()
		connection.Pooler = c.pooler
		connection.Configure(config, "given")
		if got := config.RuntimeParams["application_name"]; got != c.name {
			t.Errorf("%s: session called %q, want %q", c.dsn, got, c.name)
		}
		if config.DefaultQueryExecMode != c.mode || (config.StatementCacheCapacity == 0) != c.pooler {
			t.Errorf("%s: mode %v with %d statements kept", c.dsn, config.DefaultQueryExecMode, config.StatementCacheCapacity)
		}
		if config.ConnectTimeout != connection.ConnectTimeout {
			t.Errorf("%s: connects within %v", c.dsn, config.ConnectTimeout)
		}
	}
}

// Of a pool that is not said, each processor has eight connections, and a small machine sixteen.
func TestPoolSize(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	c := postgres.DefaultConnection()
	for processors, want := range map[int]int{1: 16, 3: 24} {
		runtime.GOMAXPROCS(processors)
		if got := c.PoolSize(); got != want {
			t.Errorf("%d connections for %d processors, want %d", got, processors, want)
		}
	}
	c.MaxConnections = 5
	if got := c.PoolSize(); got != 5 {
		t.Errorf("%d connections, want the 5 that are set", got)
	}
}

func TestLimit(t *testing.T) {
	c := postgres.DefaultConnection()
	c.StatementTimeout = 1500 * time.Millisecond
	if got := c.Limit(); got != "SET LOCAL statement_timeout = 1500" {
		t.Errorf("the limit is %q", got)
	}
}

// Processes of two versions meet at one number.
func TestLock(t *testing.T) {
	for _, c := range []struct {
		schema, name string
		want         int64
	}{{"", "purge", -2698189512533811078}, {"mneme", "migrate", 5765297664421185022},
		{"mneme_index", "index", -580546631555342552}} {
		if got := postgres.Lock(c.schema, c.name); got != c.want {
			t.Errorf("Lock(%q, %q) = %d, want %d", c.schema, c.name, got, c.want)
		}
	}
}
