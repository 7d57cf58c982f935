package sharded

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// reader is port.Reader, writer port.DocumentWriter. What names no organization, or belongs to the
// home, is in this file.
type reader struct{ t *transaction }

type writer struct {
	*reader
}

// from is what reads an organization.
func (r *reader) from(ctx context.Context, org ident.Org) (*bunsql.Reader, error) {
	return r.reach(ctx, org, port.Partition{})
}

// reach is from where the transaction is for a partition. It reads from the database that the organization is in:
// where it was moved since this process has placed it, it is placed again.
func (r *reader) reach(ctx context.Context, org ident.Org, p port.Partition) (*bunsql.Reader, error) {
	for tries := 0; ; tries++ {
		d, err := r.t.of(ctx, org)
		if err != nil {
			return nil, err
		}
		fresh := r.t.open(d) == nil
		m, err := r.at(ctx, d)
		if err != nil || r.t.stood[org] == d || r.t.placed[org] == d {
			return m, err
		}
		standing, there, err := m.Standing(ctx, org, p)
		if err != nil {
			return nil, r.t.s.note(d, err)
		}
		if !there || standing == bunsql.Elsewhere {
			again, err := r.t.s.replaced(ctx, org)
			if err != nil {
				return nil, err
			}
			switch {
			case again != d && tries < mostPlacings:
				r.t.retreat(d, fresh)
				continue
			case again != d, !fresh && again != r.t.s.home && !r.t.writes: // the snapshot may be from before the move
				return nil, moving()
			}
		}
		r.t.stand(org, d)
		return m, nil
	}
}

// mostPlacings bounds how often one call looks again where an organization is.
const mostPlacings = 3

// moving is the answer to a write of an organization that is on its way to another database.
func moving() error {
	const after = 5 * time.Second
	return fault.New(fault.Unavailable, "the organization is being moved to another database, until when it can only be read; "+
		"nothing was written").After(after)
}

func (r *reader) at(ctx context.Context, d *database) (*bunsql.Reader, error) {
	b, err := r.t.branch(ctx, d)
	if err != nil {
		return nil, err
	}
	return b.r, nil
}

// home is what reads the home, in the transaction.
func (r *reader) home(ctx context.Context) (*bunsql.Reader, error) { return r.at(ctx, r.t.s.home) }

// to is what writes to an organization.
func (w *writer) to(ctx context.Context, org ident.Org) (*bunsql.Writer, error) {
	return w.hold(ctx, org, port.Partition{})
}

// hold is to where the transaction is for a partition. The organization stays in the database until the transaction
// ends. Fault Unavailable while it is moved.
func (w *writer) hold(ctx context.Context, org ident.Org, p port.Partition) (*bunsql.Writer, error) {
	for tries := 0; ; tries++ {
		d, err := w.t.of(ctx, org)
		if err != nil {
			return nil, err
		}
		fresh := w.t.open(d) == nil
		m, err := w.at(ctx, d)
		if err != nil || w.t.held[org] == d || w.t.placed[org] == d {
			return m, err
		}
		standing, there, err := m.Hold(ctx, org, p)
		if err != nil {
			return nil, w.t.s.note(d, err)
		}
		if there && standing == bunsql.Leaving {
			return nil, moving()
		}
		if !there || standing == bunsql.Elsewhere {
			again, err := w.t.s.replaced(ctx, org)
			switch {
			case err != nil:
				return nil, err
			case again != d && tries < mostPlacings:
				w.t.retreat(d, fresh)
				continue
			case again != d || there:
				return nil, moving()
			}
		}
		w.t.held[org] = d
		return m, nil
	}
}

func (w *writer) at(ctx context.Context, d *database) (*bunsql.Writer, error) {
	b, err := w.t.branch(ctx, d)
	if err != nil {
		return nil, err
	}
	return b.w, nil
}

func (w *writer) home(ctx context.Context) (*bunsql.Writer, error) { return w.at(ctx, w.t.s.home) }

// Organizations.

// Organization implements port.OrganizationReader.
func (r *reader) Organization(ctx context.Context, id ident.Org) (o port.Organization, err error) {
	err = r.t.once(ctx, r.t.s.home, func(m *bunsql.Reader) (err error) { o, err = m.Organization(ctx, id); return err })
	return o, err
}

// OrganizationByName implements port.OrganizationReader.
func (r *reader) OrganizationByName(ctx context.Context, name string) (o port.Organization, err error) {
	err = r.t.once(ctx, r.t.s.home, func(m *bunsql.Reader) (err error) { o, err = m.OrganizationByName(ctx, name); return err })
	return o, err
}

// Organizations implements port.OrganizationReader.
func (r *reader) Organizations(ctx context.Context) (all []port.Organization, err error) {
	err = r.t.once(ctx, r.t.s.home, func(m *bunsql.Reader) (err error) { all, err = m.Organizations(ctx); return err })
	return all, err
}

// Placements implements port.OrganizationReader.
func (r *reader) Placements(ctx context.Context, of []port.Organization) (placed map[ident.Org]string, err error) {
	err = r.t.once(ctx, r.t.s.home, func(m *bunsql.Reader) (err error) {
		if len(of) != 1 {
			placed, err = m.Placed(ctx)
			return err
		}
		name, err := m.Placement(ctx, of[0].ID)
		placed = map[ident.Org]string{of[0].ID: name}
		return err
	})
	for _, o := range of {
		if err == nil && placed[o.ID] == "" {
			placed[o.ID] = r.t.s.home.name
		}
	}
	return placed, err
}

// mirrored is an organization as its database has it: what its name is, the home alone knows.
func mirrored(o port.Organization) port.Organization {
	o.Name = string(o.ID)
	return o
}

