package bunsql

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

type keyRow struct {
	bun.BaseModel `bun:"table:api_keys,alias:k"`

	ID               string `bun:"id,pk"`
	Org              string `bun:"org"`
	Name             string `bun:"name"`
	Kind             string `bun:"kind"`
	Hash             []byte `bun:"hash"`
	Last4            string `bun:"last4"`
	ReadOnly         int64  `bun:"read_only"`
	Namespace        string `bun:"namespace"`
	DefaultNamespace string `bun:"default_namespace"`
	Scopes           string `bun:"scopes"`
	Limits           string `bun:"limits"`
	CreatedAt        int64  `bun:"created_at"`
	ExpiresAt        int64  `bun:"expires_at"`
	RevokedAt        int64  `bun:"revoked_at"`
	LastUsedAt       int64  `bun:"last_used_at"`
	Integration      string `bun:"integration"`
	EndUser          string `bun:"end_user"`
	CreatedBy        string `bun:"created_by"`
	Source           string `bun:"source"`
}

func (r keyRow) port() (port.Key, error) {
	k := port.Key{
		ID:               r.ID,
		Org:              ident.Org(r.Org),
		Name:             r.Name,
		Kind:             ident.Kind(r.Kind),
		Last4:            r.Last4,
		ReadOnly:         r.ReadOnly != 0,
		Namespace:        r.Namespace,
		Source:           r.Source,
		DefaultNamespace: r.DefaultNamespace,
		Integration:      r.Integration,
		EndUser:          r.EndUser,
		CreatedBy:        r.CreatedBy,
		CreatedAt:        instant(r.CreatedAt),
		ExpiresAt:        instant(r.ExpiresAt),
		RevokedAt:        instant(r.RevokedAt),
		LastUsedAt:       instant(r.LastUsedAt),
	}
	if copy(k.Hash[:], r.Hash) != len(k.Hash) {
		return port.Key{}, internal("read key", "key %s has a hash of %d bytes", r.ID, len(r.Hash))
	}
	if err := json.Unmarshal([]byte(r.Scopes), &k.Scopes); err != nil {
		return port.Key{}, internal("read key", "key %s: scopes: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(r.Limits), &k.Limits); err != nil {
		return port.Key{}, internal("read key", "key %s: limits: %w", r.ID, err)
	}
	return k, nil
}

// KeyByHash implements port.KeyReader.
func (r *Reader) KeyByHash(ctx context.Context, hash [32]byte) (port.Key, error) {
	if err := r.check(ctx); err != nil {
		return port.Key{}, err
	}
	return r.key(ctx, "hash = ?", hash[:])
}

// Key implements port.KeyReader.
func (r *Reader) Key(ctx context.Context, org ident.Org, id string) (port.Key, error) {
	if err := r.check(ctx); err != nil {
		return port.Key{}, err
	}
	return r.key(ctx, "org = ? AND id = ?", string(org), id)
}

func (r *Reader) key(ctx context.Context, where string, args ...any) (port.Key, error) {
	var row keyRow
	err := r.s.conn.NewSelect().Model(&row).Where(where, args...).Scan(r.s.d.Context(ctx))
	if errors.Is(err, sql.ErrNoRows) {
		return port.Key{}, fault.New(fault.NotFound, "the key does not exist")
	}
	if err != nil {
		return port.Key{}, r.s.d.Fault("read key", err)
	}
	return row.port()
}

// Keys implements port.KeyReader.
func (r *Reader) Keys(ctx context.Context, org ident.Org, l port.KeyList) ([]port.Key, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	var rows []keyRow
	q := r.s.conn.NewSelect().Model(&rows).Where("org = ?", string(org)).Order("created_at", "id")
	if l.Integration != "" {
		q = q.Where("integration = ?", l.Integration)
	}
	if l.AfterID != "" {
		q = q.Where("(created_at, id) > (?, ?)", micros(l.AfterCreated), l.AfterID)
	}
	if l.Limit > 0 {
		q = q.Limit(int64(l.Limit))
	}
	err := q.Scan(r.s.d.Context(ctx))
	if err != nil {
		return nil, r.s.d.Fault("list keys", err)
	}
	out := make([]port.Key, len(rows))
	for i := range rows {
		if out[i], err = rows[i].port(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PutKey implements port.KeyWriter. A used id or hash is fault Conflict.
func (w *Writer) PutKey(ctx context.Context, k port.Key) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, k.Org); err != nil {
		return err
	}
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return internal("write key", "scopes: %w", err)
	}
	limits, err := json.Marshal(k.Limits)
	if err != nil {
		return internal("write key", "limits: %w", err)
	}
	row := keyRow{
		ID:               k.ID,
		Org:              string(k.Org),
		Name:             k.Name,
		Kind:             string(k.Kind),
		Hash:             k.Hash[:],
		Last4:            k.Last4,
		ReadOnly:         flag(k.ReadOnly),
		Namespace:        k.Namespace,
		Source:           k.Source,
		DefaultNamespace: k.DefaultNamespace,
		Scopes:           string(scopes),
		Limits:           string(limits),
		Integration:      k.Integration,
		EndUser:          k.EndUser,
		CreatedBy:        k.CreatedBy,
		CreatedAt:        micros(k.CreatedAt),
		ExpiresAt:        micros(k.ExpiresAt),
		RevokedAt:        micros(k.RevokedAt),
		LastUsedAt:       micros(k.LastUsedAt),
	}
	w.s.changes++
	_, err = w.s.conn.NewInsert().Model(&row).Exec(w.s.d.Context(ctx))
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "key %s exists already", k.ID)
	}
	if err != nil {
		return w.fail(w.s.d.Fault("write key", err))
	}
	return nil
}

