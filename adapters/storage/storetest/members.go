package storetest

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func (f *fixture) person(org ident.Org, id, email string) port.Member {
	return port.Member{Org: org, ID: id, Email: email, Role: ident.Owner, InvitedBy: "key_admin", CreatedAt: at(1)}
}

func (f *fixture) putMembers(all ...port.Member) {
	f.update(func(w port.DocumentWriter) error {
		for _, m := range all {
			if err := w.PutMember(f.ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fixture) memberOf(org ident.Org, id string) (m port.Member, err error) {
	err = f.s.View(f.ctx, func(r port.Reader) (err error) { m, err = r.Member(f.ctx, org, id); return err })
	return m, err
}

func (f *fixture) invite(org ident.Org, member, code string, expires int) error {
	return f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutInvitation(f.ctx, port.Invitation{Hash: sha256.Sum256([]byte(code)), Org: org, Member: member,
			ExpiresAt: at(expires)})
	})
}

func (f *fixture) takeInvitation(code string) (i port.Invitation, err error) {
	err = f.s.Update(f.ctx, func(w port.Writer) (err error) {
		i, err = w.TakeInvitation(f.ctx, sha256.Sum256([]byte(code)))
		return err
	})
	return i, err
}

// members: each is one organization's, with an address of its own there.
func members(t *testing.T, f *fixture) {
	f.otherOrganization()
	ann, bob, theirs := f.person(f.org, "mbr_a", "ann@example.com"), f.person(f.org, "mbr_b", "bob@example.com"),
		f.person(otherOrg, "mbr_t", "ann@example.com")
	bob.Role, bob.Password, bob.JoinedAt = ident.Viewer, "$argon2id$x", at(2)
	f.putMembers(bob, ann, theirs)
	for what, m := range map[string]port.Member{"a taken email": f.person(f.org, "mbr_c", ann.Email),
		"a taken id": f.person(otherOrg, ann.ID, "cy@example.com")} {
		f.want(what, f.s.Update(f.ctx, func(w port.Writer) error { return w.PutMember(f.ctx, m) }), fault.Conflict)
	}
	f.want("of no organization", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutMember(f.ctx, f.person("org_none", "mbr_n", "n@example.com"))
	}), fault.NotFound)

	got, err := f.memberOf(f.org, bob.ID)
	f.same("as it was written", []any{got, err}, []any{bob, error(nil)})
	_, err = f.memberOf(otherOrg, bob.ID)
	f.want("by another organization", err, fault.NotFound)
	f.view(func(r port.Reader) error {
		m, err := r.MemberByEmail(f.ctx, otherOrg, ann.Email)
		f.same("by email", []any{m, err}, []any{theirs, error(nil)})
		_, err = r.MemberByEmail(f.ctx, otherOrg, bob.Email)
		f.want("by email in another organization", err, fault.NotFound)
		for _, c := range []struct {
			after string
			limit int
			want  []port.Member
		}{{"", 0, []port.Member{ann, bob}}, {"", 1, []port.Member{ann}}, {ann.Email, 5, []port.Member{bob}},
			{bob.Email, 5, nil}} {
			some, err := r.Members(f.ctx, f.org, c.after, c.limit)
			f.same("a page", []any{some, err}, []any{c.want, error(nil)})
		}
		return nil
	})

	ann.Role, ann.Password, ann.JoinedAt, ann.DisabledAt = ident.Administrator, "$argon2id$y", at(3), at(4)
	change := func(m port.Member) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.ChangeMember(f.ctx, m) })
	}
	f.same("change", change(ann), error(nil))
	wrong := ann
	wrong.Org = otherOrg
	f.want("change of another organization's", change(wrong), fault.NotFound)
	got, _ = f.memberOf(f.org, ann.ID)
	f.same("changed", got, ann)
	remove := func(org ident.Org) (removed bool) {
		f.update(func(w port.DocumentWriter) (err error) { removed, err = w.RemoveMember(f.ctx, org, bob.ID); return err })
		return removed
	}
	f.same("removed by another organization, by its own, again", []bool{remove(otherOrg), remove(f.org), remove(f.org)},
		[]bool{false, true, false})
	_, err = f.memberOf(f.org, bob.ID)
	f.want("a removed one", err, fault.NotFound)
}

