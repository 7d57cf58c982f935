package recall

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// Extractive is what answers name as their model when they quote.
const Extractive = "extractive"

// DefaultMinProbability is how probable it must be that a memory answers the
// question for an answer to be given (docs/quality.md).
const DefaultMinProbability = 0.07

// Settings are what a Service is made of.
type Settings struct {
	// Search finds the memories; memory.Service.Search.
	Search func(context.Context, memory.Query) (memory.Results, error)
	// Preceding finds the texts of the turns before memories that a search found;
	// memory.Service.PrecedingTurns. nil: every memory is read alone.
	Preceding func(context.Context, memory.Query, []memory.Result) ([]string, error)
	// Reranked says that the scores of a search are probabilities, which they are
	// where it reranks.
	Reranked    bool
	Reranker    port.Reranker    // nil: off
	Synthesizer port.Synthesizer // nil: answers are extractive
	// Fallback answers extractively when the Synthesizer fails, and says so;
	// otherwise its failure is the call's.
	Fallback bool
	// MinProbability is the lowest probability of a sentence that is quoted, 0 for
	// any; nil: DefaultMinProbability.
	MinProbability *float64
	Log            *slog.Logger
}

// Service answers questions from memories.
type Service struct {
	search         func(context.Context, memory.Query) (memory.Results, error)
	preceding      func(context.Context, memory.Query, []memory.Result) ([]string, error)
	reranked       bool
	reranker       port.Reranker
	synthesizer    port.Synthesizer
	fallback       bool
	minProbability float64
	log            *slog.Logger
}

// New makes the service.
func New(s Settings) *Service {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.MinProbability == nil {
		s.MinProbability = new(DefaultMinProbability)
	}
	return &Service{
		search:         s.Search,
		preceding:      s.Preceding,
		reranked:       s.Reranked,
		reranker:       s.Reranker,
		synthesizer:    s.Synthesizer,
		fallback:       s.Fallback,
		minProbability: *s.MinProbability,
		log:            s.Log,
	}
}

// What a request that leaves them out gets (docs/contract.md#recall-request).
const (
	defaultMemories = 8
	defaultTokens   = 400
)

// Request is the body of POST /api/v1/recall.
type Request struct {
	EndUserID string  `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Query     string  `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the question"`
	Limit     *int    `json:"limit,omitempty" minimum:"1" maximum:"20" default:"8" doc:"how many memories to use at most"`
	MaxTokens *int    `json:"maxAnswerTokens,omitempty" minimum:"64" maximum:"1024" default:"400" doc:"how long the answer may be"`
	Language  *string `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" default:"auto" doc:"language that keyword search takes the query for; auto: it tells"`
	memory.Scope
}

// Validate makes the scope one.
func (in *Request) Validate() error { return in.Scope.Check() }

func (in *Request) search() memory.Query {
	return memory.Query{EndUserID: in.EndUserID, Query: in.Query, Limit: in.Limit, Language: in.Language, Scope: in.Scope}
}

// EndUser is for keys limited to one end user.
func (in *Request) EndUser() string { return in.EndUserID }

// Citation proves a sentence of an answer.
type Citation struct {
	Marker    int     `json:"marker" minimum:"1" doc:"its number in the answer"`
	MemoryID  string  `json:"memoryId"`
	Quote     string  `json:"quote" doc:"a verbatim slice of the memory"`
	Start     int     `json:"start" minimum:"0" doc:"UTF-8 byte offset of the quote in the memory's content"`
	End       int     `json:"end" minimum:"0" doc:"UTF-8 byte offset after it"`
	Score     float64 `json:"score" doc:"0-1"`
	CreatedAt int64   `json:"created_at" doc:"Unix milliseconds"`
}

// Usage counts the tokens of a language model.
type Usage struct {
	InputTokens  int `json:"inputTokens" minimum:"0"`
	OutputTokens int `json:"outputTokens" minimum:"0"`
}

// Answer answers a recall.
type Answer struct {
	Success   bool                `json:"success"`
	Answer    *string             `json:"answer" doc:"null when the memories hold no answer"`
	Abstained bool                `json:"abstained" doc:"whether the memories hold no answer"`
	Model     string              `json:"model" doc:"extractive, or the language model that wrote the answer"`
	Citations []Citation          `json:"citations"`
	Results   []memory.Result     `json:"results" doc:"the memories used, as in search"`
	Degraded  []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, and why"`
	Usage     Usage               `json:"usage"`
}

// Missing implements op.Partial.
func (r Answer) Missing() iter.Seq2[string, string] { return retrieve.Missing(r.Degraded) }

