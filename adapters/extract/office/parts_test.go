package office_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/office"
	"github.com/mnemehq/mneme/core/port"
)

// sections reads a file within limits.
func sections(t *testing.T, l extract.Limits, f port.File) (string, port.Extracted, error) {
	t.Helper()
	x, err := office.New(l).Extract(t.Context(), f)
	var texts []string
	for _, s := range x.Sections {
		texts = append(texts, s.Text)
	}
	return strings.Join(texts, "\n\f\n"), x, err
}

func relations(rows ...string) string {
	return "<Relationships>" + strings.Join(rows, "") + "</Relationships>"
}

func relation(id, kind, target string) string {
	return `<Relationship Id="` + id + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + kind +
		`" Target="` + target + `"/>`
}

func run(text string) string { return "<w:r><w:t>" + text + "</w:t></w:r>" }

func paragraph(properties, text string) string {
	return "<w:p><w:pPr>" + properties + "</w:pPr>" + run(text) + "</w:p>"
}

// shape is one of a slide, with a placeholder of a type.
func shape(placeholder string, paragraphs ...string) string {
	return "<p:sp><p:nvPr>" + placeholder + "</p:nvPr><p:txBody>" + strings.Join(paragraphs, "") + "</p:txBody></p:sp>"
}

func line(properties, text string) string {
	return "<a:p>" + properties + "<a:r><a:t>" + text + "</a:t></a:r></a:p>"
}

