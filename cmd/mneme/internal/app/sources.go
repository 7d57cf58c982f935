package app

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// sources opens every connector of the program; nil: sources are off.
func (a *App) sources(ctx context.Context, env registry.Env) (*engine.Sources, error) {
	c, table := a.settings.Config.Sources, a.settings.Registry.Source
	if !c.Enabled {
		return nil, nil
	}
	env.Reach = registry.Reach{
		Directories: c.Directories,
		Private:     c.AllowPrivate,
		SSHHosts:    c.GitSSHHosts,
		MaxItem:     int64(c.MaxItemMB) << 20,
		UserAgent:   a.userAgent(),
	}
	out := &engine.Sources{Workers: c.Workers, MaxItem: env.Reach.MaxItem, Stall: c.Stall}
	for _, info := range table.Components() {
		connector, err := table.Open(ctx, info.Select(), env)
		if err != nil {
			return nil, err
		}
		out.Connectors = append(out.Connectors, connector)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Plugins)) {
		env := env
		env.Name = name
		plugin, err := a.settings.Registry.SourcePlugin.Open(ctx, c.Plugins[name], env)
		if err != nil {
			return nil, err
		}
		a.onClose(func(context.Context) error { return plugin.Close() })
		for _, one := range plugin.Connectors() {
			if err := clash(out.Connectors, one, name); err != nil {
				return nil, err
			}
			out.Connectors = append(out.Connectors, one)
		}
	}
	return out, nil
}

// clash is the error of a kind that there is already.
func clash(all []port.Connector, one port.Connector, plugin string) error {
	name := one.Kind().Name
	if slices.ContainsFunc(all, func(c port.Connector) bool { return c.Kind().Name == name }) {
		return fmt.Errorf("sources.plugins.%s: it has a kind of source %q, which another plugin has or the server itself", plugin,
			name)
	}
	return nil
}
