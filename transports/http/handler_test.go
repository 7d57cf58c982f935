package http_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
	mnemehttp "github.com/mnemehq/mneme/transports/http"
)

// library is the service of these tests. Its answers depend on what is asked.
type library struct {
	write func(context.Context, writeNote) error
	size  int // of the text that Get answers
}

type noteRef struct {
	Shelf string `path:"shelf"`
	ID    string `path:"id"`
	Match string `header:"If-None-Match"`
	Limit *int   `query:"limit"`
}

func (r *noteRef) Validate() error {
	if !ident.ValidDocumentID(r.ID) {
		return fault.Field(fault.InvalidID, "id", "is not a document id")
	}
	return nil
}

func (r *noteRef) NamespaceName() string { return r.Shelf }

type note struct {
	Shelf string         `json:"shelf"`
	ID    string         `json:"id"`
	Text  string         `json:"text"`
	Tags  []string       `json:"tags"`
	Extra map[string]int `json:"extra"`

	status int
}

func (n note) StatusCode() int { return n.status }

func (n note) Headers() map[string]string { return map[string]string{"Etag": `"` + n.ID + `"`} }

type writeNote struct {
	Shelf string   `path:"shelf"`
	ID    string   `json:"id"`
	Text  string   `json:"text"`
	Tags  []string `json:"tags"`
}

func (w *writeNote) Validate() error {
	if w.ID == "" {
		return fault.Field(fault.InvalidID, "id", "is required")
	}
	return nil
}

func (w *writeNote) Units() int { return max(1, len(w.Tags)) }

type optional struct {
	Full bool `json:"full"`
}

type nothing struct{}

func (l *library) Get(ctx context.Context, in noteRef) (note, error) {
	switch in.ID {
	case "absent":
		return note{}, fmt.Errorf("read note: %w", fault.New(fault.DocumentNotFound, "no note %q", in.ID))
	case "panic":
		panic("boom")
	case "broken":
		return note{}, errors.New("secret detail of the disk")
	case "slow":
		<-ctx.Done()
		return note{}, fmt.Errorf("driver: %w", ctx.Err())
	case "gave-up":
		return note{}, context.Canceled
	case "later":
		return note{}, fault.New(fault.Unavailable, "the model is loading").After(1200 * time.Millisecond)
	}
	n := note{Shelf: in.Shelf, ID: in.ID, Text: "<b>" + strings.Repeat("x", l.size)}
	if in.Match == `"`+in.ID+`"` {
		n.status = http.StatusNotModified
	}
	return n, nil
}

func (l *library) Write(ctx context.Context, in writeNote) (note, error) {
	if l.write != nil {
		if err := l.write(ctx, in); err != nil {
			return note{}, err
		}
	}
	return note{Shelf: in.Shelf, ID: in.ID, Text: in.Text, Tags: in.Tags}, nil
}

func (l *library) Sync(_ context.Context, in optional) (optional, error) { return in, nil }

func (l *library) Clear(context.Context, nothing) (nothing, error) { return nothing{}, nil }

func (l *library) Who(ctx context.Context, _ nothing) (map[string]string, error) {
	if p := ident.Known(ctx); p != nil {
		return map[string]string{"key": p.KeyID}, nil
	}
	return map[string]string{"key": ""}, nil
}

const maxBody = 64 << 10

// maxLarge is of an operation that takes large bodies.
const maxLarge = 8 << 20

