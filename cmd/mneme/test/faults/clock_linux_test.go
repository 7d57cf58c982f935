package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/index/embedded"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	transport "github.com/mnemehq/mneme/transports/http"
)

// clocked is the product in this process, with a clock that can be set.
type clocked struct {
	harness.Client
	ahead  *atomic.Int64
	engine *engine.Engine
	close  func()
}

func startClocked(t *testing.T, dir string, ahead *atomic.Int64, m port.Embedder) *clocked {
	t.Helper()
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	ctx := context.Background()
	store, err := sqlite.Open(ctx, dir, sqlite.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	index, err := embedded.Open(embedded.Default(), filepath.Join(dir, "index"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(ctx, engine.Config{
		Store:   store,
		Indexes: map[port.Retriever]port.Index{port.Vector: index, port.Keyword: index},
		Models:  engine.Models{All: []port.Model{m}, Embedder: m},
		Rates:   map[op.Class]ident.Rate{op.Rerank: {PerMinute: 60, Burst: 5}},
		Now:     now,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Keys().EnsureDefault(ctx); err != nil {
		t.Fatal(err)
	}
	h, err := transport.New(transport.Options{Set: e.Set()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	client := harness.Client{T: t, At: server.URL, HTTP: harness.HTTP()}
	return &clocked{Client: client, ahead: ahead, engine: e, close: func() {
		client.HTTP.CloseIdleConnections()
		server.Close()
		for _, end := range []func() error{func() error { return e.Close(ctx) }, index.Close, store.Close} {
			if err := end(); err != nil {
				t.Error(err)
			}
		}
	}}
}

func (c *clocked) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

func (c *clocked) issue(in key.Issue) key.Issued {
	c.T.Helper()
	in.Kind = ident.Service
	k, err := c.engine.Keys().Issue(context.Background(), in)
	if err != nil {
		c.T.Fatal(err)
	}
	return k
}

func (c *clocked) write(secret string, from, to, v int) {
	c.T.Helper()
	var docs []object
	for i := from; i < to; i++ {
		id := fmt.Sprintf("w0-%02d", i)
		docs = append(docs, object{"id": id, "text": documentText(id, v), "metadata": documentMetadata("w0", id, version{v, v})})
	}
	if a := c.As(secret).Call("POST", "/namespaces/clock/documents", object{"documents": docs}); a.Status != 200 {
		c.T.Fatalf("write: %s", a)
	}
}

// list reads pages from a cursor on.
func (c *clocked) list(secret, order, cursor string, pages int) (docs []document, next string) {
	c.T.Helper()
	for range pages {
		a := c.As(secret).Call("GET", "/namespaces/clock/documents?limit=4&order="+order+"&cursor="+url.QueryEscape(cursor), nil)
		var page struct {
			Documents  []document
			NextCursor *string `json:"next_cursor"`
		}
		if a.Status != 200 || json.Unmarshal(a.Body, &page) != nil {
			c.T.Fatalf("list by %s: %s", order, a)
		}
		docs = append(docs, page.Documents...)
		if page.NextCursor == nil {
			return docs, ""
		}
		cursor = *page.NextCursor
	}
	return docs, cursor
}

// TestClockGoesBack sets the clock back by days while the product runs, and
// starts it again with the clock still behind what is stored.
func TestClockGoesBack(t *testing.T) {
	model, err := wasm.Open(t.Context(), wasm.Default(), filepath.Join(os.Getenv("MNEME_CACHE"), "models"),
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	dir := t.TempDir()
	ahead := new(atomic.Int64)
	c := startClocked(t, dir, ahead, model.(port.Embedder))
	c.set(0)
	secret := c.issue(key.Issue{}).Secret
	c.write(secret, 0, 12, 1)
	before, _ := c.list(secret, "id", "", 99)
	byTime, cursor := c.list(secret, "updated_at", "", 1)

	c.set(-48 * time.Hour)
	c.write(secret, 0, 3, 2)   // replaced
	c.write(secret, 12, 14, 2) // new
	rest, _ := c.list(secret, "updated_at", cursor, 99)
	seen := map[string]int{}
	for _, d := range append(byTime, rest...) {
		seen[d.ID]++
	}
	for _, d := range before[3:] {
		if seen[d.ID] != 1 {
			t.Errorf("paging while the clock goes back shows %s %d times", d.ID, seen[d.ID])
		}
	}
	after, _ := c.list(secret, "id", "", 99)
	if len(after) != 14 {
		t.Fatalf("%d documents of 14 are listed", len(after))
	}
	for i, d := range before {
		if after[i].ID != d.ID || after[i].UpdatedAt.Before(d.UpdatedAt) || !after[i].CreatedAt.Equal(d.CreatedAt) {
			t.Errorf("%s was of %s and %s, is %s of %s and %s", d.ID, d.CreatedAt, d.UpdatedAt, after[i].ID,
				after[i].CreatedAt, after[i].UpdatedAt)
		}
	}
	sorted, _ := c.list(secret, "updated_at", "", 99)
	for i, d := range sorted {
		if d.UpdatedAt.Before(d.CreatedAt) {
			t.Errorf("%s was updated at %s before it was created at %s", d.ID, d.UpdatedAt, d.CreatedAt)
		}
		if i > 0 && d.UpdatedAt.After(sorted[i-1].UpdatedAt) {
			t.Errorf("newest first lists %s after %s", d.UpdatedAt, sorted[i-1].UpdatedAt)
		}
	}
	var space struct {
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
	}
	c.As(secret).OK("GET", "/namespaces/clock", nil).Into(&space)
	if space.CreatedAt.IsZero() || space.UpdatedAt.Before(space.CreatedAt) || space.CreatedAt.After(before[0].CreatedAt) {
		t.Errorf("the namespace is of %s and %s, its first document of %s", space.CreatedAt, space.UpdatedAt, before[0].CreatedAt)
	}

	// Keys: one that expires does so by the clock, one that is revoked stays so.
	c.set(0)
	expiring := c.issue(key.Issue{ExpiresAt: time.Now().Add(time.Hour)})
	revoked := c.issue(key.Issue{})
	use := func(secret string) int { return c.As(secret).Call("GET", "/namespaces/clock", nil).Status }
	if use(expiring.Secret) != 200 || use(revoked.Secret) != 200 {
		t.Error("fresh keys are refused")
	}
	c.set(2 * time.Hour)
	if got := use(expiring.Secret); got != 401 {
		t.Errorf("an expired key answers %d", got)
	}
	if err := c.engine.Keys().Revoke(context.Background(), key.Ref{ID: revoked.ID}); err != nil {
		t.Fatal(err)
	}
	c.set(-2 * time.Hour)
	if got := use(revoked.Secret); got != 401 {
		t.Errorf("a revoked key answers %d once the clock has gone back", got)
	}
	if got := use(secret); got != 200 {
		t.Errorf("a live key answers %d once the clock has gone back", got)
	}

	// Rate limits: going back gives nothing for free and locks nobody out.
	c.set(0)
	rerank := func() harness.Answer {
		return c.As(secret).Call("POST", "/rerank", object{"query": "x", "documents": []string{"y"}})
	}
	limited := harness.Answer{}
	for range 8 {
		if limited = rerank(); limited.Status == 429 {
			break
		}
	}
	if limited.Status != 429 {
		t.Fatalf("the limit is not reached: %s", limited)
	}
	c.set(-24 * time.Hour)
	a := rerank()
	if wait, err := strconv.Atoi(a.Header.Get("Retry-After")); a.Status != 429 || err != nil || wait < 1 || wait > 60 {
		t.Errorf("a limit once the clock has gone back: %s, Retry-After %q", a, a.Header.Get("Retry-After"))
	}
	c.set(-24*time.Hour + 3*time.Second)
	if a := rerank(); a.Status == 429 {
		t.Errorf("a limit stays used up since the clock has gone back: %s", a)
	}

	// Asynchronous writes go on.
	c.set(-72 * time.Hour)
	a = c.As(secret).Call("POST", "/namespaces/clock/documents",
		object{"documents": []object{{"id": "late", "text": "a late comer"}}}, "Prefer", "respond-async")
	if a.Status != 202 {
		t.Fatalf("an asynchronous write: %s", a)
	}
	harness.EventuallySees(t, "an accepted write is done", func() (bool, string) {
		state := c.As(secret).Call("GET", a.Header.Get("Location"), nil)
		return bytes.Contains(state.Body, []byte("succeeded")), state.String()
	})

	// A start with the clock behind.
	c.close()
	c = startClocked(t, dir, ahead, model.(port.Embedder))
	defer c.close()
	c.write(secret, 0, 1, 3)
	all, _ := c.list(secret, "id", "", 99)
	if len(all) != 15 {
		t.Errorf("%d documents of 15 are left after a start", len(all))
	}
	a = c.As(secret).Call("POST", "/namespaces/clock/query",
		object{"query": "version 3", "mode": "keyword", "filter": object{"version": 3}})
	var q queried
	if a.Status != 200 || json.Unmarshal(a.Body, &q) != nil || len(q.Results) == 0 || q.Results[0].DocumentID != "w0-00" {
		t.Errorf("a query after a start: %s", a)
	}
	if a := c.As(secret).Call("GET", "/health/deep", nil); a.Status != 200 || !bytes.Contains(a.Body, []byte(`"status":"ok"`)) {
		t.Errorf("deep health: %s", a)
	}
}
