package port

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mnemehq/mneme/core/filter"
)

// Retriever is one way to find chunks; a query fuses several.
type Retriever string

// The retrievers.
const (
	Vector      Retriever = "vector"
	Keyword     Retriever = "keyword"
	SparseTerms Retriever = "sparse"
)

// ErrGap says that the index lacks changes: Apply answers it when those before
// the batch are missing, Search when the partition left the index after the
// caller looked at Applied. The caller reads them from the store, applies them
// and asks again.
var ErrGap = errors.New("index: changes before this batch are missing")

// ErrDimensions says that a batch's vectors have other dimensions than those the
// index holds of the partition: they are of another model. Where the store has
// gone over to that model, the caller drops the partition and rebuilds it.
var ErrDimensions = errors.New("index: vectors of other dimensions")

// Index serves one or more retrievers over data derived from the Store. It may
// be dropped and rebuilt at any time.
//
// Order: the store numbers the changes of a partition 1, 2, 3...; a Batch says
// which numbers it covers. Apply is idempotent and, per partition, atomic to
// searches: a search sees a change wholly or not at all.
//
// Durability: an index may forget applied changes in a crash or when it evicts
// a partition from memory; Applied then answers a lower number (0: rebuild) and
// the caller replays from the store. An index must never answer a higher number
// than what its searches reflect.
type Index interface {
	// Retrievers lists what Search serves.
	Retrievers() []Retriever
	// Apply brings the partition from Batch.After to Batch.Upto. It answers
	// ErrGap when Applied < Batch.After, ErrDimensions when the vectors do not go
	// with those it has, and does nothing when Applied >= Batch.Upto.
	Apply(ctx context.Context, p Partition, b Batch) error
	// Applied is the number of the last change that searches reflect.
	Applied(ctx context.Context, p Partition) (uint64, error)
	// Durable is the number that would survive a crash now, at most Applied. The
	// store may forget deletions up to the lowest Durable of all indexes; an
	// index at Durable 0 would start from nothing and needs none of them.
	Durable(ctx context.Context, p Partition) (uint64, error)
	// Search gives the best q.Limit chunks, best first, ties by document id,
	// then chunk number. The filter and time bounds hold before the top-k cut; an
	// entry without a time is outside every bound. It may answer ErrGap.
	Search(ctx context.Context, p Partition, q IndexQuery) ([]Hit, error)
	// Drop removes everything of the partition, on disk too. Absent is no error.
	Drop(ctx context.Context, p Partition) error
	// Ping checks that the index can serve.
	Ping(ctx context.Context) error
	Close() error
}

// Languages are those (ISO 639-1) that keyword search can be told of: it reduces their words to
// stems. Words of others are found as they are written.
func Languages() []string {
	return []string{"en", "de", "fr", "es", "it", "pt", "nl", "sv", "tr", "ru", "ar", "hi"}
}

// AnyLanguage is what an API calls a language that each text tells for itself.
const AnyLanguage = "auto"

// SaidLanguage is a language of an API or a data set as rows, batches and queries have it: one of
// Languages, or "".
func SaidLanguage(s string) string {
	if slices.Contains(Languages(), s) {
		return s
	}
	return ""
}

// ShownLanguage is the reverse of SaidLanguage.
func ShownLanguage(l string) string { return cmp.Or(l, AnyLanguage) }

// Batch is a run of changes of one partition. It holds the final state of every
// document changed in (After, Upto].
type Batch struct {
	After, Upto uint64
	Language    string // of all texts of the partition, for keyword search; "": each tells its own
	Changes     []IndexChange
}

// IndexChange replaces all of a document's entries; no entries: it is deleted.
type IndexChange struct {
	Document string
	Entries  []Entry
}

// Entry is one chunk as an index sees it. Slices belong to the caller and are
// not kept after Apply returns.
type Entry struct {
	Chunk         int       // number within the document, from 0
	Text          string    // heading context and chunk text, for keyword search
	Vector        []float32 // unit length; nil where no embedder is configured
	SparseTerms   []uint32  // rising; nil in a plain namespace
	SparseWeights []float32
	Facets        []string // filter.Tokens of the metadata
	Time          int64    // Unix ms, for the bounds of memory search; 0: none
}

// IndexQuery asks one retriever. Text is for keyword, Vector (unit length) for
// vector, SparseTerms (rising) and SparseWeights for sparse. Terms with nil
// weights weigh their inverse document frequency, ln(1 + N/df), over the live
// chunks of the partition: N of them, df with the term.
type IndexQuery struct {
	Retriever     Retriever
	Text          string
	Language      string // of Text; "": it tells
	Vector        []float32
	SparseTerms   []uint32
	SparseWeights []float32
	Filter        *filter.Filter // nil: all
	After, Before *int64         // exclusive bounds on Entry.Time; nil: none
	Limit         int            // 1 to 1000
	Explain       bool           // fill Hit.Terms where the retriever knows them
}

// Wording is the query as keyword search is asked.
func (q IndexQuery) Wording() Wording { return Wording{q.Text, q.Language} }

// Hit is one found chunk. Score: cosine for vector, BM25 for keyword, dot
// product for sparse; higher is better.
type Hit struct {
	Document string
	Chunk    int
	Score    float32
	Terms    []string // query terms that matched, as the user wrote them
}

// Ranker is an Index whose scores only order the hits of one search: they can't
// be compared with each other by size, so fusion takes the ranks.
type Ranker interface {
	RanksOnly(Retriever) bool
}

// Highlighter is an Index that can show what its keyword search matches.
type Highlighter interface {
	// Spans are the words of a text that keyword search for the query matches, as
	// the index analyses both: rising, not overlapping, at most MaxSpans, whole
	// characters each. A text that the search would not find has none.
	Spans(query, text Wording) []Span
}

// Wording is a text and the language that it is in; "": the text tells.
type Wording struct{ Text, Language string }

// MaxSpans is the most spans that a Highlighter gives of one text: the first.
const MaxSpans = 100

// Span is the part [Start, End) of a text, in UTF-8 bytes.
type Span struct{ Start, End int }

// Lagging is an Index outside this process that may be unreachable for a while. Where
// MayLag, a write is acknowledged once it is stored, and the index catches up in
// the background; until then searches over it fail.
type Lagging interface {
	MayLag() bool
}

// Bulky is an Index to which a batch costs much whatever it holds. What it has missed is brought
// to it in batches of about so many documents, what is committed while it takes a batch is one
// as well, and writes that prefer it don't wait for it.
type Bulky interface {
	BatchDocuments() int
}
