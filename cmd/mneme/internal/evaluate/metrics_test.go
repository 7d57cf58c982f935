package evaluate_test

import (
	"math"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/evaluate"
)

func TestMeasures(t *testing.T) {
	log2 := math.Log2
	for _, c := range []struct {
		name                     string
		ranking                  []string
		grades                   evaluate.Grades
		k                        int
		ndcg, recall, reciprocal float64
	}{
		{"perfect", []string{"a", "b"}, evaluate.Grades{"a": 1, "b": 1}, 10, 1, 1, 1},
		{"second", []string{"x", "a"}, evaluate.Grades{"a": 1}, 10, 1 / log2(3), 1, 0.5},
		{"none found", []string{"x", "y"}, evaluate.Grades{"a": 1}, 10, 0, 0, 0},
		{"nothing returned", nil, evaluate.Grades{"a": 1}, 10, 0, 0, 0},
		{"nothing relevant", []string{"a"}, evaluate.Grades{"a": 0}, 10, 0, 0, 0},
		{"judged not relevant", []string{"n", "a"}, evaluate.Grades{"a": 1, "n": 0}, 10, 1 / log2(3), 1, 0.5},
		{"beyond the cut", []string{"x", "y", "a"}, evaluate.Grades{"a": 1}, 2, 0, 0, 0},
		// Järvelin and Kekäläinen's measure by hand: grades 3, 2, 3, 0, 1, 2 at ranks 1 to 6.
		{"graded", []string{"d1", "d2", "d3", "d4", "d5", "d6"}, evaluate.Grades{"d1": 3, "d2": 2, "d3": 3, "d5": 1, "d6": 2}, 6,
			(3 + 2/log2(3) + 3/log2(4) + 1/log2(6) + 2/log2(7)) / (3 + 3/log2(3) + 2/log2(4) + 2/log2(5) + 1/log2(6)), 1, 1},
		{"ideal is longer than the cut", []string{"a"}, evaluate.Grades{"a": 1, "b": 2, "c": 1}, 2, 1 / (2 + 1/log2(3)),
			1.0 / 3, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for what, pair := range map[string][2]float64{
				"nDCG":   {evaluate.NDCG(c.ranking, c.grades, c.k), c.ndcg},
				"recall": {evaluate.Recall(c.ranking, c.grades, c.k), c.recall},
				"RR":     {evaluate.ReciprocalRank(c.ranking, c.grades, c.k), c.reciprocal},
			} {
				if math.Abs(pair[0]-pair[1]) > 1e-12 {
					t.Errorf("%s is %v, want %v", what, pair[0], pair[1])
				}
			}
		})
	}
}

func TestPercentilesAreNearestRank(t *testing.T) {
	var samples []time.Duration
	for i := 100; i >= 1; i-- {
		samples = append(samples, time.Duration(i)*time.Millisecond)
	}
	if got := evaluate.Percentiles(samples); got != (evaluate.Latency{P50: 50, P95: 95, P99: 99}) {
		t.Errorf("of 1 to 100 ms: %+v", got)
	}
	if got := evaluate.Percentiles([]time.Duration{7 * time.Millisecond}); got != (evaluate.Latency{P50: 7, P95: 7, P99: 7}) {
		t.Errorf("of one sample: %+v", got)
	}
	if got := evaluate.Percentiles(nil); got != (evaluate.Latency{}) {
		t.Errorf("of none: %+v", got)
	}
}
