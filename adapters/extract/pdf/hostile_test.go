package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/pdf"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

const (
	catalog  = "<< /Type /Catalog /Pages 2 0 R >>"
	onePage  = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	pageDict = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> %s >> >>"
	font     = "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"
)

// hello is a page that says hello, and after it whatever is given.
func hello(resources, more string, objects ...string) []byte {
	return file("", append([]string{catalog, onePage, fmt.Sprintf(pageDict, resources),
		stream("", page(text{50, 700, 12, "Hello."})+more), font}, objects...)...)
}

// xrefStream is a file whose table of references is a stream.
func xrefStream(dict string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%%PDF-1.7\n1 0 obj\n%s\nendobj\n2 0 obj\n%s\nendobj\n", catalog, onePage)
	at := b.Len()
	fmt.Fprintf(&b, "3 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", stream("/Type /XRef /Root 1 0 R "+dict,
		"\x01\x00\x09\x00\x01\x00\x09\x00"), at)
	return b.Bytes()
}

// laughs is a page with forms inside forms: each draws the next ten times.
func laughs(depth int) []byte {
	forms := make([]string, depth)
	for i := range forms {
		draw := page(text{50, 700, 12, "ha"})
		if i+1 < depth {
			draw = strings.Repeat("/F Do ", 10)
		}
		forms[i] = stream(fmt.Sprintf("/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /F %d 0 R >> "+
			"/Font << /F1 5 0 R >> >>", 7+i), draw)
	}
	return hello("/XObject << /F 6 0 R >>", "/F Do", forms...)
}

