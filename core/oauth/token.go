package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Exchange asks for tokens (OAuth 2.1 sections 4.1.3 and 4.3.1), each field as the
// client sent it.
type Exchange struct {
	GrantType    string
	ClientID     string
	Code         string
	Verifier     string
	RedirectURI  string // "": not sent, as OAuth 2.1 has it
	RefreshToken string
	Scope        string
	Resources    []string
}

// Tokens are what a client gets (RFC 6749 section 5.1).
type Tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// Exchange makes tokens of an authorization code or a refresh token. A code or
// refresh token that was used before ends its grant with all its tokens, since two
// parties hold it. *Error.
func (s *Service) Exchange(ctx context.Context, x Exchange) (Tokens, error) {
	if x.ClientID == "" {
		return Tokens{}, refuse(InvalidClient, "client_id is required")
	}
	if !s.isOurResource(x.Resources) {
		return Tokens{}, refuse(InvalidTarget, "resource must be %s", s.resource)
	}
	switch x.GrantType {
	case grantCode:
		return s.redeem(ctx, x)
	case grantRefresh:
		return s.refresh(ctx, x)
	case "":
		return Tokens{}, refuse(InvalidRequest, "grant_type is required")
	}
	return Tokens{}, refuse(UnsupportedGrantType, "grant_type must be %s or %s", grantCode, grantRefresh)
}

func (s *Service) redeem(ctx context.Context, x Exchange) (Tokens, error) {
	if x.Code == "" || x.Verifier == "" {
		return Tokens{}, refuse(InvalidRequest, "code and code_verifier are required")
	}
	find := func(r reader) (port.OAuthGrant, error) { return r.OAuthGrantByCode(ctx, ident.TokenHash(x.Code)) }
	return s.issue(ctx, x, find, func(g port.OAuthGrant, now time.Time) (wrong *Error, over bool) {
		switch {
		case !g.Redeemed.IsZero():
			s.log.WarnContext(ctx, "authorization code replayed", "grant", g.ID, "org", string(g.Org), "key", g.KeyID,
				"client", g.ClientID)
			return refuse(InvalidGrant, "the code was used before; what it gave is revoked"), true
		case !now.Before(g.CodeExpires):
			return refuse(InvalidGrant, "the code has expired"), true
		// From here on a mismatch means that the code is in the wrong hands, so it is spent.
		case x.ClientID != g.ClientID:
			return refuse(InvalidGrant, "the code is another client's"), true
		case x.RedirectURI != "" && x.RedirectURI != g.RedirectURI:
			return refuse(InvalidGrant, "redirect_uri is not that of the authorization request"), true
		case !verifierMatches(x.Verifier, g.Challenge):
			return refuse(InvalidGrant, "code_verifier does not match the code_challenge"), true
		}
		return nil, false
	})
}

func (s *Service) refresh(ctx context.Context, x Exchange) (Tokens, error) {
	if x.RefreshToken == "" {
		return Tokens{}, refuse(InvalidRequest, "refresh_token is required")
	}
	family, ok := familyOf(x.RefreshToken)
	if !ok {
		return Tokens{}, refuse(InvalidGrant, "the refresh token is not valid")
	}
	find := func(r reader) (port.OAuthGrant, error) { return r.OAuthGrantByFamily(ctx, family) }
	return s.issue(ctx, x, find, func(g port.OAuthGrant, now time.Time) (wrong *Error, over bool) {
		presented := ident.TokenHash(x.RefreshToken)
		switch {
		case !now.Before(g.ExpiresAt):
			return refuse(InvalidGrant, "the refresh token has expired"), true
		case x.ClientID != g.ClientID:
			return refuse(InvalidGrant, "the refresh token is another client's"), false
		case subtle.ConstantTimeCompare(presented[:], g.Refresh[:]) != 1:
			s.log.WarnContext(ctx, "refresh token replayed", "grant", g.ID, "org", string(g.Org), "key", g.KeyID,
				"client", g.ClientID)
			return refuse(InvalidGrant, "the refresh token was used before; the grant is revoked"), true
		}
		return nil, false
	})
}

