package process

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host"
)

// Open starts the backend that c names and returns once it serves. id is the
// operator's name for the model; "": the backend's own. Which tasks it has is in
// Info().Tasks; see host.Open for the interfaces of the result, and for what its
// digest means.
func Open(ctx context.Context, id string, c Config, log *slog.Logger) (port.Model, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	command := host.Command{Args: c.Command, Dir: c.Dir, SHA256: c.SHA256, Unverified: c.Unverified, Files: map[string]string{}}
	for _, f := range c.Files {
		command.Files[f.Path] = f.SHA256
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		command.Env = append(command.Env, name+"="+c.Env[name].Reveal())
	}
	return host.Open(ctx, command, host.Options{
		ID:                 id,
		MTLS:               c.MTLS != "off",
		DeclaredOnly:       c.Identity == "declared",
		StartTimeout:       c.StartTimeout,
		CallTimeout:        c.Timeout,
		HealthInterval:     c.HealthInterval,
		Concurrency:        c.MaxConcurrency,
		BatchTexts:         c.BatchTexts,
		MaxRestarts:        c.MaxRestarts,
		MaxRestartsPerHour: c.MaxPerHour,
		MemoryMB:           c.MemoryMB,
		Log:                log,
	})
}
