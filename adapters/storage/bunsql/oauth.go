package bunsql

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// OAuthClient implements port.OAuthReader.
func (r *Reader) OAuthClient(ctx context.Context, id string) (port.OAuthClient, error) {
	if err := r.check(ctx); err != nil {
		return port.OAuthClient{}, err
	}
	var metadata string
	var created, used int64
	ok, err := r.s.get(ctx, "read OAuth client", `SELECT metadata, created_at, used_at FROM oauth_clients WHERE id = ?`,
		[]any{id}, &metadata, &created, &used)
	if err != nil {
		return port.OAuthClient{}, err
	}
	if !ok {
		return port.OAuthClient{}, fault.New(fault.NotFound, "there is no client %q", fault.Clip(id))
	}
	return port.OAuthClient{ID: id, Metadata: json.RawMessage(metadata), CreatedAt: instant(created), UsedAt: instant(used)}, nil
}

// CountOAuthClients implements port.OAuthReader.
func (r *Reader) CountOAuthClients(ctx context.Context) (n int, err error) {
	if err := r.check(ctx); err != nil {
		return 0, err
	}
	_, err = r.s.get(ctx, "count OAuth clients", `SELECT COUNT(*) FROM oauth_clients`, nil, &n)
	return n, err
}

const grantColumns = `g.id, g.org, g.key_id, g.client_id, g.client_name, g.scope, g.resource, g.redirect_uri, ` +
	`g.challenge, g.code, g.code_expires, ` +
	`g.redeemed_at, g.family, g.refresh, g.created_at, g.expires_at`

// OAuthGrantByCode implements port.OAuthReader.
func (r *Reader) OAuthGrantByCode(ctx context.Context, hash [32]byte) (port.OAuthGrant, error) {
	return r.grant(ctx, `SELECT `+grantColumns+` FROM oauth_grants AS g WHERE g.code = ?`, hash)
}

// OAuthGrantByFamily implements port.OAuthReader.
func (r *Reader) OAuthGrantByFamily(ctx context.Context, family [32]byte) (port.OAuthGrant, error) {
	return r.grant(ctx, `SELECT `+grantColumns+` FROM oauth_grants AS g WHERE g.family = ?`, family)
}

// OAuthGrantByAccess implements port.OAuthReader.
func (r *Reader) OAuthGrantByAccess(ctx context.Context, hash [32]byte) (port.OAuthGrant, port.OAuthAccess, error) {
	var expires int64
	var scope string
	g, err := r.grant(ctx, `SELECT `+grantColumns+
		`, a.scope, a.expires_at FROM oauth_access_tokens AS a JOIN oauth_grants AS g ON g.id = a.grant_id WHERE a.hash = ?`,
		hash, &scope, &expires)
	if err != nil {
		return port.OAuthGrant{}, port.OAuthAccess{}, err
	}
	return g, port.OAuthAccess{Hash: hash, Grant: g.ID, Scope: scope, ExpiresAt: instant(expires)}, nil
}

func (r *Reader) grant(ctx context.Context, query string, hash [32]byte, more ...any) (port.OAuthGrant, error) {
	if err := r.check(ctx); err != nil {
		return port.OAuthGrant{}, err
	}
	var g port.OAuthGrant
	var org string
	var code, family, refresh []byte
	var codeExpires, redeemed, created, expires int64
	dest := append([]any{&g.ID, &org, &g.KeyID, &g.ClientID, &g.ClientName, &g.Scope, &g.Resource, &g.RedirectURI, &g.Challenge,
		&code, &codeExpires, &redeemed, &family, &refresh, &created, &expires}, more...)
	ok, err := r.s.get(ctx, "read OAuth grant", query, []any{hash[:]}, dest...)
	if err != nil {
		return port.OAuthGrant{}, err
	}
	if !ok {
		return port.OAuthGrant{}, fault.New(fault.NotFound, "there is no such grant")
	}
	g.Org, g.CodeExpires, g.Redeemed, g.CreatedAt, g.ExpiresAt = ident.Org(org), instant(codeExpires),
		instant(redeemed), instant(created), instant(expires)
	for _, h := range []struct {
		to   *[32]byte
		from []byte
		set  bool
	}{{&g.Code, code, true}, {&g.Family, family, redeemed != 0}, {&g.Refresh, refresh, redeemed != 0}} {
		if n := copy(h.to[:], h.from); h.set && n != len(h.to) {
			return port.OAuthGrant{}, internal("read OAuth grant", "grant %s has a hash of %d bytes", g.ID, n)
		}
	}
	return g, nil
}

