// Package span marks the parts of a call in its trace, for those who look where a
// call's time went. A call that nobody traces pays for looking that up and nothing more.
package span

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mnemehq/mneme/core/fault"
)

// scope names this program in the spans that it makes.
const scope = "github.com/mnemehq/mneme"

// Start begins a part of the call whose span the context carries. The part ends with
// end, which is given what came of it: a fault's code is noted, and no text of the
// caller's or of an error.
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (_ context.Context, end func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, unrecorded
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, func(err error) {
		if err != nil {
			code := string(fault.CodeOf(err))
			span.SetAttributes(attribute.String("mneme.code", code))
			if fault.Status(fault.Code(code)) >= 500 {
				span.SetStatus(codes.Error, code)
			}
		}
		span.End()
	}
}

func unrecorded(error) {}

// Propagate gives the headers that tell another program which trace it works for (W3C
// Trace Context); none where nobody traces.
func Propagate(ctx context.Context, set func(name, value string)) {
	propagation.TraceContext{}.Inject(ctx, carrier(set))
}

// carrier is a propagation.TextMapCarrier that is only written to.
type carrier func(name, value string)

func (c carrier) Get(string) string      { return "" }
func (c carrier) Set(name, value string) { c(name, value) }
func (c carrier) Keys() []string         { return nil }
