package engine

import (
	"time"

	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

// Models are the models by role. A nil role is off.
type Models struct {
	All      []port.Model // every configured model, for GET /models
	Embedder port.Embedder
	Sparse   port.SparseEncoder
	Reranker port.Reranker
	// Synthesizer writes the answers of recall; nil: they quote.
	Synthesizer port.Synthesizer
	// Previous are those before Embedder and Sparse, whose partitions are served
	// until they are reindexed.
	Previous ingest.Previous
}

// identities is what new namespaces record of the models.
func (m Models) identities(now func() time.Time) namespace.Models {
	id := namespace.Models{Chunker: chunk.Version, Now: now}
	if m.Embedder != nil {
		i := m.Embedder.Info()
		id.Embedding = &i
	}
	if m.Sparse != nil {
		i := m.Sparse.Info()
		id.Sparse = &i
	}
	return id
}

// byTask names the model of each role.
func (m Models) byTask() map[port.Task]string {
	d := map[port.Task]string{}
	if m.Embedder != nil {
		d[port.TaskEmbed] = m.Embedder.Info().ID
	}
	if m.Sparse != nil {
		d[port.TaskSparse] = m.Sparse.Info().ID
	}
	if m.Reranker != nil {
		d[port.TaskRerank] = m.Reranker.Info().ID
	}
	if m.Synthesizer != nil {
		d[port.TaskSynthesize] = m.Synthesizer.Info().ID
	}
	return d
}
