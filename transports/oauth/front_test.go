package oauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	front "github.com/mnemehq/mneme/transports/oauth"
)

const verifier = "a-verifier-of-fifty-characters-as-long-as-it-must-be"

func challenge() string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// served is the front over real services, with a clock that tests move.
type served struct {
	*testing.T
	url      string
	keys     *key.Service
	service  *oauth.Service
	settings oauth.Settings // of service
	key      key.Issued
	now      *atomic.Int64
	log      *bytes.Buffer
}

// open serves the front; change is told the options before it starts.
func open(t *testing.T, settings func(*oauth.Settings), change func(*front.Options)) *served {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{T: t, url: "http://" + l.Addr().String(), now: &atomic.Int64{}, log: &bytes.Buffer{}}
	s.now.Store(time.Now().UnixNano())
	clock := func() time.Time { return time.Unix(0, s.now.Load()).UTC() }
	s.keys = key.New(key.Settings{Store: store, Now: clock})
	if s.key, err = s.keys.Issue(t.Context(), key.Issue{}); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(s.log, nil))
	with := oauth.Settings{
		Store:      store,
		Keys:       s.keys,
		Issuer:     s.url,
		Resource:   s.url + "/mcp",
		MaxClients: 1000,
		Now:        clock,
		Log:        log,
	}
	if settings != nil {
		settings(&with)
	}
	s.service, s.settings = oauth.New(with), with
	buckets := middleware.NewBuckets(clock)
	o := front.Options{
		Service:      s.service,
		Secret:       bytes.Repeat([]byte{7}, 32),
		KnownHosts:   []string{"app.example"},
		Registration: true,
		Documents:    with.Documents != nil,
		Now:          clock,
		Log:          log,
		Allow: func(ctx context.Context, address string, r front.Rate) (time.Duration, bool) {
			taken, err := buckets.Take(ctx, address, op.Class(r.Name), ident.Rate{PerMinute: r.PerMinute, Burst: r.Burst}, 1, 0)
			return taken.Retry, err == nil && taken.OK
		},
	}
	if change != nil {
		change(&o)
	}
	f, err := front.New(o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range f.Mounts() {
		mux.Handle(pattern, h)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}}
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// answer is an HTTP answer that was read.
type answer struct {
	*http.Response
	body string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return m
}

// browser keeps cookies and follows nothing.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send sends a request; header are names and values.
func (s *served) send(c *http.Client, method, path string, body io.Reader, header ...string) answer {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, body)
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	a, err := c.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer a.Body.Close()
	b, err := io.ReadAll(a.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer{a, string(b)}
}

func (s *served) post(c *http.Client, path string, form url.Values, header ...string) answer {
	s.Helper()
	return s.send(c, http.MethodPost, path, strings.NewReader(form.Encode()),
		append([]string{"Content-Type", "application/x-www-form-urlencoded"}, header...)...)
}

func (s *served) register(metadata map[string]any) answer {
	s.Helper()
	b, err := json.Marshal(metadata)
	if err != nil {
		s.Fatal(err)
	}
	return s.send(http.DefaultClient, http.MethodPost, "/oauth/register", bytes.NewReader(b), "Content-Type", "application/json")
}

// client registers a client that is sent back to a redirect URI.
func (s *served) client(name, redirect string) string {
	s.Helper()
	a := s.register(map[string]any{"client_name": name, "redirect_uris": []string{redirect}})
	if a.StatusCode != http.StatusCreated {
		s.Fatalf("register: %d %s", a.StatusCode, a.body)
	}
	return a.json(s.T)["client_id"].(string)
}

func (s *served) query(client, redirect string) url.Values {
	return url.Values{"response_type": {"code"}, "client_id": {client}, "redirect_uri": {redirect}, "state": {"xyz"},
		"code_challenge":        {challenge()},
		"code_challenge_method": {"S256"}, "resource": {s.url + "/mcp"}, "scope": {"mcp:read mcp:write"}}
}

var ticketField = regexp.MustCompile(`name="request" value="([^"]+)"`)

func (s *served) ticket(page string) string {
	s.Helper()
	found := ticketField.FindStringSubmatch(page)
	if found == nil {
		s.Fatalf("no form in %s", page)
	}
	return found[1]
}

