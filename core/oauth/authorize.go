package oauth

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Request is an authorization request (OAuth 2.1 section 4.1.1), each field as the
// client sent it.
type Request struct {
	ResponseType string   `json:"rt,omitempty"`
	ResponseMode string   `json:"rm,omitempty"`
	ClientID     string   `json:"c,omitempty"`
	RedirectURI  string   `json:"r,omitempty"`
	State        string   `json:"s,omitempty"`
	Scope        string   `json:"sc,omitempty"`
	Challenge    string   `json:"ch,omitempty"`
	Method       string   `json:"m,omitempty"`
	Resources    []string `json:"res,omitempty"`
}

// Consent is the question that a person is asked.
type Consent struct {
	Client      Client
	RedirectURI string
	Host        string // host and port, or scheme, that the browser is sent back to
	Loopback    bool   // the client runs on the person's own machine
	Scope       string // what is granted unless the person or the key allows less
}

// Begin checks an authorization request. An *Error without Redirect is for the
// person: nothing about the client can be trusted then.
func (s *Service) Begin(ctx context.Context, r Request) (Consent, error) {
	c, err := s.client(ctx, r.ClientID)
	if err != nil {
		return Consent{}, err
	}
	to := r.RedirectURI
	if to == "" && len(c.RedirectURIs) == 1 {
		to = c.RedirectURIs[0]
	}
	if !slices.ContainsFunc(c.RedirectURIs, func(registered string) bool { return redirectMatches(registered, to) }) {
		return Consent{}, refuse(InvalidRequest, "redirect_uri is not one of the client's")
	}
	no := func(code, format string, args ...any) (Consent, error) {
		e := refuse(code, format, args...)
		u, err := url.Parse(to)
		e.Loopback = err == nil && u.Scheme == "http" // which is allowed on this machine alone
		e.Redirect = s.authorizationResponse(to, "error", e.Code, "error_description", e.Description, "state", r.State)
		return Consent{}, e
	}
	switch {
	case r.ResponseType != responseCode:
		return no(UnsupportedResponseType, "response_type must be %s", responseCode)
	case r.ResponseMode != "" && r.ResponseMode != "query":
		return no(InvalidRequest, "response_mode must be query")
	case r.Challenge == "":
		return no(InvalidRequest, "code_challenge is required (PKCE)")
	case r.Method != challengeS256:
		return no(InvalidRequest, "code_challenge_method must be %s", challengeS256)
	case !validChallenge(r.Challenge):
		return no(InvalidRequest, "code_challenge is not a SHA-256 in base64url")
	case !s.isOurResource(r.Resources):
		return no(InvalidTarget, "resource must be %s", s.resource)
	}
	u, err := url.Parse(to)
	if err != nil {
		return Consent{}, serverFailure("read redirect URI", err)
	}
	consent := Consent{Client: c, RedirectURI: to, Host: u.Host, Loopback: loopback(u.Hostname()), Scope: knownScopes(r.Scope)}
	if u.Scheme != "https" && u.Scheme != "http" {
		consent.Host = u.Scheme + ":"
	}
	return consent, nil
}

// knownScopes are those of the asked scopes that exist. Others, such as those of OpenID
// that some clients always ask for, are passed over, and none is all.
func knownScopes(asked string) string {
	fields := strings.Fields(asked)
	if slices.Contains(fields, Read) && !slices.Contains(fields, Write) {
		return Read
	}
	return Read + " " + Write
}

// isOurResource reports whether the resources that a client asks for (RFC 8707) are the
// one there is, which none means. A query may follow: a connection's URL pins a
// namespace there.
func (s *Service) isOurResource(asked []string) bool {
	want := canonicalURL(s.resource)
	return !slices.ContainsFunc(asked, func(a string) bool { return strings.Contains(a, "#") || canonicalURL(a) != want })
}

// canonicalURL is a resource's URL in one spelling (RFC 3986 section 6.2.2).
func canonicalURL(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.User != nil {
		return ""
	}
	host := strings.ToLower(u.Host)
	switch scheme := strings.ToLower(u.Scheme); scheme {
	case "https":
		host = strings.TrimSuffix(host, ":443")
	case "http":
		host = strings.TrimSuffix(host, ":80")
	}
	return strings.ToLower(u.Scheme) + "://" + host + strings.TrimSuffix(u.EscapedPath(), "/")
}

// authorizationResponse is the redirect URI with an authorization response: parameters by name
// and value, empty ones left out, and the issuer (RFC 9207).
func (s *Service) authorizationResponse(to string, params ...string) string {
	q := url.Values{"iss": {s.issuer}}
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			q.Set(params[i], params[i+1])
		}
	}
	switch {
	case strings.HasSuffix(to, "?"):
		return to + q.Encode()
	case strings.Contains(to, "?"):
		return to + "&" + q.Encode()
	}
	return to + "?" + q.Encode()
}

// Approve grants the client the key of the person who agreed, and returns the URL
// that takes the code back. readOnly allows less than the client asked. A key that
// is not taken is fault Unauthorized or Forbidden, anything else an *Error, as of
// Begin.
func (s *Service) Approve(ctx context.Context, r Request, bearer string, readOnly bool) (redirect string, err error) {
	c, err := s.Begin(ctx, r)
	if err != nil {
		return "", err
	}
	p, err := s.keys.Verify(ctx, bearer, op.Namespace)
	if code := fault.CodeOf(err); err != nil && code != fault.Unauthorized && code != fault.Forbidden {
		return "", serverFailure("verify key", err)
	}
	if err != nil {
		return "", err
	}
	if readOnly || p.ReadOnly {
		c.Scope = Read
	}
	now, code := s.now().UTC(), ident.NewToken(codePrefix)
	g := port.OAuthGrant{
		ID:          ident.NewToken("grant_")[:len("grant_")+partLength],
		Org:         p.Org,
		KeyID:       p.KeyID,
		ClientID:    c.Client.ID,
		ClientName:  c.Client.Name,
		Scope:       c.Scope,
		Resource:    s.resource,
		RedirectURI: c.RedirectURI,
		Challenge:   r.Challenge,
		Code:        ident.TokenHash(code),
		CodeExpires: now.Add(s.codeFor),
		CreatedAt:   now,
		ExpiresAt:   now.Add(s.codeFor),
	}
	granting := port.WithAudit(ctx, &port.AuditEntry{Record: func() port.AuditRecord {
		return port.AuditRecord{Org: g.Org, Actor: port.ActorKey, KeyID: g.KeyID, Action: "oauth.grant", Target: g.ID,
			RequestID: ident.RequestID(ctx), Status: 200}
	}})
	err = s.store.Update(granting, func(w writer) error {
		if err := w.PutOAuthGrant(ctx, g); err != nil {
			return err
		}
		return w.TouchOAuthClient(ctx, g.ClientID, now)
	})
	if err != nil {
		return "", serverFailure("store grant", err)
	}
	s.log.InfoContext(ctx, "token grant issued", "grant", g.ID, "org", string(g.Org), "key", g.KeyID, "client",
		g.ClientID, "scope", g.Scope)
	return s.authorizationResponse(c.RedirectURI, "code", code, "state", r.State), nil
}

// Deny returns the URL for the browser when the person does not agree.
func (s *Service) Deny(ctx context.Context, r Request) (redirect string, err error) {
	c, err := s.Begin(ctx, r)
	if err != nil {
		return "", err
	}
	return s.authorizationResponse(c.RedirectURI, "error", AccessDenied,
		"error_description", "the person did not agree", "state", r.State), nil
}
