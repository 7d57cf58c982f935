package middleware

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/go-kit/kit/endpoint"
	"go.opentelemetry.io/otel/trace"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Verifier resolves a bearer key to its principal. An unknown, expired or revoked
// key, or one of another family, is fault Unauthorized; a suspended
// organization's is Forbidden. Safe for concurrent use.
type Verifier interface {
	Verify(ctx context.Context, bearer string, family op.Family) (ident.Principal, error)
}

// SessionVerifier resolves the session of a call to its principal. Faults as of a Verifier, and
// NotFound for an organization or integration that is out of its reach. Safe for concurrent use.
type SessionVerifier interface {
	VerifySession(ctx context.Context, c op.Credential, family op.Family) (ident.Principal, error)
}

// Meter counts calls. Safe for concurrent use.
type Meter interface {
	// Begin counts a call in flight.
	Begin(operation, transport string)
	// End counts its end, with its outcome ("ok" or a fault code) and duration.
	End(operation, transport, code string, took time.Duration)
	// Degraded counts an answer that lacks a part, or has less of one, and why.
	Degraded(operation, part, reason string)
	// Refused counts a call that a limit refused.
	Refused(fault.Limit)
}

// Options are the parts of a chain. A nil part is left out.
type Options struct {
	Log    *slog.Logger
	Tracer trace.Tracer
	Meter  Meter
	Keys   Verifier
	// Tokens verifies the bearers of what is offered as a tool alone, which may be
	// tokens that stand for a key, in place of Keys; routes take keys only.
	Tokens Verifier
	// Sessions verifies the sessions of those who present one instead; nil: there are none.
	Sessions SessionVerifier
	Limits   *Limits
	Gate     *fair.Gate
	Audit    Auditor
	Usage    port.UsageCounter
	// Timeout is how long an operation may take; 0, or no function: as its Spec says.
	Timeout func(*op.Spec) time.Duration
	// DefaultTimeout is used by operations that declare none; 0: 30 s.
	DefaultTimeout time.Duration
}

// Chain builds the Chain of an op.Set, outermost first: Recover, Announce, Trace, Metrics,
// Log, Deadline, Audit, Usage, Auth, Limit, Concurrency. A Verifier is required.
func Chain(o Options) func(*op.Spec) endpoint.Middleware {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.DefaultTimeout <= 0 {
		o.DefaultTimeout = 30 * time.Second
	}
	if o.Keys == nil {
		panic("middleware: a chain needs a verifier of keys")
	}
	return func(s *op.Spec) endpoint.Middleware {
		all := []endpoint.Middleware{Recover(o.Log)}
		if s.Deprecated != nil {
			all = append(all, Announce(*s.Deprecated))
		}
		if o.Tracer != nil {
			all = append(all, Trace(o.Tracer))
		}
		if o.Meter != nil {
			all = append(all, Metrics(o.Meter))
		}
		timeout := s.Timeout
		if o.Timeout != nil {
			timeout = cmp.Or(o.Timeout(s), timeout)
		}
		bearers := o.Keys
		if o.Tokens != nil && s.Tool != nil && s.Method == "" {
			bearers = o.Tokens
		}
		all = append(all, Log(o.Log), Deadline(timeout, o.DefaultTimeout))
		if o.Audit != nil && o.Audit.Covers(s) {
			all = append(all, Audit(o.Audit))
		}
		if o.Usage != nil && s.Auth != op.NoKey {
			all = append(all, Usage(o.Usage))
		}
		all = append(all, Auth(bearers, o.Sessions))
		if o.Limits != nil {
			all = append(all, Limit(o.Limits))
		}
		if o.Gate != nil && s.Class != op.Free {
			all = append(all, Concurrency(o.Gate))
		}
		return endpoint.Chain(all[0], all[1:]...)
	}
}

// outcome is the label of how a call ended.
func outcome(err error, finished bool) string {
	switch {
	case !finished:
		return string(fault.Internal)
	case err == nil:
		return "ok"
	}
	return string(fault.CodeOf(err))
}
