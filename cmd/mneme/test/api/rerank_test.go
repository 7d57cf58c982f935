package api_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

func TestQueryRerank(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		on := start(t, b, options{reranker: coretest.Reranker{}})
		off := start(t, b, options{})
		for _, s := range []*server{on, off} {
			library(s, "docs")
		}
		for _, rerank := range []any{true, object{}, object{"model": "test-rerank"}, object{"depth": 100},
			object{"model": "test-rerank", "depth": 3}} {
			r := on.query("docs", object{"query": "pets allowed", "rerank": rerank, "explain": true, "top_k": 3})
			hits := r.list("results")
			if r.json["score_kind"] != "rerank" || r.json["model"] != "test-rerank" || len(hits) != 3 ||
				!strings.Contains(fmt.Sprint(hits[0]["text"]), "Pets") {
				t.Errorf("rerank %v: %s", rerank, r.body)
			}
			for i, h := range hits {
				e := h["explain"].(object)["rerank"].(object)
				if e["rank"] != float64(i+1) || !(e["score"].(float64) > 0 && e["score"].(float64) < 1) {
					t.Errorf("rerank %v, hit %d: %v", rerank, i, h)
				}
			}
		}
		for _, none := range []any{false, nil} {
			if r := on.query("docs", object{"query": "pets", "rerank": none}); r.json["model"] != nil ||
				r.json["score_kind"] != "fused" {
				t.Errorf("rerank %v: %s", none, clip(r.body))
			}
		}
		for _, c := range []struct {
			rerank any
			words  []string
		}{
			{object{"model": "unknown"}, []string{"rerank.model", "unknown"}},
			{object{"depth": 0}, []string{"rerank.depth", "1-100"}},
			{object{"depth": 101}, []string{"rerank.depth", "1-100"}}, {object{"depth": 1.5}, []string{"rerank"}},
			{object{"top": 3}, []string{"rerank"}},
			{object{"Depth": 3}, []string{"rerank"}}, {"yes", []string{"rerank"}}, {1, []string{"rerank"}},
			{[]bool{true}, []string{"rerank"}},
		} {
			on.post("/namespaces/docs/query", object{"query": "x", "rerank": c.rerank}).fails(400, "invalid_request", c.words...)
		}

		// Off: named in the answer, or 503 when strict. A named model is unknown.
		r := off.query("docs", object{"query": "pets allowed", "rerank": true})
		if d := r.list("degraded"); len(d) != 1 || d[0]["part"] != "rerank" || d[0]["reason"] != "model_off" ||
			r.json["model"] != nil || r.json["score_kind"] != "fused" || len(r.found()) == 0 {
			t.Errorf("rerank while off: %s", r.body)
		}
		off.post("/namespaces/docs/query", object{"query": "x", "rerank": true, "strict": true}).fails(503,
			"unavailable", "rerank").stays()
		off.post("/namespaces/docs/query", object{"query": "x", "rerank": object{"model": "test-rerank"}}).fails(400,
			"invalid_request", "rerank.model")
	})
}

