package wasm

import (
	"context"
	"log/slog"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/host"
	"github.com/mnemehq/mneme/wasm/models"
)

// Open opens the model that cfg names. The result implements port.Embedder,
// port.SparseEncoder, port.Reranker, port.TokenCounter and port.Tokenizer; which
// tasks it can do is in Info().Tasks, and calls of another fail. cacheDir keeps
// compiled code between starts; "" keeps none.
func Open(ctx context.Context, cfg Config, cacheDir string, log *slog.Logger) (port.Model, error) {
	return open(ctx, "", cfg, nil, cacheDir, log)
}

// open is Open with the operator's name for the model; "": the model's own.
func open(ctx context.Context, id string, cfg Config, shared *host.Shared, cacheDir string, log *slog.Logger) (port.Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s, err := models.Open(cfg.Module)
	if err != nil {
		return nil, err
	}
	interrupt := host.Enforced
	if s.Trusted {
		interrupt = host.Cooperative
	}
	m, err := host.Open(ctx, host.Module{
		Wasm: s.Wasm, Config: s.Config, Assets: s.Assets, Interrupt: interrupt,
		Info: port.ModelInfo{ID: id, Name: s.Name, Version: s.Version, Licence: s.Licence, Languages: s.Languages},
	}, host.Options{Instances: cfg.Instances, MemoryMB: cfg.MemoryMB, CallTimeout: cfg.Timeout, CacheDir: cacheDir, Shared: shared, Log: log})
	if err != nil {
		return nil, err
	}
	return m, nil
}
