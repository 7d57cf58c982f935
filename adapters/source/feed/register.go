package feed

import (
	"context"

	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's: there is nothing to set but what all sources may reach.
type Config struct{}

// Register adds the connector as source component feed. Its requests take turns with those of
// all that have the same hosts; nil: they take turns with each other.
func Register(r *registry.Registry, hosts *polite.Hosts) {
	registry.Add(r.Source, registry.Component[port.Connector, Config]{
		Name: "feed", Summary: "Reads the entries of RSS, Atom and JSON feeds.",
		Stability: registry.Beta,
		Default:   func() Config { return Config{} },
		Open: func(_ context.Context, _ Config, env registry.Env) (port.Connector, error) {
			s, err := polite.FromEnv(env)
			if err != nil {
				return nil, err
			}
			s.Hosts = hosts
			return New(polite.New(s)), nil
		},
	})
}
