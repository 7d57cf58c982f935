package webhook_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/outbound/outboundtest"
	"github.com/mnemehq/mneme/adapters/webhook"
	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/core/port"
)

var (
	secretA = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of thirty-two bytes, a."))
	secretB = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret of thirty-two bytes, b."))
)

func message(url string, secrets ...string) port.WebhookMessage {
	return port.WebhookMessage{URL: url, ID: "evt_1", At: time.Now(), Body: []byte(`{"type":"documents.written","číslo":1}`),
		Secrets: secrets}
}

func sender(t *testing.T, o webhook.Options) *webhook.Sender {
	t.Helper()
	s, err := webhook.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheStandardVerifiesWhatIsSent(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secretC, publicC := "whsk_"+base64.StdEncoding.EncodeToString(private), "whpk_"+base64.StdEncoding.EncodeToString(public)
	for name, c := range map[string]struct {
		known   string
		signing []string
		refused bool
	}{
		"one secret":        {secretA, []string{secretA}, false},
		"the newer of two":  {secretA, []string{secretA, secretB}, false},
		"the older of two":  {secretB, []string{secretA, secretB}, false},
		"another's":         {secretB, []string{secretA}, true},
		"a public key":      {publicC, []string{secretC}, false},
		"the wrong scheme":  {publicC, []string{secretA}, true},
		"both, by a key":    {publicC, []string{secretA, secretC}, false},
		"both, by a secret": {secretA, []string{secretC, secretA}, false},
	} {
		r := webhooktest.New(t, c.known)
		s := sender(t, webhook.Options{Private: []string{r.Network()}, UserAgent: "Mneme/test"})
		answer, err := s.Send(t.Context(), message(r.URL, c.signing...))
		if c.refused {
			if answer.Status != http.StatusUnauthorized || err == nil || r.Refused() != 1 {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
			continue
		}
		got := r.Taken()
		if err != nil || answer.Status != http.StatusNoContent || len(got) != 1 {
			t.Fatalf("%s: %+v, %v, %d messages", name, answer, err, len(got))
		}
		if h := got[0].Header; got[0].ID != "evt_1" || h.Get("Content-Type") != "application/json" ||
			h.Get("User-Agent") != "Mneme/test" || h.Get("Traceparent") != "" {
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

func TestNothingIsSentUnsigned(t *testing.T) {
	r := webhooktest.New(t, secretA)
	s := sender(t, webhook.Options{Private: []string{r.Network()}})
	for _, secrets := range [][]string{nil, {"whsec_***"}, {"whsk_AAAA"}, {"whsk_*"}, {"plain"}, {secretA, "whsec_***"}} {
		_, err := s.Send(t.Context(), message(r.URL, secrets...))
		if err == nil || strings.Contains(err.Error(), "AAAA") || strings.Contains(err.Error(), "***") {
			t.Errorf("%q: %v", secrets, err)
		}
	}
	if len(r.Taken())+r.Refused() != 0 {
		t.Error("something came")
	}
}

func TestTraceGoesAlong(t *testing.T) {
	r := webhooktest.New(t, secretA)
	s := sender(t, webhook.Options{Private: []string{r.Network()}})
	ctx, span := trace.NewTracerProvider().Tracer("test").Start(t.Context(), "deliver")
	if _, err := s.Send(ctx, message(r.URL, secretA)); err != nil {
		t.Fatal(err)
	}
	if got := r.Taken()[0].Header.Get("Traceparent"); !strings.Contains(got, span.SpanContext().TraceID().String()) {
		t.Errorf("traceparent %q", got)
	}
}

// answers is what endpoints answer, and what is made of it.
func TestAnswers(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	var asked atomic.Int32
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		status int
		text   string
		wait   time.Duration
		err    string // part of it; "": none
	}{
		"200": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "fine\xff\x00!") }, 200, "fine!", 0, ""},
		"299": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299) }, 299, "", 0, ""},
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			fmt.Fprint(w, "ouch")
		}, 500, "ouch", 0, "status 500"},
		"410": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(410) }, 410, "", 0, "status 410"},
		"429": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(429)
		}, 429, "", 2 * time.Minute, "status 429"},
		"503, by a date": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", now.Add(time.Hour).Format(http.TimeFormat))
			w.WriteHeader(503)
		}, 503, "", time.Hour, "status 503"},
		"504, of a time that is over": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", now.Add(-time.Hour).Format(http.TimeFormat))
			w.WriteHeader(504)
		}, 504, "", 0, "status 504"},
		"502, of nonsense": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "soon")
			w.WriteHeader(502)
		}, 502, "", 0, "status 502"},
		"500 has no say in it": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(500)
		}, 500, "", 0, "status 500"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, 307, "", 0, "redirects"},
		"a long answer": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 600))
		}, 200, strings.Repeat("x", 512), 0, ""},
		"an endless answer": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("y", 4096)); err != nil {
					return
				}
			}
		}, 200, strings.Repeat("y", 512), 0, ""},
		"an endless failure": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("z", 4096)); err != nil {
					return
				}
			}
		}, 500, strings.Repeat("z", 512), 0, "status 500"},
		"an announced one": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "65537")
			_, _ = io.WriteString(w, strings.Repeat("x", 65537))
		}, 0, "", 0, "too large"},
		"none": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, "", 0, "cannot be reached"},
	} {
		r := webhooktest.New(t, secretA)
		r.Answer(http.HandlerFunc(c.answer))
		s := sender(t, webhook.Options{Private: []string{r.Network()}, Now: func() time.Time { return now }})
		got, err := s.Send(t.Context(), message(r.URL, secretA))
		if got.Status != c.status || got.RetryAfter != c.wait || !strings.HasPrefix(got.Text, c.text) || c.text != "" &&
			got.Text != c.text {
			t.Errorf("%s: %d, %v, %q", name, got.Status, got.RetryAfter, got.Text)
		}
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", name, err)
		}
		r.CloseClientConnections()
	}
	if asked.Load() != 1 {
		t.Errorf("a redirect was followed: %d requests", asked.Load())
	}
}

