package git

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config has no settings beside what every connector may reach.
type Config struct{}

// Register adds the connector as source component git.
func Register(r *registry.Registry) {
	registry.Add(r.Source, registry.Component[port.Connector, Config]{
		Name: "git", Summary: "Follows a git repository over HTTPS or SSH.", Stability: registry.Beta,
		Default: func() Config { return Config{} },
		Open: func(_ context.Context, _ Config, env registry.Env) (port.Connector, error) {
			return New(Settings{
				Private: env.Reach.Private, SSHHosts: env.Reach.SSHHosts, MaxItem: env.Reach.MaxItem,
				UserAgent: env.Reach.UserAgent, Dir: env.CacheDir,
			})
		},
	})
}
