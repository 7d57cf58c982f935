package pdf

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// PDFium says where letters stand in numbers that a file cannot choose to the last digit, so
// the measures are tested on the lines of a document. Letters are 16 high where nothing else
// is said: a multiple of it is as exact as the measure.

// put is a line whose letters are size high.
func put(left, right, bottom, size float64, cells ...string) line {
	return line{cells: cells, left: left, right: right, top: bottom - size, bottom: bottom, size: size}
}

// at is a line of the usual size.
func at(left, right, bottom float64, cells ...string) line {
	return put(left, right, bottom, 16, cells...)
}

// read makes text of pages of these lines, 1024 high each.
func read(t *testing.T, outline []entry, pages ...[]line) (title string, texts []string) {
	t.Helper()
	d := &document{outline: outline}
	for _, lines := range pages {
		d.pages = append(d.pages, page{view: view{width: 1024, height: 1024}, lines: lines})
	}
	out, err := d.extracted(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range out.Sections {
		texts = append(texts, s.Text)
	}
	return out.Title, texts
}

// TestExactMeasures checks lines that are exactly as far from each other, as large or as long
// as a measure says.
func TestExactMeasures(t *testing.T) {
	much := strings.Repeat("many words ", 60) // of the page's text, so that little of it is large
	far := at(600, 1000, 2000, much)
	for name, c := range map[string]struct {
		lines []line
		want  string
	}{
		"a heading of exactly the size": {[]line{put(0, 100, 0, 19.2, "Oil"), far}, "# Oil\n\n" + much},
		"a heading as long as may be": {[]line{put(0, 900, 0, 32, strings.Repeat("é", 150)), far},
			"# " + strings.Repeat("é", 150) + "\n\n" + much},
		"a heading that is too long": {[]line{put(0, 900, 0, 32, strings.Repeat("é", 151)), far},
			strings.Repeat("é", 151) + "\n\n" + much},
		"large letters that are a quarter of the text": {[]line{put(0, 100, 0, 32, "Oil"), at(0, 100, 100, "and lamps")},
			"# Oil\n\nand lamps"},
		"large letters that are more than a quarter": {[]line{put(0, 100, 0, 32, "Oils"), at(0, 100, 100, "and lamps")},
			"Oils\n\nand lamps"},
		"sizes of one level": {[]line{put(0, 100, 0, 42, "Oil"), put(0, 100, 100, 40, "Wax"), put(0, 100, 200, 38, "Gas"), far},
			"# Oil\n\n# Wax\n\n## Gas\n\n" + much},
		"a heading half a line below another": {[]line{put(0, 100, 0, 32, "Oil"), put(0, 100, 48, 32, "Wax"), far},
			"# Oil\n\n# Wax\n\n" + much},
		"a heading half a line above another's end": {[]line{put(0, 100, 0, 32, "Oil"), put(0, 100, 16, 32, "Wax"), far},
			"# Oil\n\n# Wax\n\n" + much},
		"a heading level with another": {[]line{put(0, 100, 0, 32, "Oil"), put(200, 300, 0, 32, "Wax"), far},
			"# Oil\n\n# Wax\n\n" + much},
		"a heading right below another": {[]line{put(0, 100, 0, 32, "Oil"), put(0, 100, 47, 32, "Wax"), far},
			"# Oil Wax\n\n" + much},
		"a distance that is too small for lines": {[]line{at(0, 100, 0, "Oil"), at(0, 100, 11.2, "burns"),
			at(0, 100, 27.2, "well")}, "Oil burns well"},
		"a distance that is too large for lines": {[]line{at(0, 100, -16, "Oil"), at(0, 100, 0, "burns"), at(0, 100, 48, "well"),
			at(0, 100, 96, "all"), at(0, 100, 144, "night")}, "Oil burns\n\nwell\n\nall\n\nnight"},
		"rows that step back by half a line": {[]line{at(0, 100, 8, "Oil", "2"), at(0, 100, 0, "Wax", "3")},
			"| Oil | 2 |\n| Wax | 3 |"},
		"rows that step back by more": {[]line{at(0, 100, 9, "Oil", "2"), at(0, 100, 0, "Wax", "3")},
			"| Oil | 2 |\n\n| Wax | 3 |"},
		"rows that are level": {[]line{at(0, 100, 0, "Oil", "2"), at(200, 300, 0, "Wax", "3")}, "| Oil | 2 |\n| Wax | 3 |"},
		"rows three lines apart": {[]line{at(0, 100, 0, "Oil", "2"), at(0, 100, 48, "Wax", "3")},
			"| Oil | 2 |\n| Wax | 3 |"},
		"rows further apart": {[]line{at(0, 100, 0, "Oil", "2"), at(0, 100, 49, "Wax", "3")},
			"| Oil | 2 |\n\n| Wax | 3 |"},
		"letters that are just of one paragraph": {[]line{at(0, 100, 0, "Oil"), put(0, 100, 16, 17.92, "burns")}, "Oil burns"},
		"letters that are not":                   {[]line{at(0, 100, 0, "Oil"), put(0, 100, 16, 18, "burns")}, "Oil\n\nburns"},
		"a line half a line below":               {[]line{at(0, 100, 0, "Oil"), at(0, 100, 8, "burns")}, "Oil burns"},
		"a line less than that below":            {[]line{at(0, 100, 0, "Oil"), at(0, 100, 7, "burns")}, "Oil\n\nburns"},
		"a gap that is just none": {[]line{at(0, 100, -16, "Oil"), at(0, 100, 0, "burns"), at(0, 100, 20.8, "well")},
			"Oil burns well"},
		"a gap": {[]line{at(0, 100, -16, "Oil"), at(0, 100, 0, "burns"), at(0, 100, 21, "well")}, "Oil burns\n\nwell"},
		"a line that begins where the one above ends": {[]line{at(95, 100, 0, "Oil"), at(100, 200, 16, "burns")}, "Oil burns"},
		"a line that begins after it":                 {[]line{at(95, 100, 0, "Oil"), at(101, 200, 16, "burns")}, "Oil\n\nburns"},
		"a line that ends where the one above begins": {[]line{at(100, 200, 0, "Oil"), at(0, 100, 16, "burns")}, "Oil burns"},
		"a line that ends before it":                  {[]line{at(100, 200, 0, "Oil"), at(0, 99, 16, "burns")}, "Oil\n\nburns"},
		"a line that is not quite in the column": {[]line{at(0, 100, 0, "Oil"), at(0, 100, 16, "burns"),
			at(32, 900, 900, "far away")}, "Oil burns\n\nfar away"},
		"a longer line in the column": {[]line{at(0, 100, 0, "Oil"), at(0, 100, 16, "burns"), at(31, 900, 900, "far away")},
			"Oil\nburns\n\nfar away"},
		"a row above a line": {[]line{at(0, 100, 0, "Oil", "2"), at(0, 100, 16, "burns")}, "| Oil | 2 |\n\nburns"},
		"a line above a row": {[]line{at(0, 100, 0, "burns"), at(0, 100, 16, "Oil", "2")}, "burns\n\n| Oil | 2 |"},
		"a paragraph far below a wide row": {[]line{at(0, 1000, 0, "Oil", "2"), at(100, 400, 40, "It burns"),
			at(100, 400, 56, "all night")}, "| Oil | 2 |\n\nIt burns all night"},
		"a row far below a wide line, and a paragraph": {[]line{at(0, 1000, 0, "burns"), at(100, 400, 40, "Oil", "2"),
			at(100, 400, 56, "It burns"), at(100, 400, 72, "all night")}, "burns\n\n| Oil | 2 |\n\nIt burns all night"},
		"less than an indent after a short line": {[]line{at(0, 50, 0, "Oil"), at(12.8, 400, 16, "It burns")}, "Oil\nIt burns"},
		"an indent after a short line": {[]line{at(0, 50, 0, "Oil"), at(13, 400, 16, "It burns"), at(0, 400, 900, "far away")},
			"Oil\n\nIt burns\n\nfar away"},
		"lines that are indented almost together": {[]line{at(0, 50, 0, "Oil"), at(32, 400, 16, "It burns"),
			at(25.6, 400, 32, "all night"), at(0, 400, 900, "far away")}, "Oil\nIt burns all night\n\nfar away"},
		"less than an indent after a full line": {[]line{at(0, 100, 0, "Oil"), at(12.8, 100, 16, "burns")}, "Oil burns"},
		"an indent after a full line":           {[]line{at(0, 100, 0, "Oil"), at(13, 100, 16, "burns")}, "Oil\n\nburns"},
		"just room for the next word": {[]line{at(0, 336, 0, "Oil"), at(0, 160, 16, "abc de fghi jklm"),
			at(0, 400, 900, "far away")}, "Oil\nabc de fghi jklm\n\nfar away"},
		"no room for the next word": {[]line{at(0, 337, 0, "Oil"), at(0, 160, 16, "abc de fghi jklm"),
			at(0, 400, 900, "far away")}, "Oil abc de fghi jklm\n\nfar away"},
		"room for the next word, away from the edge": {[]line{at(100, 336, 0, "Oil"), at(100, 260, 16, "abc de fghi jklm"),
			at(100, 400, 900, "far away")}, "Oil\nabc de fghi jklm\n\nfar away"},
		"lines without a place": {[]line{{cells: []string{"Oil"}}, {cells: []string{"burns"}}, at(0, 100, 100, "well")},
			"Oil\nburns\n\nwell"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, texts := read(t, nil, c.lines); !slices.Equal(texts, []string{c.want}) {
				t.Errorf("%q\nwant %q", texts, c.want)
			}
		})
	}
}

