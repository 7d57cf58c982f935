package rerank

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Service reranks.
type Service struct {
	rerankers    retrieve.Rerankers
	maxDocuments int
}

// How many texts one call may score.
const (
	DefaultMaxDocuments = 100  // unless configured
	MaxDocuments        = 1000 // at most
)

// maxQuery is how many characters a query has at most, as that of a search
// (docs/contract.md#limit-sizes).
const maxQuery = 8192

// New makes the service; maxDocuments 0 is the default. The others are further models
// that a call may name.
func New(r port.Reranker, maxDocuments int, others ...port.Reranker) *Service {
	if maxDocuments == 0 {
		maxDocuments = DefaultMaxDocuments
	}
	return &Service{retrieve.Rerankers{Default: r, Others: others}, min(maxDocuments, MaxDocuments)}
}

// Aliased lets calls name models by further names, each with the model's own.
func (s *Service) Aliased(names map[string]string) *Service {
	s.rerankers.Aliases = names
	return s
}

// Request is the body of POST /rerank.
type Request struct {
	Query     string   `json:"query" schema:"Text" minLength:"1" doc:"the question, at most 8192 characters"`
	Documents []string `json:"documents" maxDecoded:"1000" schema:"Text" minItems:"1" defaultMaxItems:"100" doc:"texts to score, each cut at the model's window; a server may be configured for up to 1000"`
	TopK      *int     `json:"top_k,omitempty" minimum:"1" maximum:"100" doc:"how many to answer; default: all, up to 100"`
	Model     *string  `json:"model,omitempty" doc:"a rerank model of this server, or an alias of one; absent: the default"`
}

// Result answers POST /rerank.
type Result struct {
	Results   []Scored `json:"results" doc:"best first"`
	Model     string   `json:"model"`
	Truncated int      `json:"truncated" minimum:"0" doc:"texts cut at the model's window, and one more where the query was"`
}

// Scored is one text's score.
type Scored struct {
	Index int     `json:"index" minimum:"0" doc:"position in documents"`
	Score float64 `json:"score" minimum:"0" maximum:"1" doc:"probability of relevance"`
}

// Rerank scores each document against the query.
func (s *Service) Rerank(ctx context.Context, in Request) (Result, error) {
	scored, truncated, err := s.score(ctx, in.Model, in.Query, in.Documents)
	if err != nil {
		return Result{}, err
	}
	topK := 100
	if in.TopK != nil {
		topK = *in.TopK
	}
	return Result{Results: scored[:min(topK, len(scored))], Model: s.named(in.Model).Info().ID, Truncated: truncated}, nil
}

// nameIn is the name that a call gives a model; "" for none.
func nameIn(model *string) string {
	if model == nil {
		return ""
	}
	return *model
}

// named is the model that a call names, which score has found.
func (s *Service) named(model *string) port.Reranker {
	m, _ := s.rerankers.Named(nameIn(model))
	return m
}

// score gives every document's score, best first. No model, or an empty name,
// means the configured one.
func (s *Service) score(ctx context.Context, model *string, query string, documents []string) ([]Scored, int, error) {
	if n := len(documents); n > s.maxDocuments {
		return nil, 0, fault.Field(fault.InvalidRequest, "documents", "must hold 1-%d texts, got %d", s.maxDocuments, n)
	}
	if n := utf8.RuneCountInString(query); n > maxQuery {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "must be 1-%d characters, got %d", maxQuery, n)
	}
	if strings.TrimSpace(query) == "" {
		return nil, 0, fault.Field(fault.InvalidRequest, "query", "must hold a character that is not white space")
	}
	reranker, known := s.rerankers.Named(nameIn(model))
	switch ids := s.rerankers.IDs(); {
	case !known && len(ids) == 0:
		return nil, 0, fault.Field(fault.InvalidRequest, "model",
			"%.200q is not a rerank model of this server, which has none", *model)
	case !known:
		return nil, 0, fault.Field(fault.InvalidRequest, "model",
			"%.200q is not a rerank model of this server; it has \"%s\"", *model, strings.Join(ids, `", "`))
	case reranker == nil:
		return nil, 0, fault.Off("the rerank model is off")
	}
	info := reranker.Info()
	scores, truncated, err := reranker.Score(ctx, query, documents)
	if err != nil {
		return nil, 0, err
	}
	if err := retrieve.CheckScores(scores, len(documents)); err != nil {
		return nil, 0, fault.Wrap(fault.Upstream, "rerank", err,
			"model %s answered something else than a probability for each text", info.ID)
	}
	cut, err := retrieve.CutsQuery(ctx, reranker, query)
	if err != nil {
		return nil, 0, err
	}
	if cut {
		truncated++
	}
	out := make([]Scored, len(scores))
	for i, v := range scores {
		out[i] = Scored{i, float64(v)}
	}
	slices.SortStableFunc(out, func(a, b Scored) int { return cmp.Compare(b.Score, a.Score) })
	return out, truncated, nil
}

// Operations declares the operations of the service.
func Operations() []op.Op[*Service] {
	spec := func(name, path, summary string) op.Spec {
		return op.Spec{
			Name:    name,
			Group:   op.Reranking,
			Method:  "POST",
			Path:    path,
			Class:   op.Rerank,
			MaxBody: 32 << 20,
			Timeout: 20 * time.Second,
			Summary: summary,
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.PayloadTooLarge, fault.Upstream,
				fault.Unavailable},
		}
	}
	v1 := spec("rerank.v1", "/v1/rerank", "Score texts in the shape that clients of Jina's and of Cohere's first API speak")
	v1.Description = "The same as POST /rerank. Jina's and Cohere's answers have their fields side by side; errors are " +
		"this server's own."
	v2 := spec("rerank.v2", "/v2/rerank", "Score texts in the shape that clients of Cohere's second API speak")
	v2.Description = "The same as POST /rerank; errors are this server's own."
	return op.WithExamples([]op.Op[*Service]{
		op.Define(spec("rerank", "/rerank", "Score texts against a query, best first"), (*Service).Rerank),
		op.Define(v1, (*Service).RerankV1),
		op.Define(v2, (*Service).RerankV2),
	}, examples())
}
