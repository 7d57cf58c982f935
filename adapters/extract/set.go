package extract

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Settings configure a Set.
type Settings struct {
	Limits   Limits         // zero: DefaultLimits
	Parallel int            // files that are read at once; 0: 4. An organization has at most half of these places.
	Fallback port.Extractor // reads what no other does; nil: nothing
	Log      *slog.Logger
}

// Set is an Extractor of many formats.
type Set struct {
	limits   Limits
	byType   map[string]entry
	byExt    map[string]string // media type by extension
	formats  []port.Format
	own      place
	there    place // of the fallback
	fallback port.Extractor
	closers  []closer
	sniffers []Sniffer
	log      *slog.Logger
}

// place is where files are read, and for how long at most.
type place struct {
	gate *fair.Gate
	time time.Duration
}

// Elsewhere is an extractor that has files read outside this process, where another time and
// number are right.
type Elsewhere interface {
	// Elsewhere is how long reading a file may take and how many are read at once.
	Elsewhere() (time.Duration, int)
}

// Preparer is an extractor that must be made ready before it reads its first file.
type Preparer interface {
	// Prepare waits until it is ready, or until ctx ends. Where it cannot be made ready, Extract says why.
	Prepare(ctx context.Context)
}

// closer is an extractor that holds something between files.
type closer interface {
	Close(context.Context) error
}

// Sniffer is an extractor that tells files of its formats which nobody has said what they are,
// and which begin like any text.
type Sniffer interface {
	// Sniff is the media type of a text; empty where it is none of the extractor's.
	Sniff(content []byte) string
}

// entry is who reads a media type.
type entry struct {
	port.Extractor
	format port.Format
}

// New makes a Set. It panics when two extractors read one media type, or two formats
// have one extension: both are mistakes in the program.
func New(s Settings, of ...port.Extractor) *Set {
	if s.Limits == (Limits{}) {
		s.Limits = DefaultLimits()
	}
	if s.Parallel <= 0 {
		s.Parallel = 4
	}
	set := &Set{limits: s.Limits, byType: map[string]entry{}, byExt: map[string]string{}, fallback: s.Fallback, log: s.Log}
	set.own = newPlace(s.Limits.Time, s.Parallel)
	if set.there = set.own; s.Fallback != nil {
		if e, ok := s.Fallback.(Elsewhere); ok {
			set.there = newPlace(e.Elsewhere())
		}
		if c, ok := s.Fallback.(closer); ok {
			set.closers = append(set.closers, c)
		}
	}
	for _, e := range of {
		if c, ok := e.(closer); ok {
			set.closers = append(set.closers, c)
		}
		if c, ok := e.(Sniffer); ok {
			set.sniffers = append(set.sniffers, c)
		}
		for _, f := range e.Formats() {
			if _, twice := set.byType[f.MediaType]; twice {
				panic("extract: two extractors read " + f.MediaType)
			}
			set.byType[f.MediaType] = entry{e, f}
			set.formats = append(set.formats, f)
			for _, ext := range f.Extensions {
				if other, twice := set.byExt[ext]; twice {
					panic(fmt.Sprintf("extract: %s and %s have the extension %s", other, f.MediaType, ext))
				}
				set.byExt[ext] = f.MediaType
			}
		}
	}
	if s.Fallback != nil {
		for _, f := range s.Fallback.Formats() {
			if _, known := set.byType[f.MediaType]; !known {
				set.formats = append(set.formats, f)
				for _, ext := range f.Extensions {
					if _, known := set.byExt[ext]; !known {
						set.byExt[ext] = f.MediaType
					}
				}
			}
		}
	}
	slices.SortFunc(set.formats, func(a, b port.Format) int { return strings.Compare(a.MediaType, b.MediaType) })
	return set
}

// queue is how many files wait to be read at most; each is a call that holds its body.
const queue = 256

func newPlace(most time.Duration, parallel int) place {
	return place{fair.NewHalves(parallel, queue, most), most}
}

// Close releases what the set's extractors hold between files.
func (s *Set) Close(ctx context.Context) error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close(ctx))
	}
	return errors.Join(errs...)
}

// Formats lists what the set reads, by media type.
func (s *Set) Formats() []port.Format { return slices.Clone(s.formats) }

