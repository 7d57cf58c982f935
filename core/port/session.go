package port

import (
	"context"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Session is a person who signed in to the console, with a key or as a member. Of the token
// that the browser keeps, only SHA-256 is stored.
type Session struct {
	Hash      [32]byte
	Org       ident.Org // of the key or member
	KeyID     string    // "": a member's
	Member    string    // id; "": a key's
	CreatedAt time.Time
	SeenAt    time.Time // of the last call, about a minute late
	ExpiresAt time.Time
	UserAgent string // that the browser named; for people
}

// SignInLink lets anyone who has its token sign in once.
type SignInLink struct {
	Hash      [32]byte // SHA-256 of the token
	Org       ident.Org
	KeyID     string
	ExpiresAt time.Time
}

// SessionReader reads sessions. Ended ones stay until they are purged; the service checks their
// times.
type SessionReader interface {
	// SessionByHash finds a session; fault NotFound when absent.
	SessionByHash(ctx context.Context, hash [32]byte) (Session, error)
}

// SessionWriter changes sessions and links to sign in with. They go with their key or member.
type SessionWriter interface {
	// PutSession inserts a session. Fault NotFound when the organization has no such key or
	// member.
	PutSession(ctx context.Context, s Session) error
	// TouchSession records a use, never moving it back. An absent session is left at that.
	TouchSession(ctx context.Context, hash [32]byte, at time.Time) error
	// DeleteSession removes a session; an absent one is left at that.
	DeleteSession(ctx context.Context, hash [32]byte) error
	// PutSignInLink inserts a link. Fault NotFound when the organization has no such key.
	PutSignInLink(ctx context.Context, l SignInLink) error
	// TakeSignInLink removes a link and gives it, expired or not: of several who take it
	// one gets it. Fault NotFound when absent.
	TakeSignInLink(ctx context.Context, hash [32]byte) (SignInLink, error)
	// PurgeSessions removes sessions that expired at now or before, or were last used at idle or
	// before, and links and invitations that expired at now or before. It returns how many
	// rows went.
	PurgeSessions(ctx context.Context, now, idle time.Time) (int, error)
}