// consent opens the page for a query and decides.
func (s *served) consent(c *http.Client, q url.Values, form url.Values) answer {
	s.Helper()
	a := s.send(c, http.MethodGet, "/oauth/authorize?"+q.Encode(), nil)
	if a.StatusCode != http.StatusOK {
		s.Fatalf("page: %d %s", a.StatusCode, a.body)
	}
	form = maps.Clone(form)
	form.Set("request", s.ticket(a.body))
	return s.post(c, "/oauth/authorize", form, "Sec-Fetch-Site", "same-origin")
}

const app = "https://app.example/cb"

// code has the person agree and returns the code.
func (s *served) code(client string) string {
	s.Helper()
	a := s.consent(browser(s.T), s.query(client, app), url.Values{"key": {s.key.Secret}, "decision": {"allow"}})
	to, err := a.Location()
	if err != nil || a.StatusCode != http.StatusSeeOther || !strings.HasPrefix(to.String(), app+"?") ||
		to.Query().Get("state") != "xyz" || to.Query().Get("iss") != s.url {
		s.Fatalf("consent: %d %v %s", a.StatusCode, to, a.body)
	}
	return to.Query().Get("code")
}

func (s *served) redeem(client, code string) answer {
	s.Helper()
	return s.post(http.DefaultClient, "/oauth/token",
		url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {code},
			"code_verifier": {verifier}, "redirect_uri": {app}, "resource": {s.url + "/mcp"}})
}

func TestWholeFlowByHTTP(t *testing.T) {
	s := open(t, nil, nil)
	resource := s.send(http.DefaultClient, http.MethodGet, "/.well-known/oauth-protected-resource/mcp", nil).json(t)
	if resource["resource"] != s.url+"/mcp" || fmt.Sprint(resource["authorization_servers"]) != "["+s.url+"]" {
		t.Errorf("resource metadata %v", resource)
	}
	if root := s.send(http.DefaultClient, http.MethodGet, "/.well-known/oauth-protected-resource",
		nil).json(t); fmt.Sprint(root) != fmt.Sprint(resource) {
		t.Errorf("at the root: %v", root)
	}
	for query, want := range map[string]string{"?namespace=docs": "?namespace=docs",
		"?namespace=docs&x=1": "?namespace=docs", "?namespace=No%22": "", "?x=1": ""} {
		if got := s.send(http.DefaultClient, http.MethodGet, "/.well-known/oauth-protected-resource/mcp"+query,
			nil).json(t)["resource"]; got != s.url+"/mcp"+want {
			t.Errorf("the resource of %s is %s", query, got)
		}
	}
	server := s.send(http.DefaultClient, http.MethodGet, "/.well-known/oauth-authorization-server", nil).json(t)
	for name, want := range map[string]string{"issuer": s.url, "authorization_endpoint": s.url + "/oauth/authorize",
		"token_endpoint":        s.url + "/oauth/token",
		"registration_endpoint": s.url + "/oauth/register", "revocation_endpoint": s.url + "/oauth/revoke",
		"code_challenge_methods_supported":      "[S256]",
		"token_endpoint_auth_methods_supported": "[none]", "response_types_supported": "[code]",
		"authorization_response_iss_parameter_supported": "true",
		"client_id_metadata_document_supported":          "false"} {
		if got := fmt.Sprint(server[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}

	client := s.client("App", app)
	a := s.redeem(client, s.code(client))
	if a.StatusCode != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" ||
		a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Fatalf("token: %d %v %s", a.StatusCode, a.Header, a.body)
	}
	got := a.json(t)
	if p, err := s.service.Verify(t.Context(), got["access_token"].(string), op.Namespace); err != nil || p.KeyID != s.key.ID {
		t.Errorf("principal %+v, %v", p, err)
	}
	again := s.post(http.DefaultClient, "/oauth/token",
		url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {got["refresh_token"].(string)}})
	if again.StatusCode != http.StatusOK {
		t.Fatalf("refresh: %d %s", again.StatusCode, again.body)
	}
	access := again.json(t)["access_token"].(string)
	if a := s.post(http.DefaultClient, "/oauth/revoke",
		url.Values{"token": {access}, "token_type_hint": {"access_token"},
			"client_id": {client}}); a.StatusCode != http.StatusOK || a.body != "" {
		t.Errorf("revoke: %d %s", a.StatusCode, a.body)
	}
	if _, err := s.service.Verify(t.Context(), access, op.Namespace); err == nil {
		t.Error("taken after it was revoked")
	}
	if strings.Contains(s.log.String(), s.key.Secret) {
		t.Error("the key is in the log")
	}
}