func (l *library) operations() []op.Op[*library] {
	return []op.Op[*library]{
		op.Define(op.Spec{
			Name:    "notes.get",
			Method:  "GET",
			Path:    "/shelves/{shelf}/notes/{id}",
			Class:   op.Read,
			Timeout: 5 * time.Second,
		}, (*library).Get),
		op.Define(op.Spec{
			Name:    "notes.write",
			Method:  "POST",
			Path:    "/shelves/{shelf}/notes",
			Class:   op.Write,
			MaxBody: maxBody,
			Mutates: true,
			Success: 201,
			Timeout: 5 * time.Second,
		}, (*library).Write),
		op.Define(op.Spec{
			Name:    "notes.bulk",
			Method:  "POST",
			Path:    "/shelves/{shelf}/bulk",
			Class:   op.Write,
			MaxBody: maxLarge,
			Success: 201,
			Timeout: time.Minute,
		}, (*library).Write),
		op.Define(op.Spec{
			Name:         "notes.sync",
			Method:       "POST",
			Path:         "/shelves/{shelf}/sync",
			Class:        op.Write,
			MaxBody:      maxBody,
			BodyOptional: true,
		}, (*library).Sync),
		op.Define(op.Spec{
			Name:    "notes.clear",
			Method:  "DELETE",
			Path:    "/shelves/{shelf}",
			Class:   op.Write,
			Success: 204,
		}, (*library).Clear),
		op.Define(op.Spec{Name: "who", Method: "GET", Path: "/who", Auth: op.OptionalKey}, (*library).Who),
		op.Define(op.Spec{Name: "health", Method: "GET", Path: "/health", Auth: op.NoKey}, (*library).Who),
		op.Define(op.Spec{
			Name:   "memory.get",
			Method: "GET",
			Path:   "/api/v1/shelves/{shelf}/notes/{id}",
			Class:  op.Read,
			Family: op.Memory,
		}, (*library).Get),
		op.Define(op.Spec{
			Name:     "openai.get",
			Method:   "GET",
			Path:     "/v1/shelves/{shelf}/notes/{id}",
			Class:    op.Read,
			Protocol: op.OpenAI,
		}, (*library).Get),
		op.Define(op.Spec{
			Name:     "mem0.get",
			Method:   "GET",
			Path:     "/v3/shelves/{shelf}/notes/{id}",
			Class:    op.Read,
			Protocol: op.Mem0,
		}, (*library).Get),
		op.Define(op.Spec{
			Name:   "memory.scoped",
			Method: "GET",
			Path:   "/api/v1/scoped",
			Class:  op.Read,
			Family: op.Memory,
			Scopes: []ident.Scope{"memories:read"},
		}, (*library).Who),
	}
}

type keys map[string]ident.Principal

func (k keys) Verify(_ context.Context, bearer string, _ op.Family) (ident.Principal, error) {
	p, ok := k[bearer]
	switch {
	case !ok:
		return p, fault.New(fault.Unauthorized, "the key is not valid")
	case p.OrgName == "suspended":
		return p, fault.New(fault.Forbidden, "the organization is suspended")
	}
	return p, nil
}

func testKeys() keys {
	return keys{
		"good":      {KeyID: "key_1", Org: "org_1"},
		"reader":    {KeyID: "key_2", Org: "org_1", ReadOnly: true},
		"shelf-a":   {KeyID: "key_3", Org: "org_1", Namespace: "a"},
		"suspended": {KeyID: "key_4", Org: "org_2", OrgName: "suspended"},
		"slow":      {KeyID: "key_5", Org: "org_1", Limits: map[string]ident.Rate{"read": {PerMinute: 60, Burst: 2}}},
		"free":      {KeyID: "key_6", Org: "org_1", Limits: map[string]ident.Rate{"read": {}, "write": {}}},
		"other":     {KeyID: "key_7", Org: "org_3"},
	}
}

// logs collects what is logged.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type setup struct {
	library library
	chain   middleware.Options
	http    mnemehttp.Options
	logs    *logs
}

func (s setup) handler(t testing.TB) http.Handler {
	t.Helper()
	if s.logs != nil {
		s.chain.Log = slog.New(slog.NewTextHandler(s.logs, nil))
		s.http.Log = s.chain.Log
	}
	s.chain.Keys = testKeys()
	set := &op.Set{Chain: middleware.Chain(s.chain), Admit: s.chain.Limits.Admit,
		Absent: []op.Absence{{Protocol: op.Mem0, Path: "/v3/pictures", Instead: "draw them"}}}
	op.Mount(set, &s.library, s.library.operations())
	s.http.Set = set
	h, err := mnemehttp.New(s.http)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) code(t testing.TB) string {
	t.Helper()
	var e struct {
		Code  string
		Error struct{ Code string }
	}
	if err := json.Unmarshal([]byte(a.body), &e); err != nil {
		t.Errorf("body %q: %v", a.body, err)
	}
	return e.Code + e.Error.Code
}

func do(t testing.TB, method, url, body string, headers ...string) answer {
	t.Helper()
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, url, r)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer good")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Del(headers[i]); headers[i+1] != "" {
			req.Header.Set(headers[i], headers[i+1])
		}
	}
	res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(got)}
}

func zipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func TestRules(t *testing.T) {
	srv := httptest.NewServer(setup{}.handler(t))
	defer srv.Close()
	const get, post = "/shelves/a/notes/b", "/shelves/a/notes"
	text := func(n int) string {
		return `{"id":"x","text":"` + strings.Repeat("t", n-len(`{"id":"x","text":""}`)) + `"}`
	}
	type test struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string // part of the body
		header                   []string
	}
	none := []string{"Authorization", ""}
	for _, c := range []test{
		{"read", "GET", get, "", nil, 200, `{"shelf":"a","id":"b","text":"<b>","tags":[],"extra":{}}`, []string{"Etag", `"b"`}},
		{"write", "POST", post, `{"id":"x","text":"t"}`, nil, 201, `{"shelf":"a","id":"x","text":"t","tags":[],"extra":{}}`, nil},
		{"not modified", "GET", get, "", []string{"If-None-Match", `"b"`}, 304, "", []string{"Etag", `"b"`, "Content-Type", ""}},
		{"no content", "DELETE", "/shelves/a", "", nil, 204, "", nil},
		{"head", "HEAD", get, "", nil, 200, "", []string{"Content-Length", "56", "Content-Type", "application/json"}},
		{"head of nothing", "HEAD", "/nothing", "", nil, 404, "", []string{"Content-Type", "application/json"}},
		{"unknown query parameter", "GET", get + "?utm_source=x", "", nil, 200, "", nil},
		{"bad query parameter", "GET", get + "?limit=x", "", nil, 400,
			`"code":"invalid_request","message":"limit: must be an integer"`, nil},

		{"no key", "GET", get, "", none, 401, "an API key is required", []string{"Www-Authenticate", "Bearer"}},
		{"bad key", "GET", get, "", []string{"Authorization", "Bearer bad"}, 401, "unauthorized", nil},
		{"other scheme", "GET", get, "", []string{"Authorization", "Basic good"}, 401, "unauthorized", nil},
		{"bare key", "GET", get, "", []string{"Authorization", "good"}, 401, "the word Bearer", nil},
		{"scheme in any case", "GET", get, "", []string{"Authorization", "bEARER good"}, 200, "", nil},
		{"spaces", "GET", get, "", []string{"Authorization", "Bearer   good"}, 200, "", nil},
		{"malformed body without a key", "POST", post, `{`, none, 401, "unauthorized", nil},
		{"malformed body with a key", "POST", post, `{`, nil, 400,
			`"code":"invalid_json","message":"invalid JSON at byte 1`, nil},
		{"read-only reads", "GET", get, "", []string{"Authorization", "Bearer reader"}, 200, "", nil},
		{"read-only writes", "POST", post, `{`, []string{"Authorization", "Bearer reader"}, 403, "forbidden", nil},
		{"suspended", "GET", get, "", []string{"Authorization", "Bearer suspended"}, 403, "forbidden", nil},
		{"limited key at home", "GET", get, "", []string{"Authorization", "Bearer shelf-a"}, 200, "", nil},
		{"limited key elsewhere", "GET", "/shelves/b/notes/b", "", []string{"Authorization", "Bearer shelf-a"}, 403,
			"forbidden", nil},
		{"optional key given", "GET", "/who", "", nil, 200, `{"key":"key_1"}`, nil},
		{"optional key left out", "GET", "/who", "", none, 200, `{"key":""}`, nil},
		{"optional key wrong", "GET", "/who", "", []string{"Authorization", "Bearer bad"}, 200, `{"key":""}`, nil},
		{"no key looked at", "GET", "/health", "", []string{"Authorization", "Bearer bad"}, 200, `{"key":""}`, nil},
		{"scope missing", "GET", "/api/v1/scoped", "", nil, 403, `"details":{"scope":"memories:read"}`, nil},

		{"absent", "GET", "/shelves/a/notes/absent", "", nil, 404,
			`"code":"document_not_found","message":"no note \"absent\""`, nil},
		{"foreign error", "GET", "/shelves/a/notes/broken", "", nil, 500, `"message":"an internal error occurred"`, nil},
		{"panic", "GET", "/shelves/a/notes/panic", "", nil, 500, "internal_error", nil},
		{"cancelled from within", "GET", "/shelves/a/notes/gave-up", "", nil, 500, "internal_error", nil},
		{"retry after", "GET", "/shelves/a/notes/later", "", nil, 503, "unavailable", []string{"Retry-After", "2"}},
		{"timeout asked", "GET", "/shelves/a/notes/slow", "", []string{"X-Timeout-Ms", "20"}, 504, "timeout", nil},
		{"bad timeout", "GET", get, "", []string{"X-Timeout-Ms", "soon"}, 400, "X-Timeout-Ms", nil},
		{"zero timeout", "GET", get, "", []string{"X-Timeout-Ms", "0"}, 400, "X-Timeout-Ms", nil},
		{"negative timeout", "GET", get, "", []string{"X-Timeout-Ms", "-5"}, 400, "X-Timeout-Ms", nil},
		{"huge timeout", "GET", get, "", []string{"X-Timeout-Ms", "9223372036854775807"}, 200, "", nil},
		{"bad timeout without a key", "GET", get, "", []string{"X-Timeout-Ms", "soon", "Authorization", ""}, 401,
			"unauthorized", nil},

		{"no route", "GET", "/nothing", "", nil, 404, `{"error":{"code":"not_found"`, nil},
		{"root", "GET", "/", "", nil, 404, "not_found", nil},
		{"in OpenAI's words", "GET", "/v1/shelves/a/notes/.b", "", nil, 400,
			`{"error":{"message":"id: is not a document id","type":"invalid_request_error","param":"id","code":"invalid_id"}}`,
			nil},
		{"absent in OpenAI's words", "GET", "/v1/shelves/a/notes/absent", "", nil, 404,
			`{"error":{"message":"no note \"absent\"","type":"invalid_request_error","param":null,` +
				`"code":"document_not_found"}}`, nil},
		{"OpenAI's without a key", "GET", "/v1/shelves/a/notes/b", "", none, 401,
			`"type":"authentication_error","param":null`, nil},
		{"OpenAI's, forbidden", "GET", "/v1/shelves/b/notes/b", "", []string{"Authorization", "Bearer shelf-a"}, 403,
			`"type":"permission_error"`, nil},
		{"OpenAI's, failing", "GET", "/v1/shelves/a/notes/broken", "", nil, 500, `"type":"server_error","param":null`, nil},
		{"in mem0's words", "GET", "/v3/shelves/a/notes/.b/", "", nil, 400,
			`{"detail":"id: is not a document id","code":"invalid_id","request_id":"the-id.1_2"}`, nil},
		{"mem0's without a slash", "GET", "/v3/shelves/a/notes/absent", "", nil, 404, `{"detail":"no note \"absent\"`, nil},
		{"mem0's with two", "GET", "/v3/shelves/a/notes/absent//", "", nil, 404, `no route matches`, nil},
		{"mem0's token", "GET", "/v3/shelves/b/notes/b/", "", []string{"Authorization", "Token shelf-a"}, 403,
			`"code":"forbidden"`, nil},
		{"another's token", "GET", "/v1/shelves/b/notes/b", "", []string{"Authorization", "Token shelf-a"}, 401,
			`"unauthorized"`, nil},
		{"another's slash", "GET", "/v1/shelves/a/notes/b/", "", nil, 404, `no route matches`, nil},
		{"absent of mem0's", "POST", "/v3/pictures/", "", none, 404,
			`{"detail":"draw them","code":"not_found","request_id":"the-id.1_2"}`, nil},
		{"no memory route", "GET", "/api/v1/nothing", "", nil, 404, `{"statusCode":404,"code":"not_found"`, nil},
		{"memory prefix only", "GET", "/api/v1", "", nil, 404, `"details":{}}`, nil},
		{"not the memory prefix", "GET", "/api/v1x", "", nil, 404, `{"error"`, nil},
		{"memory fault", "GET", "/api/v1/shelves/a/notes/absent", "", nil, 404, `"code":"document_not_found"`, nil},
		{"memory without a key", "GET", "/api/v1/shelves/a/notes/b", "", none, 401, `"statusCode":401`, nil},
		{"memory field", "GET", "/api/v1/shelves/a/notes/b?limit=x", "", nil, 400,
			`"details":{"field":"limit","reason":"must be an integer"}`, nil},
		{"method", "PUT", post, "", nil, 405, `"code":"method_not_allowed"`, []string{"Allow", "POST"}},
		{"method of a read", "POST", get, "", nil, 405, "method_not_allowed", []string{"Allow", "GET, HEAD"}},
		{"odd method", "BREW", get, "", nil, 405, "method_not_allowed", nil},
		{"options", "OPTIONS", get, "", nil, 405, "method_not_allowed", nil},
		{"memory method", "PUT", "/api/v1/shelves/a/notes/b", "", nil, 405, `"details":{}`, nil},
		{"trailing slash", "GET", get + "/", "", nil, 404, "did you mean " + get + "?", nil},
		{"trailing slash of nothing", "GET", "/nothing/", "", nil, 404, `no route matches /nothing/"`, nil},
		{"double slash", "GET", "/shelves//notes/b", "", nil, 404, "not_found", nil},
		{"two slashes", "GET", "//", "", nil, 404, "not_found", nil},
		{"leading double slash", "GET", "//shelves/a/notes/b", "", nil, 404, "not_found", nil},
		{"dots", "GET", "/shelves/a/../a/notes/b", "", nil, 404, "not_found", nil},
		{"escaped dots", "GET", "/shelves/a/notes/%2e%2e", "", nil, 400, "invalid_id", nil},
		{"escaped slash", "GET", "/shelves/a/notes/b%2Fc", "", nil, 400, "invalid_id", nil},
		{"escaped letter", "GET", "/shelves/a/notes/%62", "", nil, 200, `"id":"b"`, nil},
		{"NUL", "GET", "/shelves/a/notes/%00", "", nil, 400, "invalid_id", nil},
		{"invalid UTF-8", "GET", "/shelves/%ff/notes/b", "", nil, 400, "shelf: is not valid UTF-8", nil},

		// Where nothing is read a body would be passed over, and with it what it asks for.
		{"a body for a read", "GET", get, `{"id":"x"}`, nil, 400, "takes no body", nil},
		{"an empty object for a read", "GET", get, `{}`, nil, 400, "invalid_request", nil},
		{"text for a read", "GET", get, `a=b`, []string{"Content-Type", "text/plain"}, 400, "takes no body", nil},
		{"no body", "POST", post, "", nil, 400, "invalid_json", nil},
		{"blank body", "POST", post, "  \n", nil, 400, "invalid_json", nil},
		{"optional body left out", "POST", "/shelves/a/sync", "", nil, 200, `{"full":false}`, nil},
		{"optional body given", "POST", "/shelves/a/sync", `{"full":true}`, nil, 200, `{"full":true}`, nil},
		{"optional body broken", "POST", "/shelves/a/sync", `{"full":`, nil, 400, "invalid_json", nil},
		{"charset", "POST", post, `{"id":"x"}`, []string{"Content-Type", "Application/JSON; Charset=UTF-8"}, 201, "", nil},
		{"other charset", "POST", post, `{"id":"x"}`, []string{"Content-Type", "application/json; charset=latin1"}, 400,
			"Content-Type", nil},
		{"form", "POST", post, `{"id":"x"}`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 400,
			`invalid_request`, nil},
		{"no type", "POST", post, `{"id":"x"}`, []string{"Content-Type", ""}, 201, "", nil},
		{"broken type", "POST", post, `{"id":"x"}`, []string{"Content-Type", ";;"}, 400, "invalid_request", nil},
		{"at the limit", "POST", post, text(maxBody), nil, 201, "", nil},
		{"over the limit", "POST", post, text(maxBody + 1), nil, 413, "payload_too_large", nil},
		{"unknown field", "POST", post, `{"id":"x","Text":"t"}`, nil, 400, "Text: is not a known field", nil},
		{"validated", "POST", post, `{}`, nil, 400, "invalid_id", nil},
		{"gzip", "POST", post, zipped(`{"id":"x"}`), []string{"Content-Encoding", "gzip"}, 201, "", nil},
		{"gzip at the limit", "POST", post, zipped(text(maxBody)), []string{"Content-Encoding", "gzip"}, 201, "", nil},
		{"gzip over the limit", "POST", post, zipped(text(maxBody + 1)), []string{"Content-Encoding", "gzip"}, 413,
			"payload_too_large", nil},
		{"gzip bomb", "POST", post, zipped(strings.Repeat(" ", 16<<20)), []string{"Content-Encoding", "gzip"}, 413,
			"payload_too_large", nil},
		{"no gzip", "POST", post, `{"id":"x"}`, []string{"Content-Encoding", "gzip"}, 400, "not valid gzip", nil},
		{"cut gzip", "POST", post, zipped(`{"id":"x"}`)[:20], []string{"Content-Encoding", "gzip"}, 400, "gzip", nil},
		{"torn gzip", "POST", post, zipped(`{"id":"x"}`)[:24] + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
			[]string{"Content-Encoding", "gzip"}, 400, "gzip", nil},
		{"other encoding", "POST", post, `{"id":"x"}`, []string{"Content-Encoding", "br"}, 400, "Content-Encoding", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := do(t, c.method, srv.URL+c.path, c.body, append([]string{"X-Request-Id", "the-id.1_2"}, c.headers...)...)
			if a.status != c.status || !strings.Contains(a.body, c.want) {
				t.Errorf("%d %s; want %d with %s", a.status, a.body, c.status, c.want)
			}
			if got := a.header.Get("X-Request-Id"); got != "the-id.1_2" {
				t.Errorf("X-Request-Id is %q", got)
			}
			own := c.method != "HEAD" && !strings.HasPrefix(c.path, "/v1/") // OpenAI's bodies have no place for the id
			if a.status >= 400 && own && !strings.Contains(a.body, `"the-id.1_2"`) {
				t.Errorf("%s does not carry the request id", a.body)
			}
			if a.body != "" && (!json.Valid([]byte(a.body)) || a.header.Get("Content-Type") != "application/json") {
				t.Errorf("%s %s is not JSON", a.header.Get("Content-Type"), a.body)
			}
			for i := 0; i < len(c.header); i += 2 {
				if got := a.header.Get(c.header[i]); got != c.header[i+1] {
					t.Errorf("%s is %q, want %q", c.header[i], got, c.header[i+1])
				}
			}
		})
	}
}

