package oauth_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/audit"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/oauth"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

const (
	issuer   = "https://mneme.example"
	resource = issuer + "/mcp"
	callback = "https://app.example/callback"
	verifier = "a-verifier-of-fifty-characters-as-long-as-it-must-be"
)

func challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// world is the service over a real store and real keys, with a clock that tests
// move. Opening another one over the same folder is a restart, or a replica.
type world struct {
	*testing.T
	ctx   context.Context
	now   *atomic.Int64
	store port.Store
	keys  *key.Service
	*oauth.Service
	log    *bytes.Buffer
	client string
	lent   key.Issued
}

func (w *world) pass(d time.Duration) { w.now.Add(int64(d)) }

// documents are client metadata documents by URL.
type documents map[string]string

func (d documents) Document(_ context.Context, url string) ([]byte, error) {
	if body, ok := d[url]; ok {
		return []byte(body), nil
	}
	return nil, errors.New("its server answers status 404")
}

func begin(t *testing.T, change func(*oauth.Settings)) *world {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	now := &atomic.Int64{}
	now.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	w := over(t, store, now, change)
	w.lent, err = w.keys.Issue(w.ctx, key.Issue{})
	if err != nil {
		t.Fatal(err)
	}
	w.client = w.register("Test client", callback)
	return w
}

// over makes new services over a store, as another process does.
func over(t *testing.T, store port.Store, now *atomic.Int64, change func(*oauth.Settings)) *world {
	t.Helper()
	w := &world{T: t, ctx: t.Context(), now: now, store: store, log: &bytes.Buffer{}}
	clock := func() time.Time { return time.Unix(0, now.Load()).UTC() }
	w.keys = key.New(key.Settings{Store: store, Now: clock})
	s := oauth.Settings{
		Store:      store,
		Keys:       w.keys,
		Issuer:     issuer,
		Resource:   resource,
		MaxClients: 100,
		Now:        clock,
		Log:        slog.New(slog.NewTextHandler(w.log, nil)),
	}
	if change != nil {
		change(&s)
	}
	w.Service = oauth.New(s)
	return w
}

func (w *world) register(name string, redirects ...string) string {
	w.Helper()
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": redirects})
	if err != nil {
		w.Fatal(err)
	}
	m, err := w.Register(w.ctx, body)
	if err != nil {
		w.Fatal(err)
	}
	return m.ClientID
}

func (w *world) request() oauth.Request {
	return oauth.Request{
		ResponseType: "code",
		ClientID:     w.client,
		RedirectURI:  callback,
		State:        "st&te",
		Challenge:    challenge(verifier),
		Method:       "S256",
		Resources:    []string{resource},
	}
}

// approve has the person agree and returns the code.
func (w *world) approve(r oauth.Request, bearer string, readOnly bool) string {
	w.Helper()
	to, err := w.Approve(w.ctx, r, bearer, readOnly)
	if err != nil {
		w.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		w.Fatal(err)
	}
	q := u.Query()
	if !strings.HasPrefix(to, r.RedirectURI) || q.Get("state") != r.State || q.Get("iss") != issuer || q.Get("code") == "" {
		w.Fatalf("the browser goes to %s", to)
	}
	return q.Get("code")
}

func (w *world) exchange(code string) oauth.Exchange {
	return oauth.Exchange{
		GrantType:   "authorization_code",
		ClientID:    w.client,
		Code:        code,
		Verifier:    verifier,
		RedirectURI: callback,
	}
}

func (w *world) refreshing(token string) oauth.Exchange {
	return oauth.Exchange{GrantType: "refresh_token", ClientID: w.client, RefreshToken: token}
}

func (w *world) tokens(x oauth.Exchange) oauth.Tokens {
	w.Helper()
	t, err := w.Exchange(w.ctx, x)
	if err != nil {
		w.Fatal(err)
	}
	return t
}

// connect goes through the whole flow.
func (w *world) connect() oauth.Tokens {
	w.Helper()
	return w.tokens(w.exchange(w.approve(w.request(), w.lent.Secret, false)))
}

func (w *world) refused(what string, x oauth.Exchange, code, says string) {
	w.Helper()
	t, err := w.Exchange(w.ctx, x)
	var e *oauth.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Description, says) {
		w.Errorf("%s: got %+v, %v; want %s with %q", what, t, err, code, says)
	}
}

