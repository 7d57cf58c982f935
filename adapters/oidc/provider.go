package oidc

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Options name a provider. Issuer, ClientID and Redirect are required.
type Options struct {
	Issuer       string // https, or http on this machine
	ClientID     string
	ClientSecret string // "": a public client, which PKCE alone protects
	Name         string // that people know it by; "": the host of the issuer
	Redirect     string // URL that the provider sends browsers back to, as it is registered there
	// Domains are those of the addresses that may sign in; none: any.
	Domains []string

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // nil: nothing is logged
}

// How the provider is asked.
const (
	timeout  = 10 * time.Second
	maxBytes = 1 << 20
	// keepFor is how long what the provider says of itself is good. Its keys are read again
	// whenever a token names one that is not known.
	keepFor = time.Hour
	// restFor is how long a provider that failed is left alone.
	restFor = 3 * time.Second
)

// maxSubject is the length that OpenID Connect allows a subject.
const maxSubject = 255

// Provider implements port.IdentityProvider. Safe for concurrent use.
type Provider struct {
	o      Options
	client *http.Client

	asking  chan struct{} // holds one: who asks the provider
	mu      sync.Mutex
	known   *metadata
	read    time.Time // when known was
	problem string
	failed  time.Time // when the provider was asked in vain; zero: it answered since
}

// metadata is what the provider says of itself.
type metadata struct {
	provider *oidc.Provider
	answers  bool // it names itself in what browsers bring back
	style    oauth2.AuthStyle
}

