package member

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// Member is a member as it is shown.
type Member struct {
	ID                  string     `json:"id" doc:"id of the member"`
	Organization        string     `json:"organization_id" doc:"id of the organization"`
	Email               string     `json:"email" doc:"address, in lower case; unique in the organization"`
	Role                string     `json:"role" enum:"owner,admin,viewer" doc:"what the member may do"`
	State               string     `json:"state" enum:"invited,active,disabled" doc:"invited: has never signed in; disabled: may not"`
	HasPassword         bool       `json:"has_password" doc:"false: none was chosen yet"`
	HasAccount          bool       `json:"has_account" doc:"true: signs in with an account of the identity provider"`
	DisabledAt          *time.Time `json:"disabled_at" doc:"when signing in was taken from the member; null: it was not"`
	InvitedBy           *string    `json:"invited_by" doc:"id of the key or member that invited; null: not known"`
	CreatedAt           time.Time  `json:"created_at"`
	JoinedAt            *time.Time `json:"joined_at" doc:"of the first sign-in; null: there was none"`
	InvitationExpiresAt *time.Time `json:"invitation_expires_at" doc:"of the invitation that waits; null: there is none"`
}

func show(m port.Member) Member {
	out := Member{ID: m.ID, Organization: string(m.Org), Email: m.Email, Role: string(m.Role), State: "active",
		HasPassword: m.Password != "", HasAccount: m.Subject != "", DisabledAt: moment(m.DisabledAt),
		CreatedAt: m.CreatedAt.UTC(), JoinedAt: moment(m.JoinedAt),
		InvitationExpiresAt: moment(m.InvitedUntil)}
	if m.JoinedAt.IsZero() {
		out.State = "invited"
	}
	if !m.DisabledAt.IsZero() {
		out.State = "disabled"
	}
	if m.InvitedBy != "" {
		out.InvitedBy = &m.InvitedBy
	}
	return out
}

// moment is nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Invited is a member with the code of the invitation, which is not kept.
type Invited struct {
	Member
	Code string `json:"code" doc:"lets anyone who has it choose the member's password, once; it is not shown again"`
	Path string `json:"path" doc:"where it is turned in, below the server's address, with the code behind the #"`
}

// Headers keep the code out of caches.
func (Invited) Headers() map[string]string { return map[string]string{"Cache-Control": "no-store"} }

// OrganizationRef names an organization in a path.
type OrganizationRef struct {
	Org string `path:"org" json:"-" doc:"id or name of the organization"`
}

// Ref names a member in a path.
type Ref struct {
	OrganizationRef
	Member string `path:"member" json:"-" doc:"id of the member"`
}

// Invite is the body of POST /organizations/{org}/members.
type Invite struct {
	OrganizationRef
	Email string `json:"email" pattern:"^[^@ \\u0000-\\u001f\\u007f]{1,64}@[^@ \\u0000-\\u001f\\u007f]{1,189}$" rule:"must be an email address of at most 254 characters, 64 of them before the @" doc:"whom to invite; compared in lower case"`
	Role  string `json:"role" enum:"owner,admin,viewer" doc:"owner: everything; admin: everything but members and keys of kind admin; viewer: reads"`
}

// Change is the body of PATCH /organizations/{org}/members/{member}.
type Change struct {
	Ref
	Role     *string `json:"role,omitempty" enum:"owner,admin,viewer" doc:"the new role, which holds from the member's next call on"`
	Disabled *bool   `json:"disabled,omitempty" doc:"true: signs in no more, and all sessions end; false: may again"`
	Account  *bool   `json:"has_account,omitempty" doc:"false: the account at the identity provider is unbound, and all sessions end; the next account with the verified address is bound instead"`
}

// JSONSchema implements op.Schemer: a change of nothing is refused.
func (c *Change) JSONSchema() string {
	return `{"not": {"anyOf": [{"required": ["has_account"], "properties": {"has_account": {"const": true}}},
		{"properties": {"role": {"const": null}, "disabled": {"const": null}, "has_account": {"const": null}}}]}}`
}