func TestRerank(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{reranker: coretest.Reranker{}})
		r := s.post("/rerank", object{"query": "warm bread",
			"documents": []string{"cold soup", "warm bread", "bread", strings.Repeat("word ", 600)}}).ok()
		fields(t, "a rerank answer", r.json, "results", "model", "truncated")
		if got := column(r.list("results"), "index"); !slices.Equal(got, []string{"1", "2", "0", "3"}) ||
			r.json["model"] != "test-rerank" || r.number("truncated") != 1 {
			t.Errorf("reranked: %s", r.body)
		}
		fields(t, "a score", r.list("results")[0], "index", "score")
		if got := s.post("/rerank", object{"query": "a", "documents": []string{"b", "a"}, "top_k": 1,
			"model": "test-rerank"}).ok().list("results"); len(got) != 1 || got[0]["index"] != 1.0 {
			t.Errorf("top_k 1: %v", got)
		}
		hundred := slices.Repeat([]string{"x"}, 100)
		if got := s.post("/rerank", object{"query": "a", "documents": hundred,
			"top_k": 100}).ok().list("results"); len(got) != 100 {
			t.Errorf("%d results of 100", len(got))
		}
		for _, c := range []struct {
			body  any
			words []string
		}{
			{object{"documents": []string{"x"}}, []string{"query"}},
			{object{"query": "", "documents": []string{"x"}}, []string{"query"}},
			{object{"query": "x"}, []string{"documents"}}, {object{"query": "x", "documents": []string{}}, []string{"documents"}},
			{object{"query": "x", "documents": append(hundred, "y")}, []string{"documents", "1-100", "101"}},
			{object{"query": "x", "documents": []any{"y", 3}}, []string{"documents[1]"}},
			{object{"query": "x", "documents": "y"}, []string{"documents"}},
			{object{"query": "x", "documents": []string{"y"}, "top_k": 0}, []string{"top_k", "1-100"}},
			{object{"query": "x", "documents": []string{"y"}, "top_k": 101}, []string{"top_k", "1-100"}},
			{object{"query": "x", "documents": []string{"y"}, "model": "other"}, []string{"model", "other"}},
			{object{"query": "x", "documents": []string{"y"}, "top_n": 1}, []string{"top_n"}},
			{object{"query": "x", "documents": []string{"y\x00"}}, []string{"NUL"}},
		} {
			s.post("/rerank", c.body).fails(400, "invalid_request", c.words...)
		}
		off := start(t, b, options{})
		off.post("/rerank", object{"query": "x", "documents": []string{"y"}}).fails(503, "unavailable", "rerank").stays()
		off.post("/rerank", object{"query": "x", "documents": []string{}}).fails(400, "invalid_request", "documents")
		off.post("/rerank", object{"query": "x", "documents": []string{"y"}, "model": "test-rerank"}).fails(400,
			"invalid_request", "model")
	})
}

// TestRerankTrouble: a reranker that fails, panics, answers nonsense or is too
// slow costs its order, not the answer.
func TestRerankTrouble(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		r := &faultyReranker{}
		s := start(t, b, options{reranker: r})
		library(s, "docs")
		for name, c := range map[string]struct {
			score  func(context.Context, []string) ([]float32, error)
			reason string
			status int
			code   string
		}{
			"fails": {func(context.Context, []string) ([]float32, error) { return nil, errors.New("out of order") },
				"error", 503, "unavailable"},
			"panics": {func(context.Context, []string) ([]float32, error) { panic("boom") }, "error", 503, "unavailable"},
			"forgets texts": {func(context.Context, []string) ([]float32, error) { return []float32{0.5}, nil },
				"error", 503, "unavailable"},
			"is unsure": {func(_ context.Context, texts []string) ([]float32, error) {
				return slices.Repeat([]float32{float32(math.NaN())}, len(texts)), nil
			}, "error", 503, "unavailable"},
			"exaggerates": {func(_ context.Context, texts []string) ([]float32, error) {
				return slices.Repeat([]float32{1.5}, len(texts)), nil
			}, "error", 503, "unavailable"},
			"hangs": {func(ctx context.Context, _ []string) ([]float32, error) { <-ctx.Done(); return nil, ctx.Err() },
				"timeout", 504, "timeout"},
		} {
			t.Run(name, func(t *testing.T) {
				r.score.Store(&c.score)
				q := object{"query": "the rent of the flat", "rerank": true}
				hangs := c.code == "timeout"
				got := s.inTime("/namespaces/docs/query", q, hangs).ok()
				if d := got.list("degraded"); len(d) != 1 || d[0]["part"] != "rerank" || d[0]["reason"] != c.reason ||
					got.json["model"] != nil ||
					got.json["score_kind"] != "fused" || got.found()[0] != "lease" {
					t.Errorf("degraded: %s", clip(got.body))
				}
				// A bar that was meant for the reranker's scores is not held against others.
				q["mode"], q["min_score"] = "vector", 0.99
				if got := s.inTime("/namespaces/docs/query", q, hangs).ok(); len(got.found()) < 5 ||
					got.json["score_kind"] != "cosine" {
					t.Errorf("min_score without a reranker's scores: %s", clip(got.body))
				}
				q["strict"] = true
				refused := s.inTime("/namespaces/docs/query", q, hangs).fails(c.status, c.code)
				if strings.Contains(string(refused.body)+string(got.body), "boom") ||
					strings.Contains(string(refused.body), "order") {
					t.Errorf("the cause reached the caller: %s", refused.body)
				}
			})
		}
		unsure := func(_ context.Context, texts []string) ([]float32, error) {
			return slices.Repeat([]float32{2}, len(texts)), nil
		}
		r.score.Store(&unsure)
		s.post("/rerank", object{"query": "x", "documents": []string{"y"}}).fails(502, "upstream_error", "test-rerank")
		if got := s.query("docs", object{"query": "xyzzy", "mode": "keyword", "rerank": true}); len(got.found()) != 0 {
			t.Errorf("reranking nothing: %s", got.body)
		}
	})
}