// revoke gives a client's tokens back.
func (w *world) revoke(t oauth.Tokens) {
	w.Helper()
	if err := w.Revoke(w.ctx, t.RefreshToken, ""); err != nil {
		w.Fatal(err)
	}
}

// works checks whether an access token is taken, and that its principal is the
// key's.
func (w *world) works(what, token string, want bool) {
	w.Helper()
	p, err := w.Verify(w.ctx, token, op.Namespace)
	if want && (err != nil || p.KeyID != w.lent.ID || p.Org != w.lent.Org) {
		w.Errorf("%s: %+v, %v", what, p, err)
	}
	if !want && err == nil {
		w.Errorf("%s: still taken", what)
	}
}

func TestWholeFlow(t *testing.T) {
	w := begin(t, nil)
	c, err := w.Begin(w.ctx, w.request())
	if err != nil || c.Client.Name != "Test client" || c.Host != "app.example" || c.Scope != "mcp:read mcp:write" || c.Loopback {
		t.Fatalf("consent %+v, %v", c, err)
	}
	got := w.connect()
	if got.TokenType != "Bearer" || got.ExpiresIn != 900 || got.Scope != "mcp:read mcp:write" {
		t.Errorf("tokens %+v", got)
	}
	w.works("fresh", got.AccessToken, true)
	w.works("the key itself", w.lent.Secret, true)
	if _, err := w.keys.Verify(w.ctx, got.AccessToken, op.Namespace); fault.CodeOf(err) != fault.Unauthorized {
		t.Errorf("the key service took an access token: %v", err)
	}
	for _, f := range []op.Family{op.Memory, op.Administration} {
		if _, err := w.Verify(w.ctx, got.AccessToken, f); fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("family %v took an access token: %v", f, err)
		}
	}
	w.pass(15*time.Minute - time.Second)
	w.works("a second before its end", got.AccessToken, true)
	w.pass(time.Second)
	w.works("at its end", got.AccessToken, false)

	next := w.tokens(w.refreshing(got.RefreshToken))
	w.works("refreshed", next.AccessToken, true)
	if next.RefreshToken == got.RefreshToken || next.AccessToken == got.AccessToken {
		t.Error("a token was given again")
	}
}

// Lending a key is recorded, with the transaction that does it.
func TestAGrantIsRecorded(t *testing.T) {
	w := begin(t, func(s *oauth.Settings) { s.Store = audit.Recording(s.Store.(port.DocumentStore)) })
	w.connect()
	var waiting []port.AuditRecord
	err := w.store.View(w.ctx, func(r port.Reader) (err error) { waiting, err = r.WaitingAudit(w.ctx, 0); return err })
	if err != nil || len(waiting) != 1 {
		t.Fatalf("recorded %+v, %v", waiting, err)
	}
	r := waiting[0]
	if r.Action != "oauth.grant" || r.KeyID != w.lent.ID || r.Org != w.lent.Org || r.Actor != port.ActorKey || r.ID == "" ||
		r.At.IsZero() || !strings.HasPrefix(r.Target, "grant_") || r.Status != 200 {
		t.Errorf("recorded %+v", r)
	}
}

