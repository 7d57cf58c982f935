package file

import (
	"regexp"
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

var pattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,255}$`)

func TestIDs(t *testing.T) {
	for name, want := range map[string]string{
		"a.md": "a.md", "docs/a b.md": `docs:a-b.md::[0-9a-f]{16}`, "docs/a.md": "docs:a.md",
		"_x.md": `x.md::[0-9a-f]{16}`, "日本.md": `md::[0-9a-f]{16}`, "日本": `document::[0-9a-f]{16}`,
		"a:b.md": `a-b.md::[0-9a-f]{16}`, strings.Repeat("x", 300) + ".md": `x{222}::[0-9a-f]{16}`,
	} {
		if got := DocumentID(name); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("DocumentID(%q) = %q, want %s", name, got, want)
		}
	}
	for _, id := range []string{"a", "A:b::c", "4983", strings.Repeat("x", 256)} {
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