type faultyReranker struct {
	coretest.Reranker
	score atomic.Pointer[func(context.Context, []string) ([]float32, error)]
}

func (f *faultyReranker) Score(ctx context.Context, _ string, texts []string) ([]float32, int, error) {
	scores, err := (*f.score.Load())(ctx, texts)
	return scores, 0, err
}

// stated is a reranker that reads its score out of the text, as in "p0.75", and
// takes a text of more than ten words as cut.
type stated struct {
	coretest.Reranker
	texts atomic.Pointer[[]string] // of the last call
}

func (r *stated) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	r.texts.Store(&texts)
	out, cut := make([]float32, len(texts)), 0
	for i, text := range texts {
		_, after, _ := strings.Cut(text, " p")
		number, _, _ := strings.Cut(after, " ")
		p, err := strconv.ParseFloat(number, 32)
		if err != nil {
			return nil, 0, fmt.Errorf("text %q: %w", text, err)
		}
		out[i] = float32(p)
		if len(strings.Fields(text)) > 10 {
			cut++
		}
	}
	return out, cut, nil
}

// TestRerankScores: what a query shows of reranking, number by number.
func TestRerankScores(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		r := &stated{}
		s := start(t, b, options{reranker: r})
		s.write("docs",
			doc("a", "# Head\n\nwarm bread warm bread p0.3 end", ""), doc("b", "warm bread p0.3 end", ""),
			doc("c", "warm p0.9 end", ""),
			doc("d", "bread p0.02 and so many other words that it is cut at the end", ""), doc("e", "other matters p0.2 end", ""))
		logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
		for name, q := range map[string]object{"fused": {}, "one list": {"mode": "keyword"}, "cosines": {"mode": "vector"}} {
			q["query"], q["rerank"], q["explain"] = "warm bread", true, true
			got := s.query("docs", q)
			hits := got.list("results")
			if got.json["score_kind"] != "rerank" || got.json["model"] != "test-rerank" ||
				got.number("truncated_candidates") != 1 || len(hits) < 4 {
				t.Fatalf("%s: %s", name, got.body)
			}
			pairs := map[string]float64{"a": .3, "b": .3, "c": .9, "d": .02, "e": .2}
			fused, odds := make([]float64, len(hits)), make([]float64, len(hits))
			for i, h := range hits {
				fused[i] = h["explain"].(object)["fused"].(object)["score"].(float64)
				odds[i] = logit(pairs[fmt.Sprint(h["document_id"])])
			}
			moments := func(v []float64) (mean, deviation float64) {
				for _, x := range v {
					mean += x / float64(len(v))
				}
				for _, x := range v {
					deviation += (x - mean) * (x - mean) / float64(len(v))
				}
				return mean, math.Sqrt(deviation)
			}
			mean, spread := moments(fused)
			m, sd := moments(odds)
			// With so few candidates the prior weighs less and the floor lies lower.
			trust, d := float64(len(hits)-1)/9, retrieve.DefaultReranking()
			if name == "fused" {
				spread = max(spread, d.Spread)
			}
			for i, h := range hits {
				id := fmt.Sprint(h["document_id"])
				pair := h["explain"].(object)["rerank"].(object)
				if math.Abs(pair["score"].(float64)-pairs[id]) > 1e-6 {
					t.Errorf("%s: %s shows the pair's probability %v", name, id, pair)
				}
				want := 1 / (1 + math.Exp(-(max(odds[i], m+(d.Floor-3*(1-trust))*sd) + trust*d.Prior*sd*(fused[i]-mean)/spread)))
				if score := h["score"].(float64); math.Abs(score-want) > 1e-5 || i > 0 && score > hits[i-1]["score"].(float64) {
					t.Errorf("%s: %s has the score %v, want %v", name, id, score, want)
				}
				if id == "c" && pair["rank"] != 1.0 || id == "d" && pair["rank"] != float64(len(hits)) {
					t.Errorf("%s: %s is %v", name, id, pair)
				}
			}
		}
		if texts := *r.texts.Load(); !slices.Contains(texts, "Head\nwarm bread warm bread p0.3 end") {
			t.Errorf("the reranker reads no heading: %q", texts)
		}
		// Two texts that the reranker finds alike stand in fused order.
		if got := s.query("docs", object{"query": "warm bread", "rerank": true, "mode": "keyword"}).found(); slices.Index(got,
			"a") < 0 || slices.Index(got, "b") < 0 {
			t.Errorf("found %v", got)
		}

		// Only the head is scored; the rest stays behind it, in order, within 0-1,
		// and under any min_score.
		plain := s.query("docs", object{"query": "warm bread", "mode": "vector"}).found()
		got := s.query("docs", object{"query": "warm bread", "mode": "vector", "rerank": object{"depth": 2}, "explain": true})
		hits := got.list("results")
		if head, rest := got.found()[:2],
			got.found()[2:]; len(plain) != 5 || !slices.Equal(rest, plain[2:]) || !slices.Contains(head, plain[0]) ||
			!slices.Contains(head, plain[1]) {
			t.Errorf("depth 2 of %v: %v", plain, got.found())
		}
		for i, h := range hits {
			if score := h["score"].(float64); !(score >= 0 && score <= 1) || i > 0 && score > hits[i-1]["score"].(float64) {
				t.Errorf("hit %d has the score %v", i, score)
			}
			if (h["explain"].(object)["rerank"] == nil) != (i >= 2) {
				t.Errorf("hit %d: %v", i, h["explain"])
			}
		}
		if got := s.query("docs", object{"query": "warm bread", "mode": "vector", "rerank": object{"depth": 2},
			"min_score": 0}).found(); len(got) != 2 {
			t.Errorf("min_score 0 shows what was not scored: %v", got)
		}
	})
}