// Recall answers a question from an end user's memories. Every sentence of the
// answer carries a marker of a citation; without an answer it abstains.
func (s *Service) Recall(ctx context.Context, in Request) (Answer, error) {
	q := in.search()
	if q.Limit == nil {
		limit := defaultMemories
		q.Limit = &limit
	}
	tokens := defaultTokens
	if in.MaxTokens != nil {
		tokens = *in.MaxTokens
	}
	found, err := s.search(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{
		Success:   true,
		Abstained: true,
		Model:     Extractive,
		Citations: []Citation{},
		Results:   found.Results,
		Degraded:  found.Degraded,
	}
	from, err := s.passages(ctx, q, found)
	if err != nil {
		return Answer{}, err
	}
	if s.synthesizer != nil {
		out.Model = s.synthesizer.Info().ID
	}
	if len(from) == 0 {
		return out, nil
	}
	text, quotes := "", []quote(nil)
	if s.synthesizer != nil {
		text, quotes, err = s.answerByModel(ctx, in.Query, from, tokens, &out)
	} else {
		text, quotes, err = s.answerByQuotes(ctx, in.Query, from, tokens, &out)
	}
	if err != nil || len(quotes) == 0 {
		return out, err
	}
	out.Answer, out.Abstained = &text, false
	for i, q := range quotes {
		p := from[q.passage]
		out.Citations = append(out.Citations, Citation{
			Marker:    i + 1,
			MemoryID:  p.id,
			Quote:     p.text[q.start:q.end],
			Start:     q.start,
			End:       q.end,
			Score:     q.score,
			CreatedAt: p.createdAt,
		})
	}
	return out, nil
}

// passages are the memories that a search found, with the questions that they reply to.
func (s *Service) passages(ctx context.Context, q memory.Query, found memory.Results) ([]passage, error) {
	before := make([]string, len(found.Results))
	if s.preceding != nil && len(found.Results) > 0 {
		var err error
		if before, err = s.preceding(ctx, q, found.Results); err != nil {
			return nil, err
		}
	}
	reranked := s.reranked && !slices.ContainsFunc(found.Degraded, func(d retrieve.Degraded) bool { return d.Part == "rerank" })
	out := make([]passage, len(found.Results))
	for i, r := range found.Results {
		out[i] = passage{
			id:        r.ID,
			text:      r.Memory.Text,
			asked:     memory.FinalQuestion(before[i]),
			createdAt: r.CreatedAt,
			score:     r.Score,
			probable:  reranked && r.Score >= probableMemory,
		}
		if reranked {
			out[i].behind = logOdds(found.Results[0].Score) - logOdds(r.Score)
		}
	}
	return out, nil
}

// answerByQuotes answers extractively.
func (s *Service) answerByQuotes(ctx context.Context, question string, from []passage, tokens int,
	out *Answer) (string, []quote, error) {
	out.Model = Extractive
	sub, cancel := retrieve.WithShare(ctx)
	defer cancel()
	best, err := extract(sub, s.reranker, question, from, s.minProbability, tokens)
	if err != nil {
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		s.log.WarnContext(ctx, "reranker failed", "error", err)
		out.degrade("rerank", retrieve.Why(err))
		if best, err = extract(ctx, nil, question, from, s.minProbability, tokens); err != nil {
			return "", nil, err
		}
	}
	text, quotes := composeQuotes(from, best)
	return text, quotes, nil
}

// answerByModel asks the language model for an answer and keeps the sentences that quotes
// prove.
func (s *Service) answerByModel(ctx context.Context, question string, from []passage, tokens int,
	out *Answer) (string, []quote, error) {
	q := port.Question{Text: question, MaxTokens: tokens, Sources: make([]port.Source, len(from))}
	for i, p := range from {
		q.Sources[i] = port.Source{Text: p.text, Time: time.UnixMilli(p.createdAt)}
	}
	answer, err := s.synthesizer.Synthesize(ctx, q)
	if err == nil {
		out.Usage = Usage{answer.InputTokens, answer.OutputTokens}
		text, quotes := keepProven(answer.Text, from)
		return text, quotes, nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return "", nil, ctx.Err()
	}
	s.log.WarnContext(ctx, "answer model failed", "model", out.Model, "error", err)
	if !s.fallback || ctx.Err() != nil {
		f := fault.From(err)
		if f.Code != fault.Timeout {
			// The caller need not know which model failed and how, but when to retry.
			f = fault.Wrap(fault.Upstream, "recall", err, "the answer model failed").After(f.RetryAfter)
		}
		return "", nil, f
	}
	out.degrade("answer", retrieve.Why(err))
	return s.answerByQuotes(ctx, question, from, tokens, out)
}

func (a *Answer) degrade(part, reason string) {
	for _, d := range a.Degraded {
		if d.Part == part {
			return
		}
	}
	a.Degraded = append(a.Degraded, retrieve.Degraded{Part: part, Reason: reason})
}

// Operations declares the operation of the service.
func Operations() []op.Op[*Service] {
	return op.WithExamples([]op.Op[*Service]{
		op.Define(op.Spec{
			Name:    "memories.recall",
			Group:   op.Recalling,
			Method:  "POST",
			Path:    "/api/v1/recall",
			Family:  op.Memory,
			Class:   op.Recall,
			Scopes:  []ident.Scope{ident.RecallRead, ident.MemoriesRead},
			MaxBody: 256 << 10,
			Timeout: 60 * time.Second,
			Summary: "Answer a question from the memories of one end user",
			Description: "Every sentence of the answer carries the marker of a citation, whose quote stands in the " +
				"memory word for word. Without an answer in the memories, answer is null and abstained true.",
			Faults: []fault.Code{fault.InvalidRequest, fault.InvalidJSON, fault.InvalidEndUserID,
				fault.InvalidContainerTag, fault.InsufficientScope,
				fault.Forbidden, fault.PayloadTooLarge, fault.Upstream},
		}, (*Service).Recall),
	}, examples())
}