// PutOrganization implements port.OrganizationWriter. A new one is placed.
func (w *writer) PutOrganization(ctx context.Context, o port.Organization) error {
	home, err := w.home(ctx)
	if err != nil {
		return err
	}
	_, err = home.Organization(ctx, o.ID)
	exists, err := found(err)
	if err != nil {
		return err
	}
	name := o.Database
	o.Database = "" // which the home has in placements
	if !exists {
		var d *database
		if name == "" {
			d, err = w.t.s.choose(ctx)
		} else if d = w.t.s.named(name); d == nil {
			err = fault.Field(fault.InvalidRequest, "database", "there is no database %s", fault.Clip(name))
		}
		if err != nil {
			return err
		}
		if err := home.PutOrganization(ctx, o); err != nil {
			return err
		}
		if d != w.t.s.home {
			if err := home.PutPlacement(ctx, o.ID, d.name); err != nil {
				return err
			}
		}
		w.t.placed[o.ID] = d
		return w.mirror(ctx, home, o)
	}
	if _, err := w.to(ctx, o.ID); err != nil {
		return err
	}
	if err := home.PutOrganization(ctx, o); err != nil {
		return err
	}
	return w.mirror(ctx, home, o)
}

// mirror repeats an organization of the home in its database.
func (w *writer) mirror(ctx context.Context, home *bunsql.Writer, o port.Organization) error {
	m, err := w.to(ctx, o.ID)
	if err != nil || m == home {
		return err
	}
	return m.PutOrganization(ctx, mirrored(o))
}

// BeginDeletion implements port.OrganizationWriter.
func (w *writer) BeginDeletion(ctx context.Context, id ident.Org, at time.Time) error {
	home, err := w.home(ctx)
	if err != nil {
		return err
	}
	m, err := w.to(ctx, id)
	if err != nil {
		return err
	}
	// What is left in a database where it was would outlive it.
	if before, known, err := home.Move(ctx, id); err != nil {
		return err
	} else if known && !before.Ended {
		return fault.New(fault.Conflict, "the move of the organization to database %s has not ended", before.Target)
	}
	if err := home.BeginDeletion(ctx, id, at); err != nil || m == home {
		return err
	}
	return m.BeginDeletion(ctx, id, at)
}

// EraseOrganization implements port.OrganizationWriter: in its database first, then in the home, by which it is
// known until the end.
func (w *writer) EraseOrganization(ctx context.Context, id ident.Org, limit int) (n port.OrganizationErased, more bool,
	err error) {
	home, err := w.home(ctx)
	if err != nil {
		return n, false, err
	}
	m, err := w.to(ctx, id)
	if err != nil {
		return n, false, err
	}
	if m != home {
		_, err = m.Organization(ctx, id)
		there, err := found(err)
		if err != nil {
			return n, false, err
		}
		if there {
			if n, more, err = m.EraseOrganization(ctx, id, limit); err != nil || more {
				return n, more, err
			}
		}
	}
	here, more, err := home.EraseOrganization(ctx, id, limit)
	n.Keys, n.Integrations, n.Jobs = n.Keys+here.Keys, n.Integrations+here.Integrations, n.Jobs+here.Jobs
	if err == nil && !more && m != home {
		if err = home.PutPlacement(ctx, id, ""); err == nil {
			w.t.s.known.forget(id)
		}
	}
	return n, more, err
}

// RemoveOrganization implements port.OrganizationRemover.
func (w *writer) RemoveOrganization(ctx context.Context, id ident.Org) (bool, error) {
	home, err := w.home(ctx)
	if err != nil {
		return false, err
	}
	m, err := w.to(ctx, id)
	if err != nil {
		return false, err
	}
	if m != home {
		if removed, err := m.RemoveOrganization(ctx, id); err != nil || !removed {
			return false, err
		}
	}
	removed, err := home.RemoveOrganization(ctx, id)
	if err == nil && removed && m != home {
		err = home.PutPlacement(ctx, id, "")
		w.t.s.known.forget(id)
	}
	return removed, err
}

// Keys, sessions and OAuth: what is looked for by a hash.

// sought is what reads the organization of something that is looked for; where nobody has it, the home, which says so.
func (r *reader) sought(ctx context.Context, what bunsql.Sought, key []byte) (*bunsql.Reader, error) {
	org, err := r.t.owner(ctx, what, key)
	if err != nil {
		return nil, err
	}
	if org == "" {
		return r.home(ctx)
	}
	return r.from(ctx, org)
}

// sought is the same for what writes.
func (w *writer) sought(ctx context.Context, what bunsql.Sought, key any) (*bunsql.Writer, error) {
	org, err := w.t.owner(ctx, what, key)
	if err != nil {
		return nil, err
	}
	if org == "" {
		return w.home(ctx)
	}
	return w.to(ctx, org)
}

// KeyByHash implements port.KeyReader.
func (r *reader) KeyByHash(ctx context.Context, hash [32]byte) (k port.Key, err error) {
	m, err := r.sought(ctx, bunsql.SoughtKey, hash[:])
	if err != nil {
		return k, err
	}
	return m.KeyByHash(ctx, hash)
}

// TouchKeys implements port.KeyWriter.
func (w *writer) TouchKeys(ctx context.Context, used map[string]time.Time) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.TouchKeys(ctx, used) })
}

// SessionByHash implements port.SessionReader.
func (r *reader) SessionByHash(ctx context.Context, hash [32]byte) (s port.Session, err error) {
	m, err := r.sought(ctx, bunsql.SoughtSession, hash[:])
	if err != nil {
		return s, err
	}
	return m.SessionByHash(ctx, hash)
}

// TouchSession implements port.SessionWriter.
func (w *writer) TouchSession(ctx context.Context, hash [32]byte, at time.Time) error {
	m, err := w.sought(ctx, bunsql.SoughtSession, hash[:])
	if err != nil {
		return err
	}
	return m.TouchSession(ctx, hash, at)
}

// DeleteSession implements port.SessionWriter.
func (w *writer) DeleteSession(ctx context.Context, hash [32]byte) error {
	m, err := w.sought(ctx, bunsql.SoughtSession, hash[:])
	if err != nil {
		return err
	}
	return m.DeleteSession(ctx, hash)
}

