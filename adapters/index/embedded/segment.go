package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/mnemehq/mneme/core/simd"
)

// A segment is an immutable image of some documents' chunks: the same bytes in
// memory and in a file. All numbers are little-endian.
//
//	magic "MNEMSEG1", u32 version, u32 number of sections, u64 length of the image
//	for each section: u64 offset (a multiple of 8), u64 length, u32 CRC-32C, u32 zero
//	u32 CRC-32C of all before, u32 zero
//	sections
//
// Chunks have ordinals 0..n-1; those of one document follow each other.
// Checksums are zero in an image that never leaves memory.
const (
	segmentMagic   = "MNEMSEG1"
	segmentVersion = 4                        // 2, without cells, and 3, without regions, are read, too
	headerLen      = 24 + sectionCount*24 + 8 // as images are written
	maxChunks      = 1 << 28
)

// The sections.
const (
	secMeta       = iota
	secDocIDs     // ids of documents, sorted, joined
	secDocs       // per document: u32 end in secDocIDs, u32 first ordinal
	secOwner      // per chunk: u32 index of its document
	secNumber     // per chunk: u32 number within the document
	secLength     // per chunk: u16 words
	secTime       // per chunk: i64 Unix ms; empty when all are 0
	secScale      // per chunk: f32 step of its code; 0: no vector
	secCode       // per chunk: dim × i8
	secResidual   // per chunk: dim × i8, in steps of scale/residualSteps
	secCentre     // dim × f32: mean vector; empty, as the next two, in small segments
	secCoarse     // per chunk: dim nibbles, simd.PackNibbles
	secCoarseTerm // per chunk: f32 scale of its coarse code, f32 its product with the centre (no vector: -∞)
	secTerms      // keyword terms, sorted, joined
	secTermDict   // per term: dictionary entry
	secPostings   // keyword posting lists
	secSparseDict // per sparse term: dictionary entry
	secSparse     // sparse posting lists
	secFacets     // facet tokens, sorted, joined
	secFacetDict  // per token: u32 end in secFacets, u32 count, u64 ordinal (count 1) or offset in secFacetBits
	secFacetBits  // roaring bitmaps, portable format
	secCellCode   // per cell: the coarse code of its mean vector; empty, as the next three, without cells
	secCellTerm   // per cell: f32 scale of its code, f32 product with the centre and share of its spread (no vector: -∞)
	secCellEnd    // per cell: u32 end of its rows in secCellRow
	secCellRow    // per chunk: u32 ordinal, cell by cell; secCoarse and secCoarseTerm then stand in the same order
	secRegionCode // per region: the coarse code of its mean vector; empty, as the next two, without cells
	secRegionTerm // per region: as secCellTerm
	secRegionEnd  // per region: u32 end of its cells
	sectionCount

	sectionCount2 = secCellCode   // of version 2
	sectionCount3 = secRegionCode // of version 3
)

const (
	metaLen = 64
	docLen  = 8
	dictLen = 16 // u32 end of the term's text (keyword) or its number (sparse), u32 df, u32 offset, f32 bound
	facLen  = 16
)

var errSegment = errors.New("segment is damaged")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errSegment, fmt.Sprintf(format, args...))
}

// segment reads an image. It is immutable and safe for concurrent use.
type segment struct {
	image []byte
	sum   uint32 // checksum of the header, which covers those of the sections
	sec   [sectionCount][]byte

	chunks, documents, dim int
	words                  uint64  // Σ lengths
	avg                    float32 // mean length that bounds of posting lists were computed with
	minTime, maxTime       int64

	owner, number []uint32
	length        []uint16
	times         []int64
	scale         []float32
	code, residue []int8
	centre        []float32
	coarse        []byte
	coarseTerm    []float32
	cellCode      []byte
	cellTerm      []float32
	cellEnd       []uint32
	cellRow       []uint32
	regionCode    []byte
	regionTerm    []float32
	regionEnd     []uint32

	file       *segmentFile // nil: the image is on the heap
	unverified bool         // when it was opened its codes were left to verifyCodes
}

