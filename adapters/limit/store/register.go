package store

import (
	"context"
	"errors"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the limiter as limit component store.
func Register(r *registry.Registry) {
	registry.Add(r.Limit, registry.Component[port.Budget, Config]{
		Name: "store", Summary: "Counts rates in the system of record, for all servers over it together.",
		Stability: registry.Stable,
		Default:   Default,
		Open: func(_ context.Context, _ Config, env registry.Env) (port.Budget, error) {
			if env.Store == nil {
				return nil, errors.New("no store is open to count in")
			}
			return Budget{Store: env.Store}, nil
		},
	})
}