// accounts: an account of an identity provider is one member of an organization, and finds the
// members that it is, or may be by its address, in all of them.
func accounts(t *testing.T, f *fixture) {
	f.otherOrganization()
	const here, there = "https://id.example.com", "https://id.example.org"
	ann, bob, theirs := f.person(f.org, "mbr_a", "ann@example.com"), f.person(f.org, "mbr_b", "bob@example.com"),
		f.person(otherOrg, "mbr_t", "ann@example.com")
	theirs.Issuer, theirs.Subject, theirs.JoinedAt, theirs.DisabledAt = here, "7", at(2), at(3)
	f.putMembers(ann, bob, theirs)
	change := func(m port.Member) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.ChangeMember(f.ctx, m) })
	}
	bob.Issuer, bob.Subject = here, "7"
	f.fine("the account in another organization, too", change(bob))
	taken := ann
	taken.Issuer, taken.Subject = here, "7"
	f.want("an account that another member has", change(taken), fault.Conflict)
	taken.ID, taken.Email = "mbr_c", "cy@example.com"
	f.want("a new member with it", f.s.Update(f.ctx, func(w port.Writer) error { return w.PutMember(f.ctx, taken) }),
		fault.Conflict)
	ann.Issuer, ann.Subject = there, "7"
	f.fine("the same subject at another provider", change(ann))
	cy, dan := f.person(f.org, "mbr_c", "cy@example.com"), f.person(f.org, "mbr_d", "dan@example.com")
	f.putMembers(cy, dan)
	dan.Issuer = here
	f.fine("no subject", change(dan))
	dan.Issuer, cy.Issuer = "", here
	f.fine("nor another's", errors.Join(change(dan), change(cy)))
	f.fine("and none of both", change(f.person(f.org, "mbr_c", "cy@example.com")))

	f.view(func(r port.Reader) error {
		for _, c := range []struct {
			issuer, subject, email string
			want                   []string
		}{
			{here, "7", "", []string{"mbr_b", "mbr_t"}},
			{here, "7", "ann@example.com", []string{"mbr_a", "mbr_b", "mbr_t"}},
			{there, "7", "nobody@example.com", []string{"mbr_a"}},
			{here, "8", "ann@example.com", []string{"mbr_a", "mbr_t"}},
			{here, "", "", nil}, {"", "", "", nil}, {"", "7", "", nil}, {here, "8", "x", nil},
		} {
			found, err := r.MembersOf(f.ctx, c.issuer, c.subject, c.email)
			var ids []string
			for _, m := range found {
				ids = append(ids, m.ID)
			}
			slices.Sort(ids)
			f.same("who "+c.issuer+" "+c.subject+" "+c.email+" is", []any{ids, err}, []any{c.want, error(nil)})
		}
		found, _ := r.MembersOf(f.ctx, here, "7", "")
		f.same("as it was written", found[slices.IndexFunc(found, func(m port.Member) bool { return m.ID == theirs.ID })], theirs)
		if !slices.IsSortedFunc(found, func(a, b port.Member) int { return strings.Compare(string(a.Org), string(b.Org)) }) {
			t.Errorf("not by organization: %v", found)
		}
		return nil
	})
}