// TakeSignInLink implements port.SessionWriter.
func (w *writer) TakeSignInLink(ctx context.Context, hash [32]byte) (l port.SignInLink, err error) {
	m, err := w.sought(ctx, bunsql.SoughtLink, hash[:])
	if err != nil {
		return l, err
	}
	return m.TakeSignInLink(ctx, hash)
}

// TakeInvitation implements port.MemberWriter.
func (w *writer) TakeInvitation(ctx context.Context, hash [32]byte) (i port.Invitation, err error) {
	m, err := w.sought(ctx, bunsql.SoughtInvitation, hash[:])
	if err != nil {
		return i, err
	}
	return m.TakeInvitation(ctx, hash)
}

// PurgeSessions implements port.SessionWriter.
func (w *writer) PurgeSessions(ctx context.Context, now, idle time.Time) (n int, err error) {
	err = w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error {
		one, err := m.PurgeSessions(ctx, now, idle)
		n += one
		return err
	})
	return n, err
}

// MembersOf implements port.MemberReader.
func (r *reader) MembersOf(ctx context.Context, issuer, subject, email string) ([]port.Member, error) {
	const most = 100 // as of one database
	all, err := listed(ctx, r.t, whole, bunsql.Elsewhere, 0, func(m port.Member) ident.Org { return m.Org },
		func(ctx context.Context, m *bunsql.Reader, _ int) ([]port.Member, error) {
			return m.MembersOf(ctx, issuer, subject, email)
		})
	slices.SortStableFunc(all, func(a, b port.Member) int { return cmp.Or(cmp.Compare(a.Org, b.Org), cmp.Compare(a.ID, b.ID)) })
	return all[:min(len(all), most)], err
}

// OAuthClient implements port.OAuthReader.
func (r *reader) OAuthClient(ctx context.Context, id string) (c port.OAuthClient, err error) {
	m, err := r.home(ctx)
	if err != nil {
		return c, err
	}
	return m.OAuthClient(ctx, id)
}

// CountOAuthClients implements port.OAuthReader.
func (r *reader) CountOAuthClients(ctx context.Context) (int, error) {
	m, err := r.home(ctx)
	if err != nil {
		return 0, err
	}
	return m.CountOAuthClients(ctx)
}

// OAuthGrantByCode implements port.OAuthReader.
func (r *reader) OAuthGrantByCode(ctx context.Context, hash [32]byte) (g port.OAuthGrant, err error) {
	m, err := r.sought(ctx, bunsql.SoughtCode, hash[:])
	if err != nil {
		return g, err
	}
	return m.OAuthGrantByCode(ctx, hash)
}

// OAuthGrantByFamily implements port.OAuthReader.
func (r *reader) OAuthGrantByFamily(ctx context.Context, family [32]byte) (g port.OAuthGrant, err error) {
	m, err := r.sought(ctx, bunsql.SoughtFamily, family[:])
	if err != nil {
		return g, err
	}
	return m.OAuthGrantByFamily(ctx, family)
}

// OAuthGrantByAccess implements port.OAuthReader.
func (r *reader) OAuthGrantByAccess(ctx context.Context, hash [32]byte) (g port.OAuthGrant, a port.OAuthAccess, err error) {
	m, err := r.sought(ctx, bunsql.SoughtAccess, hash[:])
	if err != nil {
		return g, a, err
	}
	return m.OAuthGrantByAccess(ctx, hash)
}

// PutOAuthClient implements port.OAuthWriter.
func (w *writer) PutOAuthClient(ctx context.Context, c port.OAuthClient) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.PutOAuthClient(ctx, c)
}

// TouchOAuthClient implements port.OAuthWriter.
func (w *writer) TouchOAuthClient(ctx context.Context, id string, at time.Time) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.TouchOAuthClient(ctx, id, at)
}

// EvictOAuthClient implements port.OAuthWriter.
func (w *writer) EvictOAuthClient(ctx context.Context, before time.Time) (bool, error) {
	m, err := w.home(ctx)
	if err != nil {
		return false, err
	}
	return m.EvictOAuthClient(ctx, before)
}

// PutOAuthAccess implements port.OAuthWriter.
func (w *writer) PutOAuthAccess(ctx context.Context, a port.OAuthAccess) error {
	m, err := w.sought(ctx, bunsql.SoughtGrant, a.Grant)
	if err != nil {
		return err
	}
	return m.PutOAuthAccess(ctx, a)
}

// DeleteOAuthGrant implements port.OAuthWriter.
func (w *writer) DeleteOAuthGrant(ctx context.Context, id string) error {
	m, err := w.sought(ctx, bunsql.SoughtGrant, id)
	if err != nil {
		return err
	}
	return m.DeleteOAuthGrant(ctx, id)
}

// PurgeOAuth implements port.OAuthWriter. The home, which has the clients, does not see the grants of other
// databases: a client that nobody has used for so long has to register again.
func (w *writer) PurgeOAuth(ctx context.Context, now, unused, idle time.Time) (n int, err error) {
	err = w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error {
		one, err := m.PurgeOAuth(ctx, now, unused, idle)
		n += one
		return err
	})
	return n, err
}

// Replicas and claims.

// Now implements port.ReplicaReader.
func (r *reader) Now(ctx context.Context) (at time.Time, err error) {
	err = r.t.once(ctx, r.t.s.home, func(m *bunsql.Reader) (err error) { at, err = m.Now(ctx); return err })
	return at, err
}

// Replicas implements port.ReplicaReader.
func (r *reader) Replicas(ctx context.Context) ([]port.Replica, error) {
	m, err := r.home(ctx)
	if err != nil {
		return nil, err
	}
	return m.Replicas(ctx)
}

// Bucket implements port.ReplicaReader.
func (r *reader) Bucket(ctx context.Context, name string) (b port.Bucket, ok bool, now time.Time, err error) {
	m, err := r.home(ctx)
	if err != nil {
		return b, false, now, err
	}
	return m.Bucket(ctx, name)
}

// PutBucket implements port.ReplicaWriter.
func (w *writer) PutBucket(ctx context.Context, name string, b port.Bucket, full time.Time) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.PutBucket(ctx, name, b, full)
}

