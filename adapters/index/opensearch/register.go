package opensearch

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the index as index component opensearch.
func Register(r *registry.Registry) {
	registry.Add(r.Index, registry.Component[port.Index, Config]{
		Name:       "opensearch",
		Summary:    "An OpenSearch cluster with its k-NN plugin, which several replicas share.",
		Stability:  registry.Experimental,
		Retrievers: []port.Retriever{port.Keyword, port.Vector, port.SparseTerms},
		Default:    Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Index, error) {
			return Open(ctx, c, Options{Log: env.Log})
		},
		Look: func(ctx context.Context, c Config, env registry.Env) error {
			return Look(ctx, c, Options{Log: env.Log})
		},
		Isolate: func(c Config, name string) registry.Isolation[Config] {
			c.IndexPrefix = name
			return registry.Isolation[Config]{Config: c, Drop: c.deleteIndex, Usage: c.usage}
		},
	})
}
