package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// file writes a PDF out of the bodies of its objects, from 1, of which the first is the
// catalog; trailer is added to the trailer.
func file(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, body := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, at)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(content), content)
}

func deflated(content []byte) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

// text is a text that stands on a page.
type text struct {
	x, y float64 // of its first letter, from the lower left corner
	size float64
	s    string
}

// page is the operators of some texts.
func page(texts ...text) string {
	var b strings.Builder
	for _, t := range texts {
		fmt.Fprintf(&b, "BT /F1 %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", t.size, t.x, t.y,
			strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(t.s))
	}
	return b.String()
}

// column is lines below each other, size high each.
func column(x, top, size float64, lines ...string) (all []text) {
	for i, s := range lines {
		if s != "" {
			all = append(all, text{x, top - float64(i)*size*1.2, size, s})
		}
	}
	return all
}

// pages writes a PDF of pages of 600 by 800 points, given by their operators, with
// Courier, whose letters are all .6 of their size wide. Attributes are added to each page;
// info is the dictionary of information.
func pages(attributes, info string, contents ...string) []byte {
	kids := make([]string, len(contents))
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"}
	for i, c := range contents {
		n := len(objects)
		kids[i] = fmt.Sprintf("%d 0 R", n+1)
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] %s "+
			"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", attributes, n+2), stream("", c))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	objects = append(objects, "<< "+info+" >>")
	return file(fmt.Sprintf("/Info %d 0 R", len(objects)), objects...)
}