// DropBuckets implements port.ReplicaWriter.
func (w *writer) DropBuckets(ctx context.Context) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.DropBuckets(ctx)
}

// JoinReplica implements port.ReplicaWriter.
func (w *writer) JoinReplica(ctx context.Context, id string, lease time.Duration) (self port.Replica, err error) {
	home, err := w.home(ctx)
	if err != nil {
		return self, err
	}
	if self, err = home.JoinReplica(ctx, id, lease); err != nil {
		return self, err
	}
	return self, w.others(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.MirrorReplica(ctx, self, lease) })
}

// RenewReplica implements port.ReplicaWriter. A life is over with Conflict, too, where another database took it for dead
// while this process could not reach it: what was erased there meanwhile did not wait for this process.
func (w *writer) RenewReplica(ctx context.Context, r port.Replica, lease time.Duration) error {
	home, err := w.home(ctx)
	if err != nil {
		return err
	}
	if err := home.RenewReplica(ctx, r, lease); err != nil {
		return err
	}
	return w.others(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.RenewReplica(ctx, r, lease) })
}

// LeaveReplica implements port.ReplicaWriter.
func (w *writer) LeaveReplica(ctx context.Context, r port.Replica) error {
	home, err := w.home(ctx)
	if err != nil {
		return err
	}
	if err := home.LeaveReplica(ctx, r); err != nil {
		return err
	}
	return w.others(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.LeaveReplica(ctx, r) })
}

// others is eachWriter but for the home.
func (w *writer) others(ctx context.Context, fn func(context.Context, *bunsql.Writer) error) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error {
		if b := w.t.open(w.t.s.home); b != nil && b.w == m {
			return nil
		}
		return fn(ctx, m)
	})
}

// claimed is the database of a claim: that of the organization whose job or webhook it is of, else the home.
func (w *writer) claimed(ctx context.Context, name string) (*bunsql.Writer, error) {
	if org := jobOrg(name); org != "" {
		return w.to(ctx, org)
	}
	if id, ok := webhookOf(name); ok {
		return w.sought(ctx, bunsql.SoughtWebhook, id)
	}
	return w.home(ctx)
}

// TakeClaim implements port.ReplicaWriter.
func (w *writer) TakeClaim(ctx context.Context, r port.Replica, name string) (c port.Claim, ok bool, err error) {
	m, err := w.claimed(ctx, name)
	if err != nil {
		return c, false, err
	}
	return m.TakeClaim(ctx, r, name)
}

// ConfirmClaim implements port.ReplicaWriter. One of the home is confirmed in each database that the
// transaction changes, too.
func (w *writer) ConfirmClaim(ctx context.Context, c port.Claim) error {
	m, err := w.claimed(ctx, c.Name)
	if err != nil {
		return err
	}
	if b := w.t.open(w.t.s.home); b != nil && b.w == m {
		w.t.claims = append(w.t.claims, c)
	}
	return m.ConfirmClaim(ctx, c)
}

// EndClaim implements port.ReplicaWriter.
func (w *writer) EndClaim(ctx context.Context, c port.Claim) error {
	m, err := w.claimed(ctx, c.Name)
	if err != nil {
		return err
	}
	return m.EndClaim(ctx, c)
}

// PutWatermarks implements port.ReplicaWriter.
func (w *writer) PutWatermarks(ctx context.Context, consumer string, keep time.Duration, marks []port.Watermark) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error {
		return m.PutWatermarks(ctx, consumer, keep, marks)
	})
}

// DropWatermarks implements port.ReplicaWriter.
func (w *writer) DropWatermarks(ctx context.Context) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.DropWatermarks(ctx) })
}

// The audit log: its end is the home's.

// AuditRecords implements port.AuditReader.
func (r *reader) AuditRecords(ctx context.Context, l port.AuditList) ([]port.AuditRecord, error) {
	m, err := r.home(ctx)
	if err != nil {
		return nil, err
	}
	return m.AuditRecords(ctx, l)
}

// AuditHead implements port.AuditReader.
func (r *reader) AuditHead(ctx context.Context) (h port.AuditHead, err error) {
	m, err := r.home(ctx)
	if err != nil {
		return h, err
	}
	return m.AuditHead(ctx)
}

// WaitingAudit implements port.AuditReader. What waits in other databases is taken over first.
func (r *reader) WaitingAudit(ctx context.Context, limit int) ([]port.AuditRecord, error) {
	if err := r.t.usable(ctx); err != nil {
		return nil, err
	}
	if !r.t.writes && r.t.open(r.t.s.home) == nil {
		for _, d := range r.t.s.all[1:] {
			if err := r.t.s.takeAudit(ctx, d); err != nil && !r.t.s.o.Unreachable(err) {
				return nil, err
			}
		}
	}
	m, err := r.home(ctx)
	if err != nil {
		return nil, err
	}
	return m.WaitingAudit(ctx, limit)
}

// takenAtOnce is how many audit records are taken over in one transaction.
const takenAtOnce = 500

// takeAudit takes over the audit records that wait in a database: they wait in the home before they go there, and
// the home knows them until then. Of several processes one does so at a time, since each locks the database's row.
func (s *Store) takeAudit(ctx context.Context, d *database) error {
	for {
		member, err := s.member(ctx, d)
		if err != nil {
			return err
		}
		read := func() (waiting []port.AuditRecord, err error) {
			return waiting, s.note(d, member.View(ctx, func(r port.Reader) (err error) {
				waiting, err = r.WaitingAudit(ctx, takenAtOnce)
				return err
			}))
		}
		waiting, err := read()
		if err != nil {
			return err
		}
		var taken []port.AuditRecord
		if err := s.aside(ctx, func(r *bunsql.Reader) (err error) {
			taken, err = r.TakenAudit(ctx, d.name, takenAtOnce)
			return err
		}); err != nil {
			return err
		}
		if len(waiting) == 0 && len(taken) == 0 {
			return nil
		}
		err = s.home.store.Update(ctx, func(w port.Writer) error {
			own := w.(*bunsql.Writer)
			if err := own.LockDatabase(ctx, d.name); err != nil {
				return err
			}
			if waiting, err = read(); err != nil { // by now: another process may have been quicker
				return err
			}
			return own.TakeAudit(ctx, d.name, waiting)
		})
		if err == nil {
			err = s.note(d, member.Update(ctx, func(w port.Writer) error { return w.(*bunsql.Writer).DropAudit(ctx, waiting) }))
		}
		if err == nil {
			err = s.home.store.Update(ctx, func(w port.Writer) error { return s.doneAudit(ctx, w.(*bunsql.Writer), d, read) })
		}
		if err != nil || len(waiting) < takenAtOnce {
			return err
		}
	}
}

