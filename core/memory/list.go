package memory

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// List are the parameters of GET /api/v1/memories.
type List struct {
	EndUserID    string  `query:"endUserId" json:"-" fault:"invalid_end_user_id" schema:"EndUserID"  required:"true" doc:"the end user"`
	ContainerTag *string `query:"containerTag" json:"-" fault:"invalid_container_tag" schema:"ContainerTag" doc:"only this container's"`
	Limit        *int    `query:"limit" json:"-" minimum:"1" maximum:"100" default:"50" doc:"how many at most"`
	Cursor       string  `query:"cursor" json:"-" doc:"nextCursor of the page before; none for the first page"`
}

// EndUser is for keys limited to one end user.
func (in *List) EndUser() string { return in.EndUserID }

// Memory is a memory as it is listed.
type Memory struct {
	ID           string          `json:"id"`
	Content      string          `json:"content"`
	ContainerTag *string         `json:"containerTag" schema:"ContainerTag" doc:"its container; null: none"`
	Metadata     json.RawMessage `json:"metadata" schema:"Metadata"`
	CreatedAt    int64           `json:"created_at" doc:"Unix milliseconds"`
	UpdatedAt    int64           `json:"updated_at" doc:"Unix milliseconds"`
	Source       *string         `json:"source" schema:"SourceName" doc:"of a source-owned memory; else null"`
	ExternalID   *string         `json:"externalId" schema:"ExternalID" doc:"of a source-owned memory; else null"`
}

// Page answers a list.
type Page struct {
	Success    bool     `json:"success"`
	Memories   []Memory `json:"memories"`
	NextCursor *string  `json:"nextCursor" doc:"cursor of the next page; null: this is the last"`
}

// Show gives a stored memory, read with its text and metadata, the form of the
// interface.
func Show(d port.DocumentHead) Memory {
	return Memory{
		ID:           d.ID,
		Content:      d.Text,
		ContainerTag: textOrNil(d.Container),
		Metadata:     metadataOf(d),
		CreatedAt:    d.CreatedAt.UnixMilli(),
		UpdatedAt:    d.UpdatedAt.UnixMilli(),
		Source:       textOrNil(d.Source),
		ExternalID:   textOrNil(d.ExternalID),
	}
}

func textOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func metadataOf(d port.DocumentHead) json.RawMessage {
	if len(d.Metadata) == 0 {
		return json.RawMessage("{}")
	}
	return d.Metadata
}

type position struct {
	ID      string    `json:"i"`
	Created time.Time `json:"c,omitzero"`
}

// List pages through an end user's memories, newest first.
func (s *Service) List(ctx context.Context, in List) (Page, error) {
	p, limit, container := partition(ctx, in.EndUserID), 50, ""
	if in.Limit != nil {
		limit = *in.Limit
	}
	if in.ContainerTag != nil {
		container = *in.ContainerTag
	}
	bind := []string{"memories", string(p.Org()), p.Integration(), p.Name(), container}
	var at position
	if err := s.pages.Open(in.Cursor, &at, bind...); err != nil {
		return Page{}, recode(err, fault.InvalidRequest)
	}
	out := Page{Success: true, Memories: []Memory{}}
	err := s.store.View(ctx, func(r snapshot) error {
		if _, ok, err := s.readPartition(ctx, r, p); !ok || err != nil {
			return err
		}
		list, err := r.ListDocuments(ctx, p, port.DocumentList{
			Order:        port.ByCreated,
			Container:    container,
			AfterID:      at.ID,
			AfterCreated: at.Created,
			Limit:        limit + 1,
			Parts:        port.PartText | port.PartMetadata,
		})
		if err != nil {
			return err
		}
		if len(list) > limit {
			list = list[:limit]
			next := s.pages.Seal(position{list[limit-1].ID, list[limit-1].CreatedAt}, bind...)
			out.NextCursor = &next
		}
		for _, d := range list {
			out.Memories = append(out.Memories, Show(d))
		}
		return nil
	})
	return out, err
}

// Delete is the body of POST /api/v1/memories/delete.
type Delete struct {
	EndUserID string   `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	IDs       []string `json:"ids" maxDecoded:"1000" limitFault:"invalid_request" schema:"DocumentID" minItems:"1" maxItems:"100" doc:"memories to delete; those that do not exist are skipped"`
}

// EndUser is for keys limited to one end user.
func (in *Delete) EndUser() string { return in.EndUserID }

// Deleted answers a deletion.
type Deleted struct {
	Success bool `json:"success"`
	Deleted int  `json:"deleted" minimum:"0" doc:"memories removed by this call"`
}

// Delete removes memories by id. One that its source owns fails the call, and
// nothing is deleted.
func (s *Service) Delete(ctx context.Context, in Delete) (Deleted, error) {
	p := partition(ctx, in.EndUserID)
	out, toRelink, err := s.delete(ctx, p, in.IDs)
	if err == nil {
		s.relink(ctx, p, toRelink)
	}
	return out, err
}

func (s *Service) delete(ctx context.Context, p port.Partition, wanted []string) (out Deleted, toRelink []string, err error) {
	leave := s.work.enter(p)
	defer leave()
	err = s.changes.Write(ctx, ingest.CauseDelete, func(tx *ingest.Tx) error {
		toRelink, out = nil, Deleted{Success: true}
		ns, err := tx.Partition(ctx, p)
		if fault.IsPartitionNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if !ns.Erasing.IsZero() {
			return erasingFault(p)
		}
		pinned := p.At(ns.Generation)
		found, err := tx.Documents(ctx, pinned, wanted, 0)
		if err != nil {
			return err
		}
		ids := make([]string, 0, len(found))
		for _, d := range found {
			if err := RefuseOwned(d, d.ID, "tombstone it there"); err != nil {
				return err
			}
			ids = append(ids, d.ID)
		}
		if len(ids) == 0 {
			return nil
		}
		if toRelink, err = restoreOwnVectors(ctx, tx, pinned, ids); err == nil {
			out.Deleted, err = tx.Delete(ctx, pinned, s.now(), ids)
		}
		return err
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		return Deleted{}, nil, err
	}
	return out, toRelink, err
}
