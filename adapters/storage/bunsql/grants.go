package bunsql

import (
	"context"
	"encoding/json"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

const endUserGrantColumns = `org, id, integration, end_user, source, secrets, sealed, created_at, revoked_at, upstream`

func (r *Reader) grants(ctx context.Context, op, rest string, args ...any) ([]port.Grant, error) {
	rows, err := r.s.query(ctx, op, `SELECT `+endUserGrantColumns+` FROM grants WHERE `+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Grant
	for rows.Next() {
		var g port.Grant
		var org, secrets string
		var created, revoked int64
		if err := rows.Scan(&org, &g.ID, &g.Integration, &g.EndUser, &g.Source, &secrets, &g.Sealed, &created, &revoked,
			&g.Upstream); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		if err := json.Unmarshal([]byte(secrets), &g.Secrets); err != nil {
			return nil, internal(op, "damaged names of secrets of %s: %w", g.ID, err)
		}
		g.Org, g.CreatedAt, g.RevokedAt = ident.Org(org), instant(created), instant(revoked)
		out = append(out, g)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

// Grant implements port.GrantReader.
func (r *Reader) Grant(ctx context.Context, org ident.Org, integration, id string) (port.Grant, error) {
	if err := r.check(ctx); err != nil {
		return port.Grant{}, err
	}
	found, err := r.grants(ctx, "read grant", `org = ? AND id = ? AND integration = ?`, string(org), id, integration)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "there is no grant %q", fault.Clip(id))
	}
	if err != nil {
		return port.Grant{}, err
	}
	return found[0], nil
}

// ofEndUser selects the grants of an end user, whatever life.
const ofEndUser = `org = ? AND integration = ? AND end_user = ? AND end_user <> ''`

func endUserOf(p port.Partition) []any { return []any{string(p.Org()), p.Integration(), p.Name()} }

// Grants implements port.GrantReader.
func (r *Reader) Grants(ctx context.Context, p port.Partition) ([]port.Grant, error) {
	const op = "list grants"
	if err := r.use(ctx, p); err != nil {
		return nil, err
	}
	if p.Space() != port.SpaceMemories {
		return nil, internal(op, "partition %s", p)
	}
	return r.grants(ctx, op, ofEndUser+` ORDER BY created_at, id`, endUserOf(p)...)
}

// PutGrant implements port.GrantWriter.
func (w *Writer) PutGrant(ctx context.Context, p port.Partition, g port.Grant) error {
	const op = "write grant"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	if !ref.memories || g.ID == "" {
		return internal(op, "grant %q in %s", g.ID, p)
	}
	secrets, err := json.Marshal(g.Secrets)
	if err != nil {
		return internal(op, "secrets: %w", err)
	}
	n, err := w.s.exec(ctx, op, `INSERT INTO grants (`+endUserGrantColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (org, id) DO UPDATE SET source = EXCLUDED.source, secrets = EXCLUDED.secrets, sealed = EXCLUDED.sealed,
  created_at = EXCLUDED.created_at, revoked_at = EXCLUDED.revoked_at, upstream = EXCLUDED.upstream
WHERE grants.integration = EXCLUDED.integration AND grants.end_user = EXCLUDED.end_user`,
		string(p.Org()), g.ID, p.Integration(), p.Name(), g.Source, string(secrets), g.Sealed, micros(g.CreatedAt),
		micros(g.RevokedAt), string(g.Upstream))
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "grant %s is of another end user", g.ID)
	}
	w.written.Bytes += len(g.Sealed)
	return nil
}

// DeleteGrants implements port.GrantWriter.
func (w *Writer) DeleteGrants(ctx context.Context, p port.Partition, ids []string) error {
	const op = "delete grants"
	ref, err := w.writable(ctx, p)
	if err != nil {
		return err
	}
	if !ref.memories {
		return internal(op, "partition %s", p)
	}
	for _, id := range ids {
		if _, err := w.s.exec(ctx, op, `DELETE FROM grants WHERE `+ofEndUser+` AND id = ?`,
			append(endUserOf(p), id)...); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// EraseGrant implements port.ErasureWriter.
func (w *Writer) EraseGrant(ctx context.Context, p port.Partition, id string, answered bool) error {
	const op = "erase grant"
	ref, err := w.erasable(ctx, op, p)
	if err != nil {
		return err
	}
	n, err := w.s.exec(ctx, op, `UPDATE grants SET end_user = '', source = '', secrets = 'null', sealed = NULL, created_at = 0,
  upstream = '' WHERE `+ofEndUser+` AND id = ?`, append(endUserOf(p), id)...)
	if err != nil || n == 0 {
		return w.fail(err)
	}
	_, err = w.s.exec(ctx, op, `UPDATE namespaces SET erased_grants = erased_grants + 1,
  erased_unanswered = erased_unanswered + ? WHERE generation = ?`, flag(!answered), ref.generation)
	return w.fail(err)
}
