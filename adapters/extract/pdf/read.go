package pdf

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"

	"github.com/mnemehq/mneme/core/port"
)

// What is read of a file at most, whatever it says it has.
const (
	maxPages        = 20_000
	maxOutline      = 5_000 // entries
	maxOutlineDepth = 16
	maxTitle        = 300 // bytes of a title or an entry of the outline
)

// document is what PDFium says of a file.
type document struct {
	title, author, subject string
	created                string
	outline                []entry
	pages                  []page
}

// entry is one of the outline.
type entry struct {
	title string
	level int     // from 1
	page  int     // from 0
	top   float64 // on the page; negative infinity: not said
}

// page is one with its lines in reading order. Places are in points from the top left
// corner of the page as it is shown.
type page struct {
	view
	lines []line
}

// line is a line of text.
type line struct {
	cells                    []string // more than one: parts with wide gaps between them
	left, right, top, bottom float64
	size                     float64 // of its letters
	item                     bool    // it begins with a number of its own
	level                    int     // of the heading that it is; 0: none
}

func (l line) text() string { return strings.Join(l.cells, " ") }

// reader reads a file in an instance.
type reader struct {
	*instance
	ctx  context.Context
	text int // bytes that may still come out
	doc  references.FPDF_DOCUMENT
}

func (r *reader) read(content []byte) (*document, error) {
	opened, err := r.OpenDocument(&requests.OpenDocument{File: &content})
	if err != nil {
		return nil, err
	}
	r.doc = opened.Document
	count, err := r.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
	if err != nil {
		return nil, err
	}
	if count.PageCount > maxPages {
		return nil, port.FileErrorf(port.FileTooLarge, nil, "has %d pages; at most %d are read", count.PageCount, maxPages)
	}
	d := &document{
		title: r.info("Title"), author: r.info("Author"), subject: r.info("Subject"), created: r.info("CreationDate"),
	}
	var failed error
	for i := range count.PageCount {
		p, err := r.page(i)
		if err != nil {
			if r.ctx.Err() != nil || !errors.Is(err, errPage) {
				return nil, err
			}
			failed = err
		}
		d.pages = append(d.pages, p)
	}
	if count.PageCount == 0 || failed != nil && !d.hasText() {
		return nil, errors.Join(errPage, failed)
	}
	d.outline, err = r.outline(d.pages)
	return d, err
}

// hasText reports whether there is a letter or a digit on any page.
func (d *document) hasText() bool {
	for _, p := range d.pages {
		for _, l := range p.lines {
			for _, cell := range l.cells {
				if strings.ContainsFunc(cell, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }) {
					return true
				}
			}
		}
	}
	return false
}

// info is what the file's dictionary of information says; "" where it says nothing.
func (r *reader) info(tag string) string {
	v, err := r.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: r.doc, Tag: tag})
	if err != nil {
		return ""
	}
	return short(v.Value)
}

// short makes one line of a title, of bounded length.
func short(s string) string {
	s = strings.Join(strings.Fields(strings.Map(plain, s)), " ")
	if at := maxTitle; len(s) > at {
		for !utf8.RuneStart(s[at]) {
			at--
		}
		s = strings.TrimSpace(s[:at])
	}
	return s
}

// errPage is the failure of a page that leaves others readable.
var errPage = errors.New("a page cannot be read")

// page reads page i, from 0, and closes it.
func (r *reader) page(i int) (page, error) {
	loaded, err := r.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: i})
	if errors.Is(err, pdfiumerrors.ErrPage) {
		return page{}, errPage
	} else if err != nil {
		return page{}, err
	}
	of := requests.Page{ByReference: &loaded.Page}
	text, err := r.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: of})
	if err != nil {
		return page{}, err
	}
	view, err := r.view(of)
	if err != nil {
		return page{}, err
	}
	p := page{view: view}
	if p.lines, err = r.lines(text.TextPage, view); err != nil {
		return page{}, err
	}
	if _, err = r.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}); err != nil {
		return page{}, err
	}
	_, err = r.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page})
	return p, err
}

// view turns places in a page's own coordinates, which count upwards and know nothing of
// the page's rotation, into those from the top left corner of what is shown.
type view struct {
	box           structs.FPDF_FS_RECTF
	turns         int // quarters, clockwise
	width, height float64
}

func (r *reader) view(of requests.Page) (view, error) {
	box, err := r.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: of})
	if err != nil {
		return view{}, err
	}
	turn, err := r.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: of})
	if err != nil {
		return view{}, err
	}
	v := view{box: box.Rect, turns: int(turn.PageRotation)}
	v.width, v.height = float64(v.box.Right-v.box.Left), float64(v.box.Top-v.box.Bottom)
	if v.turns%2 == 1 {
		v.width, v.height = v.height, v.width
	}
	return v, nil
}

