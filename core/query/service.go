package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
type Service struct{ Settings }

// Settings are what a Service works with.
type Settings struct {
	Store     port.Store
	Searcher  *retrieve.Searcher
	Reranker  port.Reranker // nil: off
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
	return &Service{s}
}

// Result answers a query.
type Result struct {
	Results             []Hit               `json:"results" doc:"best first"`
	ScoreKind           string              `json:"score_kind" enum:"rerank,cosine,bm25,sparse,fused" doc:"what the scores are"`
	Model               *string             `json:"model" doc:"the reranker that ran, else null"`
	Retrievers          []string            `json:"retrievers" enum:"vector,keyword,sparse" doc:"those that were used"`
	Degraded            []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, and why"`
	TruncatedCandidates int                 `json:"truncated_candidates" minimum:"0" doc:"texts cut at the reranker's window"`
	TookMS              int64               `json:"took_ms" minimum:"0" doc:"milliseconds on the server"`
}

// Hit is one found chunk.
type Hit struct {
	ID         string          `json:"id" doc:"namespace/document_id"`
	DocumentID string          `json:"document_id" schema:"DocumentID"`
	ChunkIndex int             `json:"chunk_index" minimum:"0" doc:"position of the chunk in the document"`
	Start      int             `json:"start" minimum:"0" doc:"UTF-8 byte offset into the document's text"`
	End        int             `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Text       *string         `json:"text,omitempty" doc:"unless include_text is false"`
	Score      float64         `json:"score" doc:"higher is better; what it is says score_kind"`
	Metadata   json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"unless include_metadata is false"`
	Before     []Neighbor      `json:"before" doc:"neighbours before the chunk"`
	After      []Neighbor      `json:"after" doc:"neighbours after the chunk"`
	Explain    *Explain        `json:"explain,omitempty" doc:"with explain"`
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
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return op.WithLinks(op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{Name: "namespaces.query", Method: "POST", Path: "/namespaces/{namespace}/query", Class: op.Read, MaxBody: 1 << 20,
			Timeout: rerankTimeout, Summary: "Find the chunks that answer a query",
			Description: "Hybrid search (vector and keyword, sparse where the namespace has it), filtered before the top-k cut, optionally reranked.",
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidNamespace, fault.InvalidFilter, fault.NamespaceNotFound,
				fault.PayloadTooLarge, fault.Conflict, fault.Unavailable}}, (*Service).Query),
	}, examples()), links())
}

const (
	queryTimeout  = 10 * time.Second
	rerankTimeout = 20 * time.Second
)

// Query finds the best chunks of a namespace.
func (s *Service) Query(ctx context.Context, q Request) (Result, error) {
	started := time.Now()
	who, _ := ident.From(ctx)
	if q.rerank == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Timeout)
		defer cancel()
	} else if m := q.rerank.Model; m != "" && (s.Reranker == nil || m != s.Reranker.Info().ID) {
		return Result{}, invalid("rerank.model", "%q is not a rerank model of this server; GET /models?kind=rerank lists them", m)
	}
	p := port.Documents(who.Org, q.Namespace)
	var ns port.Namespace
	err := s.Store.View(ctx, func(r port.Reader) (err error) {
		ns, err = r.Namespace(ctx, p)
		return err
	})
	if err != nil {
		return Result{}, err
	}
	if ns.Documents == 0 {
		return Result{}, fault.New(fault.NamespaceNotFound, "namespace %q holds no documents", q.Namespace)
	}
	if err := s.Encoders.Check(ns); err != nil {
		return Result{}, err
	}
	p = p.At(ns.Generation)
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
		return Result{}, invalid("weights", "give every retriever used a weight of 0")
	}
	topK, perDocument := or(q.TopK, 10), or(q.MaxChunksPerDocument, 100)
	found, err := s.Searcher.Search(ctx, p, ns.Seq, retrieve.Request{Query: q.Query, Models: s.Encoders.For(ns), Retrievers: retrievers, Weights: q.weights,
		Filter: q.filter, Depth: depth(topK, perDocument), Explain: or(q.Explain, false), Strict: or(q.Strict, false)})
	if err != nil {
		return Result{}, err
	}
	out := Result{Results: []Hit{}, ScoreKind: s.kind(retrievers), Retrievers: make([]string, len(retrievers)), Degraded: found.Degraded}
	if out.Degraded == nil {
		out.Degraded = []retrieve.Degraded{}
	}
	for i, r := range retrievers {
		out.Retrievers[i] = string(r)
	}
	reranked := false
	if q.rerank != nil {
		if reranked, err = s.rerank(ctx, p, &q, topK, found.Candidates, &out); err != nil {
			return Result{}, err
		}
	}
	pick := picker{query: &q, topK: topK, perDocument: perDocument, applyMin: reranked || q.rerank == nil && out.ScoreKind == "cosine"}
	if err := s.hydrate(ctx, p, &pick, found.Candidates, &out); err != nil {
		return Result{}, err
	}
	out.TookMS = time.Since(started).Milliseconds()
	return out, nil
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

