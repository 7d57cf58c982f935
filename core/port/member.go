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
	InvitedBy string // id of the key or member, or MadeByCommandLine; "": unknown
	CreatedAt time.Time
	JoinedAt  time.Time // zero: invited, and never signed in
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

// MemberReader reads members.
type MemberReader interface {
	// Member reads a member of an organization; fault NotFound when absent.
	Member(ctx context.Context, org ident.Org, id string) (Member, error)
	// MemberByEmail finds a member of an organization; fault NotFound when absent.
	MemberByEmail(ctx context.Context, org ident.Org, email string) (Member, error)
	// Members lists an organization's members by email, those after one, up to limit; 0: all.
	Members(ctx context.Context, org ident.Org, after string, limit int) ([]Member, error)
}

// MemberWriter changes members. Their invitation and sessions go with them.
type MemberWriter interface {
	// PutMember inserts a member. Fault Conflict for an email or id that is taken; NotFound when
	// the organization is absent or being deleted.
	PutMember(ctx context.Context, m Member) error
	// ChangeMember stores role, password and time of joining. Fault NotFound when absent.
	ChangeMember(ctx context.Context, m Member) error
	// RemoveMember removes a member; false: there was none.
	RemoveMember(ctx context.Context, org ident.Org, id string) (bool, error)
	// PutInvitation stores the invitation of a member in place of the one before. Fault NotFound
	// when the organization has no such member.
	PutInvitation(ctx context.Context, i Invitation) error
	// TakeInvitation removes an invitation and gives it, expired or not: of several who take it
	// one gets it. Fault NotFound when absent.
	TakeInvitation(ctx context.Context, hash [32]byte) (Invitation, error)
	// EndMemberSessions ends all sessions of a member but the one with a hash.
	EndMemberSessions(ctx context.Context, org ident.Org, id string, but [32]byte) error
}
