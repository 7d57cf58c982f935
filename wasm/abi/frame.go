package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Request is a request frame. For mneme_rerank the first row is the query.
type Request struct {
	Rows  []string // UTF-8
	Query bool     // the rows are queries, not passages
}

// Size is the length of the frame in bytes.
func (r Request) Size() int {
	n := requestHeader + 8*len(r.Rows)
	for _, s := range r.Rows {
		n += len(s)
	}
	return n
}

// Append appends the frame to dst: u32 version, rows, flags, 0 | rows x {u32
// off, u32 len} | text. Offsets count from the frame's start. It fails on more
// than MaxRows rows or MaxFrame bytes and on invalid UTF-8.
func (r Request) Append(dst []byte) ([]byte, error) {
	if len(r.Rows) > MaxRows {
		return nil, fmt.Errorf("request of %d rows, at most %d", len(r.Rows), MaxRows)
	}
	if r.Size() > MaxFrame {
		return nil, fmt.Errorf("request of %d bytes, at most %d", r.Size(), MaxFrame)
	}
	flags := uint32(0)
	if r.Query {
		flags = flagQuery
	}
	le := binary.LittleEndian
	for _, v := range []uint32{frameVersion, uint32(len(r.Rows)), flags, 0} {
		dst = le.AppendUint32(dst, v)
	}
	at := requestHeader + 8*len(r.Rows)
	for i, s := range r.Rows {
		if !utf8.ValidString(s) {
			return nil, fmt.Errorf("text %d is not valid UTF-8", i)
		}
		dst = le.AppendUint32(dst, uint32(at))
		dst = le.AppendUint32(dst, uint32(len(s)))
		at += len(s)
	}
	for _, s := range r.Rows {
		dst = append(dst, s...)
	}
	return dst, nil
}

// Understood tells whether a request's version and flags are those of this
// package: others ask for what a guest does not do. A frame too short to tell is
// for ParseRequest to refuse.
func Understood(b []byte) bool {
	le := binary.LittleEndian
	return len(b) < requestHeader || le.Uint32(b) == frameVersion && le.Uint32(b[8:])&^flagQuery == 0
}

// ParseRequest reads a request frame; a guest in Go uses it. Nothing in the
// result aliases b.
func ParseRequest(b []byte) (Request, error) {
	le := binary.LittleEndian
	if len(b) < requestHeader || len(b) > MaxFrame {
		return Request{}, fmt.Errorf("request frame of %d bytes", len(b))
	}
	version, rows, flags, zero := le.Uint32(b), le.Uint32(b[4:]), le.Uint32(b[8:]), le.Uint32(b[12:])
	if version != frameVersion || flags&^flagQuery != 0 || zero != 0 {
		return Request{}, fmt.Errorf("request frame version %d with flags %#x and %d", version, flags, zero)
	}
	if rows > MaxRows || int(rows) > (len(b)-requestHeader)/8 {
		return Request{}, fmt.Errorf("request frame of %d rows in %d bytes", rows, len(b))
	}
	out := Request{Query: flags&flagQuery != 0, Rows: make([]string, rows)}
	total := 0
	for i := range out.Rows {
		off, n := uint64(le.Uint32(b[requestHeader+8*i:])), uint64(le.Uint32(b[requestHeader+8*i+4:]))
		if off+n > uint64(len(b)) {
			return Request{}, fmt.Errorf("row %d lies outside the frame", i)
		}
		// Rows may share bytes; together they may not be larger than a frame.
		if total += int(n); total > MaxFrame {
			return Request{}, errors.New("rows overlap to more than a frame can hold")
		}
		out.Rows[i] = string(b[off : off+n])
		if !utf8.ValidString(out.Rows[i]) {
			return Request{}, fmt.Errorf("row %d is not valid UTF-8", i)
		}
	}
	return out, nil
}

