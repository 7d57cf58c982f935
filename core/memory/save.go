package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/constraint"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/ingest/chunk"
	"github.com/mnemehq/mneme/core/port"
)

// Save is the body of POST /api/v1/memories.
type Save struct {
	IdempotencyKey *string `header:"Idempotency-Key" json:"-" pattern:"^[!-~]{1,255}$" rule:"must be 1-255 visible ASCII characters" example:"import-2026-01-02-17" doc:"makes the call safe to repeat: for 24 hours the same call answers the same"`
	EndUserID      string  `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Item

	text text
}

// Validate parses the memory.
func (in *Save) Validate() (err error) {
	in.text, err = in.Item.parse()
	return err
}

// EndUser is for keys limited to one end user.
func (in *Save) EndUser() string { return in.EndUserID }

// Batch is the body of POST /api/v1/memories/batch.
type Batch struct {
	IdempotencyKey *string     `header:"Idempotency-Key" json:"-" pattern:"^[!-~]{1,255}$" rule:"must be 1-255 visible ASCII characters" example:"import-2026-01-02-17" doc:"makes the call safe to repeat: for 24 hours the same call answers the same"`
	EndUserID      string      `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	Memories       []BatchItem `json:"memories" maxDecoded:"1000" minItems:"1" maxItems:"100" doc:"memories to save, of at most 1 MiB of content together"`
}

// BatchItem is an Item whose mistakes become its own result instead of refusing the
// batch.
type BatchItem struct {
	Content      *string         `json:"content,omitempty" example:"I am allergic to peanuts." doc:"at most 65536 bytes of UTF-8, not white space alone; an item without it fails"`
	ContainerTag Tag             `json:"containerTag,omitzero" fault:"invalid_container_tag" doc:"keeps memories apart within an end user; 1-128 characters of A-Z a-z 0-9 . _ : -, else the item fails"`
	Metadata     json.RawMessage `json:"metadata,omitempty" doc:"comes back with results; as of a single save, else the item fails"`
	OccurredAt   *string         `json:"occurredAt,omitempty" doc:"RFC 3339, else the item fails; what created_at shows, in place of the time of saving"`
}

// Validate checks the size of all items together; what is wrong with one of them
// is that item's result.
func (in *Batch) Validate() error {
	sum := 0
	for _, m := range in.Memories {
		if m.Content != nil {
			sum += len(*m.Content)
		}
	}
	if sum > MaxBatchBytes {
		return fault.Field(fault.PayloadTooLarge, "memories",
			"hold %d bytes of content; at most %d (1 MiB) are allowed", sum, MaxBatchBytes)
	}
	return nil
}

// EndUser is for keys limited to one end user.
func (in *Batch) EndUser() string { return in.EndUserID }

// Units counts the items against the write rate.
func (in *Batch) Units() int { return len(in.Memories) }

// Ref names a memory.
type Ref struct {
	ID string `json:"id" doc:"id of the memory"`
}

// Saved is the outcome of one memory.
type Saved struct {
	Success bool   `json:"success" doc:"whether it was saved"`
	Memory  *Ref   `json:"memory,omitempty" doc:"the stored memory; absent for a failed item"`
	Deduped bool   `json:"deduped" doc:"the content was there already, in this container"`
	Created bool   `json:"created" doc:"a new memory was created"`
	Error   string `json:"error,omitempty" doc:"code and reason of a failed item"`
}

// SavedOne answers a single save.
type SavedOne struct {
	Saved
	replayed bool
}

// Headers tell a repeated call apart.
func (s SavedOne) Headers() map[string]string { return replayedHeader(s.replayed) }

// SavedBatch answers a batch, one result for each item in input order.
type SavedBatch struct {
	Success bool    `json:"success" doc:"every item was saved"`
	Results []Saved `json:"results" doc:"one for each memory, in the order of the call"`

	replayed bool
}

// Headers tell a repeated call apart.
func (s SavedBatch) Headers() map[string]string { return replayedHeader(s.replayed) }

func replayedHeader(replayed bool) map[string]string {
	if !replayed {
		return nil
	}
	return map[string]string{"Idempotent-Replayed": "true"}
}

// Save stores one memory and answers once it is durable and searchable.
func (s *Service) Save(ctx context.Context, in Save) (SavedOne, error) {
	members := in.Item.members()
	members["endUserId"] = in.EndUserID
	once, err := newIdempotency(in.IdempotencyKey, "save", members)
	if err != nil {
		return SavedOne{}, err
	}
	out, replayed, err := s.save(ctx, partition(ctx, in.EndUserID), []saveItem{{text: in.text}}, once)
	if err != nil {
		return SavedOne{}, err
	}
	return SavedOne{out[0], replayed}, nil
}