// A request whose length is not announced may still have no body.
func TestAnUnannouncedBody(t *testing.T) {
	srv := httptest.NewServer(setup{}.handler(t))
	defer srv.Close()
	for body, want := range map[string]int{"": 200, "x": 400} {
		req, err := http.NewRequest("GET", srv.URL+"/shelves/a/notes/b", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer good")
		req.TransferEncoding = []string{"chunked"}
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("%q in chunks: %d, want %d", body, res.StatusCode, want)
		}
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	for _, code := range fault.Codes() {
		h := setup{library: library{write: func(context.Context, writeNote) error {
			return fault.New(code, "because")
		}}}.handler(t)
		srv := httptest.NewServer(h)
		a := do(t, "POST", srv.URL+"/shelves/a/notes", `{"id":"x"}`)
		srv.Close()
		if a.status != fault.Status(code) || a.code(t) != string(code) {
			t.Errorf("%s: %d %s", code, a.status, a.body)
		}
	}
}

func TestRequestID(t *testing.T) {
	srv := httptest.NewServer(setup{}.handler(t))
	defer srv.Close()
	seen := map[string]bool{}
	for _, sent := range []string{"", strings.Repeat("a", 129), "a b", "a/b", "ä"} {
		got := do(t, "GET", srv.URL+"/nothing", "", "X-Request-Id", sent).header.Get("X-Request-Id")
		if got == sent || got == "" || seen[got] {
			t.Errorf("sent %q, got %q", sent, got)
		}
		seen[got] = true
	}
	if long := strings.Repeat("a", 128); do(t, "GET", srv.URL+"/nothing", "", "X-Request-Id",
		long).header.Get("X-Request-Id") != long {
		t.Error("an id of 128 characters was replaced")
	}
}

func TestGzipAnswers(t *testing.T) {
	srv := httptest.NewServer(setup{library: library{size: 300_000}}.handler(t))
	defer srv.Close()
	url := srv.URL + "/shelves/a/notes/b"
	for _, c := range []struct {
		accept string
		zipped bool
	}{{"", false}, {"gzip", true}, {"br, GZIP;q=0.5", true}, {"gzip;q=0", false}, {"*", true}, {"gzip;q=0, *", false},
		{"identity", false}} {
		a := do(t, "GET", url, "", "Accept-Encoding", c.accept)
		if got := a.header.Get("Content-Encoding") == "gzip"; got != c.zipped || a.header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: gzip %v, %v", c.accept, got, a.header)
		}
		body := a.body
		if c.zipped {
			z, err := gzip.NewReader(strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			plain, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			if len(body) >= len(plain) {
				t.Errorf("%d bytes became %d", len(plain), len(body))
			}
			body = string(plain)
		}
		if !json.Valid([]byte(body)) || len(body) < 300_000 {
			t.Errorf("%q: %d bytes", c.accept, len(body))
		}
	}
	if a := do(t, "GET", srv.URL+"/health", "", "Accept-Encoding", "gzip"); a.header.Get("Content-Encoding") != "" {
		t.Error("a small answer was compressed")
	}
}

func TestRateLimits(t *testing.T) {
	limits := &middleware.Limits{Limiter: middleware.NewBuckets(nil), Rates: map[op.Class]ident.Rate{
		op.Read: {PerMinute: 600, Burst: 60}, op.Write: {PerMinute: 60, Burst: 3}}}
	srv := httptest.NewServer(setup{chain: middleware.Options{Limits: limits}}.handler(t))
	defer srv.Close()
	const get, post = "/shelves/a/notes/b", "/shelves/a/notes"

	a := do(t, "GET", srv.URL+get, "")
	if a.header.Get("Ratelimit-Policy") != `"read";q=600;w=60` ||
		!strings.HasPrefix(a.header.Get("Ratelimit"), `"read";r=59;t=`) {
		t.Errorf("headers %v", a.header)
	}
	if a := do(t, "GET", srv.URL+get, "", "Authorization", "Bearer free"); a.header.Get("Ratelimit-Policy") != "" {
		t.Errorf("an unlimited class has headers: %v", a.header)
	}
	if a := do(t, "GET", srv.URL+"/who", ""); a.header.Get("Ratelimit-Policy") != "" {
		t.Errorf("a free operation has headers: %v", a.header)
	}
	key := []string{"Authorization", "Bearer slow"}
	for range 2 {
		if a := do(t, "GET", srv.URL+get, "", key...); a.status != 200 {
			t.Errorf("%d within the burst", a.status)
		}
	}
	a = do(t, "GET", srv.URL+get, "", key...)
	if a.status != 429 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, "the read limit") ||
		!strings.HasPrefix(a.header.Get("Ratelimit"), `"read";r=0;t=`) {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	if a := do(t, "GET", srv.URL+"/api/v1"+get, "", key...); !strings.Contains(a.body, `"details":{"retryAfter":1}`) {
		t.Errorf("memory body: %s", a.body)
	}
	// A batch counts whole, before the service sees it; the body of a call over
	// the limit is not read.
	if a := do(t, "POST", srv.URL+post, `{"id":"x","tags":["1","2","3"]}`); a.status != 201 ||
		!strings.HasPrefix(a.header.Get("Ratelimit"), `"write";r=0;`) {
		t.Errorf("%d %v", a.status, a.header)
	}
	if a := do(t, "POST", srv.URL+post, `{`); a.status != 429 {
		t.Errorf("%d: want 429 before the body is looked at", a.status)
	}
}

func TestConcurrencyCap(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	l := library{write: func(context.Context, writeNote) error { enter <- struct{}{}; <-leave; return nil }}
	gate := fair.NewGate(1, 1, 10*time.Second)
	srv := httptest.NewServer(setup{library: l, chain: middleware.Options{Gate: gate}}.handler(t))
	defer srv.Close()
	url, status := srv.URL+"/shelves/a/notes", make(chan int, 2)
	write := func() { status <- do(t, "POST", url, `{"id":"x"}`).status }
	go write()
	<-enter
	go write()
	for gate.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	a := do(t, "POST", url, `{`)
	if a.status != 503 || a.header.Get("Retry-After") != "1" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := do(t, "GET", srv.URL+"/health", ""); a.status != 200 {
		t.Errorf("health answered %d", a.status)
	}
	leave <- struct{}{}
	<-enter
	leave <- struct{}{}
	for range 2 {
		if s := <-status; s != 201 {
			t.Errorf("admitted call answered %d", s)
		}
	}
	if gate.InUse() != 0 || gate.Waiting() != 0 {
		t.Errorf("%d slots and %d places are still held", gate.InUse(), gate.Waiting())
	}
}

func TestPanicsAndCausesAreLogged(t *testing.T) {
	l := &logs{}
	h := setup{logs: l, http: mnemehttp.Options{Mounts: map[string]http.Handler{
		"GET /mounted": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("mounted boom") })}}}.handler(t)
	srv := httptest.NewServer(h)
	defer srv.Close()
	for i, c := range []struct{ path, says string }{
		{"/shelves/a/notes/panic", "boom"}, {"/mounted", "mounted boom"},
		{"/shelves/a/notes/broken", "secret detail of the disk"}, {"/nothing", "not_found"},
	} {
		id := fmt.Sprintf("id-%d", i)
		a := do(t, "GET", srv.URL+c.path, "", "X-Request-Id", id)
		if a.header.Get("X-Request-Id") != id || !json.Valid([]byte(a.body)) {
			t.Errorf("%s: %d %s", c.path, a.status, a.body)
		}
		if strings.Contains(a.body, "secret") || strings.Contains(a.body, "boom") || strings.Contains(a.body, "goroutine") {
			t.Errorf("%s tells too much", a.body)
		}
		if got := l.String(); !strings.Contains(got, c.says) || !strings.Contains(got, "request_id="+id) {
			t.Errorf("%s: the log lacks %q", c.path, c.says)
		}
	}
	if !strings.Contains(l.String(), "handler_test.go") {
		t.Error("the log has no stack")
	}
}

