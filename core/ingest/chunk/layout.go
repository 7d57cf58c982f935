package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind uint8

const (
	prose kind = iota // a paragraph
	item              // a list item
	table
	fence
)

// layout is the structure of one document.
type layout struct {
	doc    string
	heads  []heading
	blocks []block
	markup int    // bytes of headings' markup and thematic breaks: at most as many pieces
	known  *known // nil: no title came beside the text
}

// known is a title that came beside the text. It is the first heading.
type known struct {
	words []cut // where it may end
	opens int   // where the text begins with it, so that the chunk there need not repeat it; -1: it does not
	alone form  // as the only heading of a context
	above form  // over other headings
}

// form is what is said of a title.
type form struct {
	text   string
	pieces int
}

type heading struct {
	level  int  // 0: the document's title
	parent int  // index of the heading it stands under; -1: none
	at     span // of a title in front matter or beside the text: none
	title  string
	pieces int
	used   bool // it is some chunk's context
	plain  bool // a title that is a line of text, so that the first chunk below it shows it
}

// block is what chunks never reach out of.
type block struct {
	head  int // index of the heading it stands under; -1: none
	parts []part
}

// part is an element of a block.
type part struct {
	kind   kind
	at     span
	header bool // a table whose first leaf is its header row
	leaves []leaf
}

// leaf is what is packed whole unless it alone is longer than a chunk.
type leaf struct {
	at     span
	pieces int
	cuts   []cut // a longer one's words
}

// parser reads a document line by line.
type parser struct {
	doc  string
	out  *layout
	cur  block
	list bool // cur holds a list that further items or indented lines continue
	gap  bool // a blank line was read since the last part

	// An opening fence that is never closed is text: the reader goes back to it
	// once for each fence character.
	literal map[byte]bool
}

type line struct {
	start, end int    // without the line end
	next       int    // start of the next line
	text       string // without white space around it
	at         int    // where text starts
	indent     int    // columns of leading white space
}

func (p *parser) line(at int) line {
	l := line{start: at, next: len(p.doc), end: len(p.doc)}
	if n := strings.IndexByte(p.doc[at:], '\n'); n >= 0 {
		l.end, l.next = at+n, at+n+1
	}
	text := strings.TrimLeftFunc(p.doc[l.start:l.end], unicode.IsSpace)
	l.at = l.end - len(text)
	l.text = strings.TrimRightFunc(text, unicode.IsSpace)
	for _, c := range []byte(p.doc[l.start:l.at]) {
		if c == '\t' {
			l.indent += 4 // or to the next tab stop: nothing asks for more than 4
		} else {
			l.indent++
		}
	}
	return l
}

func parse(of Document) *layout {
	doc := of.Text
	p := &parser{doc: doc, out: &layout{doc: doc}, cur: block{head: -1}, literal: map[byte]bool{}}
	at, named := p.frontMatter()
	if title := shortened(of.Title); title != "" {
		at = p.knownTitle(at, title, named)
	} else if next, ok := p.plainTitle(at); ok {
		at = next
	} else {
		p.title(heading{title: named})
	}
	for at < len(doc) {
		at = p.read(at)
	}
	p.flush()
	for i := range p.out.blocks {
		b := &p.out.blocks[i]
		for j := range b.parts {
			b.parts[j].fill(doc)
		}
	}
	return p.out
}

