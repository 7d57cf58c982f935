package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/tool"
)

// watched is a reranker that keeps what it is asked about, and whose scores may be the
// test's.
type watched struct {
	coretest.Reranker
	score func(texts []string) ([]float32, error) // nil: by shared words

	mu    sync.Mutex
	asked [][]string
}

func (w *watched) Score(ctx context.Context, query string, texts []string) ([]float32, int, error) {
	w.mu.Lock()
	w.asked = append(w.asked, texts)
	w.mu.Unlock()
	if w.score != nil {
		scores, err := w.score(texts)
		return scores, 0, err
	}
	return w.Reranker.Score(ctx, query, texts)
}

// take gives what was asked since the last call.
func (w *watched) take() [][]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked
	w.asked = nil
	return asked
}

// birds writes n texts about herons into a namespace, of which some share more words
// with "heron nest" than others.
func (b *bench) birds(namespace string, n int) {
	b.t.Helper()
	texts := map[string]string{}
	for i := range n {
		texts[fmt.Sprintf("%s%02d", namespace, i)] = "heron" + strings.Repeat(" nest", i%3) + fmt.Sprintf(" %s %d", namespace, i)
	}
	b.write(namespace, texts)
}

func ids(r *coretest.Reply) []string { return coretest.Column(r.List("results"), "id") }

// A search of one namespace gives eight documents unless asked for another number, each
// with its best passage (docs/contract.md#mcp-search).
func TestSearchOfANamespace(t *testing.T) {
	w := &watched{score: func(texts []string) ([]float32, error) {
		scores := make([]float32, len(texts))
		for i, t := range texts {
			scores[i] = 0.25
			if strings.Contains(t, "docs 7") {
				scores[i] = 0.123456
			} else if strings.Contains(t, "docs 8") {
				scores[i] = 0.987654
			}
		}
		return scores, nil
	}}
	b := newBench(t, w)
	b.birds("docs", 10)
	for _, c := range []struct{ top, n int }{{0, 8}, {1, 1}, {9, 9}, {20, 10}} {
		args := object{"query": "heron nest"}
		if c.top > 0 {
			args["top_k"] = c.top
		}
		r := b.search(docs, args).OK()
		hits := r.List("results")
		if degraded, listed := r.JSON["degraded"].([]any); len(hits) != c.n || !listed || len(degraded) != 0 {
			t.Errorf("top_k %d: %d results: %s", c.top, len(hits), r.Body)
		}
		first := hits[0]
		coretest.Fields(t, "a result", first, "id", "title", "url", "text", "score", "metadata")
		if first["id"] != "docs/docs08" || first["score"] != 0.9877 || first["text"] != "heron nest nest docs 8" ||
			first["url"] != "http://localhost/namespaces/docs/documents/docs08" || first["title"] != "heron nest nest docs 8" {
			t.Errorf("top_k %d: first is %v", c.top, first)
		}
		if last := hits[len(hits)-1]; c.n == 10 && (last["id"] != "docs/docs07" || last["score"] != 0.1235) {
			t.Errorf("last is %v", last)
		}
	}
	if asked := w.take(); len(asked) != 4 {
		t.Errorf("%d rerankings of four searches", len(asked))
	}
	b.search(docs, object{"query": "heron nest", "rerank": false}).OK()
	if asked := w.take(); len(asked) != 0 {
		t.Errorf("reranked, although not asked: %q", asked)
	}
	b.search(tool.Connection{}, object{"query": "heron", "namespace": "none"}).Fails(fault.NamespaceNotFound)
	b.search(docs, object{"query": "heron", "namespace": "none"}).Fails(fault.NamespaceNotFound)
	for _, c := range []tool.Connection{{Pinned: "none"}, {Header: "none"}} { // nothing was saved there yet
		got := b.search(c, object{"query": "heron"}).OK()
		if string(got.Body) != `{"results":[],"degraded":[]}` {
			t.Errorf("%+v: %s", c, got.Body)
		}
	}
	b.search(docs, object{"query": ""}).Fails(fault.InvalidRequest, "query")
	b.search(docs, object{"query": "x", "filter": object{"a": object{"$gt": 1}}}).Fails(fault.InvalidFilter, "$gt")
}

// A word by itself tells no language; said to be German, it is found in its other forms (docs/contract.md#ns-language).
func TestSearchInALanguage(t *testing.T) {
	b := newBench(t, nil)
	b.write("docs", map[string]string{"1": "Der Schrank ist voll.", "2": "Die Rechnung liegt im Schrank."})
	ahead := func(c tool.Connection, language string) float64 { // of the other document
		score := map[any]float64{}
		r := b.search(c, object{"query": "Rechnungen Schrank", "rerank": false, "language": language}).OK()
		for _, hit := range r.List("results") {
			score[hit["id"]] = hit["score"].(float64)
		}
		return score["docs/2"] - score["docs/1"]
	}
	for _, c := range []tool.Connection{docs, {}} {
		if en, de := ahead(c, "en"), ahead(c, "de"); de <= en {
			t.Errorf("%+v: %v ahead in German, %v in English", c, de, en)
		}
	}
	b.search(docs, object{"query": "x", "language": "deutsch"}).Fails(fault.InvalidRequest, "language")
}

