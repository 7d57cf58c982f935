package middleware

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
)

// Deadline limits a call's time to the operation's timeout, or the default if that is 0,
// or to less if the caller asks for less. An expired deadline becomes fault Timeout and a
// caller who left Canceled, whatever error a service or driver made of it; a context
// cancelled with a fault as its cause becomes that fault.
func Deadline(timeout, defaultTimeout time.Duration) endpoint.Middleware {
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			d := timeout
			if asked := request.(*op.Call).Timeout; asked > 0 {
				d = min(d, asked)
			}
			ctx, cancel := context.WithTimeout(ctx, d)
			defer cancel()
			out, err := next(ctx, request)
			if err == nil {
				return out, nil
			}
			if ctx.Err() == nil {
				if fault.CodeOf(err) == fault.Canceled { // not the caller, but something inside gave up
					err = fault.Wrap(fault.Internal, "deadline", err, "an internal error occurred")
				}
				return nil, err
			}
			var own *fault.Error
			switch fault.CodeOf(err) {
			case fault.Internal, fault.Canceled, fault.Upstream, fault.Unavailable:
			case fault.Timeout:
				if errors.As(err, &own) {
					return nil, err // it says what took too long
				}
			default:
				return nil, err // the call ended for a reason of its own
			}
			var cause *fault.Error
			if errors.As(context.Cause(ctx), &cause) {
				return nil, cause
			}
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, fault.Wrap(fault.Timeout, "deadline", err, "the request took longer than its time limit of %s", d)
			}
			return nil, fault.Wrap(fault.Canceled, "deadline", err, "the caller went away")
		}
	}
}

// personalKeys is the deprecation announced on every answer to a personal key. Their
// end has no date yet.
func personalKeys() op.Deprecation {
	return op.Deprecation{Since: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC),
		Guide: "https://github.com/mnemehq/mneme/blob/main/docs/memory.md"}
}

// Announce says on every answer of an operation that it is deprecated.
func Announce(d op.Deprecation) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			d.Announce(request.(*op.Call).Reply)
			return next(ctx, request)
		}
	}
}

// Auth verifies the caller's key or session and checks what the key alone may not do. It
// runs before anything of the body is read.
func Auth(keys Verifier, sessions SessionVerifier) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			c := request.(*op.Call)
			if c.Spec.Auth == op.NoKey {
				return next(ctx, request)
			}
			p, err := verify(ctx, keys, sessions, c)
			if err != nil {
				if c.Spec.Auth == op.OptionalKey {
					return next(ctx, request)
				}
				return nil, err
			}
			c.Caller = p
			if p.Kind == ident.Personal {
				personalKeys().Announce(c.Reply)
			}
			if c.Spec.Mutates && p.ReadOnly {
				if p.Role != "" {
					return nil, fault.New(fault.Forbidden, "your role, %s, only reads", p.Role)
				}
				return nil, fault.New(fault.Forbidden, "this key is read-only")
			}
			for _, s := range c.Spec.Scopes {
				if !slices.Contains(p.Scopes, s) {
					f := fault.New(fault.InsufficientScope, "this key lacks the scope %s", s)
					f.Details = map[string]any{"scope": string(s)}
					return nil, f
				}
			}
			return next(ident.WithPrincipal(ctx, p), request)
		}
	}
}

func verify(ctx context.Context, keys Verifier, sessions SessionVerifier, c *op.Call) (ident.Principal, error) {
	if c.Credential.Session != "" && sessions != nil {
		return sessions.VerifySession(ctx, c.Credential, c.Spec.Family)
	}
	if c.Credential.Bearer == "" {
		return ident.Principal{}, c.Credential.Missing()
	}
	p, err := keys.Verify(ctx, c.Credential.Bearer, c.Spec.Family)
	if err == nil || c.Spec.Auth != op.OptionalKey {
		return p, err
	}
	for _, f := range op.Families() { // what needs no key takes any
		if f == c.Spec.Family {
			continue
		}
		if p, other := keys.Verify(ctx, c.Credential.Bearer, f); other == nil {
			return p, nil
		}
	}
	return p, err
}