// TestExactTitles checks which lines are large enough to be a title.
func TestExactTitles(t *testing.T) {
	text := at(0, 900, 900, strings.Repeat("many words ", 40))
	for _, c := range []struct {
		sizes []float64
		want  string
	}{
		{[]float64{19.2}, "0"}, {[]float64{19}, ""}, {[]float64{51, 50}, "0 1"}, {[]float64{51, 49}, "0"},
		{[]float64{40, 40, 40, 40}, "0 1 2"},
	} {
		var lines []line
		for i, size := range c.sizes {
			lines = append(lines, put(0, 100, 100*float64(i), size, fmt.Sprint(i)))
			lines[i].cells[0] = "Oil " + lines[i].cells[0]
		}
		title, _ := read(t, nil, append(lines, text))
		if got := strings.ReplaceAll(title, "Oil ", ""); got != c.want {
			t.Errorf("%v: %q, want %q", c.sizes, got, c.want)
		}
	}
}

// TestExactPlacesOfEntries checks where an entry of the outline goes that no line repeats.
func TestExactPlacesOfEntries(t *testing.T) {
	lines := func() []line { return []line{at(0, 100, 116, "Oil"), at(0, 100, 216, "Wax")} } // their tops are 100 and 200
	for _, c := range []struct {
		outline []entry
		want    string
	}{
		{[]entry{{title: "Gas", level: 1, top: 0}}, "# Gas\n\nOil\n\nWax"},
		{[]entry{{title: "Gas", level: 1, top: 101}}, "# Gas\n\nOil\n\nWax"},
		{[]entry{{title: "Gas", level: 1, top: 102}}, "Oil\n\n# Gas\n\nWax"},
		{[]entry{{title: "Gas", level: 1, top: 202}}, "Oil\n\nWax\n\n# Gas"},
		{[]entry{{title: "Oil", level: 1, top: 100}, {title: "Gas", level: 2, top: 0}}, "# Oil\n\n## Gas\n\nWax"},
		{[]entry{{title: "Wax", level: 7, top: 0}}, "Oil\n\n###### Wax"},
	} {
		if _, texts := read(t, c.outline, lines()); !slices.Equal(texts, []string{c.want}) {
			t.Errorf("%+v: %q, want %q", c.outline, texts, c.want)
		}
	}
	numbered := []line{at(0, 100, 100, "2.1"), at(0, 100, 120, "Oil"), at(0, 100, 300, "It burns.")}
	if _, texts := read(t, []entry{{title: "Oil", level: 1}}, numbered); texts[0] != "# 2.1 Oil\n\nIt burns." {
		t.Errorf("a number on a line of its own: %q", texts)
	}
}

