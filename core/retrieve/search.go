package retrieve

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/span"
)

// Searcher answers searches over one partition at a time.
type Searcher struct {
	Indexes   map[port.Retriever]port.Index
	Projector *ingest.Projector
	// SparseQueries is how a query becomes sparse terms; "": EncodedQueries.
	SparseQueries SparseQueries
	Fusion        Fusion
	Log           *slog.Logger

	cache *queryCache
}

// SparseQueries is how a query becomes terms and weights of sparse search.
type SparseQueries string

// The ways.
const (
	// EncodedQueries runs the encoder, which adds related terms.
	EncodedQueries SparseQueries = "encoder"
	// IDFQueries takes the query's own word pieces and leaves their weights to
	// the index: the inverse document frequency. No network is run; the encoder
	// must be a port.Tokenizer.
	IDFQueries SparseQueries = "idf"
)

// NewSearcher completes a Searcher; cached is the number of query encodings kept.
func NewSearcher(s Searcher, cached int) *Searcher {
	s.cache = newQueryCache(cached)
	return &s
}

// CacheUse says how many encodings of queries were kept from before, and how many were not.
func (s *Searcher) CacheUse() (hits, misses int64) { return s.cache.hits.Load(), s.cache.misses.Load() }

// Request is one search.
type Request struct {
	Query         string
	Language      string           // of the query, for keyword search; "": it tells
	Models        *ingest.Encoder  // of the partition's vectors
	Retrievers    []port.Retriever // at least one
	Weights       map[port.Retriever]float64
	Filter        *filter.Filter
	After, Before *int64
	Depth         int // hits a retriever, at least Fusion.Depth is fetched when several are fused
	Explain       bool
	Strict        bool // a failed retriever fails the search
	// Spread changes what one retriever found before it is fused; nil: nothing.
	Spread func(context.Context, List) (List, error)
}

// Part names a part of a search that can fail on its own.
type Part string

// Degraded is a part left out of an answer, or that took part with less than it was
// given, and why.
type Degraded struct {
	Part   string `json:"part" enum:"vector,keyword,sparse,rerank,answer" doc:"what was left out, or took part with less"`
	Reason string `json:"reason" enum:"model_off,timeout,error,truncated" doc:"why; truncated: it took part, and its model read only the beginning of the query"`
}

// The reasons.
const (
	ModelOff  = "model_off"
	TimedOut  = "timeout"
	Failed    = "error"
	Truncated = "truncated"
)

// Missing gives the parts and reasons of a list, as op.Partial wants them.
func Missing(list []Degraded) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, d := range list {
			if !yield(d.Part, d.Reason) {
				return
			}
		}
	}
}

// Result is a fused list.
type Result struct {
	Candidates []*Candidate
	Degraded   []Degraded
}

// share is the part of the remaining time one retriever may take before the
// answer goes out without it.
const share = 0.6

// maxReplays bounds how often one search brings back a partition that a memory
// budget too small for the load keeps evicting.
const maxReplays = 8

// Search runs the retrievers side by side and fuses what they found. p is a
// pinned partition at change number seq.
func (s *Searcher) Search(ctx context.Context, p port.Partition, seq uint64, q Request) (Result, error) {
	sctx, cancel := WithShare(ctx)
	defer cancel()
	lists := make([]List, len(q.Retrievers))
	cut := make([]bool, len(q.Retrievers)) // its model read only the beginning of the query
	errs := make([]error, len(q.Retrievers))
	depth := q.Depth
	if len(q.Retrievers) > 1 {
		depth = max(depth, s.Fusion.Depth)
	}
	var wg sync.WaitGroup
	for i, r := range q.Retrievers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if v := recover(); v != nil {
					errs[i] = fmt.Errorf("retriever %s panicked: %v", r, v)
				}
			}()
			if lists[i], cut[i], errs[i] = s.retrieve(sctx, p, seq, r, q, depth); errs[i] == nil && q.Spread != nil {
				lists[i], errs[i] = q.Spread(sctx, lists[i])
			}
		}()
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	var out Result
	var ok []List
	for i, r := range q.Retrievers {
		err := errs[i]
		if err == nil {
			ok = append(ok, lists[i])
			if cut[i] {
				if q.Strict {
					return Result{}, TooLong(string(r))
				}
				out.Degraded = append(out.Degraded, Degraded{string(r), Truncated})
			}
			continue
		}
		if code := fault.CodeOf(err); fault.Status(code) < 500 && code != fault.Canceled {
			return Result{}, err
		}
		reason := Why(err)
		if reason != ModelOff {
			s.Log.WarnContext(ctx, "retriever failed", "retriever", r, "partition", p.String(), "error", err)
		}
		if q.Strict || len(q.Retrievers) == 1 {
			return Result{}, unavailable(string(r), reason, err)
		}
		out.Degraded = append(out.Degraded, Degraded{string(r), reason})
	}
	if len(ok) == 0 {
		return Result{}, unavailable("every retriever", Why(errs[0]), errs[0])
	}
	if len(q.Retrievers) == 1 {
		out.Candidates = singleList(ok[0])
		return out, nil
	}
	_, end := span.Start(ctx, "fuse", attribute.Int("mneme.lists", len(ok)))
	defer end(nil)
	out.Candidates = s.Fusion.Fuse(ok, q.Weights)
	return out, nil
}

