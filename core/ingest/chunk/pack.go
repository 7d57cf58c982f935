package chunk

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/mnemehq/mneme/core/port"
)

const unknown = -1 // pieces of a leaf longer than any chunk

// countParts asks for the counts of headings and leaves.
func (d *layout) countParts(t *tally, z sizes) {
	for i := range d.heads {
		t.add(d.heads[i].title, &d.heads[i].pieces)
	}
	if d.known != nil {
		for i := range d.known.words {
			c := &d.known.words[i]
			t.add(d.heads[0].title[c.at.start:c.at.end], &c.pieces)
		}
	}
	for i := range d.blocks {
		for j := range d.blocks[i].parts {
			leaves := d.blocks[i].parts[j].leaves
			for k := range leaves {
				if l := &leaves[k]; l.at.end-l.at.start > z.bytes {
					l.pieces = unknown
				} else {
					t.add(d.doc[l.at.start:l.at.end], &l.pieces)
				}
			}
		}
	}
}

// countWords settles what becomes a chunk, and asks for the counts of the words
// of leaves that are longer than one.
func (d *layout) countWords(t *tally, z sizes) {
	d.cutTitle(z)
	for i := range d.blocks {
		d.context(d.blocks[i].head, z)
	}
	// Headings under a heading come after it, so the last ones decide first.
	for h := len(d.heads) - 1; h >= 0; h-- {
		if hd := &d.heads[h]; !hd.used && hd.at.end > 0 {
			d.blocks = append(d.blocks, block{hd.parent, []part{{at: hd.at, leaves: []leaf{{at: hd.at, pieces: hd.pieces}}}}})
			d.context(hd.parent, z)
		}
	}
	if len(d.blocks) == 0 {
		if at, ok := trim(d.doc, span{0, len(d.doc)}); ok { // nothing but thematic breaks
			d.blocks = []block{{-1, []part{{at: at, leaves: []leaf{{at: at, pieces: unknown}}}}}}
		}
	}
	slices.SortFunc(d.blocks, func(a, b block) int { return a.parts[0].at.start - b.parts[0].at.start })
	for i := range d.blocks {
		b := &d.blocks[i]
		_, above := d.context(b.head, z)
		for j := range b.parts {
			e := &b.parts[j]
			room := z.MaxTokens - above - e.headerPieces(z)
			for k := range e.leaves {
				l := &e.leaves[k]
				if l.pieces != unknown && l.pieces <= room {
					continue
				}
				l.cuts = words(d.doc, l.at)
				for c := range l.cuts {
					t.add(d.doc[l.cuts[c].at.start:l.cuts[c].at.end], &l.cuts[c].pieces)
				}
			}
		}
	}
}

// cutTitle settles what of a known title is context.
func (d *layout) cutTitle(z sizes) {
	if d.known == nil {
		return
	}
	d.known.alone = d.known.cut(d.heads[0], z.context)
	d.known.above = d.known.cut(d.heads[0], z.outer)
}

// cut is the beginning of the title in at most so many pieces, and at least one word.
func (k *known) cut(of heading, limit int) form {
	if of.pieces <= limit {
		return form{of.title, of.pieces}
	}
	end, pieces := 0, 0
	for _, c := range k.words {
		if end > 0 && pieces+c.pieces > limit {
			break
		}
		end, pieces = c.at.end, pieces+c.pieces
	}
	return form{of.title[:end], pieces}
}

// context is what stands above a section, with its word pieces. It marks the
// headings in it as used.
func (d *layout) context(head int, z sizes) (string, int) {
	var names []string
	n, full, title := 0, false, d.titleOver(head)
	if title != nil {
		n = title.pieces // it is in the context, whatever else is
	}
	for h := head; h >= 0; h = d.heads[h].parent {
		if h == 0 && title != nil {
			d.heads[0].used = d.heads[0].used || title.text == d.heads[0].title
			names = append(names, title.text)
			break
		}
		limit, need := z.outer, d.heads[h].pieces+1 // the separator is a piece
		if len(names) == 0 {
			limit = z.context
			if title == nil {
				need--
			}
		}
		if full || n+need > limit {
			full = full || h != head
			continue
		}
		n += need
		d.heads[h].used = true
		names = append(names, d.heads[h].title)
	}
	slices.Reverse(names)
	return strings.Join(names, " > "), n
}

// titleOver is what is said of a known title that a heading is or stands under; nil: there
// is none.
func (d *layout) titleOver(head int) *form {
	root := head
	for root > 0 {
		root = d.heads[root].parent
	}
	switch {
	case d.known == nil || root < 0:
		return nil
	case head == 0:
		return &d.known.alone
	}
	return &d.known.above
}

