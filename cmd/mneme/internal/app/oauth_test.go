package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mnemehq/mneme/cmd/mneme/internal/app"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
)

// frontModels is a configuration with one model, so that nothing is loaded.
const frontModels = "models:\n  e: {wasm: {tasks: [embedding]}}\nroles: {embed: e, sparse: off, rerank: off}\n"

// served is an assembled server with the front on.
type served struct {
	*app.App
	url, key, keyID string
}

func serve(t *testing.T, more string) served {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := served{url: "http://" + l.Addr().String()}
	if s.App, err = open(t, frontModels+"server: {base_url: \""+s.url+"\"}\noauth: {enabled: true, "+more+"}\n"); err != nil {
		t.Fatal(err)
	}
	k, err := s.Keys.Issue(t.Context(), key.Issue{Kind: ident.Service})
	if err != nil {
		t.Fatal(err)
	}
	s.key, s.keyID = k.Secret, k.ID
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

var ticketField = regexp.MustCompile(`name="request" value="([^"]+)"`)

// consent does what a person does in a browser: opens the page and sends a key.
func consent(ctx context.Context, page, key string) (*url.URL, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	do := func(method, to string, form url.Values) (*http.Response, string, error) {
		r, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(form.Encode()))
		if err != nil {
			return nil, "", err
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		a, err := browser.Do(r)
		if err != nil {
			return nil, "", err
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		return a, string(body), err
	}
	_, body, err := do(http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	found := ticketField.FindStringSubmatch(body)
	if found == nil {
		return nil, fmt.Errorf("no form in %s", body)
	}
	to, _, _ := strings.Cut(page, "?")
	a, body, err := do(http.MethodPost, to, url.Values{"request": {found[1]}, "key": {key}, "decision": {"allow"}})
	if err != nil {
		return nil, err
	}
	if a.StatusCode != http.StatusSeeOther {
		return nil, fmt.Errorf("status %d: %s", a.StatusCode, body)
	}
	return a.Location()
}

// handler is the official client's OAuth support, with a person who has a key.
func handler(t *testing.T, s served) *auth.AuthorizationCodeHandler {
	t.Helper()
	h, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Test client", RedirectURIs: []string{"http://127.0.0.1:9/callback"}}},
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			to, err := consent(ctx, args.URL, s.key)
			if err != nil {
				return nil, err
			}
			q := to.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func connect(t *testing.T, s served, h auth.OAuthHandler) (*sdk.ClientSession, error) {
	t.Helper()
	return connectTo(t, s.url+"/mcp", h)
}

func connectTo(t *testing.T, endpoint string, h auth.OAuthHandler) (*sdk.ClientSession, error) {
	t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	return c.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint:             endpoint,
		OAuthHandler:         h,
		MaxRetries:           -1,
		DisableStandaloneSSE: true,
	}, nil)
}

func call(t *testing.T, session *sdk.ClientSession, tool string, arguments map[string]any) (string, error) {
	t.Helper()
	out, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, c := range out.Content {
		if c, ok := c.(*sdk.TextContent); ok {
			text.WriteString(c.Text)
		}
	}
	if out.IsError {
		return "", fmt.Errorf("tool: %s", &text)
	}
	return text.String(), nil
}

// The official client finds the front by itself, registers, and works until the
// key is revoked; nothing but the MCP endpoint takes its token.
func TestOfficialClientConnectsByOAuth(t *testing.T) {
	s := serve(t, "")
	h := handler(t, s)
	session, err := connect(t, s, h)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if got, err := call(t, session, "save",
		map[string]any{"namespace": "notes", "id": "lease", "text": "The lease ends in March. Žluťoučký kůň."}); err != nil ||
		!strings.Contains(got, `"created":true`) {
		t.Fatalf("save: %s, %v", got, err)
	}
	if got, err := call(t, session, "fetch", map[string]any{"id": "notes/lease"}); err != nil ||
		!strings.Contains(got, "Žluťoučký") {
		t.Fatalf("fetch: %s, %v", got, err)
	}

	source, err := h.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := source.Token()
	if err != nil {
		t.Fatal(err)
	}
	get := func(path, bearer string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		return a.StatusCode
	}
	for _, path := range []string{"/namespaces", "/namespaces/notes/documents/lease", "/models", "/api/v1/status",
		"/admin/v1/organizations"} {
		if status := get(path, token.AccessToken); status != http.StatusUnauthorized {
			t.Errorf("GET %s with an access token: %d, want 401", path, status)
		}
	}
	if status := get("/namespaces", s.key); status != http.StatusOK {
		t.Errorf("GET /namespaces with the key: %d", status)
	}

	if err := s.Keys.Revoke(t.Context(), key.Ref{ID: s.keyID}); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t, session, "list_namespaces", map[string]any{}); err == nil {
		t.Errorf("a tool answered %s after the key was revoked", got)
	}
}

// onFirstRead does something before the first byte.
type onFirstRead struct {
	io.Reader
	do func()
}

func (o *onFirstRead) Read(p []byte) (int, error) {
	if o.do != nil {
		o.do()
		o.do = nil
	}
	return o.Reader.Read(p)
}

// A token that its client gives back while a request with it is under way is
// refused by what the request calls.
func TestTokenEndsWithinARequest(t *testing.T) {
	for name, ends := range map[string]bool{"kept": false, "given back": true} {
		t.Run(name, func(t *testing.T) { tokenWithinARequest(t, ends) })
	}
}

func tokenWithinARequest(t *testing.T, ends bool) {
	t.Helper()
	s := serve(t, "")
	h := handler(t, s)
	session, err := connect(t, s, h)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	source, err := h.TokenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, err := source.Token()
	if err != nil {
		t.Fatal(err)
	}
	// The server asks for the body, with 100 Continue, once it took the token.
	body := &onFirstRead{Reader: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"list_namespaces","arguments":{}}}`)}
	if ends {
		body.do = func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/oauth/revoke",
				strings.NewReader(url.Values{"token": {token.AccessToken}}.Encode()))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			if err := a.Body.Close(); err != nil || a.StatusCode != http.StatusOK {
				t.Errorf("revoke: %d, %v", a.StatusCode, err)
			}
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", body)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Authorization": "Bearer " + token.AccessToken,
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2025-11-25", "Expect": "100-continue"} {
		r.Header.Set(k, v)
	}
	patient := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer patient.CloseIdleConnections()
	a, err := patient.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(a.Body)
	if err := errors.Join(err, a.Body.Close()); err != nil {
		t.Fatal(err)
	}
	if a.StatusCode != http.StatusOK || strings.Contains(string(got), "access token is not valid") != ends ||
		strings.Contains(string(got), `"namespaces"`) == ends {
		t.Errorf("given back before the body %v: %d, %s", ends, a.StatusCode, got)
	}
}

// A connection's URL may pin a namespace, which its tools then take for granted.
func TestPinnedNamespaceConnectsByOAuth(t *testing.T) {
	s := serve(t, "")
	session, err := connectTo(t, s.url+"/mcp?namespace=pinned", handler(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if got, err := call(t, session, "save", map[string]any{"id": "a", "text": "x"}); err != nil ||
		!strings.Contains(got, `"pinned/a"`) {
		t.Errorf("save: %s, %v", got, err)
	}
}

// A person with a read-only key lends no more than that.
func TestReadOnlyKeyLendsReading(t *testing.T) {
	s := serve(t, "")
	k, err := s.Keys.Issue(t.Context(), key.Issue{Kind: ident.Service, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s.key = k.Secret
	session, err := connect(t, s, handler(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Name == "save" || tool.Name == "delete" {
			t.Errorf("tool %s is offered", tool.Name)
		}
	}
	if got, err := call(t, session, "save", map[string]any{"namespace": "notes", "text": "x"}); err == nil {
		t.Errorf("saved: %s", got)
	}
}

// The resource tells a client without a token where to get one.
func TestUnauthorizedNamesTheMetadata(t *testing.T) {
	s := serve(t, "")
	for _, bearer := range []string{"", "Bearer mnat_wrong", "Bearer sk-service-wrong"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp",
			bytes.NewReader([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if bearer != "" {
			r.Header.Set("Authorization", bearer)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		want := `resource_metadata="` + s.url + `/.well-known/oauth-protected-resource/mcp"`
		if got := a.Header.Get("WWW-Authenticate"); a.StatusCode != http.StatusUnauthorized || !strings.Contains(got, want) {
			t.Errorf("%q: %d %s, want %s", bearer, a.StatusCode, got, want)
		}
	}
	a, err := http.Get(s.url + "/.well-known/oauth-protected-resource/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var m struct{ Resource string }
	if err := json.NewDecoder(a.Body).Decode(&m); err != nil || m.Resource != s.url+"/mcp" {
		t.Errorf("resource %q, %v", m.Resource, err)
	}
}

// Off, as it is by default, nothing of the front is there.
func TestOAuthIsOffByDefault(t *testing.T) {
	a, err := open(t, frontModels)
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range []string{"GET /.well-known/oauth-protected-resource",
		"GET /.well-known/oauth-protected-resource/mcp", "GET /.well-known/oauth-authorization-server",
		"GET /.well-known/openid-configuration", "GET /oauth/authorize", "POST /oauth/authorize", "POST /oauth/token",
		"OPTIONS /oauth/token", "POST /oauth/register", "POST /oauth/revoke"} {
		method, path, _ := strings.Cut(route, " ")
		if status, _ := answer(t, a, method, path, ""); status != http.StatusNotFound {
			t.Errorf("%s: %d, want 404", route, status)
		}
	}
	status, head := answer(t, a, http.MethodPost, "/mcp", "mnat_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	if got := head.Get("WWW-Authenticate"); status != http.StatusUnauthorized || strings.Contains(got, "resource_metadata") {
		t.Errorf("/mcp: %d, WWW-Authenticate %q", status, got)
	}
	if a.Engine.OAuth() != nil {
		t.Error("the service is there")
	}
}

// Turned off in part, the metadata says so and the route is not there.
func TestOAuthWithoutRegistration(t *testing.T) {
	s := serve(t, "registration: false")
	if status, _ := answer(t, s.App, http.MethodPost, "/oauth/register", ""); status != http.StatusNotFound {
		t.Errorf("register: %d", status)
	}
	if status, _ := answer(t, s.App, http.MethodGet, "/.well-known/oauth-authorization-server", ""); status != http.StatusOK {
		t.Errorf("metadata: %d", status)
	}
}

// answer asks the assembled product over a connection of its own.
func answer(t *testing.T, a *app.App, method, path, bearer string) (int, http.Header) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, l) }()
	defer func() { stop(); <-done }()
	r, err := http.NewRequestWithContext(ctx, method, app.URL(l)+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	return got.StatusCode, got.Header
}
