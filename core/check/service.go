package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// Most is how many queries a namespace keeps at most: a run asks all of them in one call.
const Most = 100

// Queries answers queries, as core/query's Service does.
type Queries interface {
	Query(ctx context.Context, q query.Request) (query.Result, error)
}

// Settings configure a Service. Store and Queries are required.
type Settings struct {
	Store   port.Store
	Queries Queries
	Now     func() time.Time // nil: time.Now
}

type reader interface {
	port.PartitionReader
	port.SavedQueryReader
}

type writer interface {
	reader
	port.SavedQueryWriter
}

// Service keeps saved queries and runs them. Safe for concurrent use.
type Service struct {
	store   port.Narrowed[reader, writer]
	queries Queries
	now     func() time.Time
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Service{
		store:   port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		queries: s.Queries,
		now:     func() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }, // as stores keep times
	}
}

// Question is what a saved query asks, and what it should find. It is asked for documents: of
// each the best chunk counts.
type Question struct {
	Query      string              `json:"query" schema:"Text" minLength:"1" maxLength:"8192" doc:"the question"`
	Expect     []string            `json:"expect" schema:"DocumentID" maxItems:"100" doc:"ids of the documents that must be among the first; none: whatever is found passes, and a run says what has changed"`
	Within     *int                `json:"within,omitempty" minimum:"1" maximum:"100" default:"10" doc:"how many documents are the first"`
	Retrievers *[]string           `json:"retrievers,omitempty" enum:"vector,keyword,sparse" minItems:"1" doc:"which retrievers are asked; default: all that the namespace has"`
	Mode       *string             `json:"mode,omitempty" enum:"hybrid,vector,keyword,sparse" doc:"short for retrievers: all, or one"`
	Weights    *map[string]float64 `json:"weights,omitempty" keys:"vector,keyword,sparse" minimum:"0" maximum:"10" minProperties:"1" doc:"how much each retriever counts, as in a query"`
	Language   *string             `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" doc:"language that keyword search takes the query for, as in a query"`
	Filter     json.RawMessage     `json:"filter,omitempty" schema:"Filter" doc:"only documents whose metadata match"`
	Rerank     json.RawMessage     `json:"rerank,omitempty" default:"false" doc:"whether, and how, a model rescores what was found"`
	MinScore   *float64            `json:"min_score,omitempty" minimum:"0" maximum:"1" doc:"least score of a document; only with rerank or with the vector retriever alone"`
}

// request is the question as core/query takes it.
func (q Question) request(namespace string) (query.Request, error) {
	one, no, within := 1, false, q.within()
	r := query.Request{Namespace: namespace, Query: q.Query, TopK: &within, Retrievers: q.Retrievers, Mode: q.Mode,
		Weights: q.Weights, Language: q.Language, Filter: q.Filter, Rerank: q.Rerank, MinScore: q.MinScore,
		MaxChunksPerDocument: &one,
		IncludeText:          &no, IncludeMetadata: &no}
	return r, op.Check(&r)
}

func (q Question) within() int {
	if q.Within == nil {
		return 10
	}
	return *q.Within
}

// Validate implements op.Validator: what the query refuses, it refuses.
func (q *Question) Validate() error {
	if q.Expect == nil {
		return fault.Field(fault.InvalidRequest, "expect", "is missing: name the documents that must be found, or [] for none")
	}
	for i, id := range q.Expect {
		if slices.Contains(q.Expect[:i], id) {
			return fault.Field(fault.InvalidRequest, "expect", "%q is named twice", id)
		}
	}
	_, err := q.request("a")
	return err
}

// What a query says of its fields holds for a question's.

// JSONSchema implements op.Schemer.
func (q *Question) JSONSchema() string { return (*query.Request)(nil).JSONSchema() }

// Alternatives implements op.Alternator.
func (q *Question) Alternatives() map[string][]any { return (*query.Request)(nil).Alternatives() }

// Classes charges the rerank class too.
func (q *Question) Classes() []op.Class {
	r, err := q.request("a")
	if err != nil {
		return nil // Validate says why
	}
	return r.Classes()
}

// Ref names a namespace in a path.
type Ref struct {
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
}

// NamespaceName is for keys limited to one namespace.
func (r *Ref) NamespaceName() string { return r.Namespace }

// QueryRef names a saved query in a path.
type QueryRef struct {
	Ref
	Name string `path:"query" json:"-" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" rule:"must be 1 to 64 letters, digits, dots, dashes or underscores, the first a letter or digit" doc:"name of the query, unique in the namespace"`
}

// Save is the body of PUT /namespaces/{namespace}/queries/{query}.
type Save struct {
	QueryRef
	Question
}

