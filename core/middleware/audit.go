package middleware

import (
	"context"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Auditor records who did what. Safe for concurrent use.
type Auditor interface {
	// Covers reports whether calls of an operation can be recorded.
	Covers(*op.Spec) bool
	// Begin carries the entry of a call to the transactions that store its record.
	Begin(ctx context.Context, c *op.Call) (context.Context, *port.AuditEntry)
	// End stores the record of a call that ended with err where no transaction has. Its
	// own error replaces the answer of a call that succeeded.
	End(ctx context.Context, e *port.AuditEntry, c *op.Call, err error) error
}

// Audit has calls recorded, those that Auth and what follows refuse too.
func Audit(a Auditor) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			c := request.(*op.Call)
			inner, e := a.Begin(ctx, c)
			out, err := next(inner, request)
			if failed := a.End(ctx, e, c, err); failed != nil && err == nil {
				return nil, failed
			}
			return out, err
		}
	}
}
