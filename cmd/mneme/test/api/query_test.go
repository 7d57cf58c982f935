package api_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/port"
)

// library writes a small collection that the query tests share.
func library(s *server, ns string) {
	s.t.Helper()
	s.write(ns,
		doc("lease", "# Lease\n\nThe lease of the flat ends in May.\n\nThe rent is due on the first of the "+
			"month.\n\nPets are allowed with consent.", `{"lang":"en","kind":"contract","tags":["home","money"],"year":2024}`),
		doc("bread", "# Bread\n\nBread rises in a warm kitchen.\n\nSalt keeps the dough firm.",
			`{"lang":"en","kind":"recipe","tags":["food"],"year":2023}`),
		doc("brot", "# Brot\n\nDas Brot geht in einer warmen Küche auf.",
			`{"lang":"de","kind":"recipe","tags":["food"],"year":2023}`),
		doc("error", "The client logged ERR_CONN_RESET twice and then v1.2.3 crashed.",
			`{"lang":"en","kind":"log","year":2025,"open":true}`),
		doc("plain", "Nothing is known about this one.", ""))
}

func TestQueryAnswer(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		r := s.query("docs", object{"query": "when does the lease of the flat end"})
		fields(t, "an answer", r.json, "results", "score_kind", "model", "retrievers", "degraded",
			"truncated_candidates", "took_ms")
		if r.json["score_kind"] != "fused" || r.json["model"] != nil ||
			fmt.Sprint(r.json["retrievers"]) != "[vector keyword]" || len(r.list("degraded")) != 0 ||
			r.number("truncated_candidates") != 0 || r.number("took_ms") < 0 {
			t.Errorf("answer: %s", r.body)
		}
		hits := r.list("results")
		fields(t, "a hit", hits[0], "id", "document_id", "chunk_index", "heading", "start", "end", "text", "score", "metadata",
			"before", "after")
		if hits[0]["document_id"] != "lease" || hits[0]["id"] != "docs/lease" || hits[0]["chunk_index"] != 0.0 {
			t.Errorf("best hit: %v", hits[0])
		}
		for i, h := range hits {
			full := s.get("/namespaces/docs/documents/" + fmt.Sprint(h["document_id"])).ok()
			lo, hi := int(h["start"].(float64)), int(h["end"].(float64))
			if text := full.json["text"].(string); text[lo:hi] != h["text"] {
				t.Errorf("hit %d: the text %q is not bytes %d-%d of the document", i, h["text"], lo, hi)
			}
			if fmt.Sprint(h["metadata"]) != fmt.Sprint(full.json["metadata"]) {
				t.Errorf("hit %d: metadata %v, want %v", i, h["metadata"], full.json["metadata"])
			}
			score := h["score"].(float64)
			if score < 0 || score > 1 || i > 0 && score > hits[i-1]["score"].(float64) {
				t.Errorf("hit %d: score %v", i, score)
			}
		}
		if hits[0]["score"] != 1.0 {
			t.Errorf("a hit at the top of both lists has the score %v", hits[0]["score"])
		}
		if got := s.query("docs", object{"query": "ERR_CONN_RESET", "mode": "keyword"}).found(); !slices.Equal(got,
			[]string{"error"}) {
			t.Errorf("an identifier finds %v", got)
		}
		if r := s.query("docs", object{"query": "xyzzy", "mode": "keyword"}); len(r.found()) != 0 ||
			r.json["score_kind"] != b.keywordKind() {
			t.Errorf("no hits: %s", r.body)
		}
		// Equal texts score equally; ties are by document id, then chunk.
		s.write("ties", doc("b", "same words.", ""), doc("a", "same words.", ""), doc("c", "same words.\n\nsame words.", ""))
		for _, mode := range []string{"vector", "keyword", "hybrid"} {
			r := s.query("ties", object{"query": "same words", "mode": mode})
			var got []string
			for _, h := range r.list("results") {
				got = append(got, fmt.Sprint(h["document_id"], h["chunk_index"]))
			}
			if !slices.Equal(got, []string{"a0", "b0", "c0", "c1"}) {
				t.Errorf("%s: ties in the order %v", mode, got)
			}
		}
	})
}

