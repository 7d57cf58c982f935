package office

import (
	"bytes"
	"context"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// Media types of what is read here.
const (
	docxType     = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	pptxType     = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	xlsxType     = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	odtType      = "application/vnd.oasis.opendocument.text"
	epubType     = "application/epub+zip"
	compoundType = "application/x-ole-storage"
)

// Extractor reads documents of office programs.
type Extractor struct{ limits extract.Limits }

// New makes an Extractor.
func New(l extract.Limits) *Extractor { return &Extractor{l} }

// Formats implements port.Extractor.
func (*Extractor) Formats() []port.Format {
	return []port.Format{
		{MediaType: docxType, Name: "DOCX", Extensions: []string{".docx", ".docm"}},
		{MediaType: pptxType, Name: "PPTX", Extensions: []string{".pptx", ".pptm"}},
		{MediaType: xlsxType, Name: "XLSX", Extensions: []string{".xlsx", ".xlsm"}},
		{MediaType: odtType, Name: "ODT", Extensions: []string{".odt"}},
		{MediaType: epubType, Name: "EPUB", Extensions: []string{".epub"}},
	}
}

// protected begins what office programs write when a password is set, and names the stream
// in it (MS-OFFCRYPTO, 2.3).
var (
	protected = []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
	stream    = []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00")
)

// Extract implements port.Extractor.
func (e *Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	if bytes.HasPrefix(f.Content, protected) {
		if bytes.Contains(f.Content, stream) {
			return port.Extracted{}, encryptedFile()
		}
		return port.Extracted{}, port.FileErrorf(port.FileUnsupported, nil,
			"is of a format that office programs wrote before 2007; save it as a newer one")
	}
	a, err := open(ctx, f.Content, e.limits)
	if err != nil {
		return port.Extracted{}, err
	}
	var x port.Extracted
	w := &writer{most: e.limits.Text}
	switch f.MediaType {
	case docxType:
		err = a.docx(w, &x)
	case pptxType:
		err = a.pptx(w, &x)
	case xlsxType:
		err = a.xlsx(w, &x, f.Content)
	case odtType:
		err = a.odt(w, &x)
	case epubType:
		err = a.epub(w, &x)
	default:
		err = port.FileErrorf(port.FileUnsupported, nil, "is of the kind %s, which no office program writes", f.MediaType)
	}
	if err != nil {
		return port.Extracted{}, err
	}
	w.paragraph(0, 0)
	w.flush()
	if len(w.sections) == 0 {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	x.Sections = w.sections
	return x, nil
}

// full is the error of a text that is longer than is taken; nil while it is not.
func (w *writer) full() error { return w.long(0) }

// long is full, with so many bytes to come.
func (w *writer) long(more int) error {
	if w.size+w.line.Len()+more > w.most {
		return port.FileErrorf(port.FileTooLarge, nil, "holds more than %d bytes of text", w.most)
	}
	return nil
}

var _ port.Extractor = (*Extractor)(nil)
