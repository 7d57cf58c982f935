package oauth

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/transports/codec"
)

// Rate bounds how often one address may call an endpoint.
type Rate struct {
	Name      string // of the endpoint
	PerMinute int
	Burst     int
}

// The rates. A web client calls from few addresses for all its people, so those
// that it calls itself are wide; a person types a key slowly.
var (
	rateAuthorize = Rate{"authorize", 120, 60}
	rateConsent   = Rate{"consent", 6, 10}
	rateToken     = Rate{"token", 600, 200}
	rateRegister  = Rate{"register", 6, 20}
)

// Options say what a Front serves.
type Options struct {
	Service *oauth.Service // required
	// Secret signs consent forms; all replicas have the same. Required, 32 bytes
	// at least.
	Secret []byte
	// KnownHosts are hosts of clients, such as claude.ai, for which the consent
	// page does not warn.
	KnownHosts []string
	// AddressHeader names the header in which the proxy in front puts the caller's
	// address, such as X-Forwarded-For, whose last entry counts. "": none, the
	// connection's.
	AddressHeader string
	// Registration and Documents say which clients are taken, for the metadata.
	Registration, Documents bool
	// Allow takes one call of an address from its rate, or says how long to wait.
	// nil: no limit.
	Allow func(ctx context.Context, address string, r Rate) (wait time.Duration, ok bool)
	Now   func() time.Time // nil: time.Now
	Log   *slog.Logger     // nil: nothing is logged
}

// Front serves the endpoints. Safe for concurrent use.
type Front struct {
	Options
	base, resource string
	secure         bool
	origin         *http.CrossOriginProtection
	known          map[string]bool
	page           *page
}

// The paths.
const (
	pathAuthorize = "/oauth/authorize"
	pathToken     = "/oauth/token" //nolint:gosec // no credential
	pathRevoke    = "/oauth/revoke"
	pathRegister  = "/oauth/register"
	pathResource  = "/.well-known/oauth-protected-resource"
	pathServer    = "/.well-known/oauth-authorization-server"
)

// New makes the front. The issuer of the service must be an origin, such as
// https://mneme.example.com.
func New(o Options) (*Front, error) {
	u, err := url.Parse(o.Service.Issuer())
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" || u.RawQuery != "" ||
		u.Fragment != "":
		return nil, fmt.Errorf("the issuer %q is not an origin, such as https://mneme.example.com", o.Service.Issuer())
	case len(o.Secret) < 32:
		return nil, errors.New("the secret of consent forms is shorter than 32 bytes")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	f := &Front{
		Options:  o,
		base:     o.Service.Issuer(),
		resource: o.Service.Resource(),
		secure:   u.Scheme == "https",
		origin:   http.NewCrossOriginProtection(),
		known:    map[string]bool{},
	}
	for _, h := range o.KnownHosts {
		f.known[strings.ToLower(h)] = true
	}
	if err := f.origin.AddTrustedOrigin(f.base); err != nil {
		return nil, fmt.Errorf("the issuer: %w", err)
	}
	f.page, err = newPage()
	return f, err
}

// Mounts are the handlers by mux pattern.
func (f *Front) Mounts() map[string]http.Handler {
	m := map[string]http.Handler{
		"GET " + pathAuthorize:  http.HandlerFunc(f.showConsent),
		"POST " + pathAuthorize: http.HandlerFunc(f.handleDecision),
	}
	// Web pages may be clients too; nothing here goes by cookies.
	shared := func(method, path string, h http.HandlerFunc) {
		m[method+" "+path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			h(w, r)
		})
		m["OPTIONS "+path] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			head := w.Header()
			head.Set("Access-Control-Allow-Origin", "*")
			head.Set("Access-Control-Allow-Methods", method)
			head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
			head.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
		})
	}
	shared("GET", pathResource, f.describeResource)
	shared("GET", pathResource+"/mcp", f.describeResource)
	shared("GET", pathServer, f.describeServer)
	shared("POST", pathToken, f.token)
	shared("POST", pathRevoke, f.revoke)
	if f.Registration {
		shared("POST", pathRegister, f.register)
	}
	return m
}

// ResourceMetadata is the URL that a 401 of the resource names (RFC 9728 section 5.1).
func (f *Front) ResourceMetadata(r *http.Request) string {
	return f.base + pathResource + "/mcp" + pinned(r)
}

