package status_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/status"
)

// mumbling scores every text alike.
type mumbling struct{ coretest.Reranker }

func (mumbling) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	return slices.Repeat([]float32{.5}, len(texts)), 0, nil
}

// meeting is a reranker that meets someone first.
type meeting struct {
	coretest.Reranker
	meet func(context.Context) error
}

func (m meeting) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	if err := m.meet(ctx); err != nil {
		return nil, 0, err
	}
	return m.Reranker.Score(ctx, query, texts)
}

// mute embeds every text alike.
type mute struct{ *coretest.Embedder }

func (m mute) Embed(_ context.Context, _ port.TextKind, texts []string) (port.Dense, error) {
	d := port.Dense{Dim: coretest.Dimensions, Data: make([]float32, coretest.Dimensions*len(texts)),
		Tokens: make([]int, len(texts))}
	for i := range texts {
		d.Row(i)[0] = 1
	}
	return d, nil
}

// watched is a service with the caller and the clock that look at it.
type watched struct {
	*coretest.Fixture
	t      testing.TB
	ctx    context.Context
	health *status.Service
	ahead  atomic.Int64
}

// watch opens a service; change alters what it looks at.
func watch(t testing.TB, change func(*status.Settings)) *watched {
	t.Helper()
	began := time.Now()
	w := &watched{t: t}
	w.Fixture = coretest.New(t, coretest.Options{Now: func() time.Time { return began.Add(time.Duration(w.ahead.Load())) }})
	w.ctx = w.Caller(key.Issue{})
	s := status.Settings{Store: w.Store, Indexes: w.Indexes, Embedder: w.Embedder, Version: "test", Now: w.Now}
	if change != nil {
		change(&s)
	}
	w.health = status.New(s)
	return w
}

// kept is the last outcome where it is still kept, deep a new one.
func (w *watched) kept() *coretest.Reply {
	w.t.Helper()
	return coretest.Ask(w.ctx, w.t, w.health.Deep, coretest.Object{}).OK()
}

func (w *watched) deep() *coretest.Reply {
	w.t.Helper()
	w.ahead.Add(int64(6 * time.Second))
	return w.kept()
}

// finds checks the outcome and that of some parts, in pairs.
func finds(t testing.TB, what string, r *coretest.Reply, outcome string, parts ...string) {
	t.Helper()
	if r.JSON["status"] != outcome {
		t.Errorf("%s: %s", what, r.Body)
	}
	checks := checks(t, r)
	for i := 0; i+1 < len(parts); i += 2 {
		if checks[parts[i]] != parts[i+1] {
			t.Errorf("%s: %s is %q: %s", what, parts[i], checks[parts[i]], r.Body)
		}
	}
}

func checks(t testing.TB, r *coretest.Reply) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, c := range r.JSON["checks"].(coretest.Object) {
		out[name] = fmt.Sprint(c.(coretest.Object)["status"])
		if _, ok := c.(coretest.Object)["latency_ms"].(float64); !ok {
			t.Errorf("check %s: %v", name, c)
		}
	}
	return out
}

// everyModel leaves no role off.
func everyModel(s *status.Settings) {
	s.Sparse, s.Reranker = &coretest.SparseEncoder{}, coretest.Reranker{}
}

