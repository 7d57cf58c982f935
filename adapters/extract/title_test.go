package extract_test

import (
	"context"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// TestHeading checks what counts as the title of a text: its first line, marked as a heading in
// either way that Markdown has.
func TestHeading(t *testing.T) {
	for text, want := range map[string]string{
		"# Oil\n\nIt burns.":        "Oil",
		"\n\n  ## Oil ##\nIt burns": "Oil",
		"#Oil is a tag":             "",
		"Oil\n===\nIt burns.":       "Oil",
		"Oil\n==\nIt burns.":        "Oil",
		"Oil\n=\nIt burns.":         "",
		"Oil\n-=-\nIt burns.":       "",
		"Oil\n\nIt burns.":          "",
		"Oil\nIt burns.":            "",
		" indented text":            "",
		"":                          "",
	} {
		if got := extract.Heading(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestWithTitle checks that a title stands above a text once.
func TestWithTitle(t *testing.T) {
	for _, c := range []struct{ title, text, want string }{
		{"Oil", "It burns.", "# Oil\n\nIt burns."},
		{"Oil", "Oil\n===\n", "Oil\n===\n"},
		{"Oil", "\n # Oil\nIt burns.", "\n # Oil\nIt burns."},
		{" Oil\n and wax ", "They burn.", "# Oil and wax\n\nThey burn."},
		{" \n", "It burns.", "It burns."},
		{"Oil", "Oil", "Oil"},
		{"Oil", "Oils burn.", "# Oil\n\nOils burn."},
		{"Öl", "Öläpfel", "# Öl\n\nÖläpfel"},
		{"Lamp 1", "Lamp 10 burns.", "# Lamp 1\n\nLamp 10 burns."},
	} {
		if got := extract.WithTitle(c.title, c.text); got != c.want {
			t.Errorf("%q above %q: %q, want %q", c.title, c.text, got, c.want)
		}
	}
}

// TestTitlesOfFiles checks that a file's title stands above its text unless that has one, and that a
// text without pages keeps its form feeds.
func TestTitlesOfFiles(t *testing.T) {
	for in, want := range map[string]string{
		"It\fburns.":          "# Oil\n\nIt\fburns.",
		"# Wax\n\nIt burns.":  "# Wax\n\nIt burns.",
		"Wax\n===\nIt burns.": "Wax\n===\nIt burns.",
	} {
		set := extract.New(settings(), of(func(context.Context, port.File) (port.Extracted, error) {
			return port.Extracted{Title: "Oil", Sections: []port.Section{{Text: in}}}, nil
		}, "text/plain"))
		out, err := set.Extract(t.Context(), port.File{Content: []byte("x")})
		if err != nil || len(out.Sections) != 1 || out.Sections[0].Text != want {
			t.Errorf("%q: %+v, %v, want %q", in, out.Sections, err, want)
		}
	}
}
