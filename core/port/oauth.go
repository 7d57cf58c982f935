package port

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// OAuthClient is a program that registered itself (RFC 7591).
type OAuthClient struct {
	ID        string
	Metadata  json.RawMessage // as registered
	CreatedAt time.Time
	UsedAt    time.Time // when it last got a grant or a token; zero: never
}

// OAuthGrant gives a client the rights of a key. Nothing that the client
// presents is kept, only SHA-256 of it.
type OAuthGrant struct {
	ID          string
	Org         ident.Org
	KeyID       string // of that organization
	ClientID    string
	ClientName  string
	Scope       string // space separated
	Resource    string // URL that its tokens are for
	RedirectURI string // that the code was sent to
	Challenge   string // of PKCE, method S256
	Code        [32]byte
	CodeExpires time.Time
	Redeemed    time.Time // when the code was; zero: not yet
	// Family names the refresh tokens of the grant, of which only Refresh is good:
	// another one of the family was used before. Zero until Redeemed.
	Family    [32]byte
	Refresh   [32]byte
	CreatedAt time.Time
	ExpiresAt time.Time // nothing of the grant is good any more
}

// OAuthAccess is an access token of a grant.
type OAuthAccess struct {
	Hash      [32]byte // SHA-256 of the token
	Grant     string   // id
	Scope     string   // of the grant's, space separated
	ExpiresAt time.Time
}

// OAuthReader reads the clients, grants and tokens of the OAuth front. Expired rows stay until they are
// purged; the service checks their times.
type OAuthReader interface {
	// OAuthClient finds a client; fault NotFound when absent.
	OAuthClient(ctx context.Context, id string) (OAuthClient, error)
	// CountOAuthClients counts the registered clients.
	CountOAuthClients(ctx context.Context) (int, error)
	// OAuthGrantByCode finds the grant of an authorization code, redeemed or not;
	// fault NotFound when absent.
	OAuthGrantByCode(ctx context.Context, hash [32]byte) (OAuthGrant, error)
	// OAuthGrantByFamily finds the grant of a family of refresh tokens; fault
	// NotFound when absent.
	OAuthGrantByFamily(ctx context.Context, family [32]byte) (OAuthGrant, error)
	// OAuthGrantByAccess finds an access token with its grant; fault NotFound
	// when absent.
	OAuthGrantByAccess(ctx context.Context, hash [32]byte) (OAuthGrant, OAuthAccess, error)
}

// OAuthWriter changes the clients, grants and tokens of the OAuth front.
type OAuthWriter interface {
	// PutOAuthClient inserts a client; a used id is fault Conflict.
	PutOAuthClient(ctx context.Context, c OAuthClient) error
	// TouchOAuthClient records a use, never moving it back. Unknown ids are skipped.
	TouchOAuthClient(ctx context.Context, id string, at time.Time) error
	// EvictOAuthClient removes the oldest client that was registered before a
	// time and never used, and reports whether there was one.
	EvictOAuthClient(ctx context.Context, before time.Time) (bool, error)
	// PutOAuthGrant inserts or replaces by id. Fault NotFound when the
	// organization has no such key, Conflict when another grant has its code or family.
	PutOAuthGrant(ctx context.Context, g OAuthGrant) error
	// PutOAuthAccess inserts an access token of a grant that exists.
	PutOAuthAccess(ctx context.Context, a OAuthAccess) error
	// DeleteOAuthGrant removes a grant with its access tokens; an absent one is
	// left at that.
	DeleteOAuthGrant(ctx context.Context, id string) error
	// PurgeOAuth removes grants and access tokens that expired at now or before,
	// and clients without a grant: those registered at unused or before that were
	// never used, and those last used at idle or before. It returns how many rows went.
	PurgeOAuth(ctx context.Context, now, unused, idle time.Time) (int, error)
}
