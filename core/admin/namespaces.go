package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/reindex"
)

// Reindexing is a reindexing under way or ended.
type Reindexing struct {
	Name      string         `json:"name" doc:"of the namespace, or the end user's id"`
	Status    string         `json:"status" enum:"waiting,running,succeeded,held,failed,unchanged" doc:"held: built and not served, as was asked for or because the comparison fell short; unchanged: the vectors were of the configured models already"`
	Done      int            `json:"done" minimum:"0" doc:"documents, or memories, encoded"`
	Total     int            `json:"total" minimum:"0" doc:"documents to encode"`
	Documents int            `json:"documents" minimum:"0" doc:"documents stored with new vectors, once it has succeeded"`
	Chunks    int            `json:"chunks" minimum:"0" doc:"their chunks"`
	Error     *ReindexFailed `json:"error" doc:"why it failed; what is served is then as it was"`

	Comparison *reindex.Comparison `json:"comparison" doc:"what the same queries find in what was served and in what was made; null: not compared, as the model before is not loaded, or not yet"`
}

// ReindexFailed is why a reindexing failed.
type ReindexFailed struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func showReindexing(p port.Partition, r reindex.State) Reindexing {
	return Reindexing{
		Name:       p.Name(),
		Status:     r.Status,
		Done:       r.Done,
		Total:      r.Total,
		Documents:  r.Result.Documents,
		Chunks:     r.Result.Chunks,
		Error:      (*ReindexFailed)(r.Error),
		Comparison: r.Result.Comparison,
	}
}

// Underway reports whether it has not ended.
func (r Reindexing) Underway() bool {
	return r.Status == reindex.Waiting || r.Status == reindex.Running
}

// StatusCode is 202 while it is under way.
func (r Reindexing) StatusCode() int {
	if r.Underway() {
		return 202
	}
	return 200
}

// NamespaceRef names a namespace of an organization in a path.
type NamespaceRef struct {
	OrganizationRef
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace" schema:"NamespaceName" doc:"name of the namespace"`
}

// Reindex is the body of POST /organizations/{org}/namespaces/{namespace}/reindex.
type Reindex struct {
	NamespaceRef
	Force      bool     `json:"force,omitempty" default:"false" doc:"also where the vectors are of the configured models"`
	Hold       bool     `json:"hold,omitempty" default:"false" doc:"build and compare, but keep serving the current vectors; the next call without hold swaps"`
	Back       bool     `json:"back,omitempty" default:"false" doc:"go back to the vectors served before the last swap, with everything written since; force is ignored then"`
	Queries    []string `json:"queries,omitempty" maxItems:"1000" minLength:"1" maxLength:"8192" doc:"queries to compare by; none: made from fifty random documents"`
	Language   *string  `json:"language,omitempty" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" doc:"language that keyword search takes its texts for from the swap on; auto: each chunk tells its own; left out: as it is"`
	MinOverlap float64  `json:"min_overlap,omitempty" minimum:"0" maximum:"1" default:"0" doc:"lowest comparison.overlap that swaps; below it the new vectors are held"`

	EmbeddingModel *string `json:"embedding_model,omitempty" maxLength:"256" doc:"embedding model that it has of its own from the swap on, by the id that GET /models?kind=embedding lists; empty: the server's default again; left out: as it is"`
}

// Discarded answers DELETE /organizations/{org}/namespaces/{namespace}/reindex.
type Discarded struct {
	Discarded bool `json:"discarded" doc:"false: nothing was kept or held"`
}

// DiscardReindexing removes the generation of a namespace that is kept since the last
// swap, or held.
func (s *Service) DiscardReindexing(ctx context.Context, in NamespaceRef) (Discarded, error) {
	p, err := s.namespace(ctx, in)
	if err != nil {
		return Discarded{}, err
	}
	ok, err := s.reindex.Discard(ctx, p)
	return Discarded{ok}, wrap("discard", err)
}

func (s *Service) namespace(ctx context.Context, in NamespaceRef) (port.Partition, error) {
	o, err := s.organization(ctx, in.Org)
	return port.Documents(o.ID, in.Namespace), err
}

// ReindexNamespace begins to recompute a namespace's vectors.
func (s *Service) ReindexNamespace(ctx context.Context, in Reindex) (Reindexing, error) {
	p, err := s.namespace(ctx, in.NamespaceRef)
	if err != nil {
		return Reindexing{}, err
	}
	ask := reindex.Request{
		Force:      in.Force,
		Hold:       in.Hold,
		Back:       in.Back,
		Queries:    in.Queries,
		MinOverlap: in.MinOverlap,

		EmbeddingModel: in.EmbeddingModel,
	}
	if in.Language != nil {
		ask.Language = *in.Language
	}
	r, err := s.reindex.Start(ctx, p, ask)
	return showReindexing(p, r), wrap("reindex", err)
}

// ReindexingOf says how far the reindexing of a namespace is. Fault NotFound
// when none was begun in the last hour.
func (s *Service) ReindexingOf(ctx context.Context, in NamespaceRef) (Reindexing, error) {
	p, err := s.namespace(ctx, in)
	if err != nil {
		return Reindexing{}, err
	}
	return s.reindexing(ctx, p)
}

