package apitest_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/core/port"
)

// TestBuiltInModel runs the main path with the embedder that the binary carries:
// questions that share no word with their answers find them.
func TestBuiltInModel(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiling the model takes seconds")
	}
	m, err := wasm.Open(context.Background(), wasm.Default(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	e, ok := m.(port.Embedder)
	if !ok {
		t.Fatalf("%T is no embedder", m)
	}
	for _, b := range backends() {
		t.Run(b.name, func(t *testing.T) {
			s := start(t, b, options{embedder: e})
			s.write("docs",
				doc("loaf", "Wrap a loaf in a cloth and store it in a wooden box so that it does not dry out.", `{"kind":"home"}`),
				doc("notice", "The landlord must give three months of notice before the flat has to be vacated.", `{"kind":"home"}`),
				doc("daemon", "When the connection is refused, check that the daemon listens on the expected port.", ""),
				doc("long", strings.Repeat("Lighthouses guided sailors along the rocky coast for centuries. ", 60), ""),
				doc("odd", "👩‍👩‍👧 \u202e ﷽ 麺麭 \x7f", ""))
			for question, want := range map[string]string{"how can I keep bread fresh": "loaf", "when can a tenant be asked to move out": "notice",
				"my server does not respond to clients": "daemon", "navigation at sea": "long"} {
				for _, mode := range []string{"vector", "hybrid"} {
					r := s.query("docs", object{"query": question, "mode": mode, "top_k": 1})
					if got := r.found(); len(got) != 1 || got[0] != want || len(r.list("degraded")) != 0 {
						t.Errorf("%s: %q finds %s", mode, question, r.body)
					}
				}
			}
			if r := s.write("docs", doc("loaf", "Wrap a loaf in a cloth and store it in a wooden box so that it does not dry out.", `{"kind":"food"}`)); r.number("written") != 1 {
				t.Errorf("metadata only: %s", r.body)
			}
			if got := s.query("docs", object{"query": "keep bread fresh", "filter": object{"kind": "food"}}).found(); len(got) != 1 || got[0] != "loaf" {
				t.Errorf("by new metadata: %v", got)
			}
			if r := s.get("/health/deep").ok(); r.json["status"] != "ok" {
				t.Errorf("deep health: %s", r.body)
			}
			info := e.Info()
			n := s.get("/namespaces/docs").ok()
			if n.json["embedding_digest"] != info.Digest || info.Digest == "" || s.get("/models").ok().list("models")[0]["dimensions"] != 384.0 {
				t.Errorf("namespace %s of model %+v", n.body, info)
			}
			if r := s.get("/namespaces/docs/documents/long").ok(); r.number("chunks") < 3 {
				t.Errorf("a long paragraph is %v chunks", r.json["chunks"])
			}
			s.post("/namespaces/docs/query", object{"query": strings.Repeat("word ", 1600), "mode": "vector"}).ok() // over the window
		})
	}
}
