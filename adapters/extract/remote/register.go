package remote

import (
	"context"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the extractor components off, tika and docling.
func Register(r *registry.Registry) {
	registry.Add(r.Extractor, registry.Component[port.Extractor, struct{}]{
		Name: "off", Summary: "Files are read in this process alone.", Stability: registry.Stable,
		Default: func() struct{} { return struct{}{} },
		Open:    func(context.Context, struct{}, registry.Env) (port.Extractor, error) { return nil, nil },
	})
	registry.Add(r.Extractor, registry.Component[port.Extractor, Config]{
		Name: "tika", Summary: "Apache Tika, version 2 or 3, for formats such as DOC, PPT and RTF.", Stability: registry.Beta,
		Default: DefaultTika,
		Open: func(_ context.Context, c Config, env registry.Env) (port.Extractor, error) {
			return OpenTika(c, extract.DefaultLimits(), env.Log)
		},
	})
	registry.Add(r.Extractor, registry.Component[port.Extractor, Config]{
		Name: "docling", Summary: "docling-serve, for scanned pages and pictures of text.", Stability: registry.Beta,
		Default: DefaultDocling,
		Open: func(_ context.Context, c Config, env registry.Env) (port.Extractor, error) {
			return OpenDocling(c, extract.DefaultLimits(), env.Log)
		},
	})
}
