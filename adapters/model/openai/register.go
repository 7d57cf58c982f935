package openai

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the adapter as model component openai.
func Register(r *registry.Registry) {
	registry.Add(r.Model, registry.Component[port.Model, Config]{
		Name: "openai", Summary: "A language or embedding model behind an OpenAI-compatible API.", Stability: registry.Beta,
		Default: Default,
		Open: func(_ context.Context, c Config, env registry.Env) (port.Model, error) {
			if c.Task == string(port.TaskEmbed) {
				return OpenEmbedder(env.Name, c, env.Log)
			}
			return Open(env.Name, c, env.Log)
		},
	})
}
