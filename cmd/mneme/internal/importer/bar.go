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
	notUTF8  bool // a problem was that
	retry    string
	retried  time.Time
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
			fmt.Fprintf(b.out, "import: %s\n", line(p, true))
		}
		return
	}
	b.bar.ChangeMax64(max(p.BytesTotal, 1))
	b.bar.Describe(line(p, false))
	// Finish draws the end; a terminal that is gone is no failure of the import
	_ = b.bar.Set64(min(p.BytesDone, max(p.BytesTotal-1, 0)))
}

// Problem shows one above the bar; an Importer's OnProblem.
func (b *Bar) Problem(p *Problem) {
	b.mu.Lock()
	b.notUTF8 = b.notUTF8 || p.NotUTF8()
	b.mu.Unlock()
	b.above("not imported: " + p.Error())
}

// Known shows a problem of an earlier run; an Importer's OnKnown.
func (b *Bar) Known(problem string) { b.above("not imported, and not changed since: " + problem) }

// Retry shows why an import waits; an Importer's OnRetry. Batches that wait for
// the same reason tell it once in a while.
func (b *Bar) Retry(err error, wait time.Duration) {
	why := err.Error()
	b.mu.Lock()
	told := why == b.retry && time.Since(b.retried) < 10*time.Second
	if !told {
		b.retry, b.retried = why, time.Now()
	}
	b.mu.Unlock()
	if !told {
		b.above(fmt.Sprintf("cannot write, trying again in %s: %s", max(wait, time.Second).Round(time.Second), why))
	}
}

func (b *Bar) above(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil && !b.finished {
		_ = b.bar.Clear()
	}
	fmt.Fprintln(b.out, line)
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
	if b.notUTF8 {
		fmt.Fprintln(b.out, "text that is not UTF-8 is read when its encoding is named, such as --encoding windows-1252 "+
			"(Western Europe) or shift_jis")
	}
}

// Summary is what an import did, in a line.
func Summary(p Progress) string {
	s := fmt.Sprintf("%s (%s new or changed, %s unchanged, %s) from %s of %s in %s, %s",
		count(p.Documents(), "document"), thousands(p.Written), thousands(p.Unchanged), count(p.Chunks, "chunk"),
		thousands(p.Files), count(p.FilesTotal, "file"), p.Elapsed.Round(10*time.Millisecond), rate(p, "document"))
	if p.Skipped > 0 {
		s += fmt.Sprintf("; %s unchanged since an earlier import", count(p.Skipped, "file"))
	}
	if p.FailedBefore > 0 {
		s += fmt.Sprintf(", in which %s not imported then", were(p.FailedBefore, "record"))
	}
	if p.Failed > 0 {
		s += fmt.Sprintf("; %s not imported", thousands(p.Failed))
	}
	if len(p.Stale) > 0 {
		s += fmt.Sprintf("; %s of files that became shorter remain", count(len(p.Stale), "document"))
	}
	return s
}

func line(p Progress, share bool) string {
	s := fmt.Sprintf("%s, %s of %s", count(p.Documents(), "document"), size(p.BytesDone), size(p.BytesTotal))
	if share && p.BytesTotal > 0 {
		s += fmt.Sprintf(" (%d%%)", p.BytesDone*100/p.BytesTotal)
	}
	s += ", " + rate(p, "")
	if left, ok := p.Left(); ok {
		s += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	if p.Failed > 0 {
		s += fmt.Sprintf(", %s not imported", thousands(p.Failed))
	}
	return s
}

// rate is documents a second, or a minute where that is less than one.
func rate(p Progress, noun string) string {
	each, unit := p.Rate(), "s"
	if each > 0 && each < 1 {
		each, unit = each*60, "min"
	}
	s := fmt.Sprintf("%.0f", each)
	if each > 0 && each < 10 {
		s = fmt.Sprintf("%.1f", each)
	}
	if noun != "" {
		s += " " + noun + "s"
	}
	return s + "/" + unit
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return thousands(n) + " " + noun
}

func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return count(n, noun) + " were"
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
