package mail

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	"path"
	"strings"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/port"
)

const (
	// maxDepth is how deep parts may be inside each other, as Postfix allows
	// (mime_nesting_limit).
	maxDepth = 100
	maxParts = 1000 // of a message
	// Attachments that are read of a file, and their bytes; further ones are named.
	maxAttachments = 32
	maxAttached    = 16 << 20
)

// reader reads the messages of a file.
type reader struct {
	ctx    context.Context
	limits extract.Limits
	files  port.Extractor

	size  int // of the text so far
	taken int // attachments that were read
	left  int // bytes of attachments that may still be
	parts int // of the message at hand
	muted int // above 0: another form of the text was taken already

	related int // parts that hold a page and its pictures, around the one at hand
}

// message is what of an e-mail is text.
type message struct {
	header
	text      []string
	plain     bool // a part of text/plain is in it
	attached  []attachment
	forwarded []message
}

// attachment is a file in a message.
type attachment struct {
	name     string
	why      port.FileCode // it was not read
	sections []port.Section
}

// message reads an e-mail from its header on. With an error of kind *port.FileError it
// gives what the header says.
func (r *reader) message(in io.Reader, depth int) (message, error) {
	if depth == 0 {
		r.parts = 0
		in = &cancelled{r.ctx, in}
	}
	lines := bufio.NewReader(in)
	h, known := readHeader(lines)
	m := message{header: h}
	if err := r.ctx.Err(); err != nil {
		return m, err
	}
	if !known {
		return m, port.FileErrorf(port.FileBroken, nil, "is no e-mail: it has no header of one")
	}
	if err := r.part(&m, h.content, lines, "text/plain", depth); err != nil {
		return m, err
	}
	if err := r.grow(len(m.Subject) + len(m.From) + len(m.To) + len(m.Cc)); err != nil {
		return m, err
	}
	if m.Subject == "" && len(m.text) == 0 && len(m.attached) == 0 && len(m.forwarded) == 0 {
		return m, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	return m, nil
}

// cancelled reads until a context ends.
type cancelled struct {
	ctx context.Context
	io.Reader
}

func (c *cancelled) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.Reader.Read(p)
}

// grow counts text.
func (r *reader) grow(n int) error {
	if r.size += n; r.size > r.limits.Text {
		return port.FileErrorf(port.FileTooLarge, nil, "holds more than %d bytes of text", r.limits.Text)
	}
	return nil
}

// part reads a part of a message; usual is its media type where it names none.
func (r *reader) part(m *message, p part, in io.Reader, usual string, depth int) error {
	if r.parts++; r.parts > maxParts {
		return port.FileErrorf(port.FileTooLarge, nil, "has more than %d parts", maxParts)
	}
	media, params := parameters(p.ContentType)
	if media == "" {
		media = usual
	}
	if strings.HasPrefix(media, "multipart/") && params["boundary"] != "" {
		return r.multipart(m, media, params["boundary"], in, depth)
	}
	disposition, more := parameters(p.Disposition)
	name := more["filename"]
	if name == "" {
		name = params["name"]
	}
	name = oneLine(decodeWords(name))
	in = decoded(in, p.Encoding)
	switch {
	case media == messageType || media == "message/global" || strings.EqualFold(path.Ext(name), ".eml"):
		return r.forward(m, in, depth)
	case strings.HasSuffix(media, "/pkcs7-mime") || strings.HasSuffix(media, "/x-pkcs7-mime"):
		if params["smime-type"] != "signed-data" {
			return encrypted()
		}
	case strings.HasSuffix(media, "-signature"): // of the message
		return nil
	case strings.HasPrefix(media, "image/"):
		if disposition != "attachment" || r.related > 0 { // it is in the text, or a logo below it
			return nil
		}
	case disposition == "attachment" || name != "":
	case strings.HasPrefix(media, "text/") || strings.HasPrefix(media, "message/"):
		return r.body(m, media, params, in)
	}
	if name == "" {
		name = media
	}
	return r.attach(m, port.File{Name: name, MediaType: media, Charset: params["charset"]}, in)
}

