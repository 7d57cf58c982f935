package mneme

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

type seen struct {
	url    *url.URL
	header http.Header
	body   string
}

// script is a server that answers requests one after the other, and keeps them; the last answer goes on.
type script struct {
	*Client
	seen  []seen
	slept []time.Duration
}

func serve(t *testing.T, answers ...http.HandlerFunc) *script {
	t.Helper()
	s := &script{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.seen = append(s.seen, seen{r.URL, r.Header, string(body)})
		answers[min(len(s.seen), len(answers))-1](w, r)
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL+"/", "key", WithHTTPClient(server.Client()))
	if err != nil {
		t.Fatal(err)
	}
	client.c.sleep = func(_ context.Context, pause time.Duration) error {
		s.slept = append(s.slept, pause)
		return nil
	}
	s.Client = client
	return s
}

func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func refuse(status int, code string, header ...string) http.HandlerFunc {
	return answer(status, `{"error": {"code": "`+code+`", "message": "no", "request_id": "req_1"}}`, header...)
}

func lose(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

var hook = WebhookCreate{Url: "https://example.com"}

func TestASafeCallIsRepeatedAfterFailures(t *testing.T) {
	for name, failure := range map[string]http.HandlerFunc{
		"500": refuse(500, "internal_error"), "502": refuse(502, "upstream_error"), "504": refuse(504, "timeout"),
		"a proxy's 503": answer(503, "<html>"), "a lost connection": lose,
	} {
		s := serve(t, failure, answer(200, `{"deleted": true}`))
		if got, err := s.Namespaces.Delete(t.Context(), "n"); err != nil || !got.Deleted || len(s.seen) != 2 {
			t.Errorf("after %s: %+v, %v, %d requests", name, got, err, len(s.seen))
		}
		if pause := s.slept[0]; pause < 250*time.Millisecond || pause > 500*time.Millisecond {
			t.Errorf("after %s it slept %s", name, pause)
		}
	}
}

func TestRetryAfterIsHonouredWhateverTheCall(t *testing.T) {
	s := serve(t, refuse(429, "rate_limited", "Retry-After", "7"), refuse(503, "unavailable", "Retry-After", "2"),
		answer(201, `{"id": "we_1"}`))
	if made, err := s.Webhooks.Create(t.Context(), hook); err != nil || made.Id != "we_1" {
		t.Errorf("got %+v, %v", made, err)
	}
	if want := []time.Duration{7 * time.Second, 2 * time.Second}; !slices.Equal(s.slept, want) {
		t.Errorf("slept %v, want %v", s.slept, want)
	}
	s = serve(t, refuse(429, "rate_limited", "Retry-After", "61"))
	_, err := s.Namespaces.Delete(t.Context(), "n")
	if refused := new(APIError); !errors.As(err, &refused) || *refused.RetryAfter != 61*time.Second || len(s.seen) != 1 {
		t.Errorf("a long wait: %v after %d requests", err, len(s.seen))
	}
}

func TestWhatIsNotRepeated(t *testing.T) {
	for name, failure := range map[string]http.HandlerFunc{"500": refuse(500, "internal_error"), "lost": lose} {
		s := serve(t, failure)
		if _, err := s.Webhooks.Create(t.Context(), hook); err == nil || len(s.seen) != 1 {
			t.Errorf("a call that makes something new, %s: %v after %d requests", name, err, len(s.seen))
		}
	}
	for _, failure := range []http.HandlerFunc{refuse(503, "unavailable"), refuse(400, "invalid_id"), refuse(409, "conflict")} {
		s := serve(t, failure)
		if _, err := s.Namespaces.Delete(t.Context(), "n"); err == nil || len(s.seen) != 1 {
			t.Errorf("%v after %d requests", err, len(s.seen))
		}
	}
}

func TestWhatWasNeverSentIsRepeated(t *testing.T) {
	tries := 0
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		tries++
		return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
	}}
	client, err := New("http://mneme.test", "key", WithHTTPClient(&http.Client{Transport: transport}), WithMaxRetries(3))
	if err != nil {
		t.Fatal(err)
	}
	client.c.sleep = func(context.Context, time.Duration) error { return nil }
	_, err = client.Webhooks.Create(t.Context(), hook)
	if lost := new(ConnectionError); !errors.As(err, &lost) || tries != 4 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

