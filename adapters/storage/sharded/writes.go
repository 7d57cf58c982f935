package sharded

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// What follows goes to the database of the organization that it names.

// NoteEventsRead implements port.EventWriter.
func (w *writer) NoteEventsRead(ctx context.Context, org ident.Org, at time.Time) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.NoteEventsRead(ctx, org, at)
}

// BreakEvents implements port.EventWriter.
func (w *writer) BreakEvents(ctx context.Context, org ident.Org) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.BreakEvents(ctx, org)
}

// PutGrant implements port.GrantWriter.
func (w *writer) PutGrant(ctx context.Context, p port.Partition, g port.Grant) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.PutGrant(ctx, p, g)
}

// DeleteGrants implements port.GrantWriter.
func (w *writer) DeleteGrants(ctx context.Context, p port.Partition, ids []string) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.DeleteGrants(ctx, p, ids)
}

// CreateJob implements port.JobWriter.
func (w *writer) CreateJob(ctx context.Context, j port.Job, request port.JobRequest) (err error) {
	db, err := w.to(ctx, j.Org)
	if err != nil {
		return err
	}
	return db.CreateJob(ctx, j, request)
}

// ChangeJob implements port.JobWriter.
func (w *writer) ChangeJob(ctx context.Context, j port.Job) (err error) {
	db, err := w.to(ctx, j.Org)
	if err != nil {
		return err
	}
	return db.ChangeJob(ctx, j)
}

// ChangeMember implements port.MemberWriter.
func (w *writer) ChangeMember(ctx context.Context, m port.Member) (err error) {
	db, err := w.to(ctx, m.Org)
	if err != nil {
		return err
	}
	return db.ChangeMember(ctx, m)
}

// RemoveMember implements port.MemberWriter.
func (w *writer) RemoveMember(ctx context.Context, org ident.Org, id string) (out bool, err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return out, err
	}
	return db.RemoveMember(ctx, org, id)
}

// PutInvitation implements port.MemberWriter.
func (w *writer) PutInvitation(ctx context.Context, i port.Invitation) (err error) {
	db, err := w.to(ctx, i.Org)
	if err != nil {
		return err
	}
	return db.PutInvitation(ctx, i)
}

// DropInvitation implements port.MemberWriter.
func (w *writer) DropInvitation(ctx context.Context, org ident.Org, member string) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.DropInvitation(ctx, org, member)
}

// EndMemberSessions implements port.MemberWriter.
func (w *writer) EndMemberSessions(ctx context.Context, org ident.Org, id string, but [32]byte) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.EndMemberSessions(ctx, org, id, but)
}

// PutIntegration implements port.IntegrationWriter.
func (w *writer) PutIntegration(ctx context.Context, i port.Integration) (err error) {
	db, err := w.to(ctx, i.Org)
	if err != nil {
		return err
	}
	return db.PutIntegration(ctx, i)
}

// PutRecord implements port.MemoryWriter.
func (w *writer) PutRecord(ctx context.Context, p port.Partition, r port.Record, receipt port.Receipt) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.PutRecord(ctx, p, r, receipt)
}

// PutContextLinks implements port.MemoryWriter.
func (w *writer) PutContextLinks(ctx context.Context, p port.Partition, links []port.ContextLink) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.PutContextLinks(ctx, p, links)
}

// PutIdempotentReply implements port.MemoryWriter.
func (w *writer) PutIdempotentReply(ctx context.Context, org ident.Org, r port.IdempotentReply) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutIdempotentReply(ctx, org, r)
}

// BeginErasure implements port.ErasureWriter.
func (w *writer) BeginErasure(ctx context.Context, p port.Partition, at time.Time) (out port.Partition, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.BeginErasure(ctx, p, at)
}

// EraseMemories implements port.ErasureWriter.
func (w *writer) EraseMemories(ctx context.Context, p port.Partition, limit int) (more bool, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return more, err
	}
	return db.EraseMemories(ctx, p, limit)
}

// EraseGrant implements port.ErasureWriter.
func (w *writer) EraseGrant(ctx context.Context, p port.Partition, id string, answered bool) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.EraseGrant(ctx, p, id, answered)
}

// ErasePersonalKeys implements port.ErasureWriter.
func (w *writer) ErasePersonalKeys(ctx context.Context, p port.Partition) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.ErasePersonalKeys(ctx, p)
}

// PutOAuthGrant implements port.OAuthWriter.
func (w *writer) PutOAuthGrant(ctx context.Context, g port.OAuthGrant) (err error) {
	db, err := w.to(ctx, g.Org)
	if err != nil {
		return err
	}
	return db.PutOAuthGrant(ctx, g)
}

