package process

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/wasm/models"
)

// Register adds the adapter as model component process.
func Register(r *registry.Registry) {
	registry.Add(r.Model, registry.Component[port.Model, Config]{
		Name: "process", Summary: "A model in a process of its own, in any language.", Stability: registry.Beta,
		Default: Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Model, error) {
			var err error
			if c.Manifest, err = models.Resolve(c.Manifest, env.DataDir); err != nil {
				return nil, err
			}
			return Open(ctx, env.Name, c, env.Log)
		},
	})
}