func TestNewRefuses(t *testing.T) {
	set := &op.Set{Chain: middleware.Chain(middleware.Options{Keys: testKeys()})}
	op.Mount(set, &library{}, []op.Op[*library]{op.Define(op.Spec{Name: "bare", Method: "GET", Path: "/bare"},
		func(*library, context.Context, struct{ Bare string }) (nothing, error) { return nothing{}, nil })})
	if _, err := mnemehttp.New(mnemehttp.Options{Set: set}); err == nil || !strings.Contains(err.Error(), "bare") {
		t.Errorf("an input without tags: %v", err)
	}
	set = &op.Set{Chain: middleware.Chain(middleware.Options{Keys: testKeys()})}
	op.Mount(set, &library{}, (&library{}).operations())
	if _, err := mnemehttp.New(mnemehttp.Options{Set: set,
		Mounts: map[string]http.Handler{"GET /health": http.NotFoundHandler()}}); err == nil {
		t.Error("two handlers for one route were accepted")
	}
}

func BenchmarkCall(b *testing.B) {
	h := setup{}.handler(b)
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest("POST", "/shelves/a/notes", strings.NewReader(`{"id":"x","text":"some text","tags":["a","b"]}`))
		r.Header.Set("Authorization", "Bearer good")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 201 {
			b.Fatal(w.Body)
		}
	}
}

