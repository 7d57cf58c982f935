package meilisearch

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the index as index component meilisearch.
func Register(r *registry.Registry) {
	registry.Add(r.Index, registry.Component[port.Index, Config]{
		Name: "meilisearch", Summary: "A Meilisearch server, for keyword search.", Stability: registry.Beta,
		Retrievers: []port.Retriever{port.Keyword},
		Default:    Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Index, error) {
			return Open(ctx, c, Options{Shared: env.Shared, Log: env.Log})
		},
		Look: func(ctx context.Context, c Config, env registry.Env) error {
			return Look(ctx, c, Options{Shared: true, Log: env.Log})
		},
		Isolate: func(c Config, name string) registry.Isolation[Config] {
			c.IndexPrefix = name
			return registry.Isolation[Config]{Config: c, Drop: c.deleteIndex}
		},
	})
}
