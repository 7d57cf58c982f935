package pdf

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/port"
)

// Measures of layout, in sizes of the letters.
const (
	heading      = 1.2  // of the text's size, from which on a line may be a heading
	otherSize    = 1.12 // of a line's size, from which on the next is of another paragraph
	wider        = 1.3  // of the usual distance of lines, from which on a gap parts paragraphs
	indent       = .8
	maxHeading   = 150 // characters
	headingLevel = 4   // levels that sizes are told apart into
)

// extracted makes text of a document.
func (d *document) extracted(most int) (port.Extracted, error) {
	if !d.hasText() {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil,
			"holds no text; its pages may be pictures of it, which have to be recognized first")
	}
	body := d.bodySize()
	title := d.heading(body)
	d.withoutRepeats(body)
	if len(d.outline) > 0 {
		d.byOutline()
	} else {
		d.bySize(body)
	}
	words := hyphens{}
	for _, p := range d.pages {
		for _, l := range p.lines {
			words.learn(l.text())
		}
	}
	out := port.Extracted{Title: words.resolve(title), Metadata: map[string]any{"pages": len(d.pages)}}
	for name, value := range map[string]string{"author": d.author, "subject": d.subject, "created_at": date(d.created)} {
		if value != "" {
			out.Metadata[name] = strings.ReplaceAll(value, string(divided), "")
		}
	}
	size := 0
	for n, p := range d.pages {
		if text := p.text(words); text != "" {
			out.Sections = append(out.Sections, port.Section{Text: text, Page: n + 1})
			size += len(text)
		}
	}
	if size > most {
		return port.Extracted{}, port.FileErrorf(port.FileTooLarge, nil, "holds %d bytes of text; at most %d are taken",
			size, most)
	}
	return out, nil
}

// bodySize is the size that most of the text has; there is some.
func (d *document) bodySize() float64 {
	chars := map[float64]int{}
	for _, p := range d.pages {
		for _, l := range p.lines {
			chars[math.Round(l.size*2)/2] += utf8.RuneCountInString(l.text())
		}
	}
	sizes := slices.Sorted(maps.Keys(chars)) // of those with equally much text the smallest
	return slices.MaxFunc(sizes, func(a, b float64) int { return cmp.Compare(chars[a], chars[b]) })
}

// noTitle is what programs write as a title without having one.
var noTitle = regexp.MustCompile(`(?i)^(untitled.*|title|about:blank|document ?\d*|microsoft \w+ - .*|(file|https?|data):.*|` +
	`[^ ]+\.(docx?|rtf|odt|tex|dvi|indd|qxp|pptx?|odp|xlsx?|ods|html?|pdf|txt|md|ps))$`)

// heading is the file's title: what it says itself, or else its first page's largest lines,
// where they are larger than the text.
func (d *document) heading(body float64) string {
	if d.title != "" && !noTitle.MatchString(d.title) {
		return d.title
	}
	if len(d.pages) == 0 {
		return ""
	}
	lines := d.pages[0].lines
	largest := 0.
	for _, l := range lines {
		if strings.ContainsFunc(l.text(), unicode.IsLetter) {
			largest = max(largest, l.size)
		}
	}
	if largest < heading*body {
		return ""
	}
	first := slices.IndexFunc(lines, func(l line) bool { return l.size == largest })
	var title []string
	for _, l := range lines[first:] {
		if l.size < largest/1.02 || len(title) == 3 {
			break
		}
		title = append(title, l.text())
	}
	return short(strings.Join(title, " "))
}

// byOutline makes headings of the entries of the outline.
func (d *document) byOutline() {
	entries := map[int][]entry{}
	for _, e := range d.outline {
		entries[e.page] = append(entries[e.page], e)
	}
	for n, of := range entries {
		d.pages[n].byOutline(of)
	}
}