// PutOAuthClient implements port.OAuthWriter.
func (w *Writer) PutOAuthClient(ctx context.Context, c port.OAuthClient) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "write OAuth client",
		`INSERT INTO oauth_clients (id, metadata, created_at, used_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
		c.ID, string(c.Metadata), micros(c.CreatedAt), micros(c.UsedAt))
	if err != nil {
		return w.fail(err)
	}
	if n == 0 {
		return fault.New(fault.Conflict, "a client %s exists already", c.ID)
	}
	return nil
}

// TouchOAuthClient implements port.OAuthWriter.
func (w *Writer) TouchOAuthClient(ctx context.Context, id string, at time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "touch OAuth client", `UPDATE oauth_clients SET used_at = ? WHERE id = ? AND used_at < ?`,
		micros(at), id, micros(at))
	return w.fail(err)
}

// EvictOAuthClient implements port.OAuthWriter.
func (w *Writer) EvictOAuthClient(ctx context.Context, before time.Time) (bool, error) {
	if err := w.check(ctx); err != nil {
		return false, err
	}
	n, err := w.s.exec(ctx, "evict OAuth client",
		`DELETE FROM oauth_clients WHERE id = (SELECT id FROM oauth_clients WHERE used_at = 0 AND created_at < ? `+
			`ORDER BY created_at, id LIMIT 1)`, micros(before))
	return n > 0, w.fail(err)
}

// PutOAuthGrant implements port.OAuthWriter.
func (w *Writer) PutOAuthGrant(ctx context.Context, g port.OAuthGrant) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if _, err := w.Key(ctx, g.Org, g.KeyID); err != nil {
		return err
	}
	var family, refresh any // NULL beside NULL is unique
	if !g.Redeemed.IsZero() {
		family, refresh = g.Family[:], g.Refresh[:]
	}
	// One that has the code or family of another would end the transaction on
	// some databases: it is looked for instead.
	var other string
	taken, err := w.s.get(ctx, "write OAuth grant",
		`SELECT id FROM oauth_grants WHERE id <> ? AND (code = ? OR family = ?) LIMIT 1`,
		[]any{g.ID, g.Code[:], family}, &other)
	if err != nil {
		return w.fail(err)
	}
	if taken {
		return fault.New(fault.Conflict, "another grant has this code or family")
	}
	_, err = w.s.exec(ctx, "write OAuth grant",
		`INSERT INTO oauth_grants (id, org, key_id, client_id, client_name, scope, resource, redirect_uri, challenge, `+
			`code, code_expires, redeemed_at, family, refresh, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, `+
			`?, ?, ?, ?, ?, ?, ?) `+
			`ON CONFLICT (id) DO UPDATE SET org = EXCLUDED.org, key_id = EXCLUDED.key_id, client_id = EXCLUDED.client_id, `+
			`client_name = EXCLUDED.client_name, `+
			`scope = EXCLUDED.scope, resource = EXCLUDED.resource, redirect_uri = EXCLUDED.redirect_uri, challenge = `+
			`EXCLUDED.challenge, code = EXCLUDED.code, `+
			`code_expires = EXCLUDED.code_expires, redeemed_at = EXCLUDED.redeemed_at, family = EXCLUDED.family, refresh = `+
			`EXCLUDED.refresh, `+
			`created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at`,
		g.ID, string(g.Org), g.KeyID, g.ClientID, g.ClientName, g.Scope, g.Resource, g.RedirectURI, g.Challenge,
		g.Code[:], micros(g.CodeExpires), micros(g.Redeemed), family, refresh, micros(g.CreatedAt), micros(g.ExpiresAt))
	return w.fail(err)
}

// PutOAuthAccess implements port.OAuthWriter.
func (w *Writer) PutOAuthAccess(ctx context.Context, a port.OAuthAccess) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write access token",
		`INSERT INTO oauth_access_tokens (hash, grant_id, scope, expires_at) VALUES (?, ?, ?, ?)`,
		a.Hash[:], a.Grant, a.Scope, micros(a.ExpiresAt))
	return w.fail(err)
}

// DeleteOAuthGrant implements port.OAuthWriter.
func (w *Writer) DeleteOAuthGrant(ctx context.Context, id string) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "delete OAuth grant", `DELETE FROM oauth_grants WHERE id = ?`, id) // its tokens cascade
	return w.fail(err)
}

// PurgeOAuth implements port.OAuthWriter.
func (w *Writer) PurgeOAuth(ctx context.Context, now, unused, idle time.Time) (int, error) {
	if err := w.check(ctx); err != nil {
		return 0, err
	}
	const without = ` AND NOT EXISTS (SELECT 1 FROM oauth_grants AS g WHERE g.client_id = oauth_clients.id)`
	total := 0
	for _, s := range []struct {
		statement string
		at        time.Time
	}{
		{`DELETE FROM oauth_access_tokens WHERE expires_at <= ?`, now},
		{`DELETE FROM oauth_grants WHERE expires_at <= ?`, now},
		{`DELETE FROM oauth_clients WHERE used_at = 0 AND created_at <= ?` + without, unused},
		{`DELETE FROM oauth_clients WHERE used_at <> 0 AND used_at <= ?` + without, idle},
	} {
		n, err := w.s.exec(ctx, "purge OAuth", s.statement, micros(s.at))
		if err != nil {
			return total, w.fail(err)
		}
		total += int(n)
	}
	return total, nil
}
