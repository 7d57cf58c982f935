package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// The operations and outcomes of a receipt (docs/contract.md#mem-receipts).
const (
	opUpsert    = "upsert"
	opTombstone = "tombstone"

	outcomeCreated    = "created"
	outcomeUpdated    = "updated"
	outcomeUnchanged  = "unchanged"
	outcomeRestored   = "restored"
	outcomeTombstoned = "tombstoned"
)

// Upsert is the body of PUT /api/v1/memories/{externalId}.
type Upsert struct {
	EndUserID    string          `json:"endUserId" fault:"invalid_end_user_id" schema:"EndUserID" doc:"the end user"`
	ExternalID   string          `path:"externalId" json:"-" fault:"invalid_external_id" schema:"ExternalID" doc:"id of the record in the source system"`
	Source       string          `json:"source" fault:"invalid_source" schema:"SourceName" doc:"name of the source system"`
	Version      *int64          `json:"version" fault:"invalid_version" minimum:"1" maximum:"9007199254740991" doc:"chosen by the source system; only higher ones are applied"`
	Content      *string         `json:"content" schema:"Content" maxBytes:"65536" doc:"at most 65536 bytes of UTF-8, not white space alone"`
	ContainerTag Tag             `json:"containerTag,omitzero" fault:"invalid_container_tag" schema:"ContainerTag" doc:"keeps memories apart within an end user"`
	Metadata     json.RawMessage `json:"metadata,omitempty" schema:"Metadata" doc:"comes back with results"`
	OccurredAt   *string         `json:"occurredAt" format:"date-time" doc:"the source's time of this version"`
	Grant        *string         `header:"X-Mneme-Grant" json:"-" pattern:"^[!-~]{1,255}$" rule:"must be 1-255 visible ASCII characters" example:"grt_0ak9l5e2p4t7b1qf8m3v6s0d2c" doc:"id of the grant by which the source writes; an integration may require one"`

	text text
}

// Validate parses the version's memory.
func (in *Upsert) Validate() (err error) {
	in.text, err = (&Item{
		Content:      in.Content,
		ContainerTag: in.ContainerTag,
		Metadata:     in.Metadata,
		OccurredAt:   in.OccurredAt,
	}).parse()
	return err
}

// EndUser is for keys limited to one end user.
func (in *Upsert) EndUser() string { return in.EndUserID }

// Tombstone are the parameters of DELETE /api/v1/memories/{externalId}.
type Tombstone struct {
	ExternalID string  `path:"externalId" json:"-" fault:"invalid_external_id" schema:"ExternalID" doc:"id of the record in the source system"`
	EndUserID  string  `query:"endUserId" json:"-" fault:"invalid_end_user_id" schema:"EndUserID"  required:"true" doc:"the end user"`
	Source     string  `query:"source" json:"-" fault:"invalid_source" schema:"SourceName"  required:"true" doc:"name of the source system"`
	Version    *int64  `query:"version" json:"-" fault:"invalid_version" minimum:"1" maximum:"9007199254740991" required:"true" doc:"chosen by the source system; only higher ones are applied"`
	OccurredAt *string `query:"occurredAt" json:"-" format:"date-time" doc:"the source's time of the end; default: the time of the call"`
	Grant      *string `header:"X-Mneme-Grant" json:"-" pattern:"^[!-~]{1,255}$" rule:"must be 1-255 visible ASCII characters" example:"grt_0ak9l5e2p4t7b1qf8m3v6s0d2c" doc:"id of the grant by which the source writes; an integration may require one"`

	occurred time.Time
}

// Validate parses the time.
func (in *Tombstone) Validate() (err error) {
	in.occurred, err = checkTime("occurredAt", in.OccurredAt)
	return err
}

// EndUser is for keys limited to one end user.
func (in *Tombstone) EndUser() string { return in.EndUserID }

// GetRecord are the parameters of GET /api/v1/memories/{externalId}.
type GetRecord struct {
	ExternalID string `path:"externalId" json:"-" fault:"invalid_external_id" schema:"ExternalID" doc:"id of the record in the source system"`
	EndUserID  string `query:"endUserId" json:"-" fault:"invalid_end_user_id" schema:"EndUserID"  required:"true" doc:"the end user"`
	Source     string `query:"source" json:"-" fault:"invalid_source" schema:"SourceName"  required:"true" doc:"name of the source system"`
}

// EndUser is for keys limited to one end user.
func (in *GetRecord) EndUser() string { return in.EndUserID }

