package embedded

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// A bitset is a set of numbers, whatever its length leaves of the last word.
func TestBitset(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 2, 63, 64, 65, 127, 128, 129, 300} {
		full := fullBitset(n)
		if got := full.ordinals(nil); len(got) != n || full.count() != n || n > 0 && got[n-1] != uint32(n-1) {
			t.Errorf("all of %d: %d, %v", n, full.count(), got)
		}
		for range 20 {
			b, want := newBitset(n), []uint32(nil)
			for i := range uint32(n) {
				if r.IntN(40) == 0 {
					b.set(i)
					want = append(want, i)
				}
			}
			if got := b.ordinals(nil); !slices.Equal(got, want) || b.count() != len(want) {
				t.Fatalf("of %d: %v, %d; want %v", n, got, b.count(), want)
			}
			for i := range uint32(n) {
				if b.has(i) != slices.Contains(want, i) {
					t.Fatalf("of %d: %d is in: %v", n, i, b.has(i))
				}
			}
			for from := 0; from < n; from += 64 {
				for to := from + 64; to < n+64; to += 64 {
					some := slices.ContainsFunc(want, func(i uint32) bool { return int(i) >= from && int(i) < to })
					if b.empty(from, min(to, n)) == some {
						t.Fatalf("of %d: %v has some from %d to %d: %v", n, want, from, to, some)
					}
				}
			}
			other := b.clone()
			for _, i := range want {
				other.unset(i)
				if other.has(i) || !b.has(i) {
					t.Fatalf("%d is still in", i)
				}
			}
		}
	}
}

// testLists are posting lists of each form: of one block and of several, with gaps and payloads of every width.
func testLists(r *rand.Rand) (lists []struct{ docs, pays []uint32 }) {
	for _, n := range []int{1, 2, 127, 128, 129, 256, 257, 1000} {
		for _, gap := range []int{1, 2, 7, 60, 3000, 1 << 21} {
			for _, most := range []int{1, 2, 200, 80_000} {
				docs, pays := make([]uint32, n), make([]uint32, n)
				next := uint32(r.IntN(gap))
				for i := range docs {
					docs[i], pays[i] = next, uint32(1+r.IntN(most))
					next += uint32(1 + r.IntN(gap))
				}
				lists = append(lists, struct{ docs, pays []uint32 }{docs, pays})
			}
		}
	}
	// The widest that there can be.
	docs, pays := make([]uint32, 130), slices.Repeat([]uint32{maxPayload, 1}, 65)
	for i := range docs {
		docs[i] = uint32(i)
	}
	docs[129] = math.MaxUint32 - 1
	return append(lists, struct{ docs, pays []uint32 }{docs, pays})
}

func testImpact(doc, pay uint32) float32 { return float32(pay) / float32(1+doc%7) }

// What is written into a posting list is read from it, by going over it and by looking up, and its bounds are the
// most that a posting of the block, and of the list, adds.
func TestPostingListsAreReadAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	lists := testLists(r)
	var section []byte
	var entries []entry
	var w postingWriter
	for _, l := range lists {
		off := len(section)
		var bound float32
		section, bound = w.append(section, l.docs, l.pays, testImpact)
		entries = append(entries, entry{len(l.docs), uint32(off), bound})
	}
	section = append(section, make([]byte, postingsTail)...)
	var rd postingReader
	for i, l := range lists {
		e := entries[i]
		pays := slices.Clone(l.pays)
		var most float32
		for j := range pays {
			pays[j] = min(pays[j], maxPayload)
			most = max(most, testImpact(l.docs[j], pays[j]))
		}
		rd.reset(section[e.off:], e.df, e.bound)
		docs, got := rd.all(nil, nil)
		if !slices.Equal(docs, l.docs) || !slices.Equal(got, pays) || e.bound != most {
			t.Fatalf("list %d of %d: read %v, %v, bound %v; want %v, %v, %v", i, e.df, docs, got, e.bound, l.docs, pays, most)
		}
		for b := range rd.blocks {
			from, to := b*blockLen, min(len(docs), (b+1)*blockLen)
			most := float32(0)
			for j := from; j < to; j++ {
				most = max(most, testImpact(docs[j], pays[j]))
			}
			if rd.blockBound(b) != most || rd.blocks > 1 && rd.last(b) != docs[to-1] {
				t.Fatalf("list %d, block %d: bound %v, want %v", i, b, rd.blockBound(b), most)
			}
		}
		for _, stride := range []int{1, 2, 5, 130, 300} {
			rd.reset(section[e.off:], e.df, e.bound)
			for j := r.IntN(stride); j < len(docs); j += 1 + r.IntN(stride) {
				for _, target := range []uint32{docs[j] - min(docs[j], uint32(r.IntN(3))), docs[j], docs[j] + 1} {
					at, _ := slices.BinarySearch(docs, target)
					if j > 0 && at < j { // never asked for less than before
						continue
					}
					ok := rd.seek(target)
					if ok != (at < len(docs)) || ok && (rd.docs[rd.at] != docs[at] || rd.pays[rd.at] != pays[at]) {
						t.Fatalf("list %d of %d: %d is found: %v; want place %d", i, e.df, target, ok, at)
					}
				}
			}
			if rd.seek(math.MaxUint32) {
				t.Fatalf("list %d: found what is beyond the last", i)
			}
		}
		for b := range rd.blocks { // from the start, to the ends of blocks
			at := min(len(docs), (b+1)*blockLen) - 1
			rd.reset(section[e.off:], e.df, e.bound)
			if !rd.seek(docs[at]) || rd.block != b || rd.docs[rd.at] != docs[at] {
				t.Fatalf("list %d: the last of block %d is not found there", i, b)
			}
			if ok := rd.seek(docs[at] + 1); ok != (at+1 < len(docs)) || ok && rd.docs[rd.at] != docs[at+1] {
				t.Fatalf("list %d: what follows block %d is found: %v", i, b, ok)
			}
		}
	}
	for _, c := range []struct {
		n, gap, bytes int
		pay           uint32
	}{
		{100, 1, 100, 1}, {100, 1, 200, 2}, {100, 64, 100, 1}, {100, 65, 199, 1},
		{256, 1, 2 * (skipLen + 4), 9}, {256, 2, 2 * (skipLen + 4 + 16), 9}, {200, 4, 2*(skipLen+4) + 32 + 18, 9},
	} {
		docs := make([]uint32, c.n)
		for i := range docs {
			docs[i] = uint32(i * c.gap)
		}
		b, _ := w.append(nil, docs, slices.Repeat([]uint32{c.pay}, c.n), testImpact)
		if len(b) != c.bytes {
			t.Errorf("%d postings %d apart fill %d bytes, want %d", c.n, c.gap, len(b), c.bytes)
		}
	}
}

