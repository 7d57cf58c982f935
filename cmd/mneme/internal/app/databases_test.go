package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// A server over several databases starts and serves while one of them is away, all but its organizations, which it serves
// once it is back.
func TestServesWithoutOneDatabase(t *testing.T) {
	server := postgrestest.Start()
	t.Cleanup(server.Stop)
	home, b := server.Database(t), server.Database(t)
	r := components()
	postgres.Register(r)
	config := configured(t, r, t.TempDir(), fmt.Sprintf(`storage:
  postgres: { dsn: %q, databases: [{ name: b, dsn: %q }] }
limits: { read: 60000/min burst 6000 }
`+modelless, home, b))
	start := func() *app.App {
		t.Helper()
		a, err := app.Open(t.Context(), app.Settings{Registry: r, Config: config, Log: slog.New(slog.DiscardHandler),
			Command: "test", Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	ctx := t.Context()
	a := start()
	if _, err := a.Keys.CreateOrganization(ctx, "other"); err != nil { // where there are the fewest
		t.Fatal(err)
	}
	secrets := map[string]string{}
	for name, org := range map[string]string{"home": ident.DefaultOrg, "b": "other"} {
		issued, err := a.Keys.Issue(ctx, key.Issue{Org: org, Name: name, Kind: ident.Service})
		if err != nil {
			t.Fatal(err)
		}
		secrets[name] = issued.Secret
	}
	if err := a.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	name := b[strings.LastIndexByte(b, '/')+1:]
	name, _, _ = strings.Cut(name, "?")
	rename := func(from, to string) {
		t.Helper()
		conn, err := pgx.Connect(ctx, server.DSN(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, "ALTER DATABASE "+from+" RENAME TO "+to); err != nil {
			t.Fatal(err)
		}
	}
	rename(name, name+"_away")
	a = start()
	t.Cleanup(func() { _ = a.Close(context.WithoutCancel(ctx)) })
	list := func(of string) int {
		return ask(t, a.Handler, http.MethodGet, "/namespaces", nil, "Authorization", "Bearer "+secrets[of]).Code
	}
	if got := list("home"); got != http.StatusOK {
		t.Errorf("an organization of the home, without the other: %d", got)
	}
	if got := list("b"); got != http.StatusServiceUnavailable {
		t.Errorf("one of the database that is away: %d", got)
	}
	rename(name+"_away", name)
	for got := 0; got != http.StatusOK; { // until the server looks again
		if got = list("b"); got != http.StatusOK && got != http.StatusServiceUnavailable {
			t.Fatalf("back again: %d", got)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
