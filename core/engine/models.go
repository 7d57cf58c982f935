package engine

import (
	"time"

	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/model"
	"github.com/mnemehq/mneme/core/namespace"
	"github.com/mnemehq/mneme/core/port"
)

// Models are the models by role. A nil role is off.
type Models struct {
	All      []port.Model // every configured model, for GET /models
	Embedder port.Embedder
	Sparse   port.SparseEncoder
	Reranker port.Reranker
	// Rerankers are those beside Reranker that a call may name.
	Rerankers []port.Reranker
	// Embedders are those beside Embedder that a namespace, or a call of OpenAI's protocol, may name.
	Embedders []port.Embedder
	// Aliases are further names of models, each with the model's own.
	Aliases map[string]string
	// Synthesizer writes the answers of recall; nil: they quote.
	Synthesizer port.Synthesizer
	// Previous are those before Embedder and Sparse, whose partitions are served
	// until they are reindexed.
	Previous ingest.Previous
}

// watched has every model in use watched.
func (m Models) watched(by *model.Watch) Models {
	m.Embedder, m.Sparse = by.Embedder(m.Embedder), by.SparseEncoder(m.Sparse)
	m.Reranker, m.Synthesizer = by.Reranker(m.Reranker), by.Synthesizer(m.Synthesizer)
	var others []port.Reranker
	for _, r := range m.Rerankers {
		others = append(others, by.Reranker(r))
	}
	m.Rerankers = others
	var named []port.Embedder
	for _, e := range m.Embedders {
		named = append(named, by.Embedder(e))
	}
	m.Embedders = named
	var before ingest.Previous
	for _, e := range m.Previous.Embedders {
		before.Embedders = append(before.Embedders, by.Embedder(e))
	}
	for _, e := range m.Previous.Sparse {
		before.Sparse = append(before.Sparse, by.SparseEncoder(e))
	}
	m.Previous = before
	return m
}

// statuses is how the models in use fare, for those who are told of it.
func statuses(w *model.Watch) func() []event.ModelStatus {
	return func() []event.ModelStatus {
		var out []event.ModelStatus
		for _, s := range w.All() {
			out = append(out, event.ModelStatus(s))
		}
		return out
	}
}

// identities is what new namespaces record of the models.
func (m Models) identities(now func() time.Time) namespace.Models {
	id := namespace.Models{Choices: m.choices(), Chunker: chunk.Version, Now: now}
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

// choices are the embedders that a namespace may have of its own.
func (m Models) choices() ingest.Choices {
	c := ingest.Choices{Embedders: m.Embedders, Aliases: m.Aliases}
	if m.Embedder != nil {
		c.Embedders = append([]port.Embedder{m.Embedder}, c.Embedders...)
	}
	return c
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