// view casts bytes to a slice of fixed-size numbers. Sections are aligned, and
// Open refuses big-endian hosts.
func view[T int8 | uint16 | uint32 | int64 | float32](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// raw is the inverse of view.
func raw[T int8 | uint16 | uint32 | int64 | float32](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// headerOf is the length of the header of an image of so many sections.
func headerOf(sections int) int { return 24 + sections*24 + 8 }

// verification says which checksums of an image are compared when it is opened.
type verification int

const (
	verifyNone verification = iota
	verifyAll
	// verifyFirst leaves the codes of vectors of a large image to verifyCodes: they are most of it, and damage to them
	// changes scores, never which chunk or document a row is.
	verifyFirst
)

// verifyLater is the size of an image whose codes verifyFirst leaves: below, it takes some ten milliseconds.
const verifyLater = 32 << 20

var codeSections = []int{secCode, secResidual, secCoarse}

// openSegment checks an image's structure and checksums.
func openSegment(image []byte, verify verification) (*segment, error) {
	if len(image) < headerOf(sectionCount2) || string(image[:8]) != segmentMagic {
		return nil, damaged("no header")
	}
	le := binary.LittleEndian
	sections := sectionCount
	switch v := le.Uint32(image[8:]); v {
	case segmentVersion:
	case 2:
		sections = sectionCount2
	case 3:
		sections = sectionCount3
	default:
		return nil, damaged("version %d, want %d", v, segmentVersion)
	}
	if n := le.Uint32(image[12:]); int(n) != sections {
		return nil, damaged("%d sections, want %d", n, sections)
	}
	if n := le.Uint64(image[16:]); n != uint64(len(image)) || len(image) < headerOf(sections) {
		return nil, damaged("%d bytes, want %d", len(image), n)
	}
	header := headerOf(sections)
	s := &segment{image: image, sum: le.Uint32(image[header-8:])}
	if verify != verifyNone && crc32.Checksum(image[:header-8], castagnoli()) != s.sum {
		return nil, damaged("checksum of the header")
	}
	s.unverified = verify == verifyFirst && len(image) >= verifyLater
	for i := range s.sec[:sections] {
		h := image[24+i*24:]
		off, n := le.Uint64(h), le.Uint64(h[8:])
		if off%8 != 0 || off < uint64(header) || off > uint64(len(image)) || n > uint64(len(image))-off {
			return nil, damaged("place of section %d", i)
		}
		s.sec[i] = image[off : off+n : off+n]
		if verify == verifyNone || s.unverified && slices.Contains(codeSections, i) {
			continue
		}
		if err := s.verifySection(context.Background(), i); err != nil {
			return nil, err
		}
	}
	m := s.sec[secMeta]
	if len(m) != metaLen {
		return nil, damaged("meta")
	}
	s.chunks, s.documents, s.dim = int(le.Uint32(m)), int(le.Uint32(m[4:])), int(le.Uint32(m[8:]))
	s.avg = math.Float32frombits(le.Uint32(m[12:]))
	s.words = le.Uint64(m[16:])
	s.minTime, s.maxTime = int64(le.Uint64(m[24:])), int64(le.Uint64(m[32:]))
	if s.chunks > maxChunks || s.documents > s.chunks || s.dim > 1<<16 || !(s.avg >= 0 && s.avg <= maxPayload) {
		return nil, damaged("counts")
	}
	if n := s.chunks; len(s.sec[secOwner]) != 4*n || len(s.sec[secNumber]) != 4*n || len(s.sec[secLength]) != 2*n ||
		len(s.sec[secDocs]) != docLen*s.documents || len(s.sec[secTime]) != 0 && len(s.sec[secTime]) != 8*n ||
		len(s.sec[secCode]) != n*s.dim || len(s.sec[secResidual]) != n*s.dim || s.dim > 0 && len(s.sec[secScale]) != 4*n ||
		len(s.sec[secCentre]) != 0 && len(s.sec[secCentre]) != 4*s.dim ||
		len(s.sec[secCentre]) != 0 && (len(s.sec[secCoarse]) != n*simd.NibbleBytes(s.dim) || len(s.sec[secCoarseTerm]) != 8*n) ||
		len(s.sec[secTermDict])%dictLen != 0 || len(s.sec[secSparseDict])%dictLen != 0 || len(s.sec[secFacetDict])%facLen != 0 ||
		len(s.sec[secPostings]) < postingsTail || len(s.sec[secSparse]) < postingsTail {
		return nil, damaged("lengths of sections")
	}
	if cells := len(s.sec[secCellEnd]) / 4; len(s.sec[secCellEnd]) != 4*cells || len(s.sec[secCellTerm]) != 8*cells ||
		len(s.sec[secCellCode]) != cells*simd.NibbleBytes(s.dim) ||
		cells > 0 && (len(s.sec[secCellRow]) != 4*s.chunks || len(s.sec[secCentre]) == 0) {
		return nil, damaged("lengths of cells")
	}
	if regions := len(s.sec[secRegionEnd]) / 4; len(s.sec[secRegionEnd]) != 4*regions ||
		len(s.sec[secRegionTerm]) != 8*regions || len(s.sec[secRegionCode]) != regions*simd.NibbleBytes(s.dim) ||
		regions > 0 && len(s.sec[secCellEnd]) == 0 {
		return nil, damaged("lengths of regions")
	}
	s.owner, s.number = view[uint32](s.sec[secOwner]), view[uint32](s.sec[secNumber])
	s.length, s.times = view[uint16](s.sec[secLength]), view[int64](s.sec[secTime])
	s.scale, s.code, s.residue = view[float32](s.sec[secScale]), view[int8](s.sec[secCode]), view[int8](s.sec[secResidual])
	s.centre, s.coarse, s.coarseTerm = view[float32](s.sec[secCentre]), s.sec[secCoarse], view[float32](s.sec[secCoarseTerm])
	s.cellCode, s.cellTerm = s.sec[secCellCode], view[float32](s.sec[secCellTerm])
	s.cellEnd, s.cellRow = view[uint32](s.sec[secCellEnd]), view[uint32](s.sec[secCellRow])
	s.regionCode, s.regionTerm = s.sec[secRegionCode], view[float32](s.sec[secRegionTerm])
	s.regionEnd = view[uint32](s.sec[secRegionEnd])
	return s, nil
}

// verifyCodes compares the checksums that verifyFirst left.
func (s *segment) verifyCodes(ctx context.Context) error {
	for _, i := range codeSections {
		if err := s.verifySection(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *segment) verifySection(ctx context.Context, i int) error {
	sum := uint32(0)
	for part := range slices.Chunk(s.sec[i], checkBytes) {
		if err := ctx.Err(); err != nil {
			return err
		}
		sum = crc32.Update(sum, castagnoli(), part)
	}
	if sum != binary.LittleEndian.Uint32(s.image[24+i*24+16:]) {
		return damaged("checksum of section %d", i)
	}
	return nil
}

// docID is the id of the d-th document; it aliases the image.
func (s *segment) docID(d int) []byte {
	docs := view[uint32](s.sec[secDocs])
	var from uint32
	if d > 0 {
		from = docs[2*d-2]
	}
	return s.sec[secDocIDs][from:docs[2*d]]
}

// docChunks is the range of ordinals of the d-th document.
func (s *segment) docChunks(d int) (from, to int) {
	from = int(view[uint32](s.sec[secDocs])[2*d+1])
	to = from
	for to < s.chunks && int(s.owner[to]) == d {
		to++
	}
	return from, to
}

// cellStart is the place where a cell's rows begin; of what follows the last cell, where they end.
func (s *segment) cellStart(cell uint32) uint32 { return startOf(s.cellEnd, int(cell)) }

// regionStart is the first cell of the i-th region.
func (s *segment) regionStart(i int) uint32 { return startOf(s.regionEnd, i) }

// startOf is where the i-th of some things begins that follow one another and end at ends.
func startOf[T int | uint32](ends []T, i int) T {
	if i == 0 {
		return 0
	}
	return ends[i-1]
}

// find is the index of a document, -1 when it is not here.
func (s *segment) find(id string) int {
	d := sort.Search(s.documents, func(i int) bool { return string(s.docID(i)) >= id })
	if d < s.documents && string(s.docID(d)) == id {
		return d
	}
	return -1
}

// entry is one row of a dictionary.
type entry struct {
	df    int
	off   uint32
	bound float32
}

func dictEntry(dict []byte, i int) (key uint32, e entry) {
	b := dict[i*dictLen : i*dictLen+dictLen]
	le := binary.LittleEndian
	return le.Uint32(b), entry{int(le.Uint32(b[4:])), le.Uint32(b[8:]), math.Float32frombits(le.Uint32(b[12:]))}
}

// text is the i-th string of a joined section whose ends stand in rows of a table.
func text(blob, table []byte, row, i int) []byte {
	var from uint32
	if i > 0 {
		from = binary.LittleEndian.Uint32(table[(i-1)*row:])
	}
	return blob[from:binary.LittleEndian.Uint32(table[i*row:])]
}

// search finds a string in a joined section; -1: it is not there.
func search(blob, table []byte, row int, want string) int {
	lo, hi := 0, len(table)/row
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if string(text(blob, table, row, m)) < want {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(table)/row && string(text(blob, table, row, lo)) == want {
		return lo
	}
	return -1
}

func (s *segment) term(t string) (entry, bool) {
	i := search(s.sec[secTerms], s.sec[secTermDict], dictLen, t)
	if i < 0 {
		return entry{}, false
	}
	_, e := dictEntry(s.sec[secTermDict], i)
	return e, true
}

func (s *segment) sparseTerm(t uint32) (entry, bool) {
	dict := s.sec[secSparseDict]
	n := len(dict) / dictLen
	i := sort.Search(n, func(i int) bool { return binary.LittleEndian.Uint32(dict[i*dictLen:]) >= t })
	if i < n {
		if k, e := dictEntry(dict, i); k == t {
			return e, true
		}
	}
	return entry{}, false
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }
