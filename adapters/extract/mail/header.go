package mail

import (
	"bufio"
	"errors"
	"io"
	"mime"
	netmail "net/mail"
	"net/textproto"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// header is what is used of a message's header.
type header struct {
	Subject, From, To, Cc, Date string

	content part
}

// part is what is used of the header of a part.
type part struct {
	ContentType, Disposition, Encoding string
}

const (
	maxHeader = 256 << 10 // bytes of a header that are read; what comes after is passed over
	maxField  = 1000      // bytes of a field that are kept
)

// readHeader reads a header to the blank line that ends it, or to where reading ends. What
// belongs into none is passed over, such as the ">From" that programs put there. known: it
// has a field that only messages have.
func readHeader(in *bufio.Reader) (h header, known bool) {
	var field []byte
	size := 0
	keep := func() {
		known = h.set(string(field)) || known
		field = field[:0]
	}
	for begins := true; ; {
		line, err := in.ReadSlice('\n')
		whole := !errors.Is(err, bufio.ErrBufferFull)
		if begins && strings.TrimRight(string(line), "\r\n") == "" {
			keep()
			return h, known
		}
		if begins && line[0] != ' ' && line[0] != '\t' {
			keep()
		}
		if size += len(line); size <= maxHeader {
			field = append(field, line...)
		}
		if begins = whole; err != nil && whole {
			keep()
			return h, known
		}
	}
}

// set takes a field, and reports whether it is known.
func (h *header) set(field string) bool {
	name, value, ok := strings.Cut(field, ":")
	if !ok {
		return false
	}
	var to *string
	switch name = textproto.CanonicalMIMEHeaderKey(strings.TrimRight(name, " \t")); name {
	case "Subject":
		to = &h.Subject
	case "From":
		to = &h.From
	case "To":
		to = &h.To
	case "Cc":
		to = &h.Cc
	case "Date":
		to = &h.Date
	case "Content-Type":
		to = &h.content.ContentType
	case "Content-Disposition":
		to = &h.content.Disposition
	case "Content-Transfer-Encoding":
		to = &h.content.Encoding
	default:
		return name == "Received" || name == "Message-Id" || name == "Mime-Version"
	}
	if *to != "" {
		return true // of several the first, as programs show it
	}
	if *to = strings.TrimSpace(value); !strings.HasPrefix(name, "Content-") {
		*to = oneLine(decodeWords(*to))
	}
	return true
}

// time is the date in the form of metadata; empty where it is none.
func (h *header) time() string {
	at, err := netmail.ParseDate(h.Date)
	if at = at.UTC(); err != nil || at.Year() < 1 || at.Year() > 9999 {
		return ""
	}
	return at.Format(time.RFC3339)
}

var words = mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	e, err := htmlindex.Get(charset)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Reader(in), nil
}}

// decodeWords gives a field's value as text (RFC 2047). Bytes that are no UTF-8 are read as
// most programs do that sent them unmarked.
func decodeWords(s string) string {
	if !utf8.ValidString(s) {
		if latin, err := charmap.Windows1252.NewDecoder().String(s); err == nil {
			s = latin
		}
	}
	if plain, err := words.DecodeHeader(strings.NewReplacer("\r", "", "\n", "").Replace(s)); err == nil {
		return plain
	}
	return s
}

// oneLine is a value on one line, of bounded length.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")), " ")
	return strings.ToValidUTF8(s[:min(len(s), maxField)], "") // which may cut a character
}

// parameters reads a field such as Content-Type: its value in lower case, and what comes after.
// Where those break the rules the ones that programs need most are still looked for.
func parameters(field string) (string, map[string]string) {
	value, params, err := mime.ParseMediaType(field)
	if err == nil {
		return value, params
	}
	params = map[string]string{}
	for i, p := range strings.Split(field, ";") {
		name, v, ok := strings.Cut(p, "=")
		if name = strings.ToLower(strings.TrimSpace(name)); i == 0 {
			value = name
		} else if _, twice := params[name]; ok && !twice {
			params[name] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return value, params
}
