package source_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/source"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"plain", 5, "plain"}, {"plain", 4, "plai"}, {"two words", 4, "two"}, {"aé", 2, "a"}, {"aé", 3, "aé"}, {"日本", 4, "日"},
		{"n\x00ul", 10, "nul"}, {"\xff", 10, "\uFFFD"}, {"", 0, ""},
	} {
		if got := source.Cut(c.text, c.most); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestDigest(t *testing.T) {
	seen := map[string]bool{}
	for _, parts := range [][]string{{"a", "b"}, {"ab"}, {"ab", ""}, {"", "ab"}, {"b", "a"}, {"a", "1:b"}, {}} {
		d := source.Digest(parts...)
		if len(d) != 32 || seen[d] {
			t.Errorf("%q: %q", parts, d)
		}
		seen[d] = true
	}
}