// headerPieces is what a table's header row costs later chunks; 0: not carried.
func (e *part) headerPieces(z sizes) int {
	if !e.header || len(e.leaves) < 3 || e.leaves[0].pieces == unknown || e.leaves[0].pieces > z.outer {
		return 0
	}
	return e.leaves[0].pieces
}

// cut is a word, or a piece of one without spaces, that a chunk may end after.
type cut struct {
	at     span
	pieces int
	after  edge
}

// edge is how good a place to end a chunk is.
type edge uint8

const (
	inWord edge = iota
	atSymbol
	atSpace
	atClause
	atLine
)

const (
	longWord    = 24 // bytes; a longer word may be cut
	wordPart    = 16 // bytes of its parts, about: each fits the smallest MaxTokens
	longCluster = 64 // bytes; a longer grapheme cluster is cut between characters
)

// words cuts a leaf where a chunk may end if it must.
func words(doc string, at span) []cut {
	var out []cut
	for i := at.start; i < at.end; {
		text := doc[i:at.end]
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		if n <= longWord {
			out = append(out, cut{at: span{i, i + n}})
		} else {
			out = wordParts(out, doc, span{i, i + n})
		}
		last := &out[len(out)-1]
		i += n
		last.after = atSpace
		if r, _ := utf8.DecodeLastRuneInString(doc[last.at.start:last.at.end]); clause(r) {
			last.after = atClause
		}
		for r, w := decode(doc, i, at.end); unicode.IsSpace(r); r, w = decode(doc, i, at.end) {
			if r == '\n' {
				last.after = atLine
			}
			i += w
		}
	}
	return out
}

// wordParts cuts a word without spaces (a script that has none, a path, encoded
// data) into parts of whole grapheme clusters.
func wordParts(out []cut, doc string, at span) []cut {
	start, i, state := at.start, at.start, -1
	flush := func(after edge) {
		if i > start {
			out = append(out, cut{at: span{start, i}, after: after})
			start = i
		}
	}
	for rest := doc[at.start:at.end]; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if len(cluster) > longCluster {
			flush(inWord)
			for _, r := range cluster {
				i += max(utf8.RuneLen(r), 1)
				if i-start >= wordPart {
					flush(inWord)
				}
			}
			flush(inWord)
			continue
		}
		i += len(cluster)
		r, _ := utf8.DecodeLastRuneInString(cluster)
		switch {
		case r >= 0x80 && clause(r):
			flush(atClause)
		case i-start >= wordPart && r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(atSymbol)
		case i-start >= wordPart:
			flush(inWord)
		}
	}
	flush(inWord)
	return out
}

func clause(r rune) bool {
	switch r {
	case ',', ';', ':', ')', '—', '–', '、', '，', '；', '：', '،', '؛':
		return true
	}
	return terminal(r)
}

// unit is what the packer moves as one.
type unit struct {
	at       span
	pieces   int
	part     int
	sentence bool   // may be repeated as overlap
	header   string // a chunk that starts here carries it under the headings
	cost     int    // of header
}

// units of a block for chunks of room pieces.
func (d *layout) units(b *block, room int, z sizes) []unit {
	var out []unit
	for i := range b.parts {
		e := &b.parts[i]
		if e.kind == item || e.kind == fence {
			if n, ok := e.fits(room, z); ok {
				out = append(out, unit{at: e.at, pieces: n, part: i})
				continue
			}
		}
		header, cost := "", e.headerPieces(z)
		for k := range e.leaves {
			l := &e.leaves[k]
			if k > 1 && cost > 0 {
				header = d.doc[e.leaves[0].at.start:e.leaves[0].at.end]
			}
			u := unit{at: l.at, pieces: l.pieces, part: i, sentence: e.kind <= item, header: header, cost: cost}
			if header == "" {
				u.cost = 0
			}
			if l.cuts == nil {
				out = append(out, u)
				continue
			}
			u.sentence = false
			for _, f := range join(l.cuts, room-cost, z.bytes) {
				u.at, u.pieces = f.at, f.pieces
				out = append(out, u)
			}
		}
	}
	return out
}

// fits counts a part that one chunk can hold.
func (e *part) fits(room int, z sizes) (pieces int, ok bool) {
	for _, l := range e.leaves {
		if l.cuts != nil {
			return 0, false
		}
		pieces += l.pieces
	}
	return pieces, pieces <= room && e.at.end-e.at.start <= z.bytes
}

