package pdf_test

import (
	"fmt"
	"strings"
	"testing"
)

// outlined writes a PDF of one page with an outline, whose entries are given without their
// parents; the first is object 7, and the page is object 4.
func outlined(content string, entries ...string) []byte {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", "<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Resources << /Font << /F1 3 0 R >> >> /Contents 5 0 R >>",
		stream("", content), "<< /Type /Outlines /First 7 0 R /Last 7 0 R >>",
	}
	for _, e := range entries {
		objects = append(objects, "<< "+e+" >>")
	}
	return file("", objects...)
}

// TestLongOutlines checks that an outline is read up to a number of entries and a depth, and
// that a page of many lines may have many of them.
func TestLongOutlines(t *testing.T) {
	oil := page(text{50, 700, 12, "It burns."})
	var lines strings.Builder
	lines.WriteString("BT /F1 10 Tf 1 0 0 1 50 790 Tm ")
	for range 10_000 {
		lines.WriteString("0 -12 Td (ab) Tj ")
	}
	lines.WriteString("ET\n")
	for name, c := range map[string]struct {
		content string
		entries int
		deeper  bool
		want    int
	}{
		"more entries than are read": {oil, 5001, false, 5000},
		"as deep as is read":         {oil, 16, true, 16},
		"deeper":                     {oil, 17, true, 16},
		"a page of many lines":       {lines.String(), 5000, false, 5000},
	} {
		entries := make([]string, c.entries)
		for i := range entries {
			entries[i] = "/Title (Entry) /Parent 6 0 R /Dest [4 0 R /Fit]"
			if link := map[bool]string{false: "Next", true: "First"}[c.deeper]; i+1 < c.entries {
				entries[i] += fmt.Sprintf(" /%s %d 0 R", link, 8+i)
			}
		}
		out, err := shared.Extract(t.Context(), of(outlined(c.content, entries...)))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.Sections[0].Text, "# Entry"); got != c.want {
			t.Errorf("%s: %d headings, want %d", name, got, c.want)
		}
	}
}

// TestPlaceWithoutAcross checks an entry that says how far down it is and no more.
func TestPlaceWithoutAcross(t *testing.T) {
	out, err := shared.Extract(t.Context(), of(outlined(page(text{50, 700, 12, "Oil."}, text{50, 600, 12, "Wax."}),
		"/Title (Below) /Parent 6 0 R /Dest [4 0 R /XYZ null 650 null]")))
	if err != nil || out.Sections[0].Text != "Oil.\n\n# Below\n\nWax." {
		t.Errorf("%+v, %v", out.Sections, err)
	}
}
