package reference

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/swaggest/swgui/v5/static"
)

//go:embed page
var page embed.FS

// policy lets the page load and call nothing but this server. Swagger UI's
// stylesheet holds its icons as data.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a file of the page.
type asset struct {
	contentType string
	body        []byte
	zipped      bool // body is gzipped
	tag         string
}

// Handlers serve the page and its files by mux pattern, /docs and what lies below, and for
// a browser that comes without a path one that leads there.
func Handlers() (map[string]http.Handler, error) {
	const text = "; charset=utf-8"
	out := map[string]http.Handler{}
	for _, f := range []struct {
		at          string
		from        fs.FS
		name        string
		contentType string
	}{
		{"/{$}", page, "page/start.html", "text/html" + text},
		{"/docs", page, "page/index.html", "text/html" + text},
		{"/docs/page.css", page, "page/page.css", "text/css" + text},
		{"/docs/page.js", page, "page/page.js", "text/javascript" + text},
		{"/docs/swagger-ui.css", static.FS, "swagger-ui.css.gz", "text/css" + text},
		{"/docs/swagger-ui.js", static.FS, "swagger-ui-bundle.js.gz", "text/javascript" + text},
		{"/docs/favicon.png", static.FS, "favicon-32x32.png", "image/png"},
	} {
		body, err := fs.ReadFile(f.from, f.name)
		if err != nil {
			return nil, fmt.Errorf("reference page: %w", err)
		}
		sum := sha256.Sum256(body)
		out["GET "+f.at] = asset{f.contentType, body, strings.HasSuffix(f.name, ".gz"), `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return out, nil
}

// ServeHTTP implements http.Handler.
func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Type", a.contentType)
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-cache") // kept, but asked for by ETag: another version has other files
	head.Set("ETag", a.tag)
	if a.zipped {
		head.Set("Vary", "Accept-Encoding")
	}
	if strings.Contains(r.Header.Get("If-None-Match"), a.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := io.Reader(bytes.NewReader(a.body))
	if a.zipped && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		head.Set("Content-Encoding", "gzip")
	} else if a.zipped {
		z, err := gzip.NewReader(body)
		if err != nil { // it is embedded: a mistake in the build
			panic(fmt.Errorf("reference page: %w", err))
		}
		body = z
	}
	if r.Method != http.MethodHead {
		_, _ = io.Copy(w, body) // a client that is gone needs no answer
	}
}