// join packs the words of one leaf into fragments: each as long as fits, ended
// at the best edge of its second half.
func join(cuts []cut, room, bytes int) []cut {
	var out []cut
	for i := 0; i < len(cuts); {
		j, sum := i, 0
		for j < len(cuts) && (j == i || sum+cuts[j].pieces <= room && cuts[j].at.end-cuts[i].at.start <= bytes) {
			sum += cuts[j].pieces
			j++
		}
		if j < len(cuts) {
			best, n := j, sum
			for k := j; k > i+1 && 2*n > room; k-- {
				if cuts[k-1].after > cuts[best-1].after {
					best, sum = k, n
				}
				n -= cuts[k-1].pieces
			}
			j = best
		}
		out = append(out, cut{at: span{cuts[i].at.start, cuts[j-1].at.end}, pieces: sum})
		i = j
	}
	return out
}

// pack makes the chunks of a document.
func (d *layout) pack(z sizes) []port.Chunk {
	if z.Whole {
		if c, ok := d.whole(z); ok {
			return []port.Chunk{c}
		}
	}
	out := make([]port.Chunk, 0, len(d.blocks))
	for i := range d.blocks {
		b := &d.blocks[i]
		context, above := d.context(b.head, z)
		room := z.MaxTokens - above
		us := d.units(b, room, z)
		for i, done := 0, 0; i < len(us); {
			left := room - us[i].cost
			j := i
			for j < len(us) && (j == i || us[j].pieces <= left && us[j].at.end-us[i].at.start <= z.bytes) {
				left -= us[j].pieces
				j++
			}
			// A lead-in goes with what follows it, unless nothing new would be left.
			if j < len(us) && j-1 > max(i, done) && us[j-1].part != us[j].part && leadIn(d.doc[us[j-1].at.start:us[j-1].at.end]) {
				j--
			}
			at, c := span{us[i].at.start, us[j-1].at.end}, context
			if from := d.titleAbove(b); done == 0 && from >= 0 && at.end-from <= z.bytes {
				at.start = from
				c, _ = d.context(d.heads[b.head].parent, z)
				if d.known != nil && d.known.opens == from {
					c = ""
				} else if d.known != nil && d.heads[b.head].parent == 0 {
					c = d.known.above.text // what there is room for: the other chunks have the line below it
				}
			} else if done == 0 && d.opens(b) {
				c = ""
			}
			if us[i].header != "" {
				c = strings.TrimPrefix(c+"\n"+us[i].header, "\n")
			}
			out = append(out, port.Chunk{Start: at.start, End: at.end, Context: c, Hash: hash(c, d.doc[at.start:at.end])})
			i, done = overlap(us, i, j, room, z), j
		}
	}
	return out
}

// titleAbove is where the document's title starts, if it is a line of text right above a
// block; -1: it is not. The first chunk of that block begins with it, and the others have it
// as their context.
func (d *layout) titleAbove(b *block) int {
	if b.head < 0 || !d.heads[b.head].plain || !d.heads[b.head].used {
		return -1
	}
	title := d.heads[b.head].at
	if title.end > b.parts[0].at.start || strings.TrimSpace(d.doc[title.end:b.parts[0].at.start]) != "" {
		return -1
	}
	return title.start
}

// opens reports whether a block begins the text with the words of a known title.
func (d *layout) opens(b *block) bool {
	return d.known != nil && d.known.opens == b.parts[0].at.start
}

// overlap is where the chunk after us[i:j] starts: at j, or some sentences before.
func overlap(us []unit, i, j, room int, z sizes) int {
	if j == len(us) || !us[j].sentence {
		return j
	}
	from, sum := j, us[j].pieces
	for from-1 > i && j-from < z.Overlap {
		u := us[from-1]
		if !u.sentence || u.part != us[j].part || sum+u.pieces > room || us[j].at.end-u.at.start > z.bytes {
			break
		}
		from--
		sum += u.pieces
	}
	return from
}

// whole makes one chunk of a text that fits, headings and all, under its known title.
func (d *layout) whole(z sizes) (port.Chunk, bool) {
	at, ok := trim(d.doc, span{0, len(d.doc)})
	if !ok || at.end-at.start > z.bytes {
		return port.Chunk{}, false
	}
	n, context := d.markup, ""
	if d.known != nil && d.known.opens < 0 {
		context, n = d.heads[0].title, n+d.heads[0].pieces
	}
	for _, h := range d.heads {
		if h.used && h.at.end > 0 { // the others are blocks
			n += h.pieces
		}
	}
	for _, b := range d.blocks {
		for _, e := range b.parts {
			for _, l := range e.leaves {
				if n += l.pieces; l.pieces == unknown || n > z.MaxTokens {
					return port.Chunk{}, false
				}
			}
		}
	}
	return port.Chunk{Start: at.start, End: at.end, Context: context, Hash: hash(context, d.doc[at.start:at.end])}, true
}