// doneAudit has the home forget that it has taken what does not wait in the other database any more.
func (s *Store) doneAudit(ctx context.Context, w *bunsql.Writer, d *database,
	read func() ([]port.AuditRecord, error)) error {
	if err := w.LockDatabase(ctx, d.name); err != nil {
		return err
	}
	taken, err := w.TakenAudit(ctx, d.name, takenAtOnce)
	if err != nil {
		return err
	}
	waiting, err := read()
	if err != nil {
		return err
	}
	if len(waiting) == takenAtOnce { // there may be more, which are not seen
		return nil
	}
	still := map[string]bool{}
	for _, r := range waiting {
		still[r.ID] = true
	}
	return w.DoneAudit(ctx, slices.DeleteFunc(taken, func(r port.AuditRecord) bool { return still[r.ID] }))
}

// NumberAudit implements port.AuditWriter.
func (w *writer) NumberAudit(ctx context.Context, rs []port.AuditRecord) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.NumberAudit(ctx, rs)
}

// TrimAudit implements port.AuditWriter.
func (w *writer) TrimAudit(ctx context.Context, before time.Time, limit int) (int, error) {
	m, err := w.home(ctx)
	if err != nil {
		return 0, err
	}
	return m.TrimAudit(ctx, before, limit)
}

// AppendAudit implements port.AuditAppender: in the database that commits last of those that the transaction has changed.
func (w *writer) AppendAudit(ctx context.Context, r port.AuditRecord) error {
	d := w.t.s.home
	if b := w.t.open(d); b == nil || !b.w.Changed() {
		for _, b := range w.t.branches {
			if b.w.Changed() {
				d = b.d
			}
		}
	}
	m, err := w.at(ctx, d)
	if err != nil {
		return err
	}
	return m.AppendAudit(ctx, r)
}

// Changed implements port.AuditWriter.
func (w *writer) Changed() bool {
	return slices.ContainsFunc(w.t.branches, func(b *branch) bool { return b.w.Changed() })
}

// Secrets and usage are the home's.

// Secret implements port.SecretReader.
func (r *reader) Secret(ctx context.Context, name string) ([]byte, error) {
	m, err := r.home(ctx)
	if err != nil {
		return nil, err
	}
	return m.Secret(ctx, name)
}

// PutSecret implements port.SecretWriter.
func (w *writer) PutSecret(ctx context.Context, name string, value []byte) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.PutSecret(ctx, name, value)
}

// Usage implements port.UsageReader.
func (r *reader) Usage(ctx context.Context, l port.UsageList) ([]port.UsageRow, error) {
	m, err := r.home(ctx)
	if err != nil {
		return nil, err
	}
	return m.Usage(ctx, l)
}

// UsageBytes implements port.UsageReader.
func (r *reader) UsageBytes(ctx context.Context, l port.UsageBytesList) ([]port.UsageBytes, error) {
	m, err := r.home(ctx)
	if err != nil {
		return nil, err
	}
	return m.UsageBytes(ctx, l)
}

// Kept implements port.UsageReader.
func (r *reader) Kept(ctx context.Context, a port.UsageAccount) ([]port.UsageBytes, error) {
	if a.Org != "" {
		m, err := r.from(ctx, a.Org)
		if err != nil {
			return nil, err
		}
		return m.Kept(ctx, a)
	}
	all, err := listed(ctx, r.t, sweep, bunsql.Elsewhere, 0, func(u port.UsageBytes) ident.Org { return u.Org },
		func(ctx context.Context, m *bunsql.Reader, _ int) ([]port.UsageBytes, error) { return m.Kept(ctx, a) })
	slices.SortStableFunc(all, func(a, b port.UsageBytes) int {
		return cmp.Or(cmp.Compare(a.Org, b.Org), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Integration, b.Integration))
	})
	return all, err
}

// AddUsage implements port.UsageWriter.
func (w *writer) AddUsage(ctx context.Context, rows []port.UsageRow) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.AddUsage(ctx, rows)
}

// PutUsageBytes implements port.UsageWriter.
func (w *writer) PutUsageBytes(ctx context.Context, all []port.UsageBytes) error {
	m, err := w.home(ctx)
	if err != nil {
		return err
	}
	return m.PutUsageBytes(ctx, all)
}

// TrimUsage implements port.UsageWriter.
func (w *writer) TrimUsage(ctx context.Context, before time.Time, limit int) (int, error) {
	m, err := w.home(ctx)
	if err != nil {
		return 0, err
	}
	return m.TrimUsage(ctx, before, limit)
}

// What looks at all organizations.

// extent says what is read of all databases.
type extent bool

const (
	whole extent = false // all of them
	sweep extent = true  // those that answer
)

