package ingest

// Reindexing says how vectors are to be recomputed.
type Reindexing struct {
	Force bool `json:"force,omitempty"` // also where the vectors are of the configured models

	// Of a namespace only.
	Hold       bool     `json:"hold,omitempty"`        // build and compare, but keep serving the current vectors
	Back       bool     `json:"back,omitempty"`        // go back to what was served before the last swap
	Queries    []string `json:"queries,omitempty"`     // to compare by; none: made from the documents
	MinOverlap float64  `json:"min_overlap,omitempty"` // least Comparison.Overlap to swap with

	Resume bool `json:"-"` // goes on with one that a replica has left
}

// Reindexed counts what a reindexing has recomputed.
type Reindexed struct {
	Documents  int
	Chunks     int
	Unchanged  bool        // the vectors were of the configured models already; nothing was done
	Held       bool        // it is built and not served
	Comparison *Comparison // nil: what was served before can't be asked
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

// Bounds of a reindexing. It holds a page of texts and the vectors of one batch
// in memory, or of one page when it stores them.
const (
	ReindexPage   = 128       // documents read and stored at once
	ReindexBatch  = 128 << 10 // bytes of text encoded at once
	ReindexChunks = 16_384    // chunks stored at once
	ReindexTries  = 5         // memories written in between start it over
)
