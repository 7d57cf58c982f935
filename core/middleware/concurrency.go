package middleware

import (
	"context"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/op"
)

// Concurrency holds a slot of the gate while a call is worked on. The slot is
// taken when the input has been read, so that clients that send slowly hold none
// of them; when the gate is full the input is not read at all. What reads its input
// piece by piece, or waits for something to happen, takes no slot: it has bounds of its own.
func Concurrency(g *fair.Gate) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			if err := g.Full(ctx); err != nil {
				return nil, err
			}
			c := request.(*op.Call) // no copy: the middlewares around log what it learns
			decode := c.Decode
			var leave func()
			defer func() {
				c.Decode = decode
				if leave != nil {
					leave()
				}
			}()
			c.Decode = func(ctx context.Context, dst any) (err error) {
				_, streamed := dst.(op.Streamed)
				_, parted := dst.(op.Parted)
				if err = decode(ctx, dst); err != nil {
					return err
				}
				waiter, ok := dst.(op.Waiter)
				if leave == nil && !streamed && !parted && !(ok && waiter.Waits()) {
					leave, err = g.Enter(ctx)
				}
				return err
			}
			return next(ctx, c)
		}
	}
}
