package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/filter"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Kept is a memory as it is stored, for those who read it by its id.
type Kept = port.DocumentHead

// Read gives a memory of one end user by its id, with text and metadata; fault
// MemoryNotFound when the end user has none of that id.
func (s *Service) Read(ctx context.Context, endUser, id string) (Kept, error) {
	p := partition(ctx, endUser)
	var out Kept
	err := s.store.View(ctx, func(r snapshot) error {
		_, ok, err := s.readPartition(ctx, r, p)
		if err != nil {
			return err
		}
		if !ok {
			return noMemory(id)
		}
		out, err = memoryByID(ctx, r, p, id, port.PartText|port.PartMetadata)
		return err
	})
	return out, err
}

// Known reports whether an end user has or had memories, and is not being erased.
func (s *Service) Known(ctx context.Context, endUser string) (known bool, err error) {
	err = s.store.View(ctx, func(r snapshot) (err error) {
		_, known, err = s.readPartition(ctx, r, partition(ctx, endUser))
		return err
	})
	return known, err
}

// RefuseOwned is the fault of changing a memory that its source owns; nil: none owns it. Instead says
// what to do there.
func RefuseOwned(d Kept, id, instead string) error {
	if d.ExternalID == "" {
		return nil
	}
	return fault.New(fault.Conflict, "memory %s is owned by source %s (%s); %s", fault.Clip(id), d.Source, d.ExternalID, instead)
}

func noMemory(id string) error {
	return fault.New(fault.MemoryNotFound, "there is no memory %s", fault.Clip(id))
}

func memoryByID(ctx context.Context, r reader, p port.Partition, id string, parts port.Part) (Kept, error) {
	found, err := r.Documents(ctx, p, []string{id}, parts)
	if fault.IsPartitionNotFound(err) || err == nil && len(found) == 0 {
		return Kept{}, noMemory(id)
	}
	if err != nil {
		return Kept{}, err
	}
	return found[0], nil
}

// Edit changes a memory that no source owns. What is nil stays as it is.
type Edit struct {
	EndUserID  string
	ID         string
	Content    *string
	OccurredAt *string
	// Merge makes the metadata of those that are stored; an empty one is none. Its errors are faults.
	Merge func(before json.RawMessage) (json.RawMessage, error)
	// Scope is what the memory was kept apart by (Message.KeepApart), of its metadata; nil: nothing.
	Scope func(metadata json.RawMessage) string

	occurred time.Time
}

// Validate checks the time.
func (in *Edit) Validate() (err error) {
	in.occurred, err = checkTime("occurredAt", in.OccurredAt)
	return err
}

// over is the memory as the edit leaves it.
func (in *Edit) over(d Kept) (text, error) {
	t := text{content: d.Text, container: d.Container, occurred: d.CreatedAt}
	raw, err := d.Metadata, error(nil)
	if in.Merge != nil {
		if raw, err = in.Merge(raw); err != nil {
			return t, err
		}
	}
	if t.metadata, err = checkMetadata("metadata", raw); err != nil {
		return t, err
	}
	if in.Content != nil {
		t.content = *in.Content
	}
	if !in.occurred.IsZero() {
		t.occurred = in.occurred
	}
	t.key = port.ContentKey{Container: d.Container, Hash: d.ContentKey}
	if in.Content == nil {
		return t, nil
	}
	// The key stays of the kind that it is: by a message's id, which its text is no part of, by role and
	// text, or by text.
	var was, is Message
	was.Role, _ = t.metadata[roleMember].(string)
	if in.Scope != nil {
		was.apart = in.Scope(d.Metadata)
	}
	is = was
	was.Content, is.Content = &d.Text, &t.content
	switch d.ContentKey {
	case contentKey(d.Text):
		t.key.Hash = contentKey(t.content)
	case messageKey(&was):
		t.key.Hash = messageKey(&is)
	}
	return t, nil
}

// same reports whether an edit leaves a memory as it is.
func same(before Kept, after text) bool {
	return after.content == before.Text && after.metadata.Hash() == before.MetadataHash && after.key.Hash == before.ContentKey &&
		before.CreatedAt.Equal(creationTime(after.occurred, before.CreatedAt))
}

// Edit changes a memory and gives it as it is then. One that changes nothing writes nothing.
// Faults: MemoryNotFound, and Conflict for one that its source owns.
func (s *Service) Edit(ctx context.Context, in Edit) (Kept, error) {
	if err := in.Validate(); err != nil {
		return Kept{}, err
	}
	p := partition(ctx, in.EndUserID)
	return ingest.Retry(ctx, func() (Kept, error) { return s.tryEdit(ctx, p, &in) })
}

// editable reads the memory that an edit is of.
func editable(ctx context.Context, r reader, p port.Partition, id string) (Kept, error) {
	d, err := memoryByID(ctx, r, p, id, port.PartText|port.PartMetadata|port.PartChunks)
	if err == nil {
		err = RefuseOwned(d, d.ID, "change it there")
	}
	return d, err
}