func TestQueryRetrievers(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{sparse: &coretest.SparseEncoder{}})
		library(s, "docs")
		s.post("/namespaces", object{"name": "thin", "sparse": true}).ok()
		library(s, "thin")
		for _, c := range []struct {
			ns   string
			q    object
			want string
			kind string
		}{
			{"docs", object{}, "[vector keyword]", "fused"},
			{"docs", object{"mode": "hybrid"}, "[vector keyword]", "fused"},
			{"docs", object{"mode": "vector"}, "[vector]", "cosine"},
			{"docs", object{"mode": "keyword"}, "[keyword]", b.keywordKind()},
			{"docs", object{"retrievers": []string{"vector"}}, "[vector]", "cosine"},
			{"docs", object{"retrievers": []string{"keyword", "vector"}}, "[keyword vector]", "fused"},
			{"docs", object{"mode": nil, "retrievers": nil}, "[vector keyword]", "fused"},
			{"thin", object{}, "[vector keyword sparse]", "fused"},
			{"thin", object{"mode": "hybrid"}, "[vector keyword sparse]", "fused"},
			{"thin", object{"mode": "sparse"}, "[sparse]", "sparse"},
			{"thin", object{"retrievers": []string{"sparse", "vector"}}, "[sparse vector]", "fused"},
			{"thin", object{"mode": "vector"}, "[vector]", "cosine"},
		} {
			c.q["query"] = "the lease of the flat"
			r := s.query(c.ns, c.q)
			if fmt.Sprint(r.json["retrievers"]) != c.want || r.json["score_kind"] != c.kind ||
				r.found()[0] != "lease" || len(r.list("degraded")) != 0 {
				t.Errorf("%s %v: %s", c.ns, c.q, clip(r.body))
			}
		}
		for _, c := range []struct {
			q     object
			words []string
		}{
			{object{"mode": "sparse"}, []string{"sparse"}},
			{object{"retrievers": []string{"vector", "sparse"}}, []string{"sparse"}},
			{object{"mode": "fuzzy"}, []string{"mode"}},
			{object{"mode": "vector", "retrievers": []string{"vector"}}, []string{"mode", "retrievers"}},
			{object{"retrievers": []string{}}, []string{"retrievers"}},
			{object{"retrievers": []string{"bm25"}}, []string{"retrievers", "bm25"}},
			{object{"retrievers": []string{"vector", "vector"}}, []string{"retrievers", "vector"}},
			{object{"retrievers": "vector"}, []string{"retrievers"}},
		} {
			c.q["query"] = "x"
			s.post("/namespaces/docs/query", c.q).fails(400, "invalid_request", c.words...)
		}
	})
}

func TestQueryWeights(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		ask := func(q object) *reply { q["query"] = "bread in a warm flat with salt"; return s.query("docs", q) }
		order := func(r *reply) (out []string) {
			for _, h := range r.list("results") {
				if h["score"].(float64) > 0 {
					out = append(out, fmt.Sprint(h["document_id"], h["chunk_index"]))
				}
			}
			return out
		}
		// All weight on one retriever gives that one's order.
		if got, want := order(ask(object{"weights": object{"vector": 0, "keyword": 1}})),
			order(ask(object{"mode": "keyword"})); !slices.Equal(got, want[:len(got)]) || len(got) == 0 {
			t.Errorf("keyword alone by weight %v, by mode %v", got, want)
		}
		if got, want := order(ask(object{"weights": object{"vector": 10, "keyword": 0}})),
			order(ask(object{"mode": "vector"})); !slices.Equal(got[:2], want[:2]) {
			t.Errorf("vector alone by weight %v, by mode %v", got, want)
		}
		// Who names some has the others' defaults.
		some, all := ask(object{"weights": object{"keyword": 0}}), ask(object{"weights": object{"vector": 0.5, "keyword": 0}})
		if fmt.Sprint(some.json["results"]) != fmt.Sprint(all.json["results"]) {
			t.Error("a weight of 0 for one retriever takes the other's weight away")
		}
		// Only their ratio counts.
		one, ten := ask(object{"weights": object{"vector": 1, "keyword": 0.5}}),
			ask(object{"weights": object{"vector": 10, "keyword": 5}})
		if fmt.Sprint(one.json["results"]) != fmt.Sprint(ten.json["results"]) {
			t.Error("weights of the same ratio give different answers")
		}
		if def := ask(object{}); fmt.Sprint(def.json["results"]) != fmt.Sprint(one.json["results"]) {
			t.Error("vector .5 and keyword .25 are not the default weights")
		}
		for _, c := range []struct {
			weights any
			words   []string
		}{
			{object{"vector": -0.1}, []string{"weights.vector", "0-10"}},
			{object{"keyword": 10.1}, []string{"weights.keyword", "0-10"}},
			{object{"bm25": 1}, []string{"weights.bm25"}}, {object{"vector": 0, "keyword": 0}, []string{"weights"}},
			{object{}, []string{"weights"}},
			{object{"vector": "1"}, []string{"weights.vector"}}, {[]int{1}, []string{"weights"}}, {3, []string{"weights"}},
			{object{"vector": 0, "keyword": 0, "sparse": 1}, []string{"weights"}},
		} {
			s.post("/namespaces/docs/query", object{"query": "x", "weights": c.weights}).fails(400, "invalid_request", c.words...)
		}
	})
}