// The parts of a file are found by their relations, and their text comes in its order.
func TestParts(t *testing.T) {
	document := word("")
	delete(document, "word/document.xml")
	document["_rels/.rels"] = relations(relation("1", "officeDocument", "word/document2.xml"))
	document["word/document2.xml"] = `<w:document><w:body>` +
		paragraph(`<w:pStyle w:val="outlined"/>`, "First") + paragraph(`<w:pStyle w:val="named"/>`, "Second") +
		paragraph(`<w:pStyle w:val="ninth"/>`, "Ninth") + paragraph(`<w:pStyle w:val="body"/>`, "plain") +
		paragraph(`<w:outlineLvl w:val="0"/>`, "Own") + paragraph(`<w:outlineLvl w:val="9"/>`, "none") +
		paragraph(`<w:ilvl w:val="1"/>`, "no item") + paragraph(`<w:numPr><w:ilvl w:val="1"/></w:numPr>`, "item") +
		`</w:body></w:document>`
	document["word/_rels/document2.xml.rels"] = relations(relation("1", "endnotes", "end.xml"),
		relation("2", "styles", "styles.xml"), relation("3", "footnotes", "foot.xml"), relation("4", "footnotes", "lost.xml"))
	style := func(id, name, level string) string {
		return `<w:style w:styleId="` + id + `"><w:name w:val="` + name + `"/><w:pPr><w:outlineLvl w:val="` + level +
			`"/></w:pPr></w:style>`
	}
	document["word/styles.xml"] = "<w:styles>" + style("outlined", "Clause", "0") + style("named", "heading 2", "0") +
		style("ninth", "Deep", "8") + style("body", "Text", "9") + "</w:styles>"
	document["word/foot.xml"] = "<w:footnotes>" + paragraph("", "Foot.") + "</w:footnotes>"
	document["word/end.xml"] = "<w:endnotes>" + paragraph("", "End.") + "</w:endnotes>"

	lost := word(paragraph("", "here"))
	lost["_rels/.rels"] = relations(relation("1", "officeDocument", "word/lost.xml"))

	slides := map[string]string{
		"ppt/presentation.xml": `<p:presentation><p:sldIdLst><p:sldId r:id="b"/><p:sldId r:id="a"/></p:sldIdLst>
			</p:presentation>`,
		"ppt/_rels/presentation.xml.rels": relations(relation("a", "slide", "slides/1.xml"),
			relation("b", "slide", "slides/2.xml")),
		"ppt/slides/1.xml": "<p:sld>" + shape(`<p:ph type="title"/>`, line("", "Head")) +
			shape("<p:ph/>", line("", "one"), line(`<a:pPr lvl="1"/>`, "two"), line(`<a:pPr lvl="0"/>`, "three")) +
			shape(`<p:ph type="obj"/>`, line("", "object")) + shape(`<p:ph type="body"/>`, line("", "body")) +
			shape(`<p:ph type="ftr"/>`, line("", "foot")) + shape(`<p:ph type="sldNum"/>`, line("", "7")) +
			shape("", line("", "free")) + "</p:sld>",
		"ppt/slides/2.xml": "<p:sld>" + shape(`<p:ph type="subTitle"/>`, line("", "Sub")) + "<mc:Fallback>" +
			shape("", line("", "old")) + "</mc:Fallback>" + shape("", line("", "new")) + "</p:sld>",
		"ppt/slides/_rels/1.xml.rels": relations(relation("1", "notesSlide", "../notes/1.xml"),
			relation("2", "slideLayout", "../layout.xml"), relation("3", "notesSlide", "../notes/lost.xml")),
		"ppt/notes/1.xml": "<p:notes>" + shape(`<p:ph type="sldImg"/>`, line("", "image")) +
			shape(`<p:ph type="body"/>`, line("", "Said.")) + shape("", line("", "beside")) + "</p:notes>",
		"ppt/layout.xml": "<p:sldLayout>" + shape("", line("", "layout")) + "</p:sldLayout>",
	}

	fonts := map[string]string{
		"META-INF/container.xml": `<c><rootfile full-path="a.opf"/><rootfile full-path="b.opf"/></c>`,
		"META-INF/encryption.xml": `<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.idpf.org/2008/embedding"/>
			</EncryptedData><EncryptedData><EncryptionMethod Algorithm="http://ns.adobe.com/pdf/enc#RC"/></EncryptedData>
			</encryption>`,
		"a.opf":   `<package><manifest><item id="1" href="1.xhtml"/></manifest><spine><itemref idref="1"/></spine></package>`,
		"1.xhtml": "<html><body><p>Chapter</p></body></html>",
	}
	for _, c := range []struct {
		file        port.File
		text, title string
	}{
		{packed(t, "moved.docx", docx, document),
			"# First\n\n## Second\n\n###### Ninth\n\nplain\n\n# Own\n\nnone\n\nno item\n\n  - item\n\nFoot.\n\nEnd.", ""},
		{packed(t, "lost.docx", docx, lost), "here", ""},
		{packed(t, "notes.pptx", pptx, slides), "Sub\n\nnew\n\f\n" +
			"## Head\n\n- one\n  - two\n- three\n- object\n\nbody\n\nfree\n\nSaid.", ""},
		{packed(t, "fonts.epub", epub, fonts), "Chapter", ""},
		{packed(t, "title.odt", odt, openDocument(`<text:p text:style-name="Title">The title</text:p>
			<text:p text:style-name="Title">Another</text:p>stray<text:p>x</text:p>`)),
			"# The title\n\n# Another\n\nx", "The title"},
		{workbook(t, "titles.xlsx", excelize.Options{}, func(f *excelize.File) error {
			return f.SetSheetRow("Sheet1", "A1", &[]any{"only"})
		}), "## Sheet1\n\nonly", ""},
	} {
		t.Run(c.file.Name, func(t *testing.T) {
			got, x, err := sections(t, extract.DefaultLimits(), c.file)
			if err != nil || got != c.text || x.Title != c.title {
				t.Errorf("%q, title %q, %v; want %q", got, x.Title, err, c.text)
			}
		})
	}
}