func TestTokenEndpointRefuses(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	good := func() url.Values {
		return url.Values{"grant_type": {"authorization_code"}, "client_id": {client}, "code": {s.code(client)},
			"code_verifier": {verifier}}
	}
	for _, c := range []struct {
		name   string
		form   func() url.Values
		header []string
		status int
		code   string
	}{
		{"secret", func() url.Values { v := good(); v.Set("client_secret", "x"); return v }, nil, 400, "invalid_client"},
		{"basic", good, []string{"Authorization", "Basic eDp5"}, 401, "invalid_client"},
		{"JSON", good, []string{"Content-Type", "application/json"}, 400, "invalid_request"},
		{"twice", func() url.Values { v := good(); v.Add("code", "x"); return v }, nil, 400, "invalid_request"},
		{"other verifier", func() url.Values { v := good(); v.Set("code_verifier", strings.Repeat("x", 43)); return v },
			nil, 400, "invalid_grant"},
		{"huge", func() url.Values { v := good(); v.Set("x", strings.Repeat("x", 70<<10)); return v }, nil, 400,
			"invalid_request"},
		{"nothing", func() url.Values { return url.Values{} }, nil, 400, "invalid_client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.post(http.DefaultClient, "/oauth/token", c.form(), c.header...)
			if a.StatusCode != c.status || a.json(t)["error"] != c.code || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
			if (a.StatusCode == 401) != (a.Header.Get("WWW-Authenticate") != "") {
				t.Errorf("WWW-Authenticate %q", a.Header.Get("WWW-Authenticate"))
			}
		})
	}
	if a := s.post(http.DefaultClient, "/oauth/token?"+good().Encode(), url.Values{}); a.StatusCode != 400 {
		t.Errorf("parameters of the URL were taken: %s", a.body)
	}
	if a := s.post(http.DefaultClient, "/oauth/revoke", url.Values{}); a.StatusCode != 400 {
		t.Errorf("nothing was revoked with %d", a.StatusCode)
	}
}

// Web pages may call what is no page; no page of another origin may be one's own.
func TestPreflight(t *testing.T) {
	s := open(t, nil, nil)
	for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/revoke",
		"/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource/mcp"} {
		a := s.send(http.DefaultClient, http.MethodOptions, path, nil, "Origin", "https://inspector.example",
			"Access-Control-Request-Method", "POST")
		if a.StatusCode != http.StatusNoContent || a.Header.Get("Access-Control-Allow-Origin") != "*" ||
			a.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", path, a.StatusCode, a.Header)
		}
	}
	client := s.client("App", app)
	if a := s.send(http.DefaultClient, http.MethodGet, "/oauth/authorize?"+s.query(client, app).Encode(), nil, "Origin",
		"https://evil.test"); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("the page may be read by another origin's")
	}
}

func TestConsentPageIsSafe(t *testing.T) {
	s := open(t, nil, nil)
	attack := `</h1><script>alert(1)</script><img src=x onerror=alert(1)>" onload="x`
	a := s.send(browser(t), http.MethodGet,
		"/oauth/authorize?"+s.query(s.client(attack, "https://evil.test/cb"), "https://evil.test/cb").Encode(), nil)
	if a.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	for _, bad := range []string{"<script", "<img", `" onload="`, "http://", "https://", "src=\"", "@import", "url("} {
		if strings.Contains(a.body, bad) {
			t.Errorf("the page contains %s", bad)
		}
	}
	if !strings.Contains(a.body, "&lt;script&gt;") || !strings.Contains(a.body, "evil.test") {
		t.Errorf("the page does not show the client: %s", a.body)
	}
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(a.body)
	if style == nil {
		t.Fatal("no style")
	}
	sum := sha256.Sum256([]byte(style[1]))
	policy := a.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'",
		"style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "form-action 'self' https://evil.test;",
		"base-uri 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("policy %s lacks %s", policy, want)
		}
	}
	for name, want := range map[string]string{"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Content-Type": "text/html; charset=utf-8"} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if c := a.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteLaxMode {
		t.Errorf("cookies %v", c)
	}
}