// TestExactMargins checks how near to a page's edge and how large a line may be that is left
// out because other pages have it.
func TestExactMargins(t *testing.T) {
	body := func() line { return at(0, 900, 500, strings.Repeat("many words ", 40)) }
	for name, c := range map[string]struct {
		edge func(n int) line // of the page, from 0
		kept int              // on how many of the four pages
	}{
		"as far down as the margin goes": {func(int) line { return at(0, 100, 122.88, "Oil") }, 1},
		"below the margin":               {func(int) line { return at(0, 100, 123, "Oil") }, 4},
		"as far up as the margin goes": {func(int) line {
			return line{cells: []string{"Oil"}, right: 100, top: 901.12, bottom: 918, size: 16}
		}, 1},
		"above the margin": {func(int) line {
			return line{cells: []string{"Oil"}, right: 100, top: 901, bottom: 918, size: 16}
		}, 4},
		"large letters among them": {func(n int) line { // three are needed
			if n < 2 {
				return line{cells: []string{"Oil"}, right: 100, top: 16, bottom: 35.2, size: 19.2}
			}
			return line{cells: []string{"Oil"}, right: 100, top: 16, bottom: 32, size: 16}
		}, 4},
	} {
		var pages [][]line
		for n := range 4 {
			lines := []line{c.edge(n), body()}
			slices.SortFunc(lines, func(a, b line) int { return int(a.top - b.top) })
			pages = append(pages, lines)
		}
		_, texts := read(t, nil, pages...)
		kept := 0
		for _, s := range texts {
			kept += strings.Count(s, "Oil")
		}
		if kept != c.kept {
			t.Errorf("%s: %d are kept, want %d: %.40q", name, kept, c.kept, texts)
		}
	}
}