// pinned is the query of a connection's URL that pins a namespace. A client
// compares the URL that it was given, query and all, with what the metadata calls
// the resource (RFC 9728 section 3.3).
func pinned(r *http.Request) string {
	if name := r.URL.Query().Get("namespace"); ident.ValidNamespace(name) {
		return "?namespace=" + name
	}
	return ""
}

// resourceMetadata is RFC 9728 section 2.
type resourceMetadata struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
	Name                 string   `json:"resource_name"`
}

func (f *Front) describeResource(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "max-age=300")
	f.answer(w, http.StatusOK, resourceMetadata{
		Resource:             f.resource + pinned(r),
		AuthorizationServers: []string{f.base},
		Scopes:               oauth.Scopes(),
		BearerMethods:        []string{"header"},
		Name:                 "Mneme",
	})
}

// serverMetadata is RFC 8414 section 2 with RFC 9207 and client metadata documents.
type serverMetadata struct {
	Issuer            string   `json:"issuer"`
	Authorize         string   `json:"authorization_endpoint"`
	Token             string   `json:"token_endpoint"`
	Register          string   `json:"registration_endpoint,omitempty"`
	Revoke            string   `json:"revocation_endpoint"`
	Scopes            []string `json:"scopes_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	ResponseModes     []string `json:"response_modes_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	AuthMethods       []string `json:"token_endpoint_auth_methods_supported"`
	RevokeAuthMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	Challenges        []string `json:"code_challenge_methods_supported"`
	Iss               bool     `json:"authorization_response_iss_parameter_supported"`
	Documents         bool     `json:"client_id_metadata_document_supported"`
}

func (f *Front) describeServer(w http.ResponseWriter, _ *http.Request) {
	m := serverMetadata{
		Issuer:            f.base,
		Authorize:         f.base + pathAuthorize,
		Token:             f.base + pathToken,
		Revoke:            f.base + pathRevoke,
		Scopes:            oauth.Scopes(),
		ResponseTypes:     []string{"code"},
		ResponseModes:     []string{"query"},
		GrantTypes:        []string{"authorization_code", "refresh_token"},
		AuthMethods:       []string{"none"},
		RevokeAuthMethods: []string{"none"},
		Challenges:        []string{"S256"},
		Iss:               true,
		Documents:         f.Documents,
	}
	if f.Registration {
		m.Register = f.base + pathRegister
	}
	w.Header().Set("Cache-Control", "max-age=300")
	f.answer(w, http.StatusOK, m)
}

// How large a form may be: that of a client, which holds a code or a token, its
// verifier and addresses, and that of the consent page with the largest ticket and
// what is typed.
const (
	maxForm    = 8 << 10
	maxConsent = 64 << 10
)

func (f *Front) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	form, err := f.form(w, r, rateToken)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	t, err := f.Service.Exchange(r.Context(), oauth.Exchange{
		GrantType:    form.Get("grant_type"),
		ClientID:     form.Get("client_id"),
		Code:         form.Get("code"),
		Verifier:     form.Get("code_verifier"),
		RedirectURI:  form.Get("redirect_uri"),
		RefreshToken: form.Get("refresh_token"),
		Scope:        form.Get("scope"),
		Resources:    form["resource"],
	})
	if err != nil {
		f.fail(w, r, err)
		return
	}
	f.answer(w, http.StatusOK, t)
}

