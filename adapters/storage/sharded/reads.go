package sharded

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// What follows goes to the database of the organization that it names.

// Events implements port.EventReader.
func (r *reader) Events(ctx context.Context, org ident.Org, l port.EventList) (found []port.Event, last uint64, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return found, last, err
	}
	return db.Events(ctx, org, l)
}

// Event implements port.EventReader.
func (r *reader) Event(ctx context.Context, org ident.Org, id string) (out port.Event, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Event(ctx, org, id)
}

// EventStream implements port.EventReader.
func (r *reader) EventStream(ctx context.Context, org ident.Org) (out port.EventStream, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.EventStream(ctx, org)
}

// EventsRead implements port.EventReader.
func (r *reader) EventsRead(ctx context.Context, org ident.Org) (at time.Time, webhooks bool, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return at, webhooks, err
	}
	return db.EventsRead(ctx, org)
}

// Grant implements port.GrantReader.
func (r *reader) Grant(ctx context.Context, org ident.Org, integration, id string) (out port.Grant, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Grant(ctx, org, integration, id)
}

// Grants implements port.GrantReader.
func (r *reader) Grants(ctx context.Context, p port.Partition) (out []port.Grant, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Grants(ctx, p)
}

// JobRequest implements port.JobReader.
func (r *reader) JobRequest(ctx context.Context, org ident.Org, id string) (out port.JobRequest, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.JobRequest(ctx, org, id)
}

// Member implements port.MemberReader.
func (r *reader) Member(ctx context.Context, org ident.Org, id string) (out port.Member, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Member(ctx, org, id)
}

// MemberByEmail implements port.MemberReader.
func (r *reader) MemberByEmail(ctx context.Context, org ident.Org, email string) (out port.Member, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.MemberByEmail(ctx, org, email)
}

// Members implements port.MemberReader.
func (r *reader) Members(ctx context.Context, org ident.Org, after string, limit int) (out []port.Member, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Members(ctx, org, after, limit)
}

// Integration implements port.IntegrationReader.
func (r *reader) Integration(ctx context.Context, org ident.Org, id string) (out port.Integration, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Integration(ctx, org, id)
}

// IntegrationByName implements port.IntegrationReader.
func (r *reader) IntegrationByName(ctx context.Context, org ident.Org, name string) (out port.Integration, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.IntegrationByName(ctx, org, name)
}

// Integrations implements port.IntegrationReader.
func (r *reader) Integrations(ctx context.Context, org ident.Org) (out []port.Integration, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Integrations(ctx, org)
}

// EndUsers implements port.MemoryReader.
func (r *reader) EndUsers(ctx context.Context, org ident.Org, l port.EndUserList) (out []port.EndUser, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.EndUsers(ctx, org, l)
}

// CountEndUsers implements port.MemoryReader.
func (r *reader) CountEndUsers(ctx context.Context, org ident.Org, integration string) (out int64, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.CountEndUsers(ctx, org, integration)
}

// MemoriesByContent implements port.MemoryReader.
func (r *reader) MemoriesByContent(ctx context.Context, p port.Partition,
	keys []port.ContentKey) (out map[port.ContentKey]string, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.MemoriesByContent(ctx, p, keys)
}

// Record implements port.MemoryReader.
func (r *reader) Record(ctx context.Context, p port.Partition, source, externalID string) (out port.Record, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Record(ctx, p, source, externalID)
}

// Receipt implements port.MemoryReader.
func (r *reader) Receipt(ctx context.Context, p port.Partition, source, externalID string,
	version int64) (out port.Receipt, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Receipt(ctx, p, source, externalID, version)
}

// Records implements port.MemoryReader.
func (r *reader) Records(ctx context.Context, p port.Partition, afterSource, afterExternalID string,
	limit int) (out []port.Record, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Records(ctx, p, afterSource, afterExternalID, limit)
}

// Receipts implements port.MemoryReader.
func (r *reader) Receipts(ctx context.Context, p port.Partition, source, externalID string, after int64,
	limit int) (out []port.Receipt, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Receipts(ctx, p, source, externalID, after, limit)
}

// Neighbors implements port.MemoryReader.
func (r *reader) Neighbors(ctx context.Context, p port.Partition, at []port.Position) (out []port.Neighbors, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Neighbors(ctx, p, at)
}

// ContextLinks implements port.MemoryReader.
func (r *reader) ContextLinks(ctx context.Context, p port.Partition, ids []string, own bool) (out []port.ContextLink, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.ContextLinks(ctx, p, ids, own)
}

