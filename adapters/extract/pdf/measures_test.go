package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/pdf"
	"github.com/mnemehq/mneme/core/port"
)

// of10 is a text of letters that are 6 points wide each.
func of10(x, y float64, s string) text { return text{x, y, 10, s} }

// TestMeasures checks what becomes of lines right at the measures that decide it, in
// letters that are 10 points large: PDFium says that they are 10.5 high.
func TestMeasures(t *testing.T) {
	w := func(n int, word string) string { // so many characters
		return strings.TrimSpace(strings.Repeat(word+" ", n/(len(word)+1)+1)[:n-1]) + "."
	}
	long := w(60, "Abc") // to 410 from 50
	for name, c := range map[string]struct {
		page []text
		want string
	}{
		"wide leading": {
			page: []text{of10(50, 700, long), of10(50, 680, long), of10(50, 660, long)},
			want: long + " " + long + " " + long,
		},
		"wide leading of many lines": {
			page: []text{of10(50, 700, long), of10(50, 680, long), of10(50, 660, long), of10(50, 640, long),
				of10(50, 616, long)},
			want: strings.Repeat(long+" ", 4) + long,
		},
		"a row far below": {
			page: []text{of10(50, 700, "Lamp"), of10(200, 700, "Oil"), of10(50, 677, "Large"), of10(200, 677, "Twelve")},
			want: "| Lamp | Oil |\n| Large | Twelve |",
		},
		"a row whose cells are not quite level": {
			page: []text{of10(50, 700, "Lamp"), of10(300, 699, "Oil"), of10(50, 688, "Large"), of10(300, 687, "Twelve")},
			want: "| Lamp | Oil |\n| Large | Twelve |",
		},
		"narrow gaps below each other": {
			page: []text{of10(50, 700, "Lamp"), of10(92, 700, "Oil"), of10(50, 688, "Page"), of10(92, 688, "Two")},
			want: "| Lamp | Oil |\n| Page | Two |",
		},
		"narrow gaps that hardly meet": {
			page: []text{of10(50, 700, "Lamp"), of10(92, 700, "burns and burns"), of10(56, 688, "Oil or"),
				of10(110, 688, "wax burns")},
			want: "Lamp burns and burns Oil or wax burns",
		},
		"a stretched line at the end": {
			page: []text{of10(50, 700, long), of10(50, 688, "These"), of10(96, 688, "words"), of10(142, 688, "are stretched.")},
			want: long + " These words are stretched.",
		},
		"a line that begins a little to the right": {
			page: []text{of10(60, 700, "Dear Ann,"), of10(50, 688, long), of10(50, 676, long)},
			want: "Dear Ann,\n" + long + " " + long,
		},
		"a small indent": {
			page: []text{of10(50, 700, "Ann Keeper"), of10(55, 688, long), of10(50, 676, long)},
			want: "Ann Keeper\n" + long + " " + long,
		},
		"an indent of the last line": {
			page: []text{of10(50, 700, long), of10(50, 688, "and ends."), of10(74, 676, "A last paragraph.")},
			want: long + " and ends.\n\nA last paragraph.",
		},
		"lines that are indented together": {
			page: []text{of10(50, 700, long), of10(50, 688, "and says:"), of10(74, 676, long), of10(72, 664, long)},
			want: long + " and says:\n" + long + " " + long,
		},
		"an indent after a line that is full": {
			page: []text{of10(50, 700, long), of10(74, 688, long), of10(50, 676, long)},
			want: long + "\n\n" + long + " " + long,
		},
		"a first line that stands out": {
			page: []text{of10(50, 700, long), of10(74, 688, long), of10(76, 676, long)},
			want: long + "\n\n" + long + " " + long,
		},
		"room for the next word": {
			page: []text{of10(50, 700, w(53, "Abc")), of10(50, 688, long), of10(50, 676, long)},
			want: w(53, "Abc") + "\n" + long + " " + long,
		},
		"no room for the next word": {
			page: []text{of10(50, 700, w(54, "Abc")), of10(50, 688, long), of10(50, 676, long)},
			want: w(54, "Abc") + " " + long + " " + long,
		},
		"years over two lines": {
			page: []text{of10(50, 700, "All of that was in the years of the lamps, from 1990-"),
				of10(50, 688, "2000, and no more was heard of it since.")},
			want: "All of that was in the years of the lamps, from 1990-2000, and no more was heard of it since.",
		},
		"a dash at the end of a line": {
			page: []text{of10(50, 700, "All of that was in the years of the lamps, and more -"),
				of10(50, 688, "much more, and no more was heard of it since.")},
			want: "All of that was in the years of the lamps, and more - much more, and no more was heard of it since.",
		},
		"a word with a hyphen that an item knows": {
			page: []text{of10(50, 724, "- A well-kept lamp"),
				of10(50, 700, "It burns all night and all day, since it is a well-"),
				of10(50, 688, "kept lamp that burns, and nothing else.")},
			want: "- A well-kept lamp\n\nIt burns all night and all day, since it is a well-kept lamp that burns, " +
				"and nothing else.",
		},
		"a heading of two lines": {
			page: append([]text{{50, 760, 20, "Lamps of"}, {50, 736, 20, "glass"}, {50, 696, 20, "Oil"},
				{50, 660, 16, "Whale"}},
				column(50, 630, 10, long, long, long)...),
			want: "# Lamps of glass\n\n# Oil\n\n## Whale\n\n" + long + " " + long + " " + long,
		},
		"five sizes": {
			page: append([]text{{50, 760, 40, "A"}, {50, 710, 34, "B"}, {50, 670, 28, "C"}, {50, 640, 22, "D"},
				{50, 610, 16, "E"}},
				column(50, 580, 10, long, long)...),
			want: "# A\n\n## B\n\n### C\n\n#### D\n\n#### E\n\n" + long + " " + long,
		},
		"large letters that are much of the text": {
			page: []text{{50, 760, 20, "Open at all times."}, of10(50, 700, "Ring the bell below twice.")},
			want: "Open at all times.\n\nRing the bell below twice.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := shared.Extract(t.Context(), of(pages("", "", page(c.page...))))
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Sections) != 1 || out.Sections[0].Text != c.want {
				t.Errorf("%q\nwant %q", out.Sections[0].Text, c.want)
			}
		})
	}
}

