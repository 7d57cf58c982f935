package importer

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
)

const (
	maxFile = 64 << 20 // of a file that is read whole
	maxLine = 8 << 20  // a text of MaxText with every character escaped, and metadata
)

// Item is one step of reading a file: a record or a problem, never both, or
// neither at the file's end.
type Item struct {
	Record  *Record
	Problem *Problem
	Read    int64 // bytes of the file read so far; compressed ones for .gz
	Mark    Mark  // where reading can go on after this item
}

// Mark is how far a file has been imported. Offset, Line and Sum are of what a
// .gz file holds; Offset 0 means from the start.
type Mark struct {
	Size    int64  `json:"size"`  // of the file
	ModTime int64  `json:"mtime"` // Unix nanoseconds
	Offset  int64  `json:"offset"`
	Line    int    `json:"line,omitempty"`
	Sum     string `json:"sum"` // SHA-256 of the bytes before Offset, hexadecimal
	Done    bool   `json:"done,omitempty"`
	Parts   int    `json:"parts,omitempty"`   // documents made of a long text; 0: one
	Failed  int    `json:"failed,omitempty"`  // problems met so far
	Reading int    `json:"reading,omitempty"` // how often the file was read from its start; 0: by a version that didn't count
}

// Read gives a file's items in order, starting after a mark of an earlier run
// (the zero Mark: from the start). A file that no longer begins as it did then is
// read from the start. emit's error ends the reading and is returned.
//
// JSON lines are objects with text and, optionally, id, title and metadata; the
// keys _id and meta are taken for id and metadata, other keys are left out. A
// title becomes the first heading. A record without an id gets one from its
// file's name and its content, an illegal id becomes a LegalID and is kept as
// metadata original_id. Documents of files carry metadata path, title and
// modified_at, what the file says of itself, and those cut into parts also part and
// parts (file.Compose).
//
// A file or line that cannot be read, holds NUL, is neither UTF-8 nor in the
// file's Encoding, or breaks a rule of documents is a Problem. The error is emit's,
// the context's, or a *Problem when the rest of the file is lost.
func (f File) Read(ctx context.Context, from Mark, emit func(Item) error) error {
	in, err := f.FS.Open(f.Path)
	if err != nil {
		return &Problem{At: Position{File: f.Name}, Err: err}
	}
	defer closeReader(in)
	r := &reader{ctx: ctx, file: f, emit: emit, raw: &counter{r: in}}
	r.mark = Mark{Size: f.Size, ModTime: f.ModTime.UnixNano(), Reading: from.Reading + 1}
	switch f.Kind {
	case JSONLines:
		return r.jsonLines(from)
	case JSON:
		return r.json()
	}
	return r.document()
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

type reader struct {
	ctx   context.Context
	file  File
	emit  func(Item) error
	raw   *counter
	mark  Mark
	ahead func() int64 // bytes of raw that no item stands for yet; nil: none
}

func (r *reader) emitItem(rec *Record, bad *Problem) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if bad != nil {
		r.mark.Failed++
	}
	read := r.raw.n
	if r.ahead != nil {
		read -= r.ahead()
	}
	return r.emit(Item{Record: rec, Problem: bad, Read: read, Mark: r.mark})
}

func (r *reader) problem(line int, id string, err error) error {
	return r.emitItem(nil, &Problem{At: Position{File: r.file.Name, Line: line}, ID: id, Err: err})
}

