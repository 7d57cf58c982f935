package bunsql

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

type organizationRow struct {
	bun.BaseModel `bun:"table:organizations,alias:o"`

	ID        string `bun:"id,pk"`
	Name      string `bun:"name"`
	Suspended int64  `bun:"suspended"`
	CreatedAt int64  `bun:"created_at"`
}

func (r organizationRow) port() port.Organization {
	return port.Organization{ID: ident.Org(r.ID), Name: r.Name, Suspended: r.Suspended != 0, CreatedAt: instant(r.CreatedAt)}
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
	row := organizationRow{ID: string(o.ID), Name: o.Name, Suspended: flag(o.Suspended), CreatedAt: micros(o.CreatedAt)}
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
