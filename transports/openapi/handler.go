package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
)

// Handlers serve the document by mux pattern, to anyone and with an ETag:
// /openapi.json and /openapi.yaml.
func (d *Document) Handlers() (map[string]http.Handler, error) {
	asJSON, err := d.JSON()
	if err != nil {
		return nil, err
	}
	asYAML, err := d.YAML()
	if err != nil {
		return nil, err
	}
	return map[string]http.Handler{
		"GET /openapi.json": serve("application/json", asJSON),
		"GET /openapi.yaml": serve("application/yaml", asYAML),
	}, nil
}

func serve(contentType string, body []byte) http.Handler {
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Type", contentType)
		head.Set("Cache-Control", "no-cache")
		head.Set("ETag", tag)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Access-Control-Allow-Origin", "*") // it is public, and editors in browsers read it
		if strings.Contains(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(body) // a client that is gone needs no answer
	})
}
