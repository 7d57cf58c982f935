package query

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Service answers queries.
type Service struct {
	store     port.Snapshots[port.PartitionReader]
	documents port.Snapshots[port.DocumentReader]
	searcher  *retrieve.Searcher
	rerankers retrieve.Rerankers
	reranking retrieve.Reranking
	encoders  *ingest.Encoders
	timeout   time.Duration
	log       *slog.Logger
}

// Settings configure a Service.
type Settings struct {
	Store     port.Store
	Searcher  *retrieve.Searcher
	Reranker  port.Reranker     // of calls that name none; nil: off
	Rerankers []port.Reranker   // further ones that a call may name
	Aliases   map[string]string // further names of models, each with the model's own
	Reranking retrieve.Reranking
	Encoders  *ingest.Encoders
	Timeout   time.Duration // of a query without rerank; 0: the default
	Log       *slog.Logger
}

// New makes the service.
func New(s Settings) *Service {
	if s.Timeout <= 0 {
		s.Timeout = queryTimeout
	}
	return &Service{
		store:     port.NarrowReads(s.Store, func(r port.Reader) port.PartitionReader { return r }),
		documents: port.NarrowReads(s.Store, func(r port.Reader) port.DocumentReader { return r }),
		searcher:  s.Searcher,
		rerankers: retrieve.Rerankers{Default: s.Reranker, Others: s.Rerankers, Aliases: s.Aliases},
		reranking: s.Reranking,
		encoders:  s.Encoders,
		timeout:   s.Timeout,
		log:       s.Log,
	}
}

// Result answers a query.
type Result struct {
	Results             []Hit               `json:"results" doc:"best first"`
	ScoreKind           string              `json:"score_kind" enum:"rerank,cosine,bm25,sparse,fused" doc:"what the scores are"`
	Model               *string             `json:"model" doc:"the reranker that ran, else null"`
	Retrievers          []string            `json:"retrievers" enum:"vector,keyword,sparse" doc:"those that were used"`
	Degraded            []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, or that took part with less, and why"`
	TruncatedCandidates int                 `json:"truncated_candidates" minimum:"0" doc:"texts cut at the reranker's window"`
	TookMS              int64               `json:"took_ms" minimum:"0" doc:"milliseconds on the server"`
}

// Missing implements op.Partial.
func (r Result) Missing() iter.Seq2[string, string] { return retrieve.Missing(r.Degraded) }

// Hit is one found chunk.
type Hit struct {
	ID         string          `json:"id" doc:"namespace/document_id"`
	DocumentID string          `json:"document_id" schema:"DocumentID"`
	ChunkIndex int             `json:"chunk_index" minimum:"0" doc:"position of the chunk in the document"`
	Start      int             `json:"start" minimum:"0" doc:"UTF-8 byte offset into the document's text"`
	End        int             `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Page       int             `json:"page,omitempty" minimum:"1" doc:"page or slide that the chunk begins on, of a document with pages"`
	Heading    string          `json:"heading,omitempty" doc:"headings above the chunk, outermost first, with ' > ' between them; outer ones are left out where all would be long"`
	Text       *string         `json:"text,omitempty" doc:"unless include_text is false"`
	Score      float64         `json:"score" doc:"higher is better; what it is says score_kind"`
	Metadata   json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"unless include_metadata is false"`
	Before     []Neighbor      `json:"before" doc:"neighbours before the chunk"`
	After      []Neighbor      `json:"after" doc:"neighbours after the chunk"`
	Explain    *Explain        `json:"explain,omitempty" doc:"with explain"`

	// For callers within the process: whether the reranker scored the chunk, and
	// the document as it was read, with text, metadata and layout.
	Reranked bool          `json:"-"`
	Document port.Document `json:"-"`
}

// Neighbor is a chunk beside a hit.
type Neighbor struct {
	ChunkIndex int     `json:"chunk_index" minimum:"0"`
	Start      int     `json:"start" minimum:"0"`
	End        int     `json:"end" minimum:"0"`
	Text       *string `json:"text,omitempty"`
}