// Record is a source-owned memory's record as it is shown.
type Record struct {
	Source      string    `json:"source" schema:"SourceName"`
	ExternalID  string    `json:"externalId" schema:"ExternalID"`
	Version     int64     `json:"version" minimum:"1" maximum:"9007199254740991"`
	Status      string    `json:"status" enum:"active,tombstoned" doc:"active or tombstoned"`
	OccurredAt  time.Time `json:"occurredAt" doc:"the source's time of the version"`
	UpdatedAt   time.Time `json:"updatedAt" doc:"when it was applied"`
	DocumentID  string    `json:"documentId" doc:"id of the memory, the same over all versions"`
	ContentHash string    `json:"contentHash" pattern:"^(sha256:[0-9a-f]{64})?$" doc:"SHA-256 of the content; empty when tombstoned"`
}

// Receipt says how a version was applied.
type Receipt struct {
	Source      string    `json:"source" schema:"SourceName"`
	ExternalID  string    `json:"externalId" schema:"ExternalID"`
	Version     int64     `json:"version" minimum:"1" maximum:"9007199254740991"`
	Operation   string    `json:"operation" enum:"upsert,tombstone" doc:"upsert or tombstone"`
	RequestHash string    `json:"requestHash" pattern:"^sha256:[0-9a-f]{64}$" doc:"sha256 of the canonical JSON (RFC 8785) of operation and all request fields"`
	Outcome     string    `json:"outcome" enum:"created,updated,unchanged,restored,tombstoned" doc:"created, updated, unchanged, restored or tombstoned"`
	OccurredAt  time.Time `json:"occurredAt" doc:"the source's time of the version"`
	AppliedAt   time.Time `json:"appliedAt" doc:"when it was applied"`
	DocumentID  string    `json:"documentId" doc:"id of the memory"`
	ContentHash string    `json:"contentHash" pattern:"^(sha256:[0-9a-f]{64})?$" doc:"SHA-256 of the content; empty when tombstoned"`
}

// ShowRecord gives a record the form of the interface.
func ShowRecord(r port.Record) Record {
	return Record{r.Source, r.ExternalID, r.Version, string(r.Status), r.OccurredAt.UTC(), r.UpdatedAt.UTC(),
		r.DocumentID, r.ContentHash}
}

// ShowReceipt gives a receipt the form of the interface.
func ShowReceipt(r port.Receipt) Receipt {
	return Receipt{r.Source, r.ExternalID, r.Version, r.Operation, r.RequestHash, r.Outcome, r.OccurredAt.UTC(),
		r.AppliedAt.UTC(), r.DocumentID, r.ContentHash}
}

// Applied answers an upsert, a tombstone and a read.
type Applied struct {
	Success bool    `json:"success"`
	Record  Record  `json:"record"`
	Receipt Receipt `json:"receipt"`

	replayed bool
}

// Headers tell a repeated request apart.
func (a Applied) Headers() map[string]string { return replayedHeader(a.replayed) }

// Get reads a record, active or tombstoned, with its latest receipt.
func (s *Service) Get(ctx context.Context, in GetRecord) (Applied, error) {
	p := partition(ctx, in.EndUserID)
	absent := fault.New(fault.MemoryNotFound, "source %s has no memory %s of this end user", in.Source, in.ExternalID)
	var out Applied
	err := s.store.View(ctx, func(r snapshot) error {
		if _, ok, err := s.readPartition(ctx, r, p); err != nil {
			return err
		} else if !ok {
			return absent
		}
		rec, receipt, ok, err := latestReceipt(ctx, r, p, in.Source, in.ExternalID)
		if err == nil && !ok {
			return absent
		}
		out = Applied{Success: true, Record: ShowRecord(rec), Receipt: ShowReceipt(receipt)}
		return err
	})
	return out, err
}

// latestReceipt reads a record and its last receipt; ok is false when there is none.
func latestReceipt(ctx context.Context, r reader, p port.Partition,
	source, externalID string) (rec port.Record, receipt port.Receipt, ok bool, err error) {
	rec, err = r.Record(ctx, p, source, externalID)
	if fault.CodeOf(err) == fault.MemoryNotFound || fault.IsPartitionNotFound(err) {
		return rec, receipt, false, nil
	}
	if err == nil {
		receipt, err = r.Receipt(ctx, p, source, externalID, 0)
	}
	return rec, receipt, err == nil, err
}