// TestHealth breaks one part after the other.
func TestHealth(t *testing.T) {
	t.Parallel()
	w := watch(t, everyModel)
	r := w.deep()
	coretest.Fields(t, "deep health with a key", r.JSON, "status", "time", "checks", "version")
	if got := fmt.Sprint(checks(t, r)); r.JSON["status"] != "ok" ||
		got != "map[keyword:ok probe:ok rerank:ok sparse:ok store:ok vector:ok]" {
		t.Errorf("checks: %s", got)
	}
	nobody := coretest.Ask(context.Background(), t, w.health.Deep, coretest.Object{}).OK()
	coretest.Fields(t, "deep health without a key", nobody.JSON, "status", "time")
	ctx := context.Background()
	err := w.Store.View(ctx, func(r port.Reader) error {
		generations, err := r.Generations(ctx)
		if len(generations) != 0 {
			t.Errorf("the probe wrote %v", generations)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}

	broken := func(r port.Retriever) {
		w.Index.OnSearch.Set(func(_ context.Context, _ port.Partition, q port.IndexQuery) error {
			if r == "" || q.Retriever == r {
				return errors.New("dead arm")
			}
			return nil
		})
	}
	broken(port.Vector)
	finds(t, "within five seconds", w.kept(), "ok")
	finds(t, "with a dead vector arm", w.deep(), "degraded", "vector", "error", "keyword", "ok", "probe", "error")
	broken("")
	finds(t, "with dead arms", w.deep(), "error", "probe", "error")
	w.Index.OnSearch.Clear()
	w.Embedder.Before.Set(func(context.Context, port.TextKind, []string) error { panic("boom") })
	finds(t, "with a panicking embedder", w.deep(), "degraded", "vector", "error")
	w.Embedder.Before.Clear()
	w.Store.OnPing.Set(func() error { return errors.New("disk gone") })
	finds(t, "with a broken store", w.deep(), "error", "store", "error")
	w.Store.OnPing.Clear()
	finds(t, "after everything recovered", w.deep(), "ok")

	// A clock that goes back does not keep an outcome for ever.
	w.Store.OnPing.Set(func() error { return errors.New("disk gone") })
	w.ahead.Add(-int64(time.Hour))
	finds(t, "an hour before the last look", w.kept(), "error")
}

// TestHealthOfModels: what is off is said, and a model that does not work takes no
// other part down.
func TestHealthOfModels(t *testing.T) {
	t.Parallel()
	with := func(change func(*status.Settings)) *coretest.Reply {
		t.Helper()
		return watch(t, change).deep()
	}
	// What is off works as the operator asked, and search does without it
	// (docs/contract.md#health-deep).
	finds(t, "without sparse and rerank", with(nil), "degraded", "sparse", "off", "rerank", "off", "keyword", "ok", "vector",
		"ok", "store", "ok", "probe", "ok")
	for off, change := range map[string]func(*status.Settings){
		"vector": func(s *status.Settings) { s.Embedder = nil },
		"sparse": func(s *status.Settings) { s.Sparse = nil },
		"rerank": func(s *status.Settings) { s.Reranker = nil },
	} {
		r := with(func(s *status.Settings) { everyModel(s); change(s) })
		finds(t, "without "+off, r, "degraded", off, "off", "probe", "ok")
	}
	finds(t, "with every model", with(everyModel), "ok", "sparse", "ok", "rerank", "ok")
	failing := &coretest.SparseEncoder{}
	failing.Before.Set(func(context.Context) error { return errors.New("boom") })
	finds(t, "with a broken encoder and a reranker that tells nothing apart", with(func(s *status.Settings) {
		s.Sparse, s.Reranker = failing, mumbling{}
	}), "degraded", "sparse", "error", "rerank", "error", "keyword", "ok", "vector", "ok")
	finds(t, "with an embedder that tells nothing apart", with(func(s *status.Settings) {
		s.Embedder = mute{coretest.NewEmbedder()}
	}), "degraded", "vector", "error")

	// Parts are looked at side by side: each of these waits for the other.
	met := make(chan struct{})
	meet := func(ctx context.Context) error {
		select {
		case met <- struct{}{}:
		case <-met:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	var once sync.Once
	waiting := &coretest.SparseEncoder{}
	waiting.Before.Set(func(ctx context.Context) (err error) {
		once.Do(func() { err = meet(ctx) })
		return err
	})
	finds(t, "with models that wait for each other", with(func(s *status.Settings) {
		s.Sparse, s.Reranker = waiting, meeting{meet: meet}
	}), "ok")
}

// An error is dated: by the first of the checks that found it, until one finds the part well.
func TestSinceWhenAPartFails(t *testing.T) {
	t.Parallel()
	w := watch(t, nil)
	since := func(r *coretest.Reply, part string) any {
		t.Helper()
		return r.JSON["checks"].(coretest.Object)[part].(coretest.Object)["since"]
	}
	for name := range checks(t, w.deep()) {
		if at := since(w.kept(), name); at != nil {
			t.Errorf("%s, which does not fail, does since %v", name, at)
		}
	}
	w.Store.OnPing.Set(func() error { return errors.New("disk gone") })
	first := w.deep()
	began := first.JSON["time"]
	if since(first, "store") != began || since(first, "probe") != began || since(first, "keyword") != nil {
		t.Errorf("a part that begins to fail: %s", first.Body)
	}
	w.Index.OnSearch.Set(func(context.Context, port.Partition, port.IndexQuery) error { return errors.New("dead arm") })
	second := w.deep()
	if second.JSON["time"] == began || since(second, "store") != began || since(second, "probe") != began ||
		since(second, "keyword") != second.JSON["time"] {
		t.Errorf("a part that goes on failing, beside another: %s", second.Body)
	}
	w.Store.OnPing.Clear()
	w.Index.OnSearch.Clear()
	if r := w.deep(); since(r, "store") != nil || since(r, "keyword") != nil {
		t.Errorf("parts that are well again: %s", r.Body)
	}
	w.Store.OnPing.Set(func() error { return errors.New("disk gone") })
	if again := w.deep(); since(again, "store") != again.JSON["time"] || since(again, "store") == began {
		t.Errorf("a part that fails again: %s", again.Body)
	}
}

// Each database of a store that is several has a check. One that is away degrades what is served, and the store as a
// whole says whether that goes on.
func TestDatabasesOfTheStore(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	w := watch(t, func(s *status.Settings) {
		everyModel(s)
		s.Databases = []port.StorePart{
			{Name: "home", Ping: func(context.Context) error { return nil }},
			{Name: "b", Ping: func(context.Context) error {
				if away.Load() {
					return errors.New("away")
				}
				return nil
			}},
		}
	})
	finds(t, "all there", w.deep(), "ok", "store", "ok", "store/home", "ok", "store/b", "ok")
	away.Store(true)
	finds(t, "one away", w.deep(), "degraded", "store", "ok", "store/home", "ok", "store/b", "error")
}
