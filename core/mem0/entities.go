package mem0

import (
	"context"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Entity is an end user as mem0's clients read it.
type Entity struct {
	ID            string    `json:"id" doc:"as in requests"`
	Name          string    `json:"name" doc:"the same"`
	Type          string    `json:"type" enum:"user,agent,app,run"`
	TotalMemories int64     `json:"total_memories" minimum:"0"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at" doc:"when it was last seen"`
	Owner         *string   `json:"owner" doc:"null"`
}

// ListEntities are the parameters of GET /v1/entities.
type ListEntities struct {
	Page     *int `query:"page" json:"-" minimum:"1" maximum:"1000000" default:"1" doc:"which page"`
	PageSize *int `query:"page_size" json:"-" minimum:"1" maximum:"1000" default:"1000" doc:"how many a page has at most"`
}

// EntityPage answers a list of entities.
type EntityPage struct {
	Count    int      `json:"count" minimum:"0" doc:"of all pages"`
	Next     *string  `json:"next" doc:"path of the next page; null: this is the last"`
	Previous *string  `json:"previous" doc:"path of the page before; null: this is the first"`
	Results  []Entity `json:"results" doc:"by id"`
}

// rosterBatch is how many end users are read at once.
const rosterBatch = 500

// Entities lists users, and the agents, apps and runs that have memories without a user.
func (s *Service) Entities(ctx context.Context, in ListEntities) (EntityPage, error) {
	size := 1000
	if in.PageSize != nil {
		size = *in.PageSize
	}
	paging := Paging{in.Page, &size}
	skip, limit := paging.bounds()
	out := EntityPage{Results: []Entity{}}
	if only := ident.From(ctx).EndUser; only != "" {
		u, known, err := s.memories.User(ctx, only)
		if err != nil {
			return EntityPage{}, err
		}
		if known {
			out.Count = 1
		}
		if known && skip == 0 {
			out.Results = append(out.Results, entityOf(u))
		}
	} else {
		n, err := s.memories.Users(ctx)
		if err != nil {
			return EntityPage{}, err
		}
		if out.Count = int(n); skip < out.Count {
			if out.Results, err = s.roster(ctx, skip, limit); err != nil {
				return EntityPage{}, err
			}
		}
	}
	out.Next, out.Previous = paging.around("/v1/entities", out.Count)
	return out, nil
}

// roster reads end users up to the end of a page, and no further.
func (s *Service) roster(ctx context.Context, skip, limit int) ([]Entity, error) {
	out := []Entity{}
	for after := ""; ; {
		list, next, err := s.memories.Roster(ctx, after, min(rosterBatch, skip+limit-len(out)))
		if err != nil {
			return nil, err
		}
		passed := min(skip, len(list))
		skip -= passed
		for _, u := range list[passed:] {
			out = append(out, entityOf(u))
		}
		if after = next; next == "" || len(out) == limit {
			return out, nil
		}
	}
}

func entityOf(u port.EndUser) Entity {
	kind := kindOf(u.ID)
	name := strings.TrimPrefix(u.ID, prefix(kind))
	return Entity{ID: name, Name: name, Type: kind, TotalMemories: u.Memories, CreatedAt: u.FirstSeen.UTC(),
		UpdatedAt: u.LastSeen.UTC()}
}

// EntityRef addresses an entity.
type EntityRef struct {
	Type string `path:"entity_type" json:"-" enum:"user,agent,app,run" doc:"what it is"`
	ID   string `path:"entity_id" json:"-" schema:"EndUserID" doc:"as in requests"`
}

// Validate refuses what no entity is named. What a user may be named is the address's own rule; what
// the others may be named is not, so of a name that none can have there is nothing.
func (in *EntityRef) Validate() error {
	err := ids{in.Type: in.ID}.check()
	if err != nil && in.Type != user {
		return fault.New(fault.NotFound, "no memories are kept for %s %q", in.Type, in.ID)
	}
	return err
}

// EndUser is for keys limited to one end user.
func (in *EntityRef) EndUser() string { return prefix(in.Type) + in.ID }

// EraseEntity erases an end user with all of its memories.
func (s *Service) EraseEntity(ctx context.Context, in EntityRef) (Said, error) {
	known, err := s.memories.Known(ctx, in.EndUser())
	if err != nil {
		return Said{}, err
	}
	// Also of who is not known there may be keys, and what a crash has left.
	erased, err := s.memories.EraseUser(ctx, memory.EraseUser{EndUserID: in.EndUser()})
	if err != nil {
		return Said{}, err
	}
	if !known && erased.DeletedMemories == 0 { // with an erasure that was under way there were
		more := ""
		if in.Type != user {
			more = "; memories of a user that name it are deleted with DELETE /v1/memories?user_id=...&" + in.Type + "_id=..."
		}
		return Said{}, fault.New(fault.NotFound, "no memories are kept for %s %q%s", in.Type, in.ID, more)
	}
	return Said{"Entity deleted successfully!"}, nil
}

func entityOperations() []op.Op[*Service] {
	list := spec("entities.list", "GET", "/v1/entities", "List users, and what has memories without one")
	erase := func(name, path, summary string) op.Spec {
		s := with(writing(name, "DELETE", path, summary), fault.InvalidEndUserID, fault.InvalidContainerTag)
		s.Description = "Everything of it goes, from files too, before the answer."
		s.Scopes, s.Timeout = []ident.Scope{ident.UsersErase}, severalFor
		return s
	}
	const of = "/entities/{entity_type}/{entity_id}"
	return []op.Op[*Service]{
		op.Define(list, (*Service).Entities),
		op.Define(erase("entities.delete", "/v2"+of, "Erase a user, or what has memories without one"), (*Service).EraseEntity),
		op.Define(erase("entities.delete.v1", "/v1"+of, "Erase a user, as older calls ask for it"), (*Service).EraseEntity),
	}
}
