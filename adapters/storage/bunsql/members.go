package bunsql

import (
	"context"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func (r *Reader) members(ctx context.Context, op, rest string, args ...any) ([]port.Member, error) {
	rows, err := r.s.query(ctx, op, `SELECT org, id, email, role, password, issuer, subject, invited_by, created_at,
  joined_at, disabled_at, COALESCE(invitations.expires_at, 0)
  FROM members LEFT JOIN invitations ON invitations.member = members.id WHERE `+rest,
		args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []port.Member
	for rows.Next() {
		var m port.Member
		var org, role string
		var created, joined, disabled, until int64
		if err := rows.Scan(&org, &m.ID, &m.Email, &role, &m.Password, &m.Issuer, &m.Subject, &m.InvitedBy,
			&created, &joined, &disabled, &until); err != nil {
			return nil, r.s.d.Fault(op, err)
		}
		m.Org, m.Role = ident.Org(org), ident.Role(role)
		m.CreatedAt, m.JoinedAt, m.DisabledAt, m.InvitedUntil = instant(created), instant(joined), instant(disabled),
			instant(until)
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, r.s.d.Fault(op, err)
	}
	return out, nil
}

func (r *Reader) member(ctx context.Context, rest string, args ...any) (port.Member, error) {
	if err := r.check(ctx); err != nil {
		return port.Member{}, err
	}
	found, err := r.members(ctx, "read member", rest, args...)
	if err == nil && len(found) == 0 {
		err = fault.New(fault.NotFound, "there is no such member")
	}
	if err != nil {
		return port.Member{}, err
	}
	return found[0], nil
}

// Member implements port.MemberReader.
func (r *Reader) Member(ctx context.Context, org ident.Org, id string) (port.Member, error) {
	return r.member(ctx, `org = ? AND id = ?`, string(org), id)
}

// MemberByEmail implements port.MemberReader.
func (r *Reader) MemberByEmail(ctx context.Context, org ident.Org, email string) (port.Member, error) {
	return r.member(ctx, `org = ? AND email = ?`, string(org), email)
}

// Members implements port.MemberReader.
func (r *Reader) Members(ctx context.Context, org ident.Org, after string, limit int) ([]port.Member, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	rest, args := `org = ? AND email > ? ORDER BY email`, []any{string(org), after}
	if limit > 0 {
		rest, args = rest+` LIMIT ?`, append(args, limit)
	}
	return r.members(ctx, "list members", rest, args...)
}

// MembersOf implements port.MemberReader.
func (r *Reader) MembersOf(ctx context.Context, issuer, subject, email string) ([]port.Member, error) {
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	return r.members(ctx, "find members of an account",
		`issuer = ? AND subject = ? AND subject <> '' OR email = ? ORDER BY org, members.id LIMIT 100`, issuer, subject, email)
}

// PutMember implements port.MemberWriter.
func (w *Writer) PutMember(ctx context.Context, m port.Member) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	if err := w.requireLasting(ctx, m.Org); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "write member",
		`INSERT INTO members (org, id, email, role, password, issuer, subject, invited_by, created_at, joined_at, disabled_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, string(m.Org), m.ID, m.Email, string(m.Role), m.Password, m.Issuer, m.Subject,
		m.InvitedBy, micros(m.CreatedAt), micros(m.JoinedAt), micros(m.DisabledAt))
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "%s is a member already", m.Email)
	}
	return w.fail(err)
}

// ChangeMember implements port.MemberWriter.
func (w *Writer) ChangeMember(ctx context.Context, m port.Member) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	n, err := w.s.exec(ctx, "change member",
		`UPDATE members SET role = ?, password = ?, issuer = ?, subject = ?, joined_at = ?, disabled_at = ?
  WHERE org = ? AND id = ?`,
		string(m.Role), m.Password, m.Issuer, m.Subject, micros(m.JoinedAt), micros(m.DisabledAt), string(m.Org), m.ID)
	if w.s.d.Unique(err) {
		return fault.New(fault.Conflict, "another member of the organization has this account already")
	}
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "there is no such member")
	}
	return w.fail(err)
}

// RemoveMember implements port.MemberWriter.
func (w *Writer) RemoveMember(ctx context.Context, org ident.Org, id string) (bool, error) {
	if err := w.check(ctx); err != nil {
		return false, err
	}
	n, err := w.s.exec(ctx, "remove member", `DELETE FROM members WHERE org = ? AND id = ?`, string(org), id)
	return n > 0, w.fail(err)
}

// PutInvitation implements port.MemberWriter.
func (w *Writer) PutInvitation(ctx context.Context, i port.Invitation) error {
	if _, err := w.Member(ctx, i.Org, i.Member); err != nil {
		return err
	}
	const op = "write invitation"
	if _, err := w.s.exec(ctx, op, `DELETE FROM invitations WHERE member = ?`, i.Member); err != nil {
		return w.fail(err)
	}
	_, err := w.s.exec(ctx, op, `INSERT INTO invitations (hash, member, expires_at) VALUES (?, ?, ?)`, i.Hash[:], i.Member,
		micros(i.ExpiresAt))
	return w.fail(err)
}

// TakeInvitation implements port.MemberWriter.
func (w *Writer) TakeInvitation(ctx context.Context, hash [32]byte) (port.Invitation, error) {
	if err := w.check(ctx); err != nil {
		return port.Invitation{}, err
	}
	i := port.Invitation{Hash: hash}
	var org string
	var expires int64
	ok, err := w.s.get(ctx, "read invitation", `SELECT members.org, invitations.member, invitations.expires_at
  FROM invitations JOIN members ON members.id = invitations.member WHERE invitations.hash = ?`, []any{hash[:]},
		&org, &i.Member, &expires)
	if err != nil {
		return port.Invitation{}, w.fail(err)
	}
	n := int64(0)
	if ok { // where transactions run side by side, the one whose deletion counts has it
		if n, err = w.s.exec(ctx, "take invitation", `DELETE FROM invitations WHERE hash = ?`, hash[:]); err != nil {
			return port.Invitation{}, w.fail(err)
		}
	}
	if n == 0 {
		return port.Invitation{}, fault.New(fault.NotFound, "there is no such invitation")
	}
	i.Org, i.ExpiresAt = ident.Org(org), instant(expires)
	return i, nil
}

// DropInvitation implements port.MemberWriter.
func (w *Writer) DropInvitation(ctx context.Context, org ident.Org, member string) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "drop invitation",
		`DELETE FROM invitations WHERE member IN (SELECT id FROM members WHERE org = ? AND id = ?)`, string(org), member)
	return w.fail(err)
}

// EndMemberSessions implements port.MemberWriter.
func (w *Writer) EndMemberSessions(ctx context.Context, org ident.Org, id string, but [32]byte) error {
	if err := w.check(ctx); err != nil {
		return err
	}
	_, err := w.s.exec(ctx, "end sessions of member",
		`DELETE FROM member_sessions WHERE member IN (SELECT id FROM members WHERE org = ? AND id = ?) AND hash <> ?`,
		string(org), id, but[:])
	return w.fail(err)
}