// document reads a file that is one document, or several when it is long.
func (r *reader) document() error {
	page, err := io.ReadAll(io.LimitReader(r.raw, maxFile+1))
	if err != nil {
		return &Problem{At: Position{File: r.file.Name}, Err: err}
	}
	r.mark.Sum, r.mark.Done, r.mark.Offset = digest(sum(page)), true, int64(len(page))
	if len(page) > maxFile {
		return r.problem(0, "", fmt.Errorf("is larger than %d MiB", maxFile>>20))
	}
	charset, err := r.charset()
	if err != nil {
		return r.problem(0, "", err)
	}
	x, err := r.file.Extractor.Extract(r.ctx, port.File{Name: r.file.Name, Charset: charset, Content: page})
	if errors.As(err, new(*port.FileError)) {
		return r.problem(0, "", refusalOf(err))
	}
	if err != nil {
		return err
	}
	more := map[string]any{"path": r.file.Name}
	if !r.file.ModTime.IsZero() { // files within a program have none
		more["modified_at"] = r.file.ModTime.UTC().Format(time.RFC3339)
	}
	docs, err := file.Compose(r.file.Name, x, more)
	if err != nil {
		return r.problem(0, "", errors.New(fault.From(err).Message))
	}
	if len(docs) > 1 {
		r.mark.Parts = len(docs)
	}
	end := r.mark
	r.mark.Done, r.mark.Offset, r.mark.Sum = false, 0, "" // until the last part
	var done, whole int64
	for _, d := range docs {
		whole += int64(len(d.Text))
	}
	// What is left of the file is as much as what is left of its text: progress is
	// counted in what was written, not in what was read.
	r.ahead = func() int64 { return r.raw.n - r.raw.n*done/whole }
	for i, d := range docs {
		done += int64(len(d.Text))
		if i == len(docs)-1 {
			r.mark = end
		}
		rec := &Record{ID: d.ID, Text: d.Text, Metadata: d.Metadata, At: Position{File: r.file.Name}}
		if err := r.emitItem(rec, nil); err != nil {
			return err
		}
	}
	return nil
}

// charset is what text that is not UTF-8 is to be read in.
func (r *reader) charset() (string, error) {
	if r.file.Encoding == nil {
		return text.UTF8, nil // it is not guessed: the user names it, or sees the file refused
	}
	return htmlindex.Name(r.file.Encoding)
}

func refusalOf(err error) error {
	var why *port.FileError
	if errors.As(err, &why) {
		return refusal{why}
	}
	return err
}

// refusal is why a file was not read, as a report tells it.
type refusal struct{ *port.FileError }

// Error leaves the code out.
func (r refusal) Error() string { return r.Message }

// Unwrap gives the whole error.
func (r refusal) Unwrap() error { return r.FileError }

// NotUTF8 reports that what a Problem says is cured by an encoding.
func (p *Problem) NotUTF8() bool { return errors.Is(p.Err, text.ErrEncoding) }

// decode gives a file's text as UTF-8.
func (r *reader) decode(content []byte) (string, error) {
	charset, err := r.charset()
	if err != nil {
		return "", err
	}
	out, err := text.Decode(content, charset)
	return out, refusalOf(err)
}

// jsonLines reads records a line each.
func (r *reader) jsonLines(from Mark) error {
	lost := func(err error) error {
		return &Problem{At: Position{File: r.file.Name, Line: r.mark.Line + 1}, Err: err}
	}
	file := bufio.NewReaderSize(r.raw, 256<<10)
	var content io.Reader = file
	r.ahead = func() int64 { return int64(file.Buffered()) }
	if strings.HasSuffix(strings.ToLower(r.file.Name), ".gz") {
		z, err := gzip.NewReader(content)
		if err != nil {
			return lost(fmt.Errorf("not a gzip file: %w", err))
		}
		defer closeReader(z)
		content = z
	}
	seen := sha256.New()
	in := bufio.NewReaderSize(content, 256<<10)
	if from.Offset > 0 {
		same, err := r.skip(in, seen, from)
		if err != nil {
			return lost(err)
		}
		if !same { // another file now, or a last line that has grown
			again, err := r.file.FS.Open(r.file.Path)
			if err != nil {
				return lost(err)
			}
			defer closeReader(again)
			restart := &reader{
				ctx:  r.ctx,
				file: r.file,
				emit: r.emit,
				raw:  &counter{r: again},
				mark: Mark{Size: r.mark.Size, ModTime: r.mark.ModTime, Reading: r.mark.Reading},
			}
			return restart.jsonLines(Mark{})
		}
	}
	for {
		line, long, err := readLine(in, seen)
		if err != nil && !errors.Is(err, io.EOF) {
			return lost(err)
		}
		ended := errors.Is(err, io.EOF)
		if ended && line.size == 0 {
			break
		}
		r.mark.Line++
		r.mark.Offset += line.size
		r.mark.Sum = digest(seen)
		switch text := bytes.TrimSpace(line.text); {
		case long:
			err = r.problem(r.mark.Line, "", fmt.Errorf("is longer than %d MiB", maxLine>>20))
		case len(text) == 0:
			err = nil
		default:
			rec, bad := r.record(text, Position{File: r.file.Name, Line: r.mark.Line})
			err = r.emitItem(rec, bad)
		}
		if err != nil {
			return err
		}
		if ended {
			break
		}
	}
	r.mark.Done = true
	return r.emitItem(nil, nil)
}

