package office

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// freeRatio is how many bytes an archive may expand to whatever its ratio: a short text
// that repeats itself packs well.
const freeRatio = 4 << 20

// archive is a ZIP file whose entries are read within limits.
type archive struct {
	ctx     context.Context
	limits  extract.Limits
	entries map[string]*zip.File
	budget  int64 // bytes that may still come out
}

func open(ctx context.Context, content []byte, l extract.Limits) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, broken(err)
	}
	if len(z.File) > l.Entries {
		return nil, port.FileErrorf(port.FileTooLarge, nil, "is an archive of %d entries; at most %d are read",
			len(z.File), l.Entries)
	}
	a := &archive{
		ctx: ctx, limits: l, entries: make(map[string]*zip.File, len(z.File)),
		budget: min(l.Expanded, max(freeRatio, l.Ratio*int64(len(content)))),
	}
	for _, f := range z.File {
		const encrypted = 1
		if f.Flags&encrypted != 0 {
			return nil, encryptedFile()
		}
		a.entries[f.Name] = f
	}
	return a, nil
}

func broken(err error) error {
	var why *port.FileError
	if errors.As(err, &why) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return port.FileErrorf(port.FileBroken, err, "is broken: %v", err)
}

func encryptedFile() error {
	return port.FileErrorf(port.FileEncrypted, nil, "is encrypted; save it without a password")
}

// has reports whether there is an entry.
func (a *archive) has(name string) bool { return a.entries[name] != nil }

// entry opens an entry.
func (a *archive) entry(name string) (io.ReadCloser, error) {
	f := a.entries[name]
	if f == nil {
		return nil, port.FileErrorf(port.FileBroken, nil, "is broken: it has no %s", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, broken(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{&metered{a, r}, r}, nil
}

// read gives an entry whole.
func (a *archive) read(name string) ([]byte, error) {
	r, err := a.entry(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, broken(err)
	}
	return content, nil
}

// metered counts what comes out of an archive.
type metered struct {
	*archive
	from io.Reader
}

func (m *metered) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.from.Read(p)
	if m.budget -= int64(n); m.budget < 0 {
		return n, port.FileErrorf(port.FileTooLarge, nil, "expands to more than is read: at most %d bytes, and %d times its size",
			m.limits.Expanded, m.limits.Ratio)
	}
	return n, err
}

// walk reads the XML of an entry. start and end get each element with those it is in,
// itself last; start may say that its content is passed over. text gets what is between.
func (a *archive) walk(name string, v visitor) error {
	r, err := a.entry(name)
	if err != nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.CharsetReader = charset.NewReaderLabel
	depth := 0
	for n := 0; ; n++ {
		if n%1024 == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if depth > 0 {
				return port.FileErrorf(port.FileBroken, io.ErrUnexpectedEOF, "is broken: %s ends too early", name)
			}
			return nil
		}
		if err != nil {
			return broken(fmt.Errorf("%s: %w", name, err))
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > a.limits.Depth {
				return port.FileErrorf(port.FileTooLarge, nil, "has elements nested deeper than %d", a.limits.Depth)
			}
			if err := v.start(t.Name.Local, attributes(t.Attr)); err != nil {
				return err
			}
		case xml.EndElement:
			if depth--; depth < 0 {
				return port.FileErrorf(port.FileBroken, nil, "is broken: %s ends what it did not begin", name)
			}
			if err := v.end(t.Name.Local); err != nil {
				return err
			}
		case xml.CharData:
			v.text(string(t))
		}
	}
}

// visitor sees the elements of an XML file, by their names without prefixes.
type visitor interface {
	start(name string, a attributes) error
	end(name string) error
	text(s string)
}

// attributes of an element.
type attributes []xml.Attr

// get is the value of an attribute, by its name without a prefix.
func (a attributes) get(name string) string {
	for _, x := range a {
		if x.Name.Local == name {
			return x.Value
		}
	}
	return ""
}

// qualified is the value of an attribute with a prefix.
func (a attributes) qualified(prefix, name string) string {
	for _, x := range a {
		if x.Name.Local == name && x.Name.Space == prefix {
			return x.Value
		}
	}
	return ""
}

// funcs is a visitor of functions; nil ones do nothing.
type funcs struct {
	onStart func(name string, a attributes) error
	onEnd   func(name string) error
	onText  func(s string)
}

func (f funcs) start(name string, a attributes) error {
	if f.onStart == nil {
		return nil
	}
	return f.onStart(name, a)
}

func (f funcs) end(name string) error {
	if f.onEnd == nil {
		return nil
	}
	return f.onEnd(name)
}

func (f funcs) text(s string) {
	if f.onText != nil {
		f.onText(s)
	}
}

// properties reads what a file says of itself, in elements of Dublin Core.
func (a *archive) properties(name string, x *port.Extracted) error {
	if !a.has(name) {
		return nil
	}
	known := map[string]string{
		"title": "title", "creator": "author", "initial-creator": "author", "subject": "subject", "language": "language",
		"created": "created_at", "creation-date": "created_at", "publisher": "publisher",
	}
	values := map[string]string{}
	var at string
	var text strings.Builder
	err := a.walk(name, funcs{
		onStart: func(name string, _ attributes) error {
			at = known[name]
			text.Reset()
			return nil
		},
		onText: func(s string) {
			if at != "" && text.Len() < maxProperty {
				text.WriteString(s)
			}
		},
		onEnd: func(string) error {
			if s := squeeze(text.String()); at != "" && s != "" && values[at] == "" && len(s) <= maxProperty {
				values[at] = s
			}
			at = ""
			return nil
		},
	})
	if err != nil {
		return err
	}
	for k, v := range values {
		if k == "title" {
			x.Title = v
			continue
		}
		if x.Metadata == nil {
			x.Metadata = map[string]any{}
		}
		x.Metadata[k] = v
	}
	return nil
}

// maxProperty is how long a property may be to become metadata, in bytes.
const maxProperty = 1000

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// relations are the targets of an entry's relations, by id, as names of entries; of "",
// those of the archive.
func (a *archive) relations(name string) (map[string]relation, error) {
	out := map[string]relation{}
	dir, base := path.Split(name)
	rels := dir + "_rels/" + base + ".rels"
	if !a.has(rels) {
		return out, nil
	}
	err := a.walk(rels, funcs{onStart: func(element string, at attributes) error {
		if element == "Relationship" && at.get("TargetMode") != "External" {
			target := at.get("Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join(path.Dir(name), target)
			}
			out[at.get("Id")] = relation{strings.TrimPrefix(target, "/"), path.Base(at.get("Type"))}
		}
		return nil
	}})
	return out, err
}

type relation struct{ target, kind string }