// Nothing that anybody presents is in the files or the log.
func TestNothingPresentedIsKept(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := &atomic.Int64{}
	now.Store(time.Now().UnixNano())
	w := over(t, store, now, nil)
	if w.lent, err = w.keys.Issue(w.ctx, key.Issue{}); err != nil {
		t.Fatal(err)
	}
	w.client = w.register("Test client", callback)
	code := w.approve(w.request(), w.lent.Secret, false)
	first := w.tokens(w.exchange(code))
	second := w.tokens(w.refreshing(first.RefreshToken))
	w.refused("reuse", w.refreshing(first.RefreshToken), oauth.InvalidGrant, "used before")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	seen := append([]byte(nil), w.log.Bytes()...)
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		seen = append(seen, body...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(seen, []byte(w.lent.ID)) || !bytes.Contains(w.log.Bytes(), []byte("replayed")) {
		t.Fatal("the files or the log were not read")
	}
	for name, s := range map[string]string{"key": w.lent.Secret, "code": code, "access token": first.AccessToken,
		"refresh token":      second.RefreshToken,
		"used refresh token": first.RefreshToken, "verifier": verifier} {
		if bytes.Contains(seen, []byte(s)) {
			t.Errorf("the %s was kept", name)
		}
	}
}

func TestCodeIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world, x *oauth.Exchange)
		code   string
		says   string
		burnt  bool // the code is worth nothing afterwards
	}{
		{"wrong verifier", func(_ *world, x *oauth.Exchange) { x.Verifier = strings.Repeat("b", 50) },
			oauth.InvalidGrant, "code_verifier", true},
		{"verifier too short", func(_ *world, x *oauth.Exchange) { x.Verifier = "short" }, oauth.InvalidGrant,
			"code_verifier", true},
		{"no verifier", func(_ *world, x *oauth.Exchange) { x.Verifier = "" }, oauth.InvalidRequest, "code_verifier", false},
		{"challenge as verifier", func(_ *world, x *oauth.Exchange) { x.Verifier = challenge(verifier) },
			oauth.InvalidGrant, "code_verifier", true},
		{"other redirect", func(_ *world, x *oauth.Exchange) { x.RedirectURI = callback + "/" }, oauth.InvalidGrant,
			"redirect_uri", true},
		{"other client", func(w *world, x *oauth.Exchange) { x.ClientID = w.register("other", callback) },
			oauth.InvalidGrant, "another client", true},
		{"no client", func(_ *world, x *oauth.Exchange) { x.ClientID = "" }, oauth.InvalidClient, "client_id", false},
		{"expired", func(w *world, _ *oauth.Exchange) { w.pass(time.Minute) }, oauth.InvalidGrant, "expired", true},
		{"unknown", func(_ *world, x *oauth.Exchange) { x.Code += "x" }, oauth.InvalidGrant, "unknown", false},
		{"no code", func(_ *world, x *oauth.Exchange) { x.Code = "" }, oauth.InvalidRequest, "code", false},
		{"other resource", func(_ *world, x *oauth.Exchange) { x.Resources = []string{"https://elsewhere.example/mcp"} },
			oauth.InvalidTarget, "resource", false},
		{"other grant type", func(_ *world, x *oauth.Exchange) { x.GrantType = "password" }, oauth.UnsupportedGrantType,
			"grant_type", false},
		{"no grant type", func(_ *world, x *oauth.Exchange) { x.GrantType = "" }, oauth.InvalidRequest, "grant_type", false},
		{"a refresh token of nobody", func(_ *world, x *oauth.Exchange) {
			*x = oauth.Exchange{GrantType: "refresh_token", ClientID: x.ClientID, RefreshToken: "mnrt_" + strings.Repeat("A", 78)}
		}, oauth.InvalidGrant, "unknown", false},
		{"a code as refresh token", func(_ *world, x *oauth.Exchange) {
			*x = oauth.Exchange{GrantType: "refresh_token", ClientID: x.ClientID, RefreshToken: x.Code}
		}, oauth.InvalidGrant, "not valid", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := begin(t, nil)
			code := w.approve(w.request(), w.lent.Secret, false)
			x := w.exchange(code)
			c.change(w, &x)
			w.refused(c.name, x, c.code, c.says)
			if _, err := w.Exchange(w.ctx, w.exchange(code)); (err != nil) != c.burnt {
				t.Errorf("the code afterwards: %v, want burnt %v", err, c.burnt)
			}
		})
	}
}

func TestCodeWithoutRedirectURI(t *testing.T) {
	w := begin(t, nil)
	x := w.exchange(w.approve(w.request(), w.lent.Secret, false))
	x.RedirectURI = "" // as OAuth 2.1 has it
	w.works("the token", w.tokens(x).AccessToken, true)
}

func TestReplayedCodeRevokes(t *testing.T) {
	w := begin(t, nil)
	code := w.approve(w.request(), w.lent.Secret, false)
	got := w.tokens(w.exchange(code))
	other := w.connect()
	w.refused("replay", w.exchange(code), oauth.InvalidGrant, "used before")
	w.works("the replayed code's token", got.AccessToken, false)
	w.refused("its refresh token", w.refreshing(got.RefreshToken), oauth.InvalidGrant, "unknown")
	w.works("another grant of the same client and key", other.AccessToken, true)
}

