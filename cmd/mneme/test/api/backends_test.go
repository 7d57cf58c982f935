package api_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/index/meilisearch"
	"github.com/mnemehq/mneme/adapters/index/opensearch"
	"github.com/mnemehq/mneme/adapters/index/opensearch/opensearchtest"
	indexpostgres "github.com/mnemehq/mneme/adapters/index/postgres"
	"github.com/mnemehq/mneme/adapters/standard"
	storepostgres "github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// backend is one set of adapters over a data folder. Opening the same folder
// again after everything is closed must find what was stored.
type backend struct {
	name string
	file string // of configs/examples, whose store and indexes it has
	// change alters the configuration for a folder; nil: nothing.
	change func(t testing.TB, dir string, c *configs.Config)
	// ranks: keyword search is on a server that takes its time to rebuild and whose
	// scores only rank, so a limit may cut through equals either way.
	ranks bool
}

// keywordKind is the score_kind of keyword search alone.
func (b backend) keywordKind() string {
	if b.ranks {
		return "fused"
	}
	return "bm25"
}

// database is the PostgreSQL of the tests that run over one, and cache keeps the
// models that they compile.
var (
	database *postgrestest.Server
	cluster  = opensearchtest.New()
	cache    string
)

func TestMain(m *testing.M) {
	var err error
	if cache, err = os.MkdirTemp("", "mneme-test-"); err != nil {
		panic(err)
	}
	database = postgrestest.Start()
	code := m.Run()
	database.Stop()
	cluster.Stop()
	_ = os.RemoveAll(cache) // the operating system's folder for such things
	os.Exit(code)
}

// laptop is the set of a server without any configuration, replicated that of
// several servers over one database.
var (
	laptop     = backend{name: "sqlite+embedded", file: "laptop.yaml"}
	replicated = backend{name: "postgres+embedded", file: "replicas.yaml"}
)

// distributed is the set over a cluster, which takes the place of all sets where the
// environment asks for it: the tests over it alone take as long as those over the others.
var distributed = backend{name: "postgres+opensearch", file: "distributed.yaml"}

// backends lists the sets that tests of what an index answers run over: each store and each
// index of configs/examples, read as a server reads them.
func backends() []backend {
	if opensearchtest.Whole() {
		return []backend{distributed}
	}
	all := []backend{laptop}
	if !testing.Short() { // the stores' own suite runs under the race detector, too
		all = append(all, backend{name: "postgres+postgres", file: "postgres.yaml"},
			backend{name: "postgres+meilisearch", file: "scaled-out.yaml", ranks: true})
	}
	return all
}

// each runs a test over every store and index. What hangs on how an index follows the
// changes of a store is told by everywhere, over the embedded index beside PostgreSQL as
// well. What no index decides is told over one set of each store, by stores, and what is
// decided before anything is stored or looked for over the laptop's alone, by once.
func each(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	over(t, test, backends()...)
}

func everywhere(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	if testing.Short() {
		over(t, test, laptop)
		return
	}
	over(t, test, append(backends(), replicated)...)
}

func stores(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	if testing.Short() {
		over(t, test, laptop)
		return
	}
	over(t, test, laptop, replicated)
}

func once(t *testing.T, test func(t *testing.T, b backend)) {
	t.Helper()
	over(t, test, laptop)
}

// sequential is a test whose calls come one after another and take long: the race
// detector, which -short stands for, would see nothing in it that others do not show.
func sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one call after another, and long under the race detector")
	}
}

func over(t *testing.T, test func(t *testing.T, b backend), sets ...backend) {
	t.Helper()
	t.Parallel()
	if opensearchtest.Whole() {
		if !slices.ContainsFunc(sets, func(b backend) bool { return b.name == distributed.name }) {
			t.Skip("LEFT OUT: it says nothing of an index")
		}
		sets = []backend{distributed}
	}
	for _, b := range sets {
		t.Run(b.name, func(t *testing.T) { test(t, b) })
	}
}

