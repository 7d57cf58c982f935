package office

import (
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// docx reads WordprocessingML (ECMA-376, part 1, 17).
func (a *archive) docx(w *writer, x *port.Extracted) error {
	main := "word/document.xml"
	rels, err := a.relations("")
	if err != nil {
		return err
	}
	for _, r := range rels {
		if r.kind == "officeDocument" && a.has(r.target) {
			main = r.target
		}
	}
	if err := a.properties("docProps/core.xml", x); err != nil {
		return err
	}
	d := &docx{w: w, x: x, levels: map[string]int{}, toc: map[string]bool{}, titles: map[string]bool{}}
	if rels, err = a.relations(main); err != nil {
		return err
	}
	var notes []string
	for _, kind := range []string{"footnotes", "endnotes"} {
		for _, r := range rels {
			if r.kind == kind && a.has(r.target) {
				notes = append(notes, r.target)
			}
		}
	}
	for _, r := range rels {
		if r.kind == "styles" && a.has(r.target) {
			if err := a.walk(r.target, d.styles()); err != nil {
				return err
			}
		}
	}
	// Word notes where its pages began when it last laid them out; other programs don't.
	paged := false
	err = a.walk(main, funcs{onStart: func(name string, _ attributes) error {
		paged = paged || name == "lastRenderedPageBreak"
		return nil
	}})
	if err != nil {
		return err
	}
	if paged {
		w.page = 1
	}
	for _, name := range append([]string{main}, notes...) {
		if err := a.walk(name, d); err != nil {
			return err
		}
	}
	return nil
}

type docx struct {
	w      *writer
	x      *port.Extracted
	levels map[string]int // of headings, by id of the style
	toc    map[string]bool
	titles map[string]bool

	skip          int // depth inside what is no text of the document
	inText        bool
	heading, item int
	left, title   bool // the paragraph is left out; it is the title
}

// styles reads which styles are headings: by their names, which programs keep in English,
// or their outline levels.
func (d *docx) styles() visitor {
	var id string
	return funcs{onStart: func(name string, a attributes) error {
		switch name {
		case "style":
			id = a.get("styleId")
		case "name":
			style := strings.ToLower(a.get("val"))
			if n, err := strconv.Atoi(strings.TrimPrefix(style, "heading ")); err == nil && n > 0 {
				d.levels[id] = n
			}
			d.titles[id] = d.titles[id] || style == "title"
			d.toc[id] = d.toc[id] || strings.HasPrefix(style, "toc ")
		case "outlineLvl":
			if n, err := strconv.Atoi(a.get("val")); err == nil && n >= 0 && n < 9 && d.levels[id] == 0 {
				d.levels[id] = n + 1
			}
		}
		return nil
	}}
}

// passedOver are elements whose text is not of the document: what was deleted or moved
// away, codes of fields, and what is there a second time for older programs.
var passedOver = map[string]bool{"del": true, "moveFrom": true, "instrText": true, "Fallback": true, "delText": true}

func (d *docx) start(name string, a attributes) error {
	if d.skip > 0 || passedOver[name] {
		d.skip++
		return nil
	}
	switch name {
	case "p":
		if !d.inText {
			d.w.paragraph(d.heading, d.item) // a paragraph around a text box
		}
		d.heading, d.item, d.left, d.title = 0, 0, false, false
	case "pStyle":
		style := a.get("val")
		d.heading, d.left, d.title = d.levels[style], d.toc[style], d.titles[style]
	case "outlineLvl":
		if n, err := strconv.Atoi(a.get("val")); err == nil && n >= 0 && n < 9 {
			d.heading = n + 1
		}
	case "numPr":
		d.item = max(d.item, 1)
	case "ilvl":
		if n, err := strconv.Atoi(a.get("val")); err == nil && d.item > 0 {
			d.item = n + 1
		}
	case "t":
		d.inText = true
	case "tab":
		d.w.text(" ")
	case "br", "cr":
		d.w.text("\n")
	case "noBreakHyphen":
		d.w.text("-")
	case "lastRenderedPageBreak":
		d.w.turn()
	case "tbl":
		d.w.paragraph(d.heading, d.item)
		d.w.startTable()
	}
	return d.w.full()
}

func (d *docx) end(name string) error {
	if d.skip > 0 {
		d.skip--
		return nil
	}
	switch name {
	case "t":
		d.inText = false
	case "p":
		if d.left {
			d.w.line.Reset()
		}
		if d.title {
			if s := squeeze(d.w.line.String()); d.x.Title == "" {
				d.x.Title = s
			}
			d.heading = 1
		}
		d.w.paragraph(d.heading, d.item)
		d.heading, d.item, d.left, d.title = 0, 0, false, false
	case "tc":
		d.w.endCell()
	case "tr":
		d.w.endRow()
	case "tbl":
		d.w.endTable()
	}
	return nil
}

func (d *docx) text(s string) {
	if d.inText && d.skip == 0 {
		d.w.text(s)
	}
}
