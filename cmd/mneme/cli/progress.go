package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows stages one after another: a bar with rate and time left on a
// terminal, a line a stage elsewhere.
type progress struct {
	w     io.Writer
	tty   bool
	stage string
	bar   *progressbar.ProgressBar
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, tty: ok && term.IsTerminal(int(f.Fd()))}
}

// update says how far a stage is. Not for concurrent use.
func (p *progress) update(stage string, done, total int) {
	if stage != p.stage {
		p.end()
		p.stage = stage
		if !p.tty {
			fmt.Fprintf(p.w, "%s: %d\n", stage, total)
			return
		}
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(stage),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	if p.bar != nil {
		_ = p.bar.Set(done) // a failed write to the terminal is nothing to stop for
	}
}

// count is update of a stage of which nobody knows how much there is.
func (p *progress) count(stage string, done int) {
	if stage != p.stage {
		p.end()
		p.stage = stage
		if !p.tty {
			fmt.Fprintln(p.w, stage)
			return
		}
		p.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(stage),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	if p.bar != nil {
		_ = p.bar.Set(done) // as above
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
	p.stage = ""
}