// Explain says where a hit stood in each list; null: not in it.
type Explain struct {
	Vector  *Rank `json:"vector"`
	Keyword *Rank `json:"keyword"`
	Sparse  *Rank `json:"sparse"`
	Fused   *Rank `json:"fused"`
	Rerank  *Rank `json:"rerank"`
}

// Rank is a place in a list, from 1, and the score there.
type Rank struct {
	Rank  int      `json:"rank" minimum:"1" doc:"place in the list, from 1"`
	Score float64  `json:"score" doc:"score in the list"`
	Terms []string `json:"terms,omitempty" doc:"terms of the query that the chunk has"`
	Spans []Span   `json:"spans,omitzero" maxItems:"100" doc:"keyword: where the chunk's text has words of the query, in rising order; absent where the index does not tell, empty where its headings alone have them"`
}

// Span is a part of a chunk's text.
type Span struct {
	Start int `json:"start" minimum:"0" doc:"UTF-8 byte offset into the chunk's text"`
	End   int `json:"end" minimum:"1" doc:"UTF-8 byte offset after it"`
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:         "namespaces.query",
			Group:        op.Querying,
			TimeoutClass: op.QueryTimeout,
			Method:       "POST",
			Path:         "/namespaces/{namespace}/query",
			Class:        op.Read,
			MaxBody:      1 << 20,
			Timeout:      rerankTimeout,
			Summary:      "Find the chunks that answer a query",
			Description: "Hybrid search (vector and keyword, sparse where the namespace has it), filtered before the " +
				"top-k cut, optionally reranked.",
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidNamespace, fault.InvalidFilter,
				fault.NamespaceNotFound,
				fault.PayloadTooLarge, fault.Conflict, fault.Unavailable},
		}, (*Service).Query),
	}, examples()), links())
}

const (
	queryTimeout  = 10 * time.Second
	rerankTimeout = 20 * time.Second
)

// Query finds the best chunks of a namespace.
func (s *Service) Query(ctx context.Context, q Request) (Result, error) {
	started := time.Now()
	who := ident.From(ctx)
	if q.rerank == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	} else if _, ok := s.rerankers.Named(q.rerank.Model); !ok {
		return Result{}, invalid("rerank.model", "%q is not a rerank model of this server; GET /models?kind=rerank lists them",
			q.rerank.Model)
	}
	p := port.Documents(who.Org, q.Namespace)
	ctx = port.OnAccountOf(ctx, p)
	for before := int64(0); ; {
		var ns port.PartitionRow
		err := s.store.View(ctx, func(r port.PartitionReader) (err error) {
			ns, err = r.Partition(ctx, p)
			return err
		})
		if err == nil && ns.Documents == 0 {
			err = fault.New(fault.NamespaceNotFound, "namespace %q holds no documents", q.Namespace)
		}
		gone := fault.CodeOf(err) == fault.NamespaceNotFound
		var out Result
		if err == nil {
			out, err = s.queryAt(ctx, q, p.At(ns.Generation), ns)
			gone = fault.IsPartitionNotFound(err) && ns.Generation == before
		}
		switch {
		case gone && before != 0:
			return Result{}, fault.New(fault.NamespaceNotFound, "namespace %q was deleted during the query", q.Namespace)
		case gone || !fault.IsPartitionNotFound(err):
			out.TookMS = time.Since(started).Milliseconds()
			return out, err
		}
		// What it began with is gone: the namespace was reindexed, or made again.
		before = ns.Generation
	}
}

