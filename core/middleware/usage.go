package middleware

import (
	"context"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Usage counts calls that did what they were asked, on the account of their key.
func Usage(by port.UsageCounter) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			out, err := next(ctx, request)
			if c := request.(*op.Call); err == nil && c.Caller.KeyID != "" {
				u := port.Usage{Requests: 1}
				if c.Spec.Class == op.Recall {
					u.Recalls = 1
				}
				by.CountUsage(port.UsageAccount{Org: c.Caller.Org, Namespace: c.Namespace, Integration: c.Caller.Integration,
					KeyID: c.Caller.KeyID}, u)
			}
			return out, err
		}
	}
}