// What the page says depends on where the browser goes and who asks.
func TestConsentPageWarns(t *testing.T) {
	const document = "https://claude.test/client.json"
	s := open(t, func(o *oauth.Settings) {
		o.Documents = fixed{document: `{"client_id":"` + document + `","client_name":"Claude","redirect_uris":["` + app + `"]}`}
	}, nil)
	for _, c := range []struct {
		name, client, redirect string
		has, lacks             []string
		action                 string
	}{
		{"known host", s.client("App", app), app, []string{"<strong>app.example</strong>", "registered itself"},
			[]string{"does not know", "this computer"}, " https://app.example"},
		{"unknown host", s.client("App", "https://x.test:8443/cb"), "https://x.test:8443/cb",
			[]string{"does not know <strong>x.test:8443</strong>"}, []string{"this computer"}, " https://x.test:8443"},
		{"this computer", s.client("App", "http://127.0.0.1/cb"), "http://127.0.0.1:5123/cb",
			[]string{"a program on this computer"}, []string{"does not know"}, " http://127.0.0.1:5123"},
		{"IPv6", s.client("App", "http://[::1]/cb"), "http://[::1]:5123/cb", []string{"a program on this computer"},
			[]string{"does not know"}, " http:"},
		{"own scheme", s.client("App", "cursor://cb/x"), "cursor://cb/x",
			[]string{"does not know <strong>cursor:</strong>"}, []string{"this computer"}, " cursor:"},
		{"no name", s.client("", app), app, []string{"Let an application use"}, nil, " https://app.example"},
		{"documented", document, app, []string{"<strong>Claude</strong>", "described at <strong>claude.test</strong>"},
			[]string{"registered itself"}, " https://app.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.send(browser(t), http.MethodGet, "/oauth/authorize?"+s.query(c.client, c.redirect).Encode(), nil)
			for _, want := range c.has {
				if !strings.Contains(a.body, want) {
					t.Errorf("lacks %q: %s", want, a.body)
				}
			}
			for _, not := range c.lacks {
				if strings.Contains(a.body, not) {
					t.Errorf("has %q", not)
				}
			}
			if p := a.Header.Get("Content-Security-Policy"); !strings.Contains(p, "form-action 'self'"+c.action+";") {
				t.Errorf("policy %s lacks %s", p, c.action)
			}
		})
	}
	read := s.query(s.client("App", app), app)
	read.Set("scope", "mcp:read")
	if a := s.send(browser(t), http.MethodGet, "/oauth/authorize?"+read.Encode(), nil); strings.Contains(a.body, "delete") ||
		strings.Contains(a.body, "read_only") {
		t.Error("a client that asks to read is shown as one that deletes")
	}
}

type fixed map[string]string

func (f fixed) Document(_ context.Context, url string) ([]byte, error) { return []byte(f[url]), nil }

func TestConsentDecisions(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	memory, err := s.keys.Issue(t.Context(), key.Issue{Kind: ident.Integration, Name: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		says   string // of the page, or of the redirect
	}{
		{"wrong key", url.Values{"key": {"sk-service-" + strings.Repeat("x", 43)}, "decision": {"allow"}}, 403,
			"This key was not accepted"},
		{"no key", url.Values{"key": {"  "}, "decision": {"allow"}}, 400, "Enter an API key"},
		{"a key of the memory API", url.Values{"key": {memory.Secret}, "decision": {"allow"}}, 403,
			"takes keys that begin with sk-service-"},
		{"cancel", url.Values{"key": {s.key.Secret}, "decision": {"deny"}}, 303, "error=access_denied"},
		{"no decision", url.Values{"key": {s.key.Secret}}, 303, "error=access_denied"},
		{"pasted with spaces", url.Values{"key": {" " + s.key.Secret + "\n"}, "decision": {"allow"}}, 303, "code="},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.consent(browser(t), s.query(client, app), c.form)
			if said := a.body + a.Header.Get("Location"); a.StatusCode != c.status || !strings.Contains(said, c.says) {
				t.Errorf("%d %s", a.StatusCode, said)
			}
			if strings.Contains(a.body, s.key.Secret) || strings.Contains(a.body, memory.Secret) ||
				a.Header.Get("Cache-Control") != "no-store" {
				t.Error("the key is in the page, or the page is kept")
			}
			if c.status != 303 { // the page that tells so takes the right key
				next := s.consent(browser(t), s.query(client, app), url.Values{"key": {s.key.Secret}, "decision": {"allow"}})
				if next.StatusCode != http.StatusSeeOther {
					t.Errorf("afterwards %d", next.StatusCode)
				}
			}
		})
	}
	if err := s.keys.Suspend(t.Context(), ident.DefaultOrg); err != nil {
		t.Fatal(err)
	}
	if a := s.consent(browser(t), s.query(client, app),
		url.Values{"key": {s.key.Secret}, "decision": {"allow"}}); a.StatusCode != 403 || !strings.Contains(a.body, "suspended") {
		t.Errorf("suspended: %d %s", a.StatusCode, a.body)
	}
}