// AcknowledgeErasure implements port.ReplicaWriter.
func (w *writer) AcknowledgeErasure(ctx context.Context, p port.Partition, r port.Replica) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.AcknowledgeErasure(ctx, p, r)
}

// PutSavedQuery implements port.SavedQueryWriter.
func (w *writer) PutSavedQuery(ctx context.Context, p port.Partition, q port.SavedQuery) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.PutSavedQuery(ctx, p, q)
}

// RemoveSavedQuery implements port.SavedQueryWriter.
func (w *writer) RemoveSavedQuery(ctx context.Context, p port.Partition, name string) (out bool, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.RemoveSavedQuery(ctx, p, name)
}

// PutDataKey implements port.DataKeyWriter.
func (w *writer) PutDataKey(ctx context.Context, k port.DataKey) (err error) {
	db, err := w.to(ctx, k.Org)
	if err != nil {
		return err
	}
	return db.PutDataKey(ctx, k)
}

// RewrapDataKey implements port.DataKeyWriter.
func (w *writer) RewrapDataKey(ctx context.Context, k port.DataKey) (err error) {
	db, err := w.to(ctx, k.Org)
	if err != nil {
		return err
	}
	return db.RewrapDataKey(ctx, k)
}

// DeleteDataKey implements port.DataKeyWriter.
func (w *writer) DeleteDataKey(ctx context.Context, org ident.Org, id string) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.DeleteDataKey(ctx, org, id)
}

// PutSession implements port.SessionWriter.
func (w *writer) PutSession(ctx context.Context, s port.Session) (err error) {
	db, err := w.to(ctx, s.Org)
	if err != nil {
		return err
	}
	return db.PutSession(ctx, s)
}

// PutSignInLink implements port.SessionWriter.
func (w *writer) PutSignInLink(ctx context.Context, l port.SignInLink) (err error) {
	db, err := w.to(ctx, l.Org)
	if err != nil {
		return err
	}
	return db.PutSignInLink(ctx, l)
}

// PutSourceSecrets implements port.SourceWriter.
func (w *writer) PutSourceSecrets(ctx context.Context, org ident.Org, source string, sealed map[string][]byte) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutSourceSecrets(ctx, org, source, sealed)
}

// PutSourceItems implements port.SourceWriter.
func (w *writer) PutSourceItems(ctx context.Context, org ident.Org, source string, items []port.SourceItemRow) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutSourceItems(ctx, org, source, items)
}

// DeleteSourceItems implements port.SourceWriter.
func (w *writer) DeleteSourceItems(ctx context.Context, org ident.Org, source string, numbers []int64) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.DeleteSourceItems(ctx, org, source, numbers)
}

// PutSourceRunItems implements port.SourceWriter.
func (w *writer) PutSourceRunItems(ctx context.Context, org ident.Org, run string, items []port.SourceRunItem) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutSourceRunItems(ctx, org, run, items)
}

// TrimSourceRuns implements port.SourceWriter.
func (w *writer) TrimSourceRuns(ctx context.Context, org ident.Org, source string, before time.Time, keep,
	limit int) (more bool, err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return more, err
	}
	return db.TrimSourceRuns(ctx, org, source, before, keep, limit)
}

// DeleteSource implements port.SourceWriter.
func (w *writer) DeleteSource(ctx context.Context, org ident.Org, id string, limit int) (more bool, err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return more, err
	}
	return db.DeleteSource(ctx, org, id, limit)
}

// PutKey implements port.KeyWriter.
func (w *writer) PutKey(ctx context.Context, k port.Key) (err error) {
	db, err := w.to(ctx, k.Org)
	if err != nil {
		return err
	}
	return db.PutKey(ctx, k)
}

// ChangeKey implements port.KeyWriter.
func (w *writer) ChangeKey(ctx context.Context, org ident.Org, id string, c port.KeyChange) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.ChangeKey(ctx, org, id, c)
}

// RevokeKey implements port.KeyWriter.
func (w *writer) RevokeKey(ctx context.Context, org ident.Org, id string, at time.Time) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.RevokeKey(ctx, org, id, at)
}

// ExpireKey implements port.KeyWriter.
func (w *writer) ExpireKey(ctx context.Context, org ident.Org, id string, at time.Time) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.ExpireKey(ctx, org, id, at)
}

// CreatePartition implements port.PartitionWriter.
func (w *writer) CreatePartition(ctx context.Context, p port.Partition, n port.PartitionRow) (out port.PartitionRow, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.CreatePartition(ctx, p, n)
}

// PausePartition implements port.PartitionWriter.
func (w *writer) PausePartition(ctx context.Context, p port.Partition, until time.Time) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.PausePartition(ctx, p, until)
}

