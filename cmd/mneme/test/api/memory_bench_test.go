package api_test

import (
	"fmt"
	"testing"
)

// BenchmarkMemoryBatch saves batches of 100 new memories over HTTP with a model
// that costs little: what is measured is the rest.
func BenchmarkMemoryBatch(b *testing.B) {
	s := start(b, backends()[0], options{}).integration("app", nil)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		list := items(100, fmt.Sprintf("memory of batch %d, which says a few words about nothing", n))
		s.post("/api/v1/memories/batch", object{"endUserId": fmt.Sprintf("u%d", n%50), "memories": list}).ok()
		n++
	}
	b.ReportMetric(float64(n)*100/b.Elapsed().Seconds(), "memories/s")
}

// BenchmarkMemorySearch searches 1,000 memories of one end user over HTTP.
func BenchmarkMemorySearch(b *testing.B) {
	s := start(b, backends()[0], options{}).integration("app", nil)
	for i := range 10 {
		s.post("/api/v1/memories/batch",
			object{"endUserId": "ann", "memories": items(100, fmt.Sprintf("part %d of what she said about the garden", i))}).ok()
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		s.search("ann", fmt.Sprintf("what did she say about part %d", n%100))
		n++
	}
}

// BenchmarkMemoryErase erases an end user of 100 memories beside others.
func BenchmarkMemoryErase(b *testing.B) {
	s := start(b, backends()[0], options{}).integration("app", nil)
	for i := range 20 {
		s.post("/api/v1/memories/batch",
			object{"endUserId": fmt.Sprintf("other%d", i), "memories": items(100, "a memory that stays")}).ok()
	}
	n := 0
	for b.Loop() {
		b.StopTimer()
		s.post("/api/v1/memories/batch",
			object{"endUserId": "gone", "memories": items(100, fmt.Sprintf("a memory that goes %d", n))}).ok()
		b.StartTimer()
		s.erase("gone").ok()
		n++
	}
}
