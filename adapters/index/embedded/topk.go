package embedded

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// candidate is a candidate: a chunk of the seg-th segment of a snapshot.
type candidate struct {
	score float32
	seg   uint32
	ord   uint32
}

// topK keeps the best k candidates: higher score first, ties by document id,
// then chunk number. It is a heap with the worst on top.
type topK struct {
	snap *snapshot
	k    int
	heap []candidate
}

func newTopK(s *snapshot, k int) *topK {
	return &topK{snap: s, k: k, heap: make([]candidate, 0, min(k, s.live))}
}

// floor is the score below which nothing can enter; equal scores can.
func (t *topK) floor() float32 {
	if len(t.heap) < t.k {
		return float32(math.Inf(-1))
	}
	return t.heap[0].score
}

// compare orders the better first.
func (t *topK) compare(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	x, y := t.snap.segs[a.seg].segment, t.snap.segs[b.seg].segment
	if c := bytes.Compare(x.docID(int(x.owner[a.ord])), y.docID(int(y.owner[b.ord]))); c != 0 {
		return c
	}
	return cmp.Compare(x.number[a.ord], y.number[b.ord])
}

func (t *topK) offer(f candidate) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, f)
		for i := len(t.heap) - 1; i > 0; {
			p := (i - 1) / 2
			if t.compare(t.heap[i], t.heap[p]) <= 0 {
				break
			}
			t.heap[i], t.heap[p] = t.heap[p], t.heap[i]
			i = p
		}
		return
	}
	if f.score < t.heap[0].score || t.compare(f, t.heap[0]) >= 0 {
		return
	}
	t.heap[0] = f
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(t.heap) {
			break
		}
		if c+1 < len(t.heap) && t.compare(t.heap[c+1], t.heap[c]) > 0 {
			c++
		}
		if t.compare(t.heap[c], t.heap[i]) <= 0 {
			break
		}
		t.heap[i], t.heap[c] = t.heap[c], t.heap[i]
		i = c
	}
}

// sorted empties the heap, best first.
func (t *topK) sorted() []candidate {
	out := t.heap
	t.heap = nil
	slices.SortFunc(out, t.compare)
	return out
}