// frontMatter takes a leading "---" metadata block, short and closed, and the title in it.
func (p *parser) frontMatter() (next int, title string) {
	l := p.line(0)
	if l.text != "---" || l.indent > 0 {
		return 0, ""
	}
	lines := []span{{l.start, l.end}}
	for at, n := l.next, 0; n < 64; n++ { // an open one ends at the empty line after the text
		l = p.line(at)
		if l.text == "" {
			return 0, ""
		}
		lines = append(lines, span{l.start, l.end})
		if l.text == "---" || l.text == "..." {
			p.add(part{kind: fence, at: span{0, l.end}, leaves: p.leaves(lines)})
			p.flush()
			return l.next, title
		}
		if value, ok := strings.CutPrefix(l.text, "title:"); ok && title == "" && l.indent == 0 {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
		at = l.next
	}
	return 0, ""
}

// shortened makes one line of a title, cut between words where it is too long for a heading.
func shortened(title string) string {
	title = strings.Join(strings.Fields(title), " ")
	if len(title) <= maxHeadingBytes {
		return title
	}
	// What begins behind the bound could not change the cut.
	title = strings.ToValidUTF8(title[:min(len(title), maxHeadingBytes+longCluster)], "")
	end := 0
	for _, c := range words(title, span{0, len(title)}) {
		if c.at.end > maxHeadingBytes {
			break
		}
		end = c.at.end
	}
	return strings.TrimSpace(title[:end])
}

// knownTitle puts a title that is known beside the text above all others. A first line
// that says the same is the title, whatever follows; another one that could be a title
// stands under it. A title in front matter gives way to it.
func (p *parser) knownTitle(at int, title, named string) (next int) {
	l := p.line(at)
	for l.text == "" && l.next < len(p.doc) {
		l = p.line(l.next)
	}
	p.out.known = &known{words: words(title, span{0, len(title)}), opens: -1}
	if opensWith(strings.TrimLeft(l.text, "#*_ \t"), title) {
		p.out.known.opens = l.at
	}
	if _, under := underline(p.line(l.next).text); !under && strings.EqualFold(unmarked(l.text), title) {
		p.title(heading{at: span{l.at, l.at + len(l.text)}, title: title, plain: true})
		p.out.known.opens, next = l.at, l.next
	} else {
		p.title(heading{title: title})
		if below, ok := p.plainTitle(at); ok {
			next = below
		} else {
			next = at
		}
	}
	if len(p.out.blocks) > 0 && !strings.EqualFold(named, title) {
		p.out.blocks[0].head = 0 // the front matter
	}
	return next
}

// unmarked is a line without marks of emphasis around it.
func unmarked(text string) string {
	return strings.Join(strings.Fields(strings.Trim(text, "*_")), " ")
}

// opensWith reports whether a line begins with a title that stands for itself: what goes on
// with a word is a sentence about it, which is found better under the title.
func opensWith(text, title string) bool {
	if len(text) < len(title) || !strings.EqualFold(text[:len(title)], title) {
		return false
	}
	next, n := utf8.DecodeRuneInString(text[len(title):])
	if next < utf8.RuneSelf { // within "Node.js" or "3.2" it ends nothing
		if after, _ := utf8.DecodeRuneInString(text[len(title)+n:]); unicode.IsLetter(after) || unicode.IsDigit(after) {
			return false
		}
	}
	return n == 0 || terminal(next) || next == ':' || next == '：'
}

// title puts a heading above all that follow.
func (p *parser) title(h heading) {
	h.title = strings.Join(strings.Fields(h.title), " ")
	if h.title == "" || len(h.title) > maxHeadingBytes {
		return
	}
	h.parent = len(p.out.heads) - 1
	p.out.heads = append(p.out.heads, h)
	p.cur.head = len(p.out.heads) - 1
}

// plainTitle takes a first line that is a title without markup: a short one before a
// blank line and before what is clearly longer, or structured. A document with a heading
// of the first level right below it has its title there.
func (p *parser) plainTitle(at int) (next int, ok bool) {
	l := p.line(at)
	for l.text == "" && l.next < len(p.doc) {
		l = p.line(l.next)
	}
	if l.indent >= 4 || len(l.text) > maxHeadingBytes || !titleLike(l.text) || p.line(l.next).text != "" {
		return 0, false
	}
	below := p.line(l.next)
	for below.text == "" && below.next < len(p.doc) {
		below = p.line(below.next)
	}
	if below.text == "" || !p.entitled(below, l.text) {
		return 0, false
	}
	p.title(heading{at: span{l.at, l.at + len(l.text)}, title: l.text, plain: true})
	return l.next, true
}

// titleLike reports whether a line could be a title: words that are no markup of
// something else, and no beginning of a sentence, a list or a letter.
func titleLike(text string) bool {
	if text == "" || strings.ContainsRune("#>|<[!`~", rune(text[0])) || strings.Contains(text, "|") || marker(text) > 0 ||
		rule(text) || leadIn(text) || !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	return last != ',' && last != ';' && last != '，' && last != '；'
}

// belowSentence is how many times as long as a title that ends as a sentence does the
// paragraph below it is, at least: a shorter one follows the first sentence of a text.
const belowSentence = 2

// entitled reports whether what starts at a line can stand under a plain title: a lower
// heading, a list, a table, a fence, a paragraph that is longer, or one that ends the text.
func (p *parser) entitled(l line, title string) bool {
	if level, _, ok := atx(l); ok {
		return level > 1
	}
	if under := p.line(l.next); under.text != "" && under.indent < 4 {
		if level, ok := underline(under.text); ok {
			return level > 1
		}
	}
	last, _ := utf8.DecodeLastRuneInString(title)
	sentence, bytes := terminal(last) && last != '?' && last != '？', len(title)
	if sentence {
		bytes *= belowSentence
	} else if marker(l.text) > 0 || l.text[0] == '|' || runLength(l.text, '`') >= 3 || runLength(l.text, '~') >= 3 {
		return true
	}
	for l.text != "" {
		if bytes -= len(l.text); bytes < 0 {
			return true
		}
		l = p.line(l.next)
	}
	return !sentence && strings.TrimSpace(p.doc[l.start:]) == ""
}

// read takes the element or the line that starts at a position and returns
// where the next one starts.
func (p *parser) read(at int) int {
	l := p.line(at)
	if l.text == "" {
		p.gap = true
		return l.next
	}
	inList := p.list && (!p.gap || l.indent >= 2)
	if l.indent < 4 || inList {
		if next, ok := p.fence(l); ok {
			return next
		}
	}
	if l.indent < 4 {
		if level, title, ok := atx(l); ok {
			p.out.markup += len(l.text) - (title.end - title.start)
			p.heading(level, title)
			return l.next
		}
		if level, ok := underline(l.text); ok && p.loneLine() {
			title := p.cur.parts[0].at
			p.cur.parts = nil
			p.out.markup += len(l.text)
			p.heading(level, title)
			return l.next
		}
		if rule(l.text) {
			p.out.markup += len(l.text)
			p.flush()
			return l.next
		}
	}
	if next, ok := p.table(l); ok {
		return next
	}
	if n := marker(l.text); n > 0 && (p.list || p.gap || len(p.cur.parts) == 0 || n < 2 || l.text[:n] == "1." ||
		l.text[:n] == "1)") {
		if p.gap && !p.list && !p.introduced() {
			p.flush()
		}
		p.add(part{kind: item, at: span{l.start, l.end}})
		p.list = true
		return l.next
	}
	if p.gap && !inList {
		p.flush()
	}
	if n := len(p.cur.parts); n > 0 && p.cur.parts[n-1].kind <= item {
		p.cur.parts[n-1].at.end = l.end
		p.gap = false
		return l.next
	}
	p.add(part{kind: prose, at: span{l.start, l.end}})
	return l.next
}

func (p *parser) add(e part) {
	p.cur.parts = append(p.cur.parts, e)
	p.gap = false
}

func (p *parser) flush() {
	if len(p.cur.parts) > 0 {
		p.out.blocks = append(p.out.blocks, p.cur)
	}
	p.cur = block{head: len(p.out.heads) - 1}
	p.list, p.gap = false, false
}

// heading ends the block and opens a section. Titles too long to be one stay text.
func (p *parser) heading(level int, at span) {
	p.flush()
	at, _ = trim(p.doc, at)
	if at.end-at.start > maxHeadingBytes {
		p.add(part{kind: prose, at: at})
		p.flush()
		return
	}
	title := strings.Join(strings.Fields(p.doc[at.start:at.end]), " ")
	if p.out.known != nil && len(p.out.heads) == 1 && p.out.heads[0].at.end == 0 &&
		strings.EqualFold(p.out.heads[0].title, title) {
		p.out.heads[0].at = at
		return
	}
	parent := len(p.out.heads) - 1
	for parent >= 0 && p.out.heads[parent].level >= level {
		parent = p.out.heads[parent].parent
	}
	for up := parent; up >= 0 && p.out.heads[up].level == 0; up = p.out.heads[up].parent {
		if strings.EqualFold(p.out.heads[up].title, title) {
			level, parent = 0, p.out.heads[up].parent // the title once more
		}
	}
	p.out.heads = append(p.out.heads, heading{level: level, parent: parent, at: at, title: title})
	p.cur.head = len(p.out.heads) - 1
}

// loneLine reports whether the block so far is one line of prose right above.
func (p *parser) loneLine() bool {
	if p.gap || len(p.cur.parts) != 1 || p.cur.parts[0].kind != prose {
		return false
	}
	at := p.cur.parts[0].at
	return at.end-at.start <= maxHeadingBytes && !strings.Contains(p.doc[at.start:at.end], "\n")
}

// introduced reports whether the block so far ends in a lead-in, which a list,
// table or fence after a blank line still belongs to.
func (p *parser) introduced() bool {
	n := len(p.cur.parts)
	return n > 0 && p.cur.parts[n-1].kind == prose && leadIn(p.doc[p.cur.parts[n-1].at.start:p.cur.parts[n-1].at.end])
}

func leadIn(text string) bool {
	text = strings.TrimRight(text, " \t\r\n*_")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// atx reads "## Title ##" (CommonMark 4.2). An empty title is no heading.
func atx(l line) (level int, title span, ok bool) {
	for level < len(l.text) && l.text[level] == '#' {
		if level++; level > 6 {
			return 0, title, false
		}
	}
	if level == 0 || level == len(l.text) || l.text[level] != ' ' && l.text[level] != '\t' {
		return 0, title, false
	}
	text := strings.TrimLeftFunc(l.text[level:], unicode.IsSpace)
	title.start = l.at + len(l.text) - len(text)
	if bare := strings.TrimRight(text, "#"); strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		text = strings.TrimSpace(bare)
	} else if bare == "" {
		return 0, title, false
	}
	title.end = title.start + len(text)
	return level, title, true
}

// underline reads the second line of a setext heading (CommonMark 4.3), which
// here takes at least two characters.
func underline(text string) (level int, ok bool) {
	if len(text) < 2 {
		return 0, false
	}
	switch text[0] {
	case '=':
		return 1, strings.Trim(text, "=") == ""
	case '-':
		return 2, strings.Trim(text, "-") == ""
	}
	return 0, false
}

// rule reports a thematic break (CommonMark 4.1).
func rule(text string) bool {
	c, n := text[0], 0
	if c != '-' && c != '*' && c != '_' {
		return false
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// marker is the length of a list marker at the start of a line, 0 for none:
// 1 for a bullet, more for a number (CommonMark 5.2).
func marker(text string) int {
	n := 0
	for n < len(text) && n < 9 && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	switch {
	case n == len(text):
		return 0
	case n > 0 && text[n] != '.' && text[n] != ')':
		return 0
	case n == 0 && text[n] != '-' && text[n] != '*' && text[n] != '+':
		return 0
	}
	n++
	if n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n
}

// fence takes a fenced code block (CommonMark 4.5) with its two markers.
func (p *parser) fence(l line) (next int, ok bool) {
	c := l.text[0]
	if c != '`' && c != '~' || p.literal[c] {
		return 0, false
	}
	n := runLength(l.text, c)
	if n < 3 || c == '`' && strings.Contains(l.text[n:], "`") {
		return 0, false
	}
	lines := []span{{l.start, l.end}}
	for at := l.next; at < len(p.doc); {
		in := p.line(at)
		lines = append(lines, span{in.start, in.end})
		if m := runLength(in.text, c); m >= n && m == len(in.text) {
			if p.gap && !(p.list && l.indent >= 2) && !p.introduced() {
				p.flush()
			}
			p.add(part{kind: fence, at: span{l.start, in.end}, leaves: p.leaves(lines)})
			return in.next, true
		}
		at = in.next
	}
	p.literal[c] = true
	return 0, false
}

func runLength(text string, c byte) int {
	n := 0
	for n < len(text) && text[n] == c {
		n++
	}
	return n
}

// table takes lines with column bars: any that start with one, or a header line
// above a delimiter row.
func (p *parser) table(l line) (next int, ok bool) {
	if !strings.Contains(l.text, "|") {
		return 0, false
	}
	header := delimiter(p.line(l.next).text)
	if !header && l.text[0] != '|' {
		return 0, false
	}
	if p.gap && !(p.list && l.indent >= 2) && !p.introduced() {
		p.flush()
	}
	lines, end, next := []span{{l.start, l.end}}, l.end, l.next
	for in := p.line(next); strings.Contains(in.text, "|"); in = p.line(next) {
		lines = append(lines, span{in.start, in.end})
		end, next = in.end, in.next
	}
	p.add(part{kind: table, at: span{l.start, end}, header: header, leaves: p.leaves(lines)})
	return next, true
}

// delimiter reports a table's delimiter row, such as "|---|:--:|".
func delimiter(text string) bool {
	dash, bar := false, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '-':
			dash = true
		case '|':
			bar = true
		case ':', ' ', '\t':
		default:
			return false
		}
	}
	return dash && bar
}

// leaves makes a leaf of each line that is not blank.
func (p *parser) leaves(lines []span) []leaf {
	out := make([]leaf, 0, len(lines))
	for _, s := range lines {
		if s, ok := trim(p.doc, s); ok {
			out = append(out, leaf{at: s})
		}
	}
	return out
}

// fill cuts paragraphs and list items into sentences.
func (e *part) fill(doc string) {
	e.at, _ = trim(doc, e.at)
	if e.kind > item {
		return
	}
	for _, s := range sentences(nil, doc, e.at) {
		e.leaves = append(e.leaves, leaf{at: s})
	}
}
