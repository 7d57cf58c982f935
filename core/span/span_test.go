package span_test

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/span"
)

func TestStart(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
	ctx, call := provider.Tracer("test").Start(t.Context(), "call")
	for name, err := range map[string]error{"well": nil, "refused": fault.New(fault.InvalidRequest, "secret"),
		"failed": fault.New(fault.Unavailable, "secret"), "unknown": errors.New("secret")} {
		inner, end := span.Start(ctx, name, attribute.Int("n", 3))
		_, endInner := span.Start(inner, "part of "+name)
		endInner(nil)
		end(err)
	}
	call.End()
	want := map[string]struct {
		code   string
		status codes.Code
	}{"well": {"", codes.Unset}, "refused": {"invalid_request", codes.Unset}, "failed": {"unavailable", codes.Error},
		"unknown": {"internal_error", codes.Error}}
	ended := map[string]trace.ReadOnlySpan{}
	for _, s := range spans.Ended() {
		ended[s.Name()] = s
	}
	for name, w := range want {
		s := ended[name]
		if s.Parent().SpanID() != call.SpanContext().SpanID() || s.Status().Code != w.status ||
			ended["part of "+name].Parent().SpanID() != s.SpanContext().SpanID() {
			t.Errorf("%s: %+v", name, s)
		}
		code := ""
		for _, a := range s.Attributes() {
			if a.Key == "mneme.code" {
				code = a.Value.AsString()
			} else if a.Key != "n" || a.Value.AsInt64() != 3 {
				t.Errorf("%s: %v", name, a)
			}
		}
		if code != w.code {
			t.Errorf("%s: code %q, want %q", name, code, w.code)
		}
	}
}

// TestNobodyTraces: without a trace nothing is made.
func TestNobodyTraces(t *testing.T) {
	for name, ctx := range map[string]context.Context{"no span": t.Context(), "an unsampled one": unsampled(t)} {
		inner, end := span.Start(ctx, "x")
		end(nil)
		end(errors.New("x"))
		if inner != ctx {
			t.Errorf("%s: another context", name)
		}
		if n := testing.AllocsPerRun(100, func() {
			_, end := span.Start(ctx, "x")
			end(nil)
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func unsampled(t *testing.T) context.Context {
	ctx, _ := trace.NewTracerProvider(trace.WithSampler(trace.NeverSample())).Tracer("test").Start(t.Context(), "call")
	return ctx
}

// TestPropagate: another program is told of a trace, and of nothing where there is none.
func TestPropagate(t *testing.T) {
	ctx, s := trace.NewTracerProvider().Tracer("test").Start(t.Context(), "call")
	defer s.End()
	told := map[string]string{}
	span.Propagate(ctx, func(name, value string) { told[name] = value })
	is := s.SpanContext()
	if want := "00-" + is.TraceID().String() + "-" + is.SpanID().String() + "-01"; len(told) != 1 || told["traceparent"] != want {
		t.Errorf("%v, want traceparent %s", told, want)
	}
	span.Propagate(t.Context(), func(name, value string) { t.Errorf("%s: %s", name, value) })
}
