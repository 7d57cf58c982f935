package app_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/mnemehq/mneme/adapters/storage/postgres"
	"github.com/mnemehq/mneme/adapters/storage/postgres/postgrestest"
	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
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

// An administrator says in which database a new organization is to lie, and is told where each lies; each has a pool of
// its own.
func TestOrganizationsArePlacedByName(t *testing.T) {
	server := postgrestest.Start()
	t.Cleanup(server.Stop)
	r := components()
	postgres.Register(r)
	config := configured(t, r, t.TempDir(), fmt.Sprintf(`storage:
  postgres: { dsn: %q, place: home, max_connections: 16, databases: [{ name: b, dsn: %q }] }
`+modelless, server.Database(t), server.Database(t)))
	ctx := t.Context()
	a, err := app.Open(ctx, app.Settings{Registry: r, Config: config, Log: slog.New(slog.DiscardHandler), Command: "test",
		Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(context.WithoutCancel(ctx)) })
	issued, err := a.Keys.Issue(ctx, key.Issue{Name: "k", Kind: ident.Admin, AllOrganizations: true})
	if err != nil {
		t.Fatal(err)
	}
	call := func(method, path, body string) *httptest.ResponseRecorder {
		q := httptest.NewRequestWithContext(ctx, method, "http://localhost/admin/v1/organizations"+path, strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Authorization", "Bearer "+issued.Secret)
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, q)
		return w
	}
	for body, want := range map[string]string{`{"name":"there","database":"b"}`: "b", `{"name":"anywhere"}`: "home",
		`{"name":"here","database":"home"}`: "home"} {
		if w := call("POST", "", body); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"database":"`+want+`"`) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	if w := call("POST", "", `{"name":"nowhere","database":"d"}`); w.Code != http.StatusBadRequest {
		t.Errorf("in an unknown database: %d %s", w.Code, w.Body)
	}
	if w := call("PATCH", "/there", `{"name":"moved"}`); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), `"database":"b"`) {
		t.Errorf("renamed: %d %s", w.Code, w.Body)
	}
	all, err := a.Keys.Organizations(ctx)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range all {
		got[o.Name] = o.Database
	}
	want := map[string]string{"default": "home", "anywhere": "home", "here": "home", "moved": "b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("databases of organizations (-want +got):\n%s", diff)
	}
	figures := scrape(t, a)
	for database, most := range map[string]float64{"home": 20, "b": 16} {
		series := fmt.Sprintf(`mneme_pool_connections_max{database=%q,pool="store"}`, database)
		if figures[series] != most {
			t.Errorf("%s is %v, want %v", series, figures[series], most)
		}
	}
}

// A server goes on while one of its organizations is moved: what is in its indexes is found at every moment, writes are
// acknowledged or answered with 503 and when to try again, and what was acknowledged is found afterwards.
func TestServesWhileAnOrganizationMoves(t *testing.T) {
	server := postgrestest.Start()
	t.Cleanup(server.Stop)
	r := components()
	postgres.Register(r)
	storage := fmt.Sprintf(`storage:
  postgres: { dsn: %q, place: home, databases: [{ name: b, dsn: %q }] }
limits: { read: 600000/min burst 60000, write: 600000/min burst 60000 }
`+oneModel, server.Database(t), server.Database(t))
	config := configured(t, r, t.TempDir(), storage)
	ctx := t.Context()
	a, err := app.Open(ctx, app.Settings{Registry: r, Config: config, Log: slog.New(slog.DiscardHandler), Command: "test",
		Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(context.WithoutCancel(ctx)) })
	if _, err := a.Keys.CreateOrganization(ctx, "acme"); err != nil {
		t.Fatal(err)
	}
	issued, err := a.Keys.Issue(ctx, key.Issue{Org: "acme", Name: "k", Kind: ident.Service})
	if err != nil {
		t.Fatal(err)
	}
	call := func(path, body string) *httptest.ResponseRecorder {
		q := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+path, strings.NewReader(body))
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Authorization", "Bearer "+issued.Secret)
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, q)
		return w
	}
	write := func(n int) *httptest.ResponseRecorder {
		return call("/namespaces/docs/documents",
			fmt.Sprintf(`{"documents":[{"id":"d%d","text":"a quetzal with the word w%dw"}]}`, n, n))
	}
	finds := func(n int) bool {
		w := call("/namespaces/docs/query", fmt.Sprintf(`{"query":"w%dw"}`, n))
		if w.Code != http.StatusOK {
			t.Errorf("query: %d %s", w.Code, w.Body)
		}
		return strings.Contains(w.Body.String(), fmt.Sprintf(`"d%d"`, n))
	}
	if w := write(0); w.Code != http.StatusOK {
		t.Fatalf("write: %d %s", w.Code, w.Body)
	}
	moved := make(chan error, 1)
	var acked []int
	next, refused := 1, 0
	step := func() {
		switch w := write(next); {
		case w.Code == http.StatusOK:
			acked = append(acked, next)
		case w.Code == http.StatusServiceUnavailable && w.Header().Get("Retry-After") != "":
			refused++
		default:
			t.Errorf("write: %d %s", w.Code, w.Body)
		}
		next++
		if !finds(0) {
			t.Errorf("after write %d the first document is not found", next)
		}
	}
	beside := configured(t, r, t.TempDir(), storage)
	for _, to := range []string{"b", "home", "b"} {
		go func() {
			_, _, err := app.MoveOrganization(ctx, r, beside, slog.New(slog.DiscardHandler), "orgs move", "acme", to,
				func(port.MoveProgress) {})
			moved <- err
		}()
		for going := true; going; {
			select {
			case err := <-moved:
				going = false
				if err != nil {
					t.Fatal(err)
				}
			default:
				step()
			}
		}
		step()
	}
	if len(acked) == 0 || acked[len(acked)-1] != next-1 {
		t.Errorf("the last write, after the move, is not acknowledged: %d", acked)
	}
	for _, n := range acked {
		if !finds(n) {
			t.Errorf("document %d was acknowledged and is not found", n)
		}
	}
	t.Logf("%d writes, %d refused", len(acked), refused)
}
