package text

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"

	"github.com/mnemehq/mneme/core/port"
)

// ErrEncoding is the cause of every refusal that naming the right charset cures.
var ErrEncoding = errors.New("is not valid UTF-8")

// UTF8 as a file's charset says that text in another one is refused, not guessed.
const UTF8 = "utf-8"

// Decode gives a file's text as UTF-8: in the encoding of its byte order mark, as it is
// where it is UTF-8, in the charset given, or else in the one that it looks like. The
// error is a *port.FileError: FileBroken where it is none of these, or holds NUL.
func Decode(content []byte, charset string) (string, error) {
	text, err := decode(content, charset)
	if err != nil {
		return "", err
	}
	return text, Check(text)
}

func decode(content []byte, charset string) (string, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(content, []byte("\xef\xbb\xbf")):
		return string(content[3:]), nil
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		order = binary.BigEndian
	case bytes.Contains(content, []byte("\x1b$")): // from here on characters of two bytes (ISO 2022), each of them ASCII
		if text, err := japanese.ISO2022JP.NewDecoder().Bytes(content); err == nil && !bytes.Contains(text, []byte("\uFFFD")) {
			return string(text), nil
		}
		return string(content), nil
	case utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 || strings.EqualFold(charset, UTF8):
		return string(content), nil
	default:
		return convert(content, charset)
	}
	units := make([]uint16, 0, len(content)/2)
	for i := 2; i+1 < len(content); i += 2 {
		units = append(units, order.Uint16(content[i:]))
	}
	return string(utf16.Decode(units)), nil
}

// sampled is how much of a text the charset is guessed from.
const sampled = 64 << 10

// leastConfidence is what a guess needs; below it a wrong text is likelier than a right one.
const leastConfidence = 0.5

func convert(content []byte, charset string) (string, error) {
	name := charset
	if name == "" {
		guess := chardet.Detect(content[:min(len(content), sampled)])
		if guess.Confidence < leastConfidence {
			return string(content), nil // which Check refuses
		}
		name = guess.Encoding
	}
	e, err := lookup(name)
	if err != nil {
		if charset == "" {
			return string(content), nil
		}
		return "", port.FileErrorf(port.FileBroken, fmt.Errorf("%w: charset %q is not known", ErrEncoding, charset),
			"is said to have the charset %.40q, which is not known", charset)
	}
	text, err := e.NewDecoder().Bytes(content)
	if err != nil || bytes.Contains(text, []byte("\uFFFD")) {
		return "", port.FileErrorf(port.FileBroken, ErrEncoding, "%v, and not %v either", ErrEncoding, e)
	}
	return string(text), nil
}

func lookup(name string) (encoding.Encoding, error) {
	e, err := htmlindex.Get(name)
	if err == nil && e == encoding.Replacement {
		err = errors.New("its texts cannot be read")
	}
	return e, err
}

// Check refuses what is no text with a *port.FileError.
func Check(text string) error {
	if !utf8.ValidString(text) {
		at := 0
		for at < len(text) {
			c, w := utf8.DecodeRuneInString(text[at:])
			if c == utf8.RuneError && w == 1 {
				break
			}
			at += w
		}
		return port.FileErrorf(port.FileBroken, ErrEncoding, "%v: byte %d of line %d", ErrEncoding,
			at-strings.LastIndexByte(text[:at], '\n'), 1+strings.Count(text[:at], "\n"))
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return port.FileErrorf(port.FileBroken, nil, "holds a NUL character on line %d", 1+strings.Count(text[:at], "\n"))
	}
	return nil
}