// What is just within the limits is read, and what is just beyond is not.
func TestLimitsOfOffice(t *testing.T) {
	properties := func(n int) port.File {
		entries := word(paragraph("", "x"))
		entries["docProps/core.xml"] = "<c><dc:title>" + strings.Repeat("t", n) + "</dc:title></c>"
		return packed(t, "a.docx", docx, entries)
	}
	for n, want := range map[int]int{1000: 1000, 1001: 0} {
		if _, x, err := sections(t, extract.DefaultLimits(), properties(n)); err != nil || len(x.Title) != want {
			t.Errorf("a title of %d bytes is one of %d, %v", n, len(x.Title), err)
		}
	}
	two := packed(t, "a.docx", docx, word("<w:p>"+run("12345")+"</w:p><w:p>"+run("123")+"<w:r></w:r></w:p>"))
	short := packed(t, "a.docx", docx, word("<w:p>"+run("x")+"</w:p>"))
	rows := workbook(t, "a.xlsx", excelize.Options{}, func(f *excelize.File) error {
		_ = f.SetSheetRow("Sheet1", "A1", &[]any{"a", "b"})
		return f.SetSheetRow("Sheet1", "A2", &[]any{"12345", "6"})
	})
	for what, c := range map[string]struct {
		file   port.File
		limits func(l *extract.Limits, less int)
	}{
		"entries":         {properties(1), func(l *extract.Limits, less int) { l.Entries = 2 - less }},
		"depth":           {short, func(l *extract.Limits, less int) { l.Depth = 5 - less }},
		"paragraphs":      {two, func(l *extract.Limits, less int) { l.Text = 8 - less }},
		"rows of a sheet": {rows, func(l *extract.Limits, less int) { l.Text = len("- a: 12345; b: 6\n") - less }},
	} {
		for less := range 2 {
			l := extract.DefaultLimits()
			c.limits(&l, less)
			got, _, err := sections(t, l, c.file)
			var why *port.FileError
			if errors.As(err, &why); (less == 0) != (err == nil) || less == 1 && (why == nil || why.Code != port.FileTooLarge) {
				t.Errorf("%s, %d less: %q, %v", what, less, got, err)
			}
		}
	}
	// Text that packs badly may be longer than what any archive may expand to.
	noise := make([]byte, 5<<20)
	r := rand.NewChaCha8([32]byte{})
	for i := range noise {
		noise[i] = 'a' + byte(r.Uint64()%16)
	}
	entries := word("<!--" + string(noise) + "--><w:p>" + run("x") + "</w:p>")
	if got, _, err := sections(t, extract.DefaultLimits(), packed(t, "a.docx", docx, entries)); got != "x" || err != nil {
		t.Errorf("a large file: %.20q, %v", got, err)
	}
}

// looks is a context that counts how often it is asked whether it has ended, and has
// ended from the one numbered last on; 0: it never does.
type looks struct {
	context.Context
	n, last int
}

func (l *looks) Err() error {
	if l.n++; l.last > 0 && l.n >= l.last {
		return context.Canceled
	}
	return nil
}

// Reading ends with its context, at which it looks now and then.
func TestReadingEndsWithItsContext(t *testing.T) {
	e := office.New(extract.DefaultLimits())
	for _, f := range []port.File{
		packed(t, "a.docx", docx, word("<w:p>"+run("x")+"</w:p>"+strings.Repeat("<w:p/>", 2500))),
		workbook(t, "a.xlsx", excelize.Options{}, func(f *excelize.File) error {
			for i := range 600 {
				cell, err := excelize.CoordinatesToCellName(1, i+1)
				if err == nil {
					err = f.SetSheetRow("Sheet1", cell, &[]any{"a", "b"})
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	} {
		all := &looks{Context: t.Context()}
		if _, err := e.Extract(all, f); err != nil {
			t.Fatal(err)
		}
		if all.n < 4 || all.n > 100 {
			t.Errorf("%s: the context is looked at %d times", f.Name, all.n)
		}
		for last := range all.n {
			if _, err := e.Extract(&looks{Context: t.Context(), last: last + 1}, f); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: a context that ends at look %d: %v", f.Name, last+1, err)
			}
		}
	}
}
