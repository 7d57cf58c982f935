package member

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Organizations finds organizations, as core/key's Service does.
type Organizations interface {
	// Organization finds one by id or name; fault NotFound when absent.
	Organization(ctx context.Context, ref string) (port.Organization, error)
}

// Settings configure a Service. Store, Organizations and Pages are required.
type Settings struct {
	Store         port.Store
	Organizations Organizations
	Pages         *page.Signer
	Now           func() time.Time // nil: time.Now
	Log           *slog.Logger     // nil: nothing is logged
}

// InvitationFor is how long an invitation is good.
const InvitationFor = 7 * 24 * time.Hour

// codePrefix is how the code of an invitation begins, so that people and secret scanners
// recognise it.
const codePrefix = "mnsi_"

// InvitationPath is the page where a code is turned in, below the server's address. The
// code follows behind a #, which browsers send to nobody.
const InvitationPath = "/console/invitation#code="

type reader interface {
	port.MemberReader
	port.OrganizationReader
}

type writer interface {
	reader
	port.MemberWriter
}

// Service keeps members. Safe for concurrent use.
type Service struct {
	store         port.Narrowed[reader, writer]
	organizations Organizations
	pages         *page.Signer
	now           func() time.Time
	log           *slog.Logger
	passwords     *hasher
}

// New makes the service.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		store:         port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		organizations: s.Organizations,
		pages:         s.Pages,
		now:           func() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }, // as stores keep times
		log:           s.Log,
		passwords:     newHasher(),
	}
}

// refused is the one answer to all who are not let in, so that it does not tell who is a member.
func refused() error { return fault.New(fault.Unauthorized, "the address or the password is wrong") }

// principal is what a member may do.
func principal(m port.Member, o port.Organization) ident.Principal {
	return ident.Principal{KeyID: m.ID, Role: m.Role, Email: m.Email, Org: o.ID, OrgName: o.Name, Kind: ident.Admin,
		ReadOnly: m.Role == ident.Viewer}
}

// active refuses the members of an organization that is suspended or being deleted.
func active(o port.Organization) error {
	if o.Suspended || !o.Deleting.IsZero() {
		return fault.New(fault.Forbidden, "the organization %q is suspended", o.Name)
	}
	return nil
}

// Resolve finds out what a member may do now. Faults: Unauthorized for one who is gone, disabled or has
// never joined; Forbidden when the organization is suspended.
func (s *Service) Resolve(ctx context.Context, org ident.Org, id string) (p ident.Principal, err error) {
	err = s.store.View(ctx, func(r reader) error {
		m, err := r.Member(ctx, org, id)
		if err != nil {
			return err
		}
		o, err := r.Organization(ctx, org)
		if err != nil {
			return err
		}
		if m.JoinedAt.IsZero() {
			return refused()
		}
		if !m.DisabledAt.IsZero() {
			return fault.New(fault.Unauthorized, "an owner of the organization has disabled your sign-in")
		}
		p = principal(m, o)
		return active(o)
	})
	if fault.CodeOf(err) == fault.NotFound {
		err = fault.New(fault.Unauthorized, "you are no longer a member of this organization")
	}
	if err != nil {
		return ident.Principal{}, fmt.Errorf("resolve member: %w", err)
	}
	return p, nil
}

// SignIn checks the password of the member with an address in an organization, named by name or id.
// Whatever is wrong, it is fault Unauthorized, and takes as long.
func (s *Service) SignIn(ctx context.Context, org, email, password string) (ident.Principal, error) {
	m, o, err := s.find(ctx, org, email)
	if err != nil && fault.CodeOf(err) != fault.NotFound {
		return ident.Principal{}, fmt.Errorf("sign in member: %w", err)
	}
	ok, err := s.passwords.matches(ctx, m.Password, password)
	if err != nil {
		return ident.Principal{}, err
	}
	if !ok || m.JoinedAt.IsZero() || !m.DisabledAt.IsZero() || active(o) != nil {
		return ident.Principal{}, refused()
	}
	return principal(m, o), nil
}

