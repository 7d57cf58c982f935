package sqlite

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Config is the operator's settings of the store.
type Config struct {
	Readers int `yaml:"readers" help:"Connections that read at the same time. 0: four for each core, at least 8."`
}

// Validate reports a setting that is out of range.
func (c Config) Validate() error {
	if c.Readers < 0 || c.Readers > 1024 {
		return &registry.Invalid{Path: "readers", Reason: "must be between 0 and 1024"}
	}
	return nil
}

// Register adds the store as storage component sqlite.
func Register(r *registry.Registry) {
	registry.Add(r.Store, registry.Component[port.DocumentStore, Config]{
		Name: "sqlite", Summary: "One SQLite database in the data folder.", Stability: registry.Beta,
		Default: func() Config { return Config{} },
		Open: func(ctx context.Context, c Config, env registry.Env) (port.DocumentStore, error) {
			return Open(ctx, env.DataDir, Options{Shared: env.Shared, Readers: c.Readers, Log: env.Log, Now: env.Now})
		},
		Migrate: func(ctx context.Context, c Config, env registry.Env, dry bool) (registry.Migration, error) {
			from, to, err := Migrate(ctx, env.DataDir, Options{Readers: c.Readers, Log: env.Log, Now: env.Now}, dry)
			return registry.Migration{From: from, To: to}, err
		},
		Look: func(ctx context.Context, _ Config, env registry.Env) error { return Look(ctx, env.DataDir) },
		Restore: func(ctx context.Context, _ Config, env registry.Env, from port.Restoring) error {
			return Restore(ctx, env.DataDir, Options{Log: env.Log, Now: env.Now}, from)
		},
	})
}
