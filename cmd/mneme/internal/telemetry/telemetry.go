// Package telemetry sends traces and measurements to where the standard variables of
// OpenTelemetry (OTEL_*) say, over OTLP. Without such a variable it does nothing.
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/)
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// closeFor is how long the last spans and measurements have to be sent.
const closeFor = 5 * time.Second

// warnEvery bounds how often a destination that takes nothing is told of.
const warnEvery = time.Minute

// Telemetry is what runs. The zero value sends nothing.
type Telemetry struct {
	Tracer trace.Tracer // nil: calls are not traced

	closers []func(context.Context) error
}

// Open starts what the environment asks for. Traces are asked for by
// OTEL_TRACES_EXPORTER=otlp or a destination (OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), the measurements of metrics likewise;
// OTEL_SDK_DISABLED=true turns both off. The error names the variable that is wrong.
func Open(ctx context.Context, version string, metrics prometheus.Gatherer, log *slog.Logger) (_ *Telemetry, err error) {
	t := &Telemetry{}
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return t, nil
	}
	traces, err := wanted("TRACES")
	if err != nil {
		return nil, err
	}
	measurements, err := wanted("METRICS")
	if err != nil || !traces && !measurements {
		return t, err
	}
	otel.SetErrorHandler(warner(log))
	from, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "mneme"),
		attribute.String("service.version", version)), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.Close(context.WithoutCancel(ctx)))
		}
	}()
	if traces {
		if err := t.trace(ctx, from); err != nil {
			return nil, err
		}
	}
	if measurements {
		if err := t.measure(ctx, from, metrics); err != nil {
			return nil, err
		}
	}
	log.InfoContext(ctx, "telemetry on", "traces", traces, "metrics", measurements)
	return t, nil
}

// wanted reads whether a signal is sent.
func wanted(signal string) (bool, error) {
	name := "OTEL_" + signal + "_EXPORTER"
	switch v := os.Getenv(name); v {
	case "":
		return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT")) != "", nil
	case "otlp":
		return true, nil
	case "none", "prometheus": // what is measured is at /metrics in any case
		return false, nil
	default:
		return false, fmt.Errorf("%s is %q; otlp and none are served", name, v)
	}
}

// overGRPC reads the protocol of a signal.
func overGRPC(signal string) (bool, error) {
	name := "OTEL_EXPORTER_OTLP_" + signal + "_PROTOCOL"
	v := os.Getenv(name)
	if v == "" {
		name = "OTEL_EXPORTER_OTLP_PROTOCOL"
		v = os.Getenv(name)
	}
	switch v {
	case "", "http/protobuf":
		return false, nil
	case "grpc":
		return true, nil
	}
	return false, fmt.Errorf("%s is %q; grpc and http/protobuf are served", name, v)
}

func (t *Telemetry) trace(ctx context.Context, from *resource.Resource) error {
	grpc, err := overGRPC("TRACES")
	if err != nil {
		return err
	}
	var to sdk.SpanExporter
	if grpc {
		to, err = otlptracegrpc.New(ctx)
	} else {
		to, err = otlptracehttp.New(ctx)
	}
	if err != nil {
		return fmt.Errorf("send traces: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(to), sdk.WithResource(from))
	t.Tracer = provider.Tracer("github.com/mnemehq/mneme")
	t.closers = append(t.closers, provider.Shutdown)
	return nil
}

func (t *Telemetry) measure(ctx context.Context, from *resource.Resource, metrics prometheus.Gatherer) error {
	grpc, err := overGRPC("METRICS")
	if err != nil {
		return err
	}
	var to metric.Exporter
	if grpc {
		to, err = otlpmetricgrpc.New(ctx)
	} else {
		to, err = otlpmetrichttp.New(ctx)
	}
	if err != nil {
		return fmt.Errorf("send measurements: %w", err)
	}
	reader := metric.NewPeriodicReader(to, metric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(metrics))))
	provider := metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(from))
	t.closers = append(t.closers, provider.Shutdown)
	return nil
}

// warner logs failures to send, which repeat as long as a destination is away.
func warner(log *slog.Logger) otel.ErrorHandlerFunc {
	var last atomic.Int64
	return func(err error) {
		now := time.Now().UnixNano()
		if before := last.Load(); now-before < int64(warnEvery) || !last.CompareAndSwap(before, now) {
			return
		}
		log.Warn("telemetry not sent", "error", err)
	}
}

// Close sends what is left, for at most five seconds.
func (t *Telemetry) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeFor)
	defer cancel()
	for _, c := range t.closers {
		if err := c(ctx); err != nil {
			otel.Handle(err) // a destination that is away is no reason to fail
		}
	}
	return nil
}