// Of several that redeem one code or refresh token at once, over several
// replicas, exactly one gets tokens.
func TestConcurrentExchange(t *testing.T) {
	for _, what := range []string{"code", "refresh token"} {
		t.Run(what, func(t *testing.T) {
			w := begin(t, nil)
			x := w.exchange(w.approve(w.request(), w.lent.Secret, false))
			if what == "refresh token" {
				x = w.refreshing(w.tokens(x).RefreshToken)
			}
			var won atomic.Int32
			var wg sync.WaitGroup
			for range 4 {
				replica := over(t, w.store, w.now, nil)
				for range 4 {
					wg.Go(func() {
						_, err := replica.Exchange(w.ctx, x)
						var e *oauth.Error
						switch {
						case err == nil:
							won.Add(1)
						case !errors.As(err, &e) || e.Code != oauth.InvalidGrant:
							t.Error(err)
						}
					})
				}
			}
			wg.Wait()
			if won.Load() != 1 {
				t.Errorf("%d got tokens", won.Load())
			}
		})
	}
}

func TestRefreshRotatesAndReuseRevokes(t *testing.T) {
	w := begin(t, nil)
	first := w.connect()
	second := w.tokens(w.refreshing(first.RefreshToken))
	third := w.tokens(w.refreshing(second.RefreshToken))
	w.works("an access token outlives its refresh", first.AccessToken, true)
	stranger := w.refreshing(third.RefreshToken)
	stranger.ClientID = w.register("other", callback)
	w.refused("another client", stranger, oauth.InvalidGrant, "another client")
	w.works("after that", third.AccessToken, true)

	w.refused("an old one", w.refreshing(first.RefreshToken), oauth.InvalidGrant, "used before")
	for name, token := range map[string]string{"first": first.AccessToken, "second": second.AccessToken,
		"third": third.AccessToken} {
		w.works(name+" after reuse", token, false)
	}
	w.refused("the newest after reuse", w.refreshing(third.RefreshToken), oauth.InvalidGrant, "unknown")
	if !strings.Contains(w.log.String(), "refresh token replayed") {
		t.Error("reuse was not logged")
	}
}

func TestRefreshTokenExpiresUnlessUsed(t *testing.T) {
	w := begin(t, nil)
	got := w.connect()
	for range 3 { // each use restarts the count
		w.pass(29 * 24 * time.Hour)
		got = w.tokens(w.refreshing(got.RefreshToken))
	}
	w.pass(30 * 24 * time.Hour)
	w.refused("after 30 days", w.refreshing(got.RefreshToken), oauth.InvalidGrant, "expired")
}