// gather puts what all databases give behind one another.
func gather[T any](ctx context.Context, t *transaction, e extent,
	read func(context.Context, *bunsql.Reader) ([]T, error)) ([]T, error) {
	var all []T
	err := t.each(ctx, e, func(ctx context.Context, m *bunsql.Reader) error {
		some, err := read(ctx, m)
		all = append(all, some...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// listed is gather of up to limit rows of each database (0: all), without those of organizations whose standing there is least
// or more: what is being moved is not worked on, and what lies in two databases is listed once.
func listed[T any](ctx context.Context, t *transaction, e extent, least bunsql.Standing, limit int, org func(T) ident.Org,
	read func(context.Context, *bunsql.Reader, int) ([]T, error)) ([]T, error) {
	return gather(ctx, t, e, func(ctx context.Context, m *bunsql.Reader) ([]T, error) {
		for ask := limit; ; ask *= 2 {
			some, err := read(ctx, m, ask)
			all := len(some)
			if err == nil {
				some, err = settled(ctx, m, least, org, some)
			}
			if err != nil || limit == 0 || all < ask || len(some) >= limit {
				return some, err
			}
		}
	})
}

// settled leaves out the rows of organizations whose standing in a database is least or more.
func settled[T any](ctx context.Context, m *bunsql.Reader, least bunsql.Standing, org func(T) ident.Org, rows []T) ([]T, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	moved, err := m.Unsettled(ctx, least)
	return slices.DeleteFunc(rows, func(row T) bool { return moved[org(row)] }), err
}

// first cuts a list; limit 0: none.
func first[T any](all []T, limit int) []T {
	if limit > 0 && len(all) > limit {
		return all[:limit]
	}
	return all
}

// Job implements port.JobReader.
func (r *reader) Job(ctx context.Context, org ident.Org, id string) (j port.Job, err error) {
	if org != "" {
		m, err := r.from(ctx, org)
		if err != nil {
			return j, err
		}
		return m.Job(ctx, org, id)
	}
	missing := error(nil)
	var all []port.Job
	err = r.t.each(ctx, whole, func(ctx context.Context, m *bunsql.Reader) error {
		one, err := m.Job(ctx, "", id)
		if fault.CodeOf(err) == fault.NotFound {
			missing = err
			return nil
		}
		if err == nil {
			var here []port.Job
			here, err = settled(ctx, m, bunsql.Elsewhere, jobOf, []port.Job{one})
			all = append(all, here...)
		}
		return err
	})
	if err != nil {
		return j, err
	}
	if len(all) == 0 && missing == nil {
		return j, moving()
	}
	if len(all) == 0 {
		return j, missing
	}
	return slices.MinFunc(all, func(a, b port.Job) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Org, b.Org))
	}), nil
}

// Jobs implements port.JobReader.
func (r *reader) Jobs(ctx context.Context, l port.JobList) ([]port.Job, error) {
	if org := cmp.Or(l.Org, l.Partition.Org()); org != "" {
		m, err := r.from(ctx, org)
		if err != nil {
			return nil, err
		}
		return m.Jobs(ctx, l)
	}
	all, err := listed(ctx, r.t, whole, bunsql.Elsewhere, l.Limit, jobOf,
		func(ctx context.Context, m *bunsql.Reader, limit int) ([]port.Job, error) {
			page := l
			page.Limit = limit
			return m.Jobs(ctx, page)
		})
	slices.SortStableFunc(all, func(a, b port.Job) int {
		return -cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Org, b.Org))
	})
	return first(all, l.Limit), err
}

func jobOf(j port.Job) ident.Org { return j.Org }

// UnclaimedJobs implements port.JobReader.
func (r *reader) UnclaimedJobs(ctx context.Context, self port.Replica, held, kinds []string, limit int) ([]port.Job, error) {
	all, err := listed(ctx, r.t, sweep, bunsql.Leaving, limit, jobOf,
		func(ctx context.Context, m *bunsql.Reader, limit int) ([]port.Job, error) {
			return m.UnclaimedJobs(ctx, self, held, kinds, limit)
		})
	if err != nil {
		return nil, err
	}
	// Each database has those of one time by their place among those of their organization, of which it has all.
	type among struct {
		org ident.Org
		at  int64
	}
	seen, place := map[among]int{}, map[*port.Job]int{}
	sorted := make([]*port.Job, len(all))
	for i := range all {
		j := &all[i]
		key := among{j.Org, j.NextAttempt.UnixMicro()}
		sorted[i], place[j] = j, seen[key]
		seen[key]++
	}
	slices.SortStableFunc(sorted, func(a, b *port.Job) int {
		return cmp.Or(a.NextAttempt.Compare(b.NextAttempt), cmp.Compare(place[a], place[b]), a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Org, b.Org))
	})
	out := make([]port.Job, 0, min(limit, len(sorted)))
	for _, j := range sorted[:min(max(limit, 0), len(sorted))] {
		out = append(out, *j)
	}
	return out, nil
}

// CancelledJobs implements port.JobReader.
func (r *reader) CancelledJobs(ctx context.Context) ([]port.Job, error) {
	all, err := listed(ctx, r.t, sweep, bunsql.Leaving, 0, jobOf,
		func(ctx context.Context, m *bunsql.Reader, _ int) ([]port.Job, error) { return m.CancelledJobs(ctx) })
	slices.SortStableFunc(all, func(a, b port.Job) int { return cmp.Or(cmp.Compare(a.Org, b.Org), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// DeleteExpiredJobs implements port.JobWriter.
func (w *writer) DeleteExpiredJobs(ctx context.Context, before time.Time) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.DeleteExpiredJobs(ctx, before) })
}

// DataKeys implements port.DataKeyReader.
func (r *reader) DataKeys(ctx context.Context) ([]port.DataKey, error) {
	all, err := listed(ctx, r.t, whole, bunsql.Elsewhere, 0, func(k port.DataKey) ident.Org { return k.Org },
		func(ctx context.Context, m *bunsql.Reader, _ int) ([]port.DataKey, error) { return m.DataKeys(ctx) })
	slices.SortStableFunc(all, func(a, b port.DataKey) int { return cmp.Compare(a.Org, b.Org) })
	return all, err
}

// Sources implements port.SourceReader.
func (r *reader) Sources(ctx context.Context, l port.SourceList) ([]port.SourceRow, error) {
	if l.Org != "" {
		m, err := r.from(ctx, l.Org)
		if err != nil {
			return nil, err
		}
		return m.Sources(ctx, l)
	}
	all, err := listed(ctx, r.t, sweep, bunsql.Elsewhere, l.Limit, sourceOf,
		func(ctx context.Context, m *bunsql.Reader, limit int) ([]port.SourceRow, error) {
			page := l
			page.Limit = limit
			return m.Sources(ctx, page)
		})
	slices.SortStableFunc(all, func(a, b port.SourceRow) int { return cmp.Compare(a.ID, b.ID) })
	return first(all, l.Limit), err
}

func sourceOf(s port.SourceRow) ident.Org { return s.Org }

// DueSources implements port.SourceReader.
func (r *reader) DueSources(ctx context.Context, by time.Time, limit int) ([]port.SourceRow, error) {
	all, err := listed(ctx, r.t, sweep, bunsql.Leaving, limit, sourceOf,
		func(ctx context.Context, m *bunsql.Reader, limit int) ([]port.SourceRow, error) {
			return m.DueSources(ctx, by, limit)
		})
	due := func(s port.SourceRow) time.Time {
		if s.NextRun.IsZero() || !s.NextRetry.IsZero() && s.NextRetry.Before(s.NextRun) {
			return s.NextRetry
		}
		return s.NextRun
	}
	slices.SortStableFunc(all, func(a, b port.SourceRow) int {
		return cmp.Or(due(a).Compare(due(b)), cmp.Compare(a.ID, b.ID))
	})
	return first(all, limit), err
}

// Erasing implements port.MemoryReader.
func (r *reader) Erasing(ctx context.Context) ([]port.Partition, error) {
	return listed(ctx, r.t, sweep, bunsql.Leaving, 0, port.Partition.Org,
		func(ctx context.Context, m *bunsql.Reader, _ int) ([]port.Partition, error) { return m.Erasing(ctx) })
}

// DeleteIdempotentReplies implements port.MemoryWriter.
func (w *writer) DeleteIdempotentReplies(ctx context.Context, before time.Time) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error {
		return m.DeleteIdempotentReplies(ctx, before)
	})
}

