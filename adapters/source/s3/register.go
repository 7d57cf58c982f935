package s3

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config has no settings beside what every connector may reach.
type Config struct{}

// Register adds the connector as source component s3.
func Register(r *registry.Registry) {
	registry.Add(r.Source, registry.Component[port.Connector, Config]{
		Name: "s3", Summary: "Follows a bucket of S3 or of a server that speaks its protocol.", Stability: registry.Beta,
		Default: func() Config { return Config{} },
		Open: func(_ context.Context, _ Config, env registry.Env) (port.Connector, error) {
			return New(Settings{Private: env.Reach.Private, MaxItem: env.Reach.MaxItem, UserAgent: env.Reach.UserAgent})
		},
	})
}
