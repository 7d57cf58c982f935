package oauth

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// The scopes: what a client may do with the key behind its grant.
const (
	Read  = "mcp:read"
	Write = "mcp:write" // brings Read along
)

// Scopes lists every scope.
func Scopes() []string { return []string{Read, Write} }

// Keys verifies API keys, as core/key's Service does.
type Keys interface {
	// Verify finds out whose key a secret is.
	Verify(ctx context.Context, bearer string, family op.Family) (ident.Principal, error)
	// Resolve finds out what an organization's key of an id may do now.
	Resolve(ctx context.Context, org ident.Org, id string, family op.Family) (ident.Principal, error)
}

// Documents reads client metadata documents. An error's text is shown to the one
// who asks for the client. Safe for concurrent use.
type Documents interface {
	// Document reads the JSON document at an https URL.
	Document(ctx context.Context, url string) ([]byte, error)
}

// Settings configure a Service. Store, Keys, Issuer and Resource are required.
type Settings struct {
	Store    port.Store
	Keys     Keys
	Issuer   string // URL that authorization responses name (RFC 9207)
	Resource string // URL of the one resource that tokens are for
	// Documents reads what client ids that are URLs stand for; nil: there are none.
	Documents Documents
	// LoopbackDocuments lets such ids be http URLs of this machine, for development.
	LoopbackDocuments bool
	// MaxClients bounds the registered clients; 0: nobody may register.
	MaxClients int

	AccessFor  time.Duration    // an access token's life; 0: 15 min
	RefreshFor time.Duration    // of a refresh token, from when it is issued; 0: 30 days
	CodeFor    time.Duration    // of an authorization code; 0: 60 s
	PurgeEvery time.Duration    // how often Run removes what has expired; 0: 10 min
	Now        func() time.Time // nil: time.Now
	Log        *slog.Logger     // nil: nothing is logged
}

// Service issues grants of keys to clients. Safe for concurrent use.
type Service struct {
	store             port.Narrowed[reader, writer]
	keys              Keys
	issuer            string
	resource          string
	documents         Documents // nil: no client id is a URL
	loopbackDocuments bool
	maxClients        int
	accessFor         time.Duration
	refreshFor        time.Duration
	codeFor           time.Duration
	purgeEvery        time.Duration
	now               func() time.Time
	log               *slog.Logger
	changes           atomic.Uint64 // of grants by this process
}

// reader and writer are what the service uses of the store.
type reader interface{ port.OAuthReader }

type writer interface {
	reader
	port.OAuthWriter
}

// New makes the service.
func New(s Settings) *Service {
	s.AccessFor = cmp.Or(s.AccessFor, 15*time.Minute)
	s.RefreshFor = cmp.Or(s.RefreshFor, 30*24*time.Hour)
	s.CodeFor = cmp.Or(s.CodeFor, time.Minute)
	s.PurgeEvery = cmp.Or(s.PurgeEvery, 10*time.Minute)
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		store:             port.Narrow(s.Store, func(r port.Reader) reader { return r }, func(w port.Writer) writer { return w }),
		keys:              s.Keys,
		issuer:            s.Issuer,
		resource:          s.Resource,
		documents:         s.Documents,
		loopbackDocuments: s.LoopbackDocuments,
		maxClients:        s.MaxClients,
		accessFor:         s.AccessFor,
		refreshFor:        s.RefreshFor,
		codeFor:           s.CodeFor,
		purgeEvery:        s.PurgeEvery,
		now:               s.Now,
		log:               s.Log,
	}
}

// Issuer is the URL that authorization responses name.
func (s *Service) Issuer() string { return s.issuer }

// Resource is the URL of the one resource that tokens are for.
func (s *Service) Resource() string { return s.resource }

// The error codes (RFC 6749 sections 4.1.2.1 and 5.2, RFC 7591 section 3.2.2,
// RFC 8707 section 2).
const (
	InvalidRequest          = "invalid_request"
	InvalidClient           = "invalid_client"
	InvalidGrant            = "invalid_grant"
	InvalidTarget           = "invalid_target"
	InvalidRedirectURI      = "invalid_redirect_uri"
	InvalidClientMetadata   = "invalid_client_metadata"
	UnsupportedGrantType    = "unsupported_grant_type"
	UnsupportedResponseType = "unsupported_response_type"
	AccessDenied            = "access_denied"
	TemporarilyUnavailable  = "temporarily_unavailable"
	ServerError             = "server_error"
)

