package memory

import (
	"context"
	"encoding/json"
	"errors"
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

// Check makes one of the two spellings and checks them.
func (s *Scope) Check() error {
	if err := s.ContainerTag.check("containerTag"); err != nil {
		return err
	}
	if err := s.ContainerTagAlias.check("container_tag"); err != nil {
		return err
	}
	if err := merge(&s.ContainerTag, s.ContainerTagAlias, s.ContainerTagAlias.Given, s.ContainerTag.Given, fault.InvalidContainerTag, "container_tag", "containerTag"); err != nil {
		return err
	}
	if err := merge(&s.CreatedAfter, s.AfterAlias, s.AfterAlias.Given, s.CreatedAfter.Given, fault.InvalidRequest, "created_after", "createdAfter"); err != nil {
		return err
	}
	if err := merge(&s.CreatedBefore, s.BeforeAlias, s.BeforeAlias.Given, s.CreatedBefore.Given, fault.InvalidRequest, "created_before", "createdBefore"); err != nil {
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

// holds reports whether a stored memory lies in the scope.
func (s *Scope) holds(d port.Document) bool {
	at := d.CreatedAt.UnixMilli()
	return (!s.ContainerTag.Given || d.Container == s.ContainerTag.Value) &&
		(!s.CreatedAfter.Given || at > s.CreatedAfter.Value) && (!s.CreatedBefore.Given || at < s.CreatedBefore.Value)
}

// Query is the body of POST /api/v1/search.
type Query struct {
	EndUserID string `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Query     string `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the question"`
	Limit     *int   `json:"limit,omitempty" minimum:"1" maximum:"100" default:"10" doc:"how many at most"`
	Scope
}

// Validate checks every field.
func (q *Query) Validate() error {
	if err := checkEndUser(q.EndUserID); err != nil {
		return err
	}
	if err := CheckQuery(q.Query); err != nil {
		return err
	}
	if q.Limit != nil && (*q.Limit < 1 || *q.Limit > MaxResults) {
		return invalid("limit", "must be 1-%d", MaxResults)
	}
	return q.Scope.Check()
}

// CheckQuery checks the text of a query.
func CheckQuery(text string) error {
	if n := utf8.RuneCountInString(text); n < 1 || n > MaxQueryRunes {
		return invalid("query", "must be 1-%d characters, got %d", MaxQueryRunes, n)
	}
	if strings.IndexByte(text, 0) >= 0 {
		return invalid("query", "holds a NUL character")
	}
	return nil
}

// EndUser is for keys limited to one end user.
func (q *Query) EndUser() string { return q.EndUserID }

// Result is a found memory.
type Result struct {
	ID             string          `json:"id"`
	MatchedContent string          `json:"matchedContent" doc:"the best part of the memory, at most 2000 characters"`
	OriginalLength int             `json:"originalLength" minimum:"0" doc:"characters of the whole memory"`
	ContainerTag   *string         `json:"container_tag" schema:"ContainerTag" doc:"its container; null: none"`
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
	Degraded []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, and why"`
}

// Search finds memories of one end user by vector and full text, fused and
// reranked, within the scope. An end user never seen has none and is not created.
func (s *Service) Search(ctx context.Context, q Query) (Results, error) {
	p := partition(ctx, q.EndUserID)
	out := Results{Success: true, Results: []Result{}, Degraded: []retrieve.Degraded{}}
	leave := s.work.enter(p)
	defer leave()
	var ns port.Namespace
	err := s.Store.View(ctx, func(r port.Reader) (err error) {
		ns, _, err = s.open(ctx, r, p)
		return err
	})
	if err != nil || ns.Generation == 0 || !ns.Erasing.IsZero() {
		return out, err
	}
	s.seen.touch(ns.Generation, s.now())
	if ns.Documents == 0 {
		return out, nil
	}
	if err := s.current(ns); err != nil {
		return Results{}, err
	}
	limit := 10
	if q.Limit != nil {
		limit = *q.Limit
	}
	p = p.At(ns.Generation)
	found, err := s.retrieve(ctx, p, ns, &q, limit)
	if fault.CodeOf(err) == fault.NamespaceNotFound { // erased meanwhile
		return out, nil
	}
	if err != nil {
		return Results{}, err
	}
	out.Degraded = append(out.Degraded, found.Degraded...)
	if err := s.rerank(ctx, p, &q, limit, found.Candidates, &out); err != nil {
		return Results{}, err
	}
	if err := s.show(ctx, p, &q, limit, found.Candidates, &out); err != nil {
		return Results{}, err
	}
	return out, nil
}

func (s *Service) retrieve(ctx context.Context, p port.Partition, ns port.Namespace, q *Query, limit int) (retrieve.Result, error) {
	retrievers := []port.Retriever{port.Vector, port.Keyword}
	if ns.Sparse && s.Sparse {
		retrievers = append(retrievers, port.SparseTerms)
	}
	var container *filter.Filter
	if q.ContainerTag.Given {
		container = filter.Container(q.ContainerTag.Value)
	}
	// A memory of several chunks may fill a list with them.
	return s.Searcher.Search(ctx, p, ns.Seq, retrieve.Request{Query: q.Query, Models: s.Encoders.For(ns), Retrievers: retrievers, Filter: container,
		After: q.CreatedAfter.bound(), Before: q.CreatedBefore.bound(), Depth: max(100, 2*limit),
		Spread: func(ctx context.Context, l retrieve.List) (retrieve.List, error) { return s.spread(ctx, p, l) }})
}

// rerank rescores the head of the list. Without a reranker, or when it does not
// answer, the order stays and the answer says so.
func (s *Service) rerank(ctx context.Context, p port.Partition, q *Query, limit int, c []*retrieve.Candidate, out *Results) error {
	degrade := func(reason string) error {
		out.Degraded = append(out.Degraded, retrieve.Degraded{Part: "rerank", Reason: reason})
		return nil
	}
	by := s.Reranking
	if s.RerankDepth > 0 {
		by.Depth = s.RerankDepth
	}
	switch {
	case s.RerankDepth < 0 || len(c) == 0:
		return nil
	case s.Reranker == nil:
		return degrade(retrieve.ModelOff)
	}
	n := min(by.Count(limit, 0), len(c))
	texts := make([]string, n)
	err := s.Store.View(ctx, func(r port.Reader) error {
		docs, err := retrieve.Documents(ctx, r, p, c[:n], port.PartText|port.PartChunks)
		if err != nil {
			return err
		}
		for i, h := range c[:n] {
			if d, ok := docs[h.Document]; ok && h.Chunk < len(d.Chunks) {
				texts[i] = d.Text[d.Chunks[h.Chunk].Start:d.Chunks[h.Chunk].End]
			}
		}
		return nil
	})
	if fault.CodeOf(err) == fault.NamespaceNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	texts = affordable(texts, s.RerankBytes)
	scores, _, err := retrieve.Score(ctx, s.Reranker, q.Query, texts)
	if err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		s.Log.WarnContext(ctx, "reranker failed", "partition", p.String(), "error", err)
		return degrade(retrieve.Why(err))
	}
	by.Reorder(c, scores)
	return nil
}

// leastReranked is how many memories are rescored however long they are.
const leastReranked = 10

// affordable is the head of texts that a reranker is given: as many as have so
// many bytes together, 0 for any number, and leastReranked at least. A short
// memory costs a fraction of a long one, so work is bounded rather than counted.
func affordable(texts []string, bytes int) []string {
	if bytes <= 0 {
		return texts
	}
	for i, t := range texts {
		if bytes -= len(t); bytes < 0 && i >= leastReranked {
			return texts[:i]
		}
	}
	return texts
}

// show reads the best chunk of each memory from the store. A memory that was
// rewritten, moved out of the scope or deleted since it was found is passed over.
func (s *Service) show(ctx context.Context, p port.Partition, q *Query, limit int, c []*retrieve.Candidate, out *Results) error {
	err := s.Store.View(ctx, func(r port.Reader) error {
		out.Results = out.Results[:0]
		shown := map[string]bool{}
		for next := 0; next < len(c) && len(out.Results) < limit; {
			var batch []*retrieve.Candidate
			for ; next < len(c) && len(batch)+len(out.Results) < limit; next++ {
				if h := c[next]; !shown[h.Document] {
					shown[h.Document] = true
					batch = append(batch, h)
				}
			}
			docs, err := retrieve.Documents(ctx, r, p, batch, port.PartText|port.PartMetadata|port.PartChunks)
			if err != nil {
				return err
			}
			for _, h := range batch {
				d, ok := docs[h.Document]
				if !ok || h.Chunk >= len(d.Chunks) || !q.holds(d.Document) {
					continue
				}
				out.Results = append(out.Results, Result{ID: d.ID, MatchedContent: matched(d.Document, h.Chunk), OriginalLength: utf8.RuneCountInString(d.Text),
					ContainerTag: given(d.Container), Score: h.Score, CreatedAt: d.CreatedAt.UnixMilli(), UpdatedAt: d.UpdatedAt.UnixMilli(),
					Metadata: metadataOf(d), Memory: d.Document})
			}
		}
		return nil
	})
	if fault.CodeOf(err) == fault.NamespaceNotFound {
		out.Results = []Result{}
		return nil
	}
	return err
}

// matched is a chunk with as many whole neighbours, taken in turn from both
// sides, as fit into matchedRunes; a memory that fits is shown whole, and a
// chunk that does not is cut.
func matched(d port.Document, chunk int) string {
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