func TestReadOnlyConsent(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	if wrong := s.consent(browser(t), s.query(client, app),
		url.Values{"key": {"sk-service-x"}, "decision": {"allow"}, "read_only": {"1"}}); !strings.Contains(wrong.body,
		`name="read_only" value="1" checked`) {
		t.Errorf("a wrong key takes the tick away: %s", wrong.body)
	}
	a := s.consent(browser(t), s.query(client, app), url.Values{"key": {s.key.Secret}, "decision": {"allow"}, "read_only": {"1"}})
	to, err := a.Location()
	if err != nil {
		t.Fatal(err)
	}
	got := s.redeem(client, to.Query().Get("code")).json(t)
	p, err := s.service.Verify(t.Context(), got["access_token"].(string), op.Namespace)
	if err != nil || !p.ReadOnly || got["scope"] != "mcp:read" {
		t.Errorf("%v, %+v, %v", got, p, err)
	}
}

// Nobody but the browser that was shown the page can send its form.
func TestConsentFormIsBoundToTheBrowser(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	mine := browser(t)
	page := s.send(mine, http.MethodGet, "/oauth/authorize?"+s.query(client, app).Encode(), nil)
	ticket := s.ticket(page.body)
	form := func(ticket string) url.Values {
		return url.Values{"request": {ticket}, "key": {s.key.Secret}, "decision": {"allow"}}
	}
	payload, signature, _ := strings.Cut(ticket, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	forged := base64.RawURLEncoding.EncodeToString(bytes.ReplaceAll(raw, []byte(app), []byte("https://evil.test/cb"))) +
		"." + signature
	other := browser(t)
	s.send(other, http.MethodGet, "/oauth/authorize?"+s.query(client, app).Encode(), nil)
	for _, c := range []struct {
		name   string
		by     *http.Client
		ticket string
		header []string
	}{
		{"no cookie", browser(t), ticket, nil},
		{"another browser", other, ticket, nil},
		{"no ticket", mine, "", nil},
		{"forged", mine, forged, nil},
		{"another site's form", mine, ticket, []string{"Sec-Fetch-Site", "cross-site"}},
		{"another origin's form", mine, ticket, []string{"Origin", "https://evil.test"}},
	} {
		if a := s.post(c.by, "/oauth/authorize", form(c.ticket), c.header...); a.StatusCode != http.StatusBadRequest ||
			a.Header.Get("Location") != "" {
			t.Errorf("%s: %d %s", c.name, a.StatusCode, a.Header.Get("Location"))
		}
	}
	s.now.Add(int64(10 * time.Minute))
	if a := s.post(mine, "/oauth/authorize", form(ticket)); a.StatusCode != http.StatusBadRequest ||
		!strings.Contains(a.body, "too old") {
		t.Errorf("late: %d", a.StatusCode)
	}
	s.now.Add(-int64(time.Minute))
	second := s.send(mine, http.MethodGet, "/oauth/authorize?"+s.query(client, app).Encode(), nil) // another tab
	if len(second.Cookies()) != 0 {
		t.Error("a second tab takes the form of the first away")
	}
	if a := s.post(mine, "/oauth/authorize", form(ticket), "Origin", s.url); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the right browser: %d %s", a.StatusCode, a.body)
	}
}

