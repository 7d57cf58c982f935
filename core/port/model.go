package port

import "context"

// Task is what a model does.
type Task string

// The tasks of a model.
const (
	TaskEmbed      Task = "embedding"
	TaskSparse     Task = "sparse"
	TaskRerank     Task = "rerank"
	TaskSynthesize Task = "answer"
)

// TextKind says which side of a search a text stands on. Models may put an
// instruction before it, and queries are served before passages.
type TextKind int

// The two sides of a search.
const (
	Passage TextKind = iota
	Query
)

// ModelInfo describes an open model.
type ModelInfo struct {
	ID         string   // operator's name for it, e.g. "e5-small-v2"
	Name       string   // the model's own name
	Version    string   // of the model
	Tasks      []Task   // what it can do
	Digest     string   // "sha256:..." over module and assets: the identity that namespaces store
	Dimensions int      // of a dense vector; 0 for other tasks
	MaxTokens  int      // input window, special tokens included
	Languages  []string // BCP 47; empty: not stated
	Licence    string   // SPDX expression
	Runtime    string   // wasm, plugin or remote
}

// Model is what all models share.
type Model interface {
	Info() ModelInfo
	Close() error
}

// ModelState is whether a model works.
type ModelState string

// The states of a model.
const (
	ModelReady   ModelState = "ready"
	ModelLoading ModelState = "loading" // it is starting, or starting again
	ModelOff     ModelState = "off"     // no call can use it
	ModelFailing ModelState = "error"
)

// Stateful is an optional ability of a model that can break and mend without being
// called: whether it would take a call now.
type Stateful interface{ State() ModelState }

// RestartReason is why a part of a model was replaced.
type RestartReason string

// The reasons.
const (
	RestartMemory  RestartReason = "memory"  // it was out of memory, or held more than it may
	RestartFailure RestartReason = "failure" // it ended, broke a rule or did not answer
)

// ModelFigures are what a model that runs on this machine costs and suffers.
type ModelFigures struct {
	Waiting           int                     // calls in line
	Memory, MaxMemory int64                   // bytes; 0: not known, no bound
	Restarts          map[RestartReason]int64 // of its process, or of instances of its module, since it was opened
}

// Measured is an optional ability of a model: to say what it costs and suffers.
type Measured interface{ Figures() ModelFigures }

// TextError is the failure of a call that one of its texts brought about.
type TextError struct {
	Text int // its place in the call
	Err  error
}

func (e *TextError) Error() string { return e.Err.Error() }

// Unwrap gives the failure without the place.
func (e *TextError) Unwrap() error { return e.Err }

// Dense holds one vector a row, row-major.
type Dense struct {
	Dim    int
	Data   []float32 // len = rows*Dim, each row of unit length
	Tokens []int     // tokens read per row; a row cut at the window reports the window
}

// Row is the i-th vector; it aliases Data.
func (d Dense) Row(i int) []float32 { return d.Data[i*d.Dim : (i+1)*d.Dim] }

// Sparse holds sparse vectors in CSR form; terms rise within a row.
type Sparse struct {
	Rows    []uint32 // len = rows+1, offsets into Terms
	Terms   []uint32
	Weights []float32 // > 0
	Tokens  []int
}

// Embedder turns texts into dense vectors of Info().Dimensions. Any number of
// texts of any length: longer than the window is cut. Invalid UTF-8 is a fault.
// A Query call is served before waiting Passage calls. Cancellation returns
// within 50 ms and leaves the model usable.
type Embedder interface {
	Model
	Embed(ctx context.Context, as TextKind, texts []string) (Dense, error)
}

// TokenCounter is an optional ability of a model: the number of word pieces of
// each text, special tokens left out, without running the network.
type TokenCounter interface {
	CountTokens(ctx context.Context, texts []string) ([]int, error)
}

// Tokenizer is an optional ability of a model: the word pieces of each text as
// the model reads it, with what it puts around one, cut at the window, without
// running the network. An empty text gives what is put around every text.
type Tokenizer interface {
	TokenIDs(ctx context.Context, as TextKind, texts []string) ([][]uint32, error)
}

// SparseEncoder turns texts into learned-sparse vectors. Terms are numbers of
// word pieces.
type SparseEncoder interface {
	Model
	Encode(ctx context.Context, as TextKind, texts []string) (Sparse, error)
}

// Reranker scores each text against the query as a probability in 0-1, higher
// is better. Truncated counts the texts cut at the window.
type Reranker interface {
	Model
	Score(ctx context.Context, query string, texts []string) (scores []float32, truncated int, err error)
}

// QueryCutter is an optional ability of a reranker: whether it reads only the
// beginning of a query, without running the network.
type QueryCutter interface {
	CutsQuery(ctx context.Context, query string) (bool, error)
}
