package app

import (
	"context"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/registry"
)

// sources opens every connector of the program; nil: sources are off.
func (a *App) sources(ctx context.Context, env registry.Env) (*engine.Sources, error) {
	c, table := a.settings.Config.Sources, a.settings.Registry.Source
	if !c.Enabled {
		return nil, nil
	}
	agent := "Mneme/" + a.settings.Version
	if base := a.settings.Config.Server.BaseURL; base != "" {
		agent += " (+" + base + ")"
	}
	env.Reach = registry.Reach{
		Directories: c.Directories,
		Private:     c.AllowPrivate,
		SSHHosts:    c.GitSSHHosts,
		MaxItem:     int64(c.MaxItemMB) << 20,
		UserAgent:   agent,
	}
	out := &engine.Sources{Workers: c.Workers, MaxItem: env.Reach.MaxItem, Stall: c.Stall}
	for _, info := range table.Components() {
		connector, err := table.Open(ctx, info.Select(), env)
		if err != nil {
			return nil, err
		}
		out.Connectors = append(out.Connectors, connector)
	}
	return out, nil
}