func TestQueryFilter(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		for _, c := range []struct {
			filter object
			want   []string // sorted
		}{
			{object{"lang": "de"}, []string{"brot"}},
			{object{"lang": object{"$eq": "de"}}, []string{"brot"}},
			{object{"tags": "food"}, []string{"bread", "brot"}},
			{object{"tags": object{"$in": []string{"money", "nothing"}}}, []string{"lease"}},
			{object{"year": 2023}, []string{"bread", "brot"}},
			{object{"year": "2023"}, []string{"bread", "brot"}},
			{object{"year": 2023.0}, []string{"bread", "brot"}},
			{object{"year": object{"$in": []any{"2024", 2025}}}, []string{"error", "lease"}},
			{object{"open": true}, []string{"error"}}, {object{"open": "true"}, []string{"error"}}, {object{"open": false}, nil},
			{object{"lang": "en", "kind": "recipe"}, []string{"bread"}},
			{object{"$or": []object{{"lang": "de"}, {"kind": "log"}}}, []string{"brot", "error"}},
			{object{"$and": []object{{"kind": "recipe"}, {"$or": []object{{"lang": "de"}, {"year": 1999}}}}}, []string{"brot"}},
			{object{"lang": "EN"}, nil}, {object{"none": "x"}, nil}, {object{"tags": "foo"}, nil},
		} {
			for _, mode := range []string{"hybrid", "vector", "keyword"} {
				got := s.query("docs", object{"query": "lease bread Brot client nothing", "filter": c.filter,
					"mode": mode, "max_chunks_per_document": 1}).found()
				slices.Sort(got)
				if !slices.Equal(got, c.want) && !(len(got) == 0 && len(c.want) == 0) {
					t.Errorf("%s %v: %v, want %v", mode, c.filter, got, c.want)
				}
			}
		}
		// The filter holds before the top-k cut: matches far down the ranking
		// are found.
		var docs []object
		for i := range 400 {
			docs = append(docs, doc(fmt.Sprintf("near%03d", i), "bread and butter for every breakfast table", `{"g":"near"}`))
		}
		docs = append(docs, doc("far", "a remote treatise that mentions breakfast once among many other matters", `{"g":"far"}`))
		for len(docs) > 0 {
			n := min(100, len(docs))
			s.write("many", docs[:n]...)
			docs = docs[n:]
		}
		for _, mode := range []string{"hybrid", "vector", "keyword"} {
			if got := s.query("many", object{"query": "bread and butter breakfast", "filter": object{"g": "far"},
				"mode": mode, "top_k": 1}).found(); !slices.Equal(got, []string{"far"}) {
				t.Errorf("%s: a match behind 400 better ones: %v", mode, got)
			}
			if got := s.query("many", object{"query": "bread and butter breakfast", "mode": mode,
				"top_k": 100}).found(); len(got) != 100 {
				t.Errorf("%s: %d hits of 100", mode, len(got))
			}
		}
	})
}

