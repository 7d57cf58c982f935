package member

import (
	"context"
	"fmt"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Several says that an account is of members of several organizations, where a sign-in named none.
type Several struct {
	Organizations []string // their names, in order
}

func (Several) Error() string { return "the account is a member of several organizations" }

// candidate is a member that an account may sign in as.
type candidate struct {
	port.Member
	org   port.Organization
	bound bool // to this very account
}

// SignInWith finds out whom an account of an identity provider signs in as: the member of the
// organization, named by name or id, that it is bound to, or the one with its address, which the
// provider has to vouch for. That member is bound to the account from then on, and has joined.
// Without a name it is the organization that has such a member, and error Several where many
// have. About is told who it is before a binding is stored. Fault Unauthorized, with a sentence,
// for an account that nobody has invited, and a member who is disabled.
func (s *Service) SignInWith(ctx context.Context, org string, id port.Identity,
	about func(ident.Principal)) (p ident.Principal, err error) {
	if !id.EmailVerified || !plausible(Address(id.Email)) {
		id.Email = ""
	}
	id.Email = Address(id.Email)
	var found candidate
	err = s.store.View(ctx, func(r reader) (err error) {
		found, err = s.choose(ctx, r, org, id)
		return err
	})
	if err == nil && !found.settled() {
		err = s.store.Update(ctx, func(w writer) (err error) {
			if found, err = s.choose(ctx, w, org, id); err != nil {
				return err
			}
			about(principal(found.Member, found.org))
			if found.settled() { // by another sign-in, just before
				return nil
			}
			found.Issuer, found.Subject = id.Issuer, id.Subject
			if found.JoinedAt.IsZero() {
				found.JoinedAt = s.now()
			}
			if err := w.DropInvitation(ctx, found.Org, found.ID); err != nil {
				return err
			}
			return w.ChangeMember(ctx, found.Member)
		})
	}
	if err != nil {
		return ident.Principal{}, fmt.Errorf("sign in with account: %w", err)
	}
	return principal(found.Member, found.org), nil
}

// settled reports whether signing in changes nothing of the member.
func (c candidate) settled() bool { return c.bound && !c.JoinedAt.IsZero() }

// choose finds the one member that an account signs in as.
func (s *Service) choose(ctx context.Context, r reader, org string, id port.Identity) (candidate, error) {
	all, err := r.MembersOf(ctx, id.Issuer, id.Subject, id.Email)
	if err != nil {
		return candidate{}, err
	}
	of := map[ident.Org]candidate{}
	taken, closed := false, false
	var order []ident.Org
	for _, m := range all {
		c := candidate{Member: m, bound: m.Issuer == id.Issuer && m.Subject == id.Subject}
		if !c.bound && m.Subject != "" && m.Issuer == id.Issuer {
			taken = true // by another account of the same provider: an address may be given to somebody else
			continue
		}
		if c.org, err = r.Organization(ctx, m.Org); err != nil {
			return candidate{}, err
		}
		if org != "" && org != c.org.Name && org != string(c.org.ID) {
			continue
		}
		if active(c.org) != nil {
			closed = true
			continue
		}
		known, there := of[m.Org]
		if !there {
			order = append(order, m.Org)
		}
		if !there || !known.bound { // the account itself says more than its address
			of[m.Org] = c
		}
	}
	switch {
	case len(order) > 1:
		var names []string
		for _, o := range order {
			names = append(names, of[o].org.Name)
		}
		return candidate{}, Several{names}
	case len(order) == 1:
		c := of[order[0]]
		if !c.DisabledAt.IsZero() {
			return candidate{}, fault.New(fault.Unauthorized, "an owner of the organization has disabled your sign-in")
		}
		return c, nil
	case closed:
		return candidate{}, fault.New(fault.Unauthorized, "the organization is suspended")
	case taken:
		return candidate{}, fault.New(fault.Unauthorized,
			"the member with this address has signed in with another account: ask an owner to unbind it")
	case id.Email == "":
		return candidate{}, fault.New(fault.Unauthorized,
			"nobody is a member with this account, and the provider does not say that its address was verified")
	}
	return candidate{}, fault.New(fault.Unauthorized,
		"nobody with the address of this account is a member: ask an owner to invite %s", fault.Clip(id.Email))
}

// Unbind unbinds the account of the member who calls from them, and ends their sessions but the one of a hash. The
// next account with their verified address is bound instead. It is safe to repeat. Fault Forbidden where the caller is
// no member.
func (s *Service) Unbind(ctx context.Context, who ident.Principal, but [32]byte) error {
	if who.Role == "" {
		return fault.New(fault.Forbidden, "a key has no account at an identity provider")
	}
	err := s.store.Update(ctx, func(w writer) error {
		m, err := w.Member(ctx, who.Org, who.KeyID)
		if err != nil || m.Subject == "" {
			return err
		}
		m.Issuer, m.Subject = "", ""
		if err := w.ChangeMember(ctx, m); err != nil {
			return err
		}
		return w.EndMemberSessions(ctx, m.Org, m.ID, but)
	})
	if err != nil {
		return fmt.Errorf("unbind account: %w", err)
	}
	return nil
}
