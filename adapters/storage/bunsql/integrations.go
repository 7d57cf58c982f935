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

type integrationRow struct {
	bun.BaseModel `bun:"table:integrations,alias:i"`

	Org                string `bun:"org,pk"`
	ID                 string `bun:"id,pk"`
	Name               string `bun:"name"`
	MemoriesPerEndUser int64  `bun:"memories_per_end_user"`
	ReadRatePerMin     int64  `bun:"read_rate_per_min"`
	WriteRatePerMin    int64  `bun:"write_rate_per_min"`
	CreatedAt          int64  `bun:"created_at"`
	GrantsRequired     int64  `bun:"grants_required"`
}

func (r integrationRow) port() port.Integration {
	return port.Integration{
		ID: r.ID, Org: ident.Org(r.Org), Name: r.Name, CreatedAt: instant(r.CreatedAt),
		Quotas: ident.Quotas{MemoriesPerEndUser: int(r.MemoriesPerEndUser), ReadRatePerMin: int(r.ReadRatePerMin),
			WriteRatePerMin: int(r.WriteRatePerMin)},
		GrantsRequired: r.GrantsRequired != 0,
	}
}

func (r *Reader) integration(ctx context.Context, org ident.Org, where, value string) (port.Integration, error) {
	if err := r.check(ctx); err != nil {
		return port.Integration{}, err
	}
	var row integrationRow
	err := r.s.conn.NewSelect().Model(&row).Where("org = ?", string(org)).Where(where, value).Scan(r.s.d.Context(ctx))
	if errors.Is(err, sql.ErrNoRows) {
		return port.Integration{}, fault.New(fault.NotFound, "integration %s does not exist", value)
	}
	if err != nil {
		return port.Integration{}, r.s.d.Fault("read integration", err)
	}
	return row.port(), nil
}

// Integration implements port.IntegrationReader.
func (r *Reader) Integration(ctx context.Context, org ident.Org, id string) (port.Integration, error) {
	return r.integration(ctx, org, "id = ?", id)
}

// IntegrationByName implements port.IntegrationReader.
func (r *Reader) IntegrationByName(ctx context.Context, org ident.Org, name string) (port.Integration, error) {
	return r.integration(ctx, org, "name = ?", name)
}

// Integrations implements port.IntegrationReader.
func (r *Reader) Integrations(ctx context.Context, org ident.Org) ([]port.Integration, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var rows []integrationRow
	if err := r.s.conn.NewSelect().Model(&rows).Where("org = ?", string(org)).Order("name").Scan(r.s.d.Context(ctx)); err != nil {
		return nil, r.s.d.Fault("list integrations", err)
	}
	out := make([]port.Integration, len(rows))
	for i := range rows {
		out[i] = rows[i].port()
	}
	return out, nil
}

// PutIntegration implements port.IntegrationWriter; fault NotFound when the
// organization is absent.
func (w *Writer) PutIntegration(ctx context.Context, i port.Integration) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, i.Org); err != nil {
		return err
	}
	row := integrationRow{
		Org:                string(i.Org),
		ID:                 i.ID,
		Name:               i.Name,
		CreatedAt:          micros(i.CreatedAt),
		MemoriesPerEndUser: int64(i.Quotas.MemoriesPerEndUser),
		ReadRatePerMin:     int64(i.Quotas.ReadRatePerMin),
		WriteRatePerMin:    int64(i.Quotas.WriteRatePerMin),
		GrantsRequired:     flag(i.GrantsRequired),
	}
	w.s.changes++
	_, err := w.s.conn.NewInsert().Model(&row).On("CONFLICT (org, id) DO UPDATE").
		Set("name = EXCLUDED.name").Set("created_at = EXCLUDED.created_at").
		Set("memories_per_end_user = EXCLUDED.memories_per_end_user").
		Set("read_rate_per_min = EXCLUDED.read_rate_per_min").Set("write_rate_per_min = EXCLUDED.write_rate_per_min").
		Set("grants_required = EXCLUDED.grants_required").
		Exec(w.s.d.Context(ctx))
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "an integration named %s exists already", i.Name)
	}
	if err != nil {
		return w.fail(w.s.d.Fault("write integration", err))
	}
	return nil
}
