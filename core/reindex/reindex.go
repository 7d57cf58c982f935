package reindex

import (
	"context"

	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
)

// Request says how vectors are to be recomputed.
type Request struct {
	Force bool `json:"force,omitempty"` // also where the vectors are of the configured models

	// Of a namespace only.
	// Language is what its texts get for keyword search, or port.AnyLanguage; "": it keeps its own.
	Language string `json:"language,omitempty"`
	// EmbeddingModel is the embedder that it gets; "": the server's default, nil: it keeps its own.
	EmbeddingModel *string `json:"embedding_model,omitempty"`

	Hold       bool     `json:"hold,omitempty"`        // build and compare, but keep serving the current vectors
	Back       bool     `json:"back,omitempty"`        // go back to what was served before the last swap
	Queries    []string `json:"queries,omitempty"`     // to compare by; none: made from the documents
	MinOverlap float64  `json:"min_overlap,omitempty"` // least Comparison.Overlap to swap with
}

// LanguageOf is the language that a namespace has afterwards, as its row has it.
func (r Request) LanguageOf(n port.PartitionRow) string {
	if r.Language == "" {
		return n.Language
	}
	return port.SaidLanguage(r.Language)
}

// EmbedderOf is the embedder that a namespace has afterwards, as its row has it.
func (r Request) EmbedderOf(n port.PartitionRow) string {
	if r.EmbeddingModel == nil {
		return n.Embedder
	}
	return *r.EmbeddingModel
}

// Result counts what was recomputed. It is the result of the job.
type Result struct {
	Documents  int         `json:"documents,omitempty"`
	Chunks     int         `json:"chunks,omitempty"`
	Unchanged  bool        `json:"unchanged,omitempty"`  // the vectors were of the configured models already; nothing was done
	Held       bool        `json:"held,omitempty"`       // it is built and not served
	Comparison *Comparison `json:"comparison,omitempty"` // nil: what was served before can't be asked
}

// Comparison is what the same queries find before and after.
type Comparison struct {
	Queries int `json:"queries" minimum:"0" doc:"how many were asked"`
	// Overlap is the mean share of the ten best documents that both find.
	Overlap float64 `json:"overlap" minimum:"0" maximum:"1" doc:"mean share of the ten best documents that are the same"`
	// Of queries made from documents: how many of these are among the ten best.
	FoundBefore *float64 `json:"found_before" minimum:"0" maximum:"1" doc:"of queries made from documents, the share that finds its own among the ten best, before; null: the caller's queries"`
	FoundAfter  *float64 `json:"found_after" minimum:"0" maximum:"1" doc:"the same, after"`
}

// Run is one attempt at a Request, as a Rebuilder gets it.
type Run struct {
	Request
	Resumed  bool                  // an attempt before this one was cut short
	Progress func(done, total int) // how many documents are encoded, and of how many
	// Finish records the result in the transaction that the new vectors are served
	// from, so that this is not done twice; where that was another replica's an error
	// rolls the transaction back.
	Finish func(ctx context.Context, w job.Writer, r Result) error
}

// Rebuilder recomputes all vectors of a partition.
type Rebuilder interface {
	// CheckReindex counts the documents and reports whether Reindex has anything to
	// do. Its faults are those of Reindex that can be known before.
	CheckReindex(ctx context.Context, p port.Partition, in Request) (documents int, needed bool, err error)
	// Reindex does it. A result without a call of Finish has changed nothing that
	// is served.
	Reindex(ctx context.Context, p port.Partition, run Run) (Result, error)
}

// GenerationRebuilder is one that builds a second generation, which may be kept.
type GenerationRebuilder interface {
	Rebuilder
	// Discard removes the generation that is not served; false: there is none.
	Discard(ctx context.Context, p port.Partition) (discarded bool, err error)
}

// Bounds of a reindexing. It holds a page of texts and the vectors of one batch in
// memory, or of one page when it stores them.
const (
	Page  = 128       // documents read and stored at once
	Batch = 128 << 10 // bytes of text encoded at once
	Tries = 5         // memories written in between start it over

	partChunks = 16_384 // chunks stored at once
)