// memberSessions: sessions and invitations are their member's, and go with them.
func memberSessions(t *testing.T, f *fixture) {
	f.otherOrganization()
	ann, bob, theirs := f.person(f.org, "mbr_a", "ann@example.com"), f.person(f.org, "mbr_b", "bob@example.com"),
		f.person(otherOrg, "mbr_t", "ann@example.com")
	dan := f.person(f.org, "mbr_d", "dan@example.com")
	f.putMembers(ann, bob, theirs, dan)
	begin := func(token string, org ident.Org, member string) (port.Session, error) {
		s := f.signedIn(token, 5, 100)
		s.Org, s.KeyID, s.Member = org, "", member
		return s, f.s.Update(f.ctx, func(w port.Writer) error { return w.PutSession(f.ctx, s) })
	}
	_, err := begin("x", otherOrg, ann.ID)
	f.want("a session of another organization's member", err, fault.NotFound)
	one, err := begin("one", f.org, ann.ID)
	f.fine("begin", err)
	two, err := begin("two", f.org, ann.ID)
	f.fine("begin", err)
	_, err = begin("three", f.org, bob.ID)
	f.fine("begin", err)
	f.update(func(w port.DocumentWriter) error { return w.TouchSession(f.ctx, one.Hash, at(9)) })
	one.SeenAt = at(9)
	got, err := f.session("one")
	f.same("as it was written", []any{got, err}, []any{one, error(nil)})

	f.want("an invitation of another organization's member", f.invite(otherOrg, ann.ID, "x", 50), fault.NotFound)
	f.fine("invite", f.invite(f.org, ann.ID, "first", 40))
	f.fine("invite again", f.invite(f.org, ann.ID, "second", 50))
	f.fine("invite another", f.invite(f.org, bob.ID, "bob", 50))
	m, _ := f.memberOf(f.org, ann.ID)
	f.same("until when", m.InvitedUntil, at(50))
	f.fine("invite one who needs none", f.invite(f.org, dan.ID, "dan", 50))
	drop := func(org ident.Org) (port.Member, error) {
		f.update(func(w port.DocumentWriter) error { return w.DropInvitation(f.ctx, org, dan.ID) })
		return f.memberOf(f.org, dan.ID)
	}
	m, _ = drop(otherOrg)
	f.same("dropped by another organization", m.InvitedUntil, at(50))
	m, _ = drop(f.org)
	f.same("dropped", m.InvitedUntil, time.Time{})
	m, _ = drop(f.org)
	f.same("and again", m.InvitedUntil, time.Time{})
	_, err = f.takeInvitation("dan")
	f.want("one that was dropped", err, fault.NotFound)
	_, err = f.takeInvitation("first")
	f.want("one that was replaced", err, fault.NotFound)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if i, err := f.takeInvitation("second"); err == nil {
				won.Add(1)
				f.same("as it was written", i, port.Invitation{Hash: sha256.Sum256([]byte("second")), Org: f.org, Member: ann.ID,
					ExpiresAt: at(50)})
			} else if code := fault.CodeOf(err); code != fault.NotFound {
				t.Errorf("taken by another: %v", err)
			}
		})
	}
	all.Wait()
	f.same("how many got it", won.Load(), int32(1))

	end := func(org ident.Org) {
		f.update(func(w port.DocumentWriter) error { return w.EndMemberSessions(f.ctx, org, ann.ID, two.Hash) })
	}
	there := func() (out []bool) {
		for _, token := range []string{"one", "two", "three"} {
			_, err := f.session(token)
			out = append(out, err == nil)
		}
		return out
	}
	end(otherOrg)
	f.same("ended by another organization", there(), []bool{true, true, true})
	end(f.org)
	f.same("ended but for one", there(), []bool{false, true, true})

	purge := func(now, idle int) (n int) {
		f.update(func(w port.DocumentWriter) (err error) {
			n, err = w.PurgeSessions(f.ctx, at(now), at(idle))
			return err
		})
		return n
	}
	f.same("nothing is old", purge(49, 4), 0)
	f.same("bob's invitation", purge(50, 4), 1)
	f.same("idle sessions", purge(50, 5), 2)

	_, err = begin("four", f.org, bob.ID)
	f.fine("begin", err)
	f.fine("invite", f.invite(f.org, bob.ID, "again", 500))
	f.update(func(w port.DocumentWriter) error { _, err := w.RemoveMember(f.ctx, f.org, bob.ID); return err })
	_, err = f.session("four")
	f.want("a session of one who is gone", err, fault.NotFound)
	_, err = f.takeInvitation("again")
	f.want("an invitation of one who is gone", err, fault.NotFound)

	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(5)) })
	f.want("a member of an organization that is being deleted", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.PutMember(f.ctx, f.person(otherOrg, "mbr_l", "late@example.com"))
	}), fault.NotFound)
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 1)
			return err
		})
	}
	_, err = f.memberOf(otherOrg, theirs.ID)
	f.want("a member of a deleted organization", err, fault.NotFound)
	_, err = f.memberOf(f.org, ann.ID)
	f.fine("another's member", err)
}
