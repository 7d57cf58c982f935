package app_test

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// collector takes what comes over OTLP.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   map[string][]*traces.Span // by name
	metrics map[string]bool
	from    map[string]string // attributes of the resource
}

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{spans: map[string][]*traces.Span{}, metrics: map[string]bool{}, from: map[string]string{}}
	read := func(r *http.Request, m proto.Message) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		b, err := io.ReadAll(body)
		if err == nil {
			err = proto.Unmarshal(b, m)
		}
		if err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(_ http.ResponseWriter, r *http.Request) {
		var m collectortrace.ExportTraceServiceRequest
		read(r, &m)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, of := range m.GetResourceSpans() {
			for _, a := range of.GetResource().GetAttributes() {
				c.from[a.GetKey()] = a.GetValue().GetStringValue()
			}
			for _, scope := range of.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					c.spans[s.GetName()] = append(c.spans[s.GetName()], s)
				}
			}
		}
	})
	mux.HandleFunc("POST /v1/metrics", func(_ http.ResponseWriter, r *http.Request) {
		var m collectormetrics.ExportMetricsServiceRequest
		read(r, &m)
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, of := range m.GetResourceMetrics() {
			for _, scope := range of.GetScopeMetrics() {
				for _, s := range scope.GetMetrics() {
					c.metrics[s.GetName()] = true
				}
			}
		}
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

// only is the one span of a name below another.
func (c *collector) only(t *testing.T, name string, below *traces.Span) *traces.Span {
	t.Helper()
	var found []*traces.Span
	for _, s := range c.spans[name] {
		if string(s.GetParentSpanId()) == string(below.GetSpanId()) {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q below %q", len(found), name, below.GetName())
	}
	return found[0]
}

// TestTelemetry: a write and a query arrive at a collector with their parts, in the
// trace of the caller, and so do the measurements; nothing that was said does.
func TestTelemetry(t *testing.T) {
	c := collect(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	t.Run("serve", func(t *testing.T) { // all is sent by its end
		a, err := open(t, frontModels)
		if err != nil {
			t.Fatal(err)
		}
		k, err := a.Keys.Issue(t.Context(), key.Issue{Kind: ident.Service})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range [][2]string{{"/namespaces/n/documents", `{"documents":[{"id":"d","text":"a quetzal"}]}`},
			{"/namespaces/n/query", `{"query":"quetzal"}`}, {"/namespaces/none/query", `{"query":"quetzal"}`}} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, call[0], strings.NewReader(call[1]))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+k.Secret)
			r.Header.Set("Traceparent", parent)
			w := httptest.NewRecorder()
			a.Handler.ServeHTTP(w, r)
			want := http.StatusOK
			if strings.Contains(call[0], "none") {
				want = http.StatusNotFound
			}
			if w.Code != want {
				t.Errorf("%s: %d %s", call[0], w.Code, w.Body)
			}
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.from["service.name"] != "mneme" || c.from["service.version"] != "test" || c.from["deployment.environment"] != "test" {
		t.Errorf("from %v", c.from)
	}
	if len(c.spans["documents.write"]) != 1 || len(c.spans["namespaces.query"]) != 2 {
		t.Fatalf("spans %v", c.spans)
	}
	write := c.spans["documents.write"][0]
	for _, part := range []string{"encode", "commit", "index"} {
		c.only(t, part, write)
	}
	query := c.spans["namespaces.query"][0]
	if len(c.spans["hydrate"]) == 1 && string(c.spans["hydrate"][0].GetParentSpanId()) != string(query.GetSpanId()) {
		query = c.spans["namespaces.query"][1]
	}
	c.only(t, "hydrate", query)
	c.only(t, "fuse", query)
	if n := len(c.spans["retrieve"]); n != 2 {
		t.Errorf("%d retrievers", n)
	}
	for name, spans := range c.spans {
		for _, s := range spans {
			if got := hex.EncodeToString(s.GetTraceId()); !strings.Contains(parent, got) {
				t.Errorf("%s is of the trace %s", name, got)
			}
			if strings.Contains(s.String(), "quetzal") {
				t.Errorf("%s tells a text: %s", name, s)
			}
		}
	}
	for _, name := range []string{"mneme_operation_seconds", "mneme_build_info"} {
		if !c.metrics[name] {
			t.Errorf("no %s among %v", name, c.metrics)
		}
	}
}