// TouchEndUsers implements port.MemoryWriter.
func (w *writer) TouchEndUsers(ctx context.Context, seen map[int64]time.Time) error {
	return w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error { return m.TouchEndUsers(ctx, seen) })
}

// Shadows implements port.PartitionReader.
func (r *reader) Shadows(ctx context.Context, org ident.Org) ([]port.PartitionEntry, error) {
	if org != "" {
		m, err := r.from(ctx, org)
		if err != nil {
			return nil, err
		}
		return m.Shadows(ctx, org)
	}
	return listed(ctx, r.t, sweep, bunsql.Elsewhere, 0, func(e port.PartitionEntry) ident.Org { return e.Partition.Org() },
		func(ctx context.Context, m *bunsql.Reader, _ int) ([]port.PartitionEntry, error) {
			return m.Shadows(ctx, "")
		})
}

// Generations implements port.PartitionReader. What is not among them is removed from indexes, so all databases have to
// answer, and no organization may go from one that was not asked yet to one that was: Unavailable while one is moved.
func (r *reader) Generations(ctx context.Context) ([]int64, error) {
	last, open := int64(0), int64(0)
	moves := func(m *bunsql.Reader) (err error) { last, open, err = m.Moves(ctx); return err }
	if err := r.t.s.aside(ctx, moves); err != nil {
		return nil, err
	}
	before := last
	all, err := gather(ctx, r.t, whole, func(ctx context.Context, m *bunsql.Reader) ([]int64, error) {
		return m.Generations(ctx)
	})
	if err == nil {
		err = r.t.s.aside(ctx, moves)
	}
	if err == nil && (open > 0 || last != before) {
		return nil, fault.New(fault.Unavailable, "an organization is being moved to another database").After(30 * time.Second)
	}
	return all, err
}

// UnnumberedEvents implements port.EventReader.
func (r *reader) UnnumberedEvents(ctx context.Context, limit int) ([]port.Event, error) {
	all, err := listed(ctx, r.t, sweep, bunsql.Leaving, limit, func(e port.Event) ident.Org { return e.Org },
		func(ctx context.Context, m *bunsql.Reader, limit int) ([]port.Event, error) {
			return m.UnnumberedEvents(ctx, limit)
		})
	return first(all, limit), err
}

// byOrg calls fn for the rows of each database in which rows have their organizations, in their order.
func byOrg[T any](ctx context.Context, w *writer, rows []T, org func(T) ident.Org, fn func(*bunsql.Writer, []T) error) error {
	var order []*bunsql.Writer
	parts := map[*bunsql.Writer][]T{}
	for _, row := range rows {
		m, err := w.to(ctx, org(row))
		if err != nil {
			return err
		}
		if parts[m] == nil {
			order = append(order, m)
		}
		parts[m] = append(parts[m], row)
	}
	for _, m := range order {
		if err := fn(m, parts[m]); err != nil {
			return err
		}
	}
	return w.t.usable(ctx)
}

// AppendEvents implements port.EventWriter.
func (w *writer) AppendEvents(ctx context.Context, events []port.Event) error {
	return byOrg(ctx, w, events, func(e port.Event) ident.Org { return e.Org }, func(m *bunsql.Writer, some []port.Event) error {
		return m.AppendEvents(ctx, some)
	})
}

// NumberEvents implements port.EventWriter.
func (w *writer) NumberEvents(ctx context.Context, events []port.Event) (all []port.Event, err error) {
	err = byOrg(ctx, w, events, func(e port.Event) ident.Org { return e.Org }, func(m *bunsql.Writer, some []port.Event) error {
		numbered, err := m.NumberEvents(ctx, some)
		all = append(all, numbered...)
		return err
	})
	return all, err
}

// TrimEvents implements port.EventWriter.
func (w *writer) TrimEvents(ctx context.Context, before time.Time, limit int) (more bool, err error) {
	err = w.t.eachWriter(ctx, func(ctx context.Context, m *bunsql.Writer) error {
		further, err := m.TrimEvents(ctx, before, limit)
		more = more || further
		return err
	})
	return more, err
}

// HasWebhooks implements port.WebhookReader.
func (r *reader) HasWebhooks(ctx context.Context) (has bool, err error) {
	err = r.t.each(ctx, sweep, func(ctx context.Context, m *bunsql.Reader) error {
		if has {
			return nil
		}
		var err error
		has, err = m.HasWebhooks(ctx)
		return err
	})
	return has, err
}