// queryAt is Query of the generation that a row names.
func (s *Service) queryAt(ctx context.Context, q Request, p port.Partition, ns port.PartitionRow) (Result, error) {
	if err := s.encoders.Check(ns); err != nil {
		return Result{}, err
	}
	retrievers := q.retrievers
	if retrievers == nil {
		retrievers = []port.Retriever{port.Vector, port.Keyword}
		if ns.Sparse {
			retrievers = append(retrievers, port.SparseTerms)
		}
	}
	if !ns.Sparse && slices.Contains(retrievers, port.SparseTerms) {
		return Result{}, invalid("retrievers", "namespace %q has no sparse index", q.Namespace)
	}
	if len(retrievers) > 1 && q.weights != nil && !slices.ContainsFunc(retrievers, func(r port.Retriever) bool {
		w, ok := q.weights[r]
		return !ok || w > 0
	}) {
		return Result{}, invalid("weights", "give every retriever used a weight of 0; at least one weight above 0 is needed")
	}
	retrievers = s.asked(retrievers, q.weights)
	topK, perDocument := valueOr(q.TopK, 10), valueOr(q.MaxChunksPerDocument, 100)
	found, err := s.searcher.Search(ctx, p, ns.Seq, retrieve.Request{
		Query:      q.Query,
		Language:   q.language(ns),
		Models:     s.encoders.For(ns),
		Retrievers: retrievers,
		Weights:    q.weights,
		Filter:     q.filter,
		Depth:      depth(topK, perDocument),
		Explain:    valueOr(q.Explain, false),
		Strict:     valueOr(q.Strict, false),
	})
	if err != nil {
		return Result{}, err
	}
	out := Result{
		Results:    []Hit{},
		ScoreKind:  s.scoreKind(retrievers),
		Retrievers: make([]string, len(retrievers)),
		Degraded:   found.Degraded,
	}
	if out.Degraded == nil {
		out.Degraded = []retrieve.Degraded{}
	}
	for i, r := range retrievers {
		out.Retrievers[i] = string(r)
	}
	answer := retrieve.Answer{Store: s.documents, Partition: p, Candidates: found.Candidates, Log: s.log}
	if q.rerank != nil {
		if err := s.rerank(ctx, &answer, &q, topK, &out); err != nil {
			return Result{}, err
		}
	}
	hits, err := answer.Hydrate(ctx, q.selection(topK, perDocument, &out))
	if err != nil {
		return Result{}, err
	}
	for _, h := range hits {
		out.Results = append(out.Results, s.hit(&q, ns, h))
	}
	return out, nil
}

// asked leaves out the retrievers whose weight is 0, the request's or the configured one:
// what they find would count for nothing (docs/contract.md#query-request).
func (s *Service) asked(of []port.Retriever, weights map[port.Retriever]float64) []port.Retriever {
	var out []port.Retriever
	for _, r := range of {
		w, ok := weights[r]
		if !ok {
			w = s.searcher.Fusion.Weights[r]
		}
		if w > 0 {
			out = append(out, r)
		}
	}
	if len(of) == 1 || len(out) == 0 { // one alone needs no weight
		return of
	}
	return out
}

// depth is how many hits each retriever is asked for: with a cap per document
// many of them may be skipped.
func depth(topK, perDocument int) int {
	d := max(100, topK)
	if perDocument < topK {
		d = max(d, min(topK*4, 400))
	}
	return d
}

// scoreKind says what the scores of a search are. Those of an index that only ranks
// are as those of a fusion: they order the hits of one answer.
func (s *Service) scoreKind(retrievers []port.Retriever) string {
	if len(retrievers) > 1 || s.searcher.RanksOnly(retrievers[0]) {
		return "fused"
	}
	switch retrievers[0] {
	case port.Vector:
		return "cosine"
	case port.Keyword:
		return "bm25"
	}
	return "sparse"
}

// rerank rescores the head of the list. Where the reranker does not answer, the
// list stays as it was and min_score, which was meant for its scores, does not
// apply.
func (s *Service) rerank(ctx context.Context, a *retrieve.Answer, q *Request, topK int, out *Result) error {
	model, _ := s.rerankers.Named(q.rerank.Model)
	cut, degraded, err := a.Rerank(ctx, retrieve.Rescoring{
		Reranker:  model,
		Constants: s.reranking,
		Query:     q.Query,
		Depth:     s.reranking.Count(topK, valueOr(q.rerank.Depth, 0)),
		Strict:    valueOr(q.Strict, false),
	})
	if err != nil {
		return err
	}
	if degraded != nil {
		out.Degraded = append(out.Degraded, *degraded)
		return nil
	}
	id := model.Info().ID
	out.Model, out.ScoreKind, out.TruncatedCandidates = &id, "rerank", cut.Texts
	if cut.Query {
		out.Degraded = append(out.Degraded, retrieve.Degraded{Part: "rerank", Reason: retrieve.Truncated})
	}
	return nil
}

