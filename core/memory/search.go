package memory

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/retrieve"
)

// matchedRunes is how many characters of a memory a result shows at most.
const matchedRunes = 2000

// Scope restricts a search to a container and a span of time.
type Scope struct {
	ContainerTag      Tag    `json:"containerTag,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" doc:"only this container's memories"`
	CreatedAfter      Millis `json:"createdAfter,omitzero" doc:"Unix milliseconds; only memories created after it"`
	CreatedBefore     Millis `json:"createdBefore,omitzero" doc:"Unix milliseconds; only memories created before it"`
	ContainerTagAlias Tag    `json:"container_tag,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" alias:"containerTag"`
	AfterAlias        Millis `json:"created_after,omitzero" alias:"createdAfter"`
	BeforeAlias       Millis `json:"created_before,omitzero" alias:"createdBefore"`
}

// Check makes one of the two spellings, and refuses a span of time that is empty.
func (s *Scope) Check() error {
	if err := merge(&s.ContainerTag, s.ContainerTagAlias, s.ContainerTagAlias.Given, s.ContainerTag.Given,
		fault.InvalidContainerTag, "container_tag", "containerTag"); err != nil {
		return err
	}
	if err := merge(&s.CreatedAfter, s.AfterAlias, s.AfterAlias.Given, s.CreatedAfter.Given, fault.InvalidRequest,
		"created_after", "createdAfter"); err != nil {
		return err
	}
	if err := merge(&s.CreatedBefore, s.BeforeAlias, s.BeforeAlias.Given, s.CreatedBefore.Given, fault.InvalidRequest,
		"created_before", "createdBefore"); err != nil {
		return err
	}
	if s.CreatedAfter.Given && s.CreatedBefore.Given && s.CreatedAfter.Value >= s.CreatedBefore.Value {
		return invalid("createdAfter", "must be less than createdBefore")
	}
	return nil
}

// merge takes a value from its alias; two that differ are refused.
func merge[T comparable](name *T, alias T, aliasGiven, given bool, code fault.Code, aliasField, field string) error {
	switch {
	case !aliasGiven:
	case given && *name != alias:
		return fault.Field(code, aliasField, "differs from %s", field)
	default:
		*name = alias
	}
	return nil
}

// contains reports whether a stored memory lies in the scope.
func (s *Scope) contains(d port.Document) bool {
	at := d.CreatedAt.UnixMilli()
	return (!s.ContainerTag.Given || d.Container == s.ContainerTag.Value) &&
		(!s.CreatedAfter.Given || at > s.CreatedAfter.Value) && (!s.CreatedBefore.Given || at < s.CreatedBefore.Value)
}

// Query is the body of POST /api/v1/search.
type Query struct {
	EndUserID string  `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Query     string  `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the question"`
	Limit     *int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"10" doc:"how many at most"`
	Language  *string `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" default:"auto" doc:"language that keyword search takes the query for; auto: it tells"`
	Scope

	also *filter.Filter // a further condition, see Where; nil: none
}

// Where gives the query a further condition on metadata and, by filter.ContainerKey, containers.
func (q Query) Where(f *filter.Filter) Query {
	q.also = f
	return q
}

// Validate refuses a query that asks nothing, and makes the scope one.
func (q *Query) Validate() error {
	if strings.TrimSpace(q.Query) == "" {
		return invalid("query", "must hold a character that is not white space")
	}
	return q.Scope.Check()
}

// language is that of the query, as keyword search is asked. Memories tell their own.
func (q *Query) language() string {
	if q.Language == nil {
		return ""
	}
	return port.SaidLanguage(*q.Language)
}

// EndUser is for keys limited to one end user.
func (q *Query) EndUser() string { return q.EndUserID }

// Result is a found memory.
type Result struct {
	ID             string          `json:"id"`
	MatchedContent string          `json:"matchedContent" doc:"the best part of the memory, at most 2000 characters"`
	OriginalLength int             `json:"originalLength" minimum:"0" doc:"characters of the whole memory"`
	ContainerTag   string          `json:"container_tag" doc:"its container; empty: none"`
	Score          float64         `json:"score" doc:"0-1; higher is better"`
	CreatedAt      int64           `json:"created_at" doc:"Unix milliseconds"`
	UpdatedAt      int64           `json:"updated_at" doc:"Unix milliseconds"`
	Metadata       json.RawMessage `json:"metadata" schema:"Metadata"`

	// Memory is the whole memory as stored, for recall.
	Memory port.Document `json:"-"`
}

// Results answer a search, best first, one for each memory.
type Results struct {
	Success  bool                `json:"success"`
	Results  []Result            `json:"results" doc:"best first, one for each memory"`
	Degraded []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, or that took part with less, and why"`
}

// Missing implements op.Partial.
func (r Results) Missing() iter.Seq2[string, string] { return retrieve.Missing(r.Degraded) }

