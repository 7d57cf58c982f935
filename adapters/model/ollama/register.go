package ollama

import (
	"context"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the adapter as model component ollama.
func Register(r *registry.Registry) {
	registry.Add(r.Model, registry.Component[port.Model, Config]{
		Name: "ollama", Summary: "An embedding or language model behind Ollama's own API.", Stability: registry.Beta,
		Default: Default,
		Open: func(_ context.Context, c Config, env registry.Env) (port.Model, error) {
			return Open(env.Name, c, env.Log)
		},
	})
}
