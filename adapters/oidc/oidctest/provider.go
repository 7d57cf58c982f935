package oidctest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// The one client that is registered.
const (
	ClientID     = "mneme"
	ClientSecret = "a secret, with & and +"
)

// Says is what the provider says of the account that signs in, and how it is wrong.
type Says struct {
	Subject, Email string
	Unverified     bool
	UserinfoOnly   bool           // the ID token has no address
	Alter          map[string]any // claims of the ID token, in place of its own
	Unknown        bool           // altered tokens are signed with a key that it does not publish
	Deny           bool           // everybody who signs in is turned away
	Down           string         // beginning of the paths that answer 503; "": none
}

// Provider runs at URL, which is its issuer.
type Provider struct {
	*httptest.Server

	mu       sync.Mutex
	says     Says
	redirect string
	keys     []*key
	requests map[string]*request
	codes    map[string]string
}

// New starts a provider on this machine.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{requests: map[string]*request{}, codes: map[string]string{}}
	p.Rotate(t)
	var handler http.Handler
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := p.said()
		switch {
		case said.Down != "" && strings.HasPrefix(r.URL.Path, said.Down):
			http.Error(w, "down", http.StatusServiceUnavailable)
		case said.Alter != nil && r.URL.Path == "/oauth/token":
			whole := httptest.NewRecorder()
			handler.ServeHTTP(whole, r)
			body, err := p.alter(whole.Body.Bytes(), said)
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(p.Close)
	provider, err := op.NewProvider(&op.Config{CryptoKey: [32]byte{1}, CodeMethodS256: true}, &storage{p: p},
		op.StaticIssuer(p.URL), op.WithAllowInsecure())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", provider)
	mux.HandleFunc("GET /login", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>Provider</title>
<form method="post" action="/login?id=%s"><button>Continue</button></form>`,
			html.EscapeString(url.QueryEscape(r.URL.Query().Get("id"))))
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		q, deny := p.requests[r.URL.Query().Get("id")], p.says.Deny
		if q != nil {
			q.subject, q.done = p.says.Subject, true
		}
		p.mu.Unlock()
		if q != nil && deny {
			back := url.Values{"error": {"access_denied"}, "state": {q.asked.State}}
			http.Redirect(w, r, q.asked.RedirectURI+"?"+back.Encode(), http.StatusFound)
			return
		}
		http.Redirect(w, r, "/authorize/callback?id="+url.QueryEscape(r.URL.Query().Get("id")), http.StatusFound)
	})
	handler = mux
	return p
}

// Say has the provider say something else from now on.
func (p *Provider) Say(s Says) {
	p.mu.Lock()
	p.says = s
	p.mu.Unlock()
}

// Register lets the provider send people back to an address.
func (p *Provider) Register(redirect string) {
	p.mu.Lock()
	p.redirect = redirect
	p.mu.Unlock()
}

// Rotate replaces the key that tokens are signed with.
func (p *Provider) Rotate(t testing.TB) {
	t.Helper()
	k, err := newKey(rand.Text())
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.keys = []*key{k}
	p.mu.Unlock()
}

// SignIn does what a person does who was sent to an address of the provider, and gives the address
// that they are sent back to.
func (p *Provider) SignIn(ctx context.Context, address string) (string, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	c := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	at, method := address, http.MethodGet
	for range 10 {
		r, err := http.NewRequestWithContext(ctx, method, at, nil)
		if err != nil {
			return "", err
		}
		answer, err := c.Do(r)
		if err != nil {
			return "", err
		}
		_ = answer.Body.Close()
		if method == http.MethodGet && answer.StatusCode == http.StatusOK && r.URL.Path == "/login" {
			method = http.MethodPost
			continue
		}
		to, err := answer.Location()
		if err != nil {
			return "", fmt.Errorf("%s answered %d: %w", at, answer.StatusCode, err)
		}
		if at, method = to.String(), http.MethodGet; !strings.HasPrefix(at, p.URL) {
			return at, nil
		}
	}
	return "", errors.New("the provider goes in circles")
}

type key struct {
	id      string
	private *ecdsa.PrivateKey
}

func newKey(id string) (*key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return &key{id, private}, err
}

func (k *key) ID() string                                  { return k.id }
func (k *key) Key() any                                    { return k.private }
func (k *key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.ES256 }

// published is the public half.
type published struct{ *key }

func (k published) Algorithm() jose.SignatureAlgorithm { return jose.ES256 }
func (k published) Use() string                        { return "sig" }
func (k published) Key() any                           { return &k.private.PublicKey }

// request is a sign-in that has begun.
type request struct {
	id      string
	asked   *oidc.AuthRequest
	subject string
	done    bool
}

func (r *request) GetID() string          { return r.id }
func (r *request) GetACR() string         { return "" }
func (r *request) GetAMR() []string       { return nil }
func (r *request) GetAuthTime() time.Time { return time.Now() }
func (r *request) GetClientID() string    { return r.asked.ClientID }
func (r *request) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: r.asked.CodeChallenge, Method: r.asked.CodeChallengeMethod}
}
func (r *request) GetRedirectURI() string             { return r.asked.RedirectURI }
func (r *request) GetResponseType() oidc.ResponseType { return r.asked.ResponseType }
func (r *request) GetResponseMode() oidc.ResponseMode { return r.asked.ResponseMode }
func (r *request) GetScopes() []string                { return r.asked.Scopes }
func (r *request) GetState() string                   { return r.asked.State }
func (r *request) GetSubject() string                 { return r.subject }
func (r *request) Done() bool                         { return r.done }
func (r *request) GetAudience() []string              { return []string{ClientID} }
func (r *request) GetNonce() string                   { return r.asked.Nonce }

func (p *Provider) said() Says {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.says
}

// alter puts other claims into the ID token of an answer, and signs it.
func (p *Provider) alter(answer []byte, said Says) ([]byte, error) {
	var body, claims map[string]any
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, err
	}
	raw, _ := body["id_token"].(string)
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, fmt.Errorf("the answer has no token: %s", answer)
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return nil, err
	}
	maps.Copy(claims, said.Alter)
	if payload, err = json.Marshal(claims); err != nil {
		return nil, err
	}
	p.mu.Lock()
	k := p.keys[0]
	p.mu.Unlock()
	if said.Unknown {
		if k, err = newKey(rand.Text()); err != nil {
			return nil, err
		}
	}
	signer, err := op.SignerFromKey(k)
	if err != nil {
		return nil, err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return nil, err
	}
	if body["id_token"], err = signed.CompactSerialize(); err != nil {
		return nil, err
	}
	return json.Marshal(body)
}

// storage is what the library asks; what the flow does not need it lacks.
type storage struct {
	op.Storage
	p *Provider
}

func (s *storage) Health(context.Context) error { return nil }

func (s *storage) CreateAuthRequest(_ context.Context, asked *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	r := &request{id: rand.Text(), asked: asked}
	s.p.requests[r.id] = r
	return r, nil
}

func (s *storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if r := s.p.requests[id]; r != nil {
		return r, nil
	}
	return nil, errors.New("there is no such request")
}

func (s *storage) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	s.p.mu.Lock()
	id := s.p.codes[code]
	s.p.mu.Unlock()
	return s.AuthRequestByID(ctx, id)
}

func (s *storage) SaveAuthCode(_ context.Context, id, code string) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.codes[code] = id
	return nil
}

func (s *storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	delete(s.p.requests, id)
	return nil
}

func (s *storage) CreateAccessToken(_ context.Context, r op.TokenRequest) (string, time.Time, error) {
	return rand.Text(), time.Now().Add(time.Hour), nil
}

func (s *storage) SigningKey(context.Context) (op.SigningKey, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.p.keys[0], nil
}

func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.ES256}, nil
}

func (s *storage) KeySet(context.Context) (out []op.Key, err error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	for _, k := range s.p.keys {
		out = append(out, published{k})
	}
	return out, nil
}

func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != ClientID {
		return nil, errors.New("there is no such client")
	}
	return client{s.p}, nil
}

func (s *storage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != ClientID || secret != ClientSecret {
		return errors.New("the secret is wrong")
	}
	return nil
}

func (s *storage) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

func (s *storage) SetUserinfoFromRequest(_ context.Context, u *oidc.UserInfo, r op.IDTokenRequest, _ []string) error {
	u.Subject = r.GetSubject()
	if said := s.p.said(); !said.UserinfoOnly {
		u.Email, u.EmailVerified = said.Email, oidc.Bool(!said.Unverified)
	}
	return nil
}

func (s *storage) SetUserinfoFromToken(_ context.Context, u *oidc.UserInfo, _, subject, _ string) error {
	said := s.p.said()
	u.Subject, u.Email, u.EmailVerified = subject, said.Email, oidc.Bool(!said.Unverified)
	return nil
}

func (s *storage) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, nil
}

// client is this server at the provider.
type client struct{ p *Provider }

func (c client) GetID() string { return ClientID }
func (c client) RedirectURIs() []string {
	c.p.mu.Lock()
	defer c.p.mu.Unlock()
	return []string{c.p.redirect}
}
func (client) PostLogoutRedirectURIs() []string     { return nil }
func (client) ApplicationType() op.ApplicationType  { return op.ApplicationTypeWeb }
func (client) AuthMethod() oidc.AuthMethod          { return oidc.AuthMethodBasic }
func (client) ResponseTypes() []oidc.ResponseType   { return []oidc.ResponseType{oidc.ResponseTypeCode} }
func (client) GrantTypes() []oidc.GrantType         { return []oidc.GrantType{oidc.GrantTypeCode} }
func (client) LoginURL(id string) string            { return "/login?id=" + url.QueryEscape(id) }
func (client) AccessTokenType() op.AccessTokenType  { return op.AccessTokenTypeBearer }
func (client) DevMode() bool                        { return true }
func (client) IsScopeAllowed(string) bool           { return true }
func (client) IDTokenUserinfoClaimsAssertion() bool { return true }
func (client) ClockSkew() time.Duration             { return 0 }
func (client) RestrictAdditionalIdTokenScopes() func([]string) []string {
	return func(s []string) []string { return s }
}
func (client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(s []string) []string { return s }
}
func (client) IDTokenLifetime() time.Duration { return time.Hour }