// skip reads up to a mark and reports whether the file still begins as it did.
func (r *reader) skip(in *bufio.Reader, seen hash.Hash, from Mark) (bool, error) {
	last := &lastByte{}
	n, err := io.CopyN(io.MultiWriter(seen, last), in, from.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if n < from.Offset || digest(seen) != from.Sum {
		return false, nil
	}
	if next, err := in.Peek(1); last.b != '\n' && err == nil && next[0] != '\n' {
		return false, nil
	}
	r.mark.Offset, r.mark.Line, r.mark.Sum, r.mark.Failed = from.Offset, from.Line, from.Sum, from.Failed
	r.mark.Reading = max(from.Reading, 1)
	return true, r.ctx.Err()
}

type lastByte struct{ b byte }

func (l *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		l.b = p[len(p)-1]
	}
	return len(p), nil
}

type rawLine struct {
	text []byte
	size int64 // with the line end
}

// readLine reads a line of any length and keeps it when it is not too long.
func readLine(in *bufio.Reader, seen hash.Hash) (l rawLine, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		seen.Write(piece)
		l.size += int64(len(piece))
		if long = long || len(l.text)+len(piece) > maxLine; !long {
			l.text = append(l.text, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, long, err
		}
	}
}

// json reads a file that holds records in an array, or one after another.
func (r *reader) json() error {
	page, err := io.ReadAll(io.LimitReader(r.raw, maxFile+1))
	if err != nil {
		return &Problem{At: Position{File: r.file.Name}, Err: err}
	}
	end := r.mark
	end.Sum, end.Done, end.Offset = digest(sum(page)), true, int64(len(page))
	fail := func(err error) error {
		end.Failed = r.mark.Failed
		r.mark, r.ahead = end, nil
		return r.problem(0, "", err)
	}
	if len(page) > maxFile {
		return fail(fmt.Errorf("is larger than %d MiB; JSON lines have no such limit", maxFile>>20))
	}
	content, err := r.decode(page)
	if err != nil {
		return fail(err)
	}
	page = []byte(content)
	dec := json.NewDecoder(bytes.NewReader(page))
	r.ahead = func() int64 { return r.raw.n - r.raw.n*dec.InputOffset()/int64(max(len(page), 1)) }
	array := len(bytes.TrimLeft(page, " \t\r\n")) > 0 && bytes.TrimLeft(page, " \t\r\n")[0] == '['
	if array {
		if _, err := dec.Token(); err != nil {
			return fail(err)
		}
	}
	for n := 1; dec.More(); n++ {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return fail(fmt.Errorf("bad JSON at byte %d: %w", dec.InputOffset(), err))
		}
		rec, bad := r.record(raw, Position{File: r.file.Name, Item: n})
		if err := r.emitItem(rec, bad); err != nil {
			return err
		}
	}
	if array {
		if _, err := dec.Token(); err != nil {
			return fail(fmt.Errorf("bad JSON at byte %d: %w", dec.InputOffset(), err))
		}
	}
	end.Failed = r.mark.Failed
	r.mark, r.ahead = end, nil
	return r.emitItem(nil, nil)
}

