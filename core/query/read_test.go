package query_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/document"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// counted is a store that counts snapshots and the documents that are read with
// their texts.
type counted struct {
	port.Store
	mu    sync.Mutex
	views int
	texts []string
}

func (c *counted) View(ctx context.Context, fn func(port.Reader) error) error {
	c.mu.Lock()
	c.views++
	c.mu.Unlock()
	return c.Store.View(ctx, func(r port.Reader) error { return fn(countedReader{r, c}) })
}

type countedReader struct {
	port.Reader
	c *counted
}

func (r countedReader) Documents(ctx context.Context, p port.Partition, ids []string,
	parts port.Part) ([]port.DocumentHead, error) {
	if parts&port.PartText != 0 {
		r.c.mu.Lock()
		r.c.texts = append(r.c.texts, ids...)
		r.c.mu.Unlock()
	}
	return r.Reader.Documents(ctx, p, ids, parts)
}

// take gives the counts since the last call.
func (c *counted) take() (views int, texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	views, texts = c.views, slices.Sorted(slices.Values(c.texts))
	c.views, c.texts = 0, nil
	return views, texts
}

// between is a reranker that does something before it scores.
type between struct {
	coretest.Reranker
	do func(texts []string)
}

func (b between) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	b.do(texts)
	return b.Reranker.Score(ctx, query, texts)
}

func TestAQueryReadsEachTextOnce(t *testing.T) {
	do := func([]string) {}
	store := &counted{}
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker = between{do: func(texts []string) { do(texts) }}
		store.Store, s.Store = s.Store, store
	})
	var ids []string
	var docs []document.Input
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("d%02d", i))
		docs = append(docs, text(ids[i], fmt.Sprintf("the lease of flat %d", i)))
	}
	h.write("home", docs...)
	ask := func(q query.Request) []string {
		t.Helper()
		q.Namespace, q.Query = "home", "lease flat"
		out, err := h.query(q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range out.Results {
			got = append(got, r.DocumentID+": "+*r.Text)
		}
		return got
	}
	reranked := query.Request{TopK: new(4), Rerank: []byte(`{"depth": 8}`)}

	store.take()
	shown := ask(query.Request{TopK: new(4)})
	if views, texts := store.take(); len(shown) != 4 || views != 2 || len(texts) != 4 {
		t.Errorf("%q from %d snapshots, texts read of %v; want 2, and four texts", shown, views, texts)
	}
	shown = ask(reranked)
	if views, texts := store.take(); len(shown) != 4 || views != 3 || len(texts) != 8 || len(slices.Compact(texts)) != 8 {
		t.Errorf("reranked %q from %d snapshots, texts read of %v; want 3, and eight texts once each", shown, views, texts)
	}

	// What is deleted or rewritten while the reranker runs is not shown as it was.
	first, second := shown[0][:3], shown[1][:3]
	do = func([]string) {
		do = func([]string) {}
		h.delete("home", first)
		h.write("home", text(second, "nothing of that kind"))
	}
	shown = ask(reranked)
	_, texts := store.take()
	for _, s := range shown {
		if strings.HasPrefix(s, first) || strings.HasPrefix(s, second) && s != second+": nothing of that kind" {
			t.Errorf("shown %q after %s was deleted and %s rewritten", s, first, second)
		}
	}
	if len(shown) != 4 || len(texts) != 9 || len(slices.Compact(texts)) != 8 {
		t.Errorf("%q, texts read of %v; want four, and none but the rewritten one twice", shown, texts)
	}

	// A namespace that goes while the reranker runs is said to be gone.
	do = func([]string) { h.delete("home", ids...) }
	reranked.Namespace, reranked.Query = "home", "lease flat"
	if _, err := h.query(reranked); fault.CodeOf(err) != fault.NamespaceNotFound ||
		!strings.Contains(err.Error(), "deleted during the query") {
		t.Errorf("a namespace that is gone: %v", err)
	}
}

// A query whose generation goes while it runs, as when a namespace is reindexed and what
// was served before is given up, is asked of the one that serves now.
func TestAQueryFollowsTheGeneration(t *testing.T) {
	do := func([]string) {}
	h := newHouse(t, coretest.Options{}, func(s *query.Settings) {
		s.Reranker = between{do: func(texts []string) { do(texts) }}
	})
	h.write("home", text("old", "the lease of the old flat"))
	rounds := 0
	do = func([]string) {
		if rounds++; rounds > 2 {
			return
		}
		h.delete("home", "old", fmt.Sprint("new", rounds-1))
		h.write("home", text(fmt.Sprint("new", rounds), "the lease of the new flat"))
	}
	out, err := h.query(query.Request{Namespace: "home", Query: "lease flat", Rerank: []byte(`{"depth": 8}`)})
	if err != nil || len(out.Results) != 1 || out.Results[0].DocumentID != "new2" || rounds != 3 {
		t.Errorf("after %d rounds %+v, %v; want what the third found", rounds, out.Results, err)
	}
}
