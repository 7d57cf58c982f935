package process

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the adapter as component process of plugins of sources.
func Register(r *registry.Registry) {
	registry.Add(r.SourcePlugin, registry.Component[port.Connectors, Config]{
		Name: "process", Summary: "A vendor's connectors in a process of their own, in any language.", Stability: registry.Beta,
		Default: Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Connectors, error) {
			return Open(ctx, env.Name, c, env.Reach.MaxItem, env.Log)
		},
	})
}
