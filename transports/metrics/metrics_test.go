package metrics_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/transports/metrics"
)

var _ middleware.Meter = (*metrics.Meter)(nil)

func TestExposition(t *testing.T) {
	r := metrics.New("1.2.3")
	r.Gauge("mneme_gate_in_use", "Slots held.", func() float64 { return 7 })
	r.Labelled("mneme_light", "Lights that are on.", []string{"room", "lamp"}, func(emit func(float64, ...string)) {
		emit(1, "hall", "left")
		emit(2, "hall", "right")
	})
	models := r.Models()
	models.ModelCall("e5", "embedding", "ok", 3*time.Millisecond)
	models.ModelCall("e5", "embedding", "timeout", 2*time.Second)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				r.Meter.Begin("notes.get", "http")
				r.Meter.End("notes.get", "http", "ok", 3*time.Millisecond)
			}
		})
	}
	wg.Wait()
	r.Meter.Begin("notes.write", "http")
	r.Meter.Begin("notes.get", "mcp")
	r.Meter.End("notes.get", "mcp", "timeout", time.Minute)
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	for _, want := range []string{
		`mneme_operation_seconds_count{code="ok",op="notes.get",transport="http"} 800`,
		`mneme_operation_seconds_bucket{code="ok",op="notes.get",transport="http",le="0.0025"} 0`,
		`mneme_operation_seconds_bucket{code="ok",op="notes.get",transport="http",le="0.005"} 800`,
		`mneme_operation_seconds_sum{code="timeout",op="notes.get",transport="mcp"} 60`,
		`mneme_operations_in_flight{op="notes.write",transport="http"} 1`,
		`mneme_operations_in_flight{op="notes.get",transport="http"} 0`,
		`mneme_model_seconds_bucket{code="ok",kind="embedding",model="e5",le="0.0025"} 0`,
		`mneme_model_seconds_bucket{code="ok",kind="embedding",model="e5",le="0.005"} 1`,
		`mneme_model_seconds_sum{code="timeout",kind="embedding",model="e5"} 2`,
		`mneme_light{lamp="left",room="hall"} 1`, `mneme_light{lamp="right",room="hall"} 2`,
		`mneme_gate_in_use 7`, `mneme_build_info{version="1.2.3"} 1`, "go_goroutines ", "process_open_fds ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Error(w.Header())
	}
}

func BenchmarkMeter(b *testing.B) {
	m := metrics.New("x").Meter
	b.ReportAllocs()
	for b.Loop() {
		m.Begin("notes.get", "http")
		m.End("notes.get", "http", "ok", time.Millisecond)
	}
}
