package importer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFrontMatter(t *testing.T) {
	at := map[string]any{"path": "a.md", "modified_at": "2026-03-01T12:00:00Z"}
	for _, tt := range []struct {
		name, content, text string
		meta                map[string]any // besides path and time
	}{
		{"yaml", "---\ntitle: Lease\nlang: en\ntags: [a, 2]\ndraft: false\nweight: 3\nratio: 1.5\nempty:\n---\nNotice is due.\n",
			"# Lease\n\nNotice is due.\n", map[string]any{"title": "Lease", "lang": "en", "tags": []string{"a", "2"},
				"draft":  false,
				"weight": json.Number("3"), "ratio": json.Number("1.5")}},
		{"toml",
			"+++\ntitle = \"Lease\"\nday = 2026-02-03\nat = 2026-02-03T04:05:06Z\nn = -4\n[author]\nname = \"Ann\"\n+++\nNotice.",
			"# Lease\n\nNotice.", map[string]any{"title": "Lease", "day": "2026-02-03", "at": "2026-02-03T04:05:06Z",
				"n": json.Number("-4"), "author.name": "Ann"}},
		{"the heading stays text", "---\ntitle: Other\n---\n# Head\n\nNotice.", "# Head\n\nNotice.",
			map[string]any{"title": "Other"}},
		{"no title", "---\nlang: de\n---\n# Head\n\nNotice.", "# Head\n\nNotice.", map[string]any{"title": "Head", "lang": "de"}},
		{"a number for a title", "---\ntitle: 2024\n---\nNotice.", "# 2024\n\nNotice.", map[string]any{"title": "2024"}},
		{"dots, spaces and CRLF", "---  \r\nlang: en\r\n...\r\nNotice.", "Notice.", map[string]any{"lang": "en"}},
		{"an empty block", "---\n---\nNotice.", "Notice.", nil},
		{"infinity", "---\nx: .inf\n---\nNotice.", "Notice.", map[string]any{"x": "+Inf"}},
		{"lists in lists", "---\nx: [a, [b], {c: d}]\n---\nNotice.", "Notice.", map[string]any{"x": []string{"a"}}},
		{"our own fields win", "---\npath: /etc\nmodified_at: never\n---\nNotice.", "Notice.", nil},
		{"a break", "---\n\nJust text.\n\n---\nMore.", "---\n\nJust text.\n\n---\nMore.", nil},
		{"no end", "---\nlang: en\n", "---\nlang: en\n", nil},
		{"another end", "+++\nlang = 1\n...\n", "+++\nlang = 1\n...\n", nil},
		{"not at the start", "x\n---\nlang: en\n---\n", "x\n---\nlang: en\n---\n", nil},
		{"longer than any", "---\nlang: en\n" + strings.Repeat("#\n", 64<<10) + "---\nx", "---\nlang: en\n" +
			strings.Repeat("#\n", 64<<10) + "---\nx", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			recs, bad := one(t, "a.md", tt.content)
			if len(recs) != 1 || len(bad) != 0 {
				t.Fatal(recs, bad)
			}
			want := map[string]any{"path": at["path"], "modified_at": at["modified_at"]}
			for k, v := range tt.meta {
				want[k] = v
			}
			if d := cmp.Diff(want, recs[0].Metadata); d != "" || recs[0].Text != tt.text {
				t.Errorf("%q %s", recs[0].Text, d)
			}
		})
	}
	if recs, _ := one(t, "a.txt", "---\nlang: en\n---\nx"); recs[0].Metadata["lang"] != nil ||
		!strings.HasPrefix(recs[0].Text, "---") {
		t.Errorf("of a text file: %+v", recs)
	}
	for name, content := range map[string]string{
		"holds no text": "---\ntitle: T\n---\n \n",
		"$in":           "---\n$in: a\n---\nx",
		"at most 32":    "---\n" + lines(40, "k%d: v\n") + "---\nx",
	} {
		if recs, bad := one(t, "a.md", content); len(recs) != 0 || len(bad) != 1 || !strings.Contains(bad[0], name) {
			t.Errorf("%s: %v, %q", name, recs, bad)
		}
	}
}

// A few lines whose aliases stand for 9^30 values.
func TestFrontMatterCannotExplode(t *testing.T) {
	bomb := "---\na0: &a0 {x: y}\n"
	for i := 1; i < 30; i++ {
		bomb += fmt.Sprintf("a%d: &a%d {%s}\n", i, i, strings.TrimSuffix(lines(9, fmt.Sprintf("k%%d: *a%d, ", i-1)), ", "))
	}
	if recs, bad := one(t, "a.md", bomb+"---\nx"); len(recs) != 0 || len(bad) != 1 || !strings.Contains(bad[0], "front matter") {
		t.Errorf("%d records, %.200q", len(recs), bad)
	}
}

func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
