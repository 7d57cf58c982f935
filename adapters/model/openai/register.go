package openai

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the adapter as model component openai.
func Register(r *registry.Registry) {
	registry.Add(r.Model, registry.Component[port.Model, Config]{
		Name: "openai", Summary: "A language model behind an OpenAI-compatible chat API.", Stability: registry.Beta,
		Default: Default,
		Open: func(_ context.Context, c Config, env registry.Env) (port.Model, error) {
			return Open(env.Name, c, env.Log)
		},
	})
}
