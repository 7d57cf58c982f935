package metrics

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mnemehq/mneme/core/fault"
)

// Registry holds the metrics of one process. It is a prometheus.Registerer, so
// parts of the process may add collectors of their own.
type Registry struct {
	*prometheus.Registry
	Meter *Meter

	families []Family
}

// Family is a metric as it is described, all its series together.
type Family struct {
	Name   string
	Type   Type
	Help   string
	Labels []string
}

// Type is the kind of a metric's values.
type Type string

// The types.
const (
	Gauge     Type = "gauge"
	Counter   Type = "counter" // only rises, from 0 at the start of the process
	Histogram Type = "histogram"
)

// Emit takes a value with those of the labels, in their order.
type Emit func(value float64, labels ...string)

// seconds are the buckets of times: from a cached answer to the longest write.
var seconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}

// New makes a registry with the operation meter, Go runtime and process metrics,
// and mneme_build_info.
func New(version string) *Registry {
	r := &Registry{Registry: prometheus.NewRegistry()}
	r.Meter = &Meter{
		seconds: r.histogram("mneme_operation_seconds", "Time of operations by how they ended: ok or an error code.",
			"op", "transport", "code"),
		degraded: r.counter("mneme_degraded_total",
			"Answers that lacked a part or had less of it, by what was missing and why.", "op", "part", "reason"),
		refused: r.counter("mneme_refused_total", "Calls that a limit refused, with 429 or 503.", "limit"),
	}
	flight := Family{"mneme_operations_in_flight", Gauge, "Operations being worked on or waiting for their turn.",
		[]string{"op", "transport"}}
	r.Meter.flight = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: flight.Name, Help: flight.Help}, flight.Labels)
	r.add(flight, r.Meter.flight)
	r.Read(Family{"mneme_build_info", Gauge, "1, labelled with the version.", []string{"version"}},
		func(emit Emit) { emit(1, version) })
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Families describes the metrics of Mneme's own, by name.
func (r *Registry) Families() []Family {
	return slices.SortedFunc(slices.Values(r.families), func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
}

func (r *Registry) add(f Family, c prometheus.Collector) {
	r.MustRegister(c)
	r.families = append(r.families, f)
}

func (r *Registry) histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: seconds}, labels)
	r.add(Family{name, Histogram, help, labels}, v)
	return v
}

func (r *Registry) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.add(Family{name, Counter, help, labels}, v)
	return v
}

// Models are the metrics of models. Safe for concurrent use.
type Models struct{ seconds *prometheus.HistogramVec }

// ModelCall takes the measurement of a call to a model.
func (m *Models) ModelCall(model, kind, code string, took time.Duration) {
	m.seconds.WithLabelValues(model, kind, code).Observe(took.Seconds())
}

// Models adds the metrics of calls to models.
func (r *Registry) Models() *Models {
	return &Models{r.histogram("mneme_model_seconds", "Time of calls to models by how they ended: ok or an error code.",
		"model", "kind", "code")}
}

// Read adds a gauge or a counter that is read, all its series at once, when the
// metrics are.
func (r *Registry) Read(f Family, read func(emit Emit)) {
	kind := prometheus.GaugeValue
	if f.Type == Counter {
		kind = prometheus.CounterValue
	}
	r.add(f, &collector{prometheus.NewDesc(f.Name, f.Help, f.Labels, nil), kind, read})
}

// Gauge adds a gauge without labels that is read when the metrics are.
func (r *Registry) Gauge(name, help string, read func() float64) {
	r.Read(Family{Name: name, Type: Gauge, Help: help}, func(emit Emit) { emit(read()) })
}

// collector is one family, read when the metrics are.
type collector struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(emit Emit)
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(to chan<- *prometheus.Desc) { to <- c.desc }

// Collect implements prometheus.Collector.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	c.read(func(value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(c.desc, c.kind, value, labels...)
	})
}

// Handler serves the text format.
func (r *Registry) Handler() http.Handler {
	return promhttp.HandlerFor(r.Registry, promhttp.HandlerOpts{Registry: r.Registry})
}

// Meter counts operations. Safe for concurrent use.
type Meter struct {
	seconds  *prometheus.HistogramVec
	degraded *prometheus.CounterVec
	refused  *prometheus.CounterVec
	flight   *prometheus.GaugeVec
	gauges   sync.Map // [2]string to prometheus.Gauge
	timers   sync.Map // [3]string to prometheus.Observer
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

// Degraded counts an answer that lacks a part, or has less of one.
func (m *Meter) Degraded(operation, part, reason string) {
	m.degraded.WithLabelValues(operation, part, reason).Inc()
}

// Refused counts a call that a limit refused.
func (m *Meter) Refused(limit fault.Limit) { m.refused.WithLabelValues(string(limit)).Inc() }

func (m *Meter) gauge(operation, transport string) prometheus.Gauge {
	key := [2]string{operation, transport}
	g, ok := m.gauges.Load(key)
	if !ok {
		g, _ = m.gauges.LoadOrStore(key, m.flight.WithLabelValues(operation, transport))
	}
	return g.(prometheus.Gauge)
}
