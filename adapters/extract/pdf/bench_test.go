package pdf_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract/pdf"
)

// book is a file of full pages, some 2,900 characters each.
func book(n int) []byte {
	contents := make([]string, n)
	for i := range contents {
		lines := make([]string, 50)
		for j := range lines {
			lines[j] = strings.Repeat(fmt.Sprintf("word %d of line %d ", i, j), 4)
		}
		contents[i] = page(column(20, 780, 8, lines...)...)
	}
	return pages("", "", contents...)
}

func BenchmarkExtract(b *testing.B) {
	const n = 50
	f := of(book(n))
	b.SetBytes(int64(len(f.Content)))
	for b.Loop() {
		out, err := shared.Extract(b.Context(), f)
		if err != nil || len(out.Sections) != n {
			b.Fatal(len(out.Sections), err)
		}
	}
	_, peak := shared.Memory()
	b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(peak)/(1<<20), "MB")
}

// BenchmarkStart reads a first file: with and without compiled code in the cache.
func BenchmarkStart(b *testing.B) {
	f := of(hello("", ""))
	for name, dir := range map[string]func() string{"compile": func() string { return "" }, "cached": cacheDir} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				e := pdf.New(pdf.Settings{CacheDir: dir(), Log: slog.New(slog.DiscardHandler)})
				if _, err := e.Extract(b.Context(), f); err != nil {
					b.Fatal(err)
				}
				if err := e.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
