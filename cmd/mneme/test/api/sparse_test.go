package api_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// otherSparse is the same encoder under another identity.
type otherSparse struct{ *coretest.SparseEncoder }

func (o otherSparse) Info() port.ModelInfo {
	info := o.SparseEncoder.Info()
	info.ID, info.Digest = "test-sparse-new", "sha256:test-sparse-2"
	return info
}

// TestSparseNamespace: every chunk is found by its terms, through rewriting,
// deleting, filtering and a restart.
func TestSparseNamespace(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		// Three chunks a document: paragraphs are not joined.
		var docs []object
		for i := range 30 {
			docs = append(docs, doc(fmt.Sprintf("d%02d", i),
				fmt.Sprintf("alpha%d common.\n\nbeta%d common.\n\ngamma%d common.", i, i, i),
				fmt.Sprintf(`{"even":%t}`, i%2 == 0)))
		}
		if r := s.write("thin", docs...); r.number("chunks") != 90 {
			t.Fatalf("written: %s", clip(r.body))
		}
		sparse := func(query string, more object) []string {
			t.Helper()
			q := object{"query": query, "mode": "sparse", "top_k": 100}
			for k, v := range more {
				q[k] = v
			}
			r := s.query("thin", q)
			var out []string
			for _, h := range r.list("results") {
				out = append(out, fmt.Sprint(h["document_id"], "#", h["chunk_index"]))
			}
			if r.json["score_kind"] != "sparse" || len(r.list("degraded")) != 0 {
				t.Errorf("%s: %s", query, clip(r.body))
			}
			return out
		}
		check := func(query string, want ...string) {
			t.Helper()
			if got := sparse(query, nil); !slices.Equal(got, want) {
				t.Errorf("%s finds %v, want %v", query, got, want)
			}
		}
		for i := range 30 {
			id := fmt.Sprintf("d%02d", i)
			check(fmt.Sprint("alpha", i), id+"#0")
			check(fmt.Sprint("beta", i), id+"#1")
			check(fmt.Sprint("gamma", i), id+"#2")
		}
		if got := sparse("common", nil); len(got) != 90 {
			t.Errorf("a word of every chunk finds %d of 90", len(got))
		}
		if got := sparse("common", object{"filter": object{"even": true}}); len(got) != 45 ||
			slices.ContainsFunc(got, func(id string) bool { return (id[2]-'0')%2 == 1 }) {
			t.Errorf("filtered: %v", got)
		}
		check("nothing of this is there")

		// By default the sparse list takes part, and explain shows its place.
		hit := s.query("thin", object{"query": "beta7 common", "explain": true}).list("results")[0]
		if e, ok := hit["explain"].(object)["sparse"].(object); !ok || hit["document_id"] != "d07" ||
			e["rank"] != 1.0 || math.Abs(e["score"].(float64)-2) > .05 {
			t.Errorf("explained: %v", hit["explain"])
		}

		s.write("thin", doc("d07", "alpha7 common.\n\nanother common.", ""))
		check("beta7")
		check("another", "d07#1")
		check("alpha7", "d07#0")
		s.post("/namespaces/thin/documents/delete", object{"ids": []string{"d08"}}).ok()
		check("gamma8")
		s.write("thin", doc("d09", "alpha9 common.\n\nbeta9 common.\n\ngamma9 common.", `{"even":true}`)) // metadata alone
		if got := sparse("gamma9", object{"filter": object{"even": true}}); !slices.Equal(got, []string{"d09#2"}) {
			t.Errorf("after a change of metadata: %v", got)
		}

		s = s.restart(nil)
		check("another", "d07#1")
		check("gamma8")
		check("beta20", "d20#1")

		// A failing encoder writes nothing, and costs a query its sparse part only.
		broken := &coretest.SparseEncoder{}
		s = s.restart(func(o *options) { o.sparse = broken })
		failing := func(context.Context) error { return errors.New("boom") }
		broken.Before.Set(failing)
		if r := s.post("/namespaces/thin/documents",
			object{"documents": []object{doc("new", "delta common", "")}}); r.status < 500 ||
			strings.Contains(string(r.body), "boom") {
			t.Errorf("a write with a failing encoder: %d %s", r.status, r.body)
		}
		if slices.Contains(s.ids("thin"), "new") {
			t.Error("a failed write is there")
		}
		if r := s.query("thin", object{"query": "another common"}); !slices.Equal(column(r.list("degraded"), "part"),
			[]string{"sparse"}) || r.found()[0] != "d07" {
			t.Errorf("a query with a failing encoder: %s", clip(r.body))
		}
		broken.Before.Clear()
		s.write("thin", doc("new", "delta common", ""))
		check("delta", "new#0")
	})
}