// Extract implements port.Extractor for files of any kind. A text that does not begin with
// a heading gets the file's title as one.
func (s *Set) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	switch {
	case len(f.Content) == 0:
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text: it is empty")
	case int64(len(f.Content)) > s.limits.File:
		return port.Extracted{}, port.FileErrorf(port.FileTooLarge, nil, "has %d bytes; at most %d are read",
			len(f.Content), s.limits.File)
	}
	media := s.detect(f)
	e, ok := s.byType[media]
	if !ok {
		return s.extractElsewhere(ctx, f, media)
	}
	f.MediaType = media
	out, err := s.contained(ctx, s.own, e.Extractor, f)
	var why *port.FileError
	if s.fallback != nil && errors.As(err, &why) && (why.Code == port.FileNoText || why.Code == port.FileUnsupported) &&
		s.fallbackReads(media) { // such as the pictures of scanned pages
		return s.contained(ctx, s.there, s.fallback, f)
	}
	if err == nil && out.Format.MediaType == "" {
		out.Format = e.format
	}
	return out, err
}

// extractElsewhere reads what no extractor of this process does.
func (s *Set) extractElsewhere(ctx context.Context, f port.File, media string) (port.Extracted, error) {
	if s.fallback == nil || !s.fallbackReads(media) {
		return port.Extracted{}, port.FileErrorf(port.FileUnsupported, nil,
			"is of the kind %s, which is not read; GET /formats lists those that are", media)
	}
	f.MediaType = media
	return s.contained(ctx, s.there, s.fallback, f)
}

func (s *Set) fallbackReads(media string) bool {
	return slices.ContainsFunc(s.fallback.Formats(), func(f port.Format) bool { return f.MediaType == media })
}

// result is what an extractor gave.
type result struct {
	out port.Extracted
	err error
}

// contained has a file read beside the caller, who waits until the context or the time
// for reading ends. A parser that does not stop then goes on holding its place among
// those that run at once until it does. Places are shared among organizations, since nothing
// can make a parser give way to another's. What an extractor needs once takes neither a file's time
// nor a place.
func (s *Set) contained(ctx context.Context, at place, e port.Extractor, f port.File) (port.Extracted, error) {
	if p, ok := e.(Preparer); ok {
		p.Prepare(ctx)
	}
	leave, err := at.gate.Enter(ctx)
	if ctx.Err() != nil {
		if err == nil {
			leave()
		}
		return port.Extracted{}, ctx.Err()
	}
	if err != nil {
		return port.Extracted{}, fault.Busy("too many files are being read; try again later")
	}
	limited, cancel := context.WithTimeout(ctx, at.time)
	defer cancel()
	done := make(chan result, 1)
	go func() {
		defer leave()
		defer func() {
			if r := recover(); r != nil {
				s.log.WarnContext(ctx, "file made its parser panic", "media_type", f.MediaType, "size", len(f.Content),
					"panic", fmt.Sprint(r), "stack", string(debug.Stack()))
				done <- result{err: port.FileErrorf(port.FileBroken, fmt.Errorf("panic: %v", r), "cannot be read")}
			}
		}()
		out, err := e.Extract(limited, f)
		done <- result{out, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-limited.Done():
		r.err = limited.Err()
	}
	switch {
	case ctx.Err() != nil && r.err != nil:
		return port.Extracted{}, ctx.Err()
	case errors.Is(r.err, context.DeadlineExceeded) && limited.Err() != nil:
		return port.Extracted{}, port.FileErrorf(port.FileTimeout, r.err, "took longer than %s to read", at.time)
	case r.err != nil:
		return port.Extracted{}, r.err
	}
	return s.checked(r.out)
}

// checked holds a result to what port.Section promises.
func (s *Set) checked(out port.Extracted) (port.Extracted, error) {
	sections, size, page := make([]port.Section, 0, len(out.Sections)), 0, 0
	for _, p := range out.Sections {
		p.Text = valid(p.Text)
		if strings.TrimSpace(p.Text) == "" {
			continue
		}
		page = max(page, p.Page)
		if p.Page = page; page > 0 {
			p.Text = strings.ReplaceAll(p.Text, "\f", "\n")
		}
		size += len(p.Text)
		sections = append(sections, p)
	}
	switch {
	case size > s.limits.Text:
		return port.Extracted{}, port.FileErrorf(port.FileTooLarge, nil, "holds %d bytes of text; at most %d are taken",
			size, s.limits.Text)
	case len(sections) == 0:
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	out.Sections, out.Title = sections, strings.Join(strings.Fields(valid(out.Title)), " ")
	if Heading(sections[0].Text) == "" {
		sections[0].Text = WithTitle(out.Title, sections[0].Text)
	}
	return out, nil
}

// valid makes text UTF-8 without NUL.
func valid(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ReplaceAll(text, "\x00", "")
}

var _ port.Extractor = (*Set)(nil)