func (s *Service) tryEdit(ctx context.Context, p port.Partition, in *Edit) (Kept, error) {
	var ns port.PartitionRow
	var before Kept
	var after text
	var fresh *pendingMemory
	unchanged := false
	err := s.store.View(ctx, func(r snapshot) (err error) {
		var exists bool
		if ns, exists, err = s.readForWrite(ctx, r, p); err != nil {
			return err
		}
		if !exists {
			return noMemory(in.ID)
		}
		if before, err = editable(ctx, r, p, in.ID); err != nil {
			return err
		}
		if after, err = in.over(before); err != nil || after.content == before.Text {
			unchanged = err == nil && same(before, after)
			return err
		}
		if err := s.checkModels(ns); err != nil {
			return err
		}
		fresh = &pendingMemory{text: after, id: in.ID, created: creationTime(after.occurred, before.CreatedAt)}
		_, err = findPrecedingTurns(ctx, r, p, true, []*pendingMemory{fresh})
		return err
	})
	if err != nil {
		return Kept{}, err
	}
	if unchanged {
		return before, nil
	}
	models := s.encoders.For(ns)
	if fresh != nil {
		if err := s.encode(ctx, models, ns.Sparse, []*pendingMemory{fresh}); err != nil {
			return Kept{}, err
		}
	}
	out, toRelink, err := s.commitEdit(ctx, p, models, ns.Sparse, before, after, fresh)
	if err == nil {
		s.relink(ctx, p, toRelink)
	}
	return out, err
}

// commitEdit writes an edit of a memory that is still as it was before; fresh is nil where its
// text stays.
func (s *Service) commitEdit(ctx context.Context, p port.Partition, models *ingest.Encoder, sparse bool, before Kept,
	after text, fresh *pendingMemory) (out Kept, toRelink []string, err error) {
	now := s.now()
	leave := s.work.enter(p)
	defer leave()
	err = s.changes.Write(ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		toRelink = nil
		ns, exists, err := s.readForWrite(ctx, tx, p)
		if err != nil {
			return err
		}
		if !exists {
			return noMemory(before.ID)
		}
		pinned := p.At(ns.Generation)
		stored, err := editable(ctx, tx, pinned, before.ID)
		if err != nil {
			return err
		}
		if stored.Seq != before.Seq || ns.Sparse != sparse || fresh != nil && !s.encoders.For(ns).SameModels(models) {
			return ingest.ErrMoved
		}
		with := ingest.Encoded{Chunks: stored.Chunks}
		if fresh != nil {
			if same, err := precedingUnchanged(ctx, tx, pinned, []*pendingMemory{fresh}); err != nil || !same {
				return cmp.Or(err, ingest.ErrMoved)
			}
			with = *fresh.encoded
		}
		d := s.document(after, with, before.ID, ident.From(ctx).KeyID, now)
		d.MetadataOnly, d.Document.ContentKey = fresh == nil, after.key.Hash
		d.Document.UpdatedAt = notBefore(now, stored.UpdatedAt)
		if toRelink, err = restoreOwnVectors(ctx, tx, pinned, []string{before.ID}); err != nil {
			return err
		}
		toRelink = append(toRelink, before.ID)
		if err := tx.Put(ctx, pinned, now, []port.DocumentWrite{d}); err != nil {
			return err
		}
		next, err := tx.Neighbors(ctx, pinned,
			[]port.Position{{Container: d.Document.Container, CreatedAt: d.Document.CreatedAt, ID: before.ID}})
		if err != nil {
			return err
		}
		if next[0].After != nil {
			toRelink = append(toRelink, next[0].After.ID)
		}
		out = Kept{Document: d.Document, ChunkCount: len(with.Chunks)}
		if fresh == nil {
			return nil
		}
		link := port.ContextLink{ID: before.ID}
		if fresh.preceding != nil {
			link.Context, link.Own = fresh.preceding.id, fresh.own
		}
		return tx.PutContextLinks(ctx, pinned, []port.ContextLink{link})
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		return Kept{}, nil, err
	}
	return out, toRelink, err
}

// Which says which memories of one end user are meant.
type Which struct {
	EndUserID     string
	Container     string         // "": any
	Filter        *filter.Filter // of metadata and, by filter.ContainerKey, containers; nil: any
	After, Before *int64         // exclusive bounds of the time of creation, in Unix milliseconds; nil: none
}

// has reports whether a memory, read with its metadata, is meant.
func (w *Which) has(d Kept) (bool, error) {
	at := d.CreatedAt.UnixMilli()
	if w.Container != "" && d.Container != w.Container || w.After != nil && at <= *w.After || w.Before != nil && at >= *w.Before {
		return false, nil
	}
	if w.Filter == nil {
		return true, nil
	}
	return matches(w.Filter, d)
}

