package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
)

// Handlers serve the document of a Set by mux pattern, to anyone and with an ETag:
// /openapi.json and /openapi.yaml. It is made, and each is written, when it is first asked
// for: that takes longer than the rest of a server's start. The mistakes of New answer 500;
// a program's tests ask for the document.
func Handlers(o Options) map[string]http.Handler {
	document := sync.OnceValues(func() (*Document, error) { return New(o) })
	as := func(contentType string, format func(*Document) ([]byte, error)) http.Handler {
		return serve(contentType, func() ([]byte, error) {
			d, err := document()
			if err != nil {
				return nil, err
			}
			return format(d)
		})
	}
	return map[string]http.Handler{
		"GET /openapi.json": as("application/json", (*Document).JSON),
		"GET /openapi.yaml": as("application/yaml", (*Document).YAML),
	}
}

// rendered is the document in one format.
type rendered struct {
	body []byte
	tag  string
}

func serve(contentType string, render func() ([]byte, error)) http.Handler {
	document := sync.OnceValues(func() (rendered, error) {
		body, err := render()
		sum := sha256.Sum256(body)
		return rendered{body, `"` + hex.EncodeToString(sum[:8]) + `"`}, err
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d, err := document()
		if err != nil {
			http.Error(w, "the document cannot be written", http.StatusInternalServerError)
			return
		}
		head := w.Header()
		head.Set("Content-Type", contentType)
		head.Set("Cache-Control", "no-cache")
		head.Set("ETag", d.tag)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Access-Control-Allow-Origin", "*") // it is public, and editors in browsers read it
		if strings.Contains(r.Header.Get("If-None-Match"), d.tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(d.body) // a client that is gone needs no answer
	})
}
