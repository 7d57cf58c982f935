package pdf

import (
	"strings"
	"unicode"
)

// divided is what PDFium puts where it has joined a word that a line's end divided; it
// drops the hyphen, which may have been part of the word.
const divided = '\uFFFE'

// plain maps the characters of a PDF to those of a text; -1: none.
func plain(c rune) rune {
	switch {
	case c == divided || c == 0x02: // both are PDFium's
		return divided
	case c == '\uFFFD':
		return -1 // a glyph without a meaning
	case unicode.IsSpace(c):
		return ' '
	case unicode.Is(unicode.Cc, c), unicode.Is(unicode.Cf, c) && c != '\u200D' && c != '\u200C' && c != softHyphen:
		return -1
	case unicode.Is(unicode.Co, c):
		if strings.ContainsRune(symbolBullets, c) {
			return '•'
		}
		return -1
	}
	return c
}

const softHyphen = '\u00AD'

// symbolBullets are the bullets that word processors take from Symbol and Wingdings,
// whose characters have places in the private area alone.
const symbolBullets = "\uF0B7\uF0A7\uF0D8\uF0FC\uF076\uF0A8\uF06E\uF071"

// ligatures are letters that are one character for their looks alone.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// clean makes text of characters as PDFium gives them, on one line. A mark of a divided
// word stays where it joins two parts.
func clean(chars []rune) string {
	s := strings.Map(plain, string(chars))
	s = strings.Join(strings.Fields(s), " ")
	if inner := strings.TrimRight(s, string(softHyphen)); len(inner) < len(s) {
		s = inner + string(divided) // the next line goes on with the word
	}
	return ligatures.Replace(strings.ReplaceAll(s, string(softHyphen), ""))
}

// hyphens knows the words that a document writes with a hyphen.
type hyphens map[string]bool

// learn takes note of the hyphenated words within a line.
func (h hyphens) learn(text string) {
	for rest := text; ; {
		at := strings.IndexByte(rest, '-')
		if at < 0 {
			return
		}
		before, after := lastWord(rest[:at]), firstWord(rest[at+1:])
		if before != "" && after != "" {
			h[strings.ToLower(before+"-"+after)] = true
		}
		rest = rest[at+1:]
	}
}

// join puts the parts of a divided word together: with the hyphen where the word is
// written so elsewhere, or where what follows is no small letter, and without otherwise.
func (h hyphens) join(before, after string) string {
	next := []rune(firstWord(after))
	switch {
	case len(next) == 0, !unicode.IsLower(next[0]), h[strings.ToLower(lastWord(before)+"-"+string(next))]:
		return before + "-" + after
	}
	return before + after
}

// resolve joins the words that are marked as divided within a text.
func (h hyphens) resolve(text string) string {
	for {
		before, after, found := strings.Cut(text, string(divided))
		if !found {
			return text
		}
		text = h.join(before, after)
	}
}

func noLetter(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c) }

func firstWord(s string) string {
	if end := strings.IndexFunc(s, noLetter); end >= 0 {
		return s[:end]
	}
	return s
}

func lastWord(s string) string {
	if at := strings.LastIndexFunc(s, noLetter); at >= 0 {
		return strings.TrimLeftFunc(s[at:], noLetter)
	}
	return s
}