// Batch stores up to 100 memories in one transaction.
func (s *Service) Batch(ctx context.Context, in Batch) (SavedBatch, error) {
	items, list := make([]saveItem, len(in.Memories)), make([]any, len(in.Memories))
	for i := range in.Memories {
		item := Item(in.Memories[i])
		if items[i].err = constraint.Check(&item); items[i].err == nil {
			items[i].text, items[i].err = item.parse()
		}
		list[i] = item.members()
	}
	once, err := newIdempotency(in.IdempotencyKey, "batch", map[string]any{"endUserId": in.EndUserID, "memories": list})
	if err != nil {
		return SavedBatch{}, err
	}
	results, replayed, err := s.save(ctx, partition(ctx, in.EndUserID), items, once)
	if err != nil {
		return SavedBatch{}, err
	}
	out := SavedBatch{Success: true, Results: results, replayed: replayed}
	for _, r := range results {
		out.Success = out.Success && r.Success
	}
	return out, nil
}

// saveItem is an item of a save; err says why it is refused.
type saveItem struct {
	text
	err error
}

// idempotency is an Idempotency-Key with the hash of the request that it came with.
type idempotency struct {
	key  string // "": none
	hash [32]byte
}

func newIdempotency(key *string, operation string, members map[string]any) (o idempotency, err error) {
	if key != nil {
		o.key = *key
		o.hash, err = requestHash(operation, members)
	}
	return o, err
}

// findReply finds the answer that the same call was given before. expired reports an
// answer under the same key that is too old to be used.
func (s *Service) findReply(ctx context.Context, r reader, o idempotency) (results []Saved, expired bool, err error) {
	if o.key == "" {
		return nil, false, nil
	}
	who := ident.From(ctx)
	stored, err := r.IdempotentReply(ctx, who.Org, who.Integration, o.key)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case s.clock().Sub(stored.CreatedAt) >= replaysKept:
		return nil, true, nil
	case stored.RequestHash != o.hash:
		f := fault.New(fault.IdempotencyConflict, "this Idempotency-Key was used with another request in the last 24 hours")
		f.Details = map[string]any{"field": "Idempotency-Key", "reason": "was used with another request"}
		return nil, false, f
	}
	if err := json.Unmarshal(stored.Answer, &results); err != nil {
		return nil, false, fmt.Errorf("stored answer: %w", err)
	}
	return results, false, nil
}

func (s *Service) save(ctx context.Context, p port.Partition, items []saveItem,
	o idempotency) (out []Saved, replayed bool, err error) {
	out, err = ingest.Retry(ctx, func() (out []Saved, err error) {
		out, replayed, err = s.trySave(ctx, p, items, o)
		return out, err
	})
	return out, replayed, err
}

func (s *Service) trySave(ctx context.Context, p port.Partition, items []saveItem, o idempotency) ([]Saved, bool, error) {
	var keys []port.ContentKey
	for _, it := range items {
		if it.err == nil {
			keys = append(keys, it.key)
		}
	}
	now := s.now()
	var ns port.PartitionRow
	var answer []Saved
	var fresh []*pendingMemory // what is to be written, by item
	var followers []string
	err := s.store.View(ctx, func(r snapshot) (err error) {
		var exists bool
		if ns, exists, err = s.readForWrite(ctx, r, p); err != nil {
			return err
		}
		if answer, _, err = s.findReply(ctx, r, o); answer != nil || err != nil {
			return err
		}
		var known map[port.ContentKey]string
		if exists && len(keys) > 0 {
			if known, err = r.MemoriesByContent(ctx, p, keys); err != nil {
				return err
			}
		}
		seen := map[port.ContentKey]bool{}
		for _, it := range items {
			if it.err == nil && known[it.key] == "" && !seen[it.key] {
				seen[it.key] = true
				fresh = append(fresh, &pendingMemory{text: it.text, created: creationTime(it.occurred, now)})
			}
		}
		if len(fresh) > 0 {
			err = s.checkModels(ns)
		}
		if err == nil {
			followers, err = findPrecedingTurns(ctx, r, p, exists, fresh)
		}
		return err
	})
	if answer != nil || err != nil {
		return answer, answer != nil, err
	}
	if err := checkQuota(ctx, ns, len(fresh)); err != nil {
		return nil, false, err
	}
	models := s.encoders.For(ns)
	if err := s.encode(ctx, models, ns.Sparse, fresh); err != nil {
		return nil, false, err
	}
	out, replayed, err := s.commitSave(ctx, p, models, ns.Sparse, items, keys, fresh, o, now)
	if err == nil && !replayed {
		s.relink(ctx, p, followers)
	}
	return out, replayed, err
}

// encode computes the vectors of pending memories, blended with the turns before them.
func (s *Service) encode(ctx context.Context, models *ingest.Encoder, sparse bool, list []*pendingMemory) error {
	if len(list) == 0 {
		return nil
	}
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = n.content
	}
	encoded, err := models.Encode(ctx, chunk.Untitled(texts...), sparse, make([]ingest.Reuse, len(texts)))
	if err != nil {
		return err
	}
	for i, n := range list {
		n.encoded = &encoded[i]
	}
	return blendVectors(ctx, models, list)
}

