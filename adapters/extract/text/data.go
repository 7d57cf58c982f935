package text

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// stride is how many rows, elements or cues are read between looks at the context.
const stride = 256

// Rows writes a table as a list, an item a row: what the columns are called is in each,
// so that a chunk of some rows says what they mean.
type Rows struct {
	Header []string // may be empty
	out    strings.Builder
}

// Add writes a row; an empty one is left out.
func (r *Rows) Add(cells []string) {
	begun := false
	for i, c := range cells {
		if c = strings.Join(strings.Fields(c), " "); c == "" {
			continue
		}
		switch {
		case begun:
			r.out.WriteString("; ")
		default:
			r.out.WriteString("- ")
		}
		begun = true
		if i < len(r.Header) {
			if h := strings.Join(strings.Fields(r.Header[i]), " "); h != "" {
				r.out.WriteString(h + ": ")
			}
		}
		r.out.WriteString(c)
	}
	if begun {
		r.out.WriteByte('\n')
	}
}

// Len is the number of bytes so far.
func (r *Rows) Len() int { return r.out.Len() }

// String gives the list.
func (r *Rows) String() string { return strings.TrimRight(r.out.String(), "\n") }

func tooLong(most int) error {
	return port.FileErrorf(port.FileTooLarge, nil, "holds more than %d bytes of text", most)
}

// table reads rows whose first one names the columns.
func table(comma rune) func(*Extractor, context.Context, port.File, string) (port.Extracted, error) {
	return func(e *Extractor, ctx context.Context, _ port.File, text string) (port.Extracted, error) {
		in := csv.NewReader(strings.NewReader(text))
		in.Comma, in.FieldsPerRecord, in.LazyQuotes, in.ReuseRecord = comma, -1, true, true
		if first, _, _ := strings.Cut(text, "\n"); comma == ',' && !strings.Contains(first, ",") && strings.Contains(first, ";") {
			in.Comma = ';' // as programs write it where the comma is a decimal point
		}
		var rows Rows
		for n := 0; ; n++ {
			if n%stride == 0 && ctx.Err() != nil {
				return port.Extracted{}, ctx.Err()
			}
			cells, err := in.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return port.Extracted{}, port.FileErrorf(port.FileBroken, err, "is no table: %v", err)
			}
			if n == 0 {
				rows.Header = append(rows.Header, cells...)
				continue
			}
			if rows.Add(cells); rows.Len() > e.limits.Text {
				return port.Extracted{}, tooLong(e.limits.Text)
			}
		}
		if rows.Len() == 0 { // names of columns alone
			header := Rows{}
			header.Add(rows.Header)
			rows = header
		}
		return one(rows.String()), nil
	}
}

// tree reads JSON: every value becomes a line with its path.
func tree(e *Extractor, ctx context.Context, _ port.File, text string) (port.Extracted, error) {
	in := json.NewDecoder(strings.NewReader(text))
	in.UseNumber()
	w := walk{ctx: ctx, in: in, most: e.limits.Text, depth: e.limits.Depth}
	for {
		err := w.value("")
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
			return port.Extracted{}, port.FileErrorf(port.FileBroken, err, "is no JSON: byte %d: %v", in.InputOffset(), err)
		}
		if err != nil {
			return port.Extracted{}, err
		}
		w.out.WriteByte('\n')
	}
	out := strings.TrimSpace(w.out.String())
	if out == "" {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no value")
	}
	return one(out), nil
}

type walk struct {
	ctx         context.Context
	in          *json.Decoder
	out         strings.Builder
	most, depth int
	at, seen    int // nesting, values
}

// value writes the value at hand. io.EOF is its error when there is none.
func (w *walk) value(path string) error {
	if w.seen++; w.seen%stride == 0 && w.ctx.Err() != nil {
		return w.ctx.Err()
	}
	t, err := w.in.Token()
	if err != nil {
		if w.at > 0 && errors.Is(err, io.EOF) {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if w.at++; w.at > w.depth {
			return port.FileErrorf(port.FileTooLarge, nil, "has values nested deeper than %d", w.depth)
		}
		defer func() { w.at-- }()
		for i := 1; w.in.More(); i++ {
			next := fmt.Sprintf("%s[%d]", path, i)
			if t == '{' {
				name, err := w.in.Token()
				if err != nil {
					return err
				}
				if next = fmt.Sprint(name); path != "" {
					next = path + "." + next
				}
			}
			if len(next) > maxPath {
				next = next[len(next)-maxPath:]
			}
			if err := w.value(next); err != nil {
				return err
			}
		}
		if _, err := w.in.Token(); err != nil {
			if errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if t == '{' && w.at <= 2 { // records stand apart
			w.out.WriteByte('\n')
		}
		return nil
	case nil:
		return nil
	default:
		text := strings.TrimSpace(fmt.Sprint(t))
		if text == "" {
			return nil
		}
		if path != "" {
			w.out.WriteString(path + ": ")
		}
		w.out.WriteString(text + "\n")
	}
	if w.out.Len() > w.most {
		return tooLong(w.most)
	}
	return nil
}

// maxPath bounds the path before a value, in bytes: of a deep one its end.
const maxPath = 200

// markup reads XML: the text of each element becomes a line with the element's name.
func markup(e *Extractor, ctx context.Context, _ port.File, text string) (port.Extracted, error) {
	in := xml.NewDecoder(strings.NewReader(text))
	in.Strict = false
	in.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is decoded already
	var out, line strings.Builder
	var names []string
	flush := func() {
		s := strings.Join(strings.Fields(line.String()), " ")
		line.Reset()
		if s == "" {
			return
		}
		if len(names) > 0 {
			out.WriteString(names[len(names)-1] + ": ")
		}
		out.WriteString(s + "\n")
	}
	for n := 0; ; n++ {
		if n%stride == 0 && ctx.Err() != nil {
			return port.Extracted{}, ctx.Err()
		}
		t, err := in.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return port.Extracted{}, port.FileErrorf(port.FileBroken, err, "is no XML: %v", err)
		}
		switch t := t.(type) {
		case xml.StartElement:
			flush()
			if len(names) == e.limits.Depth {
				return port.Extracted{}, port.FileErrorf(port.FileTooLarge, nil, "has elements nested deeper than %d",
					e.limits.Depth)
			}
			names = append(names, t.Name.Local)
			for _, a := range t.Attr {
				if v := strings.TrimSpace(a.Value); v != "" && a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					out.WriteString(t.Name.Local + " " + a.Name.Local + ": " + strings.Join(strings.Fields(v), " ") + "\n")
				}
			}
		case xml.EndElement:
			flush()
			if len(names) > 0 {
				names = names[:len(names)-1]
			}
			if len(names) == 1 {
				out.WriteByte('\n') // records stand apart
			}
		case xml.CharData:
			line.Write(bytes.ToValidUTF8(t, nil))
		}
		if out.Len()+line.Len() > e.limits.Text {
			return port.Extracted{}, tooLong(e.limits.Text)
		}
	}
	flush()
	s := strings.TrimSpace(out.String())
	if s == "" {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	return one(s), nil
}
