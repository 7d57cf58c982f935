package pdf_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/adapters/extract/pdf"
	"github.com/mnemehq/mneme/core/port"
)

// shared is what most tests read with: PDFium is compiled once, and kept in the cache.
var shared *pdf.Extractor

func cacheDir() string {
	dir := os.Getenv("CACHE")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", ".cache")
	}
	return filepath.Join(dir, "compiled")
}

func TestMain(m *testing.M) {
	shared = pdf.New(pdf.Settings{CacheDir: cacheDir(), Log: slog.New(slog.DiscardHandler)})
	code := m.Run()
	if err := shared.Close(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// limited reads with other settings; it shares the compiled code on disk.
func limited(t *testing.T, s pdf.Settings) *pdf.Extractor {
	t.Helper()
	s.CacheDir, s.Log = cacheDir(), slog.New(slog.DiscardHandler)
	e := pdf.New(s)
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func sample(t testing.TB, name string) port.File {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return port.File{Name: name, MediaType: pdf.MediaType, Content: content}
}

func of(content []byte) port.File {
	return port.File{Name: "made.pdf", MediaType: pdf.MediaType, Content: content}
}

func TestContract(t *testing.T) {
	extracttest.Run(t, extracttest.Suite{
		Open: func(*testing.T) port.Extractor { return shared },
		Cuts: 6,
		Samples: []extracttest.Sample{
			{
				File: sample(t, "report.pdf"), Title: "Quarterly Report of the Lighthouse Service", Pages: 4,
				Text: []string{
					"# Quarterly Report of the Lighthouse Service\n\nIn the third",
					"on the ninth of August", "paint 96 pounds. The paint was white.",
				},
				Page: map[int]string{
					1: "Of the well-known difficulties of supply only one remains. Oil of the old grade is no longer to " +
						"be had, so the " +
						"burners are being converted one after the other; by Christmas the last well-known make of " +
						"burner will have gone.\n\n",
					2: "## Stations\n\n| Station | Height | Keeper |\n| Cape Wrath | 121 m | MacLeod |\n| Skerryvore | " +
						"46 m | Stevenson |\n" +
						"| Muckle Flugga | 66 m | Williamson |\n\nAll heights are those of the lamp above the sea at " +
						"high water, as the survey",
					3: "### Reserve\n\nThe reserve",
					4: "## Ελληνικά and others\n\nΦάρος means lighthouse. So do маяк and Leuchtturm, and the Dutch say " +
						"vuurtoren: “fire tower”.",
				},
				Never:    []string{"Page 1 of 4", "Page 2", "of 4", "theLighthouse"},
				Metadata: map[string]any{"pages": 4},
			},
			{
				File: sample(t, "article.pdf"), Title: "On the Efficient Flight of Puffins", Pages: 1,
				Text: []string{
					"# On the Efficient Flight of Puffins\n\nF. Fratercula",
					"## 1 Introduction\n\nThe Atlantic puffin flies with difficulty.",
					"than that of any official aircraft. Earlier studies found that the influence of fish on flight is " +
						"sufficient to explain " +
						"the effect, and that the difference between one fish and five is insignificant for a " +
						"well-trained bird. We confirm this.\n\n" +
						"A second paragraph begins here with an indent. Nothing in it is of importance, but its words " +
						"are long enough to be " +
						"divided at the end of lines: characteristically, ornithological investigations underestimate " +
						"meteorological " +
						"circumstances considerably.\n\n",
					"## 2 Method", "2.1 Birds", "| Bird | Speed | Fish |\n| Seven | 81 | 5 |\n| Eleven | 88 | 1 |",
					"The speeds are those over the sea, in kilometres an hour. Air-speed was not measured", "## 3 Results",
					"the officers of the ferry disagreed; their affidavits are on file.",
				},
				Never: []string{"\uFFFE", "ﬁ", "ﬂ"},
			},
			{
				File: sample(t, "letter.pdf"), Title: "Tide Tables for Keepers", Pages: 2,
				Text: []string{"# Tide Tables\n\n", "| Leith | 14:32 | 20:11 |\n| Wick | 11:19 | 17:04 |",
					"## How to read them\n\nSpring tides"},
				Page:     map[int]string{2: "# Currents\n\nThe race off the point runs at nine knots. Do not row there."},
				Metadata: map[string]any{"author": "B. Mariner"},
			},
			{File: sample(t, "readonly.pdf"), Title: "Sealed", Pages: 1, Text: []string{"Open sesame."}},
		},
		Refused: []extracttest.Refused{
			{Name: "encrypted", File: sample(t, "encrypted.pdf"), Code: port.FileEncrypted},
			{Name: "a picture of a text", File: sample(t, "scan.pdf"), Code: port.FileNoText},
			{Name: "nothing behind the first line", File: of([]byte("%PDF-1.7\n")), Code: port.FileBroken},
			{Name: "no pages", File: of(pages("", "")), Code: port.FileBroken},
			{Name: "an empty page", File: of(pages("", "", "")), Code: port.FileNoText},
			{Name: "signs that say nothing", File: of(pages("", "", page(text{50, 400, 12, "--- ***"}))), Code: port.FileNoText},
		},
	})
}

// TestPages checks that a long file's sections name their pages.
func TestPages(t *testing.T) {
	contents := make([]string, 200)
	for i := range contents {
		contents[i] = page(append(column(50, 700, 12, fmt.Sprintf("The secret of page %d is %d.", i+1, (i+1)*7919)),
			text{280, 20, 9, fmt.Sprint(i + 1)})...)
	}
	contents[99] = "" // a page without text is counted all the same
	out, err := shared.Extract(t.Context(), of(pages("", "/Title (Secrets) /CreationDate (D:20240229120000Z)", contents...)))
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Sections) != 199 || out.Title != "Secrets" || out.Metadata["created_at"] != "2024-02-29" ||
		out.Metadata["pages"] != 200 {
		t.Errorf("%d sections, title %q, metadata %v", len(out.Sections), out.Title, out.Metadata)
	}
	for _, s := range out.Sections {
		if want := fmt.Sprintf("The secret of page %d is %d.", s.Page, s.Page*7919); s.Text != want {
			t.Errorf("page %d says %q", s.Page, s.Text)
		}
	}
}

// TestLayout checks what becomes of lines.
func TestLayout(t *testing.T) {
	long := "this line is as long as the others of its own column are"
	for name, c := range map[string]struct {
		page       string
		attributes string
		want       string
	}{
		"lines of a paragraph": {
			page: page(column(50, 700, 12, "This line is as long as the others of its own column and", long, "and ends.")...),
			want: "This line is as long as the others of its own column and " + long + " and ends.",
		},
		"a gap": {
			page: page(column(50, 700, 12, long, "", long)...),
			want: long + "\n\n" + long,
		},
		"an indent": {
			page: page(append(column(50, 700, 12, long, "and ends."), append([]text{{74, 671.2, 12,
				"A new paragraph has an indent of its own this once"}},
				column(50, 656.8, 12, long)...)...)...),
			want: long + " and ends.\n\nA new paragraph has an indent of its own this once " + long,
		},
		"lines that end early": {
			page: page(append(column(50, 700, 12, "Ann Keeper", "Lighthouse Lane 7", "Stromness"), text{50, 600, 12, long})...),
			want: "Ann Keeper\nLighthouse Lane 7\nStromness\n\n" + long,
		},
		"items": {
			page: page(column(50, 700, 12, "- "+long+" and", "  goes on here", "- "+long, "2. "+long)...),
			want: "- " + long + " and goes on here\n- " + long + "\n2. " + long,
		},
		"a divided word": {
			page: page(column(50, 700, 12, "It was at the end of this line that the word was divi-",
				"ded, and it is the only one of the kind here.")...),
			want: "It was at the end of this line that the word was divided, and it is the only one of the kind here.",
		},
		"a word with a hyphen that is known": {
			page: page(column(50, 700, 12, "A well-kept lamp burns all night, for it is a well-",
				"kept lamp that burns, and nothing else.")...),
			want: "A well-kept lamp burns all night, for it is a well-kept lamp that burns, and nothing else.",
		},
		"a name with a hyphen": {
			page: page(column(50, 700, 12, "All of this was written down by Mr. and Mrs. Harcourt-",
				"Smythe, who had been there at the time.")...),
			want: "All of this was written down by Mr. and Mrs. Harcourt-Smythe, who had been there at the time.",
		},
		"a table": {
			page: page(text{50, 700, 12, "Lamp"}, text{200, 700, 12, "Oil"}, text{300, 700, 12, "Hours|day"},
				text{50, 685, 12, "Large"}, text{200, 685, 12, "12"}, text{300, 685, 12, "9"}),
			want: "| Lamp | Oil | Hours\\|day |\n| Large | 12 | 9 |",
		},
		"wide spaces of a stretched line": {
			page: page(text{50, 700, 12, "these"}, text{100, 700, 12, "words"}, text{150, 700, 12, "are"}, text{190,
				700, 12, "stretched"},
				text{50, 685.6, 12, "these are not stretched at all"}),
			want: "these words are stretched these are not stretched at all",
		},
		"two columns, one after the other": {
			page: page(append(column(50, 700, 12, "left one has words", "left two has words"), column(350, 700, 12,
				"right one has words",
				"right two has words")...)...),
			want: "left one has words left two has words\n\nright one has words right two has words",
		},
		"headings by size": {
			page: page(append(append([]text{{50, 740, 24, "Lamps"}, {50, 700, 16, "Of glass"}},
				column(50, 670, 10, long, long, long, long)...), text{50, 600, 16, "Of paper"}, text{50, 580, 10, "None."})...),
			want: "# Lamps\n\n## Of glass\n\n" + long + " " + long + " " + long + " " + long + "\n\n## Of paper\n\nNone.",
		},
		"a page on its side": {
			attributes: "/Rotate 90",
			page: "BT /F1 12 Tf 0 1 -1 0 100 50 Tm (This line is as long as the others of its own column and) Tj ET " +
				"BT /F1 12 Tf 0 1 -1 0 114.4 50 Tm (is upright.) Tj ET " +
				"BT /F1 12 Tf 0 1 -1 0 200 50 Tm (So is this.) Tj ET",
			want: "This line is as long as the others of its own column and is upright.\n\nSo is this.",
		},
		"a page upside down": {
			attributes: "/Rotate 180 /CropBox [0 100 600 700]",
			page: "BT /F1 12 Tf -1 0 0 -1 550 200 Tm (This line is as long as the others of its own column and) Tj ET " +
				"BT /F1 12 Tf -1 0 0 -1 550 214.4 Tm (is upright.) Tj ET",
			want: "This line is as long as the others of its own column and is upright.",
		},
		"a page on its other side": {
			attributes: "/Rotate 270",
			page: "BT /F1 12 Tf 0 -1 1 0 400 750 Tm (This line is as long as the others of its own column and) Tj ET " +
				"BT /F1 12 Tf 0 -1 1 0 385.6 750 Tm (is upright.) Tj ET",
			want: "This line is as long as the others of its own column and is upright.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := shared.Extract(t.Context(), of(pages(c.attributes, "", c.page)))
			if err != nil {
				t.Fatal(err)
			}
			if len(out.Sections) != 1 || out.Sections[0].Text != c.want {
				t.Errorf("%+v\nwant %q", out.Sections, c.want)
			}
		})
	}
}

// TestRepeats checks which lines at the edges of pages are left out.
func TestRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		pages int
		edge  func(n int) []text // of page n, from 1
		want  func(n int) string // before and after the page's own text, which is "@"
	}{
		"header and page numbers": {
			pages: 5,
			edge: func(n int) []text {
				return []text{{50, 770, 9, "Oil and Lamps"}, {250, 20, 9, fmt.Sprintf("Page %d of 5", n)}}
			},
			want: func(n int) string {
				if n == 1 {
					return "Oil and Lamps\n\n@"
				}
				return "@"
			},
		},
		"a number beside a title": {
			pages: 4,
			edge:  func(n int) []text { return []text{{50, 20, 9, "Oil and Lamps"}, {500, 20, 9, fmt.Sprint(n + 6)}} },
			want: func(n int) string {
				if n == 1 {
					return "@\n\nOil and Lamps"
				}
				return "@"
			},
		},
		"left and right pages": {
			pages: 6,
			edge: func(n int) []text {
				return []text{{50, 770, 9, []string{"Right pages", "Left pages"}[n%2]}, {50 + float64(n%2)*400, 20, 9,
					"- " + fmt.Sprint(n) + " -"}}
			},
			want: func(n int) string {
				switch n {
				case 1:
					return "Left pages\n\n@"
				case 2:
					return "Right pages\n\n@"
				}
				return "@"
			},
		},
		"Roman numbers": {
			pages: 4,
			edge:  func(n int) []text { return []text{{250, 20, 9, []string{"", "i", "ii", "iii", "iv"}[n]}} },
			want:  func(int) string { return "@" },
		},
		"letters that are no numbers of these pages": {
			pages: 4,
			edge:  func(n int) []text { return []text{{250, 20, 9, []string{"", "x", "c", "c", "i"}[n]}} },
			want:  func(n int) string { return "@\n\n" + []string{"", "x", "c", "c", "i"}[n] },
		},
		"the titles of chapters stay": {
			pages: 4,
			edge:  func(n int) []text { return []text{{50, 770, 12, fmt.Sprintf("Chapter %d", n)}} },
			want:  func(n int) string { return fmt.Sprintf("Chapter %d\n\n@", n) },
		},
		"numbers that do not count pages stay": {
			pages: 4,
			edge:  func(n int) []text { return []text{{250, 20, 9, fmt.Sprint(1000 + n*n)}} },
			want:  func(n int) string { return fmt.Sprintf("@\n\n%d", 1000+n*n) },
		},
		"large letters stay": {
			pages: 4,
			edge:  func(int) []text { return []text{{50, 770, 20, "Notice"}} },
			want:  func(int) string { return "# Notice\n\n@" },
		},
		"two pages are too few": {
			pages: 2,
			edge:  func(int) []text { return []text{{50, 770, 9, "Oil and Lamps"}} },
			want:  func(int) string { return "Oil and Lamps\n\n@" },
		},
		"far apart": {
			pages: 13,
			edge: func(n int) []text {
				if n%6 != 1 {
					return nil
				}
				return []text{{50, 770, 9, "A form of its own"}}
			},
			want: func(n int) string {
				if n%6 != 1 {
					return "@"
				}
				return "A form of its own\n\n@"
			},
		},
		"below another line": {
			pages: 4,
			edge: func(n int) []text {
				return []text{{50, 770, 9, strings.Repeat("q", n)}, {50, 750, 9, "This stands below what differs"}}
			},
			want: func(n int) string {
				return strings.Repeat("q", n) + "\n\nThis stands below what differs\n\n@"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := func(n int) string { return fmt.Sprintf("This is what page %d has to say for itself.", n) }
			contents := make([]string, c.pages)
			for i := range contents {
				texts := append(c.edge(i+1), text{50, 400, 12, body(i + 1)})
				slices.SortStableFunc(texts, func(a, b text) int { return int(b.y - a.y) })
				contents[i] = page(texts...)
			}
			out, err := shared.Extract(t.Context(), of(pages("", "", contents...)))
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range out.Sections {
				if want := strings.ReplaceAll(c.want(i+1), "@", body(i+1)); s.Text != want {
					t.Errorf("page %d: %q\nwant %q", i+1, s.Text, want)
				}
			}
		})
	}
	t.Run("nothing else on the pages", func(t *testing.T) {
		form := page(text{50, 770, 9, "The same on each"})
		out, err := shared.Extract(t.Context(), of(pages("", "", form, form, form, form)))
		if err != nil || len(out.Sections) != 4 {
			t.Errorf("%+v, %v", out.Sections, err)
		}
	})
}