func TestScopes(t *testing.T) {
	w := begin(t, nil)
	readOnlyKey, err := w.keys.Issue(w.ctx, key.Issue{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		asked, key string
		tick       bool
		scope      string
	}{
		{"", w.lent.Secret, false, "mcp:read mcp:write"},
		{"mcp:read mcp:write offline_access openid", w.lent.Secret, false, "mcp:read mcp:write"},
		{"mcp:write", w.lent.Secret, false, "mcp:read mcp:write"},
		{"openid", w.lent.Secret, false, "mcp:read mcp:write"},
		{"mcp:read", w.lent.Secret, false, "mcp:read"},
		{"mcp:read mcp:write", w.lent.Secret, true, "mcp:read"},
		{"", readOnlyKey.Secret, false, "mcp:read"},
	} {
		r := w.request()
		r.Scope = c.asked
		got := w.tokens(w.exchange(w.approve(r, c.key, c.tick)))
		p, err := w.Verify(w.ctx, got.AccessToken, op.Namespace)
		if err != nil || got.Scope != c.scope || p.ReadOnly == strings.Contains(c.scope, "write") {
			t.Errorf("%+v: scope %q, principal %+v, %v", c, got.Scope, p, err)
		}
	}
	got := w.connect()
	x := w.refreshing(got.RefreshToken)
	x.Scope = "mcp:read"
	less := w.tokens(x)
	if p, err := w.Verify(w.ctx, less.AccessToken, op.Namespace); err != nil || !p.ReadOnly || less.Scope != "mcp:read" {
		t.Errorf("refreshed for less: %+v, %+v, %v", less, p, err)
	}
	if all := w.tokens(w.refreshing(less.RefreshToken)); all.Scope != "mcp:read mcp:write" {
		t.Errorf("the grant lost %q", all.Scope)
	}
	r := w.request()
	read := w.tokens(w.exchange(w.approve(r, w.lent.Secret, true)))
	x = w.refreshing(read.RefreshToken)
	x.Scope = "mcp:read mcp:write"
	if more := w.tokens(x); more.Scope != "mcp:read" {
		t.Errorf("a refresh got %q", more.Scope)
	}
}

// Whatever ends or holds up the key does the same to what was made of it, at
// each step.
func TestKeyEndsMidway(t *testing.T) {
	ends := map[string]struct {
		end     func(w *world)
		code    fault.Code
		says    string
		returns bool // when it is undone
	}{
		"revoked": {func(w *world) {
			if err := w.keys.Revoke(w.ctx, key.Ref{ID: w.lent.ID}); err != nil {
				w.Fatal(err)
			}
		}, fault.Unauthorized, "revoked", false},
		"suspended": {func(w *world) {
			yes := true
			if _, err := w.keys.ChangeOrganization(w.ctx, ident.DefaultOrg, key.OrganizationChange{Suspended: &yes}); err != nil {
				w.Fatal(err)
			}
		}, fault.Forbidden, "suspended", true},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			w := begin(t, nil)
			got := w.connect()
			code := w.approve(w.request(), w.lent.Secret, false)
			c.end(w)
			if _, err := w.Verify(w.ctx, got.AccessToken, op.Namespace); fault.CodeOf(err) != c.code {
				t.Errorf("access: %v", err)
			}
			w.refused("code", w.exchange(code), oauth.InvalidGrant, c.says)
			w.refused("refresh", w.refreshing(got.RefreshToken), oauth.InvalidGrant, c.says)
			if _, err := w.Approve(w.ctx, w.request(), w.lent.Secret, false); fault.CodeOf(err) != c.code {
				t.Errorf("consent: %v", err)
			}
			if !c.returns {
				return
			}
			no := false
			if _, err := w.keys.ChangeOrganization(w.ctx, ident.DefaultOrg, key.OrganizationChange{Suspended: &no}); err != nil {
				t.Fatal(err)
			}
			w.works("afterwards", got.AccessToken, true)
			w.works("refreshed afterwards", w.tokens(w.refreshing(got.RefreshToken)).AccessToken, true)
		})
	}
	t.Run("expired", func(t *testing.T) {
		w := begin(t, nil)
		k, err := w.keys.Issue(w.ctx, key.Issue{ExpiresAt: time.Unix(0, w.now.Load()).Add(10 * time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		w.lent = k
		got := w.connect()
		if got.ExpiresIn != 600 {
			t.Errorf("a token of a key with 10 minutes left lasts %d s", got.ExpiresIn)
		}
		w.pass(10*time.Minute - time.Second)
		w.works("before", got.AccessToken, true)
		w.pass(time.Second)
		w.works("after", got.AccessToken, false)
		w.refused("refresh", w.refreshing(got.RefreshToken), oauth.InvalidGrant, "expired")
	})
}

// Another replica's revocation holds within the time that keys are trusted.
func TestRevocationElsewhere(t *testing.T) {
	w := begin(t, nil)
	got := w.connect()
	w.works("before", got.AccessToken, true)
	other := over(t, w.store, w.now, nil)
	if err := other.keys.Revoke(w.ctx, key.Ref{ID: w.lent.ID}); err != nil {
		t.Fatal(err)
	}
	w.pass(500 * time.Millisecond)
	w.works("half a second later", got.AccessToken, false)
}

// counting counts what is read of a store.
type counting struct {
	port.Store
	views atomic.Int64
}

func (c *counting) View(ctx context.Context, fn func(port.Reader) error) error {
	c.views.Add(1)
	return c.Store.View(ctx, fn)
}

// A request's token is read once, unless it may have ended since.
func TestOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(w, other *world, t oauth.Tokens)
		taken   bool
		reads   int64 // by the second look
	}{
		{"nothing", func(*world, *world, oauth.Tokens) {}, true, 0},
		{"a moment", func(w, _ *world, _ oauth.Tokens) { w.pass(99 * time.Millisecond) }, true, 0},
		{"a while", func(w, _ *world, _ oauth.Tokens) { w.pass(100 * time.Millisecond) }, true, 1},
		{"a clock that went back", func(w, _ *world, _ oauth.Tokens) { w.pass(-time.Second) }, true, 2}, // the key as well
		{"another token's revocation", func(w, _ *world, _ oauth.Tokens) { w.revoke(w.connect()) }, true, 1},
		{"its revocation", func(w, _ *world, t oauth.Tokens) { w.revoke(t) }, false, 1},
		{"its revocation elsewhere and a while", func(w, other *world, t oauth.Tokens) {
			other.revoke(t)
			w.pass(100 * time.Millisecond)
		}, false, 1},
		{"its refresh token used twice", func(w, _ *world, t oauth.Tokens) {
			w.tokens(w.refreshing(t.RefreshToken))
			w.refused("again", w.refreshing(t.RefreshToken), oauth.InvalidGrant, "used before")
		}, false, 1},
		{"the key's revocation", func(w, _ *world, _ oauth.Tokens) {
			if err := w.keys.Revoke(w.ctx, key.Ref{ID: w.lent.ID}); err != nil {
				w.Fatal(err)
			}
		}, false, 1}, // of the key
	} {
		t.Run(c.name, func(t *testing.T) {
			w := begin(t, nil)
			store := &counting{Store: w.store}
			own := over(t, store, w.now, nil)
			own.client, own.lent = w.client, w.lent
			got := own.connect()
			ctx := oauth.Once(t.Context())
			if _, err := own.Verify(ctx, got.AccessToken, op.Namespace); err != nil {
				t.Fatal(err)
			}
			c.between(own, w, got)
			before := store.views.Load()
			_, err := own.Verify(ctx, got.AccessToken, op.Namespace)
			if taken := err == nil; taken != c.taken || err != nil && fault.CodeOf(err) != fault.Unauthorized {
				t.Errorf("verified again: %v, want taken %v", err, c.taken)
			}
			if reads := store.views.Load() - before; reads != c.reads {
				t.Errorf("the store was read %d times, want %d", reads, c.reads)
			}
			own.works("in another request", got.AccessToken, c.taken)
		})
	}
	t.Run("an expired token", func(t *testing.T) {
		w := begin(t, nil)
		got, ctx := w.connect(), oauth.Once(t.Context())
		w.pass(time.Duration(got.ExpiresIn)*time.Second - time.Millisecond)
		if _, err := w.Verify(ctx, got.AccessToken, op.Namespace); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Millisecond)
		if p, err := w.Verify(ctx, got.AccessToken, op.Namespace); fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("after it expired: %+v, %v", p, err)
		}
	})
	t.Run("another token", func(t *testing.T) {
		w := begin(t, nil)
		got, ctx := w.connect(), oauth.Once(t.Context())
		if _, err := w.Verify(ctx, got.AccessToken, op.Namespace); err != nil {
			t.Fatal(err)
		}
		if p, err := w.Verify(ctx, got.AccessToken+"x", op.Namespace); fault.CodeOf(err) != fault.Unauthorized {
			t.Errorf("a token that is none: %+v, %v", p, err)
		}
	})
}