func (v view) point(x, y float32) (right, down float64) {
	b := v.box
	switch v.turns {
	case 1:
		x, y = y-b.Bottom, x-b.Left
	case 2:
		x, y = b.Right-x, y-b.Bottom
	case 3:
		x, y = b.Top-y, b.Right-x
	default:
		x, y = x-b.Left, b.Top-y
	}
	return float64(x), float64(y)
}

// rect is a rectangle on a page as it is shown.
type rect struct{ left, right, top, bottom float64 }

func (v view) rect(of structs.FPDF_FS_RECTF) rect {
	x1, y1 := v.point(of.Left, of.Top)
	x2, y2 := v.point(of.Right, of.Bottom)
	return rect{min(x1, x2), max(x1, x2), min(y1, y2), max(y1, y2)}
}

// lines reads the text of a page.
func (r *reader) lines(text references.FPDF_TEXTPAGE, v view) ([]line, error) {
	count, err := r.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil || count.Count <= 0 {
		return nil, err
	}
	if r.text -= count.Count; r.text < 0 {
		return nil, port.FileErrorf(port.FileTooLarge, nil, "holds more text than is taken")
	}
	chars, err := r.chars(text, count.Count)
	if err != nil {
		return nil, err
	}
	box := func(i int) (rect, error) {
		at, err := r.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: i})
		if err != nil {
			return rect{}, err
		}
		return v.rect(at.Rect), nil
	}
	var lines []rawLine
	for start := 0; start < len(chars); {
		end := start
		for end < len(chars) && chars[end] != '\n' && chars[end] != '\r' && plain(chars[end]) != divided {
			end++
		}
		l, err := readLine(chars, start, end, box)
		if err != nil {
			if r.ctx.Err() != nil {
				return nil, err
			}
			l = rawLine{parts: []span{{text: clean(chars[start:end])}}} // without a place it is still text
		}
		if n := len(l.parts); n > 0 {
			if end < len(chars) && plain(chars[end]) == divided {
				l.parts[n-1].text += string(divided)
			}
			lines = append(lines, l)
		}
		start = end + 1
	}
	return columns(lines), nil
}

// chars gives the characters of a page, such that their indexes are PDFium's.
func (r *reader) chars(text references.FPDF_TEXTPAGE, count int) ([]rune, error) {
	all, err := r.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text, Count: count})
	if err != nil {
		return nil, err
	}
	if chars := []rune(all.Text); len(chars) == count {
		return chars, nil
	}
	// Characters that have no Unicode are left out there, which moves those behind them.
	chars := make([]rune, count)
	for i := range chars {
		c, err := r.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return nil, err
		}
		chars[i] = rune(c.Unicode)
	}
	return chars, nil
}

// rawLine is a line, cut wherever it has a gap.
type rawLine struct {
	parts []span
	rect
	size float64
}

// span is a stretch of a line without gaps.
type span struct {
	text        string
	left, right float64
}

// readLine makes a line of the characters from start to end.
func readLine(chars []rune, start, end int, box func(int) (rect, error)) (rawLine, error) {
	blank := func(i int) bool { return unicode.IsSpace(chars[i]) || chars[i] == 0 }
	for start < end && blank(start) {
		start++
	}
	for start < end && blank(end-1) {
		end--
	}
	if start == end {
		return rawLine{}, nil
	}
	first, err := box(start)
	if err != nil {
		return rawLine{}, err
	}
	l := rawLine{rect: first, size: first.bottom - first.top}
	from, left := start, first.left
	add := func(to int, last rect) {
		if text := clean(chars[from:to]); text != "" {
			l.parts = append(l.parts, span{text, left, last.right})
		}
	}
	for i := start; i < end; i++ {
		if !blank(i) {
			continue
		}
		next := i + 1
		for blank(next) {
			next++ // there is one that is not: the line does not end in a blank
		}
		before, err := box(i - 1)
		if err != nil {
			return rawLine{}, err
		}
		after, err := box(next)
		if err != nil {
			return rawLine{}, err
		}
		size := after.bottom - after.top
		l.size = max(l.size, size)
		if after.left-before.right > gap*size {
			add(i, before)
			from, left = next, after.left
		}
		i = next
	}
	last, err := box(end - 1)
	if err != nil {
		return rawLine{}, err
	}
	add(end, last)
	l.left, l.right = min(l.left, last.left), max(l.right, last.right)
	l.top, l.bottom = min(l.top, last.top), max(l.bottom, last.bottom)
	return l, nil
}

const (
	gap     = .8  // within a line, in sizes of its letters: a column's edge, if a line above or below has one there
	wideGap = 2.5 // a column's edge anyway
)