// Result is a result frame. Kind says which of the slices are set.
type Result struct {
	Kind   Kind
	Rows   int
	Dim    int       // of a dense vector
	Floats []float32 // dense: Rows*Dim, row-major; scores: Rows; sparse: a weight a term
	Index  []uint32  // sparse and ids: Rows+1 offsets into Terms
	Terms  []uint32  // sparse terms, rising within a row; token ids
	Counts []uint32  // counts: Rows
	Text   []string  // text: Rows
	Tokens []uint32  // tokens read per row; nil when not reported
	Cut    []uint32  // scores: per row not 0 where the text did not fit the window; nil when not reported
}

var errFrame = errors.New("result frame")

// ParseResult reads the result frame of a module, which may be hostile: every
// offset and count is checked against b and against the limits before anything
// is allocated. An error frame comes back as *Error. Nothing aliases b.
//
// Header: u32 kind, rows, dim, nnz, body_off, tokens_off (0 none), code, total.
// Of scores nnz is cut_off (0 none).
func ParseResult(b []byte) (Result, error) {
	bad := func(format string, args ...any) (Result, error) {
		return Result{}, fmt.Errorf("%w: %s", errFrame, fmt.Sprintf(format, args...))
	}
	if len(b) < resultHeader {
		return bad("%d bytes, shorter than its header", len(b))
	}
	var h [8]uint32
	for i := range h {
		h[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	kind, rows, dim, nnz, body, tokens, total := Kind(h[0]), uint64(h[1]), uint64(h[2]), uint64(h[3]), uint64(h[4]),
		uint64(h[5]), uint64(h[7])
	if total != uint64(len(b)) || total > MaxFrame {
		return bad("says %d bytes, has %d", total, len(b))
	}
	if rows > MaxRows || dim > MaxDim {
		return bad("%d rows of %d", rows, dim)
	}
	if body < resultHeader || body > total {
		return bad("body at %d of %d", body, total)
	}
	// words reads n u32 at off, or fails when they do not fit.
	words := func(off, n uint64) ([]uint32, bool) {
		if n > total/4 || off > total || 4*n > total-off {
			return nil, false
		}
		out := make([]uint32, n)
		for i := range out {
			out[i] = binary.LittleEndian.Uint32(b[off+4*uint64(i):])
		}
		return out, true
	}
	floats := func(off, n uint64) ([]float32, bool) {
		if n > total/4 || off > total || 4*n > total-off {
			return nil, false
		}
		out := make([]float32, n)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[off+4*uint64(i):]))
		}
		return out, true
	}
	r := Result{Kind: kind, Rows: int(rows), Dim: int(dim)}
	var ok bool
	switch kind {
	case KindError:
		return Result{}, &Error{Code: Code(h[6]), Message: Printable(b[body:min(len(b), int(body)+maxMessage)])}
	case KindDense:
		if r.Floats, ok = floats(body, rows*dim); !ok {
			return bad("%d rows of %d do not fit %d bytes", rows, dim, total)
		}
		if i, wild := notFinite(r.Floats); wild {
			return bad("row %d, dimension %d is %g, which is not finite", i/int(dim), i%int(dim), r.Floats[i])
		}
	case KindScores:
		if r.Floats, ok = floats(body, rows); !ok {
			return bad("%d scores do not fit %d bytes", rows, total)
		}
		if i, wild := notFinite(r.Floats); wild {
			return bad("score %d is %g, which is not finite", i, r.Floats[i])
		}
		if cut := nnz; ok && cut != 0 {
			if r.Cut, ok = words(cut, rows); !ok || cut < resultHeader {
				return bad("cut texts at %d of %d", cut, total)
			}
		}
	case KindSparse, KindIDs:
		if r.Index, ok = words(body, rows+1); !ok {
			break
		}
		if r.Terms, ok = words(body+4*(rows+1), nnz); !ok || !validIndex(r.Index, nnz) {
			return bad("%d terms do not fit %d rows", nnz, rows)
		}
		if kind == KindIDs {
			break
		}
		if r.Floats, ok = floats(body+4*(rows+1+nnz), nnz); ok {
			if i, wild := notFinite(r.Floats); wild {
				return bad("weight %d, of term %d, is %g, which is not finite", i, r.Terms[i], r.Floats[i])
			}
			if row := falling(r.Index, r.Terms); row >= 0 {
				return bad("the terms of row %d do not rise", row)
			}
		}
	case KindText:
		var table []uint32
		if table, ok = words(body, 2*rows); !ok {
			break
		}
		sum := uint64(0)
		r.Text = make([]string, rows)
		for i := range r.Text {
			off, n := uint64(table[2*i]), uint64(table[2*i+1])
			if sum += n; off+n > total || sum > total || !utf8.Valid(b[off:off+n]) {
				return bad("text %d is outside the frame or not UTF-8", i)
			}
			r.Text[i] = string(b[off : off+n])
		}
	case KindCounts:
		r.Counts, ok = words(body, rows)
	default:
		return bad("unknown kind %d", kind)
	}
	if !ok {
		return bad("kind %d: the values of %d rows do not fit %d bytes", kind, rows, total)
	}
	if tokens != 0 {
		if r.Tokens, ok = words(tokens, rows); !ok || tokens < resultHeader {
			return bad("token counts at %d of %d", tokens, total)
		}
	}
	return r, nil
}

