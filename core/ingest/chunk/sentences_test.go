package chunk_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/ingest/chunk"
)

func TestCutIntoSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                   nil,
		" \n\n ":                             nil,
		"One. Two! Three?":                   {"One.", "Two!", "Three?"},
		"Dr. Smith moved\nto Lyon. Then on.": {"Dr. Smith moved\nto Lyon.", "Then on."},
		"A heading\n\n  The text.\n\nEnd":    {"A heading", "The text.", "End"},
		"Caroline: I moved to Lyon in May.":  {"Caroline: I moved to Lyon in May."},
	} {
		var got []string
		for _, s := range chunk.Sentences(text) {
			got = append(got, text[s[0]:s[1]])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("One. Two!\n\nThree? “Four.” 5.5 e.g. six\n \nseven")
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, s := range chunk.Sentences(text) {
			if s[0] < last || s[1] <= s[0] || s[1] > len(text) {
				t.Fatalf("range %v after %d of %d", s, last, len(text))
			}
			last = s[1]
			if utf8.ValidString(text) && !utf8.ValidString(text[s[0]:s[1]]) {
				t.Fatalf("%q cuts a character", text[s[0]:s[1]])
			}
		}
	})
}