// issue makes tokens for the grant that find finds, unless judge refuses it, in one
// transaction, so that a code or refresh token presented several times at once works
// once. The key is checked before: a token never outlives it.
func (s *Service) issue(ctx context.Context, x Exchange, find func(reader) (port.OAuthGrant, error),
	judge func(g port.OAuthGrant, now time.Time) (wrong *Error, over bool)) (Tokens, error) {
	var g port.OAuthGrant
	err := s.store.View(ctx, func(r reader) (err error) { g, err = find(r); return err })
	unknown := refuse(InvalidGrant, "the code or refresh token is unknown, revoked or expired")
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		return Tokens{}, unknown
	case err != nil:
		return Tokens{}, serverFailure("read grant", err)
	case g.Resource != s.resource:
		return Tokens{}, refuse(InvalidGrant, "the grant is for another resource than this server's")
	}
	p, err := s.keys.Resolve(ctx, g.Org, g.KeyID, op.Namespace)
	switch code := fault.CodeOf(err); {
	case code == fault.Unauthorized:
		if err := s.update(ctx, func(w writer) error { return w.DeleteOAuthGrant(ctx, g.ID) }); err != nil {
			return Tokens{}, serverFailure("end grant", err)
		}
		return Tokens{}, refuse(InvalidGrant, "the API key was revoked or has expired")
	case code == fault.Forbidden:
		return Tokens{}, refuse(InvalidGrant, "%s", fault.From(err).Message)
	case err != nil:
		return Tokens{}, serverFailure("resolve key", err)
	}
	var wrong *Error
	var t Tokens
	err = s.update(ctx, func(w writer) (err error) {
		wrong, t = nil, Tokens{}
		g, err := find(w)
		if fault.CodeOf(err) == fault.NotFound {
			wrong = unknown
			return nil
		}
		if err != nil {
			return err
		}
		now := s.now().UTC()
		var over bool
		if wrong, over = judge(g, now); over {
			return w.DeleteOAuthGrant(ctx, g.ID)
		}
		if wrong != nil {
			return nil
		}
		t, err = s.renew(ctx, w, g, p, x, now)
		return err
	})
	switch {
	case err != nil:
		return Tokens{}, serverFailure("issue tokens", err)
	case wrong != nil:
		return Tokens{}, wrong
	}
	return t, nil
}

// renew gives a grant new tokens: another refresh token of its family, which
// begins with the first, and one more access token.
func (s *Service) renew(ctx context.Context, w writer, g port.OAuthGrant, p ident.Principal, x Exchange,
	now time.Time) (Tokens, error) {
	family := x.RefreshToken
	if g.Redeemed.IsZero() {
		g.Redeemed, family = now, refreshPrefix+rand.Text()
	}
	family = family[:len(refreshPrefix)+partLength]
	t := Tokens{AccessToken: ident.NewToken(accessPrefix), TokenType: "Bearer", RefreshToken: ident.NewToken(family),
		Scope: g.Scope}
	g.Family, g.Refresh = ident.TokenHash(family), ident.TokenHash(t.RefreshToken)
	g.ExpiresAt = earliest(now.Add(s.refreshFor), p.ExpiresAt)
	a := port.OAuthAccess{
		Hash:      ident.TokenHash(t.AccessToken),
		Grant:     g.ID,
		Scope:     g.Scope,
		ExpiresAt: earliest(now.Add(s.accessFor), g.ExpiresAt),
	}
	if x.GrantType == grantRefresh && knownScopes(x.Scope) == Read {
		a.Scope, t.Scope = Read, Read // asked to carry less; what was not granted is passed over
	}
	t.ExpiresIn = int64(a.ExpiresAt.Sub(now) / time.Second)
	if err := w.PutOAuthGrant(ctx, g); err != nil {
		return Tokens{}, err
	}
	if err := w.PutOAuthAccess(ctx, a); err != nil {
		return Tokens{}, err
	}
	return t, w.TouchOAuthClient(ctx, g.ClientID, now)
}

// earliest is the earlier of two times; a zero b means never.
func earliest(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// familyOf is the hash of the part that the refresh tokens of a grant share. Only a
// holder of one of them knows it, so another token of the family is an old one.
func familyOf(refresh string) (family [32]byte, ok bool) {
	if !strings.HasPrefix(refresh, refreshPrefix) || len(refresh) != len(refreshPrefix)+3*partLength {
		return family, false
	}
	return ident.TokenHash(refresh[:len(refreshPrefix)+partLength]), true
}

// validChallenge reports whether s is SHA-256 in base64url (RFC 7636 section 4.2).
func validChallenge(s string) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// verifierMatches reports whether a verifier is the one of a challenge (RFC 7636 section 4.6).
func verifierMatches(verifier, challenge string) bool {
	if len(verifier) < 43 || len(verifier) > 128 || strings.ContainsFunc(verifier, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._~", r))
	}) {
		return false
	}
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}