// event is a version that a source sends.
type event struct {
	operation, source, externalID string
	version                       int64
	occurred                      time.Time // zero: not given
	text                          text      // of an upsert
	hash                          string    // "sha256:..." of the request
	contentHash                   string    // "" for a tombstone
	metadataHash                  [32]byte  // with the container tag
	grant                         string    // by which the source writes; "": none was given
}

// Upsert applies a version of a source-owned memory (docs/contract.md#mem-records).
func (s *Service) Upsert(ctx context.Context, in Upsert) (Applied, error) {
	members := (&Item{
		Content:      in.Content,
		ContainerTag: in.ContainerTag,
		Metadata:     in.Metadata,
		OccurredAt:   in.OccurredAt,
	}).members()
	members["endUserId"], members["externalId"], members["source"], members["version"] = in.EndUserID, in.ExternalID,
		in.Source, *in.Version
	hash, err := requestHash(opUpsert, members)
	if err != nil {
		return Applied{}, err
	}
	content := sha256.Sum256([]byte(in.text.content))
	meta := in.text.metadata.Hash()
	return s.apply(ctx, partition(ctx, in.EndUserID), event{
		operation:    opUpsert,
		source:       in.Source,
		externalID:   in.ExternalID,
		version:      *in.Version,
		occurred:     in.text.occurred,
		text:         in.text,
		hash:         hashText(hash),
		contentHash:  hashText(content),
		metadataHash: sha256.Sum256(append(meta[:], in.text.container...)),
		grant:        idOf(in.Grant),
	})
}

// Tombstone removes a source-owned memory and keeps its record.
func (s *Service) Tombstone(ctx context.Context, in Tombstone) (Applied, error) {
	members := map[string]any{"endUserId": in.EndUserID, "externalId": in.ExternalID, "source": in.Source, "version": *in.Version}
	if in.OccurredAt != nil {
		members["occurredAt"] = *in.OccurredAt
	}
	hash, err := requestHash(opTombstone, members)
	if err != nil {
		return Applied{}, err
	}
	return s.apply(ctx, partition(ctx, in.EndUserID), event{
		operation:  opTombstone,
		source:     in.Source,
		externalID: in.ExternalID,
		version:    *in.Version,
		occurred:   in.occurred,
		hash:       hashText(hash),
		grant:      idOf(in.Grant),
	})
}

func hashText(hash [32]byte) string { return "sha256:" + hex.EncodeToString(hash[:]) }

// plan is what an event does to the stored state it was made for.
type plan struct {
	outcome string
	replay  bool // it was applied before
	// encode says that the content has to be encoded, rewrite that the stored
	// memory stays as it is but for metadata, container or time.
	encode, rewrite bool
}

// decide implements the table of docs/contract.md#mem-versions; have is false without
// a record.
func (e *event) decide(have bool, rec port.Record, receipt port.Receipt) (plan, error) {
	switch {
	case !have && e.operation == opTombstone:
		return plan{outcome: outcomeTombstoned}, nil
	case !have:
		return plan{outcome: outcomeCreated, encode: true}, nil
	case e.version < rec.Version:
		f := fault.New(fault.StaleVersion, "version %d of %s is older than the stored version %d", e.version,
			e.externalID, rec.Version)
		f.Details = map[string]any{"currentVersion": rec.Version, "status": string(rec.Status)}
		return plan{}, f
	case e.version == rec.Version && receipt.RequestHash == e.hash:
		return plan{outcome: receipt.Outcome, replay: true}, nil
	case e.version == rec.Version:
		f := fault.New(fault.VersionConflict, "version %d of %s was written with another request", e.version, e.externalID)
		f.Details = map[string]any{"currentVersion": rec.Version, "status": string(rec.Status)}
		return plan{}, f
	case e.operation == opTombstone:
		return plan{outcome: outcomeTombstoned}, nil
	case rec.Status == port.RecordTombstoned:
		return plan{outcome: outcomeRestored, encode: true}, nil
	case rec.ContentHash != e.contentHash:
		return plan{outcome: outcomeUpdated, encode: true}, nil
	case rec.MetadataHash != e.metadataHash:
		return plan{outcome: outcomeUpdated, rewrite: true}, nil
	}
	// A memory's time is the source's time of its latest version.
	return plan{outcome: outcomeUnchanged, rewrite: !rec.OccurredAt.Equal(e.occurred)}, nil
}

