package markup

import (
	"context"
	"fmt"
	"strings"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/text"
	"github.com/mnemehq/mneme/core/port"
)

// Extractor reads Markdown and HTML.
type Extractor struct{}

// New makes an Extractor.
func New() *Extractor { return &Extractor{} }

const (
	// MarkdownType is the media type of Markdown (RFC 7763).
	MarkdownType = "text/markdown"
	// HTMLType is the media type of HTML.
	HTMLType = "text/html"
)

// Formats implements port.Extractor.
func (*Extractor) Formats() []port.Format {
	return []port.Format{
		{MediaType: MarkdownType, Name: "Markdown", Extensions: []string{".md", ".markdown"}},
		{MediaType: HTMLType, Name: "HTML", Extensions: []string{".html", ".htm", ".xhtml"}},
	}
}

// Extract implements port.Extractor.
func (*Extractor) Extract(ctx context.Context, f port.File) (port.Extracted, error) {
	if err := ctx.Err(); err != nil {
		return port.Extracted{}, err
	}
	var x port.Extracted
	var body string
	var err error
	switch f.MediaType {
	case HTMLType:
		if body, x.Title, err = HTML(f.Content, f.Charset); err != nil {
			return x, port.FileErrorf(port.FileBroken, err, "cannot be read as a page: %v", err)
		}
		body = strings.ReplaceAll(body, "\x00", "")
	case MarkdownType:
		if body, err = text.Decode(f.Content, f.Charset); err != nil {
			return x, err
		}
		var front map[string]any
		front, body = frontMatter(body)
		x.Metadata, x.Title = metadata(front), extract.Heading(body)
		if own, ok := x.Metadata["title"]; ok {
			x.Title = fmt.Sprint(own)
			delete(x.Metadata, "title")
		}
	default:
		return x, port.FileErrorf(port.FileUnsupported, nil, "is of the kind %s, which is no markup", f.MediaType)
	}
	if strings.TrimSpace(body) == "" {
		return port.Extracted{}, port.FileErrorf(port.FileNoText, nil, "holds no text")
	}
	x.Sections = []port.Section{{Text: body}}
	return x, nil
}

var _ port.Extractor = (*Extractor)(nil)