// Saved is a saved query as it is shown.
type Saved struct {
	Name string `json:"name"`
	Question
	Found     []string  `json:"found" doc:"ids of the first documents when it was saved, best first"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at" doc:"when it was saved last"`
}

// SavedList answers GET /namespaces/{namespace}/queries.
type SavedList struct {
	Queries []Saved `json:"queries" doc:"all of them, by name; a namespace has 100 at most"`
}

// Removed answers DELETE /namespaces/{namespace}/queries/{query}.
type Removed struct {
	Deleted bool `json:"deleted" doc:"false: there was no such query"`
}

// body is what the store keeps of a saved query.
type body struct {
	Question
	Found []string `json:"found"`
}

func saved(q port.SavedQuery) (Saved, error) {
	var b body
	if err := json.Unmarshal(q.Body, &b); err != nil {
		return Saved{}, fmt.Errorf("saved query %s: %w", q.Name, err)
	}
	return Saved{Name: q.Name, Question: b.Question, Found: b.Found, CreatedAt: q.CreatedAt.UTC(),
		UpdatedAt: q.UpdatedAt.UTC()}, nil
}

// all reads the saved queries of a namespace; fault NamespaceNotFound where there is none.
func (s *Service) all(ctx context.Context, namespace string) ([]Saved, error) {
	p := port.Documents(ident.From(ctx).Org, namespace)
	var kept []port.SavedQuery
	err := s.store.View(ctx, func(r reader) (err error) {
		n, err := r.Partition(ctx, p)
		if err != nil {
			return err
		}
		if n.Documents == 0 {
			return fault.New(fault.NamespaceNotFound, "namespace %q holds no documents", namespace)
		}
		kept, err = r.SavedQueries(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]Saved, len(kept))
	for i, q := range kept {
		if out[i], err = saved(q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// List reads all saved queries of a namespace.
func (s *Service) List(ctx context.Context, in Ref) (SavedList, error) {
	all, err := s.all(ctx, in.Namespace)
	return SavedList{Queries: all}, err
}

// Save keeps a query with what it finds now, in place of the one with its name.
func (s *Service) Save(ctx context.Context, in Save) (Saved, error) {
	found, _, err := s.ask(ctx, in.Namespace, in.Question)
	if err != nil {
		return Saved{}, err
	}
	if in.Expect == nil {
		in.Expect = []string{}
	}
	in.Rerank = settled(in.Rerank)
	written, err := json.Marshal(body{in.Question, found})
	if err != nil {
		return Saved{}, fmt.Errorf("saved query: %w", err)
	}
	p := port.Documents(ident.From(ctx).Org, in.Namespace)
	q := port.SavedQuery{Name: in.Name, Body: written, CreatedAt: s.now()}
	q.UpdatedAt = q.CreatedAt
	err = s.store.Update(ctx, func(w writer) error {
		kept, err := w.SavedQueries(ctx, p)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(kept, func(k port.SavedQuery) bool { return k.Name == in.Name }); i >= 0 {
			q.CreatedAt = kept[i].CreatedAt
		} else if len(kept) >= Most {
			return fault.New(fault.Conflict, "namespace %q has %d saved queries, which is the most; delete one first",
				in.Namespace, Most)
		}
		return w.PutSavedQuery(ctx, p, q)
	})
	if err != nil {
		return Saved{}, err
	}
	return saved(q)
}

// settled is how to rerank as it is kept: nothing where nothing is reranked, and of an object
// what it says.
func settled(rerank json.RawMessage) json.RawMessage {
	var how *query.Rerank
	switch raw := string(rerank); {
	case raw == "true":
		return rerank
	case json.Unmarshal(rerank, &how) != nil || how == nil: // false or null
		return nil
	}
	out, err := json.Marshal(how)
	if err != nil {
		return rerank // never: it holds a text and a number
	}
	return out
}

// Delete removes a saved query. An absent one answers false, so the call is safe to repeat.
func (s *Service) Delete(ctx context.Context, in QueryRef) (out Removed, err error) {
	p := port.Documents(ident.From(ctx).Org, in.Namespace)
	err = s.store.Update(ctx, func(w writer) (err error) {
		out.Deleted, err = w.RemoveSavedQuery(ctx, p, in.Name)
		return err
	})
	return out, err
}

// ask answers the ids of the first documents, best first, and the parts left out of the answer.
func (s *Service) ask(ctx context.Context, namespace string, q Question) (found, degraded []string, err error) {
	r, err := q.request(namespace)
	if err != nil {
		return nil, nil, err
	}
	answer, err := s.queries.Query(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	found, degraded = []string{}, []string{}
	for _, h := range answer.Results {
		found = append(found, h.DocumentID)
	}
	for part := range answer.Missing() {
		if !slices.Contains(degraded, part) {
			degraded = append(degraded, part)
		}
	}
	return found, degraded, nil
}