// Validate refuses a change of nothing, and an account from here.
func (c *Change) Validate() error {
	switch {
	case c.Role == nil && c.Disabled == nil && c.Account == nil:
		return fault.New(fault.InvalidRequest, "role, disabled or has_account is needed: there is nothing to change")
	case c.Account != nil && *c.Account:
		return fault.Field(fault.InvalidRequest, "has_account", "can only be false: an account is bound by signing in with it")
	}
	return nil
}

// List are the parameters of GET /organizations/{org}/members.
type List struct {
	OrganizationRef
	Limit  *int   `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"100" doc:"how many at most"`
	Cursor string `query:"cursor" json:"-" doc:"next_cursor of the page before; none for the first page"`
}

// Members answers a list.
type Members struct {
	Members    []Member `json:"members"`
	NextCursor *string  `json:"next_cursor" doc:"cursor of the next page; null: this is the last"`
}

// Removed answers DELETE /organizations/{org}/members/{member}.
type Removed struct {
	Removed bool `json:"removed" doc:"false: there was no such member"`
}

// organization finds an organization that the caller may see.
func (s *Service) organization(ctx context.Context, ref string) (port.Organization, error) {
	o, err := s.organizations.Organization(ctx, ref)
	if err == nil && ident.From(ctx).Administers(o.ID) {
		port.AuditOf(ctx).About(o.ID)
		return o, nil
	}
	if err == nil || fault.CodeOf(err) == fault.NotFound {
		return port.Organization{}, fault.New(fault.NotFound, "there is no organization %q", fault.Clip(ref))
	}
	return port.Organization{}, err
}

// owned is organization for those who may decide who its members are.
func (s *Service) owned(ctx context.Context, ref string) (port.Organization, error) {
	o, err := s.organization(ctx, ref)
	if err == nil && !ident.From(ctx).Owns() {
		err = fault.New(fault.Forbidden, "only an owner may change who is a member")
	}
	return o, err
}

func absent(id string) error {
	return fault.New(fault.NotFound, "the organization has no member %q", fault.Clip(id))
}

// inMember reads a member in a transaction. A text that cannot be an id is none's.
func inMember(ctx context.Context, r reader, org ident.Org, id string) (port.Member, error) {
	if !isID(id) {
		return port.Member{}, absent(id)
	}
	m, err := r.Member(ctx, org, id)
	if fault.CodeOf(err) == fault.NotFound {
		err = absent(id)
	}
	return m, err
}

// isID reports whether a text can be an id. Some stores cannot even search for others.
func isID(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

// List pages through the members of an organization by address.
func (s *Service) List(ctx context.Context, in List) (Members, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Members{}, err
	}
	type position struct {
		Email string `json:"e"`
	}
	bind := []string{"admin.members", string(o.ID)}
	var after position
	if err := s.pages.Open(in.Cursor, &after, bind...); err != nil {
		return Members{}, err
	}
	n, found := page.Limit(in.Limit), []port.Member(nil)
	err = s.store.View(ctx, func(r reader) (err error) {
		found, err = r.Members(ctx, o.ID, after.Email, n+1)
		return err
	})
	if err != nil {
		return Members{}, fmt.Errorf("list members: %w", err)
	}
	out := Members{Members: []Member{}}
	if len(found) > n {
		found = found[:n]
		next := s.pages.Seal(position{found[n-1].Email}, bind...)
		out.NextCursor = &next
	}
	for _, m := range found {
		out.Members = append(out.Members, show(m))
	}
	return out, nil
}

// Get reads one.
func (s *Service) Get(ctx context.Context, in Ref) (Member, error) {
	o, err := s.organization(ctx, in.Org)
	if err != nil {
		return Member{}, err
	}
	var m port.Member
	err = s.store.View(ctx, func(r reader) (err error) { m, err = inMember(ctx, r, o.ID, in.Member); return err })
	if err != nil {
		return Member{}, fmt.Errorf("read member: %w", err)
	}
	return show(m), nil
}

// Invite makes a member with an invitation.
func (s *Service) Invite(ctx context.Context, in Invite) (Invited, error) {
	o, err := s.owned(ctx, in.Org)
	if err != nil {
		return Invited{}, err
	}
	m := port.Member{Org: o.ID, ID: "mbr_" + uuid.Must(uuid.NewV7()).String(), Email: Address(in.Email),
		Role: ident.Role(in.Role), InvitedBy: ident.From(ctx).KeyID, CreatedAt: s.now()}
	port.AuditOf(ctx).Made(m.ID)
	return s.invite(ctx, o, func(w writer) (port.Member, error) { return m, w.PutMember(ctx, m) })
}