func (s *Service) reindexing(ctx context.Context, p port.Partition) (Reindexing, error) {
	r, ok, err := s.reindex.State(ctx, p)
	if err != nil {
		return Reindexing{}, wrap("reindexing", err)
	}
	if !ok {
		return Reindexing{}, fault.New(fault.NotFound, "no reindexing of %q is known", p.Name())
	}
	return showReindexing(p, r), nil
}

// ReindexUser is the body of POST /end_users/{id}/reindex.
type ReindexUser struct {
	EndUserRef
	Force bool `json:"force,omitempty" default:"false" doc:"also where the vectors are of the configured models"`
}

// ReindexEndUser begins to recompute the vectors of an end user's memories.
func (s *Service) ReindexEndUser(ctx context.Context, in ReindexUser) (Reindexing, error) {
	_, _, p, err := s.endUser(ctx, in.EndUserRef)
	if err != nil {
		return Reindexing{}, err
	}
	r, err := s.reindex.Start(ctx, p, reindex.Request{Force: in.Force})
	return showReindexing(p, r), wrap("reindex", err)
}

// ReindexingOfEndUser says how far the reindexing of an end user's memories is.
// Fault NotFound when none is known: an ended one is for an hour.
func (s *Service) ReindexingOfEndUser(ctx context.Context, in EndUserRef) (Reindexing, error) {
	_, _, p, err := s.endUser(ctx, in)
	if err != nil {
		return Reindexing{}, err
	}
	return s.reindexing(ctx, p)
}

// ListNamespaces are the parameters of GET /organizations/{org}/namespaces.
type ListNamespaces struct {
	OrganizationRef
	Listing
	Prefix string `query:"prefix" schema:"Text" doc:"only names that begin with it"`
}

// Namespace is a namespace as an administrator sees it.
type Namespace struct {
	Name           string    `json:"name" schema:"NamespaceName"`
	Documents      int64     `json:"documents" minimum:"0"`
	Chunks         int64     `json:"chunks" minimum:"0"`
	Sparse         bool      `json:"sparse" doc:"whether it has a learned-sparse index"`
	Language       string    `json:"language" enum:"auto,en,de,fr,es,it,pt,nl,sv,tr,ru,ar,hi" doc:"that keyword search takes its texts for; auto: each chunk tells its own"`
	EmbeddingModel string    `json:"embedding_model" doc:"model of its vectors"`
	ModelChosen    bool      `json:"embedding_model_chosen" doc:"whether that model was chosen for it; false: it has the server's default"`
	Current        bool      `json:"current" doc:"false: its vectors are of other models than it is to have, the configured ones or the one that was chosen for it, and it is to be reindexed"`
	Shadow         *Shadow   `json:"shadow" doc:"what reindexing it has made or kept beside it; null: nothing"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// Shadow is a second generation of a namespace, which is not served.
type Shadow struct {
	State          string `json:"state" enum:"building,kept" doc:"building: being made, or held; kept: what was served before the last swap"`
	EmbeddingModel string `json:"embedding_model" doc:"model of its vectors"`
	Documents      int64  `json:"documents" minimum:"0"`
	Chunks         int64  `json:"chunks" minimum:"0"`
}

func shadowOf(of []port.PartitionEntry, name string) *Shadow {
	for _, h := range of {
		if h.Row.Name == name {
			state := "building"
			if h.Row.State == port.Retained {
				state = "kept"
			}
			return &Shadow{state, h.Row.EmbeddingModel, h.Row.Documents, h.Row.Chunks}
		}
	}
	return nil
}

// Namespaces answers GET /organizations/{org}/namespaces.
type Namespaces struct {
	Namespaces []Namespace `json:"namespaces"`
	NextCursor *string     `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// ListNamespaces pages through an organization's namespaces that hold documents,
// by name.
func (s *Service) ListNamespaces(ctx context.Context, in ListNamespaces) (Namespaces, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Namespaces{}, err
	}
	bind := []string{"admin.namespaces", string(o.ID), in.Prefix}
	var from after
	if err := s.pages.Open(in.Cursor, &from, bind...); err != nil {
		return Namespaces{}, err
	}
	limit := page.Limit(in.Limit)
	var rows []port.PartitionRow
	var shadows []port.PartitionEntry
	err = s.store.View(ctx, func(r reader) (err error) {
		if shadows, err = r.Shadows(ctx, o.ID); err != nil {
			return err
		}
		rows, err = r.Namespaces(ctx, o.ID, in.Prefix, from.Key, limit+1)
		return err
	})
	if err != nil {
		return Namespaces{}, wrap("list namespaces", err)
	}
	out := Namespaces{Namespaces: []Namespace{}}
	if len(rows) > limit {
		rows = rows[:limit]
		c := s.pages.Seal(after{rows[limit-1].Name}, bind...)
		out.NextCursor = &c
	}
	for _, n := range rows {
		out.Namespaces = append(out.Namespaces, Namespace{
			Name:           n.Name,
			Documents:      n.Documents,
			Chunks:         n.Chunks,
			Sparse:         n.Sparse,
			Language:       port.ShownLanguage(n.Language),
			EmbeddingModel: n.EmbeddingModel,
			ModelChosen:    n.Embedder != "",
			Current:        s.reindex.Current(n),
			Shadow:         shadowOf(shadows, n.Name),
			UpdatedAt:      n.UpdatedAt.UTC(),
		})
	}
	return out, nil
}