func (s *Service) commitSave(ctx context.Context, p port.Partition, models *ingest.Encoder, sparse bool, items []saveItem,
	keys []port.ContentKey,
	list []*pendingMemory, o idempotency, now time.Time) (out []Saved, replayed bool, err error) {
	who := ident.From(ctx)
	fresh := make(map[port.ContentKey]*pendingMemory, len(list))
	for _, n := range list {
		fresh[n.key] = n
	}
	leave := s.work.enter(p)
	defer leave()
	err = s.changes.Write(ctx, ingest.CauseWrite, func(tx *ingest.Tx) error {
		out, replayed = make([]Saved, len(items)), false
		ns, exists, err := s.readForWrite(ctx, tx, p)
		if err != nil {
			return err
		}
		stored, expired, err := s.findReply(ctx, tx, o)
		if stored != nil || err != nil {
			out, replayed = stored, true
			return err
		}
		if ns.Sparse != sparse || len(list) > 0 && !s.encoders.For(ns).SameModels(models) {
			return ingest.ErrMoved // it has been erased and written again since, or reindexed
		}
		known := map[port.ContentKey]string{}
		if exists && len(keys) > 0 {
			if known, err = tx.MemoriesByContent(ctx, p, keys); err != nil {
				return err
			}
		}
		if same, err := precedingStands(ctx, tx, p, exists, list); err != nil || !same {
			return cmp.Or(err, ingest.ErrMoved)
		}
		var writes []port.DocumentWrite
		var links []port.ContextLink
		here := map[port.ContentKey]string{} // written by this call
		for i, it := range items {
			switch id, old := known[it.key]; {
			case it.err != nil:
				out[i].Error = itemError(it.err)
				continue
			case old:
				out[i] = Saved{Success: true, Memory: &Ref{id}, Deduped: true}
				continue
			case here[it.key] != "":
				out[i] = Saved{Success: true, Memory: &Ref{here[it.key]}, Deduped: true}
				continue
			case fresh[it.key] == nil:
				return ingest.ErrMoved // the memory that it duplicated is deleted, so it must be embedded
			}
			n := fresh[it.key]
			id, err := newID("mem_")
			if err != nil {
				return err
			}
			d := s.document(it.text, *n.encoded, id, who.KeyID, now)
			d.Document.ContentKey = it.key.Hash
			writes = append(writes, d)
			here[it.key] = d.Document.ID
			out[i] = Saved{Success: true, Memory: &Ref{d.Document.ID}, Created: true}
		}
		for key, id := range here {
			n := fresh[key]
			if n.preceding == nil {
				continue
			}
			l := port.ContextLink{ID: id, Context: n.preceding.id, Own: n.own}
			if l.Context == "" {
				l.Context = cmp.Or(here[n.preceding.key], known[n.preceding.key])
			}
			links = append(links, l)
		}
		if err := checkQuota(ctx, ns, len(writes)); err != nil {
			return err
		}
		if !exists && len(writes) == 0 {
			return nil // nothing to store: do not create the end user
		}
		pinned, err := s.ensurePartition(ctx, tx, p, ns, exists)
		if err != nil {
			return err
		}
		if err := tx.Put(ctx, pinned, now, writes); err != nil {
			return err
		}
		if err := tx.PutContextLinks(ctx, pinned, links); err != nil {
			return err
		}
		return s.storeReply(ctx, tx, o, expired, p.Name(), out)
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		return nil, false, err
	}
	return out, replayed, err
}

// storeReply stores the answer to an Idempotency-Key in the transaction of the write.
func (s *Service) storeReply(ctx context.Context, tx *ingest.Tx, o idempotency, expired bool, endUser string, out []Saved) error {
	if o.key == "" {
		return nil
	}
	if expired {
		if err := tx.DeleteIdempotentReplies(ctx, s.clock().Add(-replaysKept+time.Millisecond)); err != nil {
			return err
		}
	}
	who := ident.From(ctx)
	answer, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	return tx.PutIdempotentReply(ctx, who.Org, port.IdempotentReply{
		Integration: who.Integration,
		Key:         o.key,
		EndUser:     endUser,
		RequestHash: o.hash,
		Answer:      answer,
		CreatedAt:   s.now(),
	})
}

// document makes the document that stores a memory.
func (s *Service) document(t text, e ingest.Encoded, id, keyID string, now time.Time) port.DocumentWrite {
	return port.DocumentWrite{Vectors: e.Vectors, Document: port.Document{
		ID:           id,
		Text:         t.content,
		Metadata:     t.metadata.JSON(),
		TextHash:     sha256.Sum256([]byte(t.content)),
		MetadataHash: t.metadata.Hash(),
		Chunks:       e.Chunks,
		Origin:       port.Origin{Kind: "api", KeyID: keyID},
		CreatedAt:    creationTime(t.occurred, now),
		UpdatedAt:    now,
		Container:    t.container,
	}}
}

// itemError is "code: field reason", the error of one item of a batch.
func itemError(err error) string {
	f := fault.From(err)
	reason := strings.Replace(f.Message, ": ", " ", 1)
	return string(f.Code) + ": " + reason
}