// TestRerankSettings: depth, prior and the number of texts are configuration.
func TestRerankSettings(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		r := &stated{}
		s := start(t, b, options{reranker: r, engine: func(c *engine.Config) {
			c.Reranking = &retrieve.Reranking{Prior: 0, Depth: 3}
			c.RerankDocuments = 2
		}})
		var docs []object
		for i := range 9 {
			docs = append(docs, doc(fmt.Sprint("d", i), "warm bread p0."+fmt.Sprint(9-i)+" end", ""))
		}
		s.write("docs", docs...)
		for topK, want := range map[int]int{1: 2, 2: 3, 9: 3} {
			hits := s.query("docs", object{"query": "warm bread", "rerank": true, "top_k": topK, "explain": true}).list("results")
			if n := len(*r.texts.Load()); n != want || len(hits) != topK {
				t.Errorf("top_k %d rescores %d texts, want %d", topK, n, want)
			}
			for _, h := range hits {
				if pair, ok := h["explain"].(object)["rerank"].(object); ok &&
					math.Abs(pair["score"].(float64)-h["score"].(float64)) > 1e-6 {
					t.Errorf("without a prior the score is %v and the pair's %v", h["score"], pair["score"])
				}
			}
		}
		if s.query("docs", object{"query": "warm bread", "rerank": object{"depth": 8}}); len(*r.texts.Load()) != 8 {
			t.Errorf("depth 8 rescores %d texts", len(*r.texts.Load()))
		}
		for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
			s.post(path, object{"query": "x", "documents": []string{"a p0.1", "b p0.2"}}).ok()
			s.post(path, object{"query": "x", "documents": []string{"a p0.1", "b p0.2", "c p0.3"}}).fails(400,
				"invalid_request", "documents", "1-2")
		}
	})
}