// TestExactColumns checks which gaps of a line are those of columns.
func TestExactColumns(t *testing.T) {
	raw := func(bottom, size float64, parts ...span) rawLine {
		return rawLine{parts: parts, size: size, rect: rect{left: parts[0].left, right: parts[len(parts)-1].right,
			top: bottom - size, bottom: bottom}}
	}
	for name, c := range map[string]struct {
		lines []rawLine
		want  string
	}{
		"a gap that is just not wide":    {[]rawLine{raw(0, 16, span{"a", 0, 10}, span{"b", 50, 60})}, "a b"},
		"a wide gap":                     {[]rawLine{raw(0, 16, span{"a", 0, 10}, span{"b", 51, 60})}, "a|b"},
		"a number and a title":           {[]rawLine{raw(0, 16, span{"2.1", 0, 10}, span{"b", 51, 60})}, "2.1 b"},
		"gaps that just do not meet":     {twoRows(raw, 6.4, 16), "a b/c d"},
		"gaps that meet":                 {twoRows(raw, 6.5, 16), "a|b/c|d"},
		"gaps of letters of one size":    {twoRows(raw, 20, 17.92), "a|b/c|d"},
		"gaps of letters of other sizes": {twoRows(raw, 20, 18), "a b/c d"},
		"a part that goes on":            {[]rawLine{raw(0, 16, span{"a", 0, 10}), raw(3, 16, span{"b", 100, 110})}, "a|b"},
		"a part that is too far down":    {[]rawLine{raw(0, 16, span{"a", 0, 10}), raw(3.2, 16, span{"b", 100, 110})}, "a/b"},
		"a part that touches":            {[]rawLine{raw(0, 16, span{"a", 0, 10}), raw(0, 16, span{"b", 10, 20})}, "a/b"},
		"a part that is just too large":  {[]rawLine{raw(0, 16, span{"a", 0, 10}), raw(0, 17.92, span{"b", 100, 110})}, "a/b"},
		"parts without a place":          {[]rawLine{{parts: []span{{text: "a"}}}, {parts: []span{{text: "b"}}}}, "a/b"},
	} {
		var got []string
		for _, l := range columns(c.lines) {
			got = append(got, strings.Join(l.cells, "|"))
		}
		if s := strings.Join(got, "/"); s != c.want {
			t.Errorf("%s: %q, want %q", name, s, c.want)
		}
	}
}

