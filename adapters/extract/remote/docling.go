package remote

import (
	"bytes"
	"context"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
)

// OpenDocling makes an extractor over docling-serve.
func OpenDocling(c Config, l extract.Limits, log *slog.Logger) (*Extractor, error) {
	e, err := open(c, l, log)
	if err != nil {
		return nil, err
	}
	e.exchange = e.docling
	return e, nil
}

// docling has a file read by way of POST /v1/convert/file. Pages are left out: the marks
// between them are missing where one holds nothing, so that counting them would name wrong ones.
func (e *Extractor) docling(ctx context.Context, f port.File) (port.Extracted, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, field := range [][2]string{
		{"to_formats", "md"}, {"image_export_mode", "placeholder"}, {"include_images", "false"},
		{"document_timeout", strconv.Itoa(int(e.config.Timeout.Seconds()))},
	} {
		if err := w.WriteField(field[0], field[1]); err != nil {
			return port.Extracted{}, err
		}
	}
	name := path.Base(f.Name)
	if f.Name == "" { // it goes by the extension
		name = "file"
	}
	if i := e.extension(f.MediaType); i != "" && path.Ext(name) == "" {
		name += i
	}
	part, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {multipart.FileContentDisposition("files", name)}, "Content-Type": {f.MediaType},
	})
	if err != nil {
		return port.Extracted{}, err
	}
	if _, err := part.Write(f.Content); err != nil {
		return port.Extracted{}, err
	}
	if err := w.Close(); err != nil {
		return port.Extracted{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/v1/convert/file", &body)
	if err != nil {
		return port.Extracted{}, err
	}
	r.Header.Set("Content-Type", w.FormDataContentType())
	var answer struct {
		Document struct {
			Markdown string `json:"md_content"`
		} `json:"document"`
		Status string `json:"status"`
		Errors []struct {
			Message string `json:"error_message"`
		} `json:"errors"`
	}
	if err := e.post(r, &answer); err != nil {
		return port.Extracted{}, err
	}
	text := strings.TrimSpace(strings.ReplaceAll(answer.Document.Markdown, "<!-- image -->", ""))
	switch answer.Status {
	case "success", "partial_success":
		if text == "" {
			return port.Extracted{}, noText()
		}
		x := port.Extracted{Title: extract.Heading(text), Sections: []port.Section{{Text: text}}}
		if answer.Status != "success" {
			x.Metadata = map[string]any{"partial": true} // pages are missing
		}
		return x, nil
	case "skipped":
		return port.Extracted{}, port.FileErrorf(port.FileUnsupported, nil, "is not read by the server for files of this kind")
	case "failure":
		why := make([]string, len(answer.Errors))
		for i, err := range answer.Errors {
			why[i] = err.Message
		}
		return port.Extracted{}, broken(cause(why))
	}
	return port.Extracted{}, e.failed(cause{"status " + answer.Status}, "answered nonsense")
}

func (e *Extractor) extension(media string) string {
	for _, f := range e.formats {
		if f.MediaType == media && len(f.Extensions) > 0 {
			return f.Extensions[0]
		}
	}
	return ""
}

// cause is what a server says of a failure.
type cause []string

func (c cause) Error() string { return strings.Join(c, "; ") }