// TestTitle checks where the title comes from.
func TestTitle(t *testing.T) {
	head := page(append([]text{{50, 740, 24, "The Name of the"}, {50, 712, 24, "Lamp"}}, column(50, 600, 10,
		"It has one.", "It is kept here.")...)...)
	plain := page(column(50, 600, 10, "It has one.", "It is kept here.")...)
	for name, c := range map[string]struct{ info, page, want string }{
		"said":                  {"/Title (Lamps)", head, "Lamps"},
		"a file's name":         {"/Title (lamps-final.docx)", head, "The Name of the Lamp"},
		"a program's":           {"/Title (Microsoft Word - lamps)", head, "The Name of the Lamp"},
		"not said":              {"", head, "The Name of the Lamp"},
		"not to be seen either": {"", plain, ""},
		"long": {"/Title (" + strings.Repeat("lamp ", 400) + ")", plain,
			strings.TrimSpace(strings.Repeat("lamp ", 60))},
	} {
		out, err := shared.Extract(t.Context(), of(pages("", c.info, c.page)))
		if err != nil || out.Title != c.want {
			t.Errorf("%s: %q, %v, want %q", name, out.Title, err, c.want)
		}
	}
}

// TestOutline checks that entries of an outline become headings, also those that no line
// of the text repeats.
func TestOutline(t *testing.T) {
	lines := append(column(50, 700, 12, "1. Lamps", "Of these there are two."), column(50, 500, 12, "Of glass",
		"and of paper", "One is blue.")...)
	content := []string{
		"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", "<< /Type /Pages /Kids [4 0 R 12 0 R] /Count 2 >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
		stream("", page(lines...)),
		"<< /Type /Outlines /First 7 0 R /Last 9 0 R >>",
		"<< /Title (LAMPS) /Parent 6 0 R /First 8 0 R /Last 8 0 R /Next 9 0 R /Dest [4 0 R /XYZ 0 720 0] >>",
		"<< /Title (Of glassand of paper) /Parent 7 0 R /A << /S /GoTo /D [4 0 R /Fit] >> >>",
		"<< /Title (What only the outline says) /Parent 6 0 R /Next 10 0 R /Dest [12 0 R /XYZ 0 650 0] >>",
		"<< /Title (Nowhere) /Parent 6 0 R /Next 11 0 R >>",
		"<< /Title (At the top) /Parent 6 0 R /Dest [12 0 R /Fit] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents 13 0 R >>",
		stream("", page(text{50, 700, 12, "Above it."}, text{50, 600, 12, "Below it."})),
	}
	out, err := shared.Extract(t.Context(), of(file("", content...)))
	if err != nil {
		t.Fatal(err)
	}
	want := []port.Section{
		{Text: "# 1. Lamps\n\nOf these there are two.\n\n## Of glass and of paper\n\nOne is blue.", Page: 1},
		{Text: "# At the top\n\nAbove it.\n\n# What only the outline says\n\nBelow it.", Page: 2},
	}
	for i, s := range out.Sections {
		if i >= len(want) || s != want[i] {
			t.Errorf("section %d: %+v\nwant %+v", i, s, want)
		}
	}
}

// codeOf is why a file was refused; "" when it was read.
func codeOf(t *testing.T, err error) port.FileCode {
	t.Helper()
	var why *port.FileError
	if err != nil && !errors.As(err, &why) {
		t.Fatalf("%T: %v", err, err)
	}
	if why == nil {
		return ""
	}
	return why.Code
}

func limits(change func(*extract.Limits)) extract.Limits {
	l := extract.DefaultLimits()
	change(&l)
	return l
}
