package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// Metadata is what a client says of itself (RFC 7591 section 2). Nothing of it is
// proven; fields that mean nothing here are left out.
type Metadata struct {
	ClientID      string   `json:"client_id,omitempty"`
	Name          string   `json:"client_name,omitempty"`
	URI           string   `json:"client_uri,omitempty"`
	RedirectURIs  []string `json:"redirect_uris,omitempty"`
	GrantTypes    []string `json:"grant_types,omitempty"`
	ResponseTypes []string `json:"response_types,omitempty"`
	AuthMethod    string   `json:"token_endpoint_auth_method,omitempty"`
	Scope         string   `json:"scope,omitempty"`
	IssuedAt      int64    `json:"client_id_issued_at,omitempty"` // seconds since 1970
}

// Limits of the metadata that is kept and shown for a client.
const (
	MaxMetadata     = 16 << 10 // bytes of JSON
	maxRedirects    = 20
	maxRedirectURI  = 2000 // bytes
	maxName         = 100  // characters shown
	grantCode       = "authorization_code"
	grantRefresh    = "refresh_token"
	responseCode    = "code"
	authMethodNone  = "none"
	challengeS256   = "S256"
	maxClientURL    = 2000
	registerRetryIn = time.Minute
)

// ParseMetadata reads and checks a client's metadata. *Error is InvalidClientMetadata or
// InvalidRedirectURI.
func ParseMetadata(body []byte) (Metadata, error) {
	var m Metadata
	if len(body) > MaxMetadata {
		return m, refuse(InvalidClientMetadata, "the metadata is larger than %d bytes", MaxMetadata)
	}
	if err := json.Unmarshal(body, &m); err != nil || !utf8.Valid(body) {
		return m, refuse(InvalidClientMetadata, "the metadata is not a JSON object of the expected types")
	}
	m.Name = cleanName(m.Name)
	switch {
	case len(m.RedirectURIs) == 0:
		return m, refuse(InvalidRedirectURI, "redirect_uris must name at least one")
	case len(m.RedirectURIs) > maxRedirects:
		return m, refuse(InvalidRedirectURI, "redirect_uris must be at most %d", maxRedirects)
	case len(m.GrantTypes) > 0 && !slices.Contains(m.GrantTypes, grantCode):
		return m, refuse(InvalidClientMetadata, "grant_types must contain %s", grantCode)
	case len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, responseCode):
		return m, refuse(InvalidClientMetadata, "response_types must contain %s", responseCode)
	}
	for _, u := range m.RedirectURIs {
		if why := badRedirect(u); why != "" {
			return m, refuse(InvalidRedirectURI, "redirect URI %s: %s", fault.Clip(u), why)
		}
	}
	if u, err := url.Parse(m.URI); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
		len(m.URI) > maxRedirectURI {
		m.URI = "" // it is only shown, so the client can be registered without it
	}
	return m, nil
}

// cleanName makes a name fit to be shown: one line, without characters that hide
// something or turn the direction of writing.
func cleanName(name string) string {
	name = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, name)), " ")
	if r := []rune(name); len(r) > maxName {
		name = string(r[:maxName-1]) + "…"
	}
	return name
}

// appSchemes are the schemes of applications that connect over MCP and have not named
// theirs after a domain. Others would start whatever handles them on a person's machine.
func appSchemes() []string {
	return []string{"cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed", "kiro", "trae", "claude", "raycast",
		"warp", "goose", "jetbrains"}
}

// badRedirect says what is wrong with a redirect URI; "" is nothing. Allowed are
// https, http on this machine, and an application's own scheme, which is named after a
// domain (RFC 8252 section 7.1) or one of appSchemes.
func badRedirect(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }):
		return "is not a URL"
	case len(s) > maxRedirectURI:
		return "is too long"
	case u.Scheme == "":
		return "must be absolute"
	case strings.Contains(s, "#"):
		return "must have no fragment"
	case u.User != nil:
		return "must have no user"
	case strings.Contains(u.Host, "*"):
		return "must have no wildcard"
	}
	switch u.Scheme {
	case "https":
		if u.Hostname() == "" {
			return "has no host"
		}
	case "http":
		if !loopback(u.Hostname()) {
			return "must be https unless it is of this machine"
		}
	default:
		if !strings.Contains(u.Scheme, ".") && !slices.Contains(appSchemes(), u.Scheme) {
			return "has a scheme that is neither named after a domain, such as com.example.app, nor known here"
		}
	}
	return ""
}

// loopback reports whether a host is the machine itself.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// redirectMatches reports whether a redirect URI is one that the client registered: the
// same string, or, on this machine, the same but for the port, which is an
// application's to choose at the time (RFC 8252 section 7.3).
func redirectMatches(registered, asked string) bool {
	if registered == asked {
		return true
	}
	r, err := url.Parse(registered)
	if err != nil || r.Scheme != "http" || !loopback(r.Hostname()) {
		return false
	}
	a, err := url.Parse(asked)
	return err == nil && badRedirect(asked) == "" && a.Scheme == r.Scheme && a.Hostname() == r.Hostname() &&
		a.EscapedPath() == r.EscapedPath() &&
		a.RawQuery == r.RawQuery && a.ForceQuery == r.ForceQuery
}

// Client is a program that asks for a key's rights.
type Client struct {
	ID   string
	Name string // as it says of itself, fit to be shown; may be empty
	// Host serves the client's metadata document, the only proven fact about a
	// client; "": it registered itself, and nothing is proven.
	Host         string
	RedirectURIs []string
}