// adds is how many memories an outcome adds to the end user's.
func (p plan) adds() int {
	if p.outcome == outcomeCreated || p.outcome == outcomeRestored {
		return 1
	}
	return 0
}

func (s *Service) apply(ctx context.Context, p port.Partition, e event) (Applied, error) {
	return ingest.Retry(ctx, func() (Applied, error) { return s.tryApply(ctx, p, e) })
}

func (s *Service) tryApply(ctx context.Context, p port.Partition, e event) (Applied, error) {
	var ns port.PartitionRow
	var todo plan
	var out Applied
	var fresh *pendingMemory
	now := s.now()
	err := s.store.View(ctx, func(r snapshot) (err error) {
		var exists bool
		if ns, exists, err = s.readForEvent(ctx, r, p, e); err != nil {
			return err
		}
		var rec port.Record
		if out, rec, todo, err = planEvent(ctx, r, p, e); err != nil || !todo.encode {
			return err
		}
		if err := s.checkModels(ns); err != nil {
			return err
		}
		fresh = &pendingMemory{text: e.text, id: rec.DocumentID, created: creationTime(e.text.occurred, now)}
		_, err = findPrecedingTurns(ctx, r, p, exists, []*pendingMemory{fresh})
		return err
	})
	if err != nil || todo.replay {
		return out, err
	}
	if err := checkQuota(ctx, ns, todo.adds()); err != nil {
		return Applied{}, err
	}
	models := s.encoders.For(ns)
	if fresh != nil {
		if err := s.encode(ctx, models, ns.Sparse, []*pendingMemory{fresh}); err != nil {
			return Applied{}, err
		}
	}
	out, toRelink, err := s.commitEvent(ctx, p, models, ns.Sparse, e, fresh, now)
	if err == nil {
		s.relink(ctx, p, toRelink)
	}
	return out, err
}

// readForEvent is readForWrite for an event. What no grant allows is refused first: a
// source whose grants an erasure has revoked need not wait for its end.
func (s *Service) readForEvent(ctx context.Context, r reader, p port.Partition, e event) (ns port.PartitionRow, exists bool,
	err error) {
	ns, exists, err = s.readForWrite(ctx, r, p)
	if denied := checkGrant(ctx, r, p, e.source, e.grant); denied != nil {
		return ns, exists, denied
	}
	return ns, exists, err
}

// planEvent decides, on the stored state, what an event does; out is the answer to a
// replayed one.
func planEvent(ctx context.Context, r reader, p port.Partition, e event) (out Applied, rec port.Record, todo plan, err error) {
	rec, receipt, have, err := latestReceipt(ctx, r, p, e.source, e.externalID)
	if err != nil {
		return out, rec, todo, err
	}
	if todo, err = e.decide(have, rec, receipt); err == nil && todo.replay {
		out = Applied{Success: true, Record: ShowRecord(rec), Receipt: ShowReceipt(receipt), replayed: true}
	}
	return out, rec, todo, err
}

