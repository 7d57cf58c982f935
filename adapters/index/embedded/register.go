package embedded

import (
	"context"
	"path/filepath"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Register adds the index as index component embedded, with its files in the
// data folder's index folder.
func Register(r *registry.Registry) {
	registry.Add(r.Index, registry.Component[port.Index, Config]{
		Name: "embedded", Summary: "Segments in the data folder, searched in this process.", Stability: registry.Beta,
		Retrievers: []port.Retriever{port.Keyword, port.Vector, port.SparseTerms},
		Default:    Default,
		Open: func(_ context.Context, c Config, env registry.Env) (port.Index, error) {
			return Open(c, filepath.Join(env.DataDir, "index"), env.Log)
		},
	})
}
