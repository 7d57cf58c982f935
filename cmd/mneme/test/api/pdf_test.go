package api_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// book is a PDF of pages with a line each.
func book(lines ...string) string {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"}
	var kids strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
		text := "BT /F 12 Tf 50 700 Td (" + l + ") Tj ET"
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "+
			"/Resources << /Font << /F 3 0 R >> >> >>", 5+2*i),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(text), text))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(lines))
	var out, xref bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	for i, o := range objects {
		fmt.Fprintf(&xref, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Root 1 0 R /Size %d >>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, xref.String(), len(objects)+1, at)
	return out.String()
}

// A hit in a long PDF names its page, also behind a page without text.
func TestHitsInAPDFNameTheirPages(t *testing.T) {
	sequential(t)
	lines := make([]string, 200)
	for i := range lines {
		lines[i] = fmt.Sprintf("The lamp of cape number%d burns oil.", i+1)
	}
	lines[49] = ""
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		r := s.upload("/namespaces/docs/files", sent{"file", "capes.pdf", "", book(lines...)}).ok()
		if got := r.list("files")[0]; got["pages"] != 200.0 || got["media_type"] != "application/pdf" {
			t.Fatalf("%s", r.body)
		}
		for _, page := range []int{1, 49, 51, 137, 200} {
			hits := s.query("docs", object{"query": fmt.Sprintf("number%d", page), "mode": "keyword"}).ok().list("results")
			if len(hits) == 0 || hits[0]["page"] != float64(page) {
				t.Errorf("page %d: %v", page, hits)
			}
		}
	})
}
