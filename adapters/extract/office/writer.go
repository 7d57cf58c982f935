package office

import (
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// writer collects the paragraphs and tables of a text as Markdown.
type writer struct {
	sections []port.Section
	out      strings.Builder
	page     int // 0: the text has no pages
	size     int
	most     int  // of size
	turns    int  // pages that begin once the table at hand ends
	list     bool // the last block was a list item

	line  strings.Builder // the paragraph at hand
	table []*grid         // those that are open; cells of inner ones become text of outer ones
}

// grid is a table at hand.
type grid struct {
	rows  [][]string
	cells []string
	cell  strings.Builder
}

func (w *writer) text(s string) { w.line.WriteString(s) }

// paragraph ends the paragraph at hand: a heading of a level from 1, a list item of a
// depth from 1, or neither.
func (w *writer) paragraph(heading, item int) {
	s := tidy(w.line.String())
	w.line.Reset()
	if s == "" {
		return
	}
	if n := len(w.table); n > 0 {
		c := &w.table[n-1].cell
		if c.Len() > 0 {
			c.WriteByte(' ')
		}
		c.WriteString(squeeze(s))
		return
	}
	switch {
	case heading > 0:
		w.block(strings.Repeat("#", min(heading, 6))+" "+squeeze(s), false)
	case item > 0:
		w.block(strings.Repeat("  ", min(item, 9)-1)+"- "+squeeze(s), true)
	default:
		w.block(s, false)
	}
}

func (w *writer) block(s string, item bool) {
	if w.out.Len() > 0 {
		w.out.WriteByte('\n')
		if !item || !w.list {
			w.out.WriteByte('\n')
		}
	}
	w.list = item
	w.out.WriteString(s)
	w.size += len(s)
}

// turn begins a page. One that begins within a table begins after it.
func (w *writer) turn() {
	if w.turns++; len(w.table) == 0 {
		w.paragraph(0, 0) // what is left of a paragraph over two pages
		w.flush()
		w.page, w.turns = w.page+w.turns, 0
	}
}

func (w *writer) flush() {
	if w.out.Len() > 0 {
		w.sections = append(w.sections, port.Section{Text: w.out.String(), Page: w.page})
		w.out.Reset()
	}
	w.list = false
}

func (w *writer) startTable() { w.table = append(w.table, &grid{}) }

func (w *writer) endCell() {
	if n := len(w.table); n > 0 {
		g := w.table[n-1]
		g.cells = append(g.cells, strings.ReplaceAll(squeeze(g.cell.String()), "|", `\|`))
		g.cell.Reset()
	}
}

func (w *writer) endRow() {
	if n := len(w.table); n > 0 {
		g := w.table[n-1]
		if strings.Join(g.cells, "") != "" {
			g.rows = append(g.rows, g.cells)
		}
		g.cells = nil
	}
}

// endTable writes a table with its first row as header.
func (w *writer) endTable() {
	n := len(w.table)
	if n == 0 {
		return
	}
	g := w.table[n-1]
	w.table = w.table[:n-1]
	if n > 1 {
		c := &w.table[n-2].cell
		for _, r := range g.rows {
			c.WriteString(" " + strings.Join(r, " "))
		}
		return
	}
	var lines []string
	for i, r := range g.rows {
		lines = append(lines, "| "+strings.Join(r, " | ")+" |")
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat("---|", len(r)))
		}
	}
	if len(lines) > 0 {
		w.block(strings.Join(lines, "\n"), false)
	}
	if w.turns > 0 {
		w.flush()
		w.page, w.turns = w.page+w.turns, 0
	}
}

// tidy squeezes white space within lines.
func tidy(s string) string {
	var lines []string
	for _, l := range strings.Split(s, "\n") {
		if l = squeeze(l); l != "" {
			lines = append(lines, l)
		}
	}
	return strings.Join(lines, "\n")
}
