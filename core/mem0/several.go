package mem0

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/op"
)

// DeleteAllRequest is a call of DELETE /v1/memories.
type DeleteAllRequest struct {
	UserID  *string `query:"user_id" json:"-" schema:"EndUserID" doc:"the end user"`
	AgentID *string `query:"agent_id" json:"-" pattern:"^[A-Za-z0-9@._-]{1,112}$" rule:"must be 1-112 characters of A-Z a-z 0-9 @ . _ -" doc:"of the agent"`
	AppID   *string `query:"app_id" json:"-" pattern:"^[A-Za-z0-9@._-]{1,112}$" rule:"must be 1-112 characters of A-Z a-z 0-9 @ . _ -" doc:"of the app"`
	RunID   *string `query:"run_id" json:"-" pattern:"^[A-Za-z0-9._:-]{1,112}$" rule:"must be 1-112 characters of A-Z a-z 0-9 . _ : -" doc:"of the container"`

	filters Filters
}

var _ op.StrictQuery = (*DeleteAllRequest)(nil)

// StrictQuery implements op.StrictQuery.
func (in *DeleteAllRequest) StrictQuery() {}

// Validate wants to know whose memories are meant.
func (in *DeleteAllRequest) Validate() error {
	of := Entities{in.UserID, in.AgentID, in.AppID, in.RunID}
	in.filters.ids = of.names()
	return in.filters.ids.check()
}

// EndUser is for keys limited to one end user.
func (in *DeleteAllRequest) EndUser() string { return in.filters.ids.endUser() }

// DeleteAll deletes the memories of all the entities that are named. The end user stays.
func (s *Service) DeleteAll(ctx context.Context, in DeleteAllRequest) (Said, error) {
	n, err := s.memories.DeleteAll(ctx, in.filters.which())
	if err != nil {
		return Said{}, err
	}
	return Said{fmt.Sprintf("Memories deleted successfully! (%d)", n)}, nil
}