func TestQueryShape(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		ask := func(q object) []object {
			t.Helper()
			if q["query"] == nil {
				q["query"] = "the rent of the flat and the lease"
			}
			return s.query("docs", q).list("results")
		}
		if got := ask(object{}); len(got) > 10 {
			t.Errorf("%d hits by default", len(got))
		}
		for _, k := range []int{1, 2, 100} {
			if got := ask(object{"top_k": k}); len(got) > k || len(got) == 0 || k < 3 && len(got) != k {
				t.Errorf("top_k %d gives %d hits", k, len(got))
			}
		}
		all := ask(object{"top_k": 100})
		per := map[any]int{}
		for _, h := range all {
			per[h["document_id"]]++
		}
		if per["lease"] < 3 {
			t.Fatalf("the lease has %d hits", per["lease"])
		}
		for _, most := range []int{1, 2} {
			count := map[any]int{}
			hits := ask(object{"top_k": 100, "max_chunks_per_document": most})
			for _, h := range hits {
				if count[h["document_id"]]++; count[h["document_id"]] > most {
					t.Errorf("max_chunks_per_document %d: %v", most, column(hits, "document_id"))
				}
			}
			if len(count) != len(per) || count["lease"] != most {
				t.Errorf("max_chunks_per_document %d: %v of %v", most, count, per)
			}
		}
		// The cap does not cost hits: top_k is filled from other documents.
		if got := ask(object{"top_k": 4, "max_chunks_per_document": 1}); len(got) != 4 {
			t.Errorf("top_k 4 with one chunk a document gives %v", column(got, "document_id"))
		}

		chunks := s.get("/namespaces/docs/documents/lease?include=chunks").ok().list("chunk_list")
		for n := range 3 {
			for _, h := range ask(object{"neighbors": n, "top_k": 100, "filter": object{"kind": "contract"}}) {
				at := int(h["chunk_index"].(float64))
				check := func(side string, lo, hi int) {
					list := h[side].([]any)
					if len(list) != hi-lo {
						t.Errorf("neighbors %d: chunk %d has %d chunks %s, want %d", n, at, len(list), side, hi-lo)
						return
					}
					for i, v := range list {
						v, c := v.(object), chunks[lo+i]
						fields(t, "a neighbour", v, "chunk_index", "start", "end", "text")
						if v["chunk_index"] != c["index"] || v["start"] != c["start"] || v["end"] != c["end"] ||
							v["text"] != c["text"] {
							t.Errorf("neighbour %v, want %v", v, c)
						}
					}
				}
				check("before", max(0, at-n), at)
				check("after", at+1, min(len(chunks), at+1+n))
			}
		}

		h := ask(object{"include_text": false, "neighbors": 1})[0]
		if _, there := h["text"]; there || h["start"] == nil {
			t.Errorf("include_text false: %v", h)
		}
		for _, side := range []string{"before", "after"} {
			for _, v := range h[side].([]any) {
				if _, there := v.(object)["text"]; there {
					t.Errorf("include_text false, but %s has text", side)
				}
			}
		}
		if h := ask(object{"include_metadata": false})[0]; h["metadata"] != nil || h["text"] == nil {
			t.Errorf("include_metadata false: %v", h)
		}
		for _, h := range ask(object{"query": "nothing known about this one"}) {
			if _, ok := h["metadata"].(object); !ok {
				t.Errorf("no metadata shows as %v", h["metadata"])
			}
		}

		// explain.
		hits := ask(object{"explain": true, "top_k": 100})
		seen := map[string]map[float64]bool{"vector": {}, "keyword": {}}
		for i, h := range hits {
			e := h["explain"].(object)
			fields(t, "an explanation", e, "vector", "keyword", "sparse", "fused", "rerank")
			fused := e["fused"].(object)
			if e["sparse"] != nil || e["rerank"] != nil || fused["rank"] != float64(i+1) || fused["score"] != h["score"] {
				t.Errorf("hit %d: %v", i, e)
			}
			for list, ranks := range seen {
				r, ok := e[list].(object)
				if !ok {
					continue
				}
				rank := r["rank"].(float64)
				if ranks[rank] || rank < 1 {
					t.Errorf("%s rank %v twice", list, rank)
				}
				ranks[rank] = true
				if list == "keyword" {
					if terms, ok := r["terms"].([]any); !ok || len(terms) == 0 || r["score"].(float64) <= 0 {
						t.Errorf("keyword explanation %v", r)
					}
				} else if sc := r["score"].(float64); math.Abs(sc) > 1.001 {
					t.Errorf("cosine %v", sc)
				}
			}
		}
		for _, c := range []struct{ query, marked string }{ // by the index's own rules: stems, and identifiers whole
			{"ended by leasing", "The «lease» of the flat «ends» in May."},
			{"err_conn_reset", "The client logged «ERR_CONN_RESET» twice and then v1.2.3 crashed."},
			{"einer KÜCHE", "Das Brot geht in einer warmen «Küche» auf."},
		} {
			h := ask(object{"query": c.query, "mode": "keyword", "explain": true, "top_k": 1})[0]
			text, marked, at := h["text"].(string), "", 0
			for _, s := range h["explain"].(object)["keyword"].(object)["spans"].([]any) {
				lo, hi := int(s.(object)["start"].(float64)), int(s.(object)["end"].(float64))
				marked += text[at:lo] + "«" + text[lo:hi] + "»"
				at = hi
			}
			if marked += text[at:]; !strings.HasSuffix(marked, c.marked) {
				t.Errorf("%q marks %q, want %q", c.query, marked, c.marked)
			}
		}
		for _, h := range ask(object{"query": "lease", "mode": "vector", "explain": true}) {
			e := h["explain"].(object)
			if _, there := e["vector"].(object)["spans"]; there || e["keyword"] != nil {
				t.Errorf("a hit that keyword search did not find is marked: %v", e)
			}
		}
		if !seen["vector"][1] || !seen["keyword"][1] {
			t.Error("no hit has rank 1 in each list")
		}
		if _, there := ask(object{"explain": false})[0]["explain"]; there {
			t.Error("explain false explains")
		}
	})
}