// IdempotentReply implements port.MemoryReader.
func (r *reader) IdempotentReply(ctx context.Context, org ident.Org, integration,
	key string) (out port.IdempotentReply, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.IdempotentReply(ctx, org, integration, key)
}

// ErasureTally implements port.MemoryReader.
func (r *reader) ErasureTally(ctx context.Context, p port.Partition) (out port.Erased, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.ErasureTally(ctx, p)
}

// Watermarks implements port.ReplicaReader.
func (r *reader) Watermarks(ctx context.Context, p port.Partition) (out map[string]uint64, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Watermarks(ctx, p)
}

// Unacknowledged implements port.ReplicaReader.
func (r *reader) Unacknowledged(ctx context.Context, p port.Partition) (out []port.Replica, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Unacknowledged(ctx, p)
}

// SavedQueries implements port.SavedQueryReader.
func (r *reader) SavedQueries(ctx context.Context, p port.Partition) (out []port.SavedQuery, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.SavedQueries(ctx, p)
}

// DataKey implements port.DataKeyReader.
func (r *reader) DataKey(ctx context.Context, org ident.Org) (out port.DataKey, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.DataKey(ctx, org)
}

// Source implements port.SourceReader.
func (r *reader) Source(ctx context.Context, org ident.Org, id string) (out port.SourceRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Source(ctx, org, id)
}

// SourceSecrets implements port.SourceReader.
func (r *reader) SourceSecrets(ctx context.Context, org ident.Org, source string) (out map[string][]byte, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.SourceSecrets(ctx, org, source)
}

// SourceItems implements port.SourceReader.
func (r *reader) SourceItems(ctx context.Context, org ident.Org, source string,
	keys [][32]byte) (out map[[32]byte]port.SourceItemRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.SourceItems(ctx, org, source, keys)
}

// ListSourceItems implements port.SourceReader.
func (r *reader) ListSourceItems(ctx context.Context, org ident.Org, source string,
	l port.SourceItemList) (out []port.SourceItemRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.ListSourceItems(ctx, org, source, l)
}

// SourceRun implements port.SourceReader.
func (r *reader) SourceRun(ctx context.Context, org ident.Org, source, id string) (out port.SourceRun, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.SourceRun(ctx, org, source, id)
}

// SourceRuns implements port.SourceReader.
func (r *reader) SourceRuns(ctx context.Context, org ident.Org, source string,
	l port.SourceRunList) (out []port.SourceRun, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.SourceRuns(ctx, org, source, l)
}

// SourceRunItems implements port.SourceReader.
func (r *reader) SourceRunItems(ctx context.Context, org ident.Org, run string, from int64, status string,
	limit int) (out []port.SourceRunItem, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.SourceRunItems(ctx, org, run, from, status, limit)
}

// Key implements port.KeyReader.
func (r *reader) Key(ctx context.Context, org ident.Org, id string) (out port.Key, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Key(ctx, org, id)
}

// Keys implements port.KeyReader.
func (r *reader) Keys(ctx context.Context, org ident.Org, l port.KeyList) (out []port.Key, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Keys(ctx, org, l)
}

// Partition implements port.PartitionReader.
func (r *reader) Partition(ctx context.Context, p port.Partition) (out port.PartitionRow, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Partition(ctx, p)
}

// Namespaces implements port.PartitionReader.
func (r *reader) Namespaces(ctx context.Context, org ident.Org, prefix, after string,
	limit int) (out []port.PartitionRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Namespaces(ctx, org, prefix, after, limit)
}

// Documents implements port.DocumentReader.
func (r *reader) Documents(ctx context.Context, p port.Partition, ids []string,
	parts port.Part) (out []port.DocumentHead, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Documents(ctx, p, ids, parts)
}

// ListDocuments implements port.DocumentReader.
func (r *reader) ListDocuments(ctx context.Context, p port.Partition, l port.DocumentList) (out []port.DocumentHead, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.ListDocuments(ctx, p, l)
}

// Vectors implements port.DocumentReader.
func (r *reader) Vectors(ctx context.Context, p port.Partition, ids []string) (out map[string]port.Vectors, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Vectors(ctx, p, ids)
}

// Changes implements port.DocumentReader.
func (r *reader) Changes(ctx context.Context, p port.Partition, after uint64, limit int) (out []port.Change, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Changes(ctx, p, after, limit)
}