// Append appends the frame to dst; a guest in Go and tests of the host use it.
func (r Result) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, resultHeader)...)
	le := binary.LittleEndian
	words := func(v []uint32) {
		for _, x := range v {
			dst = le.AppendUint32(dst, x)
		}
	}
	words(r.Index)
	words(r.Terms)
	for _, x := range r.Floats {
		dst = le.AppendUint32(dst, math.Float32bits(x))
	}
	words(r.Counts)
	at := resultHeader + 8*len(r.Text)
	for _, s := range r.Text {
		words([]uint32{uint32(at), uint32(len(s))})
		at += len(s)
	}
	for _, s := range r.Text {
		dst = append(dst, s...)
	}
	// table appends what is reported per row and gives its offset; 0 for none.
	table := func(v []uint32) int {
		if v == nil {
			return 0
		}
		for (len(dst)-start)%4 != 0 {
			dst = append(dst, 0)
		}
		at := len(dst) - start
		words(v)
		return at
	}
	tokens, nnz := table(r.Tokens), len(r.Terms)
	if r.Kind == KindScores {
		nnz = table(r.Cut)
	}
	for i, v := range []int{int(r.Kind), r.Rows, r.Dim, nnz, resultHeader, tokens, 0, len(dst) - start} {
		le.PutUint32(dst[start+4*i:], uint32(v))
	}
	return dst
}

// IsError tells whether a result frame is an error.
func IsError(b []byte) bool {
	return len(b) >= resultHeader && Kind(binary.LittleEndian.Uint32(b)) == KindError
}

// AppendError appends an error frame to dst.
func AppendError(dst []byte, e Error) []byte {
	for _, v := range []uint32{uint32(KindError), 0, 0, 0, resultHeader, 0, uint32(e.Code),
		uint32(resultHeader + len(e.Message))} {
		dst = binary.LittleEndian.AppendUint32(dst, v)
	}
	return append(dst, e.Message...)
}

// Printable makes one line of a module's words: control characters become
// spaces, and what is not UTF-8 its replacement.
func Printable(b []byte) string {
	out := make([]rune, 0, len(b))
	for _, r := range string(b) {
		if r < ' ' || r == 0x7F {
			r = ' '
		}
		out = append(out, r)
	}
	return string(out)
}

// notFinite finds a NaN or an infinity.
func notFinite(v []float32) (at int, found bool) {
	for i, x := range v {
		if d := x - x; d != 0 {
			return i, true
		}
	}
	return 0, false
}

// validIndex reports whether offsets rise from 0 to n.
func validIndex(index []uint32, n uint64) bool {
	if index[0] != 0 || uint64(index[len(index)-1]) != n {
		return false
	}
	for i := 1; i < len(index); i++ {
		if index[i] < index[i-1] {
			return false
		}
	}
	return true
}

// falling is the first row whose terms do not rise strictly; -1: there is none.
func falling(index, terms []uint32) int {
	for r := 1; r < len(index); r++ {
		row := terms[index[r-1]:index[r]]
		for i := 1; i < len(row); i++ {
			if row[i] <= row[i-1] {
				return r - 1
			}
		}
	}
	return -1
}