// find finds a member by address; fault NotFound for texts that can be none's, too.
func (s *Service) find(ctx context.Context, org, email string) (m port.Member, o port.Organization, err error) {
	email = Address(email)
	if !plausible(email) {
		return m, o, fault.New(fault.NotFound, "there is no such member")
	}
	if o, err = s.organizations.Organization(ctx, org); err != nil {
		return m, o, err
	}
	err = s.store.View(ctx, func(r reader) (err error) {
		m, err = r.MemberByEmail(ctx, o.ID, email)
		return err
	})
	return m, o, err
}

// Address is an email address as it is stored and compared.
func Address(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// plausible reports whether a text can be an address; some stores cannot even search for others.
func plausible(email string) bool {
	return len(email) <= 1024 && strings.ContainsRune(email, '@') && strings.ToValidUTF8(email, "") == email &&
		!strings.ContainsFunc(email, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// Accept takes an invitation, once: the member has the password from then on, and their sessions end.
// About is told who it is before that is stored. Faults: Unauthorized for a code that does not
// work; InvalidRequest for a password that is none.
func (s *Service) Accept(ctx context.Context, code, password string,
	about func(ident.Principal)) (p ident.Principal, err error) {
	if !strings.HasPrefix(code, codePrefix) {
		return p, notInvited()
	}
	if err := checkPassword(password); err != nil {
		return p, err
	}
	stored, err := s.passwords.hash(ctx, password)
	if err != nil {
		return p, err
	}
	err = s.store.Update(ctx, func(w writer) error {
		i, err := w.TakeInvitation(ctx, ident.TokenHash(code))
		if err != nil {
			return err
		}
		m, err := w.Member(ctx, i.Org, i.Member)
		if err != nil {
			return err
		}
		o, err := w.Organization(ctx, i.Org)
		if err != nil {
			return err
		}
		if !s.now().Before(i.ExpiresAt) || !m.DisabledAt.IsZero() || active(o) != nil {
			return notInvited()
		}
		m.Password = stored
		if m.JoinedAt.IsZero() {
			m.JoinedAt = s.now()
		}
		if err := w.EndMemberSessions(ctx, m.Org, m.ID, [32]byte{}); err != nil {
			return err
		}
		p = principal(m, o)
		about(p)
		return w.ChangeMember(ctx, m)
	})
	if fault.CodeOf(err) == fault.NotFound {
		err = notInvited()
	}
	if err != nil {
		return ident.Principal{}, fmt.Errorf("accept invitation: %w", err)
	}
	return p, nil
}

func notInvited() error {
	return fault.New(fault.Unauthorized, "this invitation is unknown, used or expired: ask for another one")
}

// ChangePassword gives the member who calls another password, and ends their sessions but the one
// of a hash. Faults: Forbidden where the old one is wrong, or the caller is no member;
// InvalidRequest for a new one that is none.
func (s *Service) ChangePassword(ctx context.Context, who ident.Principal, old, password string, but [32]byte) error {
	if who.Role == "" {
		return fault.New(fault.Forbidden, "a key has no password")
	}
	var m port.Member
	err := s.store.View(ctx, func(r reader) (err error) { m, err = r.Member(ctx, who.Org, who.KeyID); return err })
	if err != nil {
		return fmt.Errorf("change password: %w", err)
	}
	if m.Password != "" {
		ok, err := s.passwords.matches(ctx, m.Password, old)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.Forbidden, "the old password is wrong")
		}
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	stored, err := s.passwords.hash(ctx, password)
	if err != nil {
		return err
	}
	err = s.store.Update(ctx, func(w writer) error {
		now, err := w.Member(ctx, who.Org, who.KeyID)
		if err != nil {
			return err
		}
		if now.Password != m.Password {
			return fault.New(fault.Conflict, "the password was changed in the meantime")
		}
		now.Password = stored
		if err := w.ChangeMember(ctx, now); err != nil {
			return err
		}
		return w.EndMemberSessions(ctx, now.Org, now.ID, but)
	})
	if err != nil {
		return fmt.Errorf("change password: %w", err)
	}
	return nil
}