// New makes the provider and asks nobody.
func New(o Options) *Provider {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	guarded := outbound.New(outbound.Options{Anywhere: true, Timeout: timeout, MaxBytes: maxBytes, MaxRedirects: -1})
	return &Provider{o: o, asking: make(chan struct{}, 1), client: &http.Client{
		Transport:     transport{guarded, strings.HasPrefix(o.Issuer, "http://")},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// transport sends requests by the guarded client: over https, or in plain where the issuer is this
// machine itself and so is the server asked.
type transport struct {
	client *outbound.Client
	plain  bool
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !(t.plain && loopback(r.URL.Hostname())) {
		return nil, errors.New("the provider names an address that is not https")
	}
	return t.client.Do(r)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Name implements port.IdentityProvider.
func (p *Provider) Name() string {
	if p.o.Name != "" {
		return p.o.Name
	}
	u, err := url.Parse(p.o.Issuer)
	if err != nil {
		return p.o.Issuer
	}
	return u.Host
}

// Problem implements port.IdentityProvider.
func (p *Provider) Problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problem
}

// down is the fault of a provider that cannot be asked. Its cause is the operator's to know.
func (p *Provider) down(ctx context.Context, step string, cause error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("identity provider: %w", ctx.Err())
	}
	p.o.Log.WarnContext(ctx, "identity provider failed", "provider", p.Name(), "step", step, "error", cause)
	p.mu.Lock()
	p.problem, p.failed = "the identity provider "+p.Name()+" cannot be asked: "+step+" failed", p.o.Now()
	p.mu.Unlock()
	return unavailable(p.Name())
}

func unavailable(name string) error {
	return fault.New(fault.Unavailable, "%s does not answer as it should; try again in a moment, or sign in another way", name)
}

// answered notes that the provider works.
func (p *Provider) answered() {
	p.mu.Lock()
	p.problem, p.failed = "", time.Time{}
	p.mu.Unlock()
}

// discovered is what the provider says of itself, asked for where that is not known any more.
func (p *Provider) discovered(ctx context.Context) (*metadata, error) {
	select { // one asks, the others wait for its answer
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, fmt.Errorf("identity provider: %w", ctx.Err())
	}
	p.mu.Lock()
	known, failed := p.known, p.failed
	fresh := known != nil && p.o.Now().Sub(p.read) < keepFor
	p.mu.Unlock()
	if fresh {
		return known, nil
	}
	if !failed.IsZero() && p.o.Now().Sub(failed) < restFor {
		return nil, unavailable(p.Name())
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.o.Issuer)
	if err != nil {
		return nil, p.down(ctx, "discovery", err)
	}
	var claims struct {
		Answers bool     `json:"authorization_response_iss_parameter_supported"`
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&claims); err != nil {
		return nil, p.down(ctx, "discovery", err)
	}
	at := found.Endpoint()
	for _, u := range []string{at.AuthURL, at.TokenURL} {
		if err := p.checkEndpoint(u); err != nil {
			return nil, p.down(ctx, "discovery", err)
		}
	}
	m := &metadata{found, claims.Answers, oauth2.AuthStyleInHeader} // what the standard has where nothing is said
	if p.o.ClientSecret == "" || len(claims.Methods) > 0 && !slices.Contains(claims.Methods, "client_secret_basic") {
		m.style = oauth2.AuthStyleInParams
	}
	p.answered()
	p.mu.Lock()
	p.known, p.read = m, p.o.Now()
	p.mu.Unlock()
	return m, nil
}

// checkEndpoint refuses addresses to which no browser and no secret may be sent.
func (p *Provider) checkEndpoint(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("the provider names %q, which is no absolute URL", fault.Clip(raw))
	}
	if u.Scheme != "https" && !(strings.HasPrefix(p.o.Issuer, "http://") && u.Scheme == "http" && loopback(u.Hostname())) {
		return fmt.Errorf("the provider names %q, which is not https", fault.Clip(raw))
	}
	return nil
}

func (p *Provider) oauth(m *metadata) *oauth2.Config {
	at := m.provider.Endpoint()
	at.AuthStyle = m.style // trying both would send the code twice
	return &oauth2.Config{ClientID: p.o.ClientID, ClientSecret: p.o.ClientSecret, Endpoint: at,
		RedirectURL: p.o.Redirect, Scopes: []string{oidc.ScopeOpenID, "email"}}
}

// Leave implements port.IdentityProvider.
func (p *Provider) Leave(ctx context.Context, b port.SignInBinding) (string, error) {
	m, err := p.discovered(ctx)
	if err != nil {
		return "", err
	}
	return p.oauth(m).AuthCodeURL(b.State, oidc.Nonce(b.Nonce), oauth2.S256ChallengeOption(b.Verifier)), nil
}

func refused(format string, args ...any) error { return fault.New(fault.Unauthorized, format, args...) }

// Return implements port.IdentityProvider.
func (p *Provider) Return(ctx context.Context, a port.ProviderAnswer, b port.SignInBinding) (port.Identity, error) {
	m, err := p.discovered(ctx)
	if err != nil {
		return port.Identity{}, err
	}
	switch { // before anything else, since an answer of another provider may say whatever it wants
	case a.Issuer != "" && a.Issuer != p.o.Issuer || a.Issuer == "" && m.answers:
		return port.Identity{}, refused("the answer is not of the provider that was asked")
	case a.Error == "access_denied":
		return port.Identity{}, refused("%s did not let you in, or you turned back", p.Name())
	case a.Error == "server_error" || a.Error == "temporarily_unavailable":
		return port.Identity{}, p.down(ctx, "authorization", errors.New(fault.Clip(a.Error+" "+a.Description)))
	case a.Error != "":
		p.o.Log.WarnContext(ctx, "identity provider refused", "provider", p.Name(), "code", fault.Clip(a.Error),
			"description", fault.Clip(a.Description))
		return port.Identity{}, refused("%s refused the sign-in (%s)", p.Name(), fault.Clip(a.Error))
	case a.Code == "":
		return port.Identity{}, refused("the answer of %s has no code", p.Name())
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(m).Exchange(ctx, a.Code, oauth2.VerifierOption(b.Verifier))
	if err != nil {
		var said *oauth2.RetrieveError
		if errors.As(err, &said) && said.ErrorCode == "invalid_grant" {
			return port.Identity{}, refused("%s does not take the code of the answer: it is used or too old", p.Name())
		}
		return port.Identity{}, p.down(ctx, "token", err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return port.Identity{}, p.down(ctx, "token", errors.New("there is no ID token in the answer"))
	}
	return p.verify(ctx, m, raw, token, b)
}

// verify makes sure that an ID token is the provider's, for this client and this sign-in.
func (p *Provider) verify(ctx context.Context, m *metadata, raw string, token *oauth2.Token,
	b port.SignInBinding) (port.Identity, error) {
	t, err := m.provider.VerifierContext(ctx, &oidc.Config{ClientID: p.o.ClientID, Now: p.o.Now}).Verify(ctx, raw)
	if err != nil && strings.Contains(err.Error(), "fetching keys") { // the library does not wrap why
		return port.Identity{}, p.down(ctx, "keys", err)
	}
	untrusted := func(why error) (port.Identity, error) {
		p.o.Log.WarnContext(ctx, "identity token refused", "provider", p.Name(), "error", why)
		return port.Identity{}, refused("the token of %s does not verify", p.Name())
	}
	if err != nil {
		return untrusted(err)
	}
	var claims struct {
		Party string `json:"azp"`
		address
	}
	if err := t.Claims(&claims); err != nil {
		return untrusted(err)
	}
	switch {
	case b.Nonce == "" || subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(b.Nonce)) != 1:
		return untrusted(errors.New("its nonce is not that of this sign-in"))
	case claims.Party != "" && claims.Party != p.o.ClientID, claims.Party == "" && len(t.Audience) > 1:
		return untrusted(errors.New("it was issued to another client"))
	case !plausible(t.Subject):
		return untrusted(errors.New("it has no subject"))
	}
	if t.AccessTokenHash != "" {
		if err := t.VerifyAccessToken(token.AccessToken); err != nil {
			return untrusted(err)
		}
	}
	if claims.Email == "" && m.provider.UserInfoEndpoint() != "" { // not every provider puts it into the token
		info, err := m.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return port.Identity{}, p.down(ctx, "userinfo", err)
		}
		if info.Subject != t.Subject {
			return untrusted(errors.New("the user information is of another account"))
		}
		if err := info.Claims(&claims.address); err != nil {
			return untrusted(err)
		}
	}
	p.answered()
	id := port.Identity{Issuer: p.o.Issuer, Subject: t.Subject, Email: claims.Email,
		EmailVerified: claims.Verified == true || claims.Verified == "true"}
	if !p.admits(id) {
		return port.Identity{}, refused("accounts of other domains than %s do not sign in here", strings.Join(p.o.Domains, ", "))
	}
	return id, nil
}

// address is what a provider says of the address of an account.
type address struct {
	Email    string `json:"email"`
	Verified any    `json:"email_verified"` // some providers write it as a text
}

// plausible reports whether a text can be a subject: up to 255 characters of ASCII.
func plausible(subject string) bool {
	return subject != "" && len(subject) <= maxSubject &&
		!strings.ContainsFunc(subject, func(r rune) bool { return r < ' ' || r > '~' })
}

// admits reports whether the address of an account is of a domain that may sign in.
func (p *Provider) admits(id port.Identity) bool {
	if len(p.o.Domains) == 0 {
		return true
	}
	_, domain, _ := strings.Cut(id.Email, "@")
	return id.EmailVerified && slices.ContainsFunc(p.o.Domains, func(d string) bool { return strings.EqualFold(d, domain) })
}
