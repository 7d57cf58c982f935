package subtitle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/asticode/go-astisub"

	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/port"
)

const (
	srtType = "application/x-subrip"
	vttType = "text/vtt"
)

// A paragraph ends with a pause, or once it is long.
const (
	pause = 2 * time.Second
	long  = time.Minute
)

// Extractor reads subtitles.
type Extractor struct{}

// New makes an Extractor.
func New() *Extractor { return &Extractor{} }

// Formats implements port.Extractor.
func (*Extractor) Formats() []port.Format {
	return []port.Format{
		{MediaType: srtType, Name: "SubRip", Extensions: []string{".srt"}},
		{MediaType: vttType, Name: "WebVTT", Extensions: []string{".vtt"}},
	}
}

// Extract implements port.Extractor.
func (*Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	content, err := text.Decode(f.Content, f.Charset)
	if err != nil {
		return port.Extracted{}, err
	}
	read := astisub.ReadFromSRT
	if f.MediaType == vttType {
		read = astisub.ReadFromWebVTT
	}
	subs, err := read(strings.NewReader(content))
	if err != nil {
		return port.Extracted{}, port.FileErrorf(port.FileBroken, err, "is no file of subtitles: %v", err)
	}
	var out, cur strings.Builder
	var began, ended time.Duration
	flush := func() {
		if s := strings.Join(strings.Fields(cur.String()), " "); s != "" {
			at := began.Truncate(time.Second)
			fmt.Fprintf(&out, "[%02d:%02d:%02d] %s\n\n", int(at.Hours()), int(at.Minutes())%60, int(at.Seconds())%60, s)
		}
		cur.Reset()
	}
	for _, item := range subs.Items {
		if cur.Len() > 0 && (item.StartAt-ended > pause || item.StartAt-began > long) {
			flush()
		}
		if cur.Len() == 0 {
			began = item.StartAt
		}
		for _, l := range item.Lines {
			if cur.WriteByte(' '); l.VoiceName != "" {
				cur.WriteString(l.VoiceName + ": ")
			}
			cur.WriteString(l.String())
		}
		ended = item.EndAt
	}
	flush()
	if out.Len() == 0 {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	return port.Extracted{Sections: []port.Section{{Text: strings.TrimSpace(out.String())}}}, nil
}

var _ port.Extractor = (*Extractor)(nil)
