package office_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/adapters/extract/office"
	"github.com/mnemehq/mneme/core/port"
)

const (
	ooxml = "application/vnd.openxmlformats-officedocument."
	docx  = ooxml + "wordprocessingml.document"
	pptx  = ooxml + "presentationml.presentation"
	xlsx  = ooxml + "spreadsheetml.sheet"
	odt   = "application/vnd.oasis.opendocument.text"
	epub  = "application/epub+zip"
)

func made(t testing.TB, name, media string) port.File {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return port.File{Name: name, MediaType: media, Content: content}
}

// packed makes an archive; of an entry that is there already it is the replacement.
func packed(t testing.TB, name, media string, entries map[string]string) port.File {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, n := range slices.Sorted(maps.Keys(entries)) {
		e, err := w.Create(n)
		if err == nil {
			_, err = e.Write([]byte(entries[n]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return port.File{Name: name, MediaType: media, Content: out.Bytes()}
}

func word(body string) map[string]string {
	return map[string]string{"word/document.xml": `<w:document xmlns:w="w"><w:body>` + body + `</w:body></w:document>`}
}

func openDocument(body string) map[string]string {
	return map[string]string{"content.xml": `<office:document-content><office:body><office:text>` + body + `</office:text>
		</office:body>` +
		`</office:document-content>`}
}

func workbook(t testing.TB, name string, o excelize.Options, fill func(f *excelize.File) error) port.File {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	err := fill(f)
	var out bytes.Buffer
	if err == nil {
		err = f.Write(&out, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return port.File{Name: name, MediaType: xlsx, Content: out.Bytes()}
}

func TestOffice(t *testing.T) {
	body := []string{"# Opening", "The shop opens at seven. Whoever comes first:",
		"- switches the lights on\n- starts the boiler\n  - checks its pressure\n- unlocks the door", "## Prices",
		"| Bag | Price |\n|---|---|\n| small | 4 |\n| large | 7 |", "A price holds for a year.", "# Closing",
		"Clean the grinder & lock the door. Grüße!"}
	title, ann := "The roastery’s handbook", map[string]any{"author": "Ann Example"}
	slides := map[int]string{2: "## Opening", 3: "- starts the boiler\n  - checks its pressure", 4: "| small | 4 |",
		7: "Clean the grinder & lock the door."}
	notes := append(slices.Clone(body), "Until the harvest")
	styled := word(`<w:p><w:pPr><w:pStyle w:val="Titel"/></w:pPr><w:r><w:t>The title</w:t></w:r></w:p>
		<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>
		<w:p><w:pPr><w:pStyle w:val="toc1"/></w:pPr><w:r><w:t>contents</w:t></w:r></w:p>
		<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Deeper</w:t></w:r></w:p>
		<w:p><w:r><w:t>one </w:t></w:r><w:del><w:r><w:t>deleted</w:t></w:r></w:del><w:r><w:instrText>PAGE</w:instrText>
			<w:t>page</w:t><w:tab/>
		<w:t>a</w:t><w:br/><w:t>b</w:t><w:noBreakHyphen/><w:t>c</w:t></w:r></w:p>
		<w:p><w:r><mc:AlternateContent><mc:Choice><w:t>new</w:t></mc:Choice><mc:Fallback><w:t>old</w:t></mc:Fallback>
			</mc:AlternateContent>
		</w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p><w:p><w:r><w:t>second</w:t></w:r></w:p></w:tc>
			<w:tc><w:tbl><w:tr>
		<w:tc><w:p><w:r><w:t>inner</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>`)
	styled["word/_rels/document.xml.rels"] = `<Relationships><Relationship Id="1" Type="x/styles" Target="styles.xml"/>
		<Relationship Id="2" Type="x/footnotes" Target="/word/notes.xml"/></Relationships>`
	styled["word/styles.xml"] = `<w:styles><w:style w:styleId="Titel"><w:name w:val="Title"/></w:style>
		<w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style><w:style w:styleId="toc1">
			<w:name w:val="toc 1"/></w:style></w:styles>`
	styled["word/notes.xml"] = `<w:footnotes><w:footnote><w:p><w:r><w:t>The note.</w:t></w:r></w:p></w:footnote></w:footnotes>`
	extracttest.Run(t, extracttest.Suite{
		Open: func(*testing.T) port.Extractor { return office.New(extract.DefaultLimits()) },
		Cuts: 8,
		Samples: []extracttest.Sample{
			{File: made(t, "pandoc.docx", docx), Title: title, Text: notes,
				Metadata: map[string]any{"author": "Ann Example", "language": "en"}},
			{File: made(t, "libreoffice.docx", docx), Title: title, Text: notes},
			{File: made(t, "pandoc.odt", odt), Title: title, Metadata: ann,
				Text: []string{"# " + title, "# Opening", "  - checks its pressure", "## Prices", "| large | 7 |",
					"year. ( Until the harvest, that is.)", "# Closing"}},
			{File: made(t, "libreoffice.odt", odt), Title: title, Text: notes, Metadata: ann},
			{File: made(t, "pandoc.epub", epub), Title: title, Metadata: map[string]any{"author": "Ann Example",
				"language": "en"},
				Text: body[:6], Never: []string{"Contents"}},
			{File: made(t, "pandoc.pptx", pptx), Title: title, Pages: 8, Page: slides, Metadata: ann},
			{File: made(t, "libreoffice.pptx", pptx), Title: title, Pages: 8, Page: slides},
			{File: made(t, "prices.xlsx", xlsx), Text: []string{
				"## prices\n\n- Bag: small; Price: 4; From: 2026-03-01\n- Bag: large; Price: 7.5; From: 2026-04-15"}},
			{File: packed(t, "styled.docx", docx, styled), Title: "The title", Never: []string{"contents", "deleted",
				"PAGE", "old"},
				Text: []string{"# The title\n\n## Head\n\n### Deeper\n\n" +
					"one page a\nb-c\n\nnew\n\n| a\\|b second | inner |", "The note."}},
			{File: packed(t, "pages.docx", docx, word(`<w:p><w:r><w:t>one</w:t></w:r></w:p><w:p><w:r>
				<w:lastRenderedPageBreak/><w:t>two</w:t>
				<w:lastRenderedPageBreak/><w:t>three</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r>
					<w:lastRenderedPageBreak/><w:t>cell</w:t></w:r>
				</w:p></w:tc></w:tr></w:tbl><w:p><w:r><w:t>four</w:t></w:r></w:p>`)), Pages: 4,
				Page: map[int]string{1: "one", 2: "two", 3: "three\n\n| cell |", 4: "four"}},
			{File: packed(t, "pages.odt", odt, openDocument(`<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
				<text:p>one<text:s/>a<office:annotation><text:p>comment</text:p></office:annotation></text:p>
					<text:soft-page-break/>
				<text:h text:outline-level="2">Two<text:line-break/>lines</text:h>
					<text:p>x<text:soft-page-break/>y</text:p>`)), Pages: 3,
				Page: map[int]string{1: "one a", 2: "## Two lines\n\nx", 3: "y"}, Never: []string{"gone", "comment"}},
			{File: workbook(t, "sheets.xlsx", excelize.Options{}, func(f *excelize.File) error {
				_ = f.SetSheetRow("Sheet1", "A1", &[]any{"A list of prices"})
				_ = f.SetSheetRow("Sheet1", "B3", &[]any{"Bag", "Share"})
				_ = f.SetSheetRow("Sheet1", "B4", &[]any{"small", 0.25})
				percent, _ := f.NewStyle(&excelize.Style{NumFmt: 9})
				_ = f.SetCellStyle("Sheet1", "C4", "C4", percent)
				_, _ = f.NewSheet("Empty")
				_, _ = f.NewSheet("Last")
				return f.SetSheetRow("Last", "A1", &[]any{"only", "a header"})
			}), Text: []string{"## Sheet1\n\nA list of prices\n\n- Bag: small; Share: 25%", "## Last\n\n- only; a header"},
				Never: []string{"Empty"}},
		},
		Refused: refusals(t),
	})
}

func refusals(t *testing.T) []extracttest.Refused {
	many := map[string]string{}
	for i := range extract.DefaultLimits().Entries + 1 {
		many[fmt.Sprint(i)] = ""
	}
	bomb := word("<w:p><w:r><w:t>" + strings.Repeat("a", 5<<20) + "</w:t></w:r></w:p>")
	protected := packed(t, "p.docx", docx, word("<w:p/>"))
	protected.Content = bytes.Clone(protected.Content)
	for _, signature := range []string{"PK\x03\x04", "PK\x01\x02"} {
		at := bytes.Index(protected.Content, []byte(signature)) + 6
		if signature[2] == 1 {
			at += 2
		}
		protected.Content[at] |= 1
	}
	sealed := openDocument("<text:p>x</text:p>")
	sealed["META-INF/manifest.xml"] = `<manifest:manifest><manifest:file-entry><manifest:encryption-data/>
		</manifest:file-entry></manifest:manifest>`
	drm := map[string]string{"META-INF/encryption.xml": `<e>
		<EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>`}
	lost := map[string]string{"META-INF/container.xml": `<c><rootfile full-path="a.opf"/></c>`,
		"a.opf": `<package><manifest><item id="1" href="gone.xhtml"/></manifest><spine><itemref idref="1"/></spine></package>`}
	entity := word("<w:p/>")
	entity["word/document.xml"] = `<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document><w:t>&a;</w:t></w:document>`
	return []extracttest.Refused{
		{Name: "too many entries", File: packed(t, "a.docx", docx, many), Code: port.FileTooLarge},
		{Name: "bomb", File: packed(t, "a.docx", docx, bomb), Code: port.FileTooLarge},
		{Name: "bomb in a sheet", File: packed(t, "a.xlsx", xlsx, bomb), Code: port.FileTooLarge},
		{Name: "deep", File: packed(t, "a.docx", docx, word(strings.Repeat("<a>", 300)+strings.Repeat("</a>", 300))),
			Code: port.FileTooLarge},
		{Name: "entities", File: packed(t, "a.docx", docx, entity), Code: port.FileBroken},
		{Name: "unended", File: packed(t, "a.docx", docx, map[string]string{"word/document.xml": "<w:document><w:p>"}),
			Code: port.FileBroken},
		{Name: "ended twice", File: packed(t, "a.docx", docx, map[string]string{"word/document.xml": "<a/></a>"}),
			Code: port.FileBroken},
		{Name: "no document", File: packed(t, "a.docx", docx, map[string]string{"x": "y"}), Code: port.FileBroken},
		{Name: "no presentation", File: packed(t, "a.pptx", pptx, map[string]string{"x": "y"}), Code: port.FileBroken},
		{Name: "no workbook", File: packed(t, "a.xlsx", xlsx, map[string]string{"x": "y"}), Code: port.FileBroken},
		{Name: "no book", File: packed(t, "a.epub", epub, map[string]string{"x": "y"}), Code: port.FileBroken},
		{Name: "lost chapter", File: packed(t, "a.epub", epub, lost), Code: port.FileBroken},
		{Name: "protected book", File: packed(t, "a.epub", epub, drm), Code: port.FileEncrypted},
		{Name: "protected archive", File: protected, Code: port.FileEncrypted},
		{Name: "protected text", File: packed(t, "a.odt", odt, sealed), Code: port.FileEncrypted},
		{Name: "protected workbook", Code: port.FileEncrypted, File: workbook(t, "a.xlsx", excelize.Options{Password: "secret"},
			func(f *excelize.File) error { return f.SetSheetRow("Sheet1", "A1", &[]any{"x"}) })},
		{Name: "before 2007", Code: port.FileUnsupported, File: port.File{Name: "a.docx", MediaType: docx,
			Content: append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 512)...)}},
		{Name: "empty document", File: packed(t, "a.docx", docx, word("<w:p/>")), Code: port.FileNoText},
		{Name: "empty workbook", Code: port.FileNoText,
			File: workbook(t, "a.xlsx", excelize.Options{}, func(*excelize.File) error { return nil })},
	}
}

func FuzzOffice(f *testing.F) {
	names := []string{"pandoc.docx", "pandoc.odt", "pandoc.epub", "prices.xlsx", "pandoc.pptx"}
	media := []string{docx, odt, epub, xlsx, pptx}
	for i, n := range names {
		f.Add(byte(i), made(f, n, "").Content)
	}
	limits := extract.DefaultLimits()
	limits.Expanded, limits.Text = 1<<20, 1<<20
	f.Fuzz(func(t *testing.T, n byte, content []byte) {
		e := office.New(limits)
		x, err := e.Extract(t.Context(), port.File{MediaType: media[int(n)%len(media)], Content: content})
		if err == nil && len(x.Sections) == 0 {
			t.Fatal("no text and no error")
		}
	})
}

func BenchmarkOffice(b *testing.B) {
	const words = "The shop opens at seven. Whoever comes first switches the lights on and starts the boiler. "
	many := func(n int, paragraph string) string { return strings.Repeat(paragraph, n) }
	slides := map[string]string{"ppt/presentation.xml": `<p:presentation xmlns:r="r"><p:sldIdLst>`,
		"ppt/_rels/presentation.xml.rels": "<Relationships>"}
	book := map[string]string{"META-INF/container.xml": `<c><rootfile full-path="a.opf"/></c>`, "a.opf": "<package><manifest>"}
	spine := "</manifest><spine>"
	for i := range 200 {
		slides["ppt/presentation.xml"] += fmt.Sprintf(`<p:sldId r:id="r%d"/>`, i)
		slides["ppt/_rels/presentation.xml.rels"] += fmt.Sprintf(
			`<Relationship Id="r%d" Type="x/slide" Target="slides/%d.xml"/>`, i, i)
		slides[fmt.Sprintf("ppt/slides/%d.xml", i)] = "<p:sld><p:sp><p:txBody>" +
			many(10, "<a:p><a:r><a:t>"+words+"</a:t></a:r></a:p>") + "</p:txBody></p:sp></p:sld>"
		book["a.opf"] += fmt.Sprintf(`<item id="c%d" href="%d.xhtml"/>`, i, i)
		spine += fmt.Sprintf(`<itemref idref="c%d"/>`, i)
		book[fmt.Sprintf("%d.xhtml", i)] = "<html><body><h1>Chapter</h1>" + many(50, "<p>"+words+"</p>") + "</body></html>"
	}
	slides["ppt/presentation.xml"] += "</p:sldIdLst></p:presentation>"
	slides["ppt/_rels/presentation.xml.rels"] += "</Relationships>"
	book["a.opf"] += spine + "</spine></package>"
	extracttest.Bench(b, office.New(extract.DefaultLimits()),
		packed(b, "a.docx", docx, word(many(10_000, "<w:p><w:r><w:t>"+words+"</w:t></w:r></w:p>"))),
		packed(b, "a.odt", odt, openDocument(many(10_000, "<text:p>"+words+"</text:p>"))),
		packed(b, "a.pptx", pptx, slides), packed(b, "a.epub", epub, book),
		workbook(b, "a.xlsx", excelize.Options{}, func(f *excelize.File) error {
			for i := range 10_000 {
				if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &[]any{"Bag of beans", 4.5, words}); err != nil {
					return err
				}
			}
			return nil
		}))
}
