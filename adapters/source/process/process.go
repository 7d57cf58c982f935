package process

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/connector"
)

// Open starts the program that c names and returns once it serves. Name is the operator's
// for it; an item has at most maxItem bytes, 0: 64 MiB.
func Open(ctx context.Context, name string, c Config, maxItem int64, log *slog.Logger) (port.Connectors, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	command := connector.Command{
		Args:       c.Command,
		Dir:        c.Dir,
		SHA256:     c.SHA256,
		Unverified: c.Unverified,
		Files:      map[string]string{},
	}
	for _, f := range c.Files {
		command.Files[f.Path] = f.SHA256
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		command.Env = append(command.Env, name+"="+c.Env[name].Reveal())
	}
	p, err := connector.Open(ctx, command, connector.Options{
		Name:               name,
		MTLS:               c.MTLS != "off",
		StartTimeout:       c.StartTimeout,
		CallTimeout:        c.Timeout,
		SilenceTimeout:     c.SilenceTimeout,
		ListTimeout:        c.ListTimeout,
		HealthInterval:     c.HealthInterval,
		Concurrency:        c.MaxConcurrency,
		MaxRestarts:        c.MaxRestarts,
		MaxRestartsPerHour: c.MaxPerHour,
		MemoryMB:           c.MemoryMB,
		MaxItem:            maxItem,
		Log:                log,
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}
