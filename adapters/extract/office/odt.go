package office

import (
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/port"
)

// odt reads OpenDocument text (ISO/IEC 26300-1). Its soft page breaks say where pages
// began when it was last laid out.
func (a *archive) odt(w *writer, x *port.Extracted) error {
	if a.has("META-INF/manifest.xml") {
		err := a.walk("META-INF/manifest.xml", funcs{onStart: func(name string, _ attributes) error {
			if name == "encryption-data" || name == "encrypted-key" {
				return encryptedFile()
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
	if err := a.properties("meta.xml", x); err != nil {
		return err
	}
	paged := false
	err := a.walk("content.xml", funcs{onStart: func(name string, _ attributes) error {
		paged = paged || name == "soft-page-break"
		return nil
	}})
	if err != nil {
		return err
	}
	if paged {
		w.page = 1
	}
	return a.walk("content.xml", &odt{w: w, x: x, parents: map[string]string{}})
}

type odt struct {
	w *writer
	x *port.Extracted

	parents map[string]string // of styles

	skip    int
	body    bool
	para    int // depth of paragraphs, which notes and frames hold inside others
	heading int
	items   int // depth of lists
	title   bool
}

// odtPassedOver are elements whose text is not of the document.
var odtPassedOver = map[string]bool{
	"annotation": true, "tracked-changes": true, "note-citation": true, "table-of-content": true, "illustration-index": true,
	"table-index": true, "object-index": true, "user-index": true, "alphabetical-index": true, "bibliography": true,
	"forms": true, "sequence-decls": true, "variable-decls": true, "ruby-text": true, "binary-data": true,
}

func (o *odt) start(name string, a attributes) error {
	if o.skip > 0 || odtPassedOver[name] {
		o.skip++
		return nil
	}
	if name == "text" && !o.body { // office:text
		o.body = true
		return nil
	}
	switch name {
	case "h", "p":
		o.para++
		if o.para > 1 {
			o.w.text(" ") // within another: a note, or text in a frame
			break
		}
		style := a.get("style-name")
		if parent := o.parents[style]; parent != "" {
			style = parent
		}
		o.heading, o.title = 0, style == "Title"
		level, styled := strings.CutPrefix(style, "Heading_20_") // some programs mark headings by their style alone
		if name == "h" {
			o.heading, level, styled = 1, a.get("outline-level"), true
		}
		if n, err := strconv.Atoi(level); styled && err == nil && n > 0 {
			o.heading = n
		}
	case "style":
		o.parents[a.get("name")] = a.get("parent-style-name")
	case "list":
		o.items++
	case "s":
		o.w.text(" ")
	case "tab":
		o.w.text(" ")
	case "line-break":
		o.w.text("\n")
	case "note-body":
		o.w.text(" (")
	case "soft-page-break":
		o.w.turn()
	case "table":
		if o.para == 0 {
			o.w.startTable()
		}
	}
	return o.w.full()
}

func (o *odt) end(name string) error {
	if o.skip > 0 {
		o.skip--
		return nil
	}
	switch name {
	case "h", "p":
		if o.para--; o.para > 0 {
			break
		}
		if o.title {
			if o.x.Title == "" {
				o.x.Title = squeeze(o.w.line.String())
			}
			o.heading = 1
		}
		o.w.paragraph(o.heading, o.items)
	case "list":
		o.items--
	case "note-body":
		o.w.text(") ")
	case "table-cell", "covered-table-cell":
		if o.para == 0 {
			o.w.endCell()
		}
	case "table-row":
		if o.para == 0 {
			o.w.endRow()
		}
	case "table":
		if o.para == 0 {
			o.w.endTable()
		}
	}
	return nil
}

func (o *odt) text(s string) {
	if o.para > 0 && o.skip == 0 {
		o.w.text(strings.ReplaceAll(s, "\n", " "))
	}
}