// Widths that no writer gives are damage; so is a list that ends too early.
func TestADamagedPostingListIsTold(t *testing.T) {
	var w postingWriter
	docs, pays := make([]uint32, 129), make([]uint32, 129)
	for i := range docs {
		docs[i], pays[i] = uint32(i), 1
	}
	whole, _ := w.append(nil, docs, pays, testImpact)
	whole = append(whole, make([]byte, 2048)...)
	short, _ := w.append(nil, docs[:2], []uint32{5, 5}, testImpact)
	read := func(b []byte, df int) (err error) {
		defer func() {
			if r := recover(); r != nil {
				err, _ = r.(error)
			}
		}()
		var r postingReader
		r.reset(b, df, 1)
		r.all(nil, nil)
		return nil
	}
	for _, c := range []struct {
		at    int
		value byte
		want  error
	}{{0, 0, nil}, {0, 32, nil}, {0, 33, errPostings}, {1, 16, nil}, {1, 17, errPostings}} {
		b := slices.Clone(whole)
		b[2*skipLen+c.at] = c.value
		if err := read(b, 129); !errors.Is(err, c.want) {
			t.Errorf("width %d at %d: %v", c.value, c.at, err)
		}
	}
	for cut := range short {
		if err := read(short[:cut], 2); !errors.Is(err, errPostings) {
			t.Errorf("%d of %d bytes: %v", cut, len(short), err)
		}
	}
}

// Within a window a list adds at most what the best of the blocks that reach into it does.
func TestBoundsHoldWithinAWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var w postingWriter
	for _, l := range testLists(r) {
		n := len(l.docs)
		list, bound := w.append(nil, l.docs, l.pays, testImpact)
		c := &clause{factor: 3}
		c.postingReader.reset(append(list, make([]byte, postingsTail)...), n, bound)
		width := max(1, l.docs[n-1]/7)
		for base := uint64(0); base < math.MaxUint32 && base <= uint64(l.docs[n-1])+uint64(width); base += uint64(width) {
			end := uint32(min(base+uint64(width), math.MaxUint32))
			var most float32
			span := 0
			if c.blocks == 1 {
				most, span = bound, n
			}
			for b := 0; b < c.blocks && c.blocks > 1; b++ {
				if c.last(b) >= uint32(base) && (b == 0 || uint64(c.last(b-1))+1 < uint64(end)) {
					most, span = max(most, c.blockBound(b)), span+blockLen
				}
			}
			there := c.window(uint32(base), end, 2)
			if want := c.blocks == 1 || uint32(base) <= l.docs[n-1]; there != want {
				t.Fatalf("%d postings, %d to %d: %v", n, base, end, there)
			}
			if exact := 6 * float64(most); there && (c.span != span || c.top < exact || c.top > exact*1.0001) {
				t.Fatalf("%d postings, %d to %d: at most %v of %d, want %v of %d", n, base, end, c.top, c.span, exact, span)
			}
		}
		if c.blocks == 1 && c.seek(l.docs[n-1]) && c.window(l.docs[n-1]+1, math.MaxUint32, 1) {
			t.Fatalf("%d postings: some are left after the last", n)
		}
	}
}

// A heap of the best is what sorting gives, ties by document and chunk.
func TestTheBestAreKept(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	seg := plainSegment(t, 400)
	s := &snapshot{segs: []segView{{segment: seg}}, live: 400}
	for _, distinct := range []int{1, 3, 1 << 20} {
		for _, k := range []int{1, 2, 3, 10, 399, 400, 500} {
			all := make([]candidate, 400)
			for i := range all {
				all[i] = candidate{float32(r.IntN(distinct)), 0, uint32(i)}
			}
			best := newTopK(s, k)
			for n, i := range r.Perm(400) {
				if floor := best.floor(); (n < k) != math.IsInf(float64(floor), -1) {
					t.Fatalf("with %d of %d the floor is %v", n, k, floor)
				}
				best.offer(all[i])
			}
			slices.SortFunc(all, func(a, b candidate) int {
				return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.ord, b.ord))
			})
			if got := best.sorted(); !slices.Equal(got, all[:min(k, 400)]) {
				t.Errorf("the best %d of %d scores: %v", k, distinct, got)
			}
		}
	}
}