func encrypted() error { return port.FileErrorf(port.FileEncrypted, nil, "is encrypted") }

// multipart reads a part that holds others. One that ends too early, as it does in a
// message that was cut off, keeps those that are there.
func (r *reader) multipart(m *message, media, boundary string, in io.Reader, depth int) error {
	if media == "multipart/encrypted" {
		return encrypted()
	}
	if depth == maxDepth {
		return port.FileErrorf(port.FileTooLarge, nil, "has parts nested deeper than %d", maxDepth)
	}
	usual := "text/plain"
	if media == "multipart/digest" {
		usual = messageType
	}
	parts := multipart.NewReader(in, boundary)
	best := message{}
	muted, related := r.muted, r.related
	defer func() { r.muted, r.related = muted, related }()
	if media == "multipart/related" {
		r.related++
	}
	for {
		p, err := parts.NextRawPart()
		if err != nil {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			break
		}
		h := part{p.Header.Get("Content-Type"), p.Header.Get("Content-Disposition"), p.Header.Get("Content-Transfer-Encoding")}
		if media != "multipart/alternative" {
			if err := r.part(m, h, p, usual, depth+1); err != nil {
				return err
			}
			continue
		}
		form := message{}
		if err := r.part(&form, h, p, usual, depth+1); err != nil {
			return err
		}
		m.attached, m.forwarded = append(m.attached, form.attached...), append(m.forwarded, form.forwarded...)
		if len(best.text) == 0 || form.plain && !best.plain {
			if best = form; best.plain {
				r.muted++
			}
		}
	}
	m.text, m.plain = append(m.text, best.text...), m.plain || best.plain
	return nil
}

// forward reads a message in a message.
func (r *reader) forward(m *message, in io.Reader, depth int) error {
	if depth == maxDepth {
		return port.FileErrorf(port.FileTooLarge, nil, "has parts nested deeper than %d", maxDepth)
	}
	inner, err := r.message(in, depth+1)
	var why *port.FileError
	if err != nil && (!errors.As(err, &why) || why.Code == port.FileTooLarge) {
		return err
	}
	if why == nil || inner.Subject != "" {
		m.forwarded = append(m.forwarded, inner)
	}
	return nil
}

// body reads text that is meant to be shown.
func (r *reader) body(m *message, media string, params map[string]string, in io.Reader) error {
	if r.muted > 0 || media == "text/calendar" || media == "text/x-amp-html" {
		return nil // it is drained by who asks for the next part
	}
	content, err := r.read(in, r.limits.Text-r.size)
	if err != nil {
		return err
	}
	var s string
	if media == markup.HTMLType {
		if s, _, err = markup.HTML(content, params["charset"]); err != nil {
			return port.FileErrorf(port.FileBroken, err, "cannot be read as a page: %v", err)
		}
	} else if s = asText(content, params["charset"]); strings.EqualFold(params["format"], "flowed") {
		s = unfold(s, strings.EqualFold(params["delsp"], "yes"))
	}
	if s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")); s == "" {
		return nil
	}
	if strings.HasPrefix(s, "-----BEGIN PGP MESSAGE-----") {
		return encrypted()
	}
	m.text, m.plain = append(m.text, s), m.plain || media != markup.HTMLType
	return r.grow(len(s))
}

// read gives at most so many bytes of a part. What cannot be decoded ends it.
func (r *reader) read(in io.Reader, most int) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if len(content) > most {
		return nil, port.FileErrorf(port.FileTooLarge, err, "holds more than %d bytes of text", r.limits.Text)
	}
	return content, nil
}