// Search finds memories of one end user by vector and full text, fused and
// reranked, within the scope. An end user never seen has none and is not created.
func (s *Service) Search(ctx context.Context, q Query) (Results, error) {
	p := partition(ctx, q.EndUserID)
	out := Results{Success: true, Results: []Result{}, Degraded: []retrieve.Degraded{}}
	leave := s.work.enter(p)
	defer leave()
	var ns port.PartitionRow
	err := s.store.View(ctx, func(r snapshot) (err error) {
		ns, _, err = s.readPartition(ctx, r, p)
		return err
	})
	if err != nil || ns.Generation == 0 || !ns.Erasing.IsZero() {
		return out, err
	}
	s.seen.touch(ns.Generation, s.now())
	if ns.Documents == 0 {
		return out, nil
	}
	if err := s.checkModels(ns); err != nil {
		return Results{}, err
	}
	limit := 10
	if q.Limit != nil {
		limit = *q.Limit
	}
	p = p.At(ns.Generation)
	found, err := s.retrieve(ctx, p, ns, &q, limit)
	if fault.IsPartitionNotFound(err) { // it has been erased since
		return out, nil
	}
	if err != nil {
		return Results{}, err
	}
	out.Degraded = append(out.Degraded, found.Degraded...)
	answer := retrieve.Answer{Store: s.documents, Partition: p, Candidates: found.Candidates, Log: s.log}
	if err := s.hydrate(ctx, &answer, &q, limit, &out); err != nil && !fault.IsPartitionNotFound(err) {
		return Results{}, err
	}
	return out, nil
}

func (s *Service) retrieve(ctx context.Context, p port.Partition, ns port.PartitionRow, q *Query,
	limit int) (retrieve.Result, error) {
	retrievers := []port.Retriever{port.Vector, port.Keyword}
	if ns.Sparse && s.sparse {
		retrievers = append(retrievers, port.SparseTerms)
	}
	conditions := q.also
	if q.ContainerTag.Given {
		conditions = filter.Container(q.ContainerTag.Value)
		if q.also != nil {
			conditions = &filter.Filter{Op: filter.And, Args: []filter.Filter{*conditions, *q.also}}
		}
	}
	// A memory of several chunks may fill a list with them.
	return s.searcher.Search(port.OnAccountOf(ctx, p), p, ns.Seq, retrieve.Request{
		Query:      q.Query,
		Language:   q.language(),
		Models:     s.encoders.For(ns),
		Retrievers: retrievers,
		Filter:     conditions,
		After:      q.CreatedAfter.bound(),
		Before:     q.CreatedBefore.bound(),
		Depth:      max(100, 2*limit),
		Spread:     func(ctx context.Context, l retrieve.List) (retrieve.List, error) { return s.spreadScores(ctx, p, l) },
	})
}

// hydrate rescores the head of the list and shows the best chunk of each memory, a
// reply before the question that it answers. A memory that was moved out of the scope or
// deleted since it was found is passed over.
func (s *Service) hydrate(ctx context.Context, a *retrieve.Answer, q *Query, limit int, out *Results) error {
	if s.rerankDepth >= 0 && len(a.Candidates) > 0 {
		by := s.reranking
		if s.rerankDepth > 0 {
			by.Depth = s.rerankDepth
		}
		cut, degraded, err := a.Rerank(ctx, retrieve.Rescoring{
			Reranker:  s.reranker,
			Constants: by,
			Query:     q.Query,
			Depth:     by.Count(limit, 0),
			Bare:      true, // the prior and least probability were measured on memories' own words
			MaxBytes:  s.rerankBytes,
		})
		if err != nil {
			return err
		}
		if degraded != nil {
			out.Degraded = append(out.Degraded, *degraded)
		}
		if cut.Query {
			out.Degraded = append(out.Degraded, retrieve.Degraded{Part: "rerank", Reason: retrieve.Truncated})
		}
	}
	found, err := a.Hydrate(ctx, retrieve.Selection{
		Limit:       limit,
		PerDocument: 1,
		Current: func(d port.DocumentHead) (bool, error) {
			if ok := q.contains(d.Document); !ok || q.also == nil {
				return ok, nil
			}
			return matches(q.also, d)
		},
	})
	if err != nil {
		return err
	}
	for _, h := range found {
		d := h.Document
		out.Results = append(out.Results, Result{
			ID:             d.ID,
			MatchedContent: withNeighbors(d.Document, h.Chunk),
			OriginalLength: utf8.RuneCountInString(d.Text),
			ContainerTag:   d.Container,
			Score:          h.Score,
			CreatedAt:      d.CreatedAt.UnixMilli(),
			UpdatedAt:      d.UpdatedAt.UnixMilli(),
			Metadata:       metadataOf(d),
			Memory:         d.Document,
		})
	}
	return s.putRepliesFirst(ctx, a.Partition, out.Results)
}

// withNeighbors is a chunk with as many whole neighbours, taken in turn from both
// sides, as fit into matchedRunes; a memory that fits is shown whole, and a
// chunk that does not is cut.
func withNeighbors(d port.Document, chunk int) string {
	if utf8.RuneCountInString(d.Text) <= matchedRunes {
		return d.Text
	}
	start, end := d.Chunks[chunk].Start, d.Chunks[chunk].End
	if n := utf8.RuneCountInString(d.Text[start:end]); n >= matchedRunes {
		cut := []rune(d.Text[start:end])
		return string(cut[:matchedRunes])
	}
	fits := func(from, to int) bool { return utf8.RuneCountInString(d.Text[from:to]) <= matchedRunes }
	before, after := chunk-1, chunk+1
	for before >= 0 || after < len(d.Chunks) {
		if after < len(d.Chunks) {
			if to := max(end, d.Chunks[after].End); fits(start, to) {
				end, after = to, after+1
			} else {
				after = len(d.Chunks)
			}
		}
		if before >= 0 {
			if from := min(start, d.Chunks[before].Start); fits(from, end) {
				start, before = from, before-1
			} else {
				before = -1
			}
		}
	}
	return d.Text[start:end]
}