// The numbers of BM25 and of sparse weights.
func TestScoringFormulas(t *testing.T) {
	near := func(what string, got float32, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-5*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("idf of 1 of 3", idf(1, 3), math.Log(1+2.5/1.5))
	near("idf of all", idf(3, 3), math.Log(1+.5/3.5))
	near("idf of more than all", idf(9, 3), math.Log(1+.5/3.5))
	r := ranking{1.2, .75}
	near("K of twice the mean", r.saturation(20, 10), 1.2*(.25+.75*2))
	near("K without a mean", r.saturation(20, 0), 1.2)
	near("impact", r.impact(3, 20, 10), 3*2.2/(3+2.1))
	for _, c := range []struct {
		made, now          float32
		flat, slope, slack float64
	}{{10, 10, .3, .09, 1}, {10, 20, .3, .045, 2}, {10, 5, .3, .18, 1}, {0, 4, .3, .225, 1}, {10, 0, 1.2, 0, 1}} {
		m := keywordImpacts(&segment{avg: c.made, length: []uint16{20}}, r, c.now)
		near("flat", m.flat, c.flat)
		near("slope", m.slope, c.slope)
		near("slack", m.slack, c.slack)
		near("contribution", m.contribution(2, 0, 3), 2*3*2.2/(3+c.flat+c.slope*20))
		near("bm25", bm25(4.4, 3, m.flat, m.slope, 20), 2*3*2.2/(3+c.flat+c.slope*20))
	}
	weights := weightTable()
	if len(weights) != weightCodes+1 || weights[0] != 0 {
		t.Errorf("%d weights from %v", len(weights), weights[0])
	}
	sparse := &impacts{weights: weights}
	near("the least", weights[1], 0x1p-12)
	near("one", weights[12*32+1], 1)
	near("the most", weights[weightCodes], math.Exp2(1023./32-12))
	near("an octave more", weights[13*32+1], 2)
	near("a sparse contribution", sparse.contribution(3, 0, 13*32+1), 6)
	for _, c := range []struct {
		weight float32
		code   uint32
	}{{1, 385}, {2, 417}, {.5, 353}, {0x1p-12, 1}, {0x1p-13, 1}, {1e-30, 1}, {0x1p20, 1024}, {1e30, 1024}} {
		if got := weightCode(c.weight); got != c.code {
			t.Errorf("weight %v has code %d, want %d", c.weight, got, c.code)
		}
	}
	for w := float32(.001); w < 1e5; w *= 1.07 {
		if got := weights[weightCode(w)]; math.Abs(float64(got/w)-1) > .011 {
			t.Errorf("weight %v is kept as %v", w, got)
		}
	}
	if _, err := sparseTerms(port.IndexQuery{SparseTerms: []uint32{1}, SparseWeights: []float32{1, 2}}); err == nil {
		t.Error("a weight without a term")
	}
	terms, err := sparseTerms(port.IndexQuery{SparseTerms: []uint32{1, 2, 3, 4, 5, 6},
		SparseWeights: []float32{0, 1e30, 1.1e30, -1, float32(math.NaN()), .5}})
	if want := "[{ 2 1e+30 []} { 6 0.5 []}]"; err != nil || fmt.Sprint(terms) != want {
		t.Errorf("%v, %v; want %s", terms, err, want)
	}
	terms, err = sparseTerms(port.IndexQuery{SparseTerms: []uint32{0, 0, 2, 2, 3}})
	if want := "[{ 0 0 []} { 2 0 []} { 3 0 []}]"; err != nil || fmt.Sprint(terms) != want {
		t.Errorf("%v, %v; want %s", terms, err, want)
	}
}

// dump is all that a segment says of the chunks of each document.
func dump(t *testing.T, s *segment, keep bitset) map[string]string {
	t.Helper()
	chunk := make([]strings.Builder, s.chunks)
	var r postingReader
	for i := range len(s.sec[secTermDict]) / dictLen {
		_, e := dictEntry(s.sec[secTermDict], i)
		r.reset(s.sec[secPostings][e.off:], e.df, e.bound)
		docs, pays := r.all(nil, nil)
		for j, d := range docs {
			fmt.Fprintf(&chunk[d], " %s*%d", text(s.sec[secTerms], s.sec[secTermDict], dictLen, i), pays[j])
		}
	}
	for i := range len(s.sec[secSparseDict]) / dictLen {
		k, e := dictEntry(s.sec[secSparseDict], i)
		r.reset(s.sec[secSparse][e.off:], e.df, e.bound)
		docs, pays := r.all(nil, nil)
		for j, d := range docs {
			fmt.Fprintf(&chunk[d], " %d=%d", k, pays[j])
		}
	}
	for i := range len(s.sec[secFacetDict]) / facLen {
		bm, err := s.facetAt(i)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range bm.ToArray() {
			fmt.Fprintf(&chunk[d], " %q", text(s.sec[secFacets], s.sec[secFacetDict], facLen, i))
		}
	}
	out := map[string]string{}
	for d := range s.documents {
		id := string(s.docID(d))
		if s.find(id) != d {
			t.Errorf("%s is not found", id)
		}
		from, to := s.docChunks(d)
		for o := from; o < to; o++ {
			if keep != nil && !keep.has(uint32(o)) {
				continue
			}
			when, vector := int64(0), ""
			if len(s.times) > 0 {
				when = s.times[o]
			}
			if s.dim > 0 && s.scale[o] != 0 {
				vector = fmt.Sprint(s.scale[o], s.code[o*s.dim:(o+1)*s.dim], s.residue[o*s.dim:(o+1)*s.dim])
			}
			out[fmt.Sprintf("%s/%d", id, s.number[o])] = fmt.Sprintf("%d words, at %d,%s %s", s.length[o], when, vector,
				chunk[o].String())
		}
	}
	return out
}

// entriesOf are documents of some chunks; the prefix ends their ids.
func entriesOf(r *rand.Rand, prefix string, n, dim int, timed bool) []port.IndexChange {
	changes := make([]port.IndexChange, n)
	for i := range changes {
		changes[i].Document = fmt.Sprintf("%03d%s", i, prefix)
		for c := range 1 + r.IntN(3) {
			var words strings.Builder
			for range r.IntN(12) {
				fmt.Fprintf(&words, "w%dq ", r.IntN(8)*r.IntN(40))
			}
			e := port.Entry{Chunk: 2 * c, Text: words.String()}
			e.Facets = []string{filter.Token("f", fmt.Sprint(r.IntN(5))), prefix, prefix}
			if i == 3 {
				e.Facets = append(e.Facets, "alone"+prefix)
			}
			if dim > 0 && r.IntN(8) > 0 {
				for range dim {
					e.Vector = append(e.Vector, float32(r.NormFloat64()))
				}
			}
			if timed && r.IntN(3) > 0 {
				e.Time = int64(1 + r.IntN(1000))
			}
			if r.IntN(2) > 0 {
				e.SparseTerms, e.SparseWeights = []uint32{uint32(r.IntN(5)), 7, 9}, []float32{.5, 0, float32(r.IntN(9))}
			}
			changes[i].Entries = append(changes[i].Entries, e)
		}
	}
	return changes
}

// made builds a segment of such documents.
func made(t *testing.T, x *Index, r *rand.Rand, prefix string, n, dim int, timed bool) *segment {
	t.Helper()
	b := x.builders.Get().(*builder)
	defer x.builders.Put(b)
	seg, err := b.build(entriesOf(r, prefix, n, dim, timed), dim)
	if err != nil {
		t.Fatal(err)
	}
	return seg
}

// A segment says of each chunk what its entry did: words and how often each comes, weights, facets, time and vector.
func TestASegmentSaysWhatItsEntriesDid(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	for round, dim := range []int{0, 5, 0, 3} {
		changes := entriesOf(rand.New(rand.NewPCG(1, uint64(round))), "s", 60, dim, round > 1)
		changes = append(changes, port.IndexChange{Document: "deleted"})
		b := x.builders.Get().(*builder)
		seg, err := b.build(changes, dim)
		if err != nil {
			t.Fatal(err)
		}
		x.builders.Put(b)
		want, words := map[string]string{}, uint64(0)
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for _, c := range changes {
			for _, e := range c.Entries {
				tf := map[string]int{}
				n := 0
				for w := range strings.FieldsSeq(e.Text) {
					tf[w]++
					n++
				}
				var says strings.Builder
				for _, w := range slices.Sorted(maps.Keys(tf)) {
					fmt.Fprintf(&says, " %s*%d", w, tf[w])
				}
				for j, k := range e.SparseTerms {
					if e.SparseWeights[j] > 0 {
						fmt.Fprintf(&says, " %d=%d", k, weightCode(e.SparseWeights[j]))
					}
				}
				for _, f := range slices.Compact(slices.Sorted(slices.Values(e.Facets))) {
					fmt.Fprintf(&says, " %q", f)
				}
				vector := ""
				if e.Vector != nil {
					code, residue := make([]int8, dim), make([]int8, dim)
					vector = fmt.Sprint(quantize(x.kernels, code, residue, e.Vector), code, residue)
				}
				want[fmt.Sprintf("%s/%d", c.Document, e.Chunk)] = fmt.Sprintf("%d words, at %d,%s %s", n, e.Time, vector,
					says.String())
				words += uint64(n)
				if e.Time != 0 {
					low, high = min(low, e.Time), max(high, e.Time)
				}
			}
		}
		have := dump(t, seg, nil)
		for k := range want {
			if have[k] != want[k] {
				t.Errorf("%s is\n%s, want\n%s", k, have[k], want[k])
			}
		}
		if seg.minTime != low || seg.maxTime != high || (len(seg.times) > 0) != (low < high) {
			t.Errorf("times from %d to %d, want %d to %d", seg.minTime, seg.maxTime, low, high)
		}
		if len(have) != len(want) || seg.documents != 60 || seg.words != words || seg.avg != float32(words)/float32(len(want)) {
			t.Errorf("%d chunks of %d documents, %d words of %v; want %d, %d", len(have), seg.documents, seg.words, seg.avg,
				len(want), words)
		}
	}
}

// A merge keeps all that is said of the chunks that it keeps, in order, counts them again, and leaves bounds that are the
// most that a posting adds.
func TestAMergeKeepsWhatIsKept(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	r := rand.New(rand.NewPCG(5, 5))
	plain, vectors, times := made(t, x, r, "p", 70, 0, false), made(t, x, r, "v", 90, 6, false), made(t, x, r, "t", 40, 0, true)
	both := made(t, x, r, "b", 30, 6, true)
	half := func(s *segment, share int) bitset {
		b := fullBitset(s.chunks)
		for d := range s.documents {
			if from, to := s.docChunks(d); r.IntN(share) == 0 {
				for o := from; o < to; o++ {
					b.unset(uint32(o))
				}
			}
		}
		return b
	}
	for name, inputs := range map[string][]mergeInput{
		"one":          {{both, nil}},
		"one with gap": {{both, half(both, 3)}},
		"words alone":  {{plain, nil}, {plain, newBitset(plain.chunks)}},
		"vectors":      {{plain, nil}, {vectors, half(vectors, 2)}},
		"and times":    {{plain, half(plain, 2)}, {vectors, nil}, {times, half(times, 2)}, {both, nil}},
		"little left":  {{plain, half(plain, 1)}, {times, half(times, 1)}, {both, half(both, 5)}},
	} {
		got, err := x.mergeHeap(context.Background(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		want, chunks, words, dim := map[string]string{}, 0, uint64(0), 0
		low, high := int64(math.MaxInt64), int64(math.MinInt64)
		for _, in := range inputs {
			for k, v := range dump(t, in.seg, in.keep) {
				want[k] = v
			}
			for o, n := range in.seg.length {
				if in.keep != nil && !in.keep.has(uint32(o)) {
					continue
				}
				chunks, words = chunks+1, words+uint64(n)
				if len(in.seg.times) > 0 && in.seg.times[o] != 0 {
					low, high = min(low, in.seg.times[o]), max(high, in.seg.times[o])
				}
			}
			dim = max(dim, in.seg.dim)
		}
		have := dump(t, got, nil)
		for k := range want {
			if have[k] != want[k] {
				t.Errorf("%s: %s is\n%s, was\n%s", name, k, have[k], want[k])
			}
		}
		if len(have) != len(want) || got.chunks != chunks || got.words != words || got.dim != dim ||
			got.avg != float32(words)/float32(chunks) || low < high && (got.minTime != low || got.maxTime != high) {
			t.Errorf("%s: %d chunks, %d words of %v, %d dimensions, %d to %d; want %d, %d, %d, %d to %d", name, got.chunks,
				got.words, got.avg, got.dim, got.minTime, got.maxTime, chunks, words, dim, low, high)
		}
		if _, ok := got.term("w999q"); ok {
			t.Errorf("%s: a term that nothing holds", name)
		}
		var rd postingReader
		for i := range len(got.sec[secTermDict]) / dictLen {
			_, e := dictEntry(got.sec[secTermDict], i)
			rd.reset(got.sec[secPostings][e.off:], e.df, e.bound)
			docs, pays := rd.all(nil, nil)
			var most float32
			for j, d := range docs {
				most = max(most, x.rank.impact(pays[j], got.length[d], got.avg))
			}
			if e.bound != most {
				t.Fatalf("%s: bound %v, want %v", name, e.bound, most)
			}
		}
	}
	if s, err := x.mergeHeap(context.Background(), []mergeInput{{plain, newBitset(plain.chunks)}}); s != nil || err != nil {
		t.Errorf("nothing kept: %v, %v", s, err)
	}
	if _, err := x.mergeHeap(context.Background(), []mergeInput{{plain, nil}, {plain, nil}}); err == nil ||
		!strings.Contains(err.Error(), `"000p" is live twice`) {
		t.Errorf("a document twice: %v", err)
	}
	other := made(t, x, r, "x", 9, 5, false)
	if _, err := x.mergeHeap(context.Background(), []mergeInput{{vectors, nil}, {other, nil}}); err == nil {
		t.Error("vectors of 6 and 5 dimensions were merged")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.mergeHeap(ctx, []mergeInput{{plain, nil}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Two codes hold a component to about 16 bits.
func TestVectorsAreHeldClosely(t *testing.T) {
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, 6))
	for _, dim := range []int{1, 3, 64} {
		v, code, residue := make([]float32, dim), make([]int8, dim), make([]int8, dim)
		for range 50 {
			for i := range v {
				v[i] = float32(r.NormFloat64())
			}
			step := quantize(k, code, residue, v)
			for i := range v {
				held := float64(step) * (float64(code[i]) + float64(residue[i])/254)
				if off := math.Abs(held - float64(v[i])); off > float64(step)/254*.51 {
					t.Fatalf("%v is held as %v, steps of %v", v[i], held, step)
				}
			}
		}
		clear(v)
		if step := quantize(k, code, residue, v); step != 0 {
			t.Errorf("a vector of nothing has steps of %v", step)
		}
	}
}

// The centre is the mean of evenly spread rows, those without a vector left out.
func TestTheCentreIsTheMean(t *testing.T) {
	for _, n := range []int{1, 7, centreSample, centreSample + 1, 3 * centreSample, 3*centreSample + 1} {
		every := (n + centreSample - 1) / centreSample
		var sum float64
		rows := 0
		at := func(i int) ([]int8, float32) {
			if i%5 == 3 {
				return nil, 0
			}
			return []int8{int8(i % 100), -4}, .5
		}
		for i := 0; i < n; i += every {
			if i%5 != 3 {
				sum, rows = sum+.5*float64(i%100), rows+1
			}
		}
		got := centreOf(vectorRows{n, 2, at})
		if math.Abs(float64(got[0])-sum/float64(rows)) > 1e-4 || got[1] != -2 {
			t.Errorf("of %d rows: %v, want %v and -2", n, got, sum/float64(rows))
		}
	}
	if got := centreOf(vectorRows{2, 2, func(int) ([]int8, float32) { return nil, 0 }}); got[0] != 0 || got[1] != 0 {
		t.Errorf("of no vectors: %v", got)
	}
	for v, want := range map[float64]float32{1e40: 1e30, -1e40: -1e30, 3: 3, math.Inf(1): 1e30} {
		if got := clampCoarse(v); got != want {
			t.Errorf("%v is kept as %v", v, got)
		}
	}
	if got := clampCoarse(math.NaN()); got != 0 {
		t.Errorf("no number is kept as %v", got)
	}
}

// A coarse code gives the length of what it codes without error, and a score is the sum that the comment at its top
// states but for the query's own code.
func TestTheCoarseSum(t *testing.T) {
	k, err := simd.Best()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	for _, dim := range []int{1, 2, 33, 128} {
		centre, q, v := make([]float32, dim), make([]float32, dim), make([]float32, dim)
		for i := range centre {
			centre[i], q[i] = float32(r.NormFloat64())/4, float32(r.NormFloat64())
		}
		q = normalized(q)
		var length float64
		for _, c := range q {
			length += float64(c) * float64(c)
		}
		if math.Abs(length-1) > 1e-5 {
			t.Errorf("of length %v", length)
		}
		e, near, code := newCoarseEncoder(centre), prepareCoarse(k, q, centre), make([]int8, dim)
		for range 50 {
			for i := range v {
				v[i] = centre[i] + float32(r.NormFloat64())
			}
			step := k.QuantizeInt8(code, v)
			row, scale, bias := e.encode(code, step)
			var self, norm, want, slack, shared float64
			for i, c := range code {
				rest := float64(step)*float64(c) - float64(centre[i])
				held := float64(scale) * (float64(e.nibbles[i]) - 7.5)
				self, norm = self+rest*held, norm+rest*rest
				want += float64(q[i]-centre[i]) * (held + float64(centre[i]))
				slack += math.Abs(held)
				shared += float64(centre[i]) * float64(step) * float64(c)
			}
			if math.Abs(self-norm) > 1e-4*norm || math.Abs(shared-float64(bias)) > 1e-4*(1+math.Abs(shared)) {
				t.Fatalf("dim %d: %v of %v, bias %v of %v", dim, self, norm, bias, shared)
			}
			var dot [1]int32
			k.DotNibbles(dot[:], near.codes, row, len(row))
			got := float64(near.base + bias + (float32(dot[0])-near.zero)*near.step*scale)
			if off := math.Abs(got - want - shared); off > .51*float64(near.step)*slack+1e-4 {
				t.Fatalf("dim %d: %v, want %v", dim, got, want+shared)
			}
		}
		// What is the centre itself has no rest, and its product with the centre is all.
		for i := range code {
			code[i], centre[i] = int8(i%3), float32(i%3)
		}
		if row, scale, bias := newCoarseEncoder(centre).encode(code, 1); scale != 0 || slices.Max(row) != 0 ||
			math.Abs(float64(bias)-float64(dim/3*5+dim%3/2)) > 1e-4 {
			t.Errorf("dim %d: the centre has scale %v, bias %v", dim, scale, bias)
		}
	}
}

// What is found by vectors is what the codes of both sides say, in order, in a segment with coarse codes and in one
// without, for few and many rows allowed, and as many as are asked for.
func TestVectorSearchIsExactOverItsCodes(t *testing.T) {
	const dim, n, rest = 12, coarseLeast + 100, 900
	r := rand.New(rand.NewPCG(8, 8))
	vector := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		v[0] += 3
		return normalized(v)
	}
	vectors := make([][]float32, n+rest)
	facets := make([]string, n+rest)
	x := openTest(t, t.TempDir(), func(c *Config) { c.FlushChunks = 1 << 20 })
	p := port.Documents("org", "n").At(1)
	apply := func(seq uint64, from, to int) {
		b := port.Batch{After: seq, Upto: seq + 1}
		for i := from; i < to; i++ {
			e := port.Entry{Facets: []string{}}
			if i%10 != 7 {
				vectors[i] = vector()
				e.Vector = vectors[i]
			}
			facets[i] = []string{"many", "many", "few", "some", "some"}[i%5]
			if i%5 == 2 && i%40 != 2 {
				facets[i] = "many"
			}
			e.Facets = []string{filter.Token("f", facets[i])}
			b.Changes = append(b.Changes, port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{e}})
		}
		if err := x.Apply(context.Background(), p, b); err != nil {
			t.Fatal(err)
		}
	}
	apply(0, 0, n)
	apply(1, n, n+rest)
	held := func(v []float32) []float64 {
		code, residue := make([]int8, dim), make([]int8, dim)
		step := quantize(x.kernels, code, residue, v)
		out := make([]float64, dim)
		for i := range out {
			out[i] = float64(step) * (float64(code[i]) + float64(residue[i])/residualSteps)
		}
		return out
	}
	for round, c := range []struct {
		facet string
		limit int
	}{{"", 10}, {"", 700}, {"", 2500}, {"few", 5}, {"few", 1000}, {"some", 20}, {"many", 300}, {"none", 5}} {
		query := vector()
		q := port.IndexQuery{Retriever: port.Vector, Vector: query, Limit: c.limit}
		if c.facet != "" {
			q.Filter = &filter.Filter{Op: filter.In, Key: "f", Values: []string{c.facet}}
		}
		hits, err := x.Search(context.Background(), p, q)
		if err != nil {
			t.Fatal(err)
		}
		side := held(query)
		var want []float64
		scores := map[string]float64{}
		for i, v := range vectors {
			if v == nil || c.facet != "" && facets[i] != c.facet {
				continue
			}
			var dot float64
			for j, h := range held(v) {
				dot += h * side[j]
			}
			want, scores[fmt.Sprintf("%06d", i)] = append(want, dot), dot
		}
		slices.SortFunc(want, func(a, b float64) int { return cmp.Compare(b, a) })
		if len(hits) != min(c.limit, len(want)) {
			t.Fatalf("round %d: %d hits, want %d", round, len(hits), min(c.limit, len(want)))
		}
		missed := 0
		for i, h := range hits {
			score, ok := scores[h.Document]
			if !ok || math.Abs(score-float64(h.Score)) > 1e-6 {
				t.Fatalf("round %d: %s scores %v, want %v", round, h.Document, h.Score, score)
			}
			if i > 0 && h.Score > hits[i-1].Score {
				t.Fatalf("round %d: hit %d is out of order", round, i)
			}
			if float64(h.Score) < want[len(hits)-1]-1e-6 {
				missed++
			}
		}
		if missed > len(hits)/50 || c.facet == "few" && missed > 0 {
			t.Errorf("round %d: %d of %d are not among the best", round, missed, len(hits))
		}
	}
	for name, v := range map[string][]float32{"short": make([]float32, dim-1), "infinite": vectors[0][:dim]} {
		v = slices.Clone(v)
		if name == "infinite" {
			v[dim-1] = float32(math.Inf(-1))
		}
		if _, err := x.Search(context.Background(), p, port.IndexQuery{Retriever: port.Vector, Vector: v, Limit: 1}); err == nil {
			t.Errorf("a vector that is %s was searched for", name)
		}
	}
	if hits, err := x.Search(context.Background(), p, port.IndexQuery{Retriever: port.Vector, Vector: make([]float32, dim),
		Limit: 1}); err != nil || len(hits) != 0 {
		t.Errorf("a vector of nothing finds %v, %v", hits, err)
	}
}

// What is written of a large image ends with its context, also within a section.
func TestAnImageEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := 0
	w := newImageWriter(ctx, writerFunc(func(p []byte) (int, error) {
		if written += len(p); written > 2<<20 {
			cancel()
		}
		return len(p), nil
	}), true)
	w.section(secCode, make([]byte, 2<<20))
	if _, err := w.finish(); err != nil {
		t.Fatal(err)
	}
	w.section(secResidual, make([]byte, 5<<20))
	if _, err := w.finish(); !errors.Is(err, context.Canceled) || written != 3<<20 {
		t.Errorf("%d bytes are written, %v", written, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// An image is refused where any of its counts, places or lengths is another.
func TestAnImageIsChecked(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	s := made(t, x, rand.New(rand.NewPCG(9, 9)), "i", 20, 4, true)
	le := binary.LittleEndian
	reseal(s.image)
	if _, err := openSegment(s.image, verifyAll); err != nil {
		t.Fatal(err)
	}
	meta := int(le.Uint64(s.image[24:]))
	change := func(name string, do func(b []byte) []byte) {
		b := do(slices.Clone(s.image))
		if _, err := openSegment(b, verifyNone); !errors.Is(err, errSegment) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for at, b := range s.image[:24] {
		change(fmt.Sprintf("byte %d of the header", at), func(image []byte) []byte { image[at] = b ^ 1; return image })
	}
	change("no header", func(b []byte) []byte { return b[:headerLen-1] })
	change("an end missing", func(b []byte) []byte { return b[:len(b)-1] })
	for i := range s.sec {
		row := 24 + i*24
		change(fmt.Sprintf("section %d not at 8", i), func(b []byte) []byte {
			le.PutUint64(b[row:], le.Uint64(b[row:])+4)
			return b
		})
		change(fmt.Sprintf("section %d in the header", i), func(b []byte) []byte { le.PutUint64(b[row:], headerLen-8); return b })
		change(fmt.Sprintf("section %d beyond", i), func(b []byte) []byte {
			le.PutUint64(b[row:], uint64(len(b)+7)&^7)
			le.PutUint64(b[row+8:], 8)
			return b
		})
		change(fmt.Sprintf("section %d too long", i), func(b []byte) []byte {
			le.PutUint64(b[row+8:], uint64(len(b))-le.Uint64(b[row:])+1)
			return b
		})
		if i == secDocIDs || i == secTerms || i == secFacets || i == secFacetBits || i >= secCentre && i <= secCoarseTerm {
			continue // of any length, or not there
		}
		n := len(s.sec[i])
		if i == secPostings || i == secSparse {
			n = postingsTail
		}
		change(fmt.Sprintf("section %d too short", i), func(b []byte) []byte { le.PutUint64(b[row+8:], uint64(n-1)); return b })
	}
	for name, at := range map[string]int{"chunks": 0, "documents": 4, "dimensions": 8} {
		change(name, func(b []byte) []byte { b[meta+at]++; return b })
		change(name, func(b []byte) []byte { b[meta+at+3] = 0x7f; return b })
	}
	for _, avg := range []float32{-1, maxPayload + 1, float32(math.NaN())} {
		change(fmt.Sprint("a mean of ", avg), func(b []byte) []byte {
			le.PutUint32(b[meta+12:], math.Float32bits(avg))
			return b
		})
	}
	for _, avg := range []float32{0, maxPayload} {
		b := slices.Clone(s.image)
		le.PutUint32(b[meta+12:], math.Float32bits(avg))
		if _, err := openSegment(b, verifyNone); err != nil {
			t.Errorf("a mean of %v: %v", avg, err)
		}
	}
	for at := range s.image { // all but what pads is under a checksum
		if at > headerLen && at%5 != 0 {
			continue
		}
		b := slices.Clone(s.image)
		b[at] ^= 1
		_, err := openSegment(b, verifyAll)
		under := at < headerLen-4
		for i := range s.sec {
			off := int(le.Uint64(s.image[24+i*24:]))
			under = under || at >= off && at < off+len(s.sec[i])
		}
		if (err != nil) != under {
			t.Fatalf("byte %d of %d changed: %v", at, len(s.image), err)
		}
	}
}

// A facet that names a chunk which is not there, or lies beyond its section, is damage, and no search answers from it.
func TestADamagedFacetIsTold(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	s := made(t, x, rand.New(rand.NewPCG(3, 9)), "i", 20, 0, false)
	many := search(s.sec[secFacets], s.sec[secFacetDict], facLen, "i")
	if many < 0 || search(s.sec[secFacets], s.sec[secFacetDict], facLen, "zz") >= 0 {
		t.Fatal("the facet of all chunks is not found, or one that is not there is")
	}
	f := &filter.Filter{Op: filter.In, Key: "f", Values: []string{"0", "1", "2", "3", "4"}}
	if set, none, err := s.allowed(nil, f, nil, nil); err != nil || none || set.count() != s.chunks {
		t.Errorf("%v, %v, %v", set, none, err)
	}
	chunks := uint64(s.chunks)
	for at, there := range map[uint64]bool{0: true, chunks - 1: true, chunks: false, chunks + 63: false, 1 << 31: false} {
		var w facetWriter
		if err := w.add(filter.Token("f", "9"), []uint32{uint32(at)}); err != nil {
			t.Fatal(err)
		}
		other := *s
		other.sec[secFacets], other.sec[secFacetDict] = w.blob, w.dict
		_, _, err := other.allowed(nil, &filter.Filter{Op: filter.In, Key: "f", Values: []string{"9"}}, nil, nil)
		if (err == nil) != there {
			t.Errorf("chunk %d of %d: %v", at, chunks, err)
		}
	}
	binary.LittleEndian.PutUint64(s.sec[secFacetDict][many*facLen+8:], uint64(len(s.sec[secFacetBits]))+1)
	if _, err := s.facetAt(many); !errors.Is(err, errSegment) {
		t.Errorf("beyond the section: %v", err)
	}
}

// What can be kept is taken to the last value; what can't is refused.
func TestAnEntryIsChecked(t *testing.T) {
	const most = math.MaxFloat32
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range []struct {
		e  port.Entry
		ok bool
	}{
		{port.Entry{}, true},
		{port.Entry{Chunk: math.MaxInt32, Vector: []float32{most, -most}}, true},
		{port.Entry{SparseTerms: []uint32{0, 1, math.MaxUint32}, SparseWeights: []float32{most, -most, 0}}, true},
		{port.Entry{Chunk: -1}, false},
		{port.Entry{Chunk: math.MaxInt32 + 1}, false},
		{port.Entry{Vector: []float32{1}}, false},
		{port.Entry{Vector: []float32{1, 2, 3}}, false},
		{port.Entry{Vector: []float32{1, inf}}, false},
		{port.Entry{Vector: []float32{-inf, 1}}, false},
		{port.Entry{Vector: []float32{1, nan}}, false},
		{port.Entry{SparseTerms: []uint32{1}}, false},
		{port.Entry{SparseTerms: []uint32{1}, SparseWeights: []float32{1, 2}}, false},
		{port.Entry{SparseTerms: []uint32{1}, SparseWeights: []float32{inf}}, false},
		{port.Entry{SparseTerms: []uint32{1}, SparseWeights: []float32{-inf}}, false},
		{port.Entry{SparseTerms: []uint32{1}, SparseWeights: []float32{nan}}, false},
		{port.Entry{SparseTerms: []uint32{1, 1}, SparseWeights: []float32{1, 1}}, false},
		{port.Entry{SparseTerms: []uint32{2, 1}, SparseWeights: []float32{1, 1}}, false},
	} {
		if err := checkEntry(&c.e, 2); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.e, err)
		}
	}
}
