package ingest

import (
	"slices"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// Encoders gives every partition the models that its vectors are of: the configured
// ones, with the embedder that was chosen for a namespace, or, until it is reindexed, one of
// those before them.
type Encoders struct {
	configured *Encoder
	embedders  []port.Embedder
	sparse     []port.SparseEncoder
	choices    Choices
}

// Previous are models that were configured before and whose partitions are still
// served.
type Previous struct {
	Embedders []port.Embedder
	Sparse    []port.SparseEncoder
}

// NewEncoders serves the configured models and those before them.
func NewEncoders(configured *Encoder, before Previous) *Encoders {
	e := &Encoders{configured: configured, embedders: before.Embedders, sparse: before.Sparse}
	if configured.Embedder != nil {
		e.embedders = append([]port.Embedder{configured.Embedder}, e.embedders...)
	}
	if configured.Sparse != nil {
		e.sparse = append([]port.SparseEncoder{configured.Sparse}, e.sparse...)
	}
	return e
}

// Offering returns the same models with embedders that namespaces may have of their own.
func (e *Encoders) Offering(c Choices) *Encoders {
	out := *e
	out.choices = c
	return &out
}

// Choices are the embedders that namespaces may have of their own.
func (e *Encoders) Choices() Choices { return e.choices }

// With returns the same models with other chunking options.
func (e *Encoders) With(o chunk.Options) *Encoders {
	c := *e.configured
	c.Options = o
	out := *e
	out.configured = &c
	return &out
}

// Configured is the models that new partitions get, unless one is chosen for them.
func (e *Encoders) Configured() *Encoder { return e.configured }

// Due is the models that a partition is to have, which reindexing gives it: the
// configured ones, with the embedder that was chosen for it. Fault Conflict where that one is
// not loaded.
func (e *Encoders) Due(n port.PartitionRow) (*Encoder, error) {
	if n.Embedder == "" {
		return e.configured, nil
	}
	chosen := e.choices.Embedder(n.Embedder)
	if chosen == nil {
		return nil, e.lost(n)
	}
	of := *e.configured
	of.Embedder = chosen
	return &of, nil
}

// lost refuses a partition whose own embedder is not loaded.
func (e *Encoders) lost(n port.PartitionRow) error {
	return fault.New(fault.Conflict,
		"namespace %q has the embedding model %q of its own, which this server is not configured with; it has %s. "+
			"Configure that model, or run `mneme reindex %s --embedding-model MODEL` to recompute its vectors with another",
		n.Name, n.Embedder, e.choices.list(n.Embedder), n.Name)
}

// For is the models of a partition. One without documents has no vectors yet, so it
// gets those that are due; so does one whose models are not loaded, which Check
// refuses.
func (e *Encoders) For(n port.PartitionRow) *Encoder {
	if n.Documents > 0 {
		return e.Of(n)
	}
	due, err := e.Due(n)
	if err != nil {
		return e.configured
	}
	return due
}

// Of is the models that a partition's row names; for one that it does not name, or that
// is not loaded, the configured one takes its place.
func (e *Encoders) Of(n port.PartitionRow) *Encoder {
	of := *e.configured
	if m := e.embedderOf(n); m != nil {
		of.Embedder = m
	}
	if i := indexByDigest(e.sparse, n.SparseDigest); i >= 0 {
		of.Sparse = e.sparse[i]
	}
	if of.Embedder == e.configured.Embedder && of.Sparse == e.configured.Sparse {
		return e.configured
	}
	return &of
}

// embedderOf is the embedder of a partition's vectors; nil: it is not loaded. Those that may
// be chosen are for namespaces that have one of their own.
func (e *Encoders) embedderOf(n port.PartitionRow) port.Embedder {
	if i := indexByDigest(e.embedders, n.EmbeddingDigest); i >= 0 {
		return e.embedders[i]
	}
	if n.Embedder == "" {
		return nil
	}
	if i := indexByDigest(e.choices.Embedders, n.EmbeddingDigest); i >= 0 {
		return e.choices.Embedders[i]
	}
	return nil
}

func indexByDigest[M port.Model](in []M, digest string) int {
	return slices.IndexFunc(in, func(m M) bool { return digest != "" && m.Info().Digest == digest })
}

// Check refuses a partition whose vectors are of a model that is not loaded, or whose own
// embedder is not. A model that is off is no mismatch: the operation that needs it says so.
// Fault Conflict.
func (e *Encoders) Check(n port.PartitionRow) error {
	refuse := func(kind, name, digest string, have port.ModelInfo) error {
		return fault.New(fault.Conflict,
			"namespace %q was indexed by %s model %s (%s); this server is configured with %s (%s). Run `mneme reindex "+
				"%s` to recompute its vectors with the configured model, or configure the stored one, as roles.previous "+
				"to have it served until then",
			n.Name, kind, name, digest, have.ID, have.Digest, n.Name)
	}
	due, err := e.Due(n)
	if n.Documents == 0 {
		return err
	}
	if n.EmbeddingDigest != "" && e.embedderOf(n) == nil {
		if err != nil {
			return err
		}
		if due.Embedder != nil {
			return refuse("embedding", n.EmbeddingModel, n.EmbeddingDigest, due.Embedder.Info())
		}
	}
	if d := n.SparseDigest; d != "" && e.configured.Sparse != nil && indexByDigest(e.sparse, d) < 0 {
		return refuse("sparse", n.SparseModel, d, e.configured.Sparse.Info())
	}
	return nil
}

// Stale reports whether a partition's vectors are of other models than those that are due,
// or of documents that other rules have cut. Memories fit a chunk but for the
// longest, so that other rules leave them as they are.
func (e *Encoders) Stale(n port.PartitionRow) bool {
	due, err := e.Due(n)
	if err != nil {
		return true
	}
	stale := func(stored string, on bool, have func() port.ModelInfo) bool {
		return stored != "" && on && stored != have().Digest
	}
	return n.Chunker != "" && n.Chunker != chunk.Version && !due.Options.Whole && due.Embedder != nil ||
		stale(n.EmbeddingDigest, due.Embedder != nil, func() port.ModelInfo { return due.Embedder.Info() }) ||
		stale(n.SparseDigest, due.Sparse != nil, func() port.ModelInfo { return due.Sparse.Info() })
}