// record reads one JSON object.
func (r *reader) record(raw []byte, at Position) (*Record, *Problem) {
	bad := func(id string, err error) (*Record, *Problem) {
		return nil, &Problem{At: at, ID: id, Err: err}
	}
	if !utf8.Valid(raw) {
		if r.file.Encoding == nil {
			return bad("", text.ErrEncoding)
		}
		decoded, err := r.decode(raw)
		if err != nil {
			return bad("", err)
		}
		raw = []byte(decoded)
	}
	if loneSurrogate(raw) {
		return bad("", errors.New("holds half of a surrogate pair"))
	}
	var in struct {
		ID       any             `json:"id"`
		OtherID  any             `json:"_id"`
		Title    string          `json:"title"`
		Text     *string         `json:"text"`
		Metadata json.RawMessage `json:"metadata"`
		Meta     json.RawMessage `json:"meta"`
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&in); err != nil {
		return bad("", fmt.Errorf("bad JSON: %w", err))
	}
	if dec.More() {
		return bad("", errors.New("bad JSON: more than one value"))
	}
	var name string
	for _, v := range []any{in.OtherID, in.ID} {
		switch v := v.(type) {
		case nil:
		case string:
			name = v
		case json.Number:
			name = v.String()
		default:
			return bad("", errors.New("id: must be a string"))
		}
	}
	if in.Text == nil {
		return bad(name, errors.New("text: is missing"))
	}
	body := extract.WithTitle(in.Title, *in.Text)
	if strings.TrimSpace(body) == "" {
		return bad(name, errors.New("text: is empty"))
	}
	if err := text.Check(body); err != nil {
		return bad(name, fmt.Errorf("text: %w", refusalOf(err)))
	}
	if len(body) > MaxText {
		return bad(name, fmt.Errorf("text: is %d bytes, title included; at most %d are allowed", len(body), MaxText))
	}
	rec := &Record{ID: name, Text: body, Metadata: map[string]any{}, At: at}
	for i, m := range []json.RawMessage{in.Meta, in.Metadata} {
		if len(m) == 0 || string(m) == "null" {
			continue
		}
		parsed, err := filter.ParseMetadata([]string{"meta", "metadata"}[i], m)
		if err != nil {
			return bad(name, errors.New(fault.From(err).Message))
		}
		for k, v := range parsed {
			rec.Metadata[k] = v
		}
	}
	switch {
	case name == "":
		sum := sha256.Sum256([]byte(body))
		rec.ID = file.LegalID(file.DocumentID(r.file.Name) + ":" + hex.EncodeToString(sum[:8]))
	case file.LegalID(name) != name:
		rec.ID = file.LegalID(name)
		rec.Metadata["original_id"] = strings.ReplaceAll(name, "\x00", "")
	}
	if len(rec.Metadata) > filter.MaxKeys {
		return bad(name, fmt.Errorf("metadata: has %d keys; at most %d are allowed", len(rec.Metadata), filter.MaxKeys))
	}
	return rec, nil
}

// loneSurrogate finds a \ud800-\udfff escape without its other half, which the
// JSON decoder would replace silently.
func loneSurrogate(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // what is escaped
		u, ok := escape(raw, i)
		if !ok || !utf16.IsSurrogate(u) {
			continue
		}
		low, ok := rune(0), false
		if i+5 < len(raw) && raw[i+5] == '\\' {
			low, ok = escape(raw, i+6)
		}
		if !ok || utf16.DecodeRune(u, low) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escape reads the uXXXX at a position.
func escape(raw []byte, at int) (rune, bool) {
	if at+4 >= len(raw) || raw[at] != 'u' {
		return 0, false
	}
	var b [2]byte
	if _, err := hex.Decode(b[:], raw[at+1:at+5]); err != nil {
		return 0, false
	}
	return rune(b[0])<<8 | rune(b[1]), true
}

func sum(b []byte) hash.Hash {
	h := sha256.New()
	h.Write(b)
	return h
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// closeReader closes what was only read, which cannot lose anything.
func closeReader(c io.Closer) { c.Close() }
