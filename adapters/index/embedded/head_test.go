package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// headOf is the snapshot of a partition, with its invariants checked: what it counts is what its segments hold, the last
// one at most half as large as the one before, few chunks of the others dead.
func headOf(t *testing.T, x *Index, p port.Partition) *snapshot {
	t.Helper()
	open, _, err := x.partition(context.Background(), p, false)
	if err != nil {
		t.Fatal(err)
	}
	s := open.snap.Load()
	live, words, bytes := 0, uint64(0), 0
	for i, v := range s.segs {
		alive := 0
		for o, n := range v.segment.length {
			if v.live == nil || v.live.has(uint32(o)) {
				alive++
				words += uint64(n)
			}
		}
		live += alive
		bytes += segmentOverhead + 8*len(v.live) + heapCost*cap(v.segment.image)
		if alive != v.alive || alive == 0 {
			t.Fatalf("segment %d counts %d live chunks and has %d", i, v.alive, alive)
		}
		if i > 0 && i == len(s.segs)-1 && s.segs[i-1].alive < 2*alive {
			t.Fatalf("segments of %d and %d chunks stand side by side", s.segs[i-1].alive, alive)
		}
		if dead := v.segment.chunks - alive; i < len(s.segs)-1 && dead*8 > v.segment.chunks {
			t.Fatalf("%d of %d chunks are dead", dead, v.segment.chunks)
		}
	}
	if s.live != live || s.words != words || s.bytes != bytes || s.files() {
		t.Fatalf("%d chunks, %d words, %d bytes; want %d, %d, %d", s.live, s.words, s.bytes, live, words, bytes)
	}
	return s
}

// The segments of a head are as large as the binary digits of the number of chunks say, when these come one by one; a
// deletion leaves a segment as it is until more than an eighth of it is dead.
func TestAHeadIsCompact(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	p := port.Documents("org", "n").At(1)
	seq := uint64(0)
	apply := func(changes ...port.IndexChange) *snapshot {
		t.Helper()
		if err := x.Apply(context.Background(), p, port.Batch{After: seq, Upto: seq + 1, Changes: changes}); err != nil {
			t.Fatal(err)
		}
		seq++
		return headOf(t, x, p)
	}
	doc := func(i int) port.IndexChange {
		return port.IndexChange{Document: fmt.Sprintf("d%03d", i), Entries: []port.Entry{{Text: "some words of it"}}}
	}
	sizes := func(s *snapshot) (out []int) {
		for _, v := range s.segs {
			out = append(out, v.segment.chunks)
		}
		return out
	}
	for n := 1; n <= 74; n++ {
		var want []int
		for bit := 64; bit > 0; bit >>= 1 {
			if n&bit != 0 {
				want = append(want, bit)
			}
		}
		if got := sizes(apply(doc(n))); !slices.Equal(got, want) {
			t.Fatalf("%d chunks lie in segments of %v, want %v", n, got, want)
		}
	}
	for n := 1; n <= 9; n++ {
		want := []int{64, 8, 2}
		if n == 9 {
			want[0] = 55
		}
		if got := sizes(apply(port.IndexChange{Document: fmt.Sprintf("d%03d", n)})); !slices.Equal(got, want) {
			t.Errorf("without %d chunks: %v, want %v", n, got, want)
		}
	}
	s := apply(port.IndexChange{Document: "d073"}, port.IndexChange{Document: "d074"})
	if got := sizes(s); !slices.Equal(got, []int{55, 8}) {
		t.Errorf("without the last segment: %v", got)
	}
	// Of two changes of a document in one batch the later one holds.
	one, two := doc(100), doc(100)
	two.Entries = append(two.Entries, port.Entry{Chunk: 1, Text: "and more"})
	if s := apply(one, doc(101), two); s.live != 63+3 {
		t.Errorf("%d chunks live, want 66", s.live)
	}
	r := rand.New(rand.NewPCG(1, 9))
	for range 60 {
		var batch []port.IndexChange
		for range 1 + r.IntN(9) {
			c := doc(r.IntN(90))
			switch r.IntN(4) {
			case 0:
				c.Entries = nil
			case 1:
				c.Entries = append(c.Entries, port.Entry{Chunk: 1}, port.Entry{Chunk: 2, Text: "few"})
			}
			batch = append(batch, c)
		}
		apply(batch...)
	}
}

// How many live chunks hold a term is counted up to 4096 postings, and of longer lists the share of live chunks is taken.
func TestFrequenciesOfLongLists(t *testing.T) {
	x := openTest(t, t.TempDir(), nil)
	const n = 5000
	changes := make([]port.IndexChange, n)
	for i := range changes {
		text := "rare"
		if i < exactFrequency {
			text += " often"
		}
		if i < exactFrequency+1 {
			text += " more"
		}
		changes[i] = port.IndexChange{Document: fmt.Sprintf("%06d", i), Entries: []port.Entry{{Text: text}}}
	}
	b := x.builders.Get().(*builder)
	seg, err := b.build(changes, 0)
	if err != nil {
		t.Fatal(err)
	}
	some := fullBitset(n)
	for i := uint32(4500); i < n; i++ { // none of which holds "often"
		some.unset(i)
	}
	some.unset(7)
	v := segView{segment: seg, live: some, alive: n - 501}
	if err := v.countDeadWords(); err != nil || v.dead != 500+3 {
		t.Errorf("%d words are dead, %v; want 503", v.dead, err)
	}
	whole := segView{segment: seg, alive: n, dead: 9}
	if err := whole.countDeadWords(); err != nil || whole.dead != 0 {
		t.Errorf("%d words are dead where nothing is, %v", whole.dead, err)
	}
	var r postingReader
	for term, want := range map[string][2]int{"often": {4096, 4095}, "more": {4097, 4097 * (n - 501) / n}, "absent": {0, 0}} {
		var e entry
		e, _ = seg.term(x.keywordTerms(port.Wording{Text: term})[0].term)
		got := [2]int{whole.frequency(&r, seg.sec[secPostings], e), v.frequency(&r, seg.sec[secPostings], e)}
		if got != want {
			t.Errorf("%s is in %v chunks, want %v", term, got, want)
		}
	}
}