func matches(f *filter.Filter, d Kept) (bool, error) {
	m, err := filter.ParseMetadata("metadata", d.Metadata)
	if err != nil {
		return false, err
	}
	if d.Container != "" {
		if m == nil {
			m = filter.Metadata{}
		}
		m[filter.ContainerKey] = d.Container
	}
	return f.Match(m), nil
}

// walkBatch is how many memories a walk reads at once.
const walkBatch = 500

// walk gives every memory that is meant, newest first, without its text, until each says to
// stop.
func (s *Service) walk(ctx context.Context, r reader, p port.Partition, w Which, each func(Kept) error) error {
	l := port.DocumentList{Order: port.ByCreated, Container: w.Container, Limit: walkBatch}
	if w.Filter != nil {
		l.Parts = port.PartMetadata
	}
	for {
		list, err := r.ListDocuments(ctx, p, l)
		if err != nil {
			return err
		}
		for _, d := range list {
			ok, err := w.has(d)
			if ok && err == nil {
				err = each(d)
			}
			if err != nil {
				return err
			}
		}
		if len(list) < walkBatch {
			return nil
		}
		l.AfterID, l.AfterCreated = list[len(list)-1].ID, list[len(list)-1].CreatedAt
	}
}

// Count is how many memories are meant, and those of them from skip on, at most limit, newest
// first, with text and metadata. It reads the heads of all memories of the end user.
func (s *Service) Count(ctx context.Context, w Which, skip, limit int) (total int, page []Kept, err error) {
	p := partition(ctx, w.EndUserID)
	err = s.store.View(ctx, func(r snapshot) error {
		if _, ok, err := s.readPartition(ctx, r, p); !ok || err != nil {
			return err
		}
		var ids []string
		if err := s.walk(ctx, r, p, w, func(d Kept) error {
			if total >= skip && len(ids) < limit {
				ids = append(ids, d.ID)
			}
			total++
			return nil
		}); err != nil || len(ids) == 0 {
			return err
		}
		var err error
		page, err = r.Documents(ctx, p, ids, port.PartText|port.PartMetadata)
		return err
	})
	return total, page, err
}

// deleteBatch is how many memories one transaction of DeleteAll removes.
const deleteBatch = 100

// DeleteAll removes the memories that are meant when it is called, and answers how many it
// removed. One that its source owns fails the call before anything is deleted.
func (s *Service) DeleteAll(ctx context.Context, w Which) (int, error) {
	p := partition(ctx, w.EndUserID)
	var ids []string
	err := s.store.View(ctx, func(r snapshot) error {
		if _, ok, err := s.readPartition(ctx, r, p); !ok || err != nil {
			return err
		}
		return s.walk(ctx, r, p, w, func(d Kept) error {
			if err := RefuseOwned(d, d.ID, "tombstone it there"); err != nil {
				return err
			}
			ids = append(ids, d.ID)
			return nil
		})
	})
	if err != nil {
		return 0, err
	}
	deleted := 0
	for len(ids) > 0 {
		n := min(deleteBatch, len(ids))
		out, toRelink, err := s.delete(ctx, p, ids[:n])
		if err != nil {
			return deleted, err
		}
		s.relink(ctx, p, toRelink)
		deleted, ids = deleted+out.Deleted, ids[n:]
	}
	return deleted, nil
}

// User is what the roster says of one end user of the caller's integration; known is false where it has nobody
// of that id, or somebody who is being erased.
func (s *Service) User(ctx context.Context, id string) (u port.EndUser, known bool, err error) {
	who := ident.From(ctx)
	err = s.store.View(ctx, func(r snapshot) error {
		list, err := r.EndUsers(ctx, who.Org, port.EndUserList{Integration: who.Integration, Prefix: id, Limit: 1})
		if known = err == nil && len(list) > 0 && list[0].ID == id && list[0].Erasing.IsZero(); known {
			u = list[0]
		}
		return err
	})
	return u, known, err
}

// Users counts the end users of the caller's integration who are not being erased.
func (s *Service) Users(ctx context.Context) (n int64, err error) {
	who := ident.From(ctx)
	err = s.store.View(ctx, func(r snapshot) (err error) {
		n, err = r.CountEndUsers(ctx, who.Org, who.Integration)
		return err
	})
	return n, err
}

// Roster reads a page of the end users of the caller's integration, by id, after one; "": from
// the start. Those who are being erased are left out, so that a page may be shorter than limit;
// next is the id to go on after, "" at the end.
func (s *Service) Roster(ctx context.Context, after string, limit int) (page []port.EndUser, next string, err error) {
	who := ident.From(ctx)
	err = s.store.View(ctx, func(r snapshot) error {
		list, err := r.EndUsers(ctx, who.Org, port.EndUserList{
			Integration:      who.Integration,
			AfterID:          after,
			AfterIntegration: who.Integration,
			Limit:            limit,
		})
		if err != nil {
			return err
		}
		if len(list) == limit {
			next = list[len(list)-1].ID
		}
		for _, u := range list {
			if u.Erasing.IsZero() {
				page = append(page, u)
			}
		}
		return nil
	})
	return page, next, err
}
