package redis

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the limiter as limit component redis.
func Register(r *registry.Registry) {
	registry.Add(r.Limit, registry.Component[port.Budget, Config]{
		Name: "redis", Summary: "Counts rates in a server that speaks the Redis protocol, for all servers together.",
		Stability: registry.Beta,
		Default:   Default,
		Open: func(ctx context.Context, c Config, _ registry.Env) (port.Budget, error) {
			b, err := Open(ctx, c)
			if err != nil {
				return nil, err
			}
			return b, nil
		},
	})
}