// Requests that cannot be trusted are told to the person, others to the client.
func TestAuthorizationErrors(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	for _, c := range []struct {
		name   string
		change func(url.Values)
		status int
		code   string // in the redirect; "": a page
	}{
		{"unknown client", func(q url.Values) { q.Set("client_id", "nobody") }, 400, ""},
		{"no client", func(q url.Values) { q.Del("client_id") }, 400, ""},
		{"foreign redirect", func(q url.Values) { q.Set("redirect_uri", "https://evil.test/cb") }, 400, ""},
		{"twice", func(q url.Values) { q.Add("client_id", "x") }, 400, ""},
		{"long", func(q url.Values) { q.Set("state", strings.Repeat("x", 17<<10)) }, 400, ""},
		{"no PKCE", func(q url.Values) { q.Del("code_challenge") }, 303, "invalid_request"},
		{"plain", func(q url.Values) { q.Set("code_challenge_method", "plain") }, 303, "invalid_request"},
		{"token", func(q url.Values) { q.Set("response_type", "token") }, 303, "unsupported_response_type"},
		{"target", func(q url.Values) { q.Set("resource", "https://evil.test") }, 303, "invalid_target"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := s.query(client, app)
			c.change(q)
			a := s.send(browser(t), http.MethodGet, "/oauth/authorize?"+q.Encode(), nil)
			to := a.Header.Get("Location")
			if a.StatusCode != c.status || (to == "") != (c.code == "") {
				t.Fatalf("%d to %q: %s", a.StatusCode, to, a.body)
			}
			if c.code == "" && !strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Error("the page may be framed")
			}
			if u, err := url.Parse(to); err != nil || u.Query().Get("error") != c.code ||
				c.code != "" && (!strings.HasPrefix(to, app+"?") || u.Query().Get("state") != "xyz" ||
					u.Query().Get("iss") != s.url) {
				t.Errorf("to %s", to)
			}
		})
	}
}

// A link to this server doesn't lead the browser on to an address that anybody could
// register: only to the machine itself and to known hosts. Others are linked, where they
// are on the web.
func TestRefusalsOfUnknownClients(t *testing.T) {
	s := open(t, nil, nil)
	for redirect, c := range map[string]struct {
		location bool
		link     string // "": none
	}{
		app:                           {true, ""},
		"http://127.0.0.1:5123/cb":    {true, ""},
		"http://[::1]/cb":             {true, ""},
		"https://evil.test/phish?a=1": {false, `<a href="https://evil.test/phish?a=1&amp;error=unsupported_response_type&amp;`},
		"cursor://cb/x":               {false, ""},
		"com.evil.app:/x":             {false, ""},
	} {
		q := s.query(s.client("App", redirect), redirect)
		q.Set("response_type", "token")
		a := s.send(browser(t), http.MethodGet, "/oauth/authorize?"+q.Encode(), nil)
		to := a.Header.Get("Location")
		if (to != "") != c.location || c.location && (a.StatusCode != 303 || !strings.HasPrefix(to, redirect+"?")) ||
			!c.location && (a.StatusCode != 400 || !strings.Contains(a.body, "response_type must be code")) {
			t.Errorf("%s: %d to %q", redirect, a.StatusCode, to)
		}
		if strings.Contains(a.body, "<a ") != (c.link != "") || !strings.Contains(a.body, c.link) {
			t.Errorf("%s: the page is %s", redirect, a.body)
		}
	}
}

func TestRegistrationAbuse(t *testing.T) {
	s := open(t, nil, func(o *front.Options) { o.AddressHeader = "X-Forwarded-For" })
	good := `{"redirect_uris":["https://app.example/cb"]}`
	post := func(body, kind, from string) answer {
		t.Helper()
		return s.send(http.DefaultClient, http.MethodPost, "/oauth/register", strings.NewReader(body), "Content-Type",
			kind, "X-Forwarded-For", from)
	}
	for _, c := range []struct{ name, body, kind, code string }{
		{"huge", good + strings.Repeat(" ", 17<<10), "application/json", "invalid_request"},
		{"form", good, "application/x-www-form-urlencoded", "invalid_request"},
		{"broken", `{"redirect_uris":`, "application/json", "invalid_client_metadata"},
		{"script", `{"redirect_uris":["javascript:alert(1)"]}`, "application/json", "invalid_redirect_uri"},
	} {
		if a := post(c.body, c.kind, "192.0.2.1"); a.StatusCode != 400 || a.json(t)["error"] != c.code {
			t.Errorf("%s: %d %s", c.name, a.StatusCode, a.body)
		}
	}
	statuses := map[int]int{}
	for range 40 {
		statuses[post(good, "application/json", "198.51.100.7, 192.0.2.2").StatusCode]++
	}
	if statuses[201] != 20 || statuses[429] != 20 {
		t.Errorf("statuses %v, want 20 registered and 20 refused", statuses)
	}
	// What the caller writes in front of what the proxy adds does not help.
	if a := post(good, "application/json", "203.0.113.9, 192.0.2.2"); a.StatusCode != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("with a made-up address: %d", a.StatusCode)
	}
	if a := post(good, "application/json", "192.0.2.3"); a.StatusCode != 201 {
		t.Errorf("another address: %d", a.StatusCode)
	}
	for i, want := range []int{201, 429} { // a network of IPv6 counts as one
		for j := range 20 - 19*i {
			if a := post(good, "application/json", fmt.Sprintf("2001:db8:1:2::%x", 100*i+j+1)); a.StatusCode != want {
				t.Fatalf("%d: %d, want %d", j, a.StatusCode, want)
			}
		}
	}
}