// A search of several namespaces rescores as many candidates as that of one, twice what
// it gives: a first pass without the reranker divides them by how many of the best each
// namespace has, and one that has none is not asked again.
func TestSearchOfSeveralNamespacesDividesReranking(t *testing.T) {
	w := &watched{}
	b, all := newBench(t, w), tool.Connection{Host: "localhost"}
	b.birds("a", 9)
	b.birds("b", 6)
	b.write("c", map[string]string{"x": "saw c 0"})
	for _, top := range []int{1, 3, 4} {
		first := b.search(all, object{"query": "heron nest", "top_k": 2 * top, "rerank": false}).OK()
		if n := len(first.List("results")); n != 2*top {
			t.Fatalf("%d candidates, want %d", n, 2*top)
		}
		share := map[string]int{}
		for _, id := range ids(first) {
			share[id[:1]]++
		}
		w.take()
		r := b.search(all, object{"query": "heron nest", "top_k": top}).OK()
		hits := r.List("results")
		asked := w.take()
		got := map[string]int{}
		for _, texts := range asked {
			for _, t := range texts {
				got[strings.Fields(t)[len(strings.Fields(t))-2]]++
			}
		}
		if len(hits) != top || len(asked) != len(share) || fmt.Sprint(got) != fmt.Sprint(share) {
			t.Errorf("top_k %d: %d results; rescored %v, want %v", top, len(hits), got, share)
		}
		if !slices.IsSortedFunc(hits, func(a, b object) int { return int(1e6*b["score"].(float64) - 1e6*a["score"].(float64)) }) {
			t.Errorf("not best first: %s", r.Body)
		}
	}
}

// What the reranker has scored comes before what it has not, whose scores are on
// another scale; of the same score the first by id.
func TestRescoredHitsComeFirst(t *testing.T) {
	w := &watched{score: func(texts []string) ([]float32, error) {
		if strings.Contains(texts[0], " a ") {
			return nil, errors.New("broken pipe")
		}
		return slices.Repeat([]float32{0.0001}, len(texts)), nil
	}}
	b, all := newBench(t, w), tool.Connection{}
	b.write("a", map[string]string{"2": "heron nest a 0", "1": "heron nest a 0"})
	b.write("b", map[string]string{"2": "heron nest b 0", "1": "heron nest b 0"})
	b.write("c", map[string]string{"1": "heron nest a 0"})
	r := b.search(all, object{"query": "heron nest"}).OK()
	if got := ids(r); !slices.Equal(got, []string{"b/1", "b/2", "a/1", "a/2", "c/1"}) {
		t.Errorf("%q: %s", got, r.Body)
	}
	// Both failures are the same, and said once.
	if got, _ := json.Marshal(r.JSON["degraded"]); string(got) != `[{"part":"rerank","reason":"error"}]` {
		t.Errorf("degraded: %s", got)
	}
}

// A namespace that was emptied since it was listed is passed over, in either pass; any
// other failure is the search's.
func TestANamespaceThatIsGoneIsPassedOver(t *testing.T) {
	for _, when := range []string{"before the first pass", "before the second"} {
		var b *bench
		empty := sync.OnceFunc(func() { b.delete("a", "a00", "a01") })
		w := &watched{}
		b = newBench(t, w)
		b.birds("a", 2)
		b.birds("b", 2)
		if when == "before the first pass" {
			views := 0
			b.Store.OnView.Set(func() error {
				if views++; views == 2 { // the first lists the namespaces
					b.Store.OnView.Clear()
					empty()
				}
				return nil
			})
		} else {
			b.Index.OnSearch.Set(func(_ context.Context, p port.Partition, _ port.IndexQuery) error {
				if p.Name() == "b" { // the last of the first pass
					b.Index.OnSearch.Clear()
					empty()
				}
				return nil
			})
		}
		got := ids(b.search(tool.Connection{}, object{"query": "heron nest"}).OK())
		if !slices.Equal(got, []string{"b/b01", "b/b00"}) {
			t.Errorf("%s: %q", when, got)
		}
	}
}

// A search that can't be done at all fails, in either pass.
func TestASearchThatFails(t *testing.T) {
	b := newBench(t, coretest.Reranker{})
	b.birds("a", 2)
	b.birds("b", 2)
	for what, c := range map[string]struct {
		namespace string
		after     int // searches of the namespace that succeed
	}{
		"first pass, first":  {"a", 0},
		"first pass, last":   {"b", 0},
		"second pass, first": {"a", 2},
		"second pass, last":  {"b", 2},
	} {
		var mu sync.Mutex
		n := 0
		b.Index.OnSearch.Set(func(_ context.Context, p port.Partition, _ port.IndexQuery) error {
			mu.Lock()
			defer mu.Unlock()
			if p.Name() != c.namespace {
				return nil
			}
			if n++; n > c.after {
				return errors.New("broken")
			}
			return nil
		})
		b.search(tool.Connection{}, object{"query": "heron nest"}).Fails(fault.Unavailable)
		if n <= c.after {
			t.Errorf("%s: only %d searches", what, n)
		}
	}
}

// An answer stays small enough to be read, and what is left out is named
// (docs/contract.md#mcp-search).
func TestAResultIsShort(t *testing.T) {
	b := newBench(t, nil)
	b.write("docs", map[string]string{"a": strings.Repeat("é", 900)})
	r := b.search(docs, object{"query": "é"}).OK()
	if text := r.List("results")[0]["text"].(string); utf8.RuneCountInString(text) != 700 {
		t.Errorf("a text of %d characters", utf8.RuneCountInString(text))
	}
	if got, _ := json.Marshal(r.JSON["degraded"]); string(got) != `[{"part":"rerank","reason":"model_off"}]` {
		t.Errorf("degraded: %s", got)
	}
}
