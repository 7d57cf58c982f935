package api_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
)

// TestMemorySearchScopes restricts by container and time inside the index: what
// lies outside never takes a place of what lies inside.
func TestMemorySearchScopes(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		s := start(t, b, options{}).integration("app", nil)
		// 300 memories outside that match better than the 3 inside.
		for i := 0; i < 300; i += 100 {
			var list []object
			for k := range 100 {
				list = append(list, object{"content": fmt.Sprintf("apple apple apple pie %d", i+k),
					"containerTag": "noise", "occurredAt": "2026-01-01T00:00:00Z"})
			}
			s.post("/api/v1/memories/batch", object{"endUserId": "ann", "memories": list}).ok()
		}
		in := []string{s.save("ann", "One apple among pears and plums.", "containerTag", "quiet", "occurredAt",
			"2026-02-01T00:00:00Z"),
			s.save("ann", "An apple, said the pear to the plum.", "containerTag", "quiet", "occurredAt", "2026-02-02T00:00:00Z"),
			s.save("ann", "Plums are no apple, pears are not either.", "containerTag", "quiet", "occurredAt",
				"2026-02-03T00:00:00Z")}
		const day1, day2, day3 = 1769904000000, 1769990400000, 1770076800000
		for name, c := range map[string]struct {
			scope []any
			want  []string
		}{
			"container":        {[]any{"containerTag", "quiet"}, in},
			"container alias":  {[]any{"container_tag", "quiet"}, in},
			"both spellings":   {[]any{"container_tag", "quiet", "containerTag", "quiet"}, in},
			"after":            {[]any{"createdAfter", day1 - 1}, in},
			"after, exclusive": {[]any{"createdAfter", day1}, in[1:]},
			"after alias":      {[]any{"created_after", day2}, in[2:]},
			"between":          {[]any{"createdAfter", day1, "createdBefore", day3}, in[1:2]},
			"between aliases":  {[]any{"created_after", day1, "created_before", day3}, in[1:2]},
			"exclusive before": {[]any{"containerTag", "quiet", "createdBefore", day3}, in[:2]},
			"all three":        {[]any{"containerTag", "quiet", "createdAfter", day1 - 1, "createdBefore", day1 + 1}, in[:1]},
			"nothing between":  {[]any{"createdAfter", day1, "createdBefore", day1 + 1}, nil},
			"other case":       {[]any{"containerTag", "Quiet"}, nil},
			"no such tag":      {[]any{"containerTag", "qui"}, nil},
			"negative bounds":  {[]any{"createdAfter", -5, "createdBefore", -1}, nil},
		} {
			got := column(s.search("ann", "apple", append(c.scope, "limit", 100)...), "id")
			want := slices.Clone(c.want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: found %d, want %d", name, len(got), len(want))
			}
		}
		if got := s.search("ann", "apple", "limit", 100); len(got) != 100 {
			t.Errorf("without a scope: %d", len(got))
		}
		if got := s.search("ann", "apple"); len(got) != 10 {
			t.Errorf("the default limit gives %d", len(got))
		}
		// A long tag, and one of a memory at the first moment of 1970 and before.
		long := strings.Repeat("t.:_-9aZ", 16)
		id := s.save("ann", "A long tag.", "containerTag", long, "occurredAt", "1970-01-01T00:00:00Z")
		if got := s.search("ann", "tag", "containerTag", long, "createdAfter", -1, "createdBefore", 10); len(got) != 1 ||
			got[0]["id"] != id || got[0]["container_tag"] != long {
			t.Errorf("found %v", got)
		}
		id = s.save("ann", "Long ago.", "occurredAt", "1815-12-10T00:00:00Z")
		if got := s.search("ann", "ago", "createdBefore", -4000000000000); len(got) != 1 || got[0]["id"] != id ||
			got[0]["created_at"] != -4861728000000.0 || got[0]["container_tag"] != "" {
			t.Errorf("found %v", got)
		}
		// Metadata named like the facet or like the tag is not the tag.
		s.save("ann", "A decoy.", "metadata", object{"container": "m", "containerTag": "m"})
		if got := s.search("ann", "decoy", "containerTag", "m"); len(got) != 0 {
			t.Errorf("found %v", got)
		}
	})
}

// countingReranker likes texts with a word.
type countingReranker struct {
	word  string
	texts [][]string
	fail  error
}

func (*countingReranker) Info() port.ModelInfo {
	return port.ModelInfo{
		ID:        "test-reranker",
		Name:      "word",
		Version:   "1",
		Tasks:     []port.Task{port.TaskRerank},
		Digest:    "sha256:r",
		MaxTokens: 512,
		Runtime:   "wasm",
	}
}

func (*countingReranker) Close() error { return nil }

func (r *countingReranker) Score(_ context.Context, _ string, texts []string) ([]float32, int, error) {
	r.texts = append(r.texts, texts)
	out := make([]float32, len(texts))
	for i, t := range texts {
		out[i] = 0.01
		if strings.Contains(t, r.word) {
			out[i] = 0.99
		}
	}
	return out, 0, r.fail
}

// TestMemoryRerankIsBounded gives the reranker long memories fewer at a time,
// but ten at least.
func TestMemoryRerankIsBounded(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		r := &countingReranker{word: "gold"}
		root := start(t, b, options{reranker: r,
			engine: func(c *engine.Config) { c.Memory.RerankDepth, c.Memory.RerankBytes = 20, 1 }})
		s := root.integration("app", nil)
		for i := range 30 {
			s.save("ann", fmt.Sprintf("A ring of silver, number %d.", i))
		}
		if got := s.search("ann", "silver ring", "limit", 30); len(got) != 30 || len(r.texts) != 1 || len(r.texts[0]) != 10 {
			t.Errorf("%d results, reranked %v; want 30 and 10", len(got), r.texts)
		}
	})
}

