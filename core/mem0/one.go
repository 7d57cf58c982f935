package mem0

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
)

// Ref addresses a memory.
type Ref struct {
	MemoryID string `path:"memory_id" json:"-" schema:"Text" maxLength:"400" doc:"id of a memory, which names its end user"`
}

// EndUser is for keys limited to one end user.
func (in *Ref) EndUser() string {
	endUser, _, _ := place(in.MemoryID) // of an id that is none the call itself says so
	return endUser
}

// Get reads a memory.
func (s *Service) Get(ctx context.Context, in Ref) (Memory, error) {
	endUser, id, err := place(in.MemoryID)
	if err != nil {
		return Memory{}, err
	}
	d, err := s.memories.Read(ctx, endUser, id)
	if err != nil {
		return Memory{}, err
	}
	return show(endUser, d.Document)
}

// UpdateRequest is the body of PUT /v1/memories/{memory_id}.
type UpdateRequest struct {
	Ref
	Text           *string         `json:"text,omitempty" schema:"Content" maxBytes:"65536" doc:"what it says from now on"`
	Metadata       json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"the whole of it; role and name of a message, agent and app stay"`
	Timestamp      *Moment         `json:"timestamp,omitempty" doc:"when it was said"`
	ExpirationDate *string         `json:"expiration_date,omitempty" doc:"null, or refused: memories stay until they are deleted"`
}

// Validate refuses what no memory can be given.
func (in *UpdateRequest) Validate() error {
	if in.ExpirationDate != nil {
		return invalid("expiration_date", noExpiry)
	}
	return checkChange("metadata", in.Metadata)
}

// checkChange refuses metadata that no memory can be given.
func checkChange(field string, metadata json.RawMessage) error {
	if len(metadata) == 0 {
		return nil
	}
	if err := checkMetadata(field, metadata); err != nil {
		return err
	}
	var is map[string]json.RawMessage
	if err := json.Unmarshal(metadata, &is); err != nil || is == nil {
		return invalid(field, "must be an object")
	}
	for _, member := range members() {
		if _, given := is[member]; given {
			return invalid(field, "may not hold %q, which a memory keeps from when it was added", member)
		}
	}
	return nil
}

// Update changes a memory.
func (s *Service) Update(ctx context.Context, in UpdateRequest) (Memory, error) {
	return s.edit(ctx, in.MemoryID, in.Text, in.Metadata, in.Timestamp)
}

// kept are the members of metadata that an update leaves as they are unless it names them.
func kept() []string { return append(members(), "role", "name", "messageId") }

func (s *Service) edit(ctx context.Context, memoryID string, text *string, metadata json.RawMessage, at *Moment) (Memory, error) {
	endUser, id, err := place(memoryID)
	if err != nil {
		return Memory{}, err
	}
	edit := memory.Edit{EndUserID: endUser, ID: id, Content: text, OccurredAt: at.text(), Scope: scopeOf}
	if len(metadata) > 0 {
		edit.Merge = func(before json.RawMessage) (json.RawMessage, error) { return merge(before, metadata) }
	}
	d, err := s.memories.Edit(ctx, edit)
	if err != nil {
		return Memory{}, err
	}
	return show(endUser, d.Document)
}

// merge gives a memory other metadata, but for what says whose it is.
func merge(before, metadata json.RawMessage) (json.RawMessage, error) {
	was, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if len(before) > 0 {
		if err := json.Unmarshal(before, &was); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(metadata, &is); err != nil {
		return nil, invalid("metadata", "must be an object")
	}
	for _, member := range kept() {
		value, had := was[member]
		switch given, named := is[member]; {
		case !named && had:
			is[member] = value
		case named && !(had && sameText(given, value)):
			return nil, invalid("metadata", "may not change %q, which a memory keeps from when it was added", member)
		}
	}
	return json.Marshal(is)
}

// sameText reports whether two JSON strings are the same.
func sameText(a, b json.RawMessage) bool {
	var x, y string
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x == y
}

// DeleteRequest is a call of DELETE /v1/memories/{memory_id}.
type DeleteRequest struct {
	Ref
	DeleteLinked *bool `query:"delete_linked" json:"-" doc:"without effect: a memory that is changed keeps no older version"`
}

// Delete deletes a memory; MemoryNotFound where there is none.
func (s *Service) Delete(ctx context.Context, in DeleteRequest) (Said, error) {
	if err := s.delete(ctx, in.MemoryID); err != nil {
		return Said{}, err
	}
	return Said{"Memory deleted successfully!"}, nil
}

func (s *Service) delete(ctx context.Context, memoryID string) error {
	endUser, id, err := place(memoryID)
	if err != nil {
		return err
	}
	done, err := s.memories.Delete(ctx, memory.Delete{EndUserID: endUser, IDs: []string{id}})
	if err == nil && done.Deleted == 0 {
		err = fault.New(fault.MemoryNotFound, "there is no memory %s", fault.Clip(memoryID))
	}
	return err
}

// Version is an entry of a memory's history.
type Version struct {
	ID        string          `json:"id" doc:"of the memory"`
	MemoryID  string          `json:"memory_id"`
	OldMemory *string         `json:"old_memory" doc:"null: older texts are not kept"`
	NewMemory string          `json:"new_memory" doc:"what it says"`
	Event     string          `json:"event" enum:"ADD" doc:"ADD: the memory as it is"`
	UserID    *string         `json:"user_id"`
	Metadata  json.RawMessage `json:"metadata" schema:"Metadata"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at" doc:"of the last change"`
}

// Versions answer a history.
type Versions []Version

// History tells what is known of a memory's past: what it says, since older texts are not kept.
func (s *Service) History(ctx context.Context, in Ref) (Versions, error) {
	m, err := s.Get(ctx, in)
	if err != nil {
		return nil, err
	}
	return Versions{{ID: m.ID, MemoryID: m.ID, NewMemory: m.Memory, Event: "ADD", UserID: m.UserID, Metadata: m.Metadata,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}}, nil
}

func oneOperations() []op.Op[*Service] {
	absent := []fault.Code{fault.MemoryNotFound}
	get := with(spec("get", "GET", one, "Read a memory"), absent...)
	update := with(writing("update", "PUT", one, "Change a memory"),
		append(absent, fault.Conflict, fault.Upstream, fault.QuotaExceeded)...)
	update.Description = "What is left out stays. A memory that a source owns answers 409."
	update.MaxBody = textBody
	remove := with(writing("delete", "DELETE", one, "Delete a memory"), append(absent, fault.Conflict)...)
	remove.Description = "A memory that a source owns answers 409: its source tombstones it."
	history := with(spec("history", "GET", one+"/history", "Read what is known of a memory's past"), absent...)
	history.Description = "One entry, of what the memory says: older texts are not kept."
	return []op.Op[*Service]{
		op.Define(get, (*Service).Get),
		op.Define(update, (*Service).Update),
		op.Define(history, (*Service).History),
		op.Define(remove, (*Service).Delete),
	}
}