// A revocation elsewhere that a request under way may miss holds for every
// request that comes after.
func TestOnceIsOfOneRequest(t *testing.T) {
	w := begin(t, nil)
	got := w.connect()
	if _, err := w.Verify(oauth.Once(t.Context()), got.AccessToken, op.Namespace); err != nil {
		t.Fatal(err)
	}
	over(t, w.store, w.now, nil).revoke(got)
	if p, err := w.Verify(oauth.Once(t.Context()), got.AccessToken, op.Namespace); fault.CodeOf(err) != fault.Unauthorized {
		t.Errorf("the next request: %+v, %v", p, err)
	}
}

func TestTwoOrganizations(t *testing.T) {
	w := begin(t, nil)
	if _, err := w.keys.CreateOrganization(w.ctx, "acme"); err != nil {
		t.Fatal(err)
	}
	acme, err := w.keys.Issue(w.ctx, key.Issue{Org: "acme", Namespace: "only"})
	if err != nil {
		t.Fatal(err)
	}
	mine := w.connect()
	theirs := w.tokens(w.exchange(w.approve(w.request(), acme.Secret, false)))
	p, err := w.Verify(w.ctx, theirs.AccessToken, op.Namespace)
	if err != nil || p.Org != acme.Org || p.KeyID != acme.ID || p.OrgName != "acme" || p.Namespace != "only" {
		t.Errorf("principal %+v, %v", p, err)
	}
	if err := w.keys.Revoke(w.ctx, key.Ref{Org: "acme", ID: acme.ID}); err != nil {
		t.Fatal(err)
	}
	w.works("mine, after theirs was revoked", mine.AccessToken, true)
	w.works("theirs", theirs.AccessToken, false)
}