// TestMemorySearchDegrades names what it had to leave out.
func TestMemorySearchDegrades(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		r := &countingReranker{word: "gold"}
		root := start(t, b, options{reranker: r, engine: func(c *engine.Config) { c.Memory.RerankDepth = 7 }})
		s := root.integration("app", nil)
		for i := range 20 {
			s.save("ann", fmt.Sprintf("A ring of silver, number %d.", i))
		}
		id := s.save("ann", "A ring of gold lies under other things in the drawer of the desk.")
		degraded := func(want ...string) []object {
			t.Helper()
			a := s.post("/api/v1/search", object{"endUserId": "ann", "query": "ring drawer", "limit": 5}).ok()
			var got []string
			for _, d := range a.list("degraded") {
				fields(t, "a degraded part", d, "part", "reason")
				got = append(got, fmt.Sprint(d["part"], " ", d["reason"]))
			}
			if !slices.Equal(got, want) {
				t.Errorf("degraded %v, want %v", got, want)
			}
			return a.list("results")
		}
		got := degraded()
		if len(got) != 5 || got[0]["id"] != id {
			t.Errorf("reranked: %v", column(got, "matchedContent"))
		}
		if len(r.texts) != 1 || len(r.texts[0]) != 7 {
			t.Errorf("the reranker was given %v", r.texts)
		}
		for _, m := range got {
			if sc := m["score"].(float64); sc < 0 || sc > 1 {
				t.Errorf("score %v", sc)
			}
		}
		r.fail = errors.New("broken")
		if got := degraded("rerank error"); len(got) != 5 {
			t.Errorf("%v", got)
		}
		r.fail = nil
		fail := func(ctx context.Context, as port.TextKind, _ []string) error { return errors.New("broken") }
		root.embedder.Before.Set(fail)
		s.search("ann", "warm up another query")
		if got := degraded(); len(got) != 5 { // the query's vector is remembered
			t.Errorf("%v", got)
		}
		a := s.post("/api/v1/search", object{"endUserId": "ann", "query": "desk drawer gold"}).ok()
		if d := a.list("degraded"); len(d) != 1 || d[0]["part"] != "vector" || d[0]["reason"] != "error" {
			t.Errorf("degraded %v", d)
		}
		if got := a.list("results"); len(got) != 1 || got[0]["id"] != id {
			t.Errorf("by keyword: %v", got)
		}
		// A write needs the model, and leaves nothing without it.
		s.post("/api/v1/memories", object{"endUserId": "bob", "content": "Unheard."}).is(500)
		root.embedder.Before.Clear()
		if got := s.roster(); !slices.Equal(got, []string{"ann"}) {
			t.Errorf("end users %v", got)
		}
		// No reranker, and none wanted.
		for depth, want := range map[int][]string{0: {"rerank model_off"}, -1: nil} {
			next := root.restart(func(o *options) {
				o.reranker = nil
				o.engine = func(c *engine.Config) { c.Memory.RerankDepth = depth }
			})
			s, root = next.as(s.key), next
			degraded(want...)
		}
		// No embedder: found by keyword, writes refused.
		next := root.restart(func(o *options) {
			o.noEmbed = true
			o.engine = func(c *engine.Config) { c.Memory.RerankDepth = -1 }
		})
		s = next.as(s.key)
		if got := degraded("vector model_off"); len(got) != 5 {
			t.Errorf("%v", got)
		}
		s.post("/api/v1/memories", object{"endUserId": "ann", "content": "Unheard."}).refuses(503, "unavailable").stays()
		s.post("/api/v1/memories", object{"endUserId": "ann", "content": "A ring of silver, number 3."}).ok() // there already
		s.tombstone("ann", "crm", "x", 1).ok()
	})
}

// TestMemorySparse adds the learned-sparse list where the configuration says so.
func TestMemorySparse(t *testing.T) {
	each(t, func(t *testing.T, b backend) {
		sparse := &coretest.SparseEncoder{}
		root := start(t, b, options{sparse: sparse, engine: func(c *engine.Config) { c.Memory.Sparse = true }})
		s := root.integration("app", nil)
		id := s.save("ann", "A kettle of copper.")
		s.save("ann", "A pan of iron.")
		if got := s.search("ann", "copper kettle"); len(got) != 2 || got[0]["id"] != id {
			t.Errorf("%v", got)
		}
		fail := func(context.Context) error { return errors.New("broken") }
		sparse.Before.Set(fail)
		a := s.post("/api/v1/search", object{"endUserId": "ann", "query": "the iron pan"}).ok()
		var parts []string
		for _, d := range a.list("degraded") {
			parts = append(parts, d["part"].(string))
		}
		if !slices.Contains(parts, "sparse") {
			t.Errorf("degraded %v", parts)
		}
		sparse.Before.Clear()
		// Switched off again: old end users are searched without it.
		next := root.restart(func(o *options) { o.engine = nil })
		s = next.as(s.key)
		if got := s.search("ann", "copper kettle"); len(got) != 2 || got[0]["id"] != id {
			t.Errorf("%v", got)
		}
		s.save("ann", "A pot of tin.")
		if got := s.search("ann", "pot of tin"); len(got) != 3 {
			t.Errorf("%v", got)
		}
	})
}
