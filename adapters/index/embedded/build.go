package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/mnemehq/mneme/adapters/index/analysis"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// residualSteps is how many steps of the second code make one of the first:
// a code of two int8 holds a component to 1/(2*254) of the first code's step.
const residualSteps = 254

// ranking is what impacts depend on beside a posting itself.
type ranking struct{ k1, b float32 }

// saturation is BM25's K: k1 scaled by the length of the chunk.
func (r ranking) saturation(length uint16, avg float32) float32 {
	if avg == 0 {
		return r.k1
	}
	return r.k1 * (1 - r.b + r.b*float32(length)/avg)
}

// impact is the part of a BM25 contribution that idf and weight multiply.
func (r ranking) impact(tf uint32, length uint16, avg float32) float32 {
	f := float32(tf)
	return f * (r.k1 + 1) / (f + r.saturation(length, avg))
}

// Weights of sparse terms are kept as codes on a logarithmic scale:
// weightSteps codes an octave from 2^weightLow up, so every weight is within
// 1.1 % and merging keeps codes as they are. Below 2^weightLow rounds up to
// it; above 2^(weightCodes/weightSteps+weightLow) is cut.
const (
	weightSteps = 32
	weightLow   = -12
	weightCodes = 1024
)

func weightCode(w float32) uint32 {
	c := math.Round((math.Log2(float64(w))-weightLow)*weightSteps) + 1
	return uint32(min(max(c, 1), weightCodes))
}

func weightValue(code uint32) float32 {
	return float32(math.Exp2(float64(code-1)/weightSteps + weightLow))
}

// weightTable is weightValue by code.
func weightTable() []float32 {
	t := make([]float32, weightCodes+1)
	for c := 1; c <= weightCodes; c++ {
		t[c] = weightValue(uint32(c))
	}
	return t
}

// builder turns entries into a segment. It is reused; one goroutine at a time.
type builder struct {
	ranking ranking
	kernels simd.Kernels
	weights []float32
	scan    *analysis.Scanner
	// language is that of the texts; "": each tells its own.
	language string

	terms map[string]uint32
	names []string
	seen  []uint32 // per term: 1 + its last posting's place in posts; 0: not in this segment
	used  []uint32 // terms of this segment
	rank  []uint32 // per term: its place among used, sorted
	posts []post
	words int // of the current chunk

	ordinal uint32
}

type post struct{ term, doc, pay uint32 }

func newBuilder(a *analysis.Analyzer, rank ranking, k simd.Kernels, weights []float32) *builder {
	b := &builder{ranking: rank, kernels: k, weights: weights, terms: map[string]uint32{}}
	b.scan = a.Scanner(b.token)
	return b
}

func (b *builder) token(t analysis.Token) {
	if !t.Extra {
		b.words++
	}
	id, ok := b.terms[string(t.Term)]
	if !ok {
		id = uint32(len(b.names))
		name := string(t.Term)
		b.terms[name] = id
		b.names = append(b.names, name)
		b.seen, b.rank = append(b.seen, 0), append(b.rank, 0)
	}
	if at := b.seen[id]; at > 0 && b.posts[at-1].doc == b.ordinal {
		b.posts[at-1].pay++
		return
	}
	if b.seen[id] == 0 {
		b.used = append(b.used, id)
	}
	b.posts = append(b.posts, post{id, b.ordinal, 1})
	b.seen[id] = uint32(len(b.posts))
}

// checkEntry says why an entry can't be indexed.
func checkEntry(e *port.Entry, dim int) error {
	if len(e.Vector) > 0 && len(e.Vector) != dim {
		return fmt.Errorf("%w: chunk %d has %d, the partition %d", port.ErrDimensions, e.Chunk, len(e.Vector), dim)
	}
	if e.Chunk < 0 || e.Chunk > math.MaxInt32 {
		return fmt.Errorf("chunk number %d is out of range", e.Chunk)
	}
	if len(e.SparseTerms) != len(e.SparseWeights) {
		return fmt.Errorf("chunk %d has %d sparse terms and %d weights", e.Chunk, len(e.SparseTerms), len(e.SparseWeights))
	}
	for _, v := range e.Vector {
		if v != v || v > math.MaxFloat32 || v < -math.MaxFloat32 {
			return fmt.Errorf("chunk %d has a vector that is not finite", e.Chunk)
		}
	}
	for i, w := range e.SparseWeights {
		if w != w || w > math.MaxFloat32 || w < -math.MaxFloat32 {
			return fmt.Errorf("chunk %d has a sparse weight that is not finite", e.Chunk)
		}
		if i > 0 && e.SparseTerms[i] <= e.SparseTerms[i-1] {
			return fmt.Errorf("chunk %d has sparse terms that do not rise", e.Chunk)
		}
	}
	return nil
}

