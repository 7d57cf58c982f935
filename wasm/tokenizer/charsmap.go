package tokenizer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// charsmap is SentencePiece's table of replacements: a double-array trie (Aoe 1989) of
// what is replaced, and the replacements, a zero byte after each.
type charsmap struct {
	units        []uint32
	replacements []byte
}

func newCharsmap(b []byte) (*charsmap, error) {
	if len(b) < 4 {
		return nil, errors.New("precompiled_charsmap is cut")
	}
	size, b := binary.LittleEndian.Uint32(b), b[4:]
	if size%4 != 0 || size == 0 || uint64(size) > uint64(len(b)) {
		return nil, errors.New("precompiled_charsmap is cut or no double array")
	}
	c := &charsmap{units: make([]uint32, size/4), replacements: b[size:]}
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	if !utf8.Valid(c.replacements) {
		return nil, errors.New("precompiled_charsmap holds text that is not UTF-8")
	}
	return c, nil
}

func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// find is the replacement of the shortest key that s begins with, as the library has
// it, which then replaces the whole of s.
func (c *charsmap) find(s string) (string, bool) {
	at := offset(c.units[0])
	for i := 0; i < len(s) && s[i] != 0; i++ {
		if at ^= uint32(s[i]); at >= uint32(len(c.units)) {
			return "", false
		}
		unit := c.units[at]
		if unit&(1<<31|0xFF) != uint32(s[i]) {
			return "", false
		}
		if at ^= offset(unit); at >= uint32(len(c.units)) {
			return "", false
		}
		if unit>>8&1 == 1 {
			value := c.units[at] & (1<<31 - 1)
			if value > uint32(len(c.replacements)) {
				return "", false
			}
			text := c.replacements[value:]
			if end := bytes.IndexByte(text, 0); end >= 0 {
				text = text[:end]
			}
			return string(text), true
		}
	}
	return "", false
}

// shortGrapheme is below how many bytes a whole grapheme is looked up first.
const shortGrapheme = 6

// normalize replaces graphemes where they are short and known, else their characters.
func (c *charsmap) normalize(s string) (string, error) {
	var out strings.Builder
	out.Grow(len(s))
	put := func(part string) bool {
		text, ok := c.find(part)
		if ok {
			out.WriteString(text)
		}
		return ok
	}
	state := -1
	for len(s) > 0 {
		var grapheme string
		if s[0] < utf8.RuneSelf && s[0] != '\r' && (len(s) == 1 || s[1] < utf8.RuneSelf) {
			grapheme, s, state = s[:1], s[1:], -1
		} else {
			grapheme, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		}
		if len(grapheme) < shortGrapheme && put(grapheme) {
			continue
		}
		for len(grapheme) > 0 {
			_, n := utf8.DecodeRuneInString(grapheme)
			if !put(grapheme[:n]) {
				out.WriteString(grapheme[:n])
			}
			grapheme = grapheme[n:]
		}
	}
	return out.String(), nil
}
