package off

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the limiter as limit component off.
func Register(r *registry.Registry) {
	registry.Add(r.Limit, registry.Component[port.Budget, Config]{
		Name: "off", Summary: "Shares no count: each process counts for itself.", Stability: registry.Stable,
		Default: Default,
		// No budget is what makes the engine count in the process's own memory.
		Open: func(context.Context, Config, registry.Env) (port.Budget, error) { return nil, nil },
	})
}