// ChangeKey implements port.KeyWriter.
func (w *Writer) ChangeKey(ctx context.Context, org ident.Org, id string, c port.KeyChange) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	limits, err := json.Marshal(c.Limits)
	if err != nil {
		return internal("change key", "limits: %w", err)
	}
	n, err := w.s.exec(ctx, "change key",
		`UPDATE api_keys SET name = ?, read_only = ?, default_namespace = ?, limits = ? WHERE org = ? AND id = ?`,
		c.Name, flag(c.ReadOnly), c.DefaultNamespace, string(limits), string(org), id)
	return w.changedKey(n, err, id)
}

// changedKey is the outcome of changing a key's row.
func (w *Writer) changedKey(rows int64, err error, id string) error {
	if err != nil {
		return w.fail(err)
	}
	if rows == 0 {
		return fault.New(fault.NotFound, "key %s does not exist", id)
	}
	return nil
}

// RevokeKey implements port.KeyWriter.
func (w *Writer) RevokeKey(ctx context.Context, org ident.Org, id string, at time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "revoke key",
		`UPDATE api_keys SET revoked_at = CASE revoked_at WHEN 0 THEN ? ELSE revoked_at END WHERE org = ? AND id = ?`,
		micros(at), string(org), id)
	return w.changedKey(n, err, id)
}

// ExpireKey implements port.KeyWriter.
func (w *Writer) ExpireKey(ctx context.Context, org ident.Org, id string, at time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "expire key",
		`UPDATE api_keys SET expires_at = CASE WHEN expires_at = 0 OR expires_at > ? THEN ? ELSE expires_at END `+
			`WHERE org = ? AND id = ?`,
		micros(at), micros(at), string(org), id)
	return w.changedKey(n, err, id)
}

// TouchKeys implements port.KeyWriter.
func (w *Writer) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	ids := make([]string, 0, len(used))
	for id := range used {
		ids = append(ids, id)
	}
	slices.Sort(ids) // one locking order on databases that lock rows
	for _, id := range ids {
		at := micros(used[id])
		if _, err := w.s.exec(ctx, "touch key",
			`UPDATE api_keys SET last_used_at = ? WHERE id = ? AND last_used_at < ?`, at, id, at); err != nil {
			return w.fail(err)
		}
	}
	return nil
}
