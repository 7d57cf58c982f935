package bunsql

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

type organizationRow struct {
	bun.BaseModel `bun:"table:organizations,alias:o"`

	ID         string `bun:"id,pk"`
	Name       string `bun:"name"`
	Suspended  int64  `bun:"suspended"`
	CreatedAt  int64  `bun:"created_at"`
	DeletingAt int64  `bun:"deleting_at"`
}

func (r organizationRow) port() port.Organization {
	return port.Organization{ID: ident.Org(r.ID), Name: r.Name, Suspended: r.Suspended != 0, Deleting: instant(r.DeletingAt),
		CreatedAt: instant(r.CreatedAt)}
}

func (r *Reader) organization(ctx context.Context, where, value string) (port.Organization, error) {
	if err := r.check(ctx); err != nil {
		return port.Organization{}, err
	}
	var row organizationRow
	err := r.s.conn.NewSelect().Model(&row).Where(where, value).Scan(r.s.d.Context(ctx))
	if errors.Is(err, sql.ErrNoRows) {
		return port.Organization{}, fault.New(fault.NotFound, "organization %s does not exist", value)
	}
	if err != nil {
		return port.Organization{}, r.s.d.Fault("read organization", err)
	}
	return row.port(), nil
}

// Organization implements port.OrganizationReader.
func (r *Reader) Organization(ctx context.Context, id ident.Org) (port.Organization, error) {
	return r.organization(ctx, "id = ?", string(id))
}

// OrganizationByName implements port.OrganizationReader.
func (r *Reader) OrganizationByName(ctx context.Context, name string) (port.Organization, error) {
	return r.organization(ctx, "name = ?", name)
}

// Placements implements port.OrganizationReader.
func (r *Reader) Placements(ctx context.Context, _ []port.Organization) (map[ident.Org]string, error) {
	return nil, r.check(ctx)
}

// Organizations implements port.OrganizationReader.
func (r *Reader) Organizations(ctx context.Context) ([]port.Organization, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var rows []organizationRow
	if err := r.s.conn.NewSelect().Model(&rows).Order("name").Scan(r.s.d.Context(ctx)); err != nil {
		return nil, r.s.d.Fault("list organizations", err)
	}
	out := make([]port.Organization, len(rows))
	for i := range rows {
		out[i] = rows[i].port()
	}
	return out, nil
}

// PutOrganization implements port.OrganizationWriter.
func (w *Writer) PutOrganization(ctx context.Context, o port.Organization) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if o.Database != "" {
		return fault.Field(fault.InvalidRequest, "database", "is of no use: the store is one database")
	}
	row := organizationRow{ID: string(o.ID), Name: o.Name, Suspended: flag(o.Suspended), CreatedAt: micros(o.CreatedAt)}
	w.s.changes++
	_, err := w.s.conn.NewInsert().Model(&row).
		On("CONFLICT (id) DO UPDATE").Set("name = EXCLUDED.name").Set("suspended = EXCLUDED.suspended").
		Set("created_at = EXCLUDED.created_at").
		Exec(w.s.d.Context(ctx))
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "an organization named %s exists already", o.Name)
	}
	if err != nil {
		return w.fail(w.s.d.Fault("write organization", err))
	}
	return nil
}

// requireOrganization answers fault NotFound when the organization is absent.
func (w *Writer) requireOrganization(ctx context.Context, id ident.Org) error {
	_, err := w.Organization(ctx, id)
	return err
}

// requireLasting is requireOrganization for what would outlive the organization's
// deletion.
func (w *Writer) requireLasting(ctx context.Context, id ident.Org) error {
	o, err := w.Organization(ctx, id)
	if err == nil && !o.Deleting.IsZero() {
		err = fault.New(fault.NotFound, "organization %s is being deleted", id)
	}
	return err
}

// BeginDeletion implements port.OrganizationWriter.
func (w *Writer) BeginDeletion(ctx context.Context, id ident.Org, at time.Time) error {
	const op = "begin deletion of organization"
	if err := w.check(ctx); err != nil {
		return err
	}
	if at.IsZero() {
		return internal(op, "of %s at no time", id)
	}
	n, err := w.s.exec(ctx, op, `UPDATE organizations SET suspended = 1,
  deleting_at = CASE deleting_at WHEN 0 THEN ? ELSE deleting_at END WHERE id = ?`, micros(at), string(id))
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.NotFound, "organization %s does not exist", id)
	}
	return nil
}