// TestSparseIdentity: vectors of two sparse models never mix, and a namespace
// without them does not care.
func TestSparseIdentity(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		s.post("/namespaces", object{"name": "empty", "sparse": true}).ok()
		s.write("thin", doc("a", "some text", ""))
		s.write("plain", doc("a", "some text", ""))
		s = s.restart(func(o *options) { o.sparse = otherSparse{&coretest.SparseEncoder{}} })
		both := []string{"test-sparse", "sha256:test-sparse-1", "test-sparse-new", "sha256:test-sparse-2"}
		s.post("/namespaces/thin/query", object{"query": "text"}).fails(409, "conflict", both...)
		s.post("/namespaces/thin/query", object{"query": "text", "mode": "sparse"}).fails(409, "conflict", both...)
		for _, prefer := range []string{"", "respond-async"} {
			s.post("/namespaces/thin/documents", object{"documents": []object{doc("b", "more", "")}}, "Prefer", prefer).fails(409,
				"conflict", both...)
		}
		if got := s.ids("thin"); !slices.Equal(got, []string{"a"}) {
			t.Errorf("thin holds %v", got)
		}
		s.get("/namespaces/thin/documents/a").ok()
		s.query("plain", object{"query": "text"})
		s.write("plain", doc("b", "more", ""))
		s.write("empty", doc("b", "more", "")) // held nothing, so nothing mixes
		if r := s.get("/namespaces/empty").ok(); r.json["sparse"] != true || r.json["sparse_model"] != "test-sparse-new" {
			t.Errorf("written with the new model: %s", r.body)
		}
		// Deleting and creating it again is the remedy.
		s.do("DELETE", "/namespaces/thin", nil).ok()
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		s.write("thin", doc("a", "some text", ""))
		if got := s.query("thin", object{"query": "text", "mode": "sparse"}).found(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("created again: %v", got)
		}
	})
}

// tokenizing is a sparse encoder that gives word pieces too, between marks that
// it puts around every text. It counts encoded queries.
type tokenizing struct {
	*coretest.SparseEncoder
	queries atomic.Int32
}

func (e *tokenizing) Encode(ctx context.Context, as port.TextKind, texts []string) (port.Sparse, error) {
	if as == port.Query {
		e.queries.Add(1)
	}
	return e.SparseEncoder.Encode(ctx, as, texts)
}

func (e *tokenizing) TokenIDs(_ context.Context, _ port.TextKind, texts []string) ([][]uint32, error) {
	out := make([][]uint32, len(texts))
	for i, text := range texts {
		out[i] = append(out[i], coretest.Term("mark"))
		for _, w := range coretest.Words(text) {
			out[i] = append(out[i], coretest.Term(w))
		}
		out[i] = append(out[i], coretest.Term("mark"))
	}
	return out, nil
}

// TestSparseQueriesByFrequency: with sparse_queries idf no model runs for a
// query, whose words weigh ln(1 + N/df).
func TestSparseQueriesByFrequency(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		byFrequency := func(c *engine.Config) { c.SparseQueries = retrieve.IDFQueries }
		encoder := &tokenizing{SparseEncoder: &coretest.SparseEncoder{}}
		s := start(t, b, options{sparse: encoder, engine: byFrequency})
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		s.write("thin", doc("a", "common rare", ""), doc("b", "common common", ""), doc("c", "common other", ""),
			doc("d", "mark", ""))
		hits := s.query("thin", object{"query": "Rare, common; common!", "mode": "sparse"}).list("results")
		idf := func(df float64) float64 { return math.Log(1 + 4/df) }
		want := []struct {
			id    string
			score float64
		}{{"a", idf(1) + idf(3)}, {"b", 2 * idf(3)}, {"c", idf(3)}}
		if len(hits) != 3 {
			t.Fatalf("%d hits: %v", len(hits), hits)
		}
		for i, w := range want {
			if score := hits[i]["score"].(float64); hits[i]["document_id"] != w.id || math.Abs(score-w.score) > .025*w.score {
				t.Errorf("hit %d: %v %v, want %s %v", i, hits[i]["document_id"], score, w.id, w.score)
			}
		}
		// Frequencies are those of the moment.
		s.write("thin", doc("e", "rare", ""), doc("f", "rare", ""))
		s.post("/namespaces/thin/documents/delete", object{"ids": []string{"b", "c"}}).ok()
		hits = s.query("thin", object{"query": "rare common", "mode": "sparse"}).list("results")
		if score := hits[0]["score"].(float64); len(hits) != 3 || hits[0]["document_id"] != "a" ||
			math.Abs(score-(math.Log(1+4./3)+math.Log(5))) > .05 {
			t.Errorf("after changes: %v", hits)
		}
		if r := s.query("thin", object{"query": "?!", "mode": "sparse"}); len(r.found()) != 0 {
			t.Errorf("a query without words: %s", r.body)
		}
		if n := encoder.queries.Load(); n != 0 {
			t.Errorf("the encoder ran for %d queries", n)
		}

		// An encoder that gives no word pieces.
		s = s.restart(func(o *options) { o.sparse = &coretest.SparseEncoder{} })
		if r := s.query("thin", object{"query": "rare"}); !slices.Equal(column(r.list("degraded"), "part"), []string{"sparse"}) {
			t.Errorf("without word pieces: %s", r.body)
		}
	})
}