// TestEdgesOfTurnedPages checks that headers and footers are found where a page shows them:
// its box begins elsewhere than its coordinates do.
func TestEdgesOfTurnedPages(t *testing.T) {
	for turn, at := range map[int]func(right, down float64) string{ // the matrix of a text, of a box from 100 to 600 and 700
		0:   func(right, down float64) string { return fmt.Sprintf("1 0 0 1 %g %g", 100+right, 700-down) },
		90:  func(right, down float64) string { return fmt.Sprintf("0 1 -1 0 %g %g", 100+down, 100+right) },
		180: func(right, down float64) string { return fmt.Sprintf("-1 0 0 -1 %g %g", 600-right, 100+down) },
		270: func(right, down float64) string { return fmt.Sprintf("0 -1 1 0 %g %g", 600-down, 700-right) },
	} {
		height := map[int]float64{0: 600, 90: 500, 180: 600, 270: 500}[turn]
		var contents []string
		for i := range 4 {
			var b strings.Builder
			for down, s := range map[float64]string{15 + float64(i%2): "Oil and Lamps",
				height / 2: fmt.Sprintf("Body of page %d.", i+1), height - 5: fmt.Sprintf("Page %d", i+1)} {
				fmt.Fprintf(&b, "BT /F1 9 Tf %s Tm (%s) Tj ET\n", at(20, down), s)
			}
			contents = append(contents, b.String())
		}
		attributes := fmt.Sprintf("/Rotate %d /CropBox [100 100 600 700]", turn)
		out, err := shared.Extract(t.Context(), of(pages(attributes, "", contents...)))
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range out.Sections {
			if want := fmt.Sprintf("Body of page %d.", i+1); strings.Contains(s.Text, "Oil") != (i == 0) ||
				!strings.Contains(s.Text, want) || strings.Contains(s.Text, "Page") {
				t.Errorf("turned by %d, page %d: %q", turn, i+1, s.Text)
			}
		}
	}
}