// build makes a segment of the changes that have entries; nil when none has.
// Documents are distinct, and entries checked.
func (b *builder) build(changes []port.IndexChange, dim int) (*segment, error) {
	n, textLen := 0, 0
	sorted := make([]*port.IndexChange, 0, len(changes))
	for i := range changes {
		if len(changes[i].Entries) > 0 {
			sorted = append(sorted, &changes[i])
			n += len(changes[i].Entries)
			for j := range changes[i].Entries {
				textLen += len(changes[i].Entries[j].Text)
			}
		}
	}
	if n == 0 {
		return nil, nil
	}
	for _, id := range b.used {
		b.seen[id] = 0
	}
	b.used = b.used[:0]
	if len(b.names) > 1<<16 {
		clear(b.terms)
		b.names, b.seen, b.rank = b.names[:0], b.seen[:0], b.rank[:0]
	}
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Document < sorted[j].Document })
	b.posts, b.ordinal = b.posts[:0], 0

	var ids []byte
	docs := make([]uint32, 0, 2*len(sorted))
	owner, number := make([]uint32, 0, n), make([]uint32, 0, n)
	length, times := make([]uint16, 0, n), make([]int64, 0, n)
	facets := map[string]*[]uint32{}
	var sparse []post
	m := meta{chunks: n, documents: len(sorted), dim: dim, minTime: math.MaxInt64, maxTime: math.MinInt64}
	timed := false
	for d, c := range sorted {
		ids = append(ids, c.Document...)
		docs = append(docs, uint32(len(ids)), uint32(len(owner)))
		for i := range c.Entries {
			e := &c.Entries[i]
			b.words = 0
			b.scan.Scan(port.Wording{Text: e.Text, Language: b.language})
			words := min(b.words, maxPayload)
			owner, number = append(owner, uint32(d)), append(number, uint32(e.Chunk))
			length, times = append(length, uint16(words)), append(times, e.Time)
			m.words += uint64(words)
			timed = timed || e.Time != 0
			if e.Time != 0 {
				m.minTime, m.maxTime = min(m.minTime, e.Time), max(m.maxTime, e.Time)
			}
			for j, t := range e.SparseTerms {
				if w := e.SparseWeights[j]; w > 0 {
					sparse = append(sparse, post{t, b.ordinal, weightCode(w)})
				}
			}
			for _, f := range e.Facets {
				list := facets[f]
				if list == nil {
					list = new([]uint32)
					facets[f] = list
				}
				if k := len(*list); k == 0 || (*list)[k-1] != b.ordinal {
					*list = append(*list, b.ordinal)
				}
			}
			b.ordinal++
		}
	}
	if n > 0 {
		m.avg = float32(m.words) / float32(n)
	}

	mem := newMemory(n*(2*dim+32) + len(b.posts)*6 + textLen/4 + 256)
	w := newImageWriter(context.Background(), mem, false)
	w.section(secMeta, m.bytes())
	w.section(secDocIDs, ids)
	w.section(secDocs, raw(docs))
	w.section(secOwner, raw(owner))
	w.section(secNumber, raw(number))
	w.section(secLength, raw(length))
	if timed {
		w.section(secTime, raw(times))
	}
	if dim > 0 {
		if err := b.vectors(w, sorted, n, dim); err != nil {
			return nil, err
		}
	}

	// Keyword postings: a counting sort by term keeps chunks rising.
	order := b.used
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.names[x], b.names[y]) })
	for i, id := range order {
		b.rank[id] = uint32(i)
	}
	for i := range b.posts {
		b.posts[i].term = b.rank[b.posts[i].term]
	}
	var blob, dict []byte
	impact := func(doc, tf uint32) float32 { return b.ranking.impact(tf, length[doc], m.avg) }
	blobEnd := func(i int) uint32 {
		blob = append(blob, b.names[order[i]]...)
		return uint32(len(blob))
	}
	lists, dict := postingLists(b.posts, len(order), blobEnd, impact)
	w.section(secTerms, blob)
	w.section(secTermDict, dict)
	w.section(secPostings, lists)

	if len(sparse) == 0 {
		w.section(secSparse, make([]byte, postingsTail))
	} else {
		keys := make([]uint32, 0, len(sparse))
		for _, p := range sparse {
			keys = append(keys, p.term)
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		at := make(map[uint32]uint32, len(keys))
		for i, k := range keys {
			at[k] = uint32(i)
		}
		for i := range sparse {
			sparse[i].term = at[sparse[i].term]
		}
		lists, dict := postingLists(sparse, len(keys), func(i int) uint32 { return keys[i] },
			func(_, code uint32) float32 { return b.weights[code] })
		w.section(secSparseDict, dict)
		w.section(secSparse, lists)
	}

	if len(facets) > 0 {
		names := make([]string, 0, len(facets))
		for f := range facets {
			names = append(names, f)
		}
		sort.Strings(names)
		var f facetWriter
		for _, name := range names {
			if err := f.add(name, *facets[name]); err != nil {
				return nil, err
			}
		}
		f.write(w)
	}
	return mem.segment(w)
}

