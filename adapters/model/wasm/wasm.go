package wasm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
	"github.com/mnemehq/mneme/wasm/models/pack"
)

// Open opens the model that cfg names. The result implements port.Embedder,
// port.SparseEncoder and port.Reranker; which tasks it can do is in Info().Tasks,
// and calls of another fail. It implements port.TokenCounter and port.Tokenizer
// where the module does. cacheDir keeps
// compiled code between starts; "" keeps none. A model that is not what the
// configuration or its own manifest says is refused, and the error says why.
func Open(ctx context.Context, cfg Config, cacheDir string, log *slog.Logger) (port.Model, error) {
	return open(ctx, registry.Env{CacheDir: cacheDir, Log: log}, cfg, nil)
}

// open is Open with the operator's name for the model, "" for the model's own. Where there is
// little memory, our own models that don't embed wait for their first call without theirs: many
// servers never rerank, nor make learned-sparse vectors.
func open(ctx context.Context, env registry.Env, cfg Config, shared *host.Shared) (port.Model, error) {
	id := env.Name
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, err := models.Open(cfg.Module)
	if err != nil {
		return nil, err
	}
	if cfg.SHA256 != "" {
		if err := s.Pinned(cfg.SHA256); err != nil {
			return nil, moduleError(cfg, err)
		}
	}
	memory := cmp.Or(cfg.MemoryMB, s.MemoryMB, defaultMemoryMB)
	if s.MemoryMB > memory {
		return nil, moduleError(cfg, fmt.Errorf("%s says that an instance takes up to %d MB, memory_mb allows %d",
			models.ManifestFile, s.MemoryMB, memory))
	}
	if s.MemoryMB > 0 {
		memory = s.MemoryMB // approved: not a megabyte more
	}
	configured, err := configure(id, cfg.Settings, s)
	if err != nil {
		return nil, moduleError(cfg, err)
	}
	interrupt := host.Enforced
	if s.Trusted {
		interrupt = host.Cooperative
	}
	m, err := host.Open(ctx, host.Module{
		Wasm: s.Wasm, Config: configured.Config, Identity: configured.Identity, Secrets: configured.Secrets,
		Assets: s.Assets, Interrupt: interrupt, Known: s.Digest, Allow: s.Allow,
		Info: port.ModelInfo{ID: id, Name: s.Name, Version: s.Version, Licence: s.Licence, Languages: s.Languages},
	}, host.Options{
		Instances:    cfg.Instances,
		MemoryMB:     memory,
		CallTimeout:  cfg.Timeout,
		StartTimeout: cfg.StartTimeout,
		CacheDir:     env.CacheDir,
		Shared:       shared,
		Sparing:      env.Sparing && s.Trusted && s.Task != pack.Embedding,
		Log:          env.Log,
	})
	if err != nil {
		return nil, moduleError(cfg, err)
	}
	var claimed []string
	for _, task := range m.Info().Tasks {
		claimed = append(claimed, string(task))
	}
	if err := s.CheckTasks(claimed); err != nil {
		return nil, errors.Join(moduleError(cfg, err), m.Close())
	}
	return withAbilities(m), nil
}

// configure hands the operator's settings to a model and names those at fault by their
// path in the configuration.
func configure(id string, settings map[string]registry.Secret, s models.Source) (models.Configured, error) {
	given := map[string]string{}
	for name, value := range settings {
		given[name] = value.Reveal()
	}
	configured, err := s.Configure(given)
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return configured, err
	}
	known := slices.Collect(maps.Keys(s.Settings))
	var errs []error
	for _, err := range joined.Unwrap() {
		var at *models.SettingError
		if errors.As(err, &at) {
			path, hint := "settings."+at.Name, ""
			if id != "" {
				path = "models." + id + ".wasm." + path
			}
			if at.Unknown {
				hint = registry.Suggest(at.Name, known)
				if hint == "" && len(known) > 0 {
					hint = "; it has " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
				}
			}
			err = fmt.Errorf("%s: %s%s", path, at.Reason, hint)
		}
		errs = append(errs, err)
	}
	return configured, errors.Join(errs...)
}

// baseAbilities are the methods that every model has; Info says which tasks it can do.
type baseAbilities interface {
	port.Embedder
	port.SparseEncoder
	port.Reranker
	port.QueryCutter
	port.Measured
	Memory() (used, ceiling int64)
	Renewals() int
	Described() (name, version, licence string, ok bool)
}

// withAbilities wraps the model in a type with exactly the optional interfaces that it
// supports, which Info does not tell.
func withAbilities(m *host.Model) port.Model {
	switch {
	case m.Counts() && m.Tokenizes():
		return m
	case m.Counts():
		return struct {
			baseAbilities
			port.TokenCounter
		}{m, m}
	case m.Tokenizes():
		return struct {
			baseAbilities
			port.Tokenizer
		}{m, m}
	}
	return struct{ baseAbilities }{m}
}

// defaultMemoryMB is the ceiling of an instance when nobody says another.
const defaultMemoryMB = 512

// moduleError adds the module's name, as the operator wrote it, to an error.
func moduleError(cfg Config, err error) error { return fmt.Errorf("module %s: %w", cfg.Module, err) }
