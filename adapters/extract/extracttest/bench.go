package extracttest

import (
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// Bench measures how an extractor reads files: bytes of text that come out a second, and what is
// allocated to get there, which is at least what is held at once.
func Bench(b *testing.B, e port.Extractor, files ...port.File) {
	for _, f := range files {
		b.Run(f.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				out, err := e.Extract(b.Context(), f)
				if err != nil {
					b.Fatal(err)
				}
				size := 0
				for _, s := range out.Sections {
					size += len(s.Text)
				}
				b.SetBytes(int64(size))
			}
			b.ReportMetric(float64(len(f.Content))/(1<<20), "MB/file")
		})
	}
}