func TestASaveCarriesOneKeyAndFilesAreSentWhole(t *testing.T) {
	s := serve(t, refuse(500, "internal_error"), answer(200, `{"success": true}`))
	if _, err := s.Memory.Save(t.Context(), MemorySave{EndUserId: "ann", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	first, second := s.seen[0].header.Get("Idempotency-Key"), s.seen[1].header.Get("Idempotency-Key")
	if first == "" || first != second {
		t.Errorf("keys %q and %q", first, second)
	}
	if _, err := s.Memory.Save(WithIdempotencyKey(t.Context(), "mine"), MemorySave{Content: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := s.seen[2].header.Get("Idempotency-Key"); got != "mine" {
		t.Errorf("my key became %q", got)
	}
	s = serve(t, refuse(500, "internal_error"), answer(200, `{"written": 1}`))
	_, err := s.Files.Upload(t.Context(), "n",
		Upload{Files: []UploadFile{{"a.txt", []byte("some text")}}, Metadata: Metadata{"team": "shop"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.seen {
		if !strings.Contains(r.body, "some text") || !strings.Contains(r.body, `{"team":"shop"}`) ||
			!strings.HasSuffix(r.body, "--\r\n") {
			t.Errorf("sent %s", r.body)
		}
	}
}

func TestWhatAWriteWaitsFor(t *testing.T) {
	s := serve(t, answer(200, `{"written": 1, "searchable": true}`), answer(200, `{"written": 1, "searchable": false}`),
		answer(202, `{"id": "op_1"}`))
	body := WriteDocuments{Documents: []DocumentInput{{Id: "a", Text: "some text"}}}
	if _, err := s.Documents.Write(t.Context(), "n", body); err != nil {
		t.Error(err)
	}
	if got, err := s.Documents.WriteSoon(t.Context(), "n", body); err != nil || *got.Searchable {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Documents.WriteLater(t.Context(), "n", body); err != nil || got.Id != "op_1" {
		t.Errorf("%+v, %v", got, err)
	}
	for i, want := range []string{"", "searchable=soon", "respond-async"} {
		if got := s.seen[i].header.Get("Prefer"); got != want || s.seen[i].body != s.seen[0].body {
			t.Errorf("%d: Prefer: %q, not %q; body %s", i, got, want, s.seen[i].body)
		}
	}
}

// hanging never answers, and keeps what was sent.
type hanging struct{ header http.Header }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.header = r.Header
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeoutAndContext(t *testing.T) {
	sent := &hanging{}
	client, err := New("http://mneme.test", "key", WithHTTPClient(&http.Client{Transport: sent}),
		WithTimeout(20*time.Millisecond), WithMaxRetries(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Health(t.Context()); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if got := sent.header.Get("X-Timeout-Ms"); got != "20" {
		t.Errorf("the server was told %q", got)
	}
	client.c.timeout = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := client.Health(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := sent.header.Get("X-Timeout-Ms"); got != "" {
		t.Errorf("the server was told %q of a time beyond its own", got)
	}
}

func TestErrors(t *testing.T) {
	of := func(a http.HandlerFunc) *APIError {
		t.Helper()
		_, err := serve(t, a).Namespaces.Get(t.Context(), "n")
		refused := new(APIError)
		if !errors.As(err, &refused) {
			t.Fatalf("got %v", err)
		}
		return refused
	}
	e := of(refuse(404, "namespace_not_found"))
	if !errors.Is(e, ErrNamespaceNotFound) || e.RequestID != "req_1" || e.Message != "no" {
		t.Errorf("got %+v", e)
	}
	told := `{"statusCode": 403, "code": "quota_exceeded", "message": "full", "requestId": "r", "details": {"limit": 5}}`
	if e := of(answer(403, told)); !errors.Is(e, ErrQuotaExceeded) || e.RequestID != "r" || e.Details["limit"] != 5.0 {
		t.Errorf("got %+v", e)
	}
	if e := of(refuse(409, "brand_new")); e.Code != "brand_new" || e.Status != 409 {
		t.Errorf("got %+v", e)
	}
	e = of(answer(418, "<html>", "X-Request-Id", "p"))
	if e.Code != "" || e.RequestID != "p" || !strings.Contains(e.Error(), "teapot") {
		t.Errorf("got %+v", e)
	}
	if e := of(answer(304, "")); !errors.Is(e, ErrNotModified) {
		t.Errorf("got %+v", e)
	}
}

func TestListsArePaged(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cursor := r.URL.Query().Get("cursor")
		fmt.Fprintf(w, `{"namespaces": [{"name": "n%s"}], "next_cursor": %s}`, cursor,
			map[string]string{"": `"b"`, "b": `"c"`, "c": "null"}[cursor])
	})
	var names []string
	params := &NamespacesListParams{Prefix: Ptr("n")}
	for namespace, err := range s.Namespaces.All(t.Context(), params) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, namespace.Name)
	}
	if want := []string{"n", "nb", "nc"}; !slices.Equal(names, want) || params.Cursor != nil {
		t.Errorf("got %v, want %v; params became %+v", names, want, params)
	}
	for _, r := range s.seen {
		if r.url.Query().Get("prefix") != "n" {
			t.Errorf("asked for %s", r.url)
		}
	}
	for range s.Namespaces.All(t.Context(), nil) {
		break
	}
	if len(s.seen) != 4 {
		t.Errorf("%d requests", len(s.seen))
	}
}

func TestEventsAreFollowed(t *testing.T) {
	s := serve(t,
		answer(200, `{"events": [{"id": "evt_1", "timestamp": "2026-01-02T03:04:05Z", "data": {}}], "next_cursor": "c1"}`),
		answer(200, `{"events": [], "next_cursor": "c2", "missed": true}`))
	var ids []string
	var last error
	for event, err := range s.Events.Follow(t.Context(), Follow{Kinds: []string{"key.created"}}) {
		if last = err; err == nil {
			ids = append(ids, event.Id)
		}
	}
	missed := new(MissedEventsError)
	if !errors.As(last, &missed) || missed.Cursor != "c2" || !slices.Equal(ids, []string{"evt_1"}) {
		t.Errorf("got %v, %v", ids, last)
	}
	if q := s.seen[0].url.Query(); q.Get("after") != "latest" || q.Get("wait") != "30" || q.Get("kinds") != "key.created" {
		t.Errorf("asked for %v", q)
	}
	if after := s.seen[1].url.Query().Get("after"); after != "c1" {
		t.Errorf("went on after %q", after)
	}
}

func TestLinesComeAsTheyAre(t *testing.T) {
	s := serve(t, answer(200, "{\"a\":1}\n\n{\"b\":\"ä\"}"))
	var lines []string
	for line, err := range s.Admin.Audit.Export(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	if want := []string{`{"a":1}`, `{"b":"ä"}`}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

func TestWebhooks(t *testing.T) {
	body := `{"type": "key.created", "timestamp": "2026-01-02T03:04:05Z", "data": {"n": 1}}`
	signed := []byte("evt_1.1000." + body)
	encode := base64.StdEncoding.EncodeToString
	key, other := []byte("0123456789abcdef01234567"), "whsec_"+encode([]byte("other"))
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	shared, open := "whsec_"+encode(key), "whpk_"+encode(public)
	header := func(signature string) http.Header {
		h := http.Header{}
		for name, value := range map[string]string{"id": "evt_1", "timestamp": "1000", "signature": signature} {
			h.Set("webhook-"+name, value)
		}
		return h
	}
	v1, v1a := header("v1,AAAA v1,"+encode(mac(key, signed))), header("v1a,"+encode(ed25519.Sign(private, signed)))
	for secret, h := range map[string]http.Header{shared: v1, open: v1a} {
		event, err := verify([]byte(body), h, secret, time.Unix(1300, 0))
		if err != nil || event.Id != "evt_1" || event.Type != "key.created" || event.Data["n"] != 1.0 {
			t.Errorf("got %+v, %v", event, err)
		}
	}
	for name, wrong := range map[string]struct {
		body   string
		header http.Header
		secret string
		now    int64
	}{
		"another body":                  {body + " ", v1, shared, 1000},
		"another body, with ed25519":    {body + " ", v1a, open, 1000},
		"another secret":                {body, v1, other, 1000},
		"a public key for a secret":     {body, v1, open, 1000},
		"no secret":                     {body, v1, "whsec_", 1000},
		"a public key that is too long": {body, v1a, open + "AAAA", 1000},
		"too late":                      {body, v1, shared, 1301},
		"too early":                     {body, v1, shared, 699},
		"no headers":                    {body, http.Header{}, shared, 1000},
	} {
		event, err := verify([]byte(wrong.body), wrong.header, wrong.secret, time.Unix(wrong.now, 0))
		if !errors.Is(err, ErrVerification) {
			t.Errorf("%s: %+v, %v", name, event, err)
		}
	}
}
