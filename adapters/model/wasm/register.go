package wasm

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// Register adds the adapter as model component wasm. The models that the registry
// opens share what they have in common.
func Register(r *registry.Registry) {
	shared := host.NewShared()
	registry.Add(r.Model, registry.Component[port.Model, Config]{
		Name: "wasm", Summary: "A model in WebAssembly, run in this process.", Stability: registry.Beta,
		Default: Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Model, error) {
			var err error
			if c.Module, err = models.Resolve(c.Module, env.DataDir); err != nil {
				return nil, err
			}
			return open(ctx, env, c, shared)
		},
	})
}