// client finds a client. *Error InvalidClient.
func (s *Service) client(ctx context.Context, id string) (Client, error) {
	if strings.Contains(id, "://") {
		return s.documentClient(ctx, id)
	}
	if len(id) != len(clientPrefix)+partLength || !strings.HasPrefix(id, clientPrefix) {
		return Client{}, refuse(InvalidClient, "the client is not known here")
	}
	var c port.OAuthClient
	err := s.store.View(ctx, func(r reader) (err error) {
		c, err = r.OAuthClient(ctx, id)
		return err
	})
	if fault.CodeOf(err) == fault.NotFound {
		return Client{}, refuse(InvalidClient,
			"the client is not known here; one that has not been used for long is forgotten and must register again")
	}
	if err != nil {
		return Client{}, serverFailure("read client", err)
	}
	m, err := ParseMetadata(c.Metadata)
	if err != nil { // it was registered before these rules
		return Client{}, refuse(InvalidClient, "the client must register again: %v", err)
	}
	return Client{ID: id, Name: m.Name, RedirectURIs: m.RedirectURIs}, nil
}

// documentClient reads the client that a URL describes
// (draft-ietf-oauth-client-id-metadata-document sections 3 to 5).
func (s *Service) documentClient(ctx context.Context, id string) (Client, error) {
	if s.documents == nil {
		return Client{}, refuse(InvalidClient, "this server does not read client metadata documents; register the client instead")
	}
	u, why := s.documentURL(id)
	if why != "" {
		return Client{}, refuse(InvalidClient, "client_id is a URL that %s", why)
	}
	body, err := s.documents.Document(ctx, id)
	if err != nil {
		return Client{}, &Error{Code: InvalidClient,
			Description: describe("the client's metadata document cannot be read: " + fault.Clip(err.Error())), Err: err}
	}
	m, err := ParseMetadata(body)
	var bad *Error
	switch {
	case errors.As(err, &bad):
		return Client{}, &Error{Code: InvalidClient,
			Description: describe("the client's metadata document: " + bad.Description), Err: err}
	case m.ClientID != id:
		return Client{}, refuse(InvalidClient,
			"the client's metadata document is of another client: its client_id is %q", fault.Clip(m.ClientID))
	case m.AuthMethod != "" && m.AuthMethod != authMethodNone:
		return Client{}, refuse(InvalidClient,
			"the client's metadata document asks for token_endpoint_auth_method %q; this server knows %s",
			fault.Clip(m.AuthMethod), authMethodNone)
	}
	return Client{ID: id, Name: m.Name, Host: u.Host, RedirectURIs: m.RedirectURIs}, nil
}

// documentURL says what is wrong with a client id that is a URL; "" is nothing.
func (s *Service) documentURL(id string) (u *url.URL, why string) {
	u, err := url.Parse(id)
	switch {
	case err != nil || len(id) > maxClientURL || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, "cannot be read"
	case u.Scheme != "https" && !(s.loopbackDocuments && u.Scheme == "http" && loopback(u.Hostname())):
		return nil, "is not https"
	case u.Hostname() == "":
		return nil, "has no host"
	case u.User != nil:
		return nil, "has a user"
	case strings.Contains(id, "#"):
		return nil, "has a fragment"
	case u.Path == "" || u.Path == "/":
		return nil, "has no path"
	case path.Clean(u.Path) != strings.TrimSuffix(u.Path, "/"):
		return nil, "has a path with empty or dot segments"
	}
	return u, ""
}

// Register remembers a client that describes itself (RFC 7591) and returns the
// metadata as registered: always a public client. Beyond MaxClients, the oldest
// that was never used makes room. *Error InvalidClientMetadata,
// InvalidRedirectURI, TemporarilyUnavailable, or InvalidRequest where nobody may.
func (s *Service) Register(ctx context.Context, body []byte) (Metadata, error) {
	if s.maxClients <= 0 {
		return Metadata{}, refuse(InvalidRequest, "clients cannot register here")
	}
	m, err := ParseMetadata(body)
	if err != nil {
		return Metadata{}, err
	}
	now := s.now().UTC()
	m.ClientID, m.IssuedAt = clientPrefix+ident.NewToken("")[:partLength], now.Unix()
	m.AuthMethod, m.GrantTypes, m.ResponseTypes = authMethodNone, []string{grantCode, grantRefresh}, []string{responseCode}
	m.Scope = strings.Join(Scopes(), " ")
	kept, err := json.Marshal(Metadata{Name: m.Name, URI: m.URI, RedirectURIs: m.RedirectURIs})
	if err != nil {
		return Metadata{}, serverFailure("register", err)
	}
	full := false
	err = s.store.Update(ctx, func(w writer) error {
		full = false
		n, err := w.CountOAuthClients(ctx)
		if err != nil {
			return err
		}
		if n >= s.maxClients {
			room, err := w.EvictOAuthClient(ctx, now.Add(-registerRetryIn)) // one that registered just now is about to be used
			if full = err == nil && !room; full || err != nil {
				return err
			}
		}
		return w.PutOAuthClient(ctx, port.OAuthClient{ID: m.ClientID, Metadata: kept, CreatedAt: now})
	})
	switch {
	case err != nil:
		return Metadata{}, serverFailure("register", err)
	case full:
		e := refuse(TemporarilyUnavailable, "as many clients have registered as this server keeps")
		e.RetryAfter = registerRetryIn
		return Metadata{}, e
	}
	return m, nil
}