func TestSlowEndpointsAreLeft(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a slow body": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "and then")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		r := webhooktest.New(t, secretA)
		r.Answer(answer)
		s := sender(t, webhook.Options{Private: []string{r.Network()}, Timeout: 50 * time.Millisecond})
		if _, err := s.Send(t.Context(), message(r.URL, secretA)); !errors.Is(err, outbound.ErrTimeout) {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Send(ctx, message(r.URL, secretA)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, of a call that has ended: %v", name, err)
		}
	}
}

func TestWhatIsNotPublicIsNotReached(t *testing.T) {
	var asked atomic.Int32
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	r := webhooktest.New(t, secretA)
	r.Answer(count)
	secure := httptest.NewTLSServer(count)
	defer secure.Close()
	open := sender(t, webhook.Options{})
	for _, url := range []string{r.URL, secure.URL, "http://169.254.169.254/latest", "https://[::1]/x", "http://10.0.0.1/"} {
		if _, err := open.Send(t.Context(), message(url, secretA)); !errors.Is(err, outbound.ErrNotPublic) {
			t.Errorf("%s: %v", url, err)
		}
	}
	// A name whose address is another one when it is connected to.
	rebound := sender(t, webhook.Options{Resolver: outboundtest.Resolver(t, "127.0.0.1")})
	if _, err := rebound.Send(t.Context(), message("https://rebound.example/", secretA)); !errors.Is(err, outbound.ErrNotPublic) {
		t.Errorf("a rebound name: %v", err)
	}
	// One that is allowed, with a certificate that nobody trusts.
	allowed := sender(t, webhook.Options{Private: []string{secure.Listener.Addr().String()}})
	if _, err := allowed.Send(t.Context(), message(secure.URL, secretA)); !errors.Is(err, outbound.ErrCertificate) {
		t.Errorf("an untrusted certificate: %v", err)
	}
	// One that speaks no TLS.
	plain := sender(t, webhook.Options{Private: []string{r.Network()}})
	if _, err := plain.Send(t.Context(), message("https://"+r.Network(), secretA)); !errors.Is(err, outbound.ErrUnreachable) {
		t.Errorf("no TLS: %v", err)
	}
	if _, err := plain.Send(t.Context(), message("https://exa mple/", secretA)); !errors.Is(err, outbound.ErrURL) {
		t.Errorf("no URL: %v", err)
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests came in", asked.Load())
	}
	if _, err := webhook.New(webhook.Options{Private: []string{"nowhere"}}); err == nil {
		t.Error("a network that is none was taken")
	}
}
