package file

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

func TestComposePages(t *testing.T) {
	docs, err := Compose("in/a report.pdf", port.Extracted{Title: "Report", Metadata: map[string]any{"author": "Ann",
		"path": "/etc"},
		Sections: []port.Section{{Text: "one", Page: 1}, {Text: "still one", Page: 1}, {Text: "two", Page: 2},
			{Text: "five", Page: 5}}},
		map[string]any{"path": "in/a report.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Document{{ID: DocumentID("in/a report.pdf"), Text: "one\n\nstill one\n\f\ntwo\n\f\f\f\nfive",
		Metadata: map[string]any{"author": "Ann", "path": "in/a report.pdf", "title": "Report", "page": 1}}}
	if d := cmp.Diff(want, docs); d != "" {
		t.Error(d)
	}
	docs, err = Compose("a.txt", port.Extracted{Sections: []port.Section{{Text: "x"}, {Text: "y"}}}, nil)
	if err != nil || len(docs) != 1 || docs[0].Text != "x\n\ny" || len(docs[0].Metadata) != 0 {
		t.Errorf("%+v %v", docs, err)
	}
}

// Sections that together are too long for one document are cut between them, and one
// that is too long by itself within.
func TestComposeParts(t *testing.T) {
	var sections []port.Section
	for page := 1; page <= 5; page++ {
		n := MaxText / 2
		if page == 4 {
			n = MaxText + MaxText/2
		}
		sections = append(sections, port.Section{Text: strings.Repeat("word ", n/5-10), Page: page})
	}
	docs, err := Compose("a.pdf", port.Extracted{Title: "T", Sections: sections}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var pages []any
	words := 0
	for i, d := range docs {
		pages = append(pages, d.Metadata["page"])
		words += strings.Count(d.Text, "word")
		if len(d.Text) > MaxText || d.ID != PartID("a.pdf", i+1) || d.Metadata["part"] != i+1 ||
			d.Metadata["parts"] != len(docs) ||
			i > 0 && !strings.HasPrefix(d.Text, "# T\n\nword ") {
			t.Errorf("part %d: %d bytes, %s, %v, %.20q", i, len(d.Text), d.ID, d.Metadata, d.Text)
		}
	}
	if d := cmp.Diff([]any{1, 3, 4, 4, 5}, pages); d != "" || !strings.Contains(docs[0].Text, "\n\f\nword") {
		t.Error(d)
	}
	want := 0
	for _, s := range sections {
		want += strings.Count(s.Text, "word")
	}
	if words != want {
		t.Errorf("%d words of %d", words, want)
	}
}

// Sections go together as far as they fit, pages between those that have a number.
func TestPack(t *testing.T) {
	for _, c := range []struct {
		sections []port.Section
		limit    int
		want     []port.Section
	}{
		{[]port.Section{{Text: "aaaa"}, {Text: "bbbb"}}, 10, []port.Section{{Text: "aaaa\n\nbbbb"}}},
		{[]port.Section{{Text: "aaaa"}, {Text: "bbbb"}}, 9, []port.Section{{Text: "aaaa"}, {Text: "bbbb"}}},
		{[]port.Section{{Text: "aaaa"}, {Text: "bbbb", Page: 2}}, 20, []port.Section{{Text: "aaaa\n\nbbbb"}}},
		{[]port.Section{{Text: "aaaa", Page: 2}, {Text: "bbbb", Page: 2}, {Text: "c", Page: 3}}, 20,
			[]port.Section{{Text: "aaaa\n\nbbbb\n\f\nc", Page: 2}}},
		{[]port.Section{{Text: "aaaa", Page: 2}, {Text: "bbbbbbbbbbbb", Page: 3}, {Text: "c", Page: 4}}, 10,
			[]port.Section{{Text: "aaaa", Page: 2}, {Text: "bbbbbbbbbb", Page: 3}, {Text: "bb", Page: 3}, {Text: "c", Page: 4}}},
	} {
		if d := cmp.Diff(c.want, pack(c.sections, "", c.limit)); d != "" {
			t.Errorf("%+v in %d: %s", c.sections, c.limit, d)
		}
	}
}

func TestComposeRefusesMetadata(t *testing.T) {
	for media, says := range map[string]string{"text/markdown": "front matter", "application/pdf": "metadata of the file"} {
		_, err := Compose("a", port.Extracted{Format: port.Format{MediaType: media}, Sections: []port.Section{{Text: "x"}},
			Metadata: map[string]any{"$in": "a"}}, nil)
		if fault.CodeOf(err) != fault.InvalidMetadata || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", media, err)
		}
	}
}
