package remote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Estimate guesses how many tokens a text has without its tokenizer: one for
// every five ASCII letters begun, one for every three digits, one for every two
// letters of other alphabets, one for each CJK character and each other sign,
// none for blanks. It lies a little above what WordPiece and byte-pair
// vocabularies of 30,000 to 200,000 pieces give for prose.
func Estimate(text string) int {
	n, _ := measure(text, len(text)+1)
	return n
}

// Cut shortens a text to an estimate of at most tokens, at a character's end,
// and says whether it had to.
func Cut(text string, tokens int) (string, bool) {
	if len(text) <= tokens { // no tokenizer makes more tokens than bytes
		return text, false
	}
	if _, end := measure(text, tokens); end < len(text) {
		return text[:end], true
	}
	return text, false
}

// measure counts tokens up to limit and gives where it stopped.
func measure(text string, limit int) (n, end int) {
	run, kind := 0, 0
	for i, r := range text {
		per := 1
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			per = 5
		case unicode.IsSpace(r):
			run, kind = 0, 0
			continue
		case '0' <= r && r <= '9':
			per = 3
		case r >= 0x80 && r < 0x2E80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)):
			per = 2
		}
		if per != kind || run == per {
			run, kind = 0, per
			if n++; n > limit {
				return n - 1, i
			}
		}
		run++
	}
	return n, len(text)
}

// cutBytes shortens a text to at most n bytes, at a character's end.
func cutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// nonBlank replaces a blank text, which most servers refuse, by one that says nothing.
func nonBlank(text string) string {
	if strings.TrimSpace(text) == "" {
		return "."
	}
	return text
}