// EraseOrganization implements port.OrganizationWriter.
func (w *Writer) EraseOrganization(ctx context.Context, id ident.Org, limit int) (n port.OrganizationErased, more bool,
	err error) {
	const op = "erase organization"
	o, err := w.Organization(ctx, id)
	if err != nil {
		return n, false, err
	}
	if o.Deleting.IsZero() || limit <= 0 {
		return n, false, internal(op, "%s, whose deletion has begun at %v, by %d", id, o.Deleting, limit)
	}
	org := string(id)
	var live int64
	if _, err := w.s.get(ctx, op, `SELECT count(*) FROM namespaces WHERE org = ? AND dropped = 0`, []any{org},
		&live); err != nil {
		return n, false, err
	}
	if live > 0 {
		return n, false, fault.New(fault.Conflict, "organization %s has %d partitions", id, live)
	}
	var dropped int64
	purge, err := w.s.get(ctx, op, `SELECT generation FROM namespaces WHERE org = ? AND dropped <> 0 ORDER BY generation LIMIT 1`,
		[]any{org}, &dropped)
	if err != nil {
		return n, false, err
	}
	if purge {
		_, err := w.Purge(ctx, dropped, limit)
		return n, true, err
	}
	for _, step := range [...]struct {
		statement string
		removed   *int64
	}{
		{`DELETE FROM data_keys WHERE org = ? AND org IN (SELECT org FROM data_keys WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM claims WHERE name IN (SELECT 'job/' || org || '/' || id FROM jobs WHERE org = ? ORDER BY id LIMIT ?)`,
			new(int64)},
		{`DELETE FROM jobs WHERE org = ? AND id IN (SELECT id FROM jobs WHERE org = ? ORDER BY id LIMIT ?)`, &n.Jobs},
		{`DELETE FROM replays WHERE org = ? AND (integration, idempotency_key) IN (SELECT integration, idempotency_key
  FROM replays WHERE org = ? ORDER BY integration, idempotency_key LIMIT ?)`, new(int64)},
		{`DELETE FROM claims WHERE name IN (SELECT 'webhook/' || id FROM webhooks WHERE org = ? ORDER BY id LIMIT ?)`,
			new(int64)},
		{`DELETE FROM deliveries WHERE position IN (SELECT position FROM deliveries WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM webhook_secrets WHERE org = ? AND (webhook, id) IN (SELECT webhook, id FROM webhook_secrets WHERE org = ?
  LIMIT ?)`, new(int64)},
		{`DELETE FROM webhooks WHERE org = ? AND id IN (SELECT id FROM webhooks WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM events WHERE position IN (SELECT position FROM events WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM event_streams WHERE org = ? AND org IN (SELECT org FROM event_streams WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM event_readers WHERE org = ? AND org IN (SELECT org FROM event_readers WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM usage_hours WHERE (hour, org, namespace, integration, key_id) IN (SELECT hour, org, namespace, integration,
  key_id FROM usage_hours WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM usage_bytes WHERE org = ? AND (namespace, integration, hour) IN (SELECT namespace, integration, hour
  FROM usage_bytes WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM quotas WHERE org = ? AND name IN (SELECT name FROM quotas WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM attachments WHERE org = ? AND (namespace, file) IN (SELECT namespace, file FROM attachments WHERE org = ?
  LIMIT ?)`, new(int64)},
		{`DELETE FROM kept_parts WHERE org = ? AND (file, number) IN (SELECT file, number FROM kept_parts WHERE org = ? LIMIT ?)`,
			new(int64)},
		{`DELETE FROM kept_files WHERE org = ? AND id IN (SELECT id FROM kept_files WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM vector_stores WHERE org = ? AND id IN (SELECT id FROM vector_stores WHERE org = ? LIMIT ?)`, new(int64)},
		{`DELETE FROM members WHERE org = ? AND id IN (SELECT id FROM members WHERE org = ? ORDER BY id LIMIT ?)`, new(int64)},
		{`DELETE FROM api_keys WHERE org = ? AND id IN (SELECT id FROM api_keys WHERE org = ? ORDER BY id LIMIT ?)`, &n.Keys},
		{`DELETE FROM grants WHERE org = ? AND id IN (SELECT id FROM grants WHERE org = ? ORDER BY id LIMIT ?)`, new(int64)},
		{`DELETE FROM integrations WHERE org = ? AND id IN (SELECT id FROM integrations WHERE org = ? ORDER BY id LIMIT ?)`,
			&n.Integrations},
	} {
		args := []any{org, org, limit}
		if strings.Count(step.statement, "?") == 2 {
			args = args[1:]
		}
		if *step.removed, err = w.s.exec(ctx, op, step.statement, args...); err != nil {
			return n, false, w.fail(err)
		}
		more = more || *step.removed == int64(limit)
	}
	var source string
	if found, err := w.s.get(ctx, op, `SELECT id FROM sources WHERE org = ? ORDER BY id LIMIT 1`, []any{org},
		&source); err != nil {
		return n, false, err
	} else if found {
		_, err := w.eraseSource(ctx, op, source, limit)
		return n, true, err
	}
	if more {
		return n, true, nil
	}
	_, err = w.s.exec(ctx, op, `DELETE FROM organizations WHERE id = ?`, org)
	return n, false, w.fail(err)
}