// DueWebhooks implements port.WebhookReader.
func (r *reader) DueWebhooks(ctx context.Context, self port.Replica, by time.Time, limit int) (due []port.WebhookRow,
	next time.Time, err error) {
	type waiting struct {
		row   port.WebhookRow
		since time.Time
	}
	var all []waiting
	err = r.t.each(ctx, sweep, func(ctx context.Context, m *bunsql.Reader) error {
		some, then, err := m.DueWebhooks(ctx, self, by, limit)
		if err == nil {
			some, err = settled(ctx, m, bunsql.Leaving, func(row port.WebhookRow) ident.Org { return row.Org }, some)
		}
		for _, row := range some {
			if err == nil {
				var since time.Time
				since, err = m.WebhookDue(ctx, row.ID, by)
				all = append(all, waiting{row, since})
			}
		}
		if err == nil && (next.IsZero() || !then.IsZero() && then.Before(next)) {
			next = then
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b waiting) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.row.ID, b.row.ID))
	})
	for _, w := range first(all, limit) {
		due = append(due, w.row)
	}
	return due, next, err
}

// AppendDeliveries implements port.WebhookWriter.
func (w *writer) AppendDeliveries(ctx context.Context, deliveries []port.Delivery) error {
	return byOrg(ctx, w, deliveries, func(d port.Delivery) ident.Org { return d.Org },
		func(m *bunsql.Writer, some []port.Delivery) error { return m.AppendDeliveries(ctx, some) })
}

// Ids that are unique among all organizations.

// own is what writes to an organization a row whose id no other organization may have: fault Conflict where one has it
// in another database. has looks for the id.
func (w *writer) own(ctx context.Context, org ident.Org, kind, id string,
	has func(context.Context, *bunsql.Reader) (bool, error)) (*bunsql.Writer, error) {
	m, err := w.to(ctx, org)
	if err != nil {
		return nil, err
	}
	here, err := has(ctx, &m.Reader)
	if err != nil || here {
		return m, err
	}
	taken := false
	err = w.t.each(ctx, sweep, func(ctx context.Context, other *bunsql.Reader) error {
		there, err := has(ctx, other)
		taken = taken || there
		return err
	})
	if err == nil && taken {
		_, err = m.Organization(ctx, org) // that there is none comes first
	}
	if err == nil && taken {
		err = fault.New(fault.Conflict, "the %s %s is of another organization", kind, fault.Clip(id))
	}
	return m, err
}

// PutSource implements port.SourceWriter.
func (w *writer) PutSource(ctx context.Context, s port.SourceRow) error {
	m, err := w.own(ctx, s.Org, "source", s.ID, func(ctx context.Context, m *bunsql.Reader) (bool, error) {
		return m.HasSource(ctx, s.ID)
	})
	if err != nil {
		return err
	}
	return m.PutSource(ctx, s)
}

// PutSourceRun implements port.SourceWriter.
func (w *writer) PutSourceRun(ctx context.Context, r port.SourceRun) error {
	m, err := w.own(ctx, r.Org, "run", r.ID, func(ctx context.Context, m *bunsql.Reader) (bool, error) {
		return m.HasSourceRun(ctx, r.ID)
	})
	if err != nil {
		return err
	}
	return m.PutSourceRun(ctx, r)
}

// PutWebhook implements port.WebhookWriter.
func (w *writer) PutWebhook(ctx context.Context, row port.WebhookRow) error {
	m, err := w.own(ctx, row.Org, "webhook", row.ID, func(ctx context.Context, m *bunsql.Reader) (bool, error) {
		return m.HasWebhook(ctx, row.ID)
	})
	if err != nil {
		return err
	}
	return m.PutWebhook(ctx, row)
}

// PutMember implements port.MemberWriter.
func (w *writer) PutMember(ctx context.Context, member port.Member) error {
	m, err := w.own(ctx, member.Org, "member", member.ID, func(ctx context.Context, m *bunsql.Reader) (bool, error) {
		return m.HasMember(ctx, member.ID)
	})
	if err != nil {
		return err
	}
	return m.PutMember(ctx, member)
}

// Statistics implements port.StatisticsReader.
func (r *reader) Statistics(ctx context.Context) (s port.Statistics, err error) {
	jobs := map[port.JobQueue]port.JobQueue{}
	began := false
	err = r.t.each(ctx, sweep, func(ctx context.Context, m *bunsql.Reader) error {
		one, err := m.Statistics(ctx)
		if err != nil {
			return err
		}
		if !began { // the home is first, and has all of these
			s.Organizations, s.Replicas, began = one.Organizations, one.Replicas, true
		}
		add(&s.Namespaces, one.Namespaces)
		add(&s.EndUsers, one.EndUsers)
		s.Deliveries += one.Deliveries
		s.OldestDelivery = max(s.OldestDelivery, one.OldestDelivery)
		for _, q := range one.Jobs {
			key := port.JobQueue{Kind: q.Kind, Status: q.Status}
			sum := jobs[key]
			jobs[key] = port.JobQueue{Kind: q.Kind, Status: q.Status, Jobs: sum.Jobs + q.Jobs, Oldest: max(sum.Oldest, q.Oldest)}
		}
		return nil
	})
	for _, q := range jobs {
		s.Jobs = append(s.Jobs, q)
	}
	slices.SortFunc(s.Jobs, func(a, b port.JobQueue) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Status, b.Status))
	})
	return s, err
}

func add(sum *port.Contents, c port.Contents) {
	sum.Partitions, sum.Documents = sum.Partitions+c.Partitions, sum.Documents+c.Documents
	sum.Chunks, sum.Bytes = sum.Chunks+c.Chunks, sum.Bytes+c.Bytes
}

var (
	_ port.Reader              = (*reader)(nil)
	_ port.DocumentWriter      = (*writer)(nil)
	_ port.PartitionLister     = (*reader)(nil)
	_ port.OrganizationRemover = (*writer)(nil)
)
