package postgres

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the index as index component postgres.
func Register(r *registry.Registry) {
	registry.Add(r.Index, registry.Component[port.Index, Config]{
		Name:       "postgres",
		Summary:    "A PostgreSQL database with pgvector, which several replicas may share.",
		Stability:  registry.Beta,
		Retrievers: []port.Retriever{port.Keyword, port.Vector, port.SparseTerms},
		Default:    Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.Index, error) {
			return Open(ctx, c, Options{Shared: env.Shared, Log: env.Log})
		},
		Look: func(ctx context.Context, c Config, _ registry.Env) error { return Look(ctx, c) },
		Isolate: func(c Config, name string) registry.Isolation[Config] {
			c.Schema = name
			return registry.Isolation[Config]{Config: c, Drop: c.DropSchema, Usage: c.Usage}
		},
	})
}