// TestHostile reads files that are made to hang, crash or exhaust a parser, those of
// golang/vulndb#6115 and #5781 among them. Each is read or refused for a reason that fits,
// in the memory that an instance has, and nothing is left of it.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, which sees nothing of what runs in the sandbox")
	}
	const most = 128 << 20
	e := limited(t, pdf.Settings{MemoryMB: most >> 20, Limits: limits(func(l *extract.Limits) { l.Time = 10 * time.Minute })})
	blanks := bytes.Repeat([]byte(" "), 64<<20)
	bomb := deflated(blanks)
	nest := strings.Repeat("[", 200_000)
	for name, c := range map[string]struct {
		file []byte
		may  []port.FileCode // "": it may be read
	}{
		"a table of references for a billion objects": {xrefStream("/Size 1000000000 /W [1 2 1]"), broken},
		"an index far away":                           {xrefStream("/Size 4000000001 /Index [4000000000 1] /W [1 2 1]"), broken},
		"an index of negative numbers":                {xrefStream("/Size 10 /Index [-5 -1] /W [1 2 1]"), broken},
		"fields of a gigabyte":                        {xrefStream("/Size 10 /W [1 1000000000 1000000000]"), broken},
		"fields of no width":                          {xrefStream("/Size 1000000000 /W [0 0 0]"), broken},
		"a trailer of a billion objects": {bytes.Replace(hello("", ""), []byte("/Size 6"),
			[]byte("/Size 1000000000"), 1), readOrNot},
		"a subsection of a billion objects": {bytes.Replace(hello("", ""), []byte("xref\n0 6"),
			[]byte("xref\n0 999999999"), 1), readOrNot},
		"a hexadecimal string without an end": {hello("", "BT /F1 12 Tf <AB"), readOrNot},
		"a hexadecimal string without an end, outside": {
			append([]byte("%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages <AB"), "\nstartxref\n9\n%%EOF"...), broken},
		"a string without an end": {hello("", "BT /F1 12 Tf ((((("), readOrNot},
		"references that follow themselves": {
			append(hello("", ""), "xref\n0 0\ntrailer\n<< /Root 1 0 R /Size 6 /Prev 15 >>\nstartxref\n15\n%%EOF"...), readOrNot},
		"a table of references before itself": {
			[]byte("%PDF-1.7\nxref\n0 0\ntrailer\n<< /Root 1 0 R /Size 6 /Prev 9 /XRefStm 9 >>\nstartxref\n9\n%%EOF"), broken},
		"pages inside themselves": {file("", catalog, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"), broken},
		"more pages than there are": {file("", catalog, "<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>",
			pageDict), readOrNot},
		"fewer pages than none":         {file("", catalog, "<< /Type /Pages /Kids [3 0 R] /Count -7 >>", pageDict), readOrNot},
		"a page that is its own parent": {file("", catalog, onePage, "<< /Type /Page /Parent 3 0 R >>"), readOrNot},
		"an object that is itself":      {file("", catalog, onePage, "3 0 R"), broken},
		"a length that is itself": {file("", catalog, onePage, fmt.Sprintf(pageDict, ""),
			"<< /Length 4 0 R >>\nstream\nBT\nendstream", font), readOrNot},
		"arrays inside arrays":         {hello("", "", nest), readOrNot},
		"arrays inside arrays, needed": {file("", catalog, "<< /Type /Pages /Kids "+nest+" /Count 1 >>"), broken},
		"dictionaries inside dictionaries": {
			file("", strings.Repeat("<< /A ", 200_000), onePage), broken},
		"arrays inside arrays on a page": {hello("", nest+"TJ"), readOrNot},
		"states inside states":           {hello("", strings.Repeat("q ", 500_000)), readOrNot},
		"a form that draws itself": {hello("/XObject << /F 6 0 R >>", "/F Do",
			stream("/Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 6 0 R >> >>", "/F Do")), readOrNot},
		"an outline that follows itself": {
			file("", "<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>", onePage, fmt.Sprintf(pageDict, ""),
				stream("", page(text{50, 700, 12, "Hello."})), font, "<< /First 7 0 R /Last 7 0 R >>",
				"<< /Title (Again) /Parent 6 0 R /First 7 0 R /Next 8 0 R /Dest [3 0 R /Fit] >>",
				"<< /Title (And again) /Parent 6 0 R /First 6 0 R /Next 7 0 R /Dest [3 0 R /Fit] >>"), readOrNot},
		"a bomb of text": {
			file("", catalog, onePage, fmt.Sprintf(pageDict, ""), stream("/Filter /FlateDecode", bomb), font), readOrNot},
		"a bomb in a bomb": {
			file("", catalog, onePage, fmt.Sprintf(pageDict, ""), stream("/Filter [/FlateDecode /FlateDecode]",
				deflated([]byte(bomb))), font), readOrNot},
		"a bomb of objects": {
			file("", catalog, onePage, fmt.Sprintf(pageDict, ""), "<< /Length 6 0 R >>\nstream\nendstream", font,
				stream("/Type /ObjStm /N 1000000000 /First 2000000000 /Filter /FlateDecode", bomb)), readOrNot},
		"a bomb of widths": {
			hello("", "", "<< /Type /Font /Subtype /Type0 /DescendantFonts [7 0 R] /Encoding /Identity-H >>",
				"<< /Type /Font /Subtype /CIDFontType2 /W [0 4294967295 500] >>"), readOrNot},
		"a map of all characters": {
			file("", catalog, onePage, fmt.Sprintf(pageDict, ""), stream("", page(text{50, 700, 12, "Hello."})),
				"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 6 0 R >>",
				stream("", "begincmap 100 beginbfrange "+strings.Repeat("<00000000> <FFFFFFFF> <0041> ",
					100)+"endbfrange endcmap")), readOrNot},
		"much more text than a page can hold": {hello("", strings.Repeat("BT /F1 1 Tf ("+strings.Repeat("x",
			1000)+") Tj ET\n", 2_000)), readOrNot},
		"random bytes": {append([]byte("%PDF-1.7\n"), random(1<<20)...), broken},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := e.Extract(t.Context(), of(c.file))
			if code := codeOf(t, err); !slices.Contains(c.may, code) {
				t.Errorf("%q (%v), want one of %q; read: %.300v", code, err, c.may, out)
			}
			if now, peak := e.Memory(); now != 0 || peak > most {
				t.Errorf("%d bytes are held, %d were; at most %d", now, peak, most)
			}
		})
	}
	if out, err := e.Extract(t.Context(), of(hello("", ""))); err != nil || out.Sections[0].Text != "Hello." {
		t.Errorf("after all that: %+v, %v", out, err)
	}
}

var (
	broken    = []port.FileCode{port.FileBroken}
	readOrNot = []port.FileCode{"", port.FileBroken, port.FileNoText, port.FileTooLarge}
)

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(b) // it never fails
	return b
}