// byOutline makes headings of the entries of a page: of the lines that say the same, and
// where there are none, of the entries themselves. A file may have very many lines, and as
// many entries: what lines say is put down once.
func (p *page) byOutline(entries []entry) {
	says := p.runs()
	taken := make([]bool, len(p.lines))
	free := func(of run) bool { return !slices.Contains(taken[of.first:of.end], true) }
	headings := make([][]line, len(p.lines)+1) // that come before a line; the last at the end
	for _, e := range entries {
		level, key := min(e.level, 6), bare(e.title)
		if n := slices.IndexFunc(says[key], free); n >= 0 {
			of := says[key][n]
			says[key] = says[key][n:] // what is taken stays so
			l := p.lines[of.first]
			l.cells, l.level = []string{l.text()}, level
			for _, more := range p.lines[of.first+1 : of.end] {
				l.cells[0] = joined(l.cells[0], more.text())
				l.bottom, l.right = max(l.bottom, more.bottom), max(l.right, more.right)
			}
			for i := range taken[of.first:of.end] {
				taken[of.first+i] = true
			}
			headings[of.first] = append(headings[of.first], l)
			continue
		}
		delete(says, key)
		// Before the first line of text that is not above it.
		at := 0
		for at < len(p.lines) && (taken[at] || p.lines[at].top < e.top-1) {
			at++
		}
		l := line{cells: []string{e.title}, level: level}
		if at < len(p.lines) {
			next := p.lines[at]
			l.left, l.right, l.top, l.bottom, l.size = next.left, next.right, next.top, next.top, next.size
		}
		headings[at] = append(headings[at], l)
	}
	lines := make([]line, 0, len(p.lines)+len(entries))
	for i, l := range p.lines {
		if lines = append(lines, headings[i]...); !taken[i] {
			lines = append(lines, l)
		}
	}
	p.lines = append(lines, headings[len(p.lines)]...)
}

// run is some lines in a row.
type run struct{ first, end int }

// runs are the runs of at most three lines of a page, by what they say.
func (p *page) runs() map[string][]run {
	all := map[string][]run{}
	for first := range p.lines {
		var says strings.Builder
		for n, l := range p.lines[first:min(first+3, len(p.lines))] {
			says.WriteString(" " + l.text())
			key := bare(says.String())
			all[key] = append(all[key], run{first, first + n + 1})
		}
	}
	return all
}

var sectionNumber = regexp.MustCompile(`^(?:(?:chapter|section|part|kapitel|abschnitt|teil) )?[0-9ivxlc]+(?:\.[0-9]+)*[.:)]? +`)

// bare is a title as it is compared, without the number of its section: some programs leave out the space where a line ends.
func bare(title string) string {
	s := strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(title, string(divided), "")), " "))
	if short := sectionNumber.ReplaceAllString(s, ""); short != "" {
		s = short
	}
	return strings.ReplaceAll(s, " ", "")
}

