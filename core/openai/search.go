package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/file"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/query"
	"github.com/mnemehq/mneme/core/retrieve"
)

// StoreRef addresses a vector store.
type StoreRef struct {
	Store string `path:"vector_store_id" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"a namespace's name"`
}

// NamespaceName is for keys limited to one namespace.
func (in *StoreRef) NamespaceName() string { return in.Store }

// Store is a namespace as OpenAI's clients read it.
type Store struct {
	ID         string     `json:"id" schema:"NamespaceName" doc:"the namespace's name"`
	Object     string     `json:"object" enum:"vector_store"`
	Name       string     `json:"name" doc:"for people; the id where it was given none by OpenAI's clients"`
	Status     string     `json:"status" enum:"in_progress,completed" doc:"completed: what was attached can be found"`
	CreatedAt  int64      `json:"created_at" doc:"Unix seconds"`
	LastActive int64      `json:"last_active_at" doc:"Unix seconds of the last change of a document"`
	UsageBytes int64      `json:"usage_bytes" minimum:"0" doc:"of the documents' texts"`
	FileCounts FileCounts `json:"file_counts"`
	Metadata   Labels     `json:"metadata" doc:"texts that were kept with it"`
}

// FileCounts counts the files of a store, or of a batch.
type FileCounts struct {
	InProgress int64 `json:"in_progress" minimum:"0" doc:"files that are being written"`
	Completed  int64 `json:"completed" minimum:"0" doc:"of a store, documents: a long file is several"`
	Failed     int64 `json:"failed" minimum:"0" doc:"files whose write has failed, in the last two days"`
	Cancelled  int64 `json:"cancelled" minimum:"0" maximum:"0"`
	Total      int64 `json:"total" minimum:"0"`
}

// Question is one text, bare or alone in an array.
type Question string

var errQuestion = errors.New("must be a string, or an array of one: ask each question in a call of its own")

// UnmarshalJSON reads either form.
func (q *Question) UnmarshalJSON(b []byte) error {
	var several []*string
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(q))
	case json.Unmarshal(b, &several) != nil || len(several) != 1 || several[0] == nil:
		return errQuestion
	}
	*q = Question(*several[0])
	return nil
}

// JSONSchema implements op.Schemer.
func (q *Question) JSONSchema() string {
	const text = `{"type": "string", "minLength": 1, "maxLength": 8192, "pattern": "^[^\\u0000]*$"}`
	return `{"anyOf": [` + text + `, {"type": "array", "minItems": 1, "maxItems": 1, "items": ` + text + `}]}`
}

// Filters is a filter on attributes, translated to one of metadata.
type Filters struct{ metadata json.RawMessage }

// UnmarshalJSON translates a filter.
func (f *Filters) UnmarshalJSON(b []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || v == nil {
		return err
	}
	translated, err := translate("filters", v, 1)
	if err != nil {
		return err
	}
	f.metadata, err = json.Marshal(translated)
	return err
}

// JSONSchema implements op.Schemer.
func (f *Filters) JSONSchema() string {
	const value = `{"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}`
	of := func(kind, fields, properties string) string {
		return `{"type": "object", "required": ["type", ` + fields + `], "additionalProperties": false, "properties": {` +
			`"type": {"type": "string", "enum": [` + kind + `]}, ` + properties + `}}`
	}
	const key = `"key": {"type": "string", "pattern": "^[^$]"}, "value": `
	return `{"anyOf": [` + of(`"eq"`, `"key", "value"`, key+value) + `, ` +
		of(`"in"`, `"key", "value"`, key+`{"type": "array", "minItems": 1, "maxItems": 1000, "items": `+value+`}`) + `, ` +
		of(`"and", "or"`, `"filters"`, `"filters": {"type": "array", "minItems": 1, "items": {"type": "object"}}`) + `]}`
}

// translate makes a metadata filter of one of OpenAI's. What a value may be is for
// filter.Parse to say.
func translate(at string, v any, depth int) (map[string]any, error) {
	refuse := func(format string, args ...any) (map[string]any, error) {
		return nil, fault.Field(fault.InvalidFilter, at, format, args...)
	}
	f, ok := v.(map[string]any)
	if !ok {
		return refuse("must be an object")
	}
	if depth > filter.MaxDepth {
		return refuse("is nested deeper than %d levels", filter.MaxDepth)
	}
	kind, _ := f["type"].(string)
	switch kind {
	case "and", "or":
		list, _ := f["filters"].([]any)
		if len(list) == 0 || len(f) != 2 {
			return refuse("of type %s must have filters, at least one, and nothing else", kind)
		}
		all := make([]any, len(list))
		for i, sub := range list {
			one, err := translate(at+".filters["+strconv.Itoa(i)+"]", sub, depth+1)
			if err != nil {
				return nil, err
			}
			all[i] = one
		}
		return map[string]any{"$" + kind: all}, nil
	case "eq", "in":
		key, _ := f["key"].(string)
		value, given := f["value"]
		if key == "" || key[0] == '$' || !given || len(f) != 3 {
			return refuse("of type %s must have key, which does not begin with $, and value, and nothing else", kind)
		}
		return map[string]any{key: map[string]any{"$" + kind: value}}, nil
	case "ne", "gt", "gte", "lt", "lte", "nin":
		return refuse("type %s is not supported; eq, in, and, or are", kind)
	}
	return refuse("type must be eq, in, and or or")
}

