package event

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/port"
)

// Record says which events are kept.
type Record string

// What may be recorded.
const (
	RecordAll        Record = "all"
	RecordSubscribed Record = "subscribed" // of organizations with webhooks, or whose events somebody has read lately
	RecordNone       Record = "off"
)

// subscribedFor is how long an organization counts as subscribed after its events were read.
const subscribedFor = 30 * 24 * time.Hour

// RecorderSettings configure a Recorder. Store is required.
type RecorderSettings struct {
	Store  port.DocumentStore
	Record Record           // "": RecordAll
	Now    func() time.Time // nil: time.Now
}

// Recorder is a store that records events in the transactions of what they tell of. It has the
// optional abilities of the store behind.
type Recorder struct {
	port.DocumentStore
	record Record
	now    func() time.Time
	wake   chan struct{}
}

// NewRecorder makes a Recorder.
func NewRecorder(s RecorderSettings) *Recorder {
	if s.Record == "" {
		s.Record = RecordAll
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Recorder{DocumentStore: s.Store, record: s.Record, now: s.Now, wake: make(chan struct{}, 1)}
}

// Update implements port.Store.
func (r *Recorder) Update(ctx context.Context, fn func(port.Writer) error) error {
	return r.UpdateDocuments(ctx, func(w port.DocumentWriter) error { return fn(w) })
}

// UpdateDocuments implements port.DocumentStore.
func (r *Recorder) UpdateDocuments(ctx context.Context, fn func(port.DocumentWriter) error) error {
	if r.record == RecordNone {
		return r.DocumentStore.UpdateDocuments(ctx, fn)
	}
	return r.update(ctx, func(t *recording) error { return fn(t) })
}

// tell records what has happened without a change of the store, to organizations that stay.
func (r *Recorder) tell(ctx context.Context, all []happening) error {
	return r.update(ctx, func(t *recording) error {
		for _, h := range all {
			o, err := t.Organization(ctx, h.org)
			switch {
			case fault.CodeOf(err) == fault.NotFound || err == nil && !o.Deleting.IsZero():
			case err != nil:
				return err
			default:
				t.note(h)
			}
		}
		return nil
	})
}

func (r *Recorder) update(ctx context.Context, fn func(*recording) error) error {
	appended := false
	err := r.DocumentStore.UpdateDocuments(ctx, func(w port.DocumentWriter) error {
		appended = false
		tx := &recording{DocumentWriter: w, request: ident.RequestID(ctx), now: r.now().UTC().Truncate(time.Microsecond)}
		if err := fn(tx); err != nil {
			return err
		}
		wanted, err := r.wanted(ctx, w, tx.happenings(), tx.now)
		if err != nil || len(wanted) == 0 {
			return err
		}
		events, err := tx.events(wanted)
		if err != nil {
			return err
		}
		appended = true
		return w.AppendEvents(ctx, events)
	})
	if err == nil && appended {
		r.Wake()
	}
	return err
}

// wanted are the happenings of organizations whose events are recorded.
func (r *Recorder) wanted(ctx context.Context, w port.EventReader, all []happening, now time.Time) ([]happening, error) {
	if r.record != RecordSubscribed {
		return all, nil
	}
	read := map[ident.Org]bool{}
	for _, h := range all {
		if _, known := read[h.org]; known {
			continue
		}
		at, webhooks, err := w.EventsRead(ctx, h.org)
		if err != nil {
			return nil, err
		}
		read[h.org] = webhooks || subscribed(at, now)
	}
	return slices.DeleteFunc(all, func(h happening) bool { return !read[h.org] }), nil
}

// subscribed reports whether events are recorded for who has read them at a time.
func subscribed(read, now time.Time) bool { return !read.IsZero() && now.Sub(read) <= subscribedFor }

// noteRead records that somebody reads the events of an organization. Those of which none
// were recorded for a time are told so.
func (r *Recorder) noteRead(ctx context.Context, w port.EventWriter, org ident.Org, now time.Time) error {
	if r.record == RecordSubscribed {
		at, _, err := w.EventsRead(ctx, org)
		if err != nil {
			return err
		}
		if !subscribed(at, now) {
			if err := w.BreakEvents(ctx, org); err != nil {
				return err
			}
		}
	}
	return w.NoteEventsRead(ctx, org, now)
}

// Wake has the publisher look for events.
func (r *Recorder) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Listeners hear of documents and memories, for ingest.NewLog.
func (r *Recorder) Listeners() []ingest.Listener {
	if r.record == RecordNone {
		return nil
	}
	return []ingest.Listener{Listener{}}
}

// Scrub is the optional ability of the store behind.
func (r *Recorder) Scrub(ctx context.Context) error {
	if s, ok := r.DocumentStore.(port.Scrubber); ok {
		return s.Scrub(ctx)
	}
	return nil
}

// Exclusive is the optional ability of the store behind.
func (r *Recorder) Exclusive() bool {
	x, ok := r.DocumentStore.(port.Exclusive)
	return ok && x.Exclusive()
}

// happening is an event on its way.
type happening struct {
	kind, entity, namespace, subject string
	org                              ident.Org
	data                             Data
}

// recording is a transaction that notes what has happened in it.
type recording struct {
	port.DocumentWriter

	request string // id of the call; "": there is none
	now     time.Time
	// Namespaces that were made count 1, those that were deleted -1: they come into being
	// before anything happens in them, and go after.
	made  map[port.Partition]int
	noted []happening
}

func spaceOf(p port.Partition) port.Partition { return p.At(0).Unshadowed() }

// lifecycle notes that a namespace came or went. One that goes and comes back in the same
// transaction was only made again.
func (t *recording) lifecycle(p port.Partition, by int) {
	if p.Space() != port.SpaceDocuments || p.IsShadow() {
		return
	}
	if t.made == nil {
		t.made = map[port.Partition]int{}
	}
	t.made[spaceOf(p)] += by
}

func (t *recording) note(h happening) { t.noted = append(t.noted, h) }

// CreatePartition implements port.PartitionWriter.
func (t *recording) CreatePartition(ctx context.Context, p port.Partition, n port.PartitionRow) (port.PartitionRow, error) {
	n, err := t.DocumentWriter.CreatePartition(ctx, p, n)
	if err == nil {
		t.lifecycle(p, 1)
	}
	return n, err
}

// DeletePartition implements port.GenerationWriter.
func (t *recording) DeletePartition(ctx context.Context, p port.Partition) (bool, error) {
	existed, err := t.DocumentWriter.DeletePartition(ctx, p)
	if err == nil && existed {
		t.lifecycle(p, -1)
	}
	return existed, err
}

// DeleteDocuments implements port.DocumentWriter.
func (t *recording) DeleteDocuments(ctx context.Context, p port.Partition, at time.Time,
	ids []string) (deleted int, seq uint64, gone bool, err error) {
	deleted, seq, gone, err = t.DocumentWriter.DeleteDocuments(ctx, p, at, ids)
	if err == nil && gone {
		t.lifecycle(p, -1)
	}
	return deleted, seq, gone, err
}

func (t *recording) ofNamespace(kind string, p port.Partition) happening {
	return happening{kind: kind, org: p.Org(), entity: "namespace/" + p.Name(), namespace: p.Name(),
		data: NamespaceData{string(p.Org()), p.Name(), t.request}}
}

// SwapPartition implements port.GenerationWriter.
func (t *recording) SwapPartition(ctx context.Context, p port.Partition) error {
	err := t.DocumentWriter.SwapPartition(ctx, p)
	if err == nil {
		t.note(t.ofNamespace(NamespaceReindexed, p))
	}
	return err
}

func ofKey(kind string, k port.Key) happening {
	h := happening{kind: kind, org: k.Org, entity: "key/" + k.ID, data: KeyData{OrganizationID: string(k.Org), KeyID: k.ID,
		Type: string(k.Kind), IntegrationID: maybe(k.Integration), CreatedBy: maybe(k.CreatedBy)}}
	if k.EndUser != "" {
		h.subject = port.EventSubject(port.Memories(k.Org, k.Integration, k.EndUser))
	}
	return h
}

func maybe(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// PutKey implements port.KeyWriter.
func (t *recording) PutKey(ctx context.Context, k port.Key) error {
	err := t.DocumentWriter.PutKey(ctx, k)
	if err == nil {
		t.note(ofKey(KeyCreated, k))
	}
	return err
}

// RevokeKey implements port.KeyWriter.
func (t *recording) RevokeKey(ctx context.Context, org ident.Org, id string, at time.Time) error {
	before, err := t.Key(ctx, org, id)
	if err == nil {
		err = t.DocumentWriter.RevokeKey(ctx, org, id, at)
	}
	if err == nil && before.RevokedAt.IsZero() {
		t.note(ofKey(KeyRevoked, before))
	}
	return err
}

// ExceedQuota implements port.UsageWriter.
func (t *recording) ExceedQuota(ctx context.Context, org ident.Org, name port.QuotaName, used int64, at time.Time) error {
	if err := t.DocumentWriter.ExceedQuota(ctx, org, name, used, at); err != nil || at.IsZero() {
		return err
	}
	qs, err := t.Quotas(ctx, org)
	for _, q := range qs {
		if q.Name == name {
			t.note(happening{kind: QuotaExceeded, org: org, entity: "quota/" + string(name),
				data: QuotaData{string(org), string(name), q.Limit, used}})
		}
	}
	return err
}

// PutWebhook implements port.WebhookWriter. It tells of a webhook that the server disables, not of
// one that a caller does.
func (t *recording) PutWebhook(ctx context.Context, row port.WebhookRow) error {
	if row.Enabled || row.Reason == "" {
		return t.DocumentWriter.PutWebhook(ctx, row)
	}
	before, err := t.Webhook(ctx, row.Org, row.ID)
	if err == nil {
		err = t.DocumentWriter.PutWebhook(ctx, row)
	}
	if err != nil || !before.Enabled {
		return err
	}
	d := WebhookData{OrganizationID: string(row.Org), WebhookID: row.ID, Reason: row.Reason}
	if since := before.Health.Since; !since.IsZero() {
		d.FailingSince = new(since.UTC())
	}
	t.note(happening{kind: WebhookDisabled, org: row.Org, entity: WebhookEntity(row.ID), data: d})
	return nil
}

// EndErasure implements port.DocumentWriter.
func (t *recording) EndErasure(ctx context.Context, p port.Partition) error {
	tally, err := t.ErasureTally(ctx, p)
	if err == nil {
		err = t.DocumentWriter.EndErasure(ctx, p)
	}
	if err == nil {
		// It has no subject: it is what stays.
		t.note(happening{kind: UserErased, org: p.Org(), entity: ofUser(p), data: UserData{OrganizationID: string(p.Org()),
			IntegrationID: p.Integration(), EndUserID: p.Name(), DeletedMemories: tally.Memories, DeletedVectors: tally.Vectors}})
	}
	return err
}

func ofUser(p port.Partition) string { return "user/" + port.EventSubject(p) }

// PutSource implements port.SourceWriter.
func (t *recording) PutSource(ctx context.Context, s port.SourceRow) error {
	before, err := t.Source(ctx, s.Org, s.ID)
	if err != nil && fault.CodeOf(err) != fault.SourceNotFound {
		return err
	}
	if err := t.DocumentWriter.PutSource(ctx, s); err != nil || before.State == s.State {
		return err
	}
	d := SourceData{OrganizationID: string(s.Org), SourceID: s.ID, Namespace: s.Namespace, State: string(s.State),
		Previous: maybe(string(before.State))}
	if s.Reason != nil {
		d.Reason = &s.Reason.Code
	}
	t.note(happening{kind: SourceStateChanged, org: s.Org, entity: "source/" + s.ID, namespace: s.Namespace, data: d})
	return nil
}

// PutSourceRun implements port.SourceWriter.
func (t *recording) PutSourceRun(ctx context.Context, r port.SourceRun) error {
	ended := r.Status.Ended()
	if ended {
		before, err := t.SourceRun(ctx, r.Org, r.Source, r.ID)
		if err != nil && fault.CodeOf(err) != fault.NotFound {
			return err
		}
		ended = err != nil || !before.Status.Ended()
	}
	if err := t.DocumentWriter.PutSourceRun(ctx, r); err != nil || !ended {
		return err
	}
	source, err := t.Source(ctx, r.Org, r.Source)
	if err != nil {
		return err
	}
	d := RunData{OrganizationID: string(r.Org), SourceID: r.Source, Namespace: source.Namespace, RunID: r.ID,
		Status: string(r.Status), Counts: RunCounts(r.Counts)}
	if r.Error != nil {
		d.Error = &r.Error.Code
	}
	if !r.StartedAt.IsZero() {
		d.StartedAt = new(r.StartedAt.UTC())
	}
	note := func(kind string) {
		t.note(happening{kind: kind, org: r.Org, entity: "source/" + r.Source, namespace: source.Namespace, data: d})
	}
	if r.Status == port.RunFailed || r.Status == port.RunInterrupted {
		note(RunFailed)
	} else {
		note(RunCompleted)
	}
	if r.Counts.Withheld > 0 {
		note(DeletionsWithheld)
	}
	if r.Error != nil && r.Error.Code == string(port.SourceCredentials) {
		note(CredentialsFailed)
	}
	return nil
}

// happenings are what has happened, in order.
func (t *recording) happenings() []happening {
	var out []happening
	for p, by := range t.made {
		if by > 0 {
			out = append(out, t.ofNamespace(NamespaceCreated, p))
		}
	}
	out = append(out, t.noted...)
	for p, by := range t.made {
		if by < 0 {
			out = append(out, t.ofNamespace(NamespaceDeleted, p))
		}
	}
	return out
}

// events are happenings as they are stored.
func (t *recording) events(all []happening) ([]port.Event, error) {
	out := make([]port.Event, len(all))
	for i, h := range all {
		body, err := encode(h.kind, t.now, h.data)
		if err != nil {
			return nil, fmt.Errorf("encode the event %s: %w", h.kind, err)
		}
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make the id of an event: %w", err)
		}
		out[i] = port.Event{ID: "evt_" + id.String(), Org: h.org, Kind: h.kind, Entity: h.entity, Namespace: h.namespace,
			Subject: h.subject, Body: body, CreatedAt: t.now}
	}
	return out, nil
}

// Listener notes what changes of documents and memories mean. The log that it listens to is
// over a Recorder.
type Listener struct{}

// Changed implements ingest.Listener.
func (Listener) Changed(ctx context.Context, w ingest.Writer, changes []ingest.DocumentChange) error {
	t, ok := w.(*recording)
	if !ok {
		return fault.Wrap(fault.Internal, "record events", fmt.Errorf("the log is not over a Recorder: %T", w),
			"an internal error occurred")
	}
	var of *batch
	for _, c := range changes {
		if !c.Cause.UserMade() || c.Action == ingest.Erased {
			continue
		}
		if c.Partition.Space() == port.SpaceMemories {
			if err := t.memory(ctx, w, c); err != nil {
				return err
			}
			continue
		}
		if of == nil || !of.takes(c) {
			of.note(t)
			of = &batch{change: c}
		}
		if err := of.add(c.ID); err != nil {
			return err
		}
	}
	of.note(t)
	return nil
}

// maxIDs and maxIDBytes bound an event: receivers are promised bodies under 20 KB.
const (
	maxIDs     = 1000
	maxIDBytes = 16 << 10
)

// batch is documents that one event tells of.
type batch struct {
	change ingest.DocumentChange // the first
	ids    []string
	bytes  int
}

func (b *batch) takes(c ingest.DocumentChange) bool {
	return b.change.Partition == c.Partition && b.change.Seq == c.Seq && b.change.SourceID == c.SourceID &&
		(b.change.Action == ingest.Deleted) == (c.Action == ingest.Deleted) &&
		len(b.ids) < maxIDs && b.bytes < maxIDBytes
}

func (b *batch) add(id string) error {
	encoded, err := json.Marshal(id)
	if err != nil {
		return err
	}
	b.ids, b.bytes = append(b.ids, id), b.bytes+len(encoded)+1
	return nil
}

func (b *batch) note(t *recording) {
	if b == nil {
		return
	}
	p := b.change.Partition
	h := t.ofNamespace(DocumentsWritten, p)
	if b.change.Action == ingest.Deleted {
		h.kind = DocumentsDeleted
	}
	h.data = DocumentsData{OrganizationID: string(p.Org()), Namespace: p.Name(), IDs: b.ids, Count: len(b.ids),
		Change: b.change.Seq, SourceID: maybe(b.change.SourceID), RequestID: t.request}
	t.note(h)
}

// memory notes the change of a memory. What a source did to one is in its receipt.
func (t *recording) memory(ctx context.Context, r port.MemoryReader, c ingest.DocumentChange) error {
	p := c.Partition
	d := MemoryData{OrganizationID: string(p.Org()), IntegrationID: p.Integration(), EndUserID: p.Name(), MemoryID: c.ID,
		Change: c.Seq, RequestID: t.request}
	kind := map[ingest.Action]string{ingest.Created: MemoryCreated, ingest.Updated: MemoryUpdated,
		ingest.Deleted: MemoryDeleted}[c.Action]
	if c.Source != "" {
		receipt, err := r.Receipt(ctx, p, c.Source, c.ExternalID, 0)
		if err != nil {
			return fmt.Errorf("read the receipt of a memory: %w", err)
		}
		d.Source, d.ExternalID, d.Version = &c.Source, &c.ExternalID, &receipt.Version
		switch {
		case c.Action == ingest.Deleted:
			kind = MemoryTombstoned
		case receipt.Outcome == "restored":
			kind = MemoryRestored
		}
	}
	t.note(happening{kind: kind, org: p.Org(), entity: ofUser(p), subject: port.EventSubject(p), data: d})
	return nil
}

var (
	_ port.DocumentStore = (*Recorder)(nil)
	_ port.Scrubber      = (*Recorder)(nil)
	_ port.Exclusive     = (*Recorder)(nil)
)