// Partitions implements port.PartitionLister.
func (r *reader) Partitions(ctx context.Context, org ident.Org, after port.Partition,
	limit int) (out []port.PartitionEntry, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Partitions(ctx, org, after, limit)
}

// IdempotentReplies implements port.PartitionLister.
func (r *reader) IdempotentReplies(ctx context.Context, p port.Partition, after string,
	limit int) (out []port.IdempotentReply, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.IdempotentReplies(ctx, p, after, limit)
}

// Holdings implements port.UsageReader.
func (r *reader) Holdings(ctx context.Context, org ident.Org) (out port.Holdings, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Holdings(ctx, org)
}

// Quotas implements port.UsageReader.
func (r *reader) Quotas(ctx context.Context, org ident.Org) (out []port.Quota, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Quotas(ctx, org)
}

// VectorStore implements port.VectorStoreReader.
func (r *reader) VectorStore(ctx context.Context, org ident.Org, id string) (out port.VectorStore, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.VectorStore(ctx, org, id)
}

// VectorStores implements port.VectorStoreReader.
func (r *reader) VectorStores(ctx context.Context, org ident.Org, l port.VectorStoreList) (out []port.VectorStoreRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.VectorStores(ctx, org, l)
}

// KeptFile implements port.VectorStoreReader.
func (r *reader) KeptFile(ctx context.Context, org ident.Org, id string) (out port.KeptFile, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.KeptFile(ctx, org, id)
}

// KeptFiles implements port.VectorStoreReader.
func (r *reader) KeptFiles(ctx context.Context, org ident.Org, l port.KeptFileList) (out []port.KeptFile, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.KeptFiles(ctx, org, l)
}

// KeptParts implements port.VectorStoreReader.
func (r *reader) KeptParts(ctx context.Context, org ident.Org, file string) (out []port.KeptPart, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.KeptParts(ctx, org, file)
}

// Attachments implements port.VectorStoreReader.
func (r *reader) Attachments(ctx context.Context, p port.Partition, l port.AttachmentList) (out []port.Attachment, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Attachments(ctx, p, l)
}

// Attachment implements port.VectorStoreReader.
func (r *reader) Attachment(ctx context.Context, p port.Partition, file string) (out port.Attachment, err error) {
	db, err := r.reach(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.Attachment(ctx, p, file)
}

// AttachedTo implements port.VectorStoreReader.
func (r *reader) AttachedTo(ctx context.Context, org ident.Org, file string) (out []string, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.AttachedTo(ctx, org, file)
}

// Webhook implements port.WebhookReader.
func (r *reader) Webhook(ctx context.Context, org ident.Org, id string) (out port.WebhookRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Webhook(ctx, org, id)
}

// Webhooks implements port.WebhookReader.
func (r *reader) Webhooks(ctx context.Context, org ident.Org) (out []port.WebhookRow, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Webhooks(ctx, org)
}

// WebhookSecrets implements port.WebhookReader.
func (r *reader) WebhookSecrets(ctx context.Context, org ident.Org, webhook string) (out []port.WebhookSecret, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.WebhookSecrets(ctx, org, webhook)
}

// DueDeliveries implements port.WebhookReader.
func (r *reader) DueDeliveries(ctx context.Context, org ident.Org, webhook string, by time.Time,
	limit int) (out []port.Delivery, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.DueDeliveries(ctx, org, webhook, by, limit)
}

// Delivery implements port.WebhookReader.
func (r *reader) Delivery(ctx context.Context, org ident.Org, webhook, id string) (out port.Delivery, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Delivery(ctx, org, webhook, id)
}

// Deliveries implements port.WebhookReader.
func (r *reader) Deliveries(ctx context.Context, org ident.Org, webhook string,
	l port.DeliveryList) (out []port.Delivery, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Deliveries(ctx, org, webhook, l)
}

// DeliveriesOf implements port.WebhookReader.
func (r *reader) DeliveriesOf(ctx context.Context, org ident.Org, event string, limit int) (out []port.Delivery, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.DeliveriesOf(ctx, org, event, limit)
}

// Undelivered implements port.WebhookReader.
func (r *reader) Undelivered(ctx context.Context, org ident.Org, l port.UndeliveredList) (out []port.Event, err error) {
	db, err := r.from(ctx, org)
	if err != nil {
		return out, err
	}
	return db.Undelivered(ctx, org, l)
}