// Every step may be another process's.
func TestRestartBetweenSteps(t *testing.T) {
	w := begin(t, nil)
	next := func() *world {
		n := over(t, w.store, w.now, nil)
		n.client, n.lent = w.client, w.lent
		return n
	}
	code := next().approve(w.request(), w.lent.Secret, false)
	first := next().tokens(w.exchange(code))
	next().works("access", first.AccessToken, true)
	second := next().tokens(w.refreshing(first.RefreshToken))
	if err := next().Revoke(w.ctx, second.RefreshToken, w.client); err != nil {
		t.Fatal(err)
	}
	next().works("revoked", second.AccessToken, false)
}

func TestAnotherResource(t *testing.T) {
	w := begin(t, nil)
	got := w.connect()
	moved := over(t, w.store, w.now, func(s *oauth.Settings) {
		s.Issuer, s.Resource = "https://new.example", "https://new.example/mcp"
	})
	moved.lent = w.lent
	moved.works("a token for the old address", got.AccessToken, false)
	moved.client = w.client
	moved.refused("its refresh", w.refreshing(got.RefreshToken), oauth.InvalidGrant, "another resource")
}

func TestRevoke(t *testing.T) {
	for _, c := range []struct {
		name   string
		token  func(oauth.Tokens) string
		client func(*world) string
		ends   bool
		fails  bool
	}{
		{"refresh token", func(t oauth.Tokens) string { return t.RefreshToken },
			func(w *world) string { return w.client }, true, false},
		{"access token", func(t oauth.Tokens) string { return t.AccessToken },
			func(w *world) string { return w.client }, true, false},
		{"without a client", func(t oauth.Tokens) string { return t.RefreshToken }, func(*world) string { return "" },
			true, false},
		{"another client", func(t oauth.Tokens) string { return t.RefreshToken },
			func(w *world) string { return w.register("other", callback) }, false, true},
		{"unknown", func(oauth.Tokens) string { return "nothing" }, func(w *world) string { return w.client }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := begin(t, nil)
			got := w.connect()
			for range 2 { // repeating is safe
				if err := w.Revoke(w.ctx, c.token(got), c.client(w)); (err != nil) != c.fails {
					t.Errorf("revoke: %v", err)
				}
			}
			w.works("access token", got.AccessToken, !c.ends)
		})
	}
}

func TestPurge(t *testing.T) {
	w := begin(t, nil)
	unused := w.register("unused", callback)
	w.connect()
	abandoned := w.approve(w.request(), w.lent.Secret, false)
	purge := func() {
		t.Helper()
		if err := w.Purge(w.ctx); err != nil {
			t.Fatal(err)
		}
	}
	known := func(id string) bool {
		r := w.request()
		r.ClientID = id
		_, err := w.Begin(w.ctx, r)
		return err == nil
	}
	w.pass(time.Hour)
	purge()
	w.refused("a code that nobody fetched", w.exchange(abandoned), oauth.InvalidGrant, "unknown")
	if !known(unused) {
		t.Error("an unused client went after an hour")
	}
	w.pass(24 * time.Hour)
	purge()
	if known(unused) || !known(w.client) {
		t.Errorf("after a day: unused %v, used %v", known(unused), known(w.client))
	}
	w.pass(61 * 24 * time.Hour)
	purge()
	if known(w.client) {
		t.Error("an idle client stays")
	}
}

func TestRunPurges(t *testing.T) {
	w := begin(t, func(s *oauth.Settings) { s.PurgeEvery = time.Millisecond })
	ctx, stop := context.WithTimeout(w.ctx, time.Minute)
	done := make(chan struct{})
	go func() { defer close(done); w.Service.Run(ctx) }()
	defer func() { stop(); <-done }()
	w.pass(25 * time.Hour)
	for second(w.Begin(w.ctx, w.request())) == nil && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Error("an unused client stays")
	}
}

func TestRegistrationIsCapped(t *testing.T) {
	w := begin(t, func(s *oauth.Settings) { s.MaxClients = 3 })
	w.connect() // the first is used
	first := w.register("a", callback)
	w.pass(time.Second)
	second := w.register("b", callback)
	body := []byte(`{"redirect_uris":["https://app.example/callback"]}`)
	_, err := w.Register(w.ctx, body)
	var e *oauth.Error
	if !errors.As(err, &e) || e.Code != oauth.TemporarilyUnavailable || e.RetryAfter <= 0 {
		t.Fatalf("a fourth at once: %v", err)
	}
	w.pass(e.RetryAfter - time.Second)
	if _, err := w.Register(w.ctx, body); !errors.As(err, &e) || e.Code != oauth.TemporarilyUnavailable {
		t.Fatalf("a moment too early: %v", err)
	}
	w.pass(time.Second)
	if e.RetryAfter != time.Minute {
		t.Errorf("nobody new for %v", e.RetryAfter)
	}
	if _, err := w.Register(w.ctx, body); err != nil {
		t.Fatalf("later: %v", err)
	}
	for id, want := range map[string]bool{w.client: true, first: false, second: true} {
		r := w.request()
		r.ClientID = id
		if _, err := w.Begin(w.ctx, r); (err == nil) != want {
			t.Errorf("client %s: %v, want known %v", id, err, want)
		}
	}
}

