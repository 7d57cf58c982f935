package http_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	mnemehttp "github.com/mnemehq/mneme/transports/http"
)

// library is the service of these tests.
type library struct{ hook func(context.Context) error }

type noteRef struct {
	Shelf string `path:"shelf"`
	ID    string `path:"id"`
}

type note struct {
	Shelf string         `json:"shelf"`
	ID    string         `json:"id"`
	Text  string         `json:"text"`
	Tags  []string       `json:"tags"`
	Extra map[string]int `json:"extra"`
}

type writeNote struct {
	Shelf string   `path:"shelf"`
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	Tags  []string `json:"tags"`
	Size  *int     `json:"size"`
}

func (w *writeNote) Validate() error {
	if w.ID == "" {
		return fault.Field(fault.InvalidID, "id", "is required")
	}
	return nil
}

func (l library) Get(_ context.Context, in noteRef) (note, error) {
	if in.ID == "absent" {
		return note{}, fault.New(fault.DocumentNotFound, "no note %q", in.ID)
	}
	if in.ID == "panic" {
		panic("boom")
	}
	return note{Shelf: in.Shelf, ID: in.ID, Text: "<b>"}, nil
}

func (l library) Write(ctx context.Context, in writeNote) (note, error) {
	if l.hook != nil {
		if err := l.hook(ctx); err != nil {
			return note{}, err
		}
	}
	return note{Shelf: in.Shelf, ID: in.ID, Text: in.Text, Tags: in.Tags}, nil
}

type keys map[string]ident.Principal

func (k keys) Verify(_ context.Context, bearer string, _ op.Family) (ident.Principal, error) {
	p, ok := k[bearer]
	if !ok {
		return p, fault.New(fault.Unauthorized, "the key is not valid")
	}
	return p, nil
}

func serve(t *testing.T, l library, o middleware.Options) http.Handler {
	t.Helper()
	if o.Keys == nil {
		o.Keys = keys{"good": {KeyID: "key_1", Org: "org_1"}, "reader": {KeyID: "key_2", Org: "org_1", ReadOnly: true}}
	}
	set := &op.Set{Chain: middleware.Chain(o), Admit: o.Limits.Admit}
	op.Mount(set, l, []op.Op[library]{
		op.Define(op.Spec{Name: "notes.get", Method: "GET", Path: "/shelves/{shelf}/notes/{id}", Class: op.Read}, library.Get),
		op.Define(op.Spec{Name: "notes.write", Method: "POST", Path: "/shelves/{shelf}/notes", Class: op.Write, MaxBody: 64 << 10, Mutates: true}, library.Write),
		op.Define(op.Spec{Name: "memory.get", Method: "GET", Path: "/api/v1/shelves/{shelf}/notes/{id}", Class: op.Read, Family: op.Memory}, library.Get),
	})
	h, err := mnemehttp.New(mnemehttp.Options{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestThinPath(t *testing.T) {
	srv := httptest.NewServer(serve(t, library{}, middleware.Options{}))
	defer srv.Close()
	for _, c := range []struct {
		name, method, path, key, body string
		status                        int
		want                          string
	}{
		{"read", "GET", "/shelves/a/notes/b", "good", "", 200, `{"shelf":"a","id":"b","text":"<b>","tags":[],"extra":{}}`},
		{"write", "POST", "/shelves/a/notes", "good", `{"id":"x","text":"t"}`, 200, `{"shelf":"a","id":"x","text":"t","tags":[],"extra":{}}`},
		{"no key", "POST", "/shelves/a/notes", "", `{`, 401, `"code":"unauthorized"`},
		{"bad json with key", "POST", "/shelves/a/notes", "good", `{`, 400, `"code":"invalid_json"`},
		{"read-only", "POST", "/shelves/a/notes", "reader", `{`, 403, `"code":"forbidden"`},
		{"absent", "GET", "/shelves/a/notes/absent", "good", "", 404, `"code":"document_not_found"`},
		{"panic", "GET", "/shelves/a/notes/panic", "good", "", 500, `"code":"internal_error"`},
		{"no route", "GET", "/nothing", "", "", 404, `{"error":{"code":"not_found"`},
		{"no memory route", "GET", "/api/v1/nothing", "", "", 404, `"details":{}}`},
		{"method", "DELETE", "/shelves/a/notes", "", "", 405, `"code":"method_not_allowed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req, _ := http.NewRequest(c.method, srv.URL+c.path, strings.NewReader(c.body))
			if c.body != "" {
				req.Header.Set("Content-Type", "application/json")
			}
			if c.key != "" {
				req.Header.Set("Authorization", "Bearer "+c.key)
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			got, _ := io.ReadAll(res.Body)
			if res.StatusCode != c.status || !strings.Contains(string(got), c.want) || !json.Valid(got) {
				t.Errorf("%d %s; want %d with %s", res.StatusCode, got, c.status, c.want)
			}
			if res.Header.Get("X-Request-Id") == "" || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("headers %v", res.Header)
			}
		})
	}
}
