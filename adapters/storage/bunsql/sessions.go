package bunsql

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// SessionByHash implements port.SessionReader.
func (r *Reader) SessionByHash(ctx context.Context, hash [32]byte) (port.Session, error) {
	if err := r.check(ctx); err != nil {
		return port.Session{}, err
	}
	s := port.Session{Hash: hash}
	var org string
	var created, seen, expires int64
	ok, err := r.s.get(ctx, "read session", `SELECT org, key_id, '', created_at, seen_at, expires_at, user_agent
  FROM sessions WHERE hash = ?
UNION ALL SELECT members.org, '', members.id, s.created_at, s.seen_at, s.expires_at, s.user_agent
  FROM member_sessions s JOIN members ON members.id = s.member WHERE s.hash = ?`, []any{hash[:], hash[:]},
		&org, &s.KeyID, &s.Member, &created, &seen, &expires, &s.UserAgent)
	if err != nil {
		return port.Session{}, err
	}
	if !ok {
		return port.Session{}, fault.New(fault.NotFound, "there is no such session")
	}
	s.Org, s.CreatedAt, s.SeenAt, s.ExpiresAt = ident.Org(org), instant(created), instant(seen), instant(expires)
	return s, nil
}

// PutSession implements port.SessionWriter.
func (w *Writer) PutSession(ctx context.Context, s port.Session) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if s.Member != "" {
		return w.putMemberSession(ctx, s)
	}
	if _, err := w.Key(ctx, s.Org, s.KeyID); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write session",
		`INSERT INTO sessions (hash, org, key_id, created_at, seen_at, expires_at, user_agent) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		s.Hash[:], string(s.Org), s.KeyID, micros(s.CreatedAt), micros(s.SeenAt), micros(s.ExpiresAt), s.UserAgent)
	return w.fail(err)
}

func (w *Writer) putMemberSession(ctx context.Context, s port.Session) error {
	if _, err := w.Member(ctx, s.Org, s.Member); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write session",
		`INSERT INTO member_sessions (hash, member, created_at, seen_at, expires_at, user_agent) VALUES (?, ?, ?, ?, ?, ?)`,
		s.Hash[:], s.Member, micros(s.CreatedAt), micros(s.SeenAt), micros(s.ExpiresAt), s.UserAgent)
	return w.fail(err)
}

// sessionTables hold sessions, of keys and of members.
var sessionTables = [...]string{"sessions", "member_sessions"}

// TouchSession implements port.SessionWriter.
func (w *Writer) TouchSession(ctx context.Context, hash [32]byte, at time.Time) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	for _, table := range sessionTables {
		if _, err := w.s.exec(ctx, "touch session", `UPDATE `+table+` SET seen_at = ? WHERE hash = ? AND seen_at < ?`,
			micros(at), hash[:], micros(at)); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// DeleteSession implements port.SessionWriter.
func (w *Writer) DeleteSession(ctx context.Context, hash [32]byte) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	for _, table := range sessionTables {
		if _, err := w.s.exec(ctx, "delete session", `DELETE FROM `+table+` WHERE hash = ?`, hash[:]); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

// PutSignInLink implements port.SessionWriter.
func (w *Writer) PutSignInLink(ctx context.Context, l port.SignInLink) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if _, err := w.Key(ctx, l.Org, l.KeyID); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write sign-in link",
		`INSERT INTO sign_in_links (hash, org, key_id, expires_at) VALUES (?, ?, ?, ?)`,
		l.Hash[:], string(l.Org), l.KeyID, micros(l.ExpiresAt))
	return w.fail(err)
}

// TakeSignInLink implements port.SessionWriter.
func (w *Writer) TakeSignInLink(ctx context.Context, hash [32]byte) (port.SignInLink, error) {
	if err := w.check(ctx); err != nil {
		return port.SignInLink{}, err
	}
	l := port.SignInLink{Hash: hash}
	var org string
	var expires int64
	ok, err := w.s.get(ctx, "read sign-in link", `SELECT org, key_id, expires_at FROM sign_in_links WHERE hash = ?`,
		[]any{hash[:]}, &org, &l.KeyID, &expires)
	if err != nil {
		return port.SignInLink{}, w.fail(err)
	}
	n := int64(0)
	if ok { // where transactions run side by side, the one whose deletion counts has it
		if n, err = w.s.exec(ctx, "take sign-in link", `DELETE FROM sign_in_links WHERE hash = ?`, hash[:]); err != nil {
			return port.SignInLink{}, w.fail(err)
		}
	}
	if n == 0 {
		return port.SignInLink{}, fault.New(fault.NotFound, "there is no such link")
	}
	l.Org, l.ExpiresAt = ident.Org(org), instant(expires)
	return l, nil
}

// PurgeSessions implements port.SessionWriter.
func (w *Writer) PurgeSessions(ctx context.Context, now, idle time.Time) (int, error) {
	if err := w.check(ctx); err != nil {
		return 0, err
	}
	total := 0
	for _, s := range []struct {
		statement string
		at        time.Time
	}{
		{`DELETE FROM sessions WHERE expires_at <= ?`, now},
		{`DELETE FROM sessions WHERE seen_at <= ?`, idle},
		{`DELETE FROM member_sessions WHERE expires_at <= ?`, now},
		{`DELETE FROM member_sessions WHERE seen_at <= ?`, idle},
		{`DELETE FROM sign_in_links WHERE expires_at <= ?`, now},
		{`DELETE FROM invitations WHERE expires_at <= ?`, now},
	} {
		n, err := w.s.exec(ctx, "purge sessions", s.statement, micros(s.at))
		if err != nil {
			return total, w.fail(err)
		}
		total += int(n)
	}
	return total, nil
}
