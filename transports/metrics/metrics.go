package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Registry holds the metrics of one process. It is a prometheus.Registerer, so
// parts of the process may add collectors of their own.
type Registry struct {
	*prometheus.Registry
	Meter *Meter
}

// New makes a registry with the operation meter, Go runtime and process metrics,
// and mneme_build_info.
func New(version string) *Registry {
	r := &Registry{Registry: prometheus.NewRegistry(), Meter: &Meter{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mneme_operation_seconds", Help: "Time of operations by how they ended: ok or an error code.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120},
		}, []string{"op", "transport", "code"}),
		flight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "mneme_operations_in_flight", Help: "Operations being worked on or waiting for their turn.",
		}, []string{"op", "transport"}),
	}}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "mneme_build_info", Help: "1, labelled with the version.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	r.MustRegister(r.Meter.seconds, r.Meter.flight, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Handler serves the text format.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.Registry, promhttp.HandlerOpts{Registry: r.Registry})
}

// Gauge adds a gauge that is read when the metrics are.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Meter counts operations. Safe for concurrent use.
type Meter struct {
	seconds *prometheus.HistogramVec
	flight  *prometheus.GaugeVec
	gauges  sync.Map // [2]string to prometheus.Gauge
	timers  sync.Map // [3]string to prometheus.Observer
}

// Begin says that a call is in flight.
func (m *Meter) Begin(operation, transport string) { m.gauge(operation, transport).Inc() }

// End says that it no longer is, how it ended and how long it took.
func (m *Meter) End(operation, transport, code string, took time.Duration) {
	m.gauge(operation, transport).Dec()
	key := [3]string{operation, transport, code}
	o, ok := m.timers.Load(key)
	if !ok {
		o, _ = m.timers.LoadOrStore(key, m.seconds.WithLabelValues(operation, transport, code))
	}
	o.(prometheus.Observer).Observe(took.Seconds())
}

func (m *Meter) gauge(operation, transport string) prometheus.Gauge {
	key := [2]string{operation, transport}
	g, ok := m.gauges.Load(key)
	if !ok {
		g, _ = m.gauges.LoadOrStore(key, m.flight.WithLabelValues(operation, transport))
	}
	return g.(prometheus.Gauge)
}
