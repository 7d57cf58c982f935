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

// Models are the metrics of models. Safe for concurrent use.
type Models struct{ seconds *prometheus.HistogramVec }

// ModelCall takes the measurement of a call to a model.
func (m *Models) ModelCall(model, kind, code string, took time.Duration) {
	m.seconds.WithLabelValues(model, kind, code).Observe(took.Seconds())
}

// Models adds the metrics of calls to models.
func (r *Registry) Models() *Models {
	m := &Models{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "mneme_model_seconds",
		Help:    "Time of calls to models by how they ended: ok or an error code.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120},
	}, []string{"model", "kind", "code"})}
	r.MustRegister(m.seconds)
	return m
}

// Labelled adds a gauge with labels that is read, all its series at once, when the
// metrics are: read gives emit each value with those of the labels, in their order.
func (r *Registry) Labelled(name, help string, labels []string, read func(emit func(value float64, labels ...string))) {
	r.MustRegister(&labelled{prometheus.NewDesc(name, help, labels, nil), read})
}

type labelled struct {
	desc *prometheus.Desc
	read func(emit func(value float64, labels ...string))
}

// Describe implements prometheus.Collector.
func (l *labelled) Describe(to chan<- *prometheus.Desc) { to <- l.desc }

// Collect implements prometheus.Collector.
func (l *labelled) Collect(to chan<- prometheus.Metric) {
	l.read(func(value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, value, labels...)
	})
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
