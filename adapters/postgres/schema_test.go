package postgres_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/core/registry"
)

var server *postgrestest.Server

func TestMain(m *testing.M) {
	server = postgrestest.Start()
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func connection(dsn, schema string) postgres.Connection {
	c := postgres.DefaultConnection()
	c.DSN, c.Schema = registry.Secret(dsn), schema
	return c
}

func TestSchemaIsMeasuredAndDropped(t *testing.T) {
	dsn := server.Database(t)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, statement := range []string{
		`CREATE SCHEMA "apart; x"`, `CREATE TABLE "apart; x".words (w text PRIMARY KEY)`,
		`INSERT INTO "apart; x".words SELECT i::text FROM generate_series(1, 1000) i`,
		"CREATE SCHEMA other", "CREATE TABLE other.words (w text)",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	c := connection(dsn, "apart; x")
	before, err := c.Usage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(before.Tables) != 2 || before.Tables["words"] < 1000 || before.Tables["words_pkey"] < 1000 {
		t.Errorf("tables are %v", before.Tables)
	}
	if before.WAL <= 0 {
		t.Error("a primary says how much it has written ahead")
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", before.PID)); strings.TrimSpace(string(name)) != "postgres" {
			t.Errorf("process %d is called %q, %v", before.PID, name, err)
		}
	}
	if other, err := connection(dsn, "other").Usage(t.Context()); err != nil || other.Place == before.Place ||
		other.PID != before.PID {
		t.Errorf("another schema of the server: %+v beside %+v, %v", other, before, err)
	}
	if strings.Contains(before.Place, "@") {
		t.Errorf("the place %q names the user", before.Place)
	}
	for range 2 { // the second time there is none
		if err := c.DropSchema(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	after, err := c.Usage(t.Context())
	if err != nil || len(after.Tables) != 0 {
		t.Errorf("left are %v, %v", after.Tables, err)
	}
	if other, err := connection(dsn, "other").Usage(t.Context()); err != nil || len(other.Tables) != 1 {
		t.Errorf("the other schema has %v, %v", other.Tables, err)
	}
}

// Without a name everything in the default schema would go.
func TestSchemaMustBeNamed(t *testing.T) {
	for about, c := range map[string]postgres.Connection{
		"no schema":      connection("postgres://u:hunter2@127.0.0.1:1/d", ""),
		"no server":      connection("postgres://u:hunter2@127.0.0.1:1/d", "s"),
		"not a dsn":      connection("postgres://u:hunter2@%zz/d", "s"),
		"not any server": connection("", ""),
	} {
		_, err := c.Usage(t.Context())
		for _, err := range []error{err, c.DropSchema(t.Context())} {
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v", about, err)
			}
		}
	}
}
