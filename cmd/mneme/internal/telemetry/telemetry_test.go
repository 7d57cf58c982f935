package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"

	"github.com/mnemehq/mneme/cmd/mneme/internal/telemetry"
)

// send opens what the environment asks for, makes a span where calls are traced, and closes it.
func send(t *testing.T) error {
	t.Helper()
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "one"}))
	s, err := telemetry.Open(t.Context(), "test", metrics, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if s.Tracer != nil {
		_, span := s.Tracer.Start(t.Context(), "call")
		span.End()
	}
	return s.Close(t.Context())
}

// TestAsked: nothing is sent unless a variable says so.
func TestAsked(t *testing.T) {
	const both = "/v1/metrics /v1/traces"
	for name, c := range map[string]struct {
		env  map[string]string // URL stands for the collector
		want string
	}{
		"nothing":  {nil, ""},
		"both":     {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL"}, both},
		"disabled": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_SDK_DISABLED": "TRUE"}, ""},
		"none": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_TRACES_EXPORTER": "none",
			"OTEL_METRICS_EXPORTER": "none"}, ""},
		"traces alone":  {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "URL/v1/traces"}, "/v1/traces"},
		"metrics alone": {map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "URL/v1/metrics"}, "/v1/metrics"},
		"by name": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "URL", "OTEL_TRACES_EXPORTER": "otlp",
			"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "/v1/traces"},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string]bool{}
			s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				asked[r.URL.Path] = true
			}))
			defer s.Close()
			for k, v := range c.env {
				t.Setenv(k, strings.Replace(v, "URL", s.URL, 1))
			}
			if err := send(t); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(asked)), " "); got != c.want {
				t.Errorf("sent to %q, want %q", got, c.want)
			}
		})
	}
}

// TestWrongVariables: one that says what cannot be done is named.
func TestWrongVariables(t *testing.T) {
	for variable, value := range map[string]string{"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_METRICS_EXPORTER": "console",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "x",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "x"} {
		t.Run(variable, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
			t.Setenv(variable, value)
			if err := send(t); err == nil || !strings.Contains(err.Error(), variable+` is "`+value+`"`) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("OTEL_RESOURCE_ATTRIBUTES", func(t *testing.T) {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
		t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "nonsense")
		if err := send(t); err == nil || !strings.Contains(err.Error(), "OTEL_RESOURCE_ATTRIBUTES") {
			t.Errorf("%v", err)
		}
	})
}

// TestAway: a destination that refuses is told of once, and is no failure.
func TestAway(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer s.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	var log bytes.Buffer
	sent, err := telemetry.Open(t.Context(), "test", prometheus.NewRegistry(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_, span := sent.Tracer.Start(t.Context(), "call")
		span.End()
	}
	if err := sent.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "telemetry not sent"); n != 1 {
		t.Errorf("%d lines:\n%s", n, log.String())
	}
}

// traceService is the part of a collector that speaks gRPC.
type traceService struct {
	collectortrace.UnimplementedTraceServiceServer
	spans chan string
}

func (s *traceService) Export(_ context.Context, m *collectortrace.ExportTraceServiceRequest) (
	*collectortrace.ExportTraceServiceResponse, error) {
	for _, of := range m.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				s.spans <- span.GetName()
			}
		}
	}
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

// TestOverGRPC: a collector that speaks gRPC is served as well.
func TestOverGRPC(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := &traceService{spans: make(chan string, 10)}
	server := grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(server, service)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if err := send(t); err != nil {
		t.Fatal(err)
	}
	select {
	case name := <-service.spans:
		if name != "call" {
			t.Errorf("a span %q", name)
		}
	default:
		t.Error("nothing came")
	}
}