func TestQueryMinScore(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{reranker: coretest.Reranker{}})
		library(s, "docs")
		q := "the rent of the flat"
		all := s.query("docs", object{"query": q, "mode": "vector", "top_k": 100}).list("results")
		bar := all[2]["score"].(float64)
		got := s.query("docs", object{"query": q, "mode": "vector", "top_k": 100, "min_score": bar}).list("results")
		if len(got) != 3 {
			t.Errorf("min_score %v keeps %d of %d", bar, len(got), len(all))
		}
		if got := s.query("docs", object{"query": q, "mode": "vector", "min_score": 1}).found(); len(got) != 0 {
			t.Errorf("min_score 1 keeps %v", got)
		}
		if got := s.query("docs", object{"query": q, "mode": "vector", "min_score": 0}).list("results"); slices.ContainsFunc(got,
			func(h object) bool { return h["score"].(float64) < 0 }) {
			t.Error("min_score 0 keeps a negative cosine")
		}
		for _, c := range []object{{}, {"mode": "keyword"}, {"mode": "hybrid"},
			{"retrievers": []string{"vector", "keyword"}}, {"rerank": false}} {
			c["query"], c["min_score"] = q, 0.5
			s.post("/namespaces/docs/query", c).fails(400, "invalid_request", "min_score")
		}
		for _, bad := range []any{-0.01, 1.01, "0.5", raw("1e999")} {
			body := any(object{"query": q, "mode": "vector", "min_score": bad})
			if r, ok := bad.(raw); ok {
				body = raw(`{"query":"x","mode":"vector","min_score":` + string(r) + `}`)
			}
			s.post("/namespaces/docs/query", body).fails(400, "invalid_request", "min_score")
		}
		r := s.query("docs", object{"query": "rent", "rerank": true, "min_score": 0.5, "top_k": 100})
		if r.json["score_kind"] != "rerank" || len(r.found()) != 1 {
			t.Errorf("min_score with rerank: %s", r.body)
		}
	})
}

