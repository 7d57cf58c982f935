package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Member is a person who signs in to the console as themselves and acts in one organization.
type Member struct {
	Org       ident.Org
	ID        string // "mbr_..."
	Email     string // in lower case; unique in the organization
	Role      ident.Role
	Password  string // its hash, as core/member writes it; "": none
	Issuer    string // of the account at an identity provider that is bound to the member
	Subject   string // of that account; "": none is
	InvitedBy string // id of the key or member, or MadeByCommandLine; "": unknown
	CreatedAt time.Time
	JoinedAt  time.Time // zero: invited, and never signed in
	// DisabledAt is when signing in was taken from the member; zero: it was not.
	DisabledAt time.Time
	// InvitedUntil is when the invitation ends that waits; zero: there is none. PutMember
	// and ChangeMember leave it alone.
	InvitedUntil time.Time
}

// Invitation lets anyone who has its code choose a password for a member, once.
type Invitation struct {
	Hash      [32]byte // SHA-256 of the code
	Org       ident.Org
	Member    string // id
	ExpiresAt time.Time
}

// Identity is an account at an identity provider, as the provider vouches for it.
type Identity struct {
	Issuer        string // URL of the provider
	Subject       string // of the account; the provider gives it to no other, whatever becomes of its address
	Email         string // "": the provider tells none
	EmailVerified bool   // the provider has made sure that the address is the account's
}

// IdentityProvider signs people in elsewhere. Between leaving and coming back a browser
// carries nothing that the provider's answer could be mistaken for: see SignInBinding.
type IdentityProvider interface {
	// Name is what people know it by.
	Name() string
	// Problem is why the provider could not be used when it was last tried, as a sentence; "": it
	// could, or nobody has tried. It asks nobody.
	Problem() string
	// Leave gives the address at the provider where a person signs in. Fault Unavailable when
	// the provider cannot be asked where that is.
	Leave(ctx context.Context, b SignInBinding) (address string, err error)
	// Return finds out who came back. Faults: Unauthorized, with a sentence, for an answer that is
	// not the provider's to this very sign-in; Unavailable when the provider cannot be asked.
	Return(ctx context.Context, a ProviderAnswer, b SignInBinding) (Identity, error)
}

// SignInBinding are the secrets that tie what a provider answers to one sign-in of one browser.
type SignInBinding struct {
	State    string // comes back in the address
	Nonce    string // comes back in the token
	Verifier string // proves that who redeems the code is who began (PKCE)
}

// ProviderAnswer is what a browser brings back from a provider.
type ProviderAnswer struct {
	Code, State string
	Issuer      string // that the answer says it is of; "": it says none
	Error       string // the provider's code of what went wrong; "": nothing did
	Description string // of the error, in the provider's words
}

// MemberReader reads members.
type MemberReader interface {
	// Member reads a member of an organization; fault NotFound when absent.
	Member(ctx context.Context, org ident.Org, id string) (Member, error)
	// MemberByEmail finds a member of an organization; fault NotFound when absent.
	MemberByEmail(ctx context.Context, org ident.Org, email string) (Member, error)
	// Members lists an organization's members by email, those after one, up to limit; 0: all.
	Members(ctx context.Context, org ident.Org, after string, limit int) ([]Member, error)
	// MembersOf finds whom an account of an identity provider may be, in all organizations, since
	// signing in is what tells which: members that it is bound to, and those with the address. By
	// organization, at most 100.
	MembersOf(ctx context.Context, issuer, subject, email string) ([]Member, error)
}

// MemberWriter changes members. Their invitation and sessions go with them.
type MemberWriter interface {
	// PutMember inserts a member. Fault Conflict for an email or id that is taken; NotFound when
	// the organization is absent or being deleted.
	PutMember(ctx context.Context, m Member) error
	// ChangeMember stores role, password, account at an identity provider, and the times of
	// joining and disabling. Fault NotFound when absent, Conflict for an account that another
	// member of the organization has.
	ChangeMember(ctx context.Context, m Member) error
	// RemoveMember removes a member; false: there was none.
	RemoveMember(ctx context.Context, org ident.Org, id string) (bool, error)
	// PutInvitation stores the invitation of a member in place of the one before. Fault NotFound
	// when the organization has no such member.
	PutInvitation(ctx context.Context, i Invitation) error
	// TakeInvitation removes an invitation and gives it, expired or not: of several who take it
	// one gets it. Fault NotFound when absent.
	TakeInvitation(ctx context.Context, hash [32]byte) (Invitation, error)
	// DropInvitation removes the invitation of a member, if there is one.
	DropInvitation(ctx context.Context, org ident.Org, member string) error
	// EndMemberSessions ends all sessions of a member but the one with a hash.
	EndMemberSessions(ctx context.Context, org ident.Org, id string, but [32]byte) error
}