// SetModels implements port.PartitionWriter.
func (w *writer) SetModels(ctx context.Context, p port.Partition, n port.PartitionRow) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.SetModels(ctx, p, n)
}

// SwapPartition implements port.GenerationWriter.
func (w *writer) SwapPartition(ctx context.Context, p port.Partition) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.SwapPartition(ctx, p)
}

// DeletePartition implements port.GenerationWriter.
func (w *writer) DeletePartition(ctx context.Context, p port.Partition) (out bool, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.DeletePartition(ctx, p)
}

// PutDocuments implements port.DocumentWriter.
func (w *writer) PutDocuments(ctx context.Context, p port.Partition, at time.Time,
	docs []port.DocumentWrite) (out uint64, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.PutDocuments(ctx, p, at, docs)
}

// DeleteDocuments implements port.DocumentWriter.
func (w *writer) DeleteDocuments(ctx context.Context, p port.Partition, at time.Time, ids []string) (deleted int,
	seq uint64, gone bool, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return deleted, seq, gone, err
	}
	return db.DeleteDocuments(ctx, p, at, ids)
}

// EndErasure implements port.DocumentWriter.
func (w *writer) EndErasure(ctx context.Context, p port.Partition) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.EndErasure(ctx, p)
}

// TrimChanges implements port.ChangeWriter.
func (w *writer) TrimChanges(ctx context.Context, p port.Partition, upto uint64) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.TrimChanges(ctx, p, upto)
}

// PutQuota implements port.UsageWriter.
func (w *writer) PutQuota(ctx context.Context, org ident.Org, name port.QuotaName, limit int64) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutQuota(ctx, org, name, limit)
}

// ExceedQuota implements port.UsageWriter.
func (w *writer) ExceedQuota(ctx context.Context, org ident.Org, name port.QuotaName, used int64, at time.Time) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.ExceedQuota(ctx, org, name, used, at)
}

// PutVectorStore implements port.VectorStoreWriter.
func (w *writer) PutVectorStore(ctx context.Context, org ident.Org, v port.VectorStore) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutVectorStore(ctx, org, v)
}

// RemoveVectorStore implements port.VectorStoreWriter.
func (w *writer) RemoveVectorStore(ctx context.Context, org ident.Org, id string) (out bool, err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return out, err
	}
	return db.RemoveVectorStore(ctx, org, id)
}

// PutKeptFile implements port.VectorStoreWriter.
func (w *writer) PutKeptFile(ctx context.Context, org ident.Org, f port.KeptFile, parts []port.KeptPart) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.PutKeptFile(ctx, org, f, parts)
}

// RemoveKeptFile implements port.VectorStoreWriter.
func (w *writer) RemoveKeptFile(ctx context.Context, org ident.Org, id string) (out bool, err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return out, err
	}
	return db.RemoveKeptFile(ctx, org, id)
}

// PutAttachment implements port.VectorStoreWriter.
func (w *writer) PutAttachment(ctx context.Context, p port.Partition, a port.Attachment) (err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return err
	}
	return db.PutAttachment(ctx, p, a)
}

// RemoveAttachment implements port.VectorStoreWriter.
func (w *writer) RemoveAttachment(ctx context.Context, p port.Partition, file string) (out bool, err error) {
	db, err := w.hold(ctx, p.Org(), p)
	if err != nil {
		return out, err
	}
	return db.RemoveAttachment(ctx, p, file)
}

// NoteWebhookHealth implements port.WebhookWriter.
func (w *writer) NoteWebhookHealth(ctx context.Context, org ident.Org, id string, h port.WebhookHealth) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.NoteWebhookHealth(ctx, org, id, h)
}

// SetWebhookSecrets implements port.WebhookWriter.
func (w *writer) SetWebhookSecrets(ctx context.Context, org ident.Org, webhook string, secrets []port.WebhookSecret) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.SetWebhookSecrets(ctx, org, webhook, secrets)
}

// DeleteWebhook implements port.WebhookWriter.
func (w *writer) DeleteWebhook(ctx context.Context, org ident.Org, id string, limit int) (more bool, err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return more, err
	}
	return db.DeleteWebhook(ctx, org, id, limit)
}

// SettleDeliveries implements port.WebhookWriter.
func (w *writer) SettleDeliveries(ctx context.Context, org ident.Org, webhook string, deliveries []port.Delivery) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.SettleDeliveries(ctx, org, webhook, deliveries)
}

// DropDeliveries implements port.WebhookWriter.
func (w *writer) DropDeliveries(ctx context.Context, org ident.Org, webhook string, at time.Time) (err error) {
	db, err := w.to(ctx, org)
	if err != nil {
		return err
	}
	return db.DropDeliveries(ctx, org, webhook, at)
}