func TestRegistrationIsOff(t *testing.T) {
	w := begin(t, nil)
	w.pass(time.Hour) // the first client could make room
	off := over(t, w.store, w.now, func(s *oauth.Settings) { s.MaxClients = 0 })
	if _, err := off.Register(w.ctx, []byte(`{"redirect_uris":["https://app.example/callback"]}`)); err == nil {
		t.Error("a client registered")
	}
	if _, err := off.Begin(w.ctx, w.request()); err != nil {
		t.Errorf("one that registered before: %v", err)
	}
}

// A store that fails is our failure, told as such, and no token is given.
type broken struct{ port.Store }

func (broken) View(context.Context, func(port.Reader) error) error {
	return fault.New(fault.Unavailable, "the disk is full").After(10 * time.Second)
}

func (broken) Update(context.Context, func(port.Writer) error) error {
	return fault.New(fault.Unavailable, "the disk is full").After(10 * time.Second)
}

func TestStoreFails(t *testing.T) {
	w := begin(t, nil)
	got := w.connect()
	code := w.approve(w.request(), w.lent.Secret, false)
	failing := over(t, broken{w.store}, w.now, nil)
	for name, err := range map[string]error{
		"exchange": second(failing.Exchange(w.ctx, w.exchange(code))),
		"refresh":  second(failing.Exchange(w.ctx, w.refreshing(got.RefreshToken))),
		"begin":    second(failing.Begin(w.ctx, w.request())),
		"register": second(failing.Register(w.ctx, []byte(`{"redirect_uris":["https://app.example/callback"]}`))),
		"revoke":   failing.Revoke(w.ctx, got.AccessToken, ""),
	} {
		var e *oauth.Error
		if !errors.As(err, &e) || e.Code != oauth.TemporarilyUnavailable || e.RetryAfter != 10*time.Second {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := failing.Verify(w.ctx, got.AccessToken, op.Namespace); fault.CodeOf(err) != fault.Unavailable {
		t.Errorf("verify: %v", err)
	}
	w.works("the code afterwards", w.tokens(w.exchange(code)).AccessToken, true)
}

func second[T any](_ T, err error) error { return err }

func BenchmarkVerify(b *testing.B) {
	store, err := sqlite.Open(b.Context(), sqlitetest.Dir(b), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	keys := key.New(key.Settings{Store: store})
	k, err := keys.Issue(b.Context(), key.Issue{})
	if err != nil {
		b.Fatal(err)
	}
	s := oauth.New(oauth.Settings{Store: store, Keys: keys, Issuer: issuer, Resource: resource, MaxClients: 1})
	m, err := s.Register(b.Context(), []byte(fmt.Sprintf(`{"redirect_uris":[%q]}`, callback)))
	if err != nil {
		b.Fatal(err)
	}
	to, err := s.Approve(b.Context(), oauth.Request{
		ResponseType: "code",
		ClientID:     m.ClientID,
		RedirectURI:  callback,
		Challenge:    challenge(verifier),
		Method:       "S256",
	}, k.Secret, false)
	if err != nil {
		b.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		b.Fatal(err)
	}
	t, err := s.Exchange(b.Context(), oauth.Exchange{
		GrantType: "authorization_code",
		ClientID:  m.ClientID,
		Code:      u.Query().Get("code"),
		Verifier:  verifier,
	})
	if err != nil {
		b.Fatal(err)
	}
	for name, bearer := range map[string]string{"key": k.Secret, "token": t.AccessToken} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Verify(b.Context(), bearer, op.Namespace); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/twice", func(b *testing.B) {
			for b.Loop() {
				ctx := oauth.Once(b.Context())
				for range 2 {
					if _, err := s.Verify(ctx, bearer, op.Namespace); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