// TestTime checks that a page that would take years is given up when its time is over, or
// when its caller is gone, and that its memory comes back.
func TestTime(t *testing.T) {
	years := of(laughs(20))
	t.Run("limit", func(t *testing.T) {
		e := limited(t, pdf.Settings{Limits: limits(func(l *extract.Limits) { l.Time = time.Second })})
		if _, err := e.Extract(t.Context(), years); codeOf(t, err) != port.FileTimeout {
			t.Errorf("%v, want a timeout", err)
		}
		if now, _ := e.Memory(); now != 0 {
			t.Errorf("%d bytes are held", now)
		}
	})
	t.Run("caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for now := int64(0); now == 0; now, _ = shared.Memory() { // until the file is being read
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		if _, err := shared.Extract(ctx, years); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
		if now, _ := shared.Memory(); now != 0 {
			t.Errorf("%d bytes are held", now)
		}
	})
	t.Run("beside others", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var stuck sync.WaitGroup
		stuck.Go(func() { _, _ = shared.Extract(ctx, years) })
		for range 3 {
			if out, err := shared.Extract(t.Context(), of(hello("", ""))); err != nil || out.Sections[0].Text != "Hello." {
				t.Errorf("%+v, %v", out, err)
			}
		}
		cancel()
		stuck.Wait()
	})
}

// TestTooLarge checks the limits of memory, text and pages.
func TestTooLarge(t *testing.T) {
	var many string
	for i := range 100 {
		many += page(text{50, 10 + 7*float64(i), 5, strings.Repeat("many words ", 15)})
	}
	for name, c := range map[string]struct {
		settings pdf.Settings
		file     []byte
	}{
		"memory": {pdf.Settings{MemoryMB: 24}, append(hello("", ""), make([]byte, 24<<20)...)},
		"text":   {pdf.Settings{Limits: limits(func(l *extract.Limits) { l.Text = 10_000 })}, pages("", "", many)},
		"text of all pages": {
			pdf.Settings{Limits: limits(func(l *extract.Limits) { l.Text = 30_000 })}, pages("", "", many, many)},
		"pages": {pdf.Settings{}, file("", catalog, "<< /Type /Pages /Kids ["+strings.Repeat("3 0 R ",
			20_001)+"] /Count 20001 >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>")},
	} {
		t.Run(name, func(t *testing.T) {
			e := limited(t, c.settings)
			if out, err := e.Extract(t.Context(), of(c.file)); codeOf(t, err) != port.FileTooLarge {
				t.Errorf("%v, want too_large; %d sections", err, len(out.Sections))
			}
			if now, _ := e.Memory(); now != 0 {
				t.Errorf("%d bytes are held", now)
			}
		})
	}
}

// TestClosed checks an extractor that is closed before and after its first file, and once more.
func TestClosed(t *testing.T) {
	for _, read := range []bool{false, true} {
		e := pdf.New(pdf.Settings{CacheDir: cacheDir()})
		if read {
			if _, err := e.Extract(t.Context(), of(hello("", ""))); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := e.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := e.Extract(t.Context(), of(hello("", ""))); fault.CodeOf(err) != fault.Internal {
				t.Errorf("%v from a closed extractor", err)
			}
		}
	}
}

// TestCompiledCodeIsKept checks that the cache folder is used.
func TestCompiledCodeIsKept(t *testing.T) {
	if _, err := shared.Extract(t.Context(), of(hello("", ""))); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(cacheDir(), "wazero-*", "*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("nothing is kept in %s: %v", cacheDir(), err)
	}
}

// FuzzExtract reads anything: it ends, in bounded memory, with text or a reason. Time is
// one: a few bytes may make forms inside forms.
func FuzzExtract(f *testing.F) {
	e := pdf.New(pdf.Settings{CacheDir: cacheDir(), Limits: limits(func(l *extract.Limits) { l.Time = 3 * time.Second })})
	f.Cleanup(func() { _ = e.Close(context.Background()) })
	for _, name := range []string{"letter.pdf", "scan.pdf", "encrypted.pdf"} {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add(hello("", ""))
	f.Add(laughs(3))
	f.Add(xrefStream("/Size 3 /W [1 2 1]"))
	f.Fuzz(func(t *testing.T, content []byte) {
		out, err := e.Extract(t.Context(), of(content))
		if code := codeOf(t, err); code == "" && len(out.Sections) == 0 {
			t.Error("there is neither text nor a reason")
		}
		if now, _ := e.Memory(); now != 0 {
			t.Errorf("%d bytes are held", now)
		}
	})
}
