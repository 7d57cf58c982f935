package evaluate

import (
	"math"
	"slices"
	"time"
)

// Grades are the judgements of a query: relevance by document id. 0 is judged
// not relevant; a document left out counts the same.
type Grades map[string]int

// NDCG is the normalised discounted cumulative gain of the first k documents of
// a ranking (Järvelin and Kekäläinen 2002), with the grade itself as gain and
// log2(rank+1) as discount, as trec_eval's ndcg_cut and BEIR have it. 0 when
// nothing is relevant.
func NDCG(ranking []string, grades Grades, k int) float64 {
	gain := 0.0
	for i, id := range ranking[:min(k, len(ranking))] {
		if g := grades[id]; g > 0 {
			gain += float64(g) / math.Log2(float64(i)+2)
		}
	}
	ideal := make([]int, 0, len(grades))
	for _, g := range grades {
		if g > 0 {
			ideal = append(ideal, g)
		}
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	best := 0.0
	for i, g := range ideal[:min(k, len(ideal))] {
		best += float64(g) / math.Log2(float64(i)+2)
	}
	if best == 0 {
		return 0
	}
	return gain / best
}

// Recall is the share of the relevant documents, of any grade above 0, among
// the first k.
func Recall(ranking []string, grades Grades, k int) float64 {
	relevant, found := 0, 0
	for _, g := range grades {
		if g > 0 {
			relevant++
		}
	}
	for _, id := range ranking[:min(k, len(ranking))] {
		if grades[id] > 0 {
			found++
		}
	}
	if relevant == 0 {
		return 0
	}
	return float64(found) / float64(relevant)
}

// ReciprocalRank is 1 over the rank of the first relevant document among the
// first k, or 0.
func ReciprocalRank(ranking []string, grades Grades, k int) float64 {
	for i, id := range ranking[:min(k, len(ranking))] {
		if grades[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Quality is the mean of each measure over queries.
type Quality struct {
	Queries   int     `json:"queries"`
	NDCG10    float64 `json:"ndcg_10"`
	Recall10  float64 `json:"recall_10"`
	Recall100 float64 `json:"recall_100"`
	MRR10     float64 `json:"mrr_10"`
}

// add folds one query in; mean divides once at the end.
func (q *Quality) add(ranking []string, grades Grades) {
	q.Queries++
	q.NDCG10 += NDCG(ranking, grades, 10)
	q.Recall10 += Recall(ranking, grades, 10)
	q.Recall100 += Recall(ranking, grades, 100)
	q.MRR10 += ReciprocalRank(ranking, grades, 10)
}

func (q Quality) mean() Quality {
	if q.Queries == 0 {
		return q
	}
	n := float64(q.Queries)
	return Quality{q.Queries, q.NDCG10 / n, q.Recall10 / n, q.Recall100 / n, q.MRR10 / n}
}

// Latency holds percentiles in milliseconds.
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
}

// Percentiles sorts samples and reads the nearest-rank percentiles.
func Percentiles(samples []time.Duration) Latency {
	if len(samples) == 0 {
		return Latency{}
	}
	slices.Sort(samples)
	at := func(p float64) float64 {
		rank := int(math.Ceil(p * float64(len(samples))))
		return float64(samples[max(rank, 1)-1]) / float64(time.Millisecond)
	}
	return Latency{at(0.50), at(0.95), at(0.99)}
}

// Mean is the mean of each step over collections, each counting the same
// however many queries it has. Latency is left out: it does not average.
func Mean(results []Result) []Run {
	var order []string
	sums := map[string]*Run{}
	counts := map[string]float64{}
	for _, r := range results {
		for _, run := range r.Runs {
			s := sums[run.Step]
			if s == nil {
				s = &Run{Step: run.Step}
				sums[run.Step] = s
				order = append(order, run.Step)
			}
			counts[run.Step]++
			s.Queries += run.Queries
			s.NDCG10 += run.NDCG10
			s.Recall10 += run.Recall10
			s.Recall100 += run.Recall100
			s.MRR10 += run.MRR10
		}
	}
	out := make([]Run, 0, len(order))
	for _, name := range order {
		s, n := sums[name], counts[name]
		s.NDCG10, s.Recall10, s.Recall100, s.MRR10 = s.NDCG10/n, s.Recall10/n, s.Recall100/n, s.MRR10/n
		out = append(out, *s)
	}
	return out
}

// Categories lists a run's categories by name.
func Categories(r Run) []string { return sortedKeys(r.ByCategory) }
