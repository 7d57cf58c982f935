package retrieve_test

import (
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// The size of scores that only rank must not matter: neither how large they are
// nor how far apart.
func TestFuseTakesOnlyRanksFromARanker(t *testing.T) {
	v := list(port.Vector, map[string]float32{"a": .9, "b": .88, "c": .7, "d": .69}, "a", "b", "c", "d")
	want := ""
	for name, scores := range map[string]map[string]float32{
		"even":      {"d": .99, "b": .98, "e": .97},
		"one ahead": {"d": 1000, "b": .001, "e": .0001},
		"negative":  {"d": -1, "b": -2, "e": -900},
	} {
		for _, m := range []retrieve.Method{retrieve.RRF, retrieve.ZScore} {
			f := retrieve.DefaultFusion()
			f.Method = m
			k := list(port.Keyword, scores, "d", "b", "e")
			k.RanksOnly = true
			got := f.Fuse([]retrieve.List{v, k}, nil)
			if len(got) != 5 {
				t.Fatalf("%s, %s: %d candidates, want 5", name, m, len(got))
			}
			if m == retrieve.RRF {
				continue
			}
			if want == "" {
				want = ids(got)
			}
			if ids(got) != want {
				t.Errorf("%s: order %s, another scale gave %s", name, ids(got), want)
			}
			for _, c := range got {
				if r, ok := c.Ranks[port.Keyword]; ok && r.Score != float64(scores[c.Document]) {
					t.Errorf("%s: %s is explained by score %v, the retriever gave %v", name, c.Document, r.Score,
						scores[c.Document])
				}
			}
		}
	}
	// Scores that mean something do change the order.
	k := list(port.Keyword, map[string]float32{"d": 1000, "b": .001, "e": .0001}, "d", "b", "e")
	if got := retrieve.DefaultFusion().Fuse([]retrieve.List{v, k}, nil); ids(got) == want {
		t.Errorf("order %s does not depend on the scores of a retriever that has some", ids(got))
	}
}
