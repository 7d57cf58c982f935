package importer

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Bar shows an import's progress: on a terminal a bar with share, rate and time
// left that is drawn in place, elsewhere a line every few seconds.
type Bar struct {
	mu       sync.Mutex
	out      io.Writer
	bar      *progressbar.ProgressBar // nil: lines
	every    time.Duration
	next     time.Duration
	finished bool
}

// NewBar makes a Bar on a writer, commonly standard error.
func NewBar(out io.Writer, terminal bool) *Bar {
	b := &Bar{out: out, every: 5 * time.Second, next: 5 * time.Second}
	if terminal {
		b.bar = progressbar.NewOptions64(1,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetWidth(28),
			progressbar.OptionSetTheme(progressbar.Theme{
				Saucer:        "=",
				SaucerHead:    ">",
				SaucerPadding: " ",
				BarStart:      "[",
				BarEnd:        "]",
			}),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false), // Progress.Left knows what was skipped
			progressbar.OptionClearOnFinish(),
		)
	}
	return b
}

// Update shows a Progress; an Importer's OnProgress.
func (b *Bar) Update(p Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished {
		return
	}
	if b.bar == nil {
		if p.Elapsed >= b.next {
			b.next = p.Elapsed + b.every
			fmt.Fprintf(b.out, "import: %s\n", line(p))
		}
		return
	}
	b.bar.ChangeMax64(max(p.BytesTotal, 1))
	b.bar.Describe(line(p))
	// Finish draws the end; a terminal that is gone is no failure of the import
	_ = b.bar.Set64(min(p.BytesDone, max(p.BytesTotal-1, 0)))
}

// Problem shows one above the bar; an Importer's OnProblem.
func (b *Bar) Problem(p *Problem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil && !b.finished {
		_ = b.bar.Clear()
	}
	fmt.Fprintf(b.out, "not imported: %v\n", p)
}

// Finish takes the bar away and writes the summary.
func (b *Bar) Finish(p Progress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.finished {
		return
	}
	b.finished = true
	if b.bar != nil {
		_ = b.bar.Clear()
	}
	fmt.Fprintf(b.out, "import: %s\n", Summary(p))
}

// Summary is what an import did, in a line.
func Summary(p Progress) string {
	s := fmt.Sprintf("%s documents (%s new or changed, %s unchanged, %s chunks) from %s of %s files in %s, %.0f documents/s",
		thousands(p.Documents()), thousands(p.Written), thousands(p.Unchanged), thousands(p.Chunks),
		thousands(p.Files), thousands(p.FilesTotal), p.Elapsed.Round(10*time.Millisecond), p.Rate())
	if p.Skipped > 0 {
		s += fmt.Sprintf("; %s files unchanged since an earlier import", thousands(p.Skipped))
	}
	if p.FailedBefore > 0 {
		s += fmt.Sprintf(", in which %s records were not imported then", thousands(p.FailedBefore))
	}
	if p.Failed > 0 {
		s += fmt.Sprintf("; %s not imported", thousands(p.Failed))
	}
	if len(p.Stale) > 0 {
		s += fmt.Sprintf("; %d documents of files that became shorter remain", len(p.Stale))
	}
	return s
}

func line(p Progress) string {
	s := fmt.Sprintf("%s documents, %s of %s", thousands(p.Documents()), size(p.BytesDone), size(p.BytesTotal))
	if p.BytesTotal > 0 {
		s += fmt.Sprintf(" (%d%%)", p.BytesDone*100/p.BytesTotal)
	}
	s += fmt.Sprintf(", %.0f/s", p.Rate())
	if left, ok := p.Left(); ok {
		s += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	if p.Failed > 0 {
		s += fmt.Sprintf(", %s not imported", thousands(p.Failed))
	}
	return s
}

func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
