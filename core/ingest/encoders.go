package ingest

import (
	"slices"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// Encoders gives every partition the models that its vectors are of: the
// configured ones or, until it is reindexed, one of those before them.
type Encoders struct {
	configured *Encoder
	embedders  []port.Embedder
	sparse     []port.SparseEncoder
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

// With returns the same models with other chunking options.
func (e *Encoders) With(o chunk.Options) *Encoders {
	c := *e.configured
	c.Options = o
	return &Encoders{configured: &c, embedders: e.embedders, sparse: e.sparse}
}

// Configured is the models that new partitions get.
func (e *Encoders) Configured() *Encoder { return e.configured }

// For is the models of a partition. One without documents has no vectors yet, so it
// gets the configured ones; so does one whose models are not loaded, which Check
// refuses.
func (e *Encoders) For(n port.PartitionRow) *Encoder {
	if n.Documents == 0 {
		return e.configured
	}
	return e.ByDigests(n.EmbeddingDigest, n.SparseDigest)
}

// ByDigests returns the encoder with the models of these digests; for "", or a model
// that is not loaded, the configured one takes its place.
func (e *Encoders) ByDigests(embedding, sparse string) *Encoder {
	of := *e.configured
	if i := indexByDigest(e.embedders, embedding); i >= 0 {
		of.Embedder = e.embedders[i]
	}
	if i := indexByDigest(e.sparse, sparse); i >= 0 {
		of.Sparse = e.sparse[i]
	}
	if of.Embedder == e.configured.Embedder && of.Sparse == e.configured.Sparse {
		return e.configured
	}
	return &of
}

func indexByDigest[M port.Model](in []M, digest string) int {
	return slices.IndexFunc(in, func(m M) bool { return digest != "" && m.Info().Digest == digest })
}

// Check refuses a partition whose vectors are of a model that is not loaded. A
// model that is off is no mismatch: the operation that needs it says so.
// Fault Conflict.
func (e *Encoders) Check(n port.PartitionRow) error {
	refuse := func(kind, name, digest string, have port.ModelInfo) error {
		return fault.New(fault.Conflict,
			"namespace %q was indexed by %s model %s (%s); this server is configured with %s (%s). Run `mneme reindex "+
				"%s` to recompute its vectors with the configured model, or configure the stored one, as roles.previous "+
				"to have it served until then",
			n.Name, kind, name, digest, have.ID, have.Digest, n.Name)
	}
	if d := n.EmbeddingDigest; d != "" && e.configured.Embedder != nil && indexByDigest(e.embedders, d) < 0 {
		return refuse("embedding", n.EmbeddingModel, d, e.configured.Embedder.Info())
	}
	if d := n.SparseDigest; d != "" && e.configured.Sparse != nil && indexByDigest(e.sparse, d) < 0 {
		return refuse("sparse", n.SparseModel, d, e.configured.Sparse.Info())
	}
	return nil
}

// Stale reports whether a partition's vectors are of other models than the configured
// ones, or of documents that other rules have cut. Memories fit a chunk but for the
// longest, so that other rules leave them as they are.
func (e *Encoders) Stale(n port.PartitionRow) bool {
	stale := func(stored string, on bool, have func() port.ModelInfo) bool {
		return stored != "" && on && stored != have().Digest
	}
	return n.Chunker != "" && n.Chunker != chunk.Version && !e.configured.Options.Whole && e.configured.Embedder != nil ||
		stale(n.EmbeddingDigest, e.configured.Embedder != nil,
			func() port.ModelInfo { return e.configured.Embedder.Info() }) ||
		stale(n.SparseDigest, e.configured.Sparse != nil, func() port.ModelInfo { return e.configured.Sparse.Info() })
}
