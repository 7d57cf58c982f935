package file

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPartsLoseNothing(t *testing.T) {
	piece := rapid.SampledFrom([]string{"word ", "é", "😀", "\n", "\n\n", "\n# Head\n", "\n## Two\n\n", "####### no\n",
		strings.Repeat("x", 70)})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(rt, "pieces"), "")
		limit := rapid.IntRange(16, 200).Draw(rt, "limit")
		out := split(text, "", limit)
		for _, p := range out {
			if len(p) > limit || !utf8.ValidString(p) || len(out) > 1 && p == "" {
				rt.Fatalf("part of %d bytes: %q", len(p), p)
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
		if squeeze(strings.Join(out, "")) != squeeze(text) {
			rt.Fatalf("%q became %q", text, out)
		}
	})
}

// A piece ends before a heading where there is one in its second half, else after a blank
// line, a line or a word, else after a character; the next ones begin with the title.
func TestSplit(t *testing.T) {
	a, b := strings.Repeat("a", 25), strings.Repeat("b", 14)
	for _, c := range []struct {
		text, title string
		limit       int
		want        []string
	}{
		{"just the limit", "", 14, []string{"just the limit"}},
		{strings.Repeat("x", 32), "", 16, []string{strings.Repeat("x", 16), strings.Repeat("x", 16)}},
		{a + "\n# Head\nb\n\n" + b, "", 40, []string{a, "# Head\nb\n\n" + b}},
		{a + "\n###### Head\nb\n\n" + b, "", 40, []string{a, "###### Head\nb\n\n" + b}},
		{a + "\n####### no\n\nb\n" + b, "", 40, []string{a + "\n####### no", "b\n" + b}},
		{a + "\n#no\n\nb\n" + b, "", 40, []string{a + "\n#no", "b\n" + b}},
		{a + "\nb b" + b, "", 40, []string{a, "b b" + b}},
		{a + " b" + b, "", 40, []string{a + " ", "b" + b}},
		{strings.Repeat("\u00e9", 12), "", 17, []string{strings.Repeat("\u00e9", 8), strings.Repeat("\u00e9", 4)}},
		{strings.Repeat("x", 150), "Title...", 64, []string{strings.Repeat("x", 64),
			"# Title...\n\n" + strings.Repeat("x", 52), "# Title...\n\n" + strings.Repeat("x", 34)}},
		{strings.Repeat("x", 70), "Too long.", 64, []string{strings.Repeat("x", 64), "xxxxxx"}},
	} {
		got := split(c.text, c.title, c.limit)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q in pieces of %d:\n%q, want\n%q", c.text, c.limit, got, c.want)
		}
	}
}

var pattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$`)

func TestIDs(t *testing.T) {
	for name, want := range map[string]string{
		"a.md": "a.md", "docs/a b.md": `docs:a-b.md::[0-9a-f]{16}`, "docs/a.md": "docs:a.md",
		"_x.md": `x.md::[0-9a-f]{16}`, "日本.md": `md::[0-9a-f]{16}`, "日本": `document::[0-9a-f]{16}`,
		"a:b.md": `a-b.md::[0-9a-f]{16}`, strings.Repeat("x", 240): `x{240}`,
		strings.Repeat("x", 241): `x{222}::[0-9a-f]{16}`, strings.Repeat("x", 300) + ".md": `x{222}::[0-9a-f]{16}`,
	} {
		if got := DocumentID(name); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("DocumentID(%q) = %q, want %s", name, got, want)
		}
	}
	for _, id := range []string{".a", "-a", "_a", ":a", "", strings.Repeat("x", 257)} {
		if got := LegalID(id); got == id || !pattern.MatchString(got) {
			t.Errorf("LegalID(%q) = %q, which is not legal", id, got)
		}
	}
	for _, id := range []string{"a", "A:b::c", "4983", "azAZ09", "a.-_:", strings.Repeat("x", 256)} {
		if got := LegalID(id); got != id {
			t.Errorf("LegalID(%q) = %q, but it was legal", id, got)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z:/. _-]{1,30}`))
		a, b := name.Draw(rt, "a"), name.Draw(rt, "b")
		for _, id := range []string{LegalID(a), DocumentID(a), PartID(DocumentID(a), 12345)} {
			if !pattern.MatchString(id) {
				rt.Errorf("%q from %q", id, a)
			}
		}
		if a != b && DocumentID(a) == DocumentID(b) {
			rt.Errorf("%q and %q are both %q", a, b, DocumentID(a))
		}
		if !legal(a) && !legal(b) && a != b && LegalID(a) == LegalID(b) {
			rt.Errorf("%q and %q are both %q", a, b, LegalID(a))
		}
	})
}