// bySize makes headings of short lines in larger letters than the text's, unless that
// makes headings of much of the text.
func (d *document) bySize(body float64) {
	may := func(l line) bool {
		return l.size >= heading*body && len(l.cells) == 1 && utf8.RuneCountInString(l.cells[0]) <= maxHeading &&
			strings.ContainsFunc(l.cells[0], unicode.IsLetter)
	}
	var sizes []float64
	large, all := 0, 0
	for _, p := range d.pages {
		for _, l := range p.lines {
			n := utf8.RuneCountInString(l.text())
			if all += n; may(l) {
				large += n
				sizes = append(sizes, l.size)
			}
		}
	}
	if large*4 > all {
		return
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	var steps []float64 // the smallest size of each level
	for _, s := range sizes {
		if n := len(steps); n == 0 || s < steps[n-1]/1.05 && n < headingLevel {
			steps = append(steps, s)
		} else {
			steps[n-1] = s
		}
	}
	for n := range d.pages {
		p := &d.pages[n]
		kept := p.lines[:0:0]
		for _, l := range p.lines {
			if may(l) {
				l.level = 1 + slices.IndexFunc(steps, func(s float64) bool { return l.size >= s })
				if last := len(kept) - 1; last >= 0 && kept[last].level == l.level && l.follows(kept[last]) {
					kept[last].cells[0] = joined(kept[last].cells[0], l.cells[0])
					kept[last].bottom, kept[last].right = l.bottom, max(l.right, kept[last].right)
					continue
				}
				l.cells = slices.Clone(l.cells)
			}
			kept = append(kept, l)
		}
		p.lines = kept
	}
}

// follows reports whether a line stands right below another.
func (l line) follows(above line) bool {
	gap := l.top - above.bottom
	return gap > -l.size/2 && gap < l.size/2
}

// joined is a line with the next; a word that is divided between them is marked.
func joined(a, b string) string {
	if before, ok := strings.CutSuffix(a, string(divided)); ok {
		return before + string(divided) + b
	}
	if before, ok := strings.CutSuffix(a, "-"); ok && lastWord(before) != "" && firstWord(b) != "" {
		return before + string(divided) + b
	}
	return a + " " + b
}

// text is the text of a page.
func (p *page) text(words hyphens) string {
	leading := p.leading()
	var out strings.Builder
	var block []line
	flush := func() {
		if len(block) > 0 {
			if out.Len() > 0 {
				out.WriteString("\n\n")
			}
			out.WriteString(words.resolve(paragraphs(block, p.edge(block[0]))))
			block = block[:0]
		}
	}
	for _, l := range p.lines {
		if l.level > 0 {
			flush()
			if out.Len() > 0 {
				out.WriteString("\n\n")
			}
			out.WriteString(strings.Repeat("#", l.level) + " " + strings.TrimLeft(words.resolve(l.text()), "# "))
			continue
		}
		if n := len(block); n > 0 && parted(block[n-1], l, leading) {
			flush()
		}
		block = append(block, l)
	}
	flush()
	return strings.ReplaceAll(out.String(), string(divided), "")
}

// leading is the usual distance from a line to the next one, in sizes of their letters: the
// distance that a quarter of the lines do not exceed, since in between there may be many
// short paragraphs.
func (p *page) leading() float64 {
	var all []float64
	for i, l := range p.lines {
		if i > 0 { // without a size it is no number within these bounds
			if by := (l.bottom - p.lines[i-1].bottom) / l.size; by > .7 && by < 3 {
				all = append(all, by)
			}
		}
	}
	if len(all) == 0 {
		return 1.2
	}
	slices.Sort(all)
	if few := len(all) < 4; few { // they say little
		return min(all[0], 1.5)
	}
	return all[len(all)/4]
}

// parted reports whether there is a gap between two lines that follow each other.
func parted(above, l line, leading float64) bool {
	by := (l.bottom - above.bottom) / max(l.size, above.size) // no number between lines without a place, which nothing parts
	switch {
	case len(l.cells) > 1 && len(above.cells) > 1:
		return by < -.5 || by > 3 // rows of one table
	case max(l.size, above.size) > otherSize*min(l.size, above.size):
		return true
	case by < .5 || by > leading*wider: // it is beside or above, or far below
		return true
	}
	return l.left > above.right || l.right < above.left
}

// edge is how far to the right the lines reach that begin where a line does.
func (p *page) edge(of line) float64 {
	right := of.right
	for _, l := range p.lines {
		if l.level == 0 && math.Abs(l.left-of.left) < 2*of.size {
			right = max(right, l.right)
		}
	}
	return right
}

// paragraphs puts lines together that no gap parts; right is how far they could reach.
func paragraphs(block []line, right float64) string {
	left := block[0].left
	for _, l := range block {
		left = min(left, l.left)
	}
	var out strings.Builder
	text := ""
	for i, l := range block {
		if i == 0 {
			text = row(l)
			continue
		}
		above := block[i-1]
		switch {
		case len(l.cells) > 1 || len(above.cells) > 1:
			out.WriteString(text + "\n")
			if (len(l.cells) > 1) != (len(above.cells) > 1) {
				out.WriteByte('\n')
			}
			text = row(l)
		case l.item || bullet(l.cells[0]):
			out.WriteString(text + "\n")
			text = row(l)
		case !full(above, l, right):
			out.WriteString(text + "\n")
			if l.left > left+indent*l.size && (i+1 == len(block) || block[i+1].left < l.left-indent/2*l.size) {
				out.WriteByte('\n') // an indent after a line that ends early: a paragraph
			}
			text = row(l)
		case l.left > above.left+indent*l.size && !bullet(above.cells[0]):
			out.WriteString(text + "\n\n")
			text = row(l)
		default:
			text = joined(text, l.cells[0])
		}
	}
	out.WriteString(text)
	return out.String()
}

// row is a line as text; of a table, in Markdown.
func row(l line) string {
	if len(l.cells) == 1 {
		if c := l.cells[0]; strings.HasPrefix(c, "•") {
			return "- " + strings.TrimSpace(strings.TrimPrefix(c, "•"))
		}
		return l.cells[0]
	}
	cells := make([]string, len(l.cells))
	for i, c := range l.cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}

// full reports whether a line goes on in the next: there was no room for the next one's
// first word.
func full(above, l line, right float64) bool {
	text := above.cells[0]
	if strings.HasSuffix(text, string(divided)) {
		return true
	}
	word, _, _ := strings.Cut(l.cells[0], " ")
	n := utf8.RuneCountInString(l.cells[0])
	width := (l.right - l.left) * float64(utf8.RuneCountInString(word)+1) / float64(max(n, 1))
	return above.right+1.2*width > right-l.size
}

var bullets = regexp.MustCompile(`^(?:[•◦▪‣·●○■□–*-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])(?: |$)`)

// bullet reports whether a line begins an item of a list.
func bullet(text string) bool { return bullets.MatchString(text) }

var pdfDate = regexp.MustCompile(`^(?:D:)?(\d{4})(\d\d)?(\d\d)?`)

// date is the day of a time as PDF writes it; "" where it is none.
func date(s string) string {
	m := pdfDate.FindStringSubmatch(s)
	if m == nil || m[2] == "" || m[3] == "" {
		return ""
	}
	return m[1] + "-" + m[2] + "-" + m[3]
}
