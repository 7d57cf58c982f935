package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
)

// recorder is a tracer that keeps its spans.
type recorder struct {
	noop.Tracer
	spans []*span
}

type span struct {
	noop.Span
	name   string
	attrs  map[attribute.Key]string
	status codes.Code
	ended  int
}

func (r *recorder) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	s := &span{name: name, attrs: map[attribute.Key]string{}}
	c := trace.NewSpanStartConfig(options...)
	s.SetAttributes(c.Attributes()...)
	r.spans = append(r.spans, s)
	return trace.ContextWithSpan(ctx, s), s
}

func (s *span) SetAttributes(attrs ...attribute.KeyValue) {
	for _, a := range attrs {
		s.attrs[a.Key] = a.Value.String()
	}
}

func (s *span) SetStatus(c codes.Code, _ string) { s.status = c }
func (s *span) End(...trace.SpanEndOption)       { s.ended++ }

func TestTrace(t *testing.T) {
	for _, c := range []struct {
		err    error
		panics bool
		code   string
		status codes.Code
	}{
		{nil, false, "ok", codes.Unset},
		{fault.New(fault.InvalidFilter, "x"), false, "invalid_filter", codes.Unset},
		{errors.New("disk"), false, "internal_error", codes.Error},
		{nil, true, "internal_error", codes.Error},
		{fault.New(fault.Timeout, "x"), false, "timeout", codes.Error},
	} {
		r := &recorder{}
		x := call(op.Spec{Name: "notes.get"})
		func() {
			defer func() { _ = recover() }()
			_, _ = middleware.Trace(r)(func(ctx context.Context, _ any) (any, error) {
				if trace.SpanFromContext(ctx) != trace.Span(r.spans[0]) {
					t.Error("the span is not in the context")
				}
				if c.panics {
					panic("boom")
				}
				return nil, c.err
			})(t.Context(), x)
		}()
		s := r.spans[0]
		got := fmt.Sprint(len(r.spans), s.name, s.attrs["mneme.code"], s.attrs["mneme.request_id"],
			s.attrs["mneme.transport"], s.status, s.ended)
		if want := fmt.Sprint(1, "notes.get", c.code, "req_1", "inprocess", c.status, 1); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
