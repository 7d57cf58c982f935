package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a range of bytes of a document.
type span struct{ start, end int }

// lookahead bounds how far past a full stop the next letter is looked for, so
// that a page of brackets costs no more than a page of prose.
const lookahead = 32

// sentences appends the sentences of doc[at.start:at.end] to out, trimmed of
// white space.
//
// After UAX #29, rules SB6 to SB11, with these differences. A line end is a
// space, since paragraphs are hard-wrapped. ASCII terminators end a sentence
// only before white space, for addresses and identifiers. A full stop after an
// abbreviation, an initial or an item's number does not end one.
func sentences(out []span, doc string, at span) []span {
	start, i := at.start, at.start // at starts on no white space
	flush := func(end int) {
		if s, ok := trim(doc, span{start, end}); ok {
			out = append(out, s)
		}
		start = end
		// abbreviated looks back to start: keep it off long gaps.
		for r, w := decode(doc, start, at.end); unicode.IsSpace(r); r, w = decode(doc, start, at.end) {
			start += w
		}
		i = max(i, start)
	}
	for i < at.end {
		r, w := decode(doc, i, at.end)
		if !terminal(r) {
			i += w
			continue
		}
		// The whole run: terminators, then closing marks.
		term, ascii, soft := i, true, true // soft: only full stops and ellipses
		for terminal(r) {
			ascii = ascii && r < 0x80
			soft = soft && (r == '.' || r == '…')
			i += w
			r, w = decode(doc, i, at.end)
		}
		stop := i
		for closing(r) {
			i += w
			r, w = decode(doc, i, at.end)
		}
		if i == at.end {
			break
		}
		if !unicode.IsSpace(r) {
			if ascii || soft {
				continue
			}
			flush(i)
			continue
		}
		if soft && (lowerAhead(doc[i:at.end]) ||
			stop-term == 1 && doc[term] == '.' && abbreviated(doc[start:term], doc[i:at.end])) {
			continue
		}
		flush(i)
	}
	flush(at.end)
	return out
}

func decode(doc string, i, end int) (rune, int) {
	if i >= end {
		return 0, 0
	}
	if c := doc[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(doc[i:end])
}

func terminal(r rune) bool {
	if r < 0x80 {
		return r == '.' || r == '!' || r == '?'
	}
	return r == '…' || unicode.Is(unicode.Sentence_Terminal, r)
}

func closing(r rune) bool {
	switch r {
	case '"', '\'', ')', ']', '}', '*', '_', '`', '»', '›':
		return true
	}
	return unicode.In(r, unicode.Pe, unicode.Pf)
}

// lowerAhead reports whether the next letter is in lower case (SB8).
func lowerAhead(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			return unicode.IsLower(r)
		}
		if n++; n > lookahead || terminal(r) {
			return false
		}
	}
	return false
}

// abbreviated reports whether the full stop between before and after belongs to
// the last word of before.
func abbreviated(before, after string) bool {
	from := len(before)
	for len(before)-from < 12 {
		r, w := utf8.DecodeLastRuneInString(before[:from])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' {
			break
		}
		from -= w
	}
	word := before[from:]
	if word == "" {
		return false
	}
	if strings.TrimSpace(before[:from]) == "" && number(word) {
		return true // "3. Clean the filter"
	}
	if r, w := utf8.DecodeRuneInString(word); w == len(word) && unicode.IsUpper(r) && r != 'I' {
		return true // an initial
	}
	digit := false
	for _, r := range after {
		if !unicode.IsSpace(r) {
			digit = '0' <= r && r <= '9'
			break
		}
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "rev", "hon", "gen", "col", "capt", "lt", "sgt", "gov", "sen", "st", "mt",
		"messrs", "mme", "mlle", "hr", "fr", "bzw", "vs", "cf", "viz", "e.g", "i.e", "z.b", "d.h", "resp", "approx", "ca":
		return true
	case "no", "nos", "nr", "fig", "figs", "eq", "eqs", "sec", "sect", "ch", "chap", "vol", "vols", "art", "p", "pp", "ed",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec":
		return digit
	}
	return false
}

func number(word string) bool {
	for i := 0; i < len(word); i++ {
		if word[i] < '0' || word[i] > '9' {
			return len(word) == 1 && unicode.IsLetter(rune(word[i]))
		}
	}
	return true
}

// trim narrows a span to its characters that are not white space; false when
// there are none.
func trim(doc string, s span) (span, bool) {
	left := strings.TrimLeftFunc(doc[s.start:s.end], unicode.IsSpace)
	s.start = s.end - len(left)
	s.end = s.start + len(strings.TrimRightFunc(left, unicode.IsSpace))
	return s, s.end > s.start
}

// Sentences cuts a text into sentences: byte ranges [start, end) in order,
// without the white space around them. An empty line ends a sentence too.
func Sentences(text string) [][2]int {
	var found []span
	paragraph := func(start, end int) {
		if s, ok := trim(text, span{start, end}); ok {
			found = sentences(found, text, s)
		}
	}
	start := 0
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end = at + i
		}
		if strings.TrimSpace(text[at:end]) == "" {
			paragraph(start, at)
			start = end
		}
		at = end + 1
	}
	paragraph(min(start, len(text)), len(text))
	out := make([][2]int, len(found))
	for i, s := range found {
		out[i] = [2]int{s.start, s.end}
	}
	return out
}
