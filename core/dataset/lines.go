package dataset

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line. A text of 256 KiB with all its vectors takes a few MiB.
const maxLine = 256 << 20

var encoding = base64.RawURLEncoding.Strict()

// chain is the running hash of lines.
type chain [32]byte

func lineHash(kind string, data []byte) [32]byte {
	h := sha256.New()
	_, _ = io.WriteString(h, kind+"\n") // never fails
	_, _ = h.Write(data)
	return [32]byte(h.Sum(nil))
}

func (c *chain) next(hash [32]byte) {
	h := sha256.New()
	_, _ = h.Write(c[:]) // never fails
	_, _ = h.Write(hash[:])
	*c = chain(h.Sum(nil))
}

// marshal encodes the data of a line without escaping HTML, so that metadata and
// stored answers keep their bytes.
func marshal(into *bytes.Buffer, v any) ([]byte, error) {
	into.Reset()
	e := json.NewEncoder(into)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(into.Bytes(), []byte("\n")), nil
}

// Writer writes the lines of a data set. It is not safe for concurrent use.
type Writer struct {
	w     io.Writer
	chain chain
	lines int64
	data  bytes.Buffer
	line  []byte
}

// NewWriter writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Lines is how many were written.
func (w *Writer) Lines() int64 { return w.lines }

// Chain is the running hash of the lines written so far.
func (w *Writer) Chain() string { return encoding.EncodeToString(w.chain[:]) }

// Continue makes w write on after the lines that a Scan has read.
func (w *Writer) Continue(after *Scan) { w.chain, w.lines = after.r.chain, after.r.lines }

// Write implements Sink.
func (w *Writer) Write(kind string, v any) ([32]byte, error) {
	data, err := marshal(&w.data, v)
	if err != nil {
		return [32]byte{}, fmt.Errorf("encode %s: %w", kind, err)
	}
	hash := lineHash(kind, data)
	w.chain.next(hash)
	b := append(w.line[:0], `{"type":"`...)
	b = append(append(append(b, kind...), `","data":`...), data...)
	b = encoding.AppendEncode(append(b, `,"hash":"`...), hash[:])
	b = encoding.AppendEncode(append(b, `","chain":"`...), w.chain[:])
	w.line = append(b, "\"}\n"...)
	if _, err := w.w.Write(w.line); err != nil {
		return hash, fmt.Errorf("write the data set: %w", err)
	}
	w.lines++
	return hash, nil
}

// lineReader reads lines and checks them.
type lineReader struct {
	limit int // bytes of a line
	r     *bufio.Reader
	chain chain
	lines int64 // read so far
	long  []byte
}

// Line is a line that was read. Data is valid until the next one is read.
type Line struct {
	Kind string
	Data []byte
	Hash [32]byte
}

// Decode reads the data; a field that this version does not know is an error.
func (l *Line) Decode(into any) error {
	d := json.NewDecoder(bytes.NewReader(l.Data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", l.Kind, err)
	}
	return nil
}

// Damaged is the error of a data set that was changed after it was written.
type Damaged struct {
	Line   int64
	Reason string
}

// Error names the line.
func (d *Damaged) Error() string { return fmt.Sprintf("line %d: %s", d.Line, d.Reason) }

func (r *lineReader) damaged(format string, args ...any) error {
	return &Damaged{r.lines, fmt.Sprintf(format, args...)}
}

// ErrCut is inside the error of a data set whose last line is not whole.
var ErrCut = errors.New("the file is cut off")

// ErrLong is inside the error of a line that is longer than the limit.
var ErrLong = errors.New("the line is too long")

// next reads a line; io.EOF after the last one.
func (r *lineReader) next() (Line, error) {
	raw, err := r.read()
	if err != nil {
		return Line{}, err
	}
	r.lines++
	if !bytes.HasSuffix(raw, []byte("\n")) {
		return Line{}, fmt.Errorf("%w: %w", r.damaged("it does not end"), ErrCut)
	}
	l, sum, ok := parse(raw[:len(raw)-1])
	if !ok {
		return Line{}, r.damaged("it is not a line of a data set")
	}
	if lineHash(l.Kind, l.Data) != l.Hash {
		return Line{}, r.damaged("its hash does not fit: it was altered")
	}
	r.chain.next(l.Hash)
	if r.chain != sum {
		return Line{}, r.damaged("the running hash does not fit: a line before was altered, added or left out")
	}
	return l, nil
}

// read reads to the end of a line.
func (r *lineReader) read() ([]byte, error) {
	r.long = r.long[:0]
	for {
		part, err := r.r.ReadSlice('\n')
		if err == nil && len(r.long) == 0 {
			return part, nil
		}
		if len(r.long)+len(part) > r.limit {
			r.lines++
			return nil, fmt.Errorf("%w: %w", r.damaged("it is longer than %d bytes", r.limit), ErrLong)
		}
		r.long = append(r.long, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(r.long) > 0, err == nil:
			return r.long, nil
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case errors.Is(err, io.ErrUnexpectedEOF): // of a compressed file
			r.lines++
			return nil, fmt.Errorf("%w: %w", r.damaged("it does not end"), ErrCut)
		default:
			r.lines++
			return nil, fmt.Errorf("line %d: %w", r.lines, err)
		}
	}
}

// parse splits a line, which must have the exact form that Writer writes.
func parse(b []byte) (l Line, sum chain, ok bool) {
	const tail = len(`,"hash":"","chain":""}`) + 2*43
	rest, ok := bytes.CutPrefix(b, []byte(`{"type":"`))
	if !ok {
		return l, sum, false
	}
	kind, rest, ok := bytes.Cut(rest, []byte(`","data":`))
	if !ok || len(rest) < tail || len(kind) > 32 {
		return l, sum, false
	}
	l.Kind, l.Data = string(kind), rest[:len(rest)-tail]
	rest, ok = bytes.CutPrefix(rest[len(rest)-tail:], []byte(`,"hash":"`))
	if !ok || !decodeHash(l.Hash[:], rest[:43]) {
		return l, sum, false
	}
	rest, ok = bytes.CutPrefix(rest[43:], []byte(`","chain":"`))
	if !ok || !decodeHash(sum[:], rest[:43]) || string(rest[43:]) != `"}` {
		return l, sum, false
	}
	return l, sum, true
}

func decodeHash(into, text []byte) bool {
	n, err := encoding.Decode(into, text)
	return err == nil && n == len(into)
}
