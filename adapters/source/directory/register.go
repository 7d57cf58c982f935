package directory

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config has no settings beside what every connector may reach.
type Config struct{}

// Register adds the connector as source component directory.
func Register(r *registry.Registry) {
	registry.Add(r.Source, registry.Component[port.Connector, Config]{
		Name: "directory", Summary: "Follows a folder of the server's machine.", Stability: registry.Beta,
		Default: func() Config { return Config{} },
		Open: func(_ context.Context, _ Config, env registry.Env) (port.Connector, error) {
			return New(Settings{Directories: env.Reach.Directories, MaxItem: env.Reach.MaxItem, Now: env.Now})
		},
	})
}
