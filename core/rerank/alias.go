package rerank

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Document is a text, bare or as the member text of an object, whose other
// members are the caller's and come back with it.
type Document struct {
	text   string
	object json.RawMessage // nil: a bare text
}

var (
	errDocument = errors.New(`must be a string or an object with a string "text"`)
	errNUL      = errors.New("holds a NUL character")
)

// UnmarshalJSON reads either form.
func (d *Document) UnmarshalJSON(b []byte) error {
	quote := []byte{'"'}
	if bytes.HasPrefix(b, quote) {
		return d.take(b)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil || !bytes.HasPrefix(members["text"], quote) {
		return errDocument
	}
	d.object = bytes.Clone(b)
	return d.take(members["text"])
}

// take reads the text itself.
func (d *Document) take(b []byte) error {
	if err := json.Unmarshal(b, &d.text); err != nil {
		return err
	}
	if strings.ContainsRune(d.text, 0) {
		return errNUL
	}
	return nil
}

// JSONSchema implements op.Schemer.
func (d *Document) JSONSchema() string {
	return `{"anyOf": [{"type": "string", "pattern": "^[^\\u0000]*$"},
		{"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "pattern": "^[^\\u0000]*$"}}}]}`
}

// MarshalJSON writes an object.
func (d Document) MarshalJSON() ([]byte, error) {
	if d.object != nil {
		return d.object, nil
	}
	return json.Marshal(struct {
		Text string `json:"text"`
	}{d.text})
}

// AliasRequest is what the public clients of Cohere's and Jina's rerank APIs
// send. Fields that ask for something this server does not do are refused when
// they are set to it, not ignored.
type AliasRequest struct {
	Model           *string    `json:"model,omitempty" doc:"a rerank model of this server, or an alias of one; empty or absent: the default"`
	Query           string     `json:"query" schema:"Text" minLength:"1" doc:"the question, at most 8192 characters"`
	Documents       []Document `json:"documents" maxDecoded:"1000" minItems:"1" defaultMaxItems:"100" doc:"texts, or objects with a text; a server may be configured for up to 1000"`
	TopN            *int       `json:"top_n,omitempty" minimum:"1" maximum:"9007199254740991" doc:"how many to answer; default: all"`
	ReturnDocuments *bool      `json:"return_documents,omitempty" doc:"default true for /v1/rerank, false for /v2/rerank"`

	// Upper bounds of what is read of a document; the model's window is lower.
	MaxTokensPerDoc *int `json:"max_tokens_per_doc,omitempty" minimum:"1" maximum:"9007199254740991" doc:"the model's window applies, too"`
	MaxChunksPerDoc *int `json:"max_chunks_per_doc,omitempty" minimum:"1" maximum:"9007199254740991" doc:"one chunk of the model's window is read"`

	RankFields       *[]string `json:"rank_fields,omitempty" enum:"text" maxItems:"1" doc:"documents are ranked by their text"`
	Truncation       *bool     `json:"truncation,omitempty" enum:"true" doc:"texts are cut at the model's window"`
	Truncate         *bool     `json:"truncate,omitempty" enum:"true" doc:"the same"`
	ReturnEmbeddings *bool     `json:"return_embeddings,omitempty" enum:"false" doc:"no embeddings are answered"`
	Priority         *int      `json:"priority,omitempty" minimum:"-9007199254740991" maximum:"9007199254740991" doc:"without effect"`
	User             *string   `json:"user,omitempty" doc:"without effect"`
}

func (r *AliasRequest) texts() []string {
	out := make([]string, len(r.Documents))
	for i, d := range r.Documents {
		out[i] = d.text
	}
	return out
}

// AliasScored is one document's score.
type AliasScored struct {
	Index          int       `json:"index" minimum:"0" doc:"position in documents"`
	RelevanceScore float64   `json:"relevance_score" minimum:"0" maximum:"1" doc:"probability of relevance"`
	Document       *Document `json:"document,omitempty" doc:"with return_documents"`
}

// Meta is the meta member of Cohere's answers.
type Meta struct {
	APIVersion struct {
		Version string `json:"version"`
	} `json:"api_version"`
	BilledUnits struct {
		SearchUnits int `json:"search_units" doc:"one for each 100 documents begun"`
	} `json:"billed_units"`
	Warnings []string `json:"warnings,omitempty" doc:"that texts were cut at the model's window"`
}

// V2Result answers POST /v2/rerank.
type V2Result struct {
	ID      string        `json:"id" doc:"the request's id"`
	Results []AliasScored `json:"results" doc:"best first"`
	Meta    Meta          `json:"meta"`
}

// V1Result answers POST /v1/rerank: what Jina's and what Cohere's clients read.
type V1Result struct {
	ID      string        `json:"id" doc:"the request's id"`
	Model   string        `json:"model" doc:"the model that scored"`
	Usage   Usage         `json:"usage"`
	Results []AliasScored `json:"results" doc:"best first"`
	Meta    Meta          `json:"meta"`
}

// Usage is the usage member of Jina's answers.
type Usage struct {
	TotalTokens int `json:"total_tokens" minimum:"0" doc:"word pieces of the documents, and of the query for each of them"`
}

// RerankV2 is Rerank in the shape of Cohere's second API.
func (s *Service) RerankV2(ctx context.Context, in AliasRequest) (V2Result, error) {
	results, cut, err := s.alias(ctx, &in, false)
	if err != nil {
		return V2Result{}, err
	}
	return V2Result{ID: ident.RequestID(ctx), Results: results, Meta: meta("2", len(in.Documents), cut)}, nil
}

// RerankV1 is Rerank in the shape of Jina's API and of Cohere's first.
func (s *Service) RerankV1(ctx context.Context, in AliasRequest) (V1Result, error) {
	results, cut, err := s.alias(ctx, &in, true)
	if err != nil {
		return V1Result{}, err
	}
	return V1Result{
		ID:      ident.RequestID(ctx),
		Model:   s.named(in.Model).Info().ID,
		Usage:   Usage{tokens(ctx, s.named(in.Model), in.Query, in.texts())},
		Results: results,
		Meta:    meta("1", len(in.Documents), cut),
	}, nil
}

func (s *Service) alias(ctx context.Context, in *AliasRequest, documents bool) ([]AliasScored, int, error) {
	scored, cut, err := s.score(ctx, in.Model, in.Query, in.texts())
	if err != nil {
		return nil, 0, err
	}
	if in.TopN != nil {
		scored = scored[:min(*in.TopN, len(scored))]
	}
	if in.ReturnDocuments != nil {
		documents = *in.ReturnDocuments
	}
	out := make([]AliasScored, len(scored))
	for i, v := range scored {
		out[i] = AliasScored{Index: v.Index, RelevanceScore: v.Score}
		if documents {
			out[i].Document = &in.Documents[v.Index]
		}
	}
	return out, cut, nil
}

func meta(version string, documents, cut int) Meta {
	var m Meta
	m.APIVersion.Version = version
	m.BilledUnits.SearchUnits = (documents + 99) / 100
	if cut > 0 {
		m.Warnings = []string{fmt.Sprintf("%d of the query and the texts were cut at the model's window", cut)}
	}
	return m
}

// tokens counts what a model of pairs reads. A model that cannot count is
// taken to read a token for every four bytes.
func tokens(ctx context.Context, m port.Reranker, query string, documents []string) int {
	texts := append([]string{query}, documents...)
	counts := make([]int, len(texts))
	for i, t := range texts {
		counts[i] = (len(t) + 3) / 4
	}
	if c, ok := m.(port.TokenCounter); ok {
		if n, err := c.CountTokens(ctx, texts); err == nil && len(n) == len(texts) {
			counts = n
		}
	}
	total := 0
	for _, n := range counts[1:] {
		total += counts[0] + n
	}
	return total
}