// TooLong is the fault of a strict call whose query a part read only the beginning of.
// It is the caller's to mend.
func TooLong(part string) error {
	return fault.Field(fault.InvalidRequest, "query", "is longer than the %s model reads; shorten it, or leave strict out", part)
}

// WithShare limits one part of a search to its share of the time that is left.
func WithShare(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(float64(time.Until(end))*share))
}

var errOff = fault.Off("the model is off")

// Why is the reason that Degraded gives for a part that failed.
func Why(err error) string {
	if fault.IsOff(err) {
		return ModelOff
	}
	if errors.Is(err, context.DeadlineExceeded) || fault.CodeOf(err) == fault.Timeout {
		return TimedOut
	}
	return Failed
}

func unavailable(part, reason string, err error) error {
	switch reason {
	case TimedOut:
		return fault.Wrap(fault.Timeout, "search", err, "%s did not answer in time", part)
	case ModelOff:
		return fault.Off("%s: the model is off", part)
	}
	return fault.Wrap(fault.Unavailable, "search", err, "%s failed", part).After(again(err, time.Second))
}

// again is when to ask again for a part that failed: as the part itself says where it
// is not available, 0 for one that does not come back by itself.
func again(err error, otherwise time.Duration) time.Duration {
	if f := fault.From(err); f.Code == fault.Unavailable {
		return f.RetryAfter
	}
	return otherwise
}

// singleList keeps a retriever's own scores.
func singleList(l List) []*Candidate {
	out := make([]*Candidate, len(l.Hits))
	for i, h := range l.Hits {
		r := Rank{i + 1, float64(h.Score), h.Terms}
		out[i] = &Candidate{
			Document: h.Document,
			Chunk:    h.Chunk,
			Score:    float64(h.Score),
			Fused:    Rank{Rank: i + 1, Score: float64(h.Score)},
			Ranks:    map[port.Retriever]Rank{l.Retriever: r},
		}
	}
	slices.SortFunc(out, less)
	return out
}

func (s *Searcher) retrieve(ctx context.Context, p port.Partition, seq uint64, r port.Retriever, q Request,
	depth int) (_ List, cut bool, err error) {
	ctx, end := span.Start(ctx, "retrieve", attribute.String("mneme.retriever", string(r)))
	defer func() { end(err) }()
	ix := s.Indexes[r]
	if ix == nil {
		return List{}, false, errOff
	}
	iq := port.IndexQuery{Retriever: r, Filter: q.Filter, After: q.After, Before: q.Before, Limit: depth, Explain: q.Explain}
	switch r {
	case port.Keyword:
		iq.Text, iq.Language = q.Query, q.Language
	case port.Vector:
		if q.Models.Embedder == nil {
			return List{}, false, errOff
		}
		v, err := s.embed(ctx, p, q.Models.Embedder, q.Query)
		if err != nil {
			return List{}, false, fmt.Errorf("embed the query: %w", err)
		}
		iq.Vector, cut = v.Row(0), fills(v.Tokens, q.Models.Embedder)
	case port.SparseTerms:
		if q.Models.Sparse == nil {
			return List{}, false, errOff
		}
		v, err := s.encode(ctx, p, q.Models.Sparse, q.Query)
		if err != nil {
			return List{}, false, fmt.Errorf("encode the query: %w", err)
		}
		iq.SparseTerms, iq.SparseWeights, cut = v.Terms, v.Weights, fills(v.Tokens, q.Models.Sparse)
	}
	var failed error
	for range 1 + maxReplays {
		if err := s.Projector.EnsureIndex(ctx, ix, p, seq); err != nil {
			return List{}, false, err
		}
		hits, err := ix.Search(ctx, p, iq)
		if err == nil {
			return List{Retriever: r, Hits: hits, RanksOnly: s.RanksOnly(r)}, cut, nil
		}
		failed = fmt.Errorf("search %s: %w", r, err)
		if !errors.Is(err, port.ErrGap) { // else it was evicted after it was brought up to date
			break
		}
	}
	return List{}, false, failed
}

