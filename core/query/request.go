package query

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/constraint"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Request is the body of POST /namespaces/{namespace}/query.
type Request struct {
	Namespace            string              `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
	Query                string              `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the question"`
	TopK                 *int                `json:"top_k,omitempty" minimum:"1" maximum:"100" default:"10" doc:"chunks to answer"`
	Retrievers           *[]string           `json:"retrievers,omitempty" enum:"vector,keyword,sparse" minItems:"1" doc:"how to look for candidates; default: all that the namespace has"`
	Mode                 *string             `json:"mode,omitempty" enum:"hybrid,vector,keyword,sparse" doc:"short for retrievers: all, or one"`
	Weights              *map[string]float64 `json:"weights,omitempty" keys:"vector,keyword,sparse" minimum:"0" maximum:"10" minProperties:"1" doc:"how much each retriever counts in the fusion; those not named keep the configured weight, and one of weight 0 is not asked"`
	Language             *string             `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" doc:"language that keyword search takes the query for; auto: it tells; default: that of the namespace"`
	Filter               json.RawMessage     `json:"filter,omitempty" schema:"Filter" doc:"only documents whose metadata match"`
	Rerank               json.RawMessage     `json:"rerank,omitempty" default:"false" doc:"whether, and how, a model rescores the candidates"`
	MinScore             *float64            `json:"min_score,omitempty" minimum:"0" maximum:"1" doc:"least score of a hit; only with rerank or with the vector retriever alone; not applied to an answer whose reranking degraded"`
	MaxChunksPerDocument *int                `json:"max_chunks_per_document,omitempty" minimum:"1" maximum:"100" default:"100" doc:"1 gives one hit for each document"`
	Neighbors            *int                `json:"neighbors,omitempty" minimum:"0" maximum:"2" default:"0" doc:"0-2 adjacent chunks on each side"`
	IncludeText          *bool               `json:"include_text,omitempty" default:"true" doc:"whether hits have their text"`
	IncludeMetadata      *bool               `json:"include_metadata,omitempty" default:"true" doc:"whether hits have their metadata"`
	Explain              *bool               `json:"explain,omitempty" default:"false" doc:"adds ranks and scores per retriever"`
	Strict               *bool               `json:"strict,omitempty" default:"false" doc:"whether a failed retriever or reranker fails the query, instead of being named in degraded"`

	filter     *filter.Filter
	retrievers []port.Retriever // nil: the namespace's default
	weights    map[port.Retriever]float64
	rerank     *Rerank
}

// Alternatives implements op.Alternator.
func (q *Request) Alternatives() map[string][]any {
	return map[string][]any{"rerank": {nil, false, Rerank{}}}
}

// JSONSchema implements op.Schemer.
func (q *Request) JSONSchema() string {
	return `{
		"not": {"required": ["mode", "retrievers"], "properties": {"mode": {"not": {"const": null}}, "retrievers": ` +
		`{"not": {"const": null}}}},
		"dependentSchemas": {
			"min_score": {"anyOf": [
				{"properties": {"min_score": {"const": null}}},
				{"required": ["rerank"], "properties": {"rerank": {"anyOf": [{"const": true}, {"type": "object"}]}}},
				{"required": ["retrievers"], "properties": {"retrievers": {"const": ["vector"]}}},
				{"required": ["mode"], "properties": {"mode": {"const": "vector"}}}]}}}`
}

// Rerank asks for reranking.
type Rerank struct {
	Model string `json:"model,omitempty" doc:"a rerank model of this server"`
	Depth *int   `json:"depth,omitempty" minimum:"1" maximum:"100" doc:"candidates to score; default top_k x 2, at most what the server is configured to (40)"`
}

func invalid(field, format string, args ...any) error {
	return fault.Field(fault.InvalidRequest, field, format, args...)
}

// Validate checks what depends on several fields, and parses filter and rerank
// (docs/contract.md#query-request).
func (q *Request) Validate() error {
	if strings.TrimSpace(q.Query) == "" {
		return invalid("query", "must hold a character that is not white space")
	}
	if err := q.chooseRetrievers(); err != nil {
		return err
	}
	if q.Weights != nil {
		q.weights = map[port.Retriever]float64{}
		for name, w := range *q.Weights {
			q.weights[port.Retriever(name)] = w
		}
	}
	if len(q.Filter) > 0 {
		f, err := filter.Parse(q.Filter)
		if err != nil {
			return err
		}
		q.filter = f
	}
	if err := q.parseRerank(); err != nil {
		return err
	}
	if q.MinScore != nil && q.rerank == nil && (len(q.retrievers) != 1 || q.retrievers[0] != port.Vector) {
		return invalid("min_score", "works only with rerank or with the vector retriever alone: other scores have no fixed scale")
	}
	return nil
}

func (q *Request) chooseRetrievers() error {
	if q.Mode != nil && q.Retrievers != nil {
		return invalid("mode", "cannot be given together with retrievers")
	}
	if q.Mode != nil && *q.Mode != "hybrid" {
		q.retrievers = []port.Retriever{port.Retriever(*q.Mode)}
	}
	if q.Retrievers == nil {
		return nil
	}
	for _, s := range *q.Retrievers {
		r := port.Retriever(s)
		if slices.Contains(q.retrievers, r) {
			return invalid("retrievers", "%q is named twice", s)
		}
		q.retrievers = append(q.retrievers, r)
	}
	return nil
}

func (q *Request) parseRerank() error {
	raw := strings.TrimSpace(string(q.Rerank))
	switch raw {
	case "", "false", "null":
		return nil
	case "true":
		q.rerank = &Rerank{}
		return nil
	}
	if raw[0] != '{' {
		return invalid("rerank", "must be true, false or an object")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(q.Rerank, &members); err != nil {
		return invalid("rerank", "must be true, false or an object")
	}
	var r Rerank
	for name, value := range members { // encoding/json would take a name in any case
		switch name {
		case "model":
			if value[0] != '"' || json.Unmarshal(value, &r.Model) != nil {
				return invalid("rerank.model", "must be a string")
			}
		case "depth":
			if json.Unmarshal(value, &r.Depth) != nil {
				return invalid("rerank.depth", "must be an integer")
			}
		default:
			return invalid("rerank", "%.64q is not a known field; model and depth are", name)
		}
	}
	q.rerank = &r
	return constraint.CheckAt("rerank", &r)
}

// NamespaceName is for keys limited to one namespace.
func (q *Request) NamespaceName() string { return q.Namespace }

// Classes charges the rerank class too.
func (q *Request) Classes() []op.Class {
	if q.rerank != nil {
		return []op.Class{op.Rerank}
	}
	return nil
}

// language is that of the query, as keyword search is asked.
func (q *Request) language(ns port.PartitionRow) string {
	if q.Language == nil {
		return ns.Language
	}
	return port.SaidLanguage(*q.Language)
}

func valueOr[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}