// Change is a memory's part of a batch of updates.
type Change struct {
	MemoryID string          `json:"memory_id" schema:"Text" minLength:"1" maxLength:"400" doc:"id of a memory, which names its end user"`
	Text     *string         `json:"text,omitempty" schema:"Content" maxBytes:"65536" doc:"what it says from now on"`
	Metadata json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"as of a single update"`
}

// BatchUpdateRequest is the body of PUT /v1/batch.
type BatchUpdateRequest struct {
	Memories []Change `json:"memories" minItems:"1" maxItems:"100" doc:"memories to change, of at most 1 MiB of text together"`
}

// Validate checks the size of all texts together.
func (in *BatchUpdateRequest) Validate() error {
	sum := 0
	for i, m := range in.Memories {
		if m.Text != nil {
			sum += len(*m.Text)
		}
		if err := checkChange(fmt.Sprintf("memories[%d].metadata", i), m.Metadata); err != nil {
			return err
		}
	}
	if sum > memory.MaxBatchBytes {
		return fault.Field(fault.PayloadTooLarge, "memories", "hold %d bytes of text; at most %d (1 MiB) are allowed", sum,
			memory.MaxBatchBytes)
	}
	return nil
}

func (in *BatchUpdateRequest) of() []string {
	out := make([]string, len(in.Memories))
	for i, m := range in.Memories {
		out[i] = m.MemoryID
	}
	return out
}

// EndUser is for keys limited to one end user.
func (in *BatchUpdateRequest) EndUser() string { return onlyEndUser(in.of()) }

// EndUsers implements op.EndUsersNaming.
func (in *BatchUpdateRequest) EndUsers() []string { return endUsersOf(in.of()) }

// Units counts the memories against the write rate.
func (in *BatchUpdateRequest) Units() int { return len(in.Memories) }

// onlyEndUser is the one end user whose memories are named; "" where there are several.
func onlyEndUser(memoryIDs []string) string {
	if all := endUsersOf(memoryIDs); len(all) == 1 {
		return all[0]
	}
	return ""
}

// BatchUpdate changes memories one after the other. Nothing is changed where one of them is not there.
func (s *Service) BatchUpdate(ctx context.Context, in BatchUpdateRequest) (Said, error) {
	for _, m := range in.Memories {
		if _, _, err := s.changeable(ctx, m.MemoryID); err != nil {
			return Said{}, err
		}
	}
	for _, m := range in.Memories {
		if _, err := s.edit(ctx, m.MemoryID, m.Text, m.Metadata, nil); err != nil {
			return Said{}, err
		}
	}
	return Said{fmt.Sprintf("Successfully updated %d memories", len(in.Memories))}, nil
}

// changeable takes the id of a memory apart, and refuses one that is not there, or owned by a source.
// Of an id that is none, the end user is "".
func (s *Service) changeable(ctx context.Context, memoryID string) (endUser, id string, err error) {
	if endUser, id, err = place(memoryID); err != nil {
		return "", "", err
	}
	d, err := s.memories.Read(ctx, endUser, id)
	if err == nil {
		err = memory.RefuseOwned(d, memoryID, "change it there")
	}
	return endUser, id, err
}

// Deletion is a memory's part of a batch of deletions.
type Deletion struct {
	MemoryID string `json:"memory_id" schema:"Text" minLength:"1" maxLength:"400" doc:"id of a memory, which names its end user"`
}

// BatchDeleteRequest is the body of DELETE /v1/batch.
type BatchDeleteRequest struct {
	Memories []Deletion `json:"memories" minItems:"1" maxItems:"100" doc:"memories to delete"`
}

func (in *BatchDeleteRequest) of() []string {
	out := make([]string, len(in.Memories))
	for i, m := range in.Memories {
		out[i] = m.MemoryID
	}
	return out
}

// EndUser is for keys limited to one end user.
func (in *BatchDeleteRequest) EndUser() string { return onlyEndUser(in.of()) }

// EndUsers implements op.EndUsersNaming.
func (in *BatchDeleteRequest) EndUsers() []string { return endUsersOf(in.of()) }

// Units counts the memories against the write rate.
func (in *BatchDeleteRequest) Units() int { return len(in.Memories) }

// BatchDelete deletes memories, those of one end user together. Ones that are not there are not counted, so
// that a call whose answer was lost can be repeated. Nothing is deleted where a source owns one of them.
func (s *Service) BatchDelete(ctx context.Context, in BatchDeleteRequest) (Said, error) {
	by := map[string][]string{}
	for _, m := range in.Memories {
		endUser, id, err := s.changeable(ctx, m.MemoryID)
		if err != nil && (endUser == "" || fault.CodeOf(err) != fault.MemoryNotFound) {
			return Said{}, err
		}
		by[endUser] = append(by[endUser], id)
	}
	deleted := 0
	for _, endUser := range slices.Sorted(maps.Keys(by)) {
		done, err := s.memories.Delete(ctx, memory.Delete{EndUserID: endUser, IDs: by[endUser]})
		if err != nil {
			return Said{}, err
		}
		deleted += done.Deleted
	}
	return Said{fmt.Sprintf("Successfully deleted %d memories", deleted)}, nil
}

func severalOperations() []op.Op[*Service] {
	ids := []fault.Code{fault.InvalidEndUserID, fault.InvalidContainerTag, fault.Conflict}
	all := with(writing("delete_all", "DELETE", memories, "Delete the memories of whom the call names"), ids...)
	all.Description = "All that the call names has to hold; other parameters, such as filters, are refused. " +
		"The end user stays, and a memory that a source owns fails the call before anything is deleted."
	update := with(writing("batch.update", "PUT", "/v1/batch", "Change up to 100 memories"), fault.MemoryNotFound, fault.Conflict,
		fault.Upstream, fault.QuotaExceeded)
	update.Description = "One after the other, once all of them are there."
	update.MaxBody = addBody
	remove := with(writing("batch.delete", "DELETE", "/v1/batch", "Delete up to 100 memories"),
		fault.MemoryNotFound, fault.Conflict)
	remove.Description = "Those that are not there are not counted. A memory that a source owns fails the call before " +
		"anything is deleted."
	remove.MaxBody = filterBody
	for _, s := range []*op.Spec{&all, &update, &remove} {
		s.Timeout = severalFor
	}
	return []op.Op[*Service]{
		op.Define(update, (*Service).BatchUpdate),
		op.Define(remove, (*Service).BatchDelete),
		op.Define(all, (*Service).DeleteAll),
	}
}
