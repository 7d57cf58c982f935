package embedded

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
)

// mergeInput is a segment and the chunks of it to keep.
type mergeInput struct {
	seg  *segment
	keep bitset // nil: all
}

// droppedChunk marks, in the map from old to new ordinals, chunks that were left out.
const droppedChunk = math.MaxUint32

// merge writes the kept chunks of several segments as one image and returns,
// for each input, the new ordinals of its chunks. Kept documents are distinct.
func (x *Index) merge(ctx context.Context, w *imageWriter, inputs []mergeInput) ([][]uint32, error) {
	moved := make([][]uint32, len(inputs))
	var m meta
	m.minTime, m.maxTime = math.MaxInt64, math.MinInt64
	timed := false
	for i, in := range inputs {
		s := in.seg
		moved[i] = make([]uint32, s.chunks)
		for o := range moved[i] {
			if in.keep != nil && !in.keep.has(uint32(o)) {
				moved[i][o] = droppedChunk
				continue
			}
			moved[i][o] = uint32(m.chunks)
			m.chunks++
			m.words += uint64(s.length[o])
			if len(s.times) > 0 && s.times[o] != 0 {
				timed = true
				m.minTime, m.maxTime = min(m.minTime, s.times[o]), max(m.maxTime, s.times[o])
			}
		}
		if m.dim == 0 {
			m.dim = s.dim
		} else if s.dim != 0 && s.dim != m.dim {
			return nil, fmt.Errorf("merge: vectors of %d and %d dimensions", m.dim, s.dim)
		}
	}
	if m.chunks > maxChunks {
		return nil, fmt.Errorf("merge: %d chunks, a segment holds %d", m.chunks, maxChunks)
	}
	if m.chunks > 0 {
		m.avg = float32(m.words) / float32(m.chunks)
	}

	// Documents, by id.
	ids, docs, owner, err := mergeDocuments(inputs, moved, m.chunks)
	if err != nil {
		return nil, err
	}
	m.documents = len(docs) / 2
	w.section(secMeta, m.bytes())
	w.section(secDocIDs, ids)
	w.section(secDocs, raw(docs))
	w.section(secOwner, raw(owner))

	copyRows(w, secNumber, inputs, func(s *segment) []byte { return s.sec[secNumber] }, 4)
	copyRows(w, secLength, inputs, func(s *segment) []byte { return s.sec[secLength] }, 2)
	if timed {
		copyRows(w, secTime, inputs, func(s *segment) []byte { return s.sec[secTime] }, 8)
	}
	if m.dim > 0 {
		copyRows(w, secScale, inputs, func(s *segment) []byte { return s.sec[secScale] }, 4)
		copyRows(w, secCode, inputs, func(s *segment) []byte { return s.sec[secCode] }, m.dim)
		copyRows(w, secResidual, inputs, func(s *segment) []byte { return s.sec[secResidual] }, m.dim)
		if err := writeCoarse(ctx, x.kernels, w, keptCodes(inputs, moved, m.chunks, m.dim)); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	length := make([]uint16, m.chunks)
	for i, in := range inputs {
		for o, n := range moved[i] {
			if n != droppedChunk {
				length[n] = in.seg.length[o]
			}
		}
	}
	bm25 := func(doc, tf uint32) float32 { return x.rank.impact(tf, length[doc], m.avg) }
	if err := mergeTerms(ctx, w, inputs, moved, bm25); err != nil {
		return nil, err
	}
	dot := func(_, code uint32) float32 {
		if code >= uint32(len(x.weights)) {
			panic(errPostings)
		}
		return x.weights[code]
	}
	if err := mergeSparse(ctx, w, inputs, moved, dot); err != nil {
		return nil, err
	}
	if err := mergeFacets(ctx, w, inputs, moved); err != nil {
		return nil, err
	}
	return moved, w.err
}

// keptCodes are the int8 codes of kept chunks.
func keptCodes(inputs []mergeInput, moved [][]uint32, n, dim int) vectorRows {
	ordinals := make([]uint32, 0, n)
	ends := make([]int, len(inputs))
	for i := range inputs {
		for o, to := range moved[i] {
			if to != droppedChunk {
				ordinals = append(ordinals, uint32(o))
			}
		}
		ends[i] = len(ordinals)
	}
	return vectorRows{n, dim, func(i int) ([]int8, float32) {
		in := 0
		for i >= ends[in] {
			in++
		}
		seg, o := inputs[in].seg, int(ordinals[i])
		if seg.dim == 0 {
			return nil, 0
		}
		return seg.code[o*dim : (o+1)*dim], seg.scale[o]
	}}
}

// copyRows writes the rows of kept chunks, run by run. Inputs without the section
// give zeros.
func copyRows(w *imageWriter, section int, inputs []mergeInput, rows func(*segment) []byte, size int) {
	w.begin(section)
	var zeros []byte
	for _, in := range inputs {
		data := rows(in.seg)
		if len(data) == 0 && in.seg.chunks > 0 {
			if zeros == nil {
				zeros = make([]byte, 64*size)
			}
			n := in.seg.chunks
			if in.keep != nil {
				n = in.keep.count()
			}
			for ; n > 0; n -= 64 {
				_, _ = w.Write(zeros[:min(n, 64)*size]) // w keeps the error
			}
			continue
		}
		if in.keep == nil {
			_, _ = w.Write(data)
			continue
		}
		for o := 0; o < in.seg.chunks; {
			if !in.keep.has(uint32(o)) {
				o++
				continue
			}
			from := o
			for o < in.seg.chunks && in.keep.has(uint32(o)) {
				o++
			}
			_, _ = w.Write(data[from*size : o*size])
		}
	}
}

func mergeDocuments(inputs []mergeInput, moved [][]uint32, chunks int) (ids []byte, docs, owner []uint32, err error) {
	owner = make([]uint32, chunks)
	next := make([]int, len(inputs))
	// skip moves past documents that are not kept.
	skip := func(i int) {
		s := inputs[i].seg
		for next[i] < s.documents {
			if from, to := s.docChunks(next[i]); from < to && moved[i][from] != droppedChunk {
				return
			}
			next[i]++
		}
	}
	for i := range inputs {
		skip(i)
	}
	var last []byte
	for {
		at := -1
		var id []byte
		for i := range inputs {
			if next[i] < inputs[i].seg.documents {
				if c := inputs[i].seg.docID(next[i]); at < 0 || bytes.Compare(c, id) < 0 {
					at, id = i, c
				}
			}
		}
		if at < 0 {
			return ids, docs, owner, nil
		}
		if len(docs) > 0 && bytes.Equal(id, last) {
			return nil, nil, nil, fmt.Errorf("merge: document %q is live twice", id)
		}
		last = id
		from, to := inputs[at].seg.docChunks(next[at])
		ids = append(ids, id...)
		if len(ids) > math.MaxUint32 {
			return nil, nil, nil, fmt.Errorf("merge: document ids fill more than 4 GiB")
		}
		d := uint32(len(docs) / 2)
		docs = append(docs, uint32(len(ids)), moved[at][from])
		for o := from; o < to; o++ {
			owner[moved[at][o]] = d
		}
		next[at]++
		skip(at)
	}
}

// lists collects the postings of one term from several segments.
type lists struct {
	r          postingReader
	raw, rawp  []uint32
	docs, pays []uint32
}

func (l *lists) add(section []byte, e entry, moved []uint32) {
	if int(e.off) > len(section) {
		panic(errPostings)
	}
	l.r.reset(section[e.off:], e.df, e.bound)
	l.raw, l.rawp = l.r.all(l.raw[:0], l.rawp[:0])
	for i, d := range l.raw {
		if n := moved[d]; n != droppedChunk {
			l.docs, l.pays = append(l.docs, n), append(l.pays, l.rawp[i])
		}
	}
}

// listWriter streams posting lists into a section.
type listWriter struct {
	w    *imageWriter
	pw   postingWriter
	buf  []byte
	off  uint64
	dict []byte
}

func (l *listWriter) add(key uint32, docs, pays []uint32, impact func(doc, pay uint32) float32) error {
	var bound float32
	l.buf, bound = l.pw.append(l.buf[:0], docs, pays, impact)
	if l.off+uint64(len(l.buf)) > math.MaxUint32 {
		return fmt.Errorf("merge: posting lists fill more than 4 GiB")
	}
	l.dict = appendEntry(l.dict, key, entry{len(docs), uint32(l.off), bound})
	l.off += uint64(len(l.buf))
	_, err := l.w.Write(l.buf)
	return err
}

func (l *listWriter) finish() {
	_, _ = l.w.Write(make([]byte, postingsTail)) // w keeps the error
}

const checkEvery = 4096 // terms merged between looks at the context

func mergeTerms(ctx context.Context, w *imageWriter, inputs []mergeInput, moved [][]uint32,
	impact func(doc, pay uint32) float32) error {
	var blob []byte
	next, count := make([]int, len(inputs)), make([]int, len(inputs))
	heads := make([][]byte, len(inputs))
	head := func(i int) {
		heads[i] = nil
		if s := inputs[i].seg; next[i] < count[i] {
			heads[i] = text(s.sec[secTerms], s.sec[secTermDict], dictLen, next[i])
		}
	}
	for i, in := range inputs {
		count[i] = len(in.seg.sec[secTermDict]) / dictLen
		head(i)
	}
	w.begin(secPostings)
	lw := listWriter{w: w}
	var l lists
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var term []byte
		for _, h := range heads {
			if h != nil && (term == nil || bytes.Compare(h, term) < 0) {
				term = h
			}
		}
		if term == nil {
			break
		}
		l.docs, l.pays = l.docs[:0], l.pays[:0]
		for i, h := range heads {
			if h != nil && bytes.Equal(h, term) {
				s := inputs[i].seg
				_, e := dictEntry(s.sec[secTermDict], next[i])
				l.add(s.sec[secPostings], e, moved[i])
				next[i]++
				head(i)
			}
		}
		if len(l.docs) > 0 {
			blob = append(blob, term...)
			if err := lw.add(uint32(len(blob)), l.docs, l.pays, impact); err != nil {
				return err
			}
		}
	}
	lw.finish()
	w.section(secTerms, blob)
	w.section(secTermDict, lw.dict)
	return nil
}

