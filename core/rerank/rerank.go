package rerank

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Service reranks.
type Service struct {
	reranker     port.Reranker // nil: off
	maxDocuments int
}

// DefaultMaxDocuments is how many texts one call may score unless configured.
const DefaultMaxDocuments = 100

// New makes the service; maxDocuments 0 is the default.
func New(r port.Reranker, maxDocuments int) *Service {
	if maxDocuments == 0 {
		maxDocuments = DefaultMaxDocuments
	}
	return &Service{r, maxDocuments}
}

// Request is the body of POST /rerank.
type Request struct {
	Query     string   `json:"query"`
	Documents []string `json:"documents" max:"1000" doc:"1-100 texts; each is cut at the model's window"`
	TopK      *int     `json:"top_k,omitempty" doc:"1-100, default all"`
	Model     *string  `json:"model,omitempty"`
}

// Validate checks what holds whatever is configured.
func (r *Request) Validate() error {
	if r.Query == "" {
		return fault.Field(fault.InvalidRequest, "query", "is required")
	}
	if len(r.Documents) == 0 {
		return fault.Field(fault.InvalidRequest, "documents", "must hold at least one text")
	}
	if r.TopK != nil && (*r.TopK < 1 || *r.TopK > 100) {
		return fault.Field(fault.InvalidRequest, "top_k", "must be 1-100")
	}
	for _, d := range append([]string{r.Query}, r.Documents...) {
		if strings.IndexByte(d, 0) >= 0 {
			return fault.Field(fault.InvalidRequest, "documents", "query or documents hold a NUL character")
		}
	}
	return nil
}

// Result answers POST /rerank.
type Result struct {
	Results   []Scored `json:"results" doc:"best first"`
	Model     string   `json:"model"`
	Truncated int      `json:"truncated" doc:"texts cut at the model's window"`
}

// Scored is one text's score.
type Scored struct {
	Index int     `json:"index" doc:"position in documents"`
	Score float64 `json:"score" doc:"probability of relevance, 0-1"`
}

// Rerank scores each document against the query.
func (s *Service) Rerank(ctx context.Context, in Request) (Result, error) {
	if n := len(in.Documents); n > s.maxDocuments {
		return Result{}, fault.Field(fault.InvalidRequest, "documents", "must hold 1-%d texts, got %d", s.maxDocuments, n)
	}
	if s.reranker == nil {
		if in.Model != nil && *in.Model != "" {
			return Result{}, fault.Field(fault.InvalidRequest, "model", "%q is not a rerank model of this server", *in.Model)
		}
		return Result{}, fault.New(fault.Unavailable, "the rerank model is off").After(30 * time.Second)
	}
	id := s.reranker.Info().ID
	if in.Model != nil && *in.Model != id {
		return Result{}, fault.Field(fault.InvalidRequest, "model", "%q is not a rerank model of this server; it has %q", *in.Model, id)
	}
	scores, truncated, err := s.reranker.Score(ctx, in.Query, in.Documents)
	if err != nil {
		return Result{}, err
	}
	out := Result{Model: id, Truncated: truncated, Results: make([]Scored, len(scores))}
	for i, v := range scores {
		out.Results[i] = Scored{i, float64(v)}
	}
	slices.SortStableFunc(out.Results, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	topK := min(len(scores), 100)
	if in.TopK != nil {
		topK = min(topK, *in.TopK)
	}
	out.Results = out.Results[:topK]
	return out, nil
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	return []op.Op[*Service]{
		op.Define(op.Spec{Name: "rerank", Method: "POST", Path: "/rerank", Class: op.Rerank, MaxBody: 32 << 20, Timeout: 20 * time.Second,
			Summary: "Score texts against a query, best first",
			Faults:  []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.PayloadTooLarge, fault.Upstream, fault.Unavailable}}, (*Service).Rerank),
	}
}
