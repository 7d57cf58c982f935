package postgres

import (
	"context"

	"github.com/mnemehq/mneme/adapters/storage/sharded"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the store as storage component postgres.
func Register(r *registry.Registry) {
	registry.Add(r.Store, registry.Component[port.DocumentStore, Config]{
		Name: "postgres", Summary: "A PostgreSQL database, which several replicas may share.", Stability: registry.Beta,
		Default: Default,
		Open: func(ctx context.Context, c Config, env registry.Env) (port.DocumentStore, error) {
			return OpenAll(ctx, c, Options{Shared: env.Shared, Log: env.Log, Now: env.Now})
		},
		Migrate: func(ctx context.Context, c Config, env registry.Env, dry bool) (registry.Migration, error) {
			from, to, err := MigrateAll(ctx, c, Options{Log: env.Log, Now: env.Now}, dry)
			return registry.Migration{From: from, To: to}, err
		},
		Restore: func(ctx context.Context, c Config, env registry.Env, from port.Restoring) error {
			return RestoreAll(ctx, c, Options{Log: env.Log, Now: env.Now}, from)
		},
		Isolate: func(c Config, name string) registry.Isolation[Config] {
			c.Schema, c.Databases, c.Place = name, nil, sharded.Fewest
			return registry.Isolation[Config]{Config: c, Drop: c.DropSchema, Usage: c.Usage}
		},
	})
}