// twoRows are two lines below each other, the second in letters of a size: the first has a gap
// from 0 to 25, the second one of 20 that ends at to.
func twoRows(raw func(float64, float64, ...span) rawLine, to, size float64) []rawLine {
	return []rawLine{raw(0, 16, span{"a", -50, 0}, span{"b", 25, 60}), raw(20, size, span{"c", -50, to - 20}, span{"d", to, 90})}
}

// TestExactGaps checks where a line is cut.
func TestExactGaps(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		second float64 // where the last letter begins
		want   int
	}{
		"just no gap":         {"a b", 22.8, 1},
		"a gap":               {"a b", 23, 2},
		"several blanks":      {"a   b", 23, 2},
		"blanks around":       {"  a b  ", 23, 2},
		"nothing but blanks":  {"  ", 0, 0},
		"blanks of no letter": {"a\x00\x00b", 23, 2},
	} {
		chars := []rune(c.text)
		l, err := readLine(chars, 0, len(chars), func(i int) (rect, error) {
			if chars[i] == 'a' {
				return rect{left: 0, right: 10, top: 0, bottom: 16}, nil
			}
			return rect{left: c.second, right: c.second + 10, top: 0, bottom: 16}, nil
		})
		if err != nil || len(l.parts) != c.want {
			t.Errorf("%s: %+v, %v, want %d parts", name, l, err, c.want)
		}
	}
}

// TestMemory checks the memory of an instance: it ends at the ceiling, grows page by page
// without copying each time, and is counted.
func TestMemory(t *testing.T) {
	s := &sandbox{memory: 100}
	m := s.allocate(0, 1000).(*memory)
	grow := func(size uint64, live int64) []byte {
		t.Helper()
		b := m.Reallocate(size)
		if uint64(len(b)) != size || s.live.Load() != live {
			t.Fatalf("%d bytes, %d live, want %d and %d", len(b), s.live.Load(), size, live)
		}
		return b
	}
	first := grow(40, 40)
	first[39] = 7
	second := grow(41, 50)
	third := grow(50, 50)
	if second[39] != 7 || &third[0] != &second[0] {
		t.Error("what was there is lost, or copied without need")
	}
	grow(90, 90)
	grow(100, 100)
	if m.full {
		t.Error("full at the ceiling")
	}
	if m.Reallocate(101) != nil || !m.full {
		t.Error("there is more than the ceiling allows")
	}
	if m.Free(); s.live.Load() != 0 || s.peak.Load() != 100 {
		t.Errorf("%d live, %d at most", s.live.Load(), s.peak.Load())
	}
	other := s.allocate(0, 1000).(*memory)
	other.Reallocate(30)
	if s.peak.Load() != 100 || s.live.Load() != 30 {
		t.Errorf("%d live, %d at most", s.live.Load(), s.peak.Load())
	}
}
