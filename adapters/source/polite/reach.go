package polite

import (
	"fmt"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/registry"
)

// FromEnv are the settings that the operator's configuration leads to.
func FromEnv(env registry.Env) (Settings, error) {
	s := Settings{UserAgent: env.Reach.UserAgent, MaxBytes: env.Reach.MaxItem, Now: env.Now}
	for _, private := range env.Reach.Private {
		n, err := outbound.ParseNetwork(private)
		if err != nil {
			return s, fmt.Errorf("a network that sources may reach: %w", err)
		}
		s.Private = append(s.Private, n)
	}
	return s, nil
}