// TestQueryDegrades: a retriever that fails or is too slow is named in the
// answer of the others, fails the call when strict, and when it is alone.
func TestQueryDegrades(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		failing := func(r port.Retriever, how func(context.Context) error) {
			hook := func(ctx context.Context, _ port.Partition, q port.IndexQuery) error {
				if q.Retriever == r || r == "" {
					return how(ctx)
				}
				return nil
			}
			s.index.OnSearch.Set(hook)
		}
		broken := func(context.Context) error { return errors.New("index on fire") }
		hanging := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		panicking := func(context.Context) error { panic("boom") }
		for i, c := range []struct {
			name   string
			set    func()
			part   string
			other  string
			reason string
			status int
			code   string
		}{
			{"vector search fails", func() { failing(port.Vector, broken) }, "vector", "keyword", "error", 503, "unavailable"},
			{"keyword search fails", func() { failing(port.Keyword, broken) }, "keyword", "vector", "error", 503, "unavailable"},
			{"keyword search panics", func() { failing(port.Keyword, panicking) }, "keyword", "vector", "error", 503,
				"unavailable"},
			{"keyword search hangs", func() { failing(port.Keyword, hanging) }, "keyword", "vector", "timeout", 504, "timeout"},
			{"the embedder fails", func() {
				s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { return errors.New("out of order") })
			}, "vector", "keyword", "error", 503, "unavailable"},
			{"the embedder panics", func() {
				s.embedder.Before.Set(func(context.Context, port.TextKind, []string) error { panic("boom") })
			}, "vector", "keyword", "error", 503, "unavailable"},
			{"the embedder hangs", func() { s.embedder.Before.Set(coretest.UntilDone) }, "vector", "keyword", "timeout",
				504, "timeout"},
		} {
			t.Run(c.name, func(t *testing.T) {
				c.set()
				defer s.embedder.Before.Clear()
				defer s.index.OnSearch.Clear()
				// Another query each time: encodings of queries are kept.
				n := 0
				ask := func(q object) *reply {
					n++
					q["query"] = fmt.Sprintf("the rent of the flat %d %d", i, n)
					return s.inTime("/namespaces/docs/query", q, c.reason == "timeout")
				}
				r := ask(object{}).ok()
				if d := r.list("degraded"); len(d) != 1 || d[0]["part"] != c.part || d[0]["reason"] != c.reason ||
					r.found()[0] != "lease" {
					t.Errorf("degraded: %s", clip(r.body))
				}
				if fmt.Sprint(r.json["retrievers"]) != "[vector keyword]" {
					t.Errorf("retrievers: %v", r.json["retrievers"])
				}
				refused := ask(object{"strict": true}).fails(c.status, c.code)
				alone := ask(object{"mode": c.part}).fails(c.status, c.code)
				if c.status == 503 {
					refused.retry()
					alone.retry()
				}
				for _, secret := range []string{"fire", "order", "boom"} {
					if strings.Contains(string(refused.body)+string(alone.body)+string(r.body), secret) {
						t.Errorf("the cause reached the caller: %s", refused.body)
					}
				}
				if r := ask(object{"mode": c.other}).ok(); len(r.list("degraded")) != 0 || r.found()[0] != "lease" {
					t.Errorf("the other alone: %s", clip(r.body))
				}
			})
		}
		failing("", broken)
		s.post("/namespaces/docs/query", object{"query": "rent"}).fails(503, "unavailable").retry()
		s.index.OnSearch.Clear()
		if r := s.query("docs", object{"query": "rent"}); len(r.list("degraded")) != 0 || len(r.found()) == 0 {
			t.Errorf("after everything recovered: %s", clip(r.body))
		}
	})
}

// TestQueryGivesUp: time limits and callers that leave end the work.
func TestQueryGivesUp(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		entered, left := make(chan struct{}, 8), make(chan struct{}, 8)
		s.embedder.Before.Set(func(ctx context.Context, as port.TextKind, texts []string) error {
			entered <- struct{}{}
			<-ctx.Done()
			left <- struct{}{}
			return ctx.Err()
		})
		begun := time.Now()
		s.post("/namespaces/docs/query", object{"query": "a", "mode": "vector"}, "X-Timeout-Ms", "1000").fails(504, "timeout")
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("a limit of a second was answered after %s", took)
		}
		await(t, "the model is told of the first call's end", left)
		await(t, "the first call entered the model", entered)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			<-entered
			cancel()
		}()
		if _, err := s.send(ctx, "POST", "/namespaces/docs/query", object{"query": "b", "mode": "vector"}); err == nil {
			t.Error("the cancelled call was answered")
		}
		await(t, "the model is told that the caller is gone", left)
	})
}

// TestQueryEncodingIsReused: the same query costs one model run.
func TestQueryEncodingIsReused(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		library(s, "docs")
		library(s, "more")
		first := s.query("docs", object{"query": "warm kitchen"})
		before := s.embedder.Queries()
		again := s.query("docs", object{"query": "warm kitchen"})
		s.query("more", object{"query": "warm kitchen", "top_k": 3})
		if s.embedder.Queries() != before {
			t.Errorf("the same query was embedded %d times more", s.embedder.Queries()-before)
		}
		if fmt.Sprint(first.json["results"]) != fmt.Sprint(again.json["results"]) {
			t.Error("the same query gave another answer")
		}
	})
}
