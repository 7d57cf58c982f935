package pdf

import (
	"context"
	"errors"
	"log/slog"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// MediaType is that of PDF files.
const MediaType = "application/pdf"

// Settings configure an Extractor. The zero value is usable.
type Settings struct {
	CacheDir string         // keeps PDFium compiled between starts; "": it is not kept
	MemoryMB int            // that PDFium may take for a file, the file itself included; 0: 512
	Limits   extract.Limits // zero: extract.DefaultLimits
	Log      *slog.Logger   // nil: slog.Default()
}

// Extractor reads PDF files. It holds a compiled PDFium from the first file until Close.
type Extractor struct {
	sandbox *sandbox
	limits  extract.Limits
}

// New makes an Extractor.
func New(s Settings) *Extractor {
	if s.MemoryMB <= 0 {
		s.MemoryMB = 512
	}
	if s.Limits == (extract.Limits{}) {
		s.Limits = extract.DefaultLimits()
	}
	if s.Log == nil {
		s.Log = slog.Default()
	}
	return &Extractor{sandbox: newSandbox(s.CacheDir, int64(min(s.MemoryMB, 4096))<<20, s.Log), limits: s.Limits}
}

// Formats implements port.Extractor.
func (e *Extractor) Formats() []port.Format {
	return []port.Format{{MediaType: MediaType, Name: "PDF", Extensions: []string{".pdf"}}}
}

// Prepare implements extract.Preparer: PDFium is compiled before its first file, which takes seconds of
// a processor unless it was kept, and nothing of a file's time.
func (e *Extractor) Prepare(ctx context.Context) { e.sandbox.prepare(ctx) }

// Extract implements port.Extractor.
func (e *Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	e.Prepare(ctx)
	limited, cancel := context.WithTimeout(ctx, e.limits.Time)
	defer cancel()
	d, full, err := e.read(limited, f.Content)
	switch {
	case err == nil:
		return d.extracted(e.limits.Text)
	case ctx.Err() != nil:
		return port.Extracted{}, ctx.Err()
	case limited.Err() != nil:
		return port.Extracted{}, port.FileErrorf(port.FileTimeout, err, "took longer than %s to read", e.limits.Time)
	case full:
		return port.Extracted{}, port.FileErrorf(port.FileTooLarge, err, "takes more than %d MB of memory to read",
			e.sandbox.memory>>20)
	}
	return port.Extracted{}, refusal(err)
}

// read reads a file in an instance of its own. It also says whether the instance ran out
// of memory.
func (e *Extractor) read(ctx context.Context, content []byte) (d *document, full bool, err error) {
	in, err := e.sandbox.open(ctx)
	if err != nil {
		return nil, false, fault.Wrap(fault.Internal, "pdf.Extract", err, "PDF files cannot be read at the moment")
	}
	defer in.close()
	r := &reader{instance: in, ctx: ctx, text: e.limits.Text}
	d, err = r.read(content)
	return d, in.memory.full, err
}

// refusal is why PDFium does not read a file.
func refusal(err error) error {
	var why *port.FileError
	var own *fault.Error
	switch {
	case errors.As(err, &why):
		return why
	case errors.As(err, &own):
		return own
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return port.FileErrorf(port.FileEncrypted, err, "is encrypted; a password is needed to read it")
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return port.FileErrorf(port.FileEncrypted, err, "is encrypted in a way that is not read here")
	}
	return port.FileErrorf(port.FileBroken, err, "is no PDF that can be read")
}

// Memory is what PDFium holds for the files that are being read, and the most that it held
// at once, in bytes.
func (e *Extractor) Memory() (now, peak int64) { return e.sandbox.live.Load(), e.sandbox.peak.Load() }

// Close waits for the files that are being read and releases PDFium.
func (e *Extractor) Close(ctx context.Context) error { return e.sandbox.close(ctx) }

var (
	_ port.Extractor   = (*Extractor)(nil)
	_ extract.Preparer = (*Extractor)(nil)
)