// commitEvent applies an event; fresh is its memory where that was encoded, and
// toRelink are the neighboring turns whose preceding turn has changed.
func (s *Service) commitEvent(ctx context.Context, p port.Partition, models *ingest.Encoder, sparse bool, e event,
	fresh *pendingMemory, now time.Time) (out Applied, toRelink []string, err error) {
	who := ident.From(ctx)
	why := ingest.CauseWrite
	if e.operation == opTombstone {
		why = ingest.CauseDelete
	}
	leave := s.work.enter(p)
	defer leave()
	err = s.changes.Write(ctx, why, func(tx *ingest.Tx) error {
		toRelink = nil
		ns, exists, err := s.readForEvent(ctx, tx, p, e)
		if err != nil {
			return err
		}
		if ns.Sparse != sparse || fresh != nil && !s.encoders.For(ns).SameModels(models) {
			return ingest.ErrMoved
		}
		rec, receipt, have, err := latestReceipt(ctx, tx, p, e.source, e.externalID)
		if err != nil {
			return err
		}
		todo, err := e.decide(have, rec, receipt)
		if err != nil {
			return err
		}
		if todo.replay {
			out = Applied{Success: true, Record: ShowRecord(rec), Receipt: ShowReceipt(receipt), replayed: true}
			return nil
		}
		if todo.encode && (fresh == nil || fresh.id != rec.DocumentID) {
			return ingest.ErrMoved // another version has been applied since
		}
		if err := checkQuota(ctx, ns, todo.adds()); err != nil {
			return err
		}
		pinned, err := s.ensurePartition(ctx, tx, p, ns, exists)
		if err != nil {
			return err
		}
		if !have {
			if rec.DocumentID, err = newID("mem_"); err != nil {
				return err
			}
		}
		switch {
		case todo.encode || todo.rewrite:
			toRelink, err = s.putOwned(ctx, tx, pinned, e, rec.DocumentID, who.KeyID, todo, fresh, now)
		case e.operation == opTombstone && have && rec.Status == port.RecordActive:
			if toRelink, err = restoreOwnVectors(ctx, tx, pinned, []string{rec.DocumentID}); err == nil {
				_, err = tx.Delete(ctx, pinned, now, []string{rec.DocumentID})
			}
		}
		if err != nil {
			return err
		}
		rec = port.Record{
			Source:       e.source,
			ExternalID:   e.externalID,
			Version:      e.version,
			Status:       port.RecordActive,
			OccurredAt:   e.occurred,
			UpdatedAt:    notBefore(now, rec.UpdatedAt),
			DocumentID:   rec.DocumentID,
			ContentHash:  e.contentHash,
			MetadataHash: e.metadataHash,
		}
		if e.operation == opTombstone {
			rec.Status = port.RecordTombstoned
		}
		if rec.OccurredAt.IsZero() {
			rec.OccurredAt = now
		}
		receipt = port.Receipt{
			Source:      e.source,
			ExternalID:  e.externalID,
			Version:     e.version,
			Operation:   e.operation,
			RequestHash: e.hash,
			Outcome:     todo.outcome,
			OccurredAt:  rec.OccurredAt,
			AppliedAt:   rec.UpdatedAt,
			DocumentID:  rec.DocumentID,
			ContentHash: e.contentHash,
		}
		out = Applied{Success: true, Record: ShowRecord(rec), Receipt: ShowReceipt(receipt)}
		return tx.PutRecord(ctx, pinned, rec, receipt)
	})
	if err != nil && !errors.As(err, new(ingest.NotSearchable)) {
		return Applied{}, nil, err
	}
	return out, toRelink, err
}

// putOwned writes the memory of an event and returns the neighboring turns whose
// preceding turn has changed.
func (s *Service) putOwned(ctx context.Context, tx *ingest.Tx, pinned port.Partition, e event, id, keyID string,
	todo plan, fresh *pendingMemory, now time.Time) ([]string, error) {
	var with ingest.Encoded
	stored, err := tx.Documents(ctx, pinned, []string{id}, port.PartChunks)
	if err != nil {
		return nil, err
	}
	var links []port.ContextLink
	if todo.encode {
		if same, err := precedingUnchanged(ctx, tx, pinned, []*pendingMemory{fresh}); err != nil || !same {
			return nil, cmp.Or(err, ingest.ErrMoved)
		}
		with = *fresh.encoded
		links = []port.ContextLink{{ID: id}}
		if fresh.preceding != nil {
			links[0].Context, links[0].Own = fresh.preceding.id, fresh.own
		}
	} else {
		if len(stored) == 0 {
			return nil, fault.New(fault.Internal, "memory %s of source %s is missing", id, e.source)
		}
		with.Chunks = stored[0].Chunks
	}
	d := s.document(e.text, with, id, keyID, now)
	d.MetadataOnly = !todo.encode
	d.Document.Source, d.Document.ExternalID = e.source, e.externalID
	toRelink := []string{id} // its time, and so its place, may have changed
	if len(stored) > 0 {
		d.Document.UpdatedAt = notBefore(now, stored[0].UpdatedAt)
		released, err := restoreOwnVectors(ctx, tx, pinned, []string{id})
		if err != nil {
			return nil, err
		}
		toRelink = append(toRelink, released...)
	}
	if err := tx.Put(ctx, pinned, now, []port.DocumentWrite{d}); err != nil {
		return nil, err
	}
	after, err := tx.Neighbors(ctx, pinned,
		[]port.Position{{Container: d.Document.Container, CreatedAt: d.Document.CreatedAt, ID: id}})
	if err != nil {
		return nil, err
	}
	if next := after[0].After; next != nil {
		toRelink = append(toRelink, next.ID)
	}
	return toRelink, tx.PutContextLinks(ctx, pinned, links)
}

// notBefore keeps times from going back with the clock.
func notBefore(now, stored time.Time) time.Time {
	if now.Before(stored) {
		return stored
	}
	return now
}