// fills reports whether a model's window was too small for the one text that it read:
// one that was cut reports the whole window.
func fills(tokens []int, m port.Model) bool {
	window := m.Info().MaxTokens
	return window > 0 && len(tokens) == 1 && tokens[0] >= window
}

// RanksOnly reports whether a retriever's scores order hits and say no more.
func (s *Searcher) RanksOnly(r port.Retriever) bool {
	ranker, ok := s.Indexes[r].(port.Ranker)
	return ok && ranker.RanksOnly(r)
}

// Spans are the words of a text that keyword search for a query matches; false: the
// index can't highlight.
func (s *Searcher) Spans(query, text port.Wording) ([]port.Span, bool) {
	h, ok := s.Indexes[port.Keyword].(port.Highlighter)
	if !ok {
		return nil, false
	}
	return h.Spans(query, text), true
}

func (s *Searcher) embed(ctx context.Context, p port.Partition, model port.Embedder, text string) (_ port.Dense, err error) {
	ctx, end := span.Start(ctx, "embed query")
	defer func() { end(err) }()
	v, err := s.cache.get(ctx, p, "vector "+model.Info().Digest, text, func(ctx context.Context) (any, error) {
		return model.Embed(ctx, port.Query, []string{text})
	})
	if err != nil {
		return port.Dense{}, err
	}
	return v.(port.Dense), nil
}

func (s *Searcher) encode(ctx context.Context, p port.Partition, model port.SparseEncoder, text string) (
	_ port.Sparse, err error) {
	ctx, end := span.Start(ctx, "encode query")
	defer func() { end(err) }()
	// One model may stand in both roles: the key says whose encoding it is.
	key, compute := "sparse ", model.Encode
	if s.SparseQueries == IDFQueries {
		key, compute = "pieces ", func(ctx context.Context, as port.TextKind, texts []string) (port.Sparse, error) {
			return wordPieces(ctx, model, as, texts)
		}
	}
	v, err := s.cache.get(ctx, p, key+model.Info().Digest, text, func(ctx context.Context) (any, error) {
		return compute(ctx, port.Query, []string{text})
	})
	if err != nil {
		return port.Sparse{}, err
	}
	return v.(port.Sparse), nil
}

// wordPieces gives one text's distinct word pieces without weights.
func wordPieces(ctx context.Context, model port.SparseEncoder, as port.TextKind, texts []string) (port.Sparse, error) {
	t, ok := model.(port.Tokenizer)
	if !ok {
		return port.Sparse{}, fmt.Errorf("model %s does not give word pieces", model.Info().ID)
	}
	ids, err := t.TokenIDs(ctx, as, append([]string{""}, texts...))
	if err != nil {
		return port.Sparse{}, err
	}
	if len(ids) != 2 {
		return port.Sparse{}, fmt.Errorf("model %s gave the word pieces of %d texts for 2", model.Info().ID, len(ids))
	}
	terms := slices.Clone(withoutFrame(ids[1], ids[0]))
	slices.Sort(terms)
	return port.Sparse{Terms: slices.Compact(terms), Tokens: []int{len(ids[1])}}, nil
}

// withoutFrame leaves out what a model puts around every text, which is all that it
// reads of an empty one.
func withoutFrame(ids, frame []uint32) []uint32 {
	n := 0
	for n < len(frame) && n < len(ids) && ids[n] == frame[n] {
		n++
	}
	ids, frame = ids[n:], frame[n:]
	for len(frame) > 0 && len(ids) > 0 && ids[len(ids)-1] == frame[len(frame)-1] {
		ids, frame = ids[:len(ids)-1], frame[:len(frame)-1]
	}
	return ids
}