// configured is the default configuration of a data folder with the set's store and
// indexes: with a database and an index of Meilisearch of its own, and with the sizes
// that a test needs.
func (b backend) configured(t testing.TB, r *registry.Registry, dir string) *configs.Config {
	t.Helper()
	example, err := configs.Load(r, configs.Source{File: filepath.Join("../../../../configs/examples", b.file),
		Getenv: func(name string) (string, bool) {
			switch name {
			case "MNEME_DATA":
				return dir, true
			case "MNEME_POSTGRES_DSN":
				return dsn(t, dir), true
			case "MNEME_MEILISEARCH_URL":
				return searchConfig(t, dir).URL, true
			case "MNEME_MEILISEARCH_KEY":
				return cmp.Or(searchConfig(t, dir).APIKey.Reveal(), "none"), true
			case "MNEME_MEILISEARCH_PREFIX":
				return searchConfig(t, dir).IndexPrefix, true
			case "MNEME_OPENSEARCH_URL":
				return cluster.URL(t), true
			case "MNEME_OPENSEARCH_PREFIX":
				return clusterPrefix(t, dir), true
			}
			return "", false
		}})
	if err != nil {
		t.Fatalf("%s: %v", b.file, err)
	}
	c := configs.Default(r)
	c.DataDir, c.CacheDir = dir, cache
	c.Storage, c.Keyword, c.Vector, c.Sparse = example.Storage, example.Keyword, example.Vector, example.Sparse
	for _, s := range c.Indexes() {
		switch index := s.Config.(type) {
		case *embedded.Config:
			index.FlushChunks = 64 // small, so that segments and merges take part
		case *indexpostgres.Config:
			index.MaxConnections = 8 // of many servers at once
		case *opensearch.Config:
			index.Shards, index.Replicas = 1, 0 // one node holds a thousand
			index.Timeout = time.Minute         // of many servers at once
		}
	}
	if b.change != nil {
		b.change(t, dir, c)
	}
	return c
}

// embeddedAs changes the embedded index of every retriever that has one.
func embeddedAs(change func(*embedded.Config)) func(testing.TB, string, *configs.Config) {
	return func(_ testing.TB, _ string, c *configs.Config) {
		for _, s := range c.Indexes() {
			if index, ok := s.Config.(*embedded.Config); ok {
				change(index)
			}
		}
	}
}

// components is the registry of a stock program.
func components() *registry.Registry {
	r := registry.New()
	standard.Register(r)
	return r
}

// indexes are the distinct configurations of the set's indexes.
func (b backend) indexes(t testing.TB, dir string) (all []any) {
	t.Helper()
	for _, s := range b.configured(t, components(), dir).Indexes() {
		if !slices.ContainsFunc(all, func(x any) bool { return reflect.DeepEqual(x, s.Config) }) {
			all = append(all, s.Config)
		}
	}
	return all
}

// shared opens the store of a running server's folder as a second process does.
func (b backend) shared(t testing.TB, dir string) port.Store {
	t.Helper()
	r := components()
	store, err := r.Store.Open(context.Background(), b.configured(t, r, dir).Storage,
		registry.Env{Log: slog.New(slog.DiscardHandler), DataDir: dir, CacheDir: cache, Shared: true, Now: time.Now})
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	t.Cleanup(func() { _ = store.Close() }) // read alone
	return store
}

// forget removes what the closed indexes of a folder keep.
func (b backend) forget(t testing.TB, dir string) {
	t.Helper()
	for _, c := range b.indexes(t, dir) {
		switch c := c.(type) {
		case *embedded.Config:
			if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
				t.Fatal(err)
			}
		case *indexpostgres.Config:
			forgetIndexPostgres(t, c)
		case *meilisearch.Config:
			forgetMeilisearch(t, c)
		case *opensearch.Config:
			cluster.Delete(t, c.IndexPrefix)
		}
	}
}

