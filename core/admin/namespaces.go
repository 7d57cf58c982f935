package admin

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Reindexer makes the vectors of namespaces and of end users' memories anew.
type Reindexer interface {
	// Check answers a fault where a namespace's vectors are of other models than
	// the configured ones.
	Check(port.Namespace) error
	// Start begins it in the background or joins the one under way; where nothing
	// is to be done it says so. Fault NamespaceNotFound, or NotFound of an end user,
	// when there are no documents.
	Start(ctx context.Context, p port.Partition, force bool) (Reindexing, error)
	// State is how far the last one is; false when none is known.
	State(p port.Partition) (Reindexing, bool)
}

// Reindexing is a reindexing under way or ended.
type Reindexing struct {
	Name      string         `json:"name" doc:"of the namespace, or the end user's id"`
	Status    string         `json:"status" doc:"waiting, running, succeeded, failed, or unchanged: the vectors were of the configured models already"`
	Done      int            `json:"done" doc:"documents, or memories, encoded"`
	Total     int            `json:"total" doc:"documents to encode"`
	Documents int            `json:"documents" doc:"documents stored with new vectors, once it has succeeded"`
	Chunks    int            `json:"chunks" doc:"their chunks"`
	Error     *ReindexFailed `json:"error" doc:"why it failed; everything is then as it was"`
}

// ReindexFailed is why a reindexing failed.
type ReindexFailed struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// The states of a reindexing.
const (
	Waiting   = "waiting"
	Running   = "running"
	Succeeded = "succeeded"
	Failed    = "failed"
	Unchanged = "unchanged"
)

// Underway reports whether it has not ended.
func (r Reindexing) Underway() bool { return r.Status == Waiting || r.Status == Running }

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
	Namespace string `path:"namespace" json:"-" fault:"invalid_namespace"`
}

// Validate checks the name.
func (n *NamespaceRef) Validate() error {
	if !ident.ValidNamespace(n.Namespace) {
		return fault.Field(fault.InvalidNamespace, "namespace", ident.NamespaceRule)
	}
	return nil
}

// Reindex is the body of POST /organizations/{org}/namespaces/{namespace}/reindex.
type Reindex struct {
	NamespaceRef
	Force bool `json:"force,omitempty" doc:"also where the vectors are of the configured models"`
}

func (s *Service) namespace(ctx context.Context, in NamespaceRef) (port.Partition, error) {
	o, err := s.organization(ctx, in.Org)
	return port.Documents(o.ID, in.Namespace), err
}

// ReindexNamespace begins to make a namespace's vectors anew.
func (s *Service) ReindexNamespace(ctx context.Context, in Reindex) (Reindexing, error) {
	p, err := s.namespace(ctx, in.NamespaceRef)
	if err != nil {
		return Reindexing{}, err
	}
	r, err := s.reindex.Start(ctx, p, in.Force)
	return r, wrap("reindex", err)
}

// ReindexingOf says how far the reindexing of a namespace is. Fault NotFound
// when none was begun since the server started.
func (s *Service) ReindexingOf(ctx context.Context, in NamespaceRef) (Reindexing, error) {
	p, err := s.namespace(ctx, in)
	if err != nil {
		return Reindexing{}, err
	}
	return s.reindexing(p)
}

func (s *Service) reindexing(p port.Partition) (Reindexing, error) {
	r, ok := s.reindex.State(p)
	if !ok {
		return Reindexing{}, fault.New(fault.NotFound, "no reindexing of %q is known", p.Name())
	}
	return r, nil
}

// ReindexUser is the body of POST /end_users/{id}/reindex.
type ReindexUser struct {
	EndUserRef
	Force bool `json:"force,omitempty" doc:"also where the vectors are of the configured models"`
}

// ReindexEndUser begins to make the vectors of an end user's memories anew.
func (s *Service) ReindexEndUser(ctx context.Context, in ReindexUser) (Reindexing, error) {
	_, _, p, err := s.endUser(ctx, in.EndUserRef)
	if err != nil {
		return Reindexing{}, err
	}
	r, err := s.reindex.Start(ctx, p, in.Force)
	return r, wrap("reindex", err)
}

// ReindexingOfEndUser says how far the reindexing of an end user's memories is.
// Fault NotFound when none was begun since the server started.
func (s *Service) ReindexingOfEndUser(ctx context.Context, in EndUserRef) (Reindexing, error) {
	_, _, p, err := s.endUser(ctx, in)
	if err != nil {
		return Reindexing{}, err
	}
	return s.reindexing(p)
}

// ListNamespaces are the parameters of GET /organizations/{org}/namespaces.
type ListNamespaces struct {
	OrganizationRef
	Listing
}

// Namespace is a namespace as an administrator sees it.
type Namespace struct {
	Name           string    `json:"name"`
	Documents      int64     `json:"documents"`
	Chunks         int64     `json:"chunks"`
	Sparse         bool      `json:"sparse"`
	EmbeddingModel string    `json:"embedding_model"`
	Current        bool      `json:"current" doc:"false: its vectors are of other models than the configured ones, and it is to be reindexed"`
	UpdatedAt      time.Time `json:"updated_at"`
}

// Namespaces answers GET /organizations/{org}/namespaces.
type Namespaces struct {
	Namespaces []Namespace `json:"namespaces"`
	NextCursor *string     `json:"next_cursor"`
}

// ListNamespaces pages through an organization's namespaces that hold documents,
// by name.
func (s *Service) ListNamespaces(ctx context.Context, in ListNamespaces) (Namespaces, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Namespaces{}, err
	}
	bind := []string{"admin.namespaces", string(o.ID)}
	var from after
	if err := s.pages.Open(in.Cursor, &from, bind...); err != nil {
		return Namespaces{}, err
	}
	limit := page.Limit(in.Limit)
	var rows []port.Namespace
	err = s.store.View(ctx, func(r port.Reader) (err error) {
		rows, err = r.Namespaces(ctx, o.ID, "", from.Key, limit+1)
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
		out.Namespaces = append(out.Namespaces, Namespace{Name: n.Name, Documents: n.Documents, Chunks: n.Chunks, Sparse: n.Sparse,
			EmbeddingModel: n.EmbeddingModel, Current: s.reindex.Check(n) == nil, UpdatedAt: n.UpdatedAt.UTC()})
	}
	return out, nil
}