// kind says what the scores of a search are. Those of an index that only ranks
// are as those of a fusion: they order the hits of one answer.
func (s *Service) kind(retrievers []port.Retriever) string {
	if len(retrievers) > 1 || s.Searcher.RanksOnly(retrievers[0]) {
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

// rerank rescores the head of the list. What it does not score stays behind it
// in the order it had. Where the reranker does not answer, the list stays as it
// was and min_score, which was meant for its scores, does not apply.
func (s *Service) rerank(ctx context.Context, p port.Partition, q *Request, topK int, c []*retrieve.Candidate, out *Result) (bool, error) {
	degrade := func(reason string, err error) (bool, error) {
		if or(q.Strict, false) {
			if reason == retrieve.TimedOut {
				return false, fault.Wrap(fault.Timeout, "rerank", err, "the reranker did not answer in time")
			}
			return false, fault.Wrap(fault.Unavailable, "rerank", err, "the reranker is not available").After(30 * time.Second)
		}
		out.Degraded = append(out.Degraded, retrieve.Degraded{Part: "rerank", Reason: reason})
		return false, nil
	}
	if s.Reranker == nil {
		return degrade(retrieve.ModelOff, nil)
	}
	n := min(s.Reranking.Count(topK, or(q.rerank.Depth, 0)), len(c))
	texts := make([]string, n)
	err := s.Store.View(ctx, func(r port.Reader) error {
		docs, err := retrieve.Documents(ctx, r, p, c[:n], port.PartText|port.PartChunks)
		if err != nil {
			return err
		}
		for i, h := range c[:n] {
			if d, ok := docs[h.Document]; ok && h.Chunk < len(d.Chunks) {
				texts[i] = chunk.Text(d.Text, d.Chunks[h.Chunk])
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	scores, truncated, err := retrieve.Score(ctx, s.Reranker, q.Query, texts)
	if err != nil {
		s.Log.WarnContext(ctx, "reranker failed", "partition", p.String(), "error", err)
		if ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
			return false, ctx.Err()
		}
		return degrade(retrieve.Why(err), err)
	}
	s.Reranking.Reorder(c, scores)
	id := s.Reranker.Info().ID
	out.Model, out.ScoreKind, out.TruncatedCandidates = &id, "rerank", truncated
	return true, nil
}

// picker applies what is decided after ranking: the cap per document and the
// lowest score.
type picker struct {
	query             *Request
	topK, perDocument int
	applyMin          bool
}

// hydrate reads the chosen chunks from the store. A chunk that was rewritten
// or deleted since it was found is passed over: stale text is never shown.
func (s *Service) hydrate(ctx context.Context, p port.Partition, pick *picker, c []*retrieve.Candidate, out *Result) error {
	q := pick.query
	perDocument := map[string]int{}
	err := s.Store.View(ctx, func(r port.Reader) error {
		out.Results = out.Results[:0]
		clear(perDocument)
		for next := 0; next < len(c) && len(out.Results) < pick.topK; {
			var batch []*retrieve.Candidate
			for ; next < len(c) && len(batch)+len(out.Results) < pick.topK; next++ {
				if pick.applyMin && q.MinScore != nil && c[next].Score < *q.MinScore {
					continue
				}
				if out.Model != nil && pick.applyMin && q.MinScore != nil && c[next].Reranked == nil {
					continue // not scored, so not known to reach the bar
				}
				if perDocument[c[next].Document] >= pick.perDocument {
					continue
				}
				perDocument[c[next].Document]++
				batch = append(batch, c[next])
			}
			if len(batch) == 0 {
				break
			}
			docs, err := retrieve.Documents(ctx, r, p, batch, port.PartText|port.PartMetadata|port.PartChunks)
			if err != nil {
				return err
			}
			for _, h := range batch {
				d, ok := docs[h.Document]
				if ok && q.filter != nil {
					// Rewritten since it was found: the filter holds for what is shown.
					m, err := filter.ParseMetadata("metadata", d.Metadata)
					if err != nil {
						return fmt.Errorf("stored metadata of %s: %w", d.ID, err)
					}
					ok = q.filter.Match(m)
				}
				if !ok || h.Chunk >= len(d.Chunks) {
					perDocument[h.Document]--
					continue
				}
				out.Results = append(out.Results, hit(q, p.Name(), h, d))
			}
		}
		return nil
	})
	if fault.CodeOf(err) == fault.NamespaceNotFound {
		return fault.New(fault.NamespaceNotFound, "namespace %q was deleted during the query", p.Name())
	}
	return err
}

func hit(q *Request, namespace string, c *retrieve.Candidate, d port.DocumentHead) Hit {
	ch := d.Chunks[c.Chunk]
	h := Hit{ID: namespace + "/" + d.ID, DocumentID: d.ID, ChunkIndex: c.Chunk, Start: ch.Start, End: ch.End, Score: c.Score,
		Before: []Neighbor{}, After: []Neighbor{}}
	text := func(ch port.Chunk) *string {
		if !or(q.IncludeText, true) {
			return nil
		}
		t := d.Text[ch.Start:ch.End]
		return &t
	}
	h.Text = text(ch)
	if or(q.IncludeMetadata, true) {
		if h.Metadata = d.Metadata; len(h.Metadata) == 0 {
			h.Metadata = json.RawMessage("{}")
		}
	}
	n := or(q.Neighbors, 0)
	for i := max(0, c.Chunk-n); i < c.Chunk; i++ {
		h.Before = append(h.Before, Neighbor{i, d.Chunks[i].Start, d.Chunks[i].End, text(d.Chunks[i])})
	}
	for i := c.Chunk + 1; i <= min(c.Chunk+n, len(d.Chunks)-1); i++ {
		h.After = append(h.After, Neighbor{i, d.Chunks[i].Start, d.Chunks[i].End, text(d.Chunks[i])})
	}
	if or(q.Explain, false) {
		rank := func(r port.Retriever) *Rank {
			if k, ok := c.Ranks[r]; ok {
				return &Rank{k.Rank, k.Score, k.Terms}
			}
			return nil
		}
		h.Explain = &Explain{Vector: rank(port.Vector), Keyword: rank(port.Keyword), Sparse: rank(port.SparseTerms), Fused: &Rank{Rank: c.Fused.Rank, Score: c.Fused.Score}}
		if c.Reranked != nil {
			h.Explain.Rerank = &Rank{Rank: c.Reranked.Rank, Score: c.Reranked.Score}
		}
	}
	return h
}