// InviteAgain makes another invitation of a member in place of the one before: for one whose
// invitation has ended, or who has forgotten the password.
func (s *Service) InviteAgain(ctx context.Context, in Ref) (Invited, error) {
	o, err := s.owned(ctx, in.Org)
	if err != nil {
		return Invited{}, err
	}
	return s.invite(ctx, o, func(w writer) (port.Member, error) { return inMember(ctx, w, o.ID, in.Member) })
}

func (s *Service) invite(ctx context.Context, o port.Organization, whom func(writer) (port.Member, error)) (Invited, error) {
	code, until := ident.NewToken(codePrefix), s.now().Add(InvitationFor)
	var m port.Member
	err := s.store.Update(ctx, func(w writer) (err error) {
		if m, err = whom(w); err != nil {
			return err
		}
		return w.PutInvitation(ctx, port.Invitation{Hash: ident.TokenHash(code), Org: o.ID, Member: m.ID, ExpiresAt: until})
	})
	if err != nil {
		return Invited{}, fmt.Errorf("invite member: %w", err)
	}
	m.InvitedUntil = until
	return Invited{show(m), code, InvitationPath + code}, nil
}

// owns reports whether a member is an owner who can sign in.
func owns(m port.Member) bool {
	return m.Role == ident.Owner && !m.JoinedAt.IsZero() && m.DisabledAt.IsZero()
}

// keepsOwner refuses to take the rights of an organization's last owner. An owner who has never
// signed in, or is disabled, does not count.
func keepsOwner(ctx context.Context, r reader, m port.Member) error {
	if !owns(m) {
		return nil
	}
	all, err := r.Members(ctx, m.Org, "", 0)
	if err != nil {
		return err
	}
	for _, other := range all {
		if other.ID != m.ID && owns(other) {
			return nil
		}
	}
	return fault.New(fault.Conflict, "%s is the last owner of the organization, and one has to stay", m.Email)
}

// Change gives a member another role, takes signing in from them and gives it back, or unbinds their account.
func (s *Service) Change(ctx context.Context, in Change) (Member, error) {
	o, err := s.owned(ctx, in.Org)
	if err != nil {
		return Member{}, err
	}
	var m port.Member
	err = s.store.Update(ctx, func(w writer) (err error) {
		if m, err = inMember(ctx, w, o.ID, in.Member); err != nil {
			return err
		}
		before := m
		if in.Role != nil {
			m.Role = ident.Role(*in.Role)
		}
		switch {
		case in.Disabled == nil || *in.Disabled == !m.DisabledAt.IsZero():
		case *in.Disabled:
			m.DisabledAt = s.now()
		default:
			m.DisabledAt = time.Time{}
		}
		if in.Account != nil && !*in.Account {
			m.Issuer, m.Subject = "", ""
		}
		if m == before {
			return nil
		}
		if !owns(m) {
			if err := keepsOwner(ctx, w, before); err != nil {
				return err
			}
		}
		if !m.DisabledAt.IsZero() || m.Subject != before.Subject {
			if err := w.EndMemberSessions(ctx, m.Org, m.ID, [32]byte{}); err != nil {
				return err
			}
		}
		return w.ChangeMember(ctx, m)
	})
	if err != nil {
		return Member{}, fmt.Errorf("change member: %w", err)
	}
	return show(m), nil
}

// Remove removes a member, whose sessions end at once. It is safe to repeat.
func (s *Service) Remove(ctx context.Context, in Ref) (out Removed, err error) {
	o, err := s.owned(ctx, in.Org)
	if err != nil {
		return out, err
	}
	err = s.store.Update(ctx, func(w writer) error {
		out.Removed = false
		m, err := inMember(ctx, w, o.ID, in.Member)
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		if err == nil {
			err = keepsOwner(ctx, w, m)
		}
		if err == nil {
			out.Removed, err = w.RemoveMember(ctx, o.ID, m.ID)
		}
		return err
	})
	if err != nil {
		return Removed{}, fmt.Errorf("remove member: %w", err)
	}
	return out, nil
}