// counting is a reranker that counts tokens, one a word.
type counting struct{ coretest.Reranker }

func (counting) CountTokens(_ context.Context, texts []string) ([]int, error) {
	out := make([]int, len(texts))
	for i, text := range texts {
		out[i] = len(coretest.Words(text))
	}
	return out, nil
}

// TestRerankAliases sends what public clients send.
func TestRerankAliases(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{reranker: counting{}})
		texts := []string{"cold soup", "warm bread", "bread"}
		objects := []object{{"text": "cold soup", "id": 7}, {"text": "warm bread", "title": "x"}, {"text": "bread"}}
		mixed := []any{texts[0], objects[1], texts[2]}
		for name, c := range map[string]struct {
			path      string
			body      object
			documents bool
			n         int
		}{
			"Cohere v2": {"/v2/rerank",
				object{"model": "test-rerank", "query": "warm bread", "documents": texts, "top_n": 2, "max_tokens_per_doc": 4096},
				false, 2},
			"Cohere v2, all": {"/v2/rerank",
				object{"model": "test-rerank", "query": "warm bread", "documents": texts, "priority": 0}, false, 3},
			"Cohere v2 through a hub": {"/v2/rerank",
				object{"model": "test-rerank", "query": "warm bread", "documents": objects, "top_n": 10,
					"return_documents": true, "rank_fields": []string{"text"}}, true, 3},
			"Cohere v1": {"/v1/rerank",
				object{"model": "test-rerank", "query": "warm bread", "documents": texts, "top_n": 3,
					"return_documents": false, "max_chunks_per_doc": 10}, false, 3},
			"Cohere v1, objects": {"/v1/rerank",
				object{"query": "warm bread", "documents": objects, "return_documents": true, "rank_fields": nil}, true, 3},
			"Jina": {"/v1/rerank",
				object{"model": "test-rerank", "query": "warm bread", "documents": texts, "top_n": 1}, true, 1},
			"Jina, objects": {"/v1/rerank",
				object{"model": "", "query": "warm bread", "documents": mixed, "truncation": true, "return_embeddings": false},
				true, 3},
			"compatible servers' ones": {"/v1/rerank",
				object{"model": "test-rerank", "query": "warm bread", "documents": texts, "top_n": 3, "user": "u",
					"truncate": true, "return_documents": false}, false, 3},
		} {
			t.Run(name, func(t *testing.T) {
				r := s.post(c.path, c.body).ok()
				want := []string{"id", "results", "meta"}
				version := "2"
				if c.path == "/v1/rerank" {
					want = append(want, "model", "usage")
					version = "1"
					if u := r.json["usage"].(object); r.json["model"] != "test-rerank" || u["total_tokens"] != 3*2.0+5 {
						t.Errorf("model and usage: %s", r.body)
					}
				}
				fields(t, "the answer", r.json, want...)
				if m := r.json["meta"].(object); m["api_version"].(object)["version"] != version ||
					m["billed_units"].(object)["search_units"] != 1.0 {
					t.Errorf("meta %v", m)
				}
				if r.json["id"] != r.header.Get("X-Request-Id") {
					t.Errorf("id %v", r.json["id"])
				}
				results := r.list("results")
				if got := column(results, "index"); !slices.Equal(got, []string{"1", "2", "0"}[:c.n]) {
					t.Errorf("order %v", got)
				}
				for i, one := range results {
					score := one["relevance_score"].(float64)
					if !(score > 0 && score < 1) || i > 0 && score > results[i-1]["relevance_score"].(float64) {
						t.Errorf("score %v", score)
					}
					if !c.documents {
						fields(t, "a result", one, "index", "relevance_score")
						continue
					}
					fields(t, "a result", one, "index", "relevance_score", "document")
					at := int(one["index"].(float64))
					back, sent := one["document"].(object), any(nil)
					switch d := c.body["documents"].(type) {
					case []string:
						sent = object{"text": d[at]}
					case []object:
						sent = d[at]
					case []any:
						if sent = d[at]; at != 1 {
							sent = object{"text": d[at]}
						}
					}
					if fmt.Sprint(back) != fmt.Sprint(sent) {
						t.Errorf("document %v came back as %v", sent, back)
					}
				}
				plain := s.post("/rerank", object{"query": "warm bread", "documents": texts, "top_k": c.n}).ok()
				if got, want := column(results, "relevance_score"),
					column(plain.list("results"), "score"); !slices.Equal(got, want) {
					t.Errorf("scores %v, of POST /rerank %v", got, want)
				}
			})
		}
		for _, path := range []string{"/v1/rerank", "/v2/rerank"} {
			body := func(change object) object {
				out := object{"query": "x", "documents": []string{"y"}}
				maps.Copy(out, change)
				return out
			}
			for _, c := range []struct {
				change object
				words  []string
			}{
				{object{"query": ""}, []string{"query"}}, {object{"documents": []string{}}, []string{"documents"}},
				{object{"documents": nil}, []string{"documents"}},
				{object{"documents": []any{"y", 3}}, []string{"documents[1]", "text"}},
				{object{"documents": []any{object{"image": "https://host/x.png"}}}, []string{"documents[0]", "text"}},
				{object{"documents": []any{object{"text": 3}}}, []string{"documents[0]", "text"}},
				{object{"documents": []any{nil}}, []string{"documents[0]"}},
				{object{"documents": []string{"y\x00"}}, []string{"documents[0]", "NUL"}},
				{object{"documents": slices.Repeat([]string{"y"}, 101)}, []string{"1-100", "101"}},
				{object{"model": "rerank-v3.5"}, []string{"rerank-v3.5", "test-rerank"}},
				{object{"top_n": 0}, []string{"top_n"}}, {object{"top_n": "3"}, []string{"top_n"}},
				{object{"max_tokens_per_doc": 0}, []string{"max_tokens_per_doc"}},
				{object{"max_chunks_per_doc": -1}, []string{"max_chunks_per_doc"}},
				{object{"rank_fields": []string{"title"}}, []string{"rank_fields"}},
				{object{"truncation": false}, []string{"truncation"}},
				{object{"truncate": false}, []string{"truncate"}},
				{object{"return_embeddings": true}, []string{"return_embeddings"}},
				{object{"top_k": 1}, []string{"top_k"}}, {object{"Query": "x"}, []string{"Query"}},
			} {
				s.post(path, body(c.change)).fails(400, "invalid_request", c.words...)
			}
			s.post(path, body(nil), "Authorization", "").fails(401, "unauthorized")
			s.get(path).fails(405, "method_not_allowed", "POST")
			off := start(t, b, options{})
			off.post(path, body(nil)).fails(503, "unavailable", "rerank").stays()
			off.post(path, body(object{"model": "rerank-v3.5"})).fails(400, "invalid_request", "model")
		}
		// A model that cannot count tokens still says about how many there were.
		if u := start(t, b, options{reranker: coretest.Reranker{}}).post("/v1/rerank",
			object{"query": "four", "documents": []string{"eight by"}}).ok().json["usage"].(object); u["total_tokens"] != 3.0 {
			t.Errorf("usage %v", u)
		}
	})
}

var _ port.TokenCounter = counting{}