// SearchRequest is the body of POST /v1/vector_stores/{vector_store_id}/search.
type SearchRequest struct {
	StoreRef
	Query         Question `json:"query" doc:"the question"`
	MaxNumResults *int     `json:"max_num_results,omitempty" minimum:"1" maximum:"50" default:"10" doc:"how many at most"`
	Filters       Filters  `json:"filters,omitzero" doc:"on attributes: eq and in of a key, and and or of filters"`
	Ranking       *Ranking `json:"ranking_options,omitempty" doc:"how results are ranked"`
	RewriteQuery  *bool    `json:"rewrite_query,omitempty" default:"false" doc:"true is refused: no language model rewrites it"`
}

// Ranking says how results are ranked.
type Ranking struct {
	Ranker         *string  `json:"ranker,omitempty" enum:"none,auto,default-2024-11-15" default:"none" doc:"none: as the retrievers rank; else by this server's rerank model, if it has one"`
	ScoreThreshold *float64 `json:"score_threshold,omitempty" minimum:"0" maximum:"1" doc:"least score of a result; above 0 it needs a rerank model"`
}

// JSONSchema implements op.Schemer.
func (in *SearchRequest) JSONSchema() string {
	return `{"not": {"required": ["rewrite_query"], "properties": {"rewrite_query": {"const": true}}}}`
}

// Validate refuses what no field can say.
func (in *SearchRequest) Validate() error {
	if strings.TrimSpace(string(in.Query)) == "" {
		return fault.Field(fault.InvalidRequest, "query", "must hold a character that is not white space")
	}
	if in.RewriteQuery != nil && *in.RewriteQuery {
		return fault.Field(fault.InvalidRequest, "rewrite_query",
			"must be false or absent: no language model rewrites questions here")
	}
	if in.least() > 0 && in.Ranking.Ranker != nil && *in.Ranking.Ranker == "none" {
		return fault.Field(fault.InvalidRequest, "ranking_options.score_threshold",
			"needs a ranker, such as auto: the retrievers' scores have no fixed scale")
	}
	return nil
}

// least is the least score of a result; 0: any.
func (in *SearchRequest) least() float64 {
	if in.Ranking == nil || in.Ranking.ScoreThreshold == nil {
		return 0
	}
	return *in.Ranking.ScoreThreshold
}

// ranked reports whether a rerank model is asked for.
func (in *SearchRequest) ranked() bool {
	return in.least() > 0 || in.Ranking != nil && in.Ranking.Ranker != nil && *in.Ranking.Ranker != "none"
}

// Classes charges the rerank class too.
func (in *SearchRequest) Classes() []op.Class {
	if in.ranked() {
		return []op.Class{op.Rerank}
	}
	return nil
}

// Found answers a search.
type Found struct {
	Object      string              `json:"object" enum:"vector_store.search_results.page"`
	SearchQuery []string            `json:"search_query" doc:"the question as it was asked"`
	Data        []Result            `json:"data" doc:"best first"`
	HasMore     bool                `json:"has_more" doc:"false"`
	NextPage    *string             `json:"next_page" doc:"null"`
	Degraded    []retrieve.Degraded `json:"degraded" doc:"parts left out of this answer, or that took part with less, and why; not OpenAI's"`
}

// Missing implements op.Partial.
func (f Found) Missing() iter.Seq2[string, string] { return retrieve.Missing(f.Degraded) }

// Result is a found chunk.
type Result struct {
	FileID     string          `json:"file_id" schema:"DocumentID" doc:"of the document, or of the file that it is a part of"`
	Filename   string          `json:"filename" doc:"path of its file, else its title, else its id"`
	Score      float64         `json:"score" doc:"higher is better"`
	Attributes json.RawMessage `json:"attributes" schema:"Metadata" doc:"metadata that are texts, numbers or truth values"`
	Content    []Content       `json:"content" doc:"one chunk"`
}

// Content is a piece of text.
type Content struct {
	Type string `json:"type" enum:"text"`
	Text string `json:"text"`
}

// Search finds chunks in a vector store.
func (s *Service) Search(ctx context.Context, in SearchRequest) (Found, error) {
	q := query.Request{Namespace: in.Store, Query: string(in.Query), TopK: in.MaxNumResults, Filter: in.Filters.metadata}
	if in.ranked() && s.reranks {
		q.Rerank = json.RawMessage("true")
	}
	if least := in.least(); least > 0 {
		if !s.reranks {
			return Found{}, fault.Field(fault.InvalidRequest, "ranking_options.score_threshold",
				"needs a rerank model, which this server has not")
		}
		// Without its reranker a query has no scores to compare, so that one fails.
		q.MinScore, q.Strict = &least, new(true)
	}
	if err := op.Check(&q); err != nil {
		return Found{}, inTheirWords(err)
	}
	found, err := s.queries.Query(ctx, q)
	if fault.CodeOf(err) == fault.NamespaceNotFound { // a store that was made is there before its first document
		if _, missing := s.row(ctx, in.Store); missing != nil {
			return Found{}, missing
		}
		found, err = query.Result{Degraded: []retrieve.Degraded{}}, nil
	}
	if err != nil {
		return Found{}, err
	}
	out := Found{Object: "vector_store.search_results.page", SearchQuery: []string{string(in.Query)},
		Data: make([]Result, len(found.Results)), Degraded: found.Degraded}
	for i, h := range found.Results {
		known, name, err := attributes(h.Metadata)
		if err != nil {
			return Found{}, err
		}
		out.Data[i] = Result{FileID: file.Whole(h.DocumentID), Filename: cmp.Or(name, h.DocumentID), Score: h.Score,
			Attributes: known, Content: []Content{{"text", *h.Text}}}
	}
	return out, nil
}

// inTheirWords names the client's field where a filter's values are refused.
func inTheirWords(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.InvalidFilter {
		return fault.Field(fault.InvalidFilter, "filters", "%v", f.Details["reason"])
	}
	return err
}

// searchTime is that of a query with reranking.
const searchTime = 20 * time.Second
