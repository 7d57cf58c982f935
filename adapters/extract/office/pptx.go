package office

import (
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// pptx reads PresentationML (ECMA-376, part 1, 19): slides in their order, each with the
// notes of its speaker.
func (a *archive) pptx(w *writer, x *port.Extracted) error {
	const main = "ppt/presentation.xml"
	if err := a.properties("docProps/core.xml", x); err != nil {
		return err
	}
	rels, err := a.relations(main)
	if err != nil {
		return err
	}
	var slides []string
	err = a.walk(main, funcs{onStart: func(name string, at attributes) error {
		if r, ok := rels[at.qualified("r", "id")]; ok && name == "sldId" {
			slides = append(slides, r.target)
		}
		return nil
	}})
	if err != nil {
		return err
	}
	for i, slide := range slides {
		w.flush()
		w.page = i + 1
		if err := a.walk(slide, &pptx{w: w}); err != nil {
			return err
		}
		rels, err := a.relations(slide)
		if err != nil {
			return err
		}
		for _, r := range rels {
			if r.kind == "notesSlide" && a.has(r.target) {
				if err := a.walk(r.target, &pptx{w: w, notes: true}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type pptx struct {
	w     *writer
	notes bool

	skip     int
	inText   bool
	title    bool // of the shape at hand
	left     bool // the shape holds a number, a date or the like
	level    int
	bulleted bool // the shape's paragraphs are items
}

func (p *pptx) start(name string, a attributes) error {
	if p.skip > 0 || name == "Fallback" {
		p.skip++
		return nil
	}
	switch name {
	case "sp":
		p.title, p.left, p.bulleted = false, p.notes, false
	case "ph":
		kind := a.get("type")
		p.title = strings.HasSuffix(strings.ToLower(kind), "title") && kind != "subTitle"
		p.bulleted = kind == "" || kind == "obj"
		p.left = kind == "dt" || kind == "ftr" || kind == "sldNum" || kind == "hdr" || p.notes && kind != "body"
	case "p":
		p.level = 1
	case "pPr":
		if l := a.get("lvl"); len(l) == 1 && l[0] > '0' && l[0] <= '9' {
			p.level = int(l[0]-'0') + 1
		}
	case "t":
		p.inText = true
	case "br", "tab":
		p.w.text("\n")
	case "tbl":
		p.left, p.bulleted, p.title = false, false, false
		p.w.startTable()
	}
	return p.w.full()
}

func (p *pptx) end(name string) error {
	if p.skip > 0 {
		p.skip--
		return nil
	}
	switch name {
	case "t":
		p.inText = false
	case "p":
		heading, item := 0, 0
		if p.title {
			heading = 2
		} else if p.bulleted {
			item = p.level
		}
		p.w.paragraph(heading, item)
	case "tc":
		p.w.endCell()
	case "tr":
		p.w.endRow()
	case "tbl":
		p.w.endTable()
	}
	return nil
}

func (p *pptx) text(s string) {
	if p.inText && !p.left && p.skip == 0 {
		p.w.text(s)
	}
}
