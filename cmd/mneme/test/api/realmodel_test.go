package api_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// TestBuiltInModel runs the main path with the embedder that the binary carries:
// questions that share no word with their answers find them.
func TestBuiltInModel(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiling the model takes seconds")
	}
	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) {
			s := start(t, b, options{builtIn: []string{"embed"}})
			s.write("docs",
				doc("loaf", "Wrap a loaf in a cloth and store it in a wooden box so that it does not dry out.",
					`{"kind":"home"}`),
				doc("notice", "The landlord must give three months of notice before the flat has to be vacated.",
					`{"kind":"home"}`),
				doc("daemon", "When the connection is refused, check that the daemon listens on the expected port.", ""),
				doc("long", strings.Repeat("Lighthouses guided sailors along the rocky coast for centuries. ", 60), ""),
				doc("odd", "👩‍👩‍👧 \u202e ﷽ 麺麭 \x7f", ""))
			for question, want := range map[string]string{"how can I keep bread fresh": "loaf",
				"when can a tenant be asked to move out": "notice",
				"my server does not respond to clients":  "daemon", "navigation at sea": "long"} {
				for _, mode := range []string{"vector", "hybrid"} {
					r := s.query("docs", object{"query": question, "mode": mode, "top_k": 1})
					if got := r.found(); len(got) != 1 || got[0] != want || len(r.list("degraded")) != 0 {
						t.Errorf("%s: %q finds %s", mode, question, r.body)
					}
				}
			}
			if r := s.write("docs", doc("loaf",
				"Wrap a loaf in a cloth and store it in a wooden box so that it does not dry out.",
				`{"kind":"food"}`)); r.number("written") != 1 {
				t.Errorf("metadata only: %s", r.body)
			}
			if got := s.query("docs", object{"query": "keep bread fresh",
				"filter": object{"kind": "food"}}).found(); len(got) != 1 || got[0] != "loaf" {
				t.Errorf("by new metadata: %v", got)
			}
			if r := s.get("/health/deep").ok(); r.json["status"] != "degraded" {
				t.Errorf("deep health: %s", r.body)
			}
			info := s.models.Embedder.Info()
			n := s.get("/namespaces/docs").ok()
			if n.json["embedding_digest"] != info.Digest || info.Digest == "" ||
				s.get("/models").ok().list("models")[0]["dimensions"] != 384.0 {
				t.Errorf("namespace %s of model %+v", n.body, info)
			}
			if r := s.get("/namespaces/docs/documents/long").ok(); r.number("chunks") < 3 {
				t.Errorf("a long paragraph is %v chunks", r.json["chunks"])
			}
			// over the window
			s.post("/namespaces/docs/query", object{"query": strings.Repeat("word ", 1600), "mode": "vector"}).ok()
		})
	}
}

// TestBuiltInSparseAndReranker runs sparse search and reranking with the models
// that the binary carries.
func TestBuiltInSparseAndReranker(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiling the models takes seconds")
	}
	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) {
			s := start(t, b, options{builtIn: []string{"sparse", "rerank"}})
			s.post("/namespaces", object{"name": "docs", "sparse": true}).ok()
			docs := []object{
				doc("loaf", "Wrap a loaf of bread in a cloth and store it in a wooden box so that it does not dry out.", ""),
				doc("notice", "The landlord must give three months of notice before the tenant has to leave the apartment.", ""),
				doc("daemon", "When the connection is refused, check that the server listens on the expected port.", ""),
				doc("ship", "Lighthouses guided sailors along the rocky coast for centuries.\n\nA ship's captain reads "+
					"the tide tables.", ""),
				doc("odd", "👩‍👩‍👧 \u202e ﷽ 麺麭 \x7f", "")}
			if r := s.write("docs", docs...); r.json["sparse"] != true || r.number("chunks") != 6 {
				t.Errorf("written: %s", r.body)
			}
			questions := map[string]string{"how can I keep bread fresh": "loaf",
				"when can a tenant be asked to move out": "notice",
				"my server does not accept connections":  "daemon", "how did sailors find the coast": "ship"}
			ask := func(s *server) {
				t.Helper()
				for question, want := range questions {
					for _, q := range []object{{"mode": "sparse"}, {"mode": "sparse", "rerank": true},
						{"mode": "keyword", "rerank": true}} {
						q["query"], q["top_k"], q["strict"] = question, 2, true
						r := s.query("docs", q)
						if got := r.found(); len(got) == 0 || got[0] != want || r.number("truncated_candidates") != 0 {
							t.Errorf("%v finds %s", q, r.body)
						}
					}
				}
			}
			ask(s)
			info, rerank := s.models.Sparse.Info(), s.models.Reranker.Info()
			if n := s.get("/namespaces/docs").ok(); n.json["sparse_model"] != info.ID {
				t.Errorf("namespace %s of %+v", n.body, info)
			}
			for kind, m := range map[string]port.ModelInfo{"sparse": info, "rerank": rerank} {
				l := s.get("/models?kind=" + kind).ok().list("models")
				if len(l) != 1 || l[0]["id"] != m.ID || l[0]["digest"] != m.Digest || m.Digest == "" ||
					l[0]["dimensions"] != nil || l[0]["default"] != true {
					t.Errorf("models of kind %s: %v", kind, l)
				}
			}
			if r := s.get("/health/deep").ok(); r.json["status"] != "ok" {
				t.Errorf("deep health: %s", r.body)
			}

			texts := []string{docs[1]["text"].(string), docs[0]["text"].(string), docs[3]["text"].(string),
				strings.Repeat("Nothing about it. ", 400)}
			r := s.post("/rerank", object{"query": "how can I keep bread fresh", "documents": texts}).ok()
			results := r.list("results")
			if results[0]["index"] != 1.0 || r.number("truncated") != 1 || r.json["model"] != rerank.ID {
				t.Errorf("reranked: %s", r.body)
			}
			for _, x := range results {
				if p := x["score"].(float64); !(p > 0 && p < 1) || x["index"] != 1.0 && p >= results[0]["score"].(float64) {
					t.Errorf("score %v", x)
				}
			}
			// A score is the pair's own: other texts beside it do not change it.
			alone := s.post("/rerank", object{"query": "how can I keep bread fresh",
				"documents": texts[1:2]}).ok().list("results")[0]["score"].(float64)
			if d := alone - results[0]["score"].(float64); d > 1e-4 || d < -1e-4 {
				t.Errorf("alone %v, among others %v", alone, results[0]["score"])
			}
			jina := s.post("/v1/rerank", object{"query": "bread", "documents": []string{"warm bread"}}).ok()
			if u := jina.json["usage"].(object)["total_tokens"]; u != 3.0 {
				t.Errorf("tokens %v", u)
			}

			// The same documents by the questions' own words.
			ask(s.restart(func(o *options) {
				o.engine = func(c *engine.Config) { c.SparseQueries = retrieve.IDFQueries }
			}))
		})
	}
}
