package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// added is a token that is looked for in the text itself, before it is split.
type added struct {
	ID         uint32 `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// addedTokens finds tokens in a text: the leftmost, of those the longest.
type addedTokens struct {
	tokens []added
	keys   *trie
	begins [256]bool
}

func newAddedTokens(tokens []added, key func(added) (string, error)) (*addedTokens, error) {
	a := &addedTokens{tokens: tokens}
	var entries []entry
	for i, t := range tokens {
		k, err := key(t)
		if err != nil {
			return nil, err
		}
		if k != "" {
			entries = append(entries, entry{k, uint32(i)})
			a.begins[k[0]] = true
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	a.keys = newTrie(entries)
	return a, nil
}

// split gives the text between tokens to text and their ids to token, in order, until
// one of them says to stop.
func (a *addedTokens) split(s string, text func(part string, from int) bool, token func(id uint32) bool) bool {
	if a == nil {
		return s == "" || text(s, 0)
	}
	from := 0
	for at := 0; at < len(s); {
		if !a.begins[s[at]] {
			at++
			continue
		}
		n, which := a.keys.longest(0, s[at:])
		if which == none {
			at++
			continue
		}
		t := &a.tokens[which]
		start, end := at, at+n
		at = end // the search goes on behind a token, even where it does not count
		if t.SingleWord && (endsWithWord(s[:start]) || startsWithWord(s[end:])) {
			continue
		}
		if t.LStrip {
			start = max(from, len(strings.TrimRightFunc(s[:start], unicode.IsSpace)))
		}
		if t.RStrip {
			end = len(s) - len(strings.TrimLeftFunc(s[end:], unicode.IsSpace))
		}
		if from < start && !text(s[from:start], from) {
			return false
		}
		if !token(t.ID) {
			return false
		}
		from = end
	}
	return from >= len(s) || text(s[from:], from)
}

func startsWithWord(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n > 0 && unicode.Is(characters().ownWord, r)
}

func endsWithWord(s string) bool {
	r, n := utf8.DecodeLastRuneInString(s)
	return n > 0 && unicode.Is(characters().ownWord, r)
}