// columns makes cells of the parts of lines that columns part, and puts others together
// again, such as the words of a line that is stretched to the margins.
func columns(raw []rawLine) []line {
	raw = rows(raw)
	lines := make([]line, 0, len(raw))
	for i, r := range raw {
		l := line{cells: []string{r.parts[0].text}, left: r.left, right: r.right, top: r.top, bottom: r.bottom, size: r.size}
		if len(r.parts) == 2 && number.MatchString(l.cells[0]) {
			l.cells[0] += " " + r.parts[1].text // of a section, more likely than of a table's row
			l.item = true
			r.parts = r.parts[:1]
		}
		for n, part := range r.parts[1:] {
			from := r.parts[n].right
			if part.left-from > wideGap*r.size || i > 0 && raw[i-1].gapAt(from, part.left, r.size) ||
				i+1 < len(raw) && raw[i+1].gapAt(from, part.left, r.size) {
				l.cells = append(l.cells, part.text)
			} else {
				l.cells[len(l.cells)-1] += " " + part.text
			}
		}
		lines = append(lines, l)
	}
	return lines
}

// rows puts lines together that stand beside each other in the order of reading: PDFium
// ends a line at a very wide gap.
func rows(raw []rawLine) []rawLine {
	out := raw[:0:0]
	for _, r := range raw {
		if n := len(out); n > 0 && out[n-1].beside(r) {
			last := &out[n-1]
			last.parts = append(last.parts, r.parts...)
			last.right, last.top, last.bottom = r.right, min(last.top, r.top), max(last.bottom, r.bottom)
			continue
		}
		out = append(out, r)
	}
	return out
}

// beside reports whether another line goes on to the right of a line.
func (r rawLine) beside(next rawLine) bool {
	return next.left > r.right && math.Abs(next.bottom-r.bottom) < .2*r.size &&
		max(r.size, next.size) < otherSize*min(r.size, next.size)
}

var number = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*\.?$`)

// gapAt reports whether a line has a gap where another of the same size has one.
func (r rawLine) gapAt(from, to, size float64) bool {
	if max(r.size, size) > otherSize*min(r.size, size) {
		return false
	}
	for n := range r.parts[1:] {
		if min(to, r.parts[n+1].left)-max(from, r.parts[n].right) > gap/2*r.size {
			return true
		}
	}
	return false
}

// outline reads the outline. PDFium does not notice that one leads back to itself, so
// the number of entries and their depth are bounded.
func (r *reader) outline(pages []page) ([]entry, error) {
	var all []entry
	seen := 0
	var walk func(parent *references.FPDF_BOOKMARK, level int) error
	walk = func(parent *references.FPDF_BOOKMARK, level int) error {
		first, err := r.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: r.doc, Bookmark: parent})
		if err != nil {
			return err
		}
		for at := first.Bookmark; at != nil && seen < maxOutline; {
			seen++
			e := entry{level: level, page: -1, top: math.Inf(-1)}
			title, err := r.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: *at})
			if err == nil {
				e.title = short(title.Title)
			} else if r.ctx.Err() != nil {
				return err
			}
			if err := r.target(*at, pages, &e); err != nil {
				return err
			}
			if e.title != "" && e.page >= 0 {
				all = append(all, e)
			}
			if level < maxOutlineDepth {
				if err := walk(at, level+1); err != nil {
					return err
				}
			}
			next, err := r.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: r.doc, Bookmark: *at})
			if err != nil {
				return err
			}
			at = next.Bookmark
		}
		return nil
	}
	if err := walk(nil, 1); err != nil {
		return nil, err
	}
	return all, nil
}

// target finds where an entry of the outline points to; one that points to none of the
// pages keeps its page at -1.
func (r *reader) target(at references.FPDF_BOOKMARK, pages []page, e *entry) error {
	found, err := r.FPDFBookmark_GetDest(&requests.FPDFBookmark_GetDest{Document: r.doc, Bookmark: at}) // or its action's
	if err != nil || found.Dest == nil {
		return r.ctx.Err()
	}
	index, err := r.FPDFDest_GetDestPageIndex(&requests.FPDFDest_GetDestPageIndex{Document: r.doc, Dest: *found.Dest})
	if err != nil || index.Index < 0 || index.Index >= len(pages) {
		return r.ctx.Err()
	}
	e.page = index.Index
	place, err := r.FPDFDest_GetLocationInPage(&requests.FPDFDest_GetLocationInPage{Dest: *found.Dest})
	if err != nil || place.Y == nil {
		return r.ctx.Err()
	}
	v, x := pages[e.page].view, float32(0)
	if place.X != nil {
		x = *place.X
	}
	_, e.top = v.point(x, *place.Y)
	return nil
}