func mergeSparse(ctx context.Context, w *imageWriter, inputs []mergeInput, moved [][]uint32,
	impact func(doc, pay uint32) float32) error {
	next := make([]int, len(inputs))
	w.begin(secSparse)
	lw := listWriter{w: w}
	var l lists
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		low := uint64(math.MaxUint64)
		for i, in := range inputs {
			if dict := in.seg.sec[secSparseDict]; next[i] < len(dict)/dictLen {
				low = min(low, uint64(binary.LittleEndian.Uint32(dict[next[i]*dictLen:])))
			}
		}
		if low == math.MaxUint64 {
			break
		}
		l.docs, l.pays = l.docs[:0], l.pays[:0]
		for i, in := range inputs {
			if dict := in.seg.sec[secSparseDict]; next[i] < len(dict)/dictLen {
				if k, e := dictEntry(dict, next[i]); uint64(k) == low {
					l.add(in.seg.sec[secSparse], e, moved[i])
					next[i]++
				}
			}
		}
		if len(l.docs) > 0 {
			if err := lw.add(uint32(low), l.docs, l.pays, impact); err != nil {
				return err
			}
		}
	}
	lw.finish()
	w.section(secSparseDict, lw.dict)
	return nil
}

func mergeFacets(ctx context.Context, w *imageWriter, inputs []mergeInput, moved [][]uint32) error {
	next := make([]int, len(inputs))
	var f facetWriter
	var ordinals []uint32
	for n := 0; ; n++ {
		if n%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		var token []byte
		for i, in := range inputs {
			if dict := in.seg.sec[secFacetDict]; next[i] < len(dict)/facLen {
				if t := text(in.seg.sec[secFacets], dict, facLen, next[i]); token == nil || bytes.Compare(t, token) < 0 {
					token = t
				}
			}
		}
		if token == nil {
			break
		}
		ordinals = ordinals[:0]
		for i, in := range inputs {
			dict := in.seg.sec[secFacetDict]
			if next[i] >= len(dict)/facLen || !bytes.Equal(text(in.seg.sec[secFacets], dict, facLen, next[i]), token) {
				continue
			}
			bm, err := in.seg.facetAt(next[i])
			if err != nil {
				return err
			}
			for it := bm.Iterator(); it.HasNext(); {
				if o := it.Next(); int(o) < len(moved[i]) && moved[i][o] != droppedChunk {
					ordinals = append(ordinals, moved[i][o])
				}
			}
			next[i]++
		}
		if len(ordinals) > 0 {
			if err := f.add(string(token), ordinals); err != nil {
				return err
			}
		}
	}
	f.write(w)
	return nil
}

// mergeHeap merges into an image on the heap; nil when nothing is kept.
func (x *Index) mergeHeap(ctx context.Context, inputs []mergeInput) (*segment, error) {
	size, kept := 0, 0
	for _, in := range inputs {
		size += len(in.seg.image)
		if in.keep == nil {
			kept += in.seg.chunks
		} else {
			kept += in.keep.count()
		}
	}
	if kept == 0 {
		return nil, nil
	}
	mem := newMemory(size)
	w := newImageWriter(ctx, mem, false)
	if _, err := x.merge(ctx, w, inputs); err != nil {
		return nil, err
	}
	return mem.segment(w)
}
