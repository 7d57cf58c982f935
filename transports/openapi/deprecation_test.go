package openapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	transport "github.com/mnemehq/mneme/transports/http"
	"github.com/mnemehq/mneme/transports/openapi"
)

type keys struct{}

func (keys) Verify(_ context.Context, bearer string, _ op.Family) (ident.Principal, error) {
	switch bearer {
	case "good":
		return ident.Principal{KeyID: "key_1", Org: "org_1", Kind: ident.Service}, nil
	case "personal":
		return ident.Principal{KeyID: "key_2", Org: "org_1", Kind: ident.Personal}, nil
	}
	return ident.Principal{}, fault.New(fault.Unauthorized, "the key is wrong")
}

type service struct{}

type request struct {
	Fail string `query:"fail" json:"-"`
}

type answer struct {
	Done bool `json:"done"`
}

func (service) Do(_ context.Context, in request) (answer, error) {
	switch in.Fail {
	case "panic":
		panic("boom")
	case "error":
		return answer{}, errors.New("disk")
	}
	return answer{true}, nil
}

func ending() *op.Set {
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: keys{}})}
	since := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	op.Mount(set, service{}, []op.Op[service]{
		op.Define(op.Spec{
			Name:       "namespaces.old",
			Group:      op.Namespaces,
			Method:     "GET",
			Path:       "/old",
			Summary:    "End",
			Class:      op.Read,
			Deprecated: &op.Deprecation{Since: since, Sunset: since.AddDate(1, 0, 0), Guide: "https://example.com/new"},
		},
			service.Do),
		op.Define(op.Spec{
			Name:    "namespaces.new",
			Group:   op.Namespaces,
			Method:  "GET",
			Path:    "/new",
			Summary: "Stay",
			Class:   op.Read,
		}, service.Do),
	})
	return set
}

// A deprecated operation says so on every answer, good or bad, and no other does.
func TestEveryAnswerOfADeprecatedOperationSaysSo(t *testing.T) {
	h, err := transport.New(transport.Options{Set: ending()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, key string
		status    int
	}{
		{"/old", "good", 200}, {"/old", "", 401}, {"/old?fail=x&fail=y", "good", 400}, {"/old?fail=error", "good", 500},
		{"/old?fail=panic", "good", 500}, {"/old", "personal", 200},
		{"/new", "good", 200}, {"/new", "", 401},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		if c.key != "" {
			r.Header.Set("Authorization", "Bearer "+c.key)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s with %q answers %d", c.path, c.key, w.Code)
		}
		got := []string{w.Header().Get("Deprecation"), w.Header().Get("Sunset"), w.Header().Get("Link")}
		want := []string{"@1795219200", "Sun, 21 Nov 2027 00:00:00 GMT",
			`<https://example.com/new>; rel="deprecation"; type="text/html"`}
		if strings.HasPrefix(c.path, "/new") {
			want = []string{"", "", ""}
		}
		if c.key == "personal" {
			want[2] += `, <https://github.com/mnemehq/mneme/blob/main/docs/memory.md>; rel="deprecation"; type="text/html"`
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s with %q: %q, want %q", c.path, c.key, got[i], want[i])
			}
		}
	}
}

// The document marks the operation, dates its end, and lists the headers.
func TestTheDocumentSaysWhatIsDeprecated(t *testing.T) {
	d := document(t, ending())
	old, stays := d.Paths["/old"]["get"], d.Paths["/new"]["get"]
	if !old.Deprecated || old.Since != "2026-11-21" || old.Sunset != "2027-11-21" ||
		!strings.Contains(old.Description, "https://example.com/new") {
		t.Errorf("%+v", old)
	}
	if stays.Deprecated || stays.Sunset != "" || strings.Contains(stays.Description, "eprecated") {
		t.Errorf("%+v", stays)
	}
	for status, r := range old.Responses {
		if r.Ref != "" {
			t.Errorf("status %s of the deprecated operation is shared with others: %s", status, r.Ref)
		}
		for _, h := range []string{"Deprecation", "Sunset", "Link"} {
			if _, ok := r.Headers[h]; !ok {
				t.Errorf("status %s lacks the header %s", status, h)
			}
		}
	}
}

type parsed struct {
	Paths map[string]map[string]struct {
		Description string
		Deprecated  bool
		Since       string `json:"x-deprecated-since"`
		Sunset      string `json:"x-sunset"`
		Responses   map[string]struct {
			Ref     string `json:"$ref"`
			Headers map[string]any
		}
	}
}

func document(t *testing.T, set *op.Set) parsed {
	t.Helper()
	d, err := openapi.New(openapi.Options{Set: set})
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var out parsed
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