// selection holds the rules applied after ranking: the cap per document, the lowest
// score, and the filter once more, since a document may have been rewritten after it
// was found.
func (q *Request) selection(topK, perDocument int, out *Result) retrieve.Selection {
	s := retrieve.Selection{Limit: topK, PerDocument: perDocument}
	reranked := out.Model != nil
	if least := q.MinScore; least != nil && (reranked || q.rerank == nil && out.ScoreKind == "cosine") {
		s.Eligible = func(c *retrieve.Candidate) bool {
			// A hit that was not scored may be below the lowest score.
			return c.Score >= *least && (!reranked || c.Reranked != nil)
		}
	}
	if q.filter != nil {
		s.Current = func(d port.DocumentHead) (bool, error) {
			m, err := filter.ParseMetadata("metadata", d.Metadata)
			if err != nil {
				return false, fmt.Errorf("stored metadata of %s: %w", d.ID, err)
			}
			return q.filter.Match(m), nil
		}
	}
	return s
}

func (s *Service) hit(q *Request, ns port.PartitionRow, c retrieve.Found) Hit {
	d := c.Document
	ch := d.Chunks[c.Chunk]
	h := Hit{
		ID:         q.Namespace + "/" + d.ID,
		DocumentID: d.ID,
		ChunkIndex: c.Chunk,
		Start:      ch.Start,
		End:        ch.End,
		Page:       port.PageAt(d.Metadata, d.Text, ch.Start),
		Heading:    chunk.Heading(d.Text, ch),
		Score:      c.Score,
		Before:     []Neighbor{},
		After:      []Neighbor{},
		Reranked:   c.Reranked != nil,
		Document:   d.Document,
	}
	text := func(ch port.Chunk) *string {
		if !valueOr(q.IncludeText, true) {
			return nil
		}
		t := d.Text[ch.Start:ch.End]
		return &t
	}
	h.Text = text(ch)
	if valueOr(q.IncludeMetadata, true) {
		if h.Metadata = d.Metadata; len(h.Metadata) == 0 {
			h.Metadata = json.RawMessage("{}")
		}
	}
	n := valueOr(q.Neighbors, 0)
	for i := max(0, c.Chunk-n); i < c.Chunk; i++ {
		h.Before = append(h.Before, Neighbor{i, d.Chunks[i].Start, d.Chunks[i].End, text(d.Chunks[i])})
	}
	for i := c.Chunk + 1; i <= min(c.Chunk+n, len(d.Chunks)-1); i++ {
		h.After = append(h.After, Neighbor{i, d.Chunks[i].Start, d.Chunks[i].End, text(d.Chunks[i])})
	}
	if valueOr(q.Explain, false) {
		h.Explain = s.explain(port.Wording{Text: q.Query, Language: q.language(ns)}, c,
			port.Wording{Text: d.Text[ch.Start:ch.End], Language: ns.Language})
	}
	return h
}

// explain says how a hit came to its place, and where its text has words of the
// query.
func (s *Service) explain(query port.Wording, c retrieve.Found, text port.Wording) *Explain {
	rank := func(r port.Retriever) *Rank {
		if k, ok := c.Ranks[r]; ok {
			return &Rank{Rank: k.Rank, Score: k.Score, Terms: k.Terms}
		}
		return nil
	}
	e := &Explain{
		Vector:  rank(port.Vector),
		Keyword: rank(port.Keyword),
		Sparse:  rank(port.SparseTerms),
		Fused:   &Rank{Rank: c.Fused.Rank, Score: c.Fused.Score},
	}
	if c.Reranked != nil {
		e.Rerank = &Rank{Rank: c.Reranked.Rank, Score: c.Reranked.Score}
	}
	if e.Keyword != nil {
		if spans, ok := s.searcher.Spans(query, text); ok {
			e.Keyword.Spans = make([]Span, len(spans))
			for i, at := range spans {
				e.Keyword.Spans[i] = Span(at)
			}
		}
	}
	return e
}
