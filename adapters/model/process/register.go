package process

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the adapter as model component process.
func Register(r *registry.Registry) {
	registry.Add(r.Model, registry.Component[port.Model, Config]{
		Name: "process", Summary: "A model in a process of its own, in any language.", Stability: registry.Beta,
		Default: Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Model, error) {
			return Open(ctx, env.Name, c, env.Log)
		},
	})
}