// vectors writes the codes of all chunks.
func (b *builder) vectors(w *imageWriter, sorted []*port.IndexChange, n, dim int) error {
	scale := make([]float32, 0, n)
	code, residue := make([]int8, n*dim), make([]int8, n*dim)
	i := 0
	for _, c := range sorted {
		for j := range c.Entries {
			v := c.Entries[j].Vector
			var step float32
			if len(v) == dim {
				step = quantize(b.kernels, code[i*dim:(i+1)*dim], residue[i*dim:(i+1)*dim], v)
			}
			scale = append(scale, step)
			i++
		}
	}
	w.section(secScale, raw(scale))
	w.section(secCode, raw(code))
	w.section(secResidual, raw(residue))
	return writeCoarse(context.Background(), b.kernels, w, vectorRows{n, dim, func(i int) ([]int8, float32) {
		return code[i*dim : (i+1)*dim], scale[i]
	}})
}

// quantize codes v in two steps: v[i] ≈ step*(code[i] + residue[i]/residualSteps).
func quantize(k simd.Kernels, code, residue []int8, v []float32) (step float32) {
	step = k.QuantizeInt8(code, v)
	if step == 0 {
		return 0
	}
	inv := residualSteps / step
	for i, x := range v {
		r := float32(math.RoundToEven(float64((x - float32(code[i])*step) * inv)))
		residue[i] = int8(min(max(r, -127), 127))
	}
	return step
}

// postingLists groups posts by term (0..terms-1, each with at least one post)
// and encodes the lists and the dictionary. Posts of a term stand in rising
// order of chunks.
func postingLists(posts []post, terms int, key func(int) uint32, impact func(doc, pay uint32) float32) (lists, dict []byte) {
	start := make([]uint32, terms+1)
	for _, p := range posts {
		start[p.term+1]++
	}
	for i := range terms {
		start[i+1] += start[i]
	}
	docs, pays := make([]uint32, len(posts)), make([]uint32, len(posts))
	next := slices.Clone(start[:terms])
	for _, p := range posts {
		at := next[p.term]
		next[p.term]++
		docs[at], pays[at] = p.doc, p.pay
	}
	lists = make([]byte, 0, 2*len(posts)+postingsTail)
	dict = make([]byte, 0, terms*dictLen)
	var pw postingWriter
	for i := range terms {
		off := len(lists)
		var bound float32
		lists, bound = pw.append(lists, docs[start[i]:start[i+1]], pays[start[i]:start[i+1]], impact)
		dict = appendEntry(dict, key(i), entry{int(start[i+1] - start[i]), uint32(off), bound})
	}
	return append(lists, make([]byte, postingsTail)...), dict
}

func appendEntry(dict []byte, key uint32, e entry) []byte {
	le := binary.LittleEndian
	dict = le.AppendUint32(dict, key)
	dict = le.AppendUint32(dict, uint32(e.df))
	dict = le.AppendUint32(dict, e.off)
	return le.AppendUint32(dict, math.Float32bits(e.bound))
}

// facetWriter encodes the facet sections; tokens come sorted.
type facetWriter struct{ blob, dict, bits []byte }

func (f *facetWriter) add(token string, ordinals []uint32) error {
	le := binary.LittleEndian
	f.blob = append(f.blob, token...)
	f.dict = le.AppendUint32(f.dict, uint32(len(f.blob)))
	f.dict = le.AppendUint32(f.dict, uint32(len(ordinals)))
	if len(ordinals) == 1 {
		f.dict = le.AppendUint64(f.dict, uint64(ordinals[0]))
		return nil
	}
	f.dict = le.AppendUint64(f.dict, uint64(len(f.bits)))
	bm := roaring.BitmapOf(ordinals...)
	bm.RunOptimize()
	b, err := bm.ToBytes()
	if err != nil {
		return fmt.Errorf("encode facet bitmap: %w", err)
	}
	f.bits = append(f.bits, b...)
	return nil
}

func (f *facetWriter) write(w *imageWriter) {
	w.section(secFacets, f.blob)
	w.section(secFacetDict, f.dict)
	w.section(secFacetBits, f.bits)
}