// Wrong keys are counted by address, whatever the browser.
func TestWrongKeysAreLimited(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	var statuses []int
	for range 12 {
		a := s.consent(browser(t), s.query(client, app),
			url.Values{"key": {"sk-service-" + strings.Repeat("x", 43)}, "decision": {"allow"}})
		statuses = append(statuses, a.StatusCode)
		if a.StatusCode == 429 && a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if !slices.Equal(statuses, []int{403, 403, 403, 403, 403, 403, 403, 403, 403, 403, 429, 429}) {
		t.Errorf("statuses %v", statuses)
	}
	s.now.Add(int64(10 * time.Second))
	if a := s.consent(browser(t), s.query(client, app),
		url.Values{"key": {s.key.Secret}, "decision": {"allow"}}); a.StatusCode != http.StatusSeeOther {
		t.Errorf("the right key, a while later: %d", a.StatusCode)
	}
}

// A form that one replica made is taken by another.
func TestReplicasShareForms(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	b := browser(t)
	page := s.send(b, http.MethodGet, "/oauth/authorize?"+s.query(client, app).Encode(), nil)
	f, err := front.New(front.Options{Service: s.service, Secret: bytes.Repeat([]byte{7}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"request": {s.ticket(page.body)}, "key": {s.key.Secret}, "decision": {"allow"}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/oauth/authorize", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(page.Cookies()[0])
	w := httptest.NewRecorder()
	f.Mounts()["POST /oauth/authorize"].ServeHTTP(w, r)
	if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Location"), "code=") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestNewRefusesWhatIsUnsafe(t *testing.T) {
	for _, c := range []struct {
		issuer string
		secret int
		ok     bool
	}{{"https://mneme.example", 32, true}, {"https://mneme.example", 31, false}, {"https://mneme.example/x", 32, false},
		{"mneme.example", 32, false}, {"ftp://mneme.example", 32, false}, {"", 32, false}} {
		_, err := front.New(front.Options{Service: oauth.New(oauth.Settings{Issuer: c.issuer}), Secret: make([]byte, c.secret)})
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Behind TLS the cookie is for this host alone.
func TestCookieBehindTLS(t *testing.T) {
	s := open(t, nil, nil)
	client := s.client("App", app)
	service := oauth.New(func() oauth.Settings {
		o := s.settings
		o.Issuer, o.Resource = "https://mneme.example", "https://mneme.example/mcp"
		return o
	}())
	f, err := front.New(front.Options{Service: service, Secret: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	q := s.query(client, app)
	q.Del("resource")
	w := httptest.NewRecorder()
	f.Mounts()["GET /oauth/authorize"].ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/oauth/authorize?"+q.Encode(), nil))
	if got := w.Header().Get("Set-Cookie"); w.Code != 200 || !strings.HasPrefix(got, "__Host-") ||
		!strings.Contains(got, "; Secure") || !strings.Contains(got, "; Path=/") || strings.Contains(got, "Domain") {
		t.Errorf("%d %s", w.Code, got)
	}
}

// A client's form is small. The consent page's may hold a large ticket.
func TestFormsAreBounded(t *testing.T) {
	s := open(t, nil, nil)
	for path, most := range map[string]int{"/oauth/token": 8 << 10, "/oauth/revoke": 8 << 10, "/oauth/authorize": 64 << 10} {
		for over := range 2 {
			body := strings.Repeat("a", most+over)
			a := s.send(http.DefaultClient, http.MethodPost, path, strings.NewReader(body),
				"Content-Type", "application/x-www-form-urlencoded")
			if refused := strings.Contains(a.body, "larger than"); a.StatusCode != 400 || refused != (over > 0) {
				t.Errorf("%s, %d bytes: %d %s", path, len(body), a.StatusCode, a.body)
			}
		}
	}
}