func (f *Front) revoke(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	form, err := f.form(w, r, rateToken)
	if err == nil && form.Get("token") == "" {
		err = &oauth.Error{Code: oauth.InvalidRequest, Description: "token is required"}
	}
	if err == nil {
		err = f.Service.Revoke(r.Context(), form.Get("token"), form.Get("client_id"))
	}
	if err != nil {
		f.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (f *Front) register(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	body, err := f.body(w, r, rateRegister, "application/json", oauth.MaxMetadata)
	var m oauth.Metadata
	if err == nil {
		m, err = f.Service.Register(r.Context(), body)
	}
	if err != nil {
		f.fail(w, r, err)
		return
	}
	f.answer(w, http.StatusCreated, m)
}

// form reads a form that a client sends. A client that authenticates is refused: all
// clients are public, and ignoring its secret would suggest that it was checked.
func (f *Front) form(w http.ResponseWriter, r *http.Request, rate Rate) (url.Values, error) {
	body, err := f.body(w, r, rate, "application/x-www-form-urlencoded", maxForm)
	if err != nil {
		return nil, err
	}
	form, err := parseParameters(string(body))
	if err != nil {
		return nil, err
	}
	if r.Header.Get("Authorization") != "" || form.Get("client_secret") != "" || form.Get("client_assertion") != "" {
		return nil, &oauth.Error{Code: oauth.InvalidClient,
			Description: "clients have no secret here: send client_id alone, as token_endpoint_auth_method none has it"}
	}
	return form, nil
}

// parseParameters parses parameters, none of which but resource may come twice (OAuth 2.1
// section 3.2).
func parseParameters(encoded string) (url.Values, error) {
	values, err := url.ParseQuery(encoded)
	if err != nil {
		return nil, &oauth.Error{Code: oauth.InvalidRequest, Description: "the parameters cannot be read"}
	}
	for name, all := range values {
		if len(all) > 1 && name != "resource" {
			return nil, &oauth.Error{Code: oauth.InvalidRequest, Description: "a parameter comes more than once"}
		}
	}
	return values, nil
}

// rateExceeded is the refusal of an address that has used its rate up.
type rateExceeded struct{ wait time.Duration }

func (t *rateExceeded) Error() string { return "too many calls from this address; wait a while" }

// takeRate takes one call from the rate of the caller's address.
func (f *Front) takeRate(r *http.Request, rate Rate) error {
	if f.Allow == nil {
		return nil
	}
	if wait, ok := f.Allow(r.Context(), f.address(r), rate); !ok {
		return &rateExceeded{wait}
	}
	return nil
}

// address is whom a call is counted for.
func (f *Front) address(r *http.Request) string {
	var lines []string
	if f.AddressHeader != "" {
		lines = r.Header.Values(f.AddressHeader)
	}
	return codec.Address(r.RemoteAddr, lines)
}

// body reads a body of a type, up to limit bytes.
func (f *Front) body(w http.ResponseWriter, r *http.Request, rate Rate, want string, limit int64) ([]byte, error) {
	if err := f.takeRate(r, rate); err != nil {
		return nil, err
	}
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != want {
		return nil, &oauth.Error{Code: oauth.InvalidRequest, Description: "the body must be of type " + want}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, &oauth.Error{Code: oauth.InvalidRequest,
			Description: fmt.Sprintf("the body cannot be read, or is larger than %d bytes", limit), Err: err}
	}
	return body, nil
}

// status is the HTTP status of a refusal.
func status(e *oauth.Error) int {
	switch e.Code {
	case oauth.TemporarilyUnavailable:
		return http.StatusServiceUnavailable
	case oauth.ServerError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// refusal is an error in OAuth's terms with its status.
func (f *Front) refusal(r *http.Request, err error) (*oauth.Error, int) {
	var many *rateExceeded
	if errors.As(err, &many) {
		return &oauth.Error{Code: oauth.TemporarilyUnavailable, Description: many.Error(), RetryAfter: many.wait},
			http.StatusTooManyRequests
	}
	var e *oauth.Error
	if !errors.As(err, &e) {
		e = &oauth.Error{Code: oauth.ServerError, Description: "an internal error occurred", Err: err}
	}
	if e.Code == oauth.ServerError || e.Code == oauth.TemporarilyUnavailable {
		f.Log.ErrorContext(r.Context(), "oauth request failed", "path", r.URL.Path, "code", e.Code, "error", e)
	}
	return e, status(e)
}

// fail answers a client (RFC 6749 section 5.2).
func (f *Front) fail(w http.ResponseWriter, r *http.Request, err error) {
	e, status := f.refusal(r, err)
	if e.Code == oauth.InvalidClient && r.Header.Get("Authorization") != "" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="mneme"`)
	}
	retryAfter(w, e.RetryAfter)
	f.Log.InfoContext(r.Context(), "oauth request refused", "path", r.URL.Path, "code", e.Code, "why", e.Description)
	f.answer(w, status, map[string]string{"error": e.Code, "error_description": e.Description})
}

func retryAfter(w http.ResponseWriter, wait time.Duration) {
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
}

func (f *Front) answer(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil { // of strings alone
		b, status = []byte(`{"error":"server_error"}`), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", cmp.Or(w.Header().Get("Cache-Control"), "no-store"))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a client that left has no use for the error
}

// messageOf is what a person is told about a key that was not taken.
func messageOf(err error) (text string, wrong bool) {
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.Unauthorized && f.Code != fault.Forbidden {
		return "", false
	}
	return f.Message, true
}
