package tokenizer

import (
	"strings"
	"unicode/utf8"
)

// splitter is a step of pre-tokenization: it cuts a piece into pieces. first says that
// the piece begins the text. take tells whether to go on.
type splitter interface {
	split(s string, first bool, take func(part string, first bool) bool) error
}

// behavior says what becomes of the matches of a pattern.
type behavior string

const (
	removed    behavior = "Removed"
	isolated   behavior = "Isolated"
	withBefore behavior = "MergedWithPrevious"
	withNext   behavior = "MergedWithNext"
	contiguous behavior = "Contiguous"
)

func (b behavior) known() bool {
	switch b {
	case removed, isolated, withBefore, withNext, contiguous:
		return true
	}
	return false
}

// cut splits at a pattern's matches, or with inverted at what lies between them.
type cut struct {
	at       finder
	behavior behavior
	inverted bool
}

func (c cut) split(s string, first bool, take func(string, bool) bool) error {
	going := true
	give := func(from, to int) {
		if going && from < to {
			going = take(s[from:to], first && from == 0)
		}
	}
	// A part is held back until it is known what joins it.
	from, held, before := 0, false, false
	part := func(start, end int, matched bool) {
		if start == end {
			return
		}
		matched = matched != c.inverted
		join := false
		switch c.behavior {
		case removed:
			if !matched {
				give(start, end)
			}
			return
		case isolated:
			give(start, end)
			return
		case withBefore:
			join = matched && !before
		case withNext:
			join = before && !matched
		case contiguous:
			join = matched == before
		}
		if held && !join {
			give(from, start)
			from = start
		}
		held, before = true, matched
	}
	rest := 0
	for going {
		start, end, err := c.at.find(s, rest)
		if err != nil {
			return err
		}
		if start < 0 {
			break
		}
		part(rest, start, false)
		part(start, end, true)
		rest = end
	}
	part(rest, len(s), false)
	if held {
		give(from, len(s))
	}
	return nil
}

// metaspace puts a sign in place of spaces and before the text.
type metaspace struct {
	sign          string
	prepend       scheme
	separate      bool
	beforeEachOne cut
}

type scheme string

const (
	prependAlways scheme = "always"
	prependFirst  scheme = "first"
	prependNever  scheme = "never"
)

func newMetaspace(sign string, prepend scheme, separate bool) metaspace {
	return metaspace{sign, prepend, separate, cut{at: literal(sign), behavior: withNext}}
}

func (m metaspace) split(s string, first bool, take func(string, bool) bool) error {
	s = strings.ReplaceAll(s, " ", m.sign)
	if !strings.HasPrefix(s, m.sign) && (m.prepend == prependAlways || m.prepend == prependFirst && first) {
		s = m.sign + s
	}
	if m.separate {
		return m.beforeEachOne.split(s, first, take)
	}
	take(s, first)
	return nil
}

// bytewise writes each byte as a character (Radford et al. 2019), after it has split
// at words.
type bytewise struct {
	space bool     // before each piece
	words *pattern // nil: not split
}

// byteWords is GPT-2's pattern.
const byteWords = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

func (b bytewise) split(s string, first bool, take func(string, bool) bool) error {
	if b.space && !strings.HasPrefix(s, " ") {
		s = " " + s
	}
	if b.words == nil {
		take(spelled(s), first)
		return nil
	}
	return cut{at: b.words, behavior: isolated}.split(s, first, func(part string, first bool) bool {
		return take(spelled(part), first)
	})
}

// letters are the characters of bytes: printable ones stand for themselves, the others
// for what follows U+0100, in order.
var letters = func() (all [256]rune) {
	other := rune(0x100)
	for b := range all {
		switch r := rune(b); {
		case r >= '!' && r <= '~', r >= 0xA1 && r <= 0xAC, r >= 0xAE:
			all[b] = r
		default:
			all[b] = other
			other++
		}
	}
	return all
}()

func spelled(s string) string {
	var out []byte
	for i := range len(s) {
		r := letters[s[i]]
		if r >= utf8.RuneSelf && out == nil {
			out = append(make([]byte, 0, 2*len(s)), s[:i]...)
		}
		if out != nil {
			out = utf8.AppendRune(out, r)
		}
	}
	if out == nil {
		return s
	}
	return string(out)
}