// TestTitleCharacters checks that a title has none that say nothing, and is cut between two.
func TestTitleCharacters(t *testing.T) {
	content := page(column(50, 600, 10, "It has one.", "It is kept here.")...)
	for said, want := range map[string]string{
		"0061FFFD0062200B0063E0000064F0B70065200D0066200C00670007": "abcd•e\u200df\u200cg",
		"0061" + strings.Repeat("00E9", 200):                       "a" + strings.Repeat("é", 149),
		strings.Repeat("00E9", 150):                                strings.Repeat("é", 150),
	} {
		out, err := shared.Extract(t.Context(), of(pages("", "/Title <FEFF"+said+">", content)))
		if err != nil || out.Title != want {
			t.Errorf("%q, %v, want %q", out.Title, err, want)
		}
	}
}

// TestTitleAmongSizes checks that of sizes with equally much text the smallest is the body's.
func TestTitleAmongSizes(t *testing.T) {
	var texts []text
	for i, size := range []float64{20, 17, 10, 18, 19} {
		texts = append(texts, text{50, 700 - 50*float64(i), size, "equally long"})
	}
	if out, err := shared.Extract(t.Context(), of(pages("", "", page(texts...)))); err != nil || out.Title != "equally long" {
		t.Errorf("%q, %v", out.Title, err)
	}
	head := []text{{50, 760, 20, "One"}, {50, 736, 20, "two"}, {50, 712, 20, "three"}, {50, 688, 20, "four"},
		{50, 500, 10, strings.Repeat("much text ", 8)}}
	if out, err := shared.Extract(t.Context(), of(pages("", "", page(head...)))); err != nil || out.Title != "One two three" {
		t.Errorf("%q, %v", out.Title, err)
	}
}

// TestPlacesOfEntries checks where headings stand that only the outline has.
func TestPlacesOfEntries(t *testing.T) {
	entry := func(title, next, place string) string {
		return fmt.Sprintf("<< /Title (%s) /Parent 6 0 R %s /Dest [4 0 R %s] >>", title, next, place)
	}
	content := []string{
		"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
		stream("", page(append(column(50, 700, 12, "The first line.", "", "The second line."),
			column(50, 500, 12, "A title", "of three", "lines", "and text.", "", "The last line")...)...)),
		"<< /Type /Outlines /First 7 0 R /Last 13 0 R >>",
		entry("First", "/Next 8 0 R", "/Fit"),
		entry("Second", "/Next 9 0 R", "/Fit"),
		entry("Above all", "/Next 10 0 R", "/XYZ 0 790 0"),
		entry("Level with it", "/Next 11 0 R", "/XYZ 0 680.8 0"), // the top of the second line
		entry("A title of three lines", "/Next 12 0 R", "/Fit"),
		entry("The last line", "/Next 13 0 R", "/Fit"),
		entry("Below all", "", "/XYZ 0 10 0"),
	}
	out, err := shared.Extract(t.Context(), of(file("", content...)))
	if err != nil {
		t.Fatal(err)
	}
	const want = "# First\n\n# Second\n\n# Above all\n\nThe first line.\n\n# Level with it\n\nThe second line.\n\n" +
		"# A title of three lines\n\nand text.\n\n# The last line\n\n# Below all"
	if got := out.Sections[0].Text; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestAllOfTheText checks that as much text as may be is read, and no more.
func TestAllOfTheText(t *testing.T) {
	for most, code := range map[int]port.FileCode{6: "", 5: port.FileTooLarge} {
		e := limited(t, pdf.Settings{Limits: limits(func(l *extract.Limits) { l.Text = most })})
		if _, err := e.Extract(t.Context(), of(hello("", ""))); codeOf(t, err) != code {
			t.Errorf("%d bytes: %v", most, err)
		}
	}
}