// Error is a refusal in OAuth's terms.
type Error struct {
	Code        string
	Description string // of printable ASCII without quotes and backslashes, as RFC 6749 asks
	// Redirect is where the browser takes the refusal; "": the client or its
	// redirect URI cannot be trusted, so the person is told instead.
	Redirect   string
	Loopback   bool          // Redirect leads to a program on the person's own machine
	RetryAfter time.Duration // 0: waiting does not help, or the time is unknown
	Err        error         // cause, for the log; nil: none
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Code + ": " + e.Description + ": " + e.Err.Error()
	}
	return e.Code + ": " + e.Description
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Description: describe(fmt.Sprintf(format, args...))}
}

// describe keeps a description within the characters of RFC 6749 appendix A.8.
func describe(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '\\':
			return '\''
		case r < 0x20 || r > 0x7E:
			return '?'
		}
		return r
	}, s)
}

// serverFailure is the refusal for a failure of this server: of the store, or a timeout.
func serverFailure(doing string, err error) *Error {
	f := fault.From(err)
	if fault.Retryable(f.Code) {
		return &Error{
			Code:        TemporarilyUnavailable,
			Description: describe(f.Message),
			RetryAfter:  f.RetryAfter,
			Err:         fmt.Errorf("%s: %w", doing, err),
		}
	}
	return &Error{Code: ServerError, Description: "an internal error occurred", Err: fmt.Errorf("%s: %w", doing, err)}
}

// Prefixes of tokens, so that people and secret scanners recognise them.
const (
	codePrefix    = "mnac_"
	accessPrefix  = "mnat_"
	refreshPrefix = "mnrt_"
	clientPrefix  = "mncl_"
)

// partLength is that of rand.Text, which has 130 bits.
const partLength = 26

// Verify finds out who presented a bearer: whose key an access token stands for,
// or, for anything else, whose key it is. It implements middleware.Verifier for
// the calls that take tokens. Faults as key.Service.Verify.
func (s *Service) Verify(ctx context.Context, bearer string, family op.Family) (ident.Principal, error) {
	if !strings.HasPrefix(bearer, accessPrefix) {
		return s.keys.Verify(ctx, bearer, family)
	}
	refused := fault.New(fault.Unauthorized, "the access token is not valid: it is unknown, revoked or expired")
	g, a, err := s.readToken(ctx, ident.TokenHash(bearer))
	if fault.CodeOf(err) == fault.NotFound {
		return ident.Principal{}, refused
	}
	if err != nil {
		return ident.Principal{}, fmt.Errorf("verify access token: %w", err)
	}
	if now := s.now(); !now.Before(a.ExpiresAt) || !now.Before(g.ExpiresAt) || g.Resource != s.resource {
		return ident.Principal{}, refused
	}
	p, err := s.keys.Resolve(ctx, g.Org, g.KeyID, family)
	if fault.CodeOf(err) == fault.Unauthorized {
		return ident.Principal{}, refused
	}
	if err != nil {
		return ident.Principal{}, err
	}
	p.ReadOnly = p.ReadOnly || !slices.Contains(strings.Fields(a.Scope), Write)
	return p, nil
}

// Revoke ends the grant of an access or refresh token (RFC 7009), and with it all of its
// tokens. An unknown or ended token is no error. If client is not "", a token of another
// client is refused.
func (s *Service) Revoke(ctx context.Context, token, client string) error {
	var wrong *Error
	err := s.update(ctx, func(w writer) error {
		wrong = nil
		g, err := grantByToken(ctx, w, token)
		if fault.CodeOf(err) == fault.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		if client != "" && client != g.ClientID {
			wrong = refuse(InvalidClient, "the token is another client's")
			return nil
		}
		return w.DeleteOAuthGrant(ctx, g.ID)
	})
	if err != nil {
		return serverFailure("revoke", err)
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

func grantByToken(ctx context.Context, r reader, token string) (port.OAuthGrant, error) {
	if family, ok := familyOf(token); ok {
		return r.OAuthGrantByFamily(ctx, family)
	}
	g, _, err := r.OAuthGrantByAccess(ctx, ident.TokenHash(token))
	return g, err
}

// unusedFor is how long a client may stay registered without a grant, idleFor how
// long after its last grant is over.
const (
	unusedFor = 24 * time.Hour
	idleFor   = 30 * 24 * time.Hour
)

// Purge removes expired grants and tokens, and unused clients.
func (s *Service) Purge(ctx context.Context) error {
	now := s.now()
	err := s.store.Update(ctx, func(w writer) error {
		_, err := w.PurgeOAuth(ctx, now, now.Add(-unusedFor), now.Add(-idleFor))
		return err
	})
	if err != nil {
		return fmt.Errorf("purge OAuth: %w", err)
	}
	return nil
}

// Run purges every PurgeEvery until ctx is done.
func (s *Service) Run(ctx context.Context) {
	t := time.NewTicker(s.purgeEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			if err := s.Purge(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "oauth cleanup failed", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