// traces names what of the store and the indexes outside the folder holds the marker.
func (b backend) traces(t testing.TB, dir, marker string) (found []string) {
	t.Helper()
	if _, ok := b.configured(t, components(), dir).Storage.Config.(*storepostgres.Config); ok {
		found = tracesStorePostgres(t, dsn(t, dir), marker)
	}
	for _, c := range b.indexes(t, dir) {
		switch c := c.(type) {
		case *indexpostgres.Config:
			found = append(found, tracesIndexPostgres(t, c, marker)...)
		case *meilisearch.Config:
			found = append(found, tracesMeilisearch(t, c, marker)...)
		case *opensearch.Config:
			found = append(found, cluster.Traces(t, c.IndexPrefix, marker)...)
		}
	}
	return found
}

// dsn gives each folder a database of its own, whose address the folder keeps.
func dsn(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "dsn")
	kept, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		kept = []byte(database.Copy(t, "migrated", migrate))
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(file, kept, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(kept)
}

// clusterPrefixes are the names of the indexes of folders, which go with the test.
var clusterPrefixes sync.Map // string to string

func clusterPrefix(t testing.TB, dir string) string {
	t.Helper()
	prefix, was := clusterPrefixes.LoadOrStore(dir, "api"+strings.ToLower(rand.Text()))
	if !was {
		t.Cleanup(func() { cluster.Delete(t, prefix.(string)) })
	}
	return prefix.(string)
}

// migrate makes the store's schema in an empty database.
func migrate(dsn string) error {
	c := storepostgres.Default()
	c.DSN = registry.Secret(dsn)
	s, err := storepostgres.Open(context.Background(), c, storepostgres.Options{})
	if err != nil {
		return err
	}
	return s.Close()
}

// forgetIndexPostgres drops the tables of an index, which may share their schema
// with the store's.
func forgetIndexPostgres(t testing.TB, c *indexpostgres.Config) {
	t.Helper()
	inDatabase(t, c, func(ctx context.Context, conn *pgx.Conn, schema string) error {
		rows, err := conn.Query(ctx, `SELECT format('DROP TABLE %I.%I CASCADE', schemaname, tablename) FROM pg_tables `+
			`WHERE schemaname = $1 AND starts_with(tablename, 'index_')`, schema)
		if err != nil {
			return err
		}
		drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err == nil && len(drops) == 0 {
			err = errors.New("there are no tables of an index to drop")
		}
		for _, drop := range drops {
			if err == nil {
				_, err = conn.Exec(ctx, drop)
			}
		}
		return err
	})
}

func tracesIndexPostgres(t testing.TB, c *indexpostgres.Config, marker string) (found []string) {
	t.Helper()
	inDatabase(t, c, func(ctx context.Context, conn *pgx.Conn, schema string) error {
		table := pgx.Identifier{schema, "index_posting"}.Sanitize()
		rows, err := conn.Query(ctx, "SELECT DISTINCT 'postings of ' || generation FROM "+table+
			" WHERE position($1::bytea IN term) > 0 OR position($1::bytea IN data) > 0", []byte(marker))
		if err == nil {
			found, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	})
	return found
}

// tracesStorePostgres lists the tables with a row that holds the marker, in a column of text or
// of bytes.
func tracesStorePostgres(t testing.TB, dsn, marker string) (found []string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // read alone
	rows, err := conn.Query(ctx, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, table := range tables {
		var n int
		err := conn.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+" AS r "+
			"WHERE position(lower($1) IN lower(r::text)) > 0 OR position($2 IN r::text) > 0",
			marker, hex.EncodeToString([]byte(marker))).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d rows of %s", n, table))
		}
	}
	return found
}

// inDatabase uses an index's database beside the server.
func inDatabase(t testing.TB, c *indexpostgres.Config, fn func(ctx context.Context, conn *pgx.Conn, schema string) error) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.DSN.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(fn(ctx, conn, cmp.Or(c.Schema, "public")), conn.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}