// asText gives text in the charset that is said, or else in one that it looks like; what fits none
// has marks in place of it.
func asText(content []byte, charset string) string {
	for _, c := range []string{charset, ""} {
		if s, err := text.Decode(content, c); err == nil {
			return s
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(string(content), "\x00", ""), "\uFFFD")
}

// attach reads a file in a message, or else names it.
func (r *reader) attach(m *message, f port.File, in io.Reader) error {
	a := attachment{name: f.Name}
	if r.files != nil && r.taken < maxAttachments {
		content, _ := io.ReadAll(io.LimitReader(in, int64(r.left)+1)) // what is there of one that was cut off
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if len(content) > 0 && len(content) <= r.left {
			r.taken++
			r.left -= len(content)
			f.Content = content
			x, err := r.files.Extract(r.ctx, f)
			var why *port.FileError
			switch {
			case errors.As(err, &why):
				if why.Code != port.FileUnsupported {
					a.why = why.Code
				}
			case err != nil:
				return err
			}
			a.sections = x.Sections
		}
	}
	m.attached = append(m.attached, a)
	size := len(a.name)
	for _, s := range a.sections {
		size += len(s.Text)
	}
	return r.grow(size)
}

// decoded takes a transfer encoding off; one that is not known is none.
func decoded(in io.Reader, encoding string) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "quoted-printable":
		return quotedprintable.NewReader(&only{in, func(c byte) bool {
			return c >= ' ' && c != 0x7f || c == '\t' || c == '\r' || c == '\n'
		}})
	case "base64":
		return base64.NewDecoder(base64.RawStdEncoding, &only{in, func(c byte) bool { // without the padding, which not all write
			return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/'
		}})
	}
	return in
}

// only reads the bytes that an encoding is written in: what else is among them has to be
// passed over (RFC 2045, 6.8), and would end a stricter reader.
type only struct {
	io.Reader
	keep func(byte) bool
}

func (o *only) Read(p []byte) (int, error) {
	for {
		n, err := o.Reader.Read(p)
		kept := 0
		for _, c := range p[:n] {
			if o.keep(c) {
				p[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil || len(p) == 0 {
			return kept, err
		}
	}
}

// unfold joins the lines that a program broke (RFC 3676).
func unfold(s string, delSp bool) string {
	var out strings.Builder
	depth, flowed := -1, false
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(line, ">")
		d := len(line) - len(rest)
		rest = strings.TrimPrefix(rest, " ")
		signature := rest == "-- "
		if depth >= 0 && (!flowed || d != depth || signature) {
			out.WriteByte('\n')
			flowed = false
		}
		if !flowed && d > 0 {
			out.WriteString(strings.Repeat(">", d) + " ")
		}
		depth, flowed = d, strings.HasSuffix(rest, " ") && !signature
		if flowed && delSp {
			rest = strings.TrimSuffix(rest, " ")
		}
		out.WriteString(rest)
	}
	return out.String()
}

// sections gives a message as one section, and one more for each attachment that was read.
func (m *message) sections() []port.Section {
	out := []port.Section{{Text: m.block("# ")}}
	for _, f := range m.forwarded {
		inner := f.sections()
		inner[0].Text = f.block("## Forwarded: ")
		out = append(out, inner...)
	}
	for _, a := range m.attached {
		for i, s := range a.sections {
			if i == 0 {
				s.Text = "## " + a.name + "\n\n" + s.Text
			}
			out = append(out, port.Section{Text: s.Text})
		}
	}
	return out
}

// block writes what the header says and the text below it.
func (m *message) block(heading string) string {
	var blocks, fields, names []string
	if m.Subject != "" {
		blocks = append(blocks, heading+m.Subject)
	}
	date := m.time()
	if date == "" {
		date = m.Date
	}
	for _, a := range m.attached {
		if a.why != "" {
			a.name += " (" + string(a.why) + ")"
		}
		names = append(names, a.name)
	}
	for _, f := range []struct{ name, value string }{
		{"From", m.From}, {"To", m.To}, {"Cc", m.Cc}, {"Date", date}, {"Attachments", strings.Join(names, ", ")},
	} {
		if f.value != "" {
			fields = append(fields, f.name+": "+f.value)
		}
	}
	if len(fields) > 0 {
		blocks = append(blocks, strings.Join(fields, "\n"))
	}
	return strings.Join(append(blocks, m.text...), "\n\n")
}