// A page that is mounted at the root is for who asks for HTML; programs hear that there is no route.
func TestRootPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") })
	h := setup{http: mnemehttp.Options{Mounts: map[string]http.Handler{"GET /{$}": page}}}.handler(t)
	for _, c := range []struct {
		path, accept string
		status       int
	}{
		{"/", "text/html,application/xhtml+xml,*/*;q=0.8", 200},
		{"/", "*/*", 404},
		{"/", "", 404},
		{"/", "application/json", 404},
		{"/nothing", "text/html", 404},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || (w.Body.String() == "a page") != (c.status == 200) {
			t.Errorf("%s for %q: %d %s", c.path, c.accept, w.Code, w.Body)
		}
	}
}

// A path that nothing is at gets the route that was meant, where one stands out.
func TestNearRoutes(t *testing.T) {
	mounts := map[string]http.Handler{}
	for _, pattern := range []string{"GET /{$}", "GET /health/deep", "GET /models", "GET /openapi.json",
		"GET /admin/v1/jobs", "GET /admin/v1/keys", "GET /admin/v1/keys/{key}", "DELETE /admin/v1/keys/{key}",
		"/console/{rest...}"} {
		mounts[pattern] = http.NotFoundHandler()
	}
	h := setup{http: mnemehttp.Options{Mounts: mounts}}.handler(t)
	const all = "; /openapi.json lists them"
	meant := func(path string) string { return "; did you mean " + path + "?" }
	for _, c := range []struct{ path, hint string }{
		{"/healthz", meant("/health")},
		{"/health/", meant("/health")},
		{"/Models", meant("/models")},
		{"/v1/models", meant("/models")},
		{"/models/e5", meant("/models")},
		{"/admin/v1/key", meant("/admin/v1/keys")},
		{"/admin/keys/k", meant("/admin/v1/keys/k")},
		{"/jobs", meant("/admin/v1/jobs")},
		{"/shelf/a/notes/b", all}, // more than a slip
		{"/shelvs/a%2Fb/notes/c", meant("/shelves/a%2Fb/notes/c")},
		{"/shelves/a/note/b", meant("/shelves/a/notes/b")},
		{"/admin", all}, // several
		{"/", all},
		{"/nothing", all},
		{"/nothing/of/ours", all},
		{"/mod", all},
		{"/healthy/" + strings.Repeat("a/", 5) + "b", all},
		{"/health" + strings.Repeat("z", 200), all},
		{"/a/b/c/d/e/f/g/h/models/j", all},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", c.path, nil))
		if want := c.hint + `","`; w.Code != 404 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", c.path, w.Code, w.Body, c.hint)
		}
	}
}
