package middleware

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/go-kit/kit/endpoint"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
)

// Recover turns a panic into fault Internal. The stack goes to the log with the request
// id, and not to the caller.
func Recover(log *slog.Logger) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (out any, err error) {
			defer func() {
				p := recover()
				if p == nil {
					return
				}
				c := request.(*op.Call)
				log.ErrorContext(ctx, "request panicked", "op", c.Spec.Name, "request_id", c.RequestID,
					"panic", p, "stack", string(debug.Stack()))
				out, err = nil, fault.New(fault.Internal, "an internal error occurred")
			}()
			return next(ctx, request)
		}
	}
}

// Trace makes one span a call, named after the operation.
func Trace(tracer trace.Tracer) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (_ any, err error) {
			c := request.(*op.Call)
			ctx, span := tracer.Start(ctx, c.Spec.Name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
				attribute.String("mneme.transport", c.Transport), attribute.String("mneme.request_id", c.RequestID)))
			finished := false
			defer func() {
				code := outcome(err, finished)
				span.SetAttributes(attribute.String("mneme.code", code))
				if fault.Status(fault.Code(code)) >= 500 && code != "ok" {
					span.SetStatus(codes.Error, code)
				}
				span.End()
			}()
			out, err := next(ctx, request)
			finished = true
			return out, err
		}
	}
}

// Metrics reports each call to a meter.
func Metrics(m Meter) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (_ any, err error) {
			c := request.(*op.Call)
			start, finished := time.Now(), false
			m.Begin(c.Spec.Name, c.Transport)
			defer func() { m.End(c.Spec.Name, c.Transport, outcome(err, finished), time.Since(start)) }()
			out, err := next(ctx, request)
			finished = true
			if limit := fault.LimitOf(err); limit != "" {
				m.Refused(limit)
			}
			if partial, ok := out.(op.Partial); ok && err == nil {
				for part, reason := range partial.Missing() {
					m.Degraded(c.Spec.Name, part, reason)
				}
			}
			return out, err
		}
	}
}

// Log writes one line a call: "call" at Info for an answer, for a caller's mistake,
// for a time limit that the caller set and for a part that is off, "caller gone" at
// Info for a caller who hung up, "call refused" at Warn for one that came when the
// server had no room, and "call failed" at Error with the cause for a failure of the
// server or of what it depends on.
func Log(log *slog.Logger) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (_ any, err error) {
			c := request.(*op.Call)
			start, finished := time.Now(), false
			defer func() { logCall(ctx, log, c, outcome(err, finished), err, time.Since(start)) }()
			out, err := next(ctx, request)
			finished = true
			return out, err
		}
	}
}

// expected reports whether a call that was not served ended as the caller or the
// operator asked: the caller's own time limit was up, or the call needs a part that
// is off.
func expected(c *op.Call, code fault.Code, err error, took time.Duration) bool {
	switch code {
	case fault.Timeout:
		return c.Timeout > 0 && took >= c.Timeout
	case fault.SourcesUnavailable:
		return true
	}
	return fault.IsOff(err)
}

func logCall(ctx context.Context, log *slog.Logger, c *op.Call, code string, err error, took time.Duration) {
	level, message := slog.LevelInfo, "call"
	switch {
	case fault.Code(code) == fault.Canceled:
		message = "caller gone"
	case code == "ok" || fault.Status(fault.Code(code)) < 500 || expected(c, fault.Code(code), err, took):
	case fault.LimitOf(err) != "": // however many calls are too many, nothing is broken
		level, message = slog.LevelWarn, "call refused"
	default:
		level, message = slog.LevelError, "call failed"
	}
	if !log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 11)
	attrs = append(attrs, slog.String("op", c.Spec.Name), slog.String("transport", c.Transport),
		slog.String("request_id", c.RequestID), slog.String("code", code),
		slog.Float64("ms", float64(took.Microseconds())/1000))
	if c.Caller.KeyID != "" {
		attrs = append(attrs, slog.String("org", string(c.Caller.Org)), slog.String("key", c.Caller.KeyID))
	}
	if c.Namespace != "" {
		attrs = append(attrs, slog.String("namespace", c.Namespace))
	}
	if err != nil {
		f := fault.From(err)
		attrs = append(attrs, slog.String("message", f.Message))
		if f.Op != "" {
			attrs = append(attrs, slog.String("at", f.Op))
		}
		if f.Err != nil {
			attrs = append(attrs, slog.String("error", f.Err.Error()))
		} else if !errors.Is(f, err) {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
	}
	log.LogAttrs(ctx, level, message, attrs...)
}
