package abitest

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
)

// TestManyCalls: over many calls of every task neither an instance's memory nor
// the host's heap grows. MNEME_CALLS sets how many, e.g. 1000000.
func TestManyCalls(t *testing.T) {
	calls := 8_000
	if testing.Short() {
		calls = 2_000
	}
	if v := os.Getenv("MNEME_CALLS"); v != "" {
		var err error
		if calls, err = strconv.Atoi(v); err != nil || calls < 100 {
			t.Fatalf("MNEME_CALLS=%q", v)
		}
	}
	s := newSmall()
	random := rand.New(rand.NewPCG(3, 3))
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = s.text(random, 1+random.IntN(s.window/2))
	}
	models := []*host.Model{}
	for _, settings := range []map[string]any{{}, {"task": "sparse", "terms": 16},
		{"task": "rerank", "head": "late", "late_layer": 1}, {"task": "rerank", "head": "joint"}} {
		models = append(models, open(t, s.module(t, settings), host.Options{Instances: 1}))
	}
	run := func(n int) {
		for i := range n {
			a, b := texts[i%len(texts)], texts[i*7%len(texts)]
			var err error
			switch m := models[i%len(models)]; i % len(models) {
			case 0:
				_, err = m.Embed(t.Context(), port.Passage, []string{a, b})
			case 1:
				_, err = m.Encode(t.Context(), port.Query, []string{a})
			default:
				_, _, err = m.Score(t.Context(), a, []string{b, a})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	state := func() (guests int64, heap uint64) {
		for _, m := range models {
			guests += m.Stats().Memory
		}
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers and pools held goes with the second
		runtime.ReadMemStats(&stats)
		return guests, stats.HeapAlloc
	}
	run(calls / 10)
	guests, heap := state()
	run(calls - calls/10)
	laterGuests, laterHeap := state()
	t.Logf("%d calls: instances %d KB, then %d KB; heap %d KB, then %d KB", calls, guests>>10, laterGuests>>10,
		heap>>10, laterHeap>>10)
	if laterGuests != guests {
		t.Errorf("instances grew from %d to %d bytes", guests, laterGuests)
	}
	if laterHeap > heap+2<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap, laterHeap)
	}
}
