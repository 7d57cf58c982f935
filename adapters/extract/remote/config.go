package remote

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/net/http/httpguts"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's part, of either server.
type Config struct {
	URL         string                     `yaml:"url" help:"address of the server, e.g. http://127.0.0.1:9998"`
	Timeout     time.Duration              `yaml:"timeout" help:"how long it may read one file, 1s to 5m; recognising the text of scanned pages takes seconds a page"`
	Concurrency int                        `yaml:"concurrency" help:"files that it reads at once, 1 to 64"`
	MediaTypes  []string                   `yaml:"media_types" help:"what it is sent, where nothing in this process reads it or finds text in it"`
	Headers     map[string]registry.Secret `yaml:"headers" help:"more headers for every call, by name, such as X-Api-Key for docling-serve"`
}

// pictures hold text for who can recognise it.
var pictures = []string{"image/png", "image/jpeg", "image/tiff", "image/webp", "image/bmp"}

// DefaultTika is for a server with all of its parsers.
func DefaultTika() Config {
	return Config{Timeout: time.Minute, Concurrency: 4, MediaTypes: append([]string{
		"text/rtf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
		"application/vnd.ms-outlook",
		"application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.presentation",
		"application/x-mobipocket-ebook", "application/pdf",
	}, pictures...)}
}

// DefaultDocling is for scans.
func DefaultDocling() Config {
	return Config{Timeout: 2 * time.Minute, Concurrency: 2, MediaTypes: append([]string{"application/pdf"}, pictures...)}
}

// reserved are the headers that a call sets itself.
var reserved = []string{"Accept", "Content-Type", "Content-Disposition", "Content-Length", "Host"}

// Validate reports every setting that cannot work.
func (c Config) Validate() error {
	var problems []error
	check := func(ok bool, path, format string, args ...any) {
		if !ok {
			problems = append(problems, &registry.Invalid{Path: path, Reason: fmt.Sprintf(format, args...)})
		}
	}
	u, err := url.Parse(c.URL)
	check(err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", "url", "must be an http or https address")
	if err == nil {
		check(u.User == nil && u.RawQuery == "" && u.Fragment == "", "url",
			"must have no user, query or fragment; headers take keys")
	}
	check(c.Timeout >= time.Second && c.Timeout <= 5*time.Minute, "timeout", "must be between 1s and 5m")
	check(c.Concurrency >= 1 && c.Concurrency <= 64, "concurrency", "must be 1-64")
	check(len(c.MediaTypes) > 0, "media_types", "must name what the server is sent")
	for i, media := range c.MediaTypes {
		path := fmt.Sprintf("media_types[%d]", i)
		check(mimetype.Lookup(media) != nil, path, "%q is no type that files are recognised as", media)
		check(!slices.Contains(c.MediaTypes[:i], media), path, "%q is named twice", media)
	}
	for name, value := range c.Headers {
		path := "headers." + name
		check(httpguts.ValidHeaderFieldName(name), path, "is not a header's name")
		check(!slices.ContainsFunc(reserved, func(r string) bool { return strings.EqualFold(r, name) }), path,
			"is set by the call itself")
		check(httpguts.ValidHeaderFieldValue(value.Reveal()), path, "has a value that no header may have")
	}
	return errors.Join(problems...)
}

// names are what people call formats; of others they get the media type.
var names = map[string]string{
	"text/rtf": "RTF", "application/msword": "DOC", "application/vnd.ms-excel": "XLS", "application/vnd.ms-powerpoint": "PPT",
	"application/vnd.ms-outlook": "Outlook message", "application/vnd.oasis.opendocument.spreadsheet": "ODS",
	"application/vnd.oasis.opendocument.presentation": "ODP", "application/x-mobipocket-ebook": "MOBI",
	"application/pdf": "PDF",
	"image/png":       "PNG", "image/jpeg": "JPEG", "image/tiff": "TIFF", "image/webp": "WebP", "image/bmp": "BMP",
}

// more are the extensions that files have, too.
var more = map[string][]string{"image/jpeg": {".jpeg"}, "image/tiff": {".tif"}}

func (c Config) formats() []port.Format {
	out := make([]port.Format, len(c.MediaTypes))
	for i, media := range c.MediaTypes {
		out[i] = port.Format{MediaType: media, Name: names[media]}
		if out[i].Name == "" {
			out[i].Name = media
		}
		if ext := mimetype.Lookup(media).Extension(); ext != "" {
			out[i].Extensions = append([]string{ext}, more[media]...)
		}
	}
	return out
}

func (c Config) header() http.Header {
	h := http.Header{}
	for name, value := range c.Headers {
		h.Set(name, value.Reveal())
	}
	return h
}
