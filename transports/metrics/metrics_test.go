package metrics_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/transports/metrics"
)

var _ middleware.Meter = (*metrics.Meter)(nil)

func TestExposition(t *testing.T) {
	r := metrics.New("1.2.3")
	r.Gauge("mneme_gate_in_use", "Slots held.", func() float64 { return 7 })
	lights := metrics.Family{Name: "mneme_light", Type: metrics.Gauge, Help: "Lights.", Labels: []string{"room", "lamp"}}
	r.Read(lights,
		func(emit metrics.Emit) {
			emit(1, "hall", "left")
			emit(2, "hall", "right")
		})
	r.Read(metrics.Family{Name: "mneme_bulbs_total", Type: metrics.Counter, Help: "Bulbs used up."},
		func(emit metrics.Emit) { emit(3) })
	r.Meter.Degraded("notes.find", "vector", "timeout")
	r.Meter.Degraded("notes.find", "vector", "timeout")
	r.Meter.Refused(fault.RateLimit)
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
		"# TYPE mneme_light gauge", "# TYPE mneme_bulbs_total counter", "mneme_bulbs_total 3",
		`mneme_degraded_total{op="notes.find",part="vector",reason="timeout"} 2`, `mneme_refused_total{limit="rate"} 1`,
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

// Families describes every metric of Mneme's own as it is exposed, by name.
func TestFamilies(t *testing.T) {
	r := metrics.New("x")
	r.Models().ModelCall("m", "embedding", "ok", time.Second)
	r.Gauge("mneme_a", "An a.", func() float64 { return 1 })
	r.Read(metrics.Family{Name: "mneme_b_total", Type: metrics.Counter, Help: "All bs.", Labels: []string{"of"}},
		func(emit metrics.Emit) { emit(1, "x") })
	r.Meter.Begin("x", "http")
	r.Meter.End("x", "http", "ok", time.Second)
	r.Meter.Degraded("x", "vector", "error")
	r.Meter.Refused(fault.CallLimit)
	exposed, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range exposed {
		if !strings.HasPrefix(f.GetName(), "mneme_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		want = append(want, fmt.Sprint(f.GetName(), " ", strings.ToLower(f.GetType().String()), " ", f.GetHelp(), labels))
	}
	var got []string
	for _, f := range r.Families() {
		slices.Sort(f.Labels)
		got = append(got, fmt.Sprint(f.Name, " ", f.Type, " ", f.Help, f.Labels))
	}
	if !slices.Equal(got, want) || len(got) < 8 {
		t.Errorf("described\n%s\nexposed\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
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
