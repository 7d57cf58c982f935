package embedded

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"
)

// checkBytes of an image are written or verified between looks at the context.
const checkBytes = 1 << 20

// imageWriter writes an image section by section, in any order, each once, until its context ends.
type imageWriter struct {
	ctx   context.Context
	w     io.Writer
	file  bool // it is that of a file: with checksums, and cells
	pos   uint64
	table [sectionCount]struct {
		off, n uint64
		crc    uint32
	}
	cur int
	crc *crc32.Table
	err error
}

// newImageWriter starts behind the header, which finish returns.
func newImageWriter(ctx context.Context, w io.Writer, file bool) *imageWriter {
	return &imageWriter{ctx: ctx, w: w, file: file, pos: headerLen, cur: -1, crc: castagnoli()}
}

// begin starts a section; Write adds to it. In a file it begins with a cache line, so that a row of codes lies in no more
// lines than it must; small images on the heap are spared the room.
func (w *imageWriter) begin(section int) {
	var zero [64]byte
	align := uint64(8)
	if w.file {
		align = 64
	}
	if pad := -w.pos & (align - 1); pad > 0 {
		w.out(zero[:pad])
	}
	w.cur = section
	w.table[section].off = w.pos
}

func (w *imageWriter) out(p []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(p)
	}
	w.pos += uint64(len(p))
}

// Write adds to the current section. Errors are kept for finish.
func (w *imageWriter) Write(p []byte) (int, error) {
	t := &w.table[w.cur]
	for p := range slices.Chunk(p, checkBytes) { // rows of a large file are some GB
		if w.err == nil {
			w.err = w.ctx.Err()
		}
		if w.file && w.err == nil {
			t.crc = crc32.Update(t.crc, w.crc, p)
		}
		t.n += uint64(len(p))
		w.out(p)
	}
	return len(p), w.err
}

func (w *imageWriter) section(section int, p []byte) {
	w.begin(section)
	_, _ = w.Write(p) // finish returns the error
}

// finish returns the header, which belongs at the start.
func (w *imageWriter) finish() ([]byte, error) {
	le := binary.LittleEndian
	h := make([]byte, headerLen)
	copy(h, segmentMagic)
	le.PutUint32(h[8:], segmentVersion)
	le.PutUint32(h[12:], sectionCount)
	le.PutUint64(h[16:], w.pos)
	for i, t := range w.table {
		if t.off == 0 {
			t.off = headerLen // never begun: empty
		}
		le.PutUint64(h[24+i*24:], t.off)
		le.PutUint64(h[32+i*24:], t.n)
		le.PutUint32(h[40+i*24:], t.crc)
	}
	if w.file {
		le.PutUint32(h[headerLen-8:], crc32.Checksum(h[:headerLen-8], w.crc))
	}
	return h, w.err
}

// memory collects an image on the heap.
type memory struct{ b []byte }

func newMemory(size int) *memory { return &memory{make([]byte, headerLen, headerLen+size)} }

func (m *memory) Write(p []byte) (int, error) {
	m.b = append(m.b, p...)
	return len(p), nil
}

// segment opens the collected image.
func (m *memory) segment(w *imageWriter) (*segment, error) {
	h, err := w.finish()
	if err != nil {
		return nil, err
	}
	copy(m.b, h)
	if cap(m.b)-len(m.b) > max(4096, len(m.b)/32) {
		m.b = append([]byte(nil), m.b...) // whose capacity is all that the allocator gives
	}
	return openSegment(m.b, verifyNone)
}

type meta struct {
	chunks, documents, dim int
	words                  uint64
	avg                    float32
	minTime, maxTime       int64
}

func (m meta) bytes() []byte {
	le := binary.LittleEndian
	b := make([]byte, metaLen)
	le.PutUint32(b, uint32(m.chunks))
	le.PutUint32(b[4:], uint32(m.documents))
	le.PutUint32(b[8:], uint32(m.dim))
	le.PutUint32(b[12:], math.Float32bits(m.avg))
	le.PutUint64(b[16:], m.words)
	le.PutUint64(b[24:], uint64(m.minTime))
	le.PutUint64(b[32:], uint64(m.maxTime))
	return b
}
