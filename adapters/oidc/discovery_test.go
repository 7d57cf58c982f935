package oidc_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/oidc"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// plain is a provider that says of itself what a test wants, and takes no code.
type plain struct {
	*httptest.Server
	mu    sync.Mutex
	says  map[string]any
	down  bool
	asked map[string]int // by path
	token *http.Request  // the last one for a token, with its form read
	now   time.Time
}

func newPlain(t *testing.T) *plain {
	t.Helper()
	p := &plain{asked: map[string]int{}, now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked[r.URL.Path]++
		w.Header().Set("Content-Type", "application/json")
		switch {
		case p.down:
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(p.says)
		case r.URL.Path == "/token":
			_ = r.ParseForm()
			p.token = r
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error": "invalid_grant"}`))
		default:
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	t.Cleanup(p.Close)
	p.say(nil)
	return p
}

// say has the provider say of itself what a test changes.
func (p *plain) say(changes map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.says = map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys"}
	maps.Copy(p.says, changes)
}

func (p *plain) set(down bool, now time.Time) {
	p.mu.Lock()
	p.down, p.now = down, now
	p.mu.Unlock()
}

// reads is how often what it says of itself was read.
func (p *plain) reads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked["/.well-known/openid-configuration"]
}

func (p *plain) adapter(secret string) *oidc.Provider {
	return oidc.New(oidc.Options{Issuer: p.URL, ClientID: "mneme", ClientSecret: secret, Redirect: redirect,
		Now: func() time.Time {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.now
		}})
}

// What a provider says of itself is good for an hour, and then read again; one that has failed is left alone for
// three seconds.
func TestWhatTheProviderSaysIsReadAgain(t *testing.T) {
	p := newPlain(t)
	a := p.adapter("secret")
	begun := p.now
	leads := func(at time.Duration, down bool, path string, reads int) {
		t.Helper()
		p.set(down, begun.Add(at))
		to, err := a.Leave(t.Context(), bound)
		switch {
		case path == "" && fault.CodeOf(err) != fault.Unavailable || path != "" && err != nil:
			t.Errorf("after %v: %v", at, err)
		case path != "" && !strings.HasPrefix(to, p.URL+path+"?"):
			t.Errorf("after %v it leads to %s", at, to)
		}
		if n := p.reads(); n != reads {
			t.Errorf("after %v it was read %d times, want %d", at, n, reads)
		}
		if (a.Problem() == "") != (path != "") {
			t.Errorf("after %v its problem is %q", at, a.Problem())
		}
	}
	leads(0, true, "", 1)
	leads(3*time.Second-1, false, "", 1)
	leads(3*time.Second, false, "/authorize", 2)
	begun = begun.Add(3 * time.Second)
	p.say(map[string]any{"authorization_endpoint": p.URL + "/moved"})
	leads(time.Hour-1, false, "/authorize", 2)
	leads(time.Hour, false, "/moved", 3)
	leads(2*time.Hour, true, "", 4)
	leads(2*time.Hour+2*time.Second, false, "", 4)
	leads(2*time.Hour+3*time.Second, false, "/moved", 5)
}

// What is read again holds for sign-ins that have begun before: a provider that has moved its token endpoint is asked
// at the new one.
func TestASignInAcrossAMove(t *testing.T) {
	p := newPlain(t)
	a := p.adapter("secret")
	if _, err := a.Leave(t.Context(), bound); err != nil {
		t.Fatal(err)
	}
	p.say(map[string]any{"token_endpoint": p.URL + "/token?new=1"})
	p.set(false, p.now.Add(time.Hour))
	if _, err := a.Return(t.Context(), port.ProviderAnswer{Code: "x"}, bound); fault.CodeOf(err) != fault.Unauthorized {
		t.Error(err)
	}
	if p.token == nil || p.token.URL.Query().Get("new") != "1" {
		t.Errorf("it was asked by %+v", p.token)
	}
}

// The client shows its secret in the way that the provider takes, and none where it has none.
func TestHowTheSecretIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		secret  string
		methods []string
		header  bool
	}{
		"nothing said":    {"secret", nil, true},
		"header":          {"secret", []string{"client_secret_post", "client_secret_basic"}, true},
		"form":            {"secret", []string{"client_secret_post"}, false},
		"no secret":       {"", nil, false},
		"none for header": {"", []string{"client_secret_basic"}, false},
	} {
		p := newPlain(t)
		if c.methods != nil {
			p.say(map[string]any{"token_endpoint_auth_methods_supported": c.methods})
		}
		_, err := p.adapter(c.secret).Return(t.Context(), port.ProviderAnswer{Code: "x"}, bound)
		if fault.CodeOf(err) != fault.Unauthorized || p.token == nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		id, secret, header := p.token.BasicAuth()
		if !header {
			id, secret = p.token.PostForm.Get("client_id"), p.token.PostForm.Get("client_secret")
		}
		if header != c.header || id != "mneme" || secret != c.secret || p.token.PostForm.Get("code_verifier") != bound.Verifier {
			t.Errorf("%s: in the header %v, %q with %q, %v", name, header, id, secret, p.token.PostForm)
		}
	}
}

// An answer that names a provider has to name this one, and one of a provider that names itself has to.
func TestWhoseAnswerItIs(t *testing.T) {
	for _, names := range []bool{true, false} {
		for _, issuer := range []string{"", "https://evil.example", "it"} {
			p := newPlain(t)
			p.say(map[string]any{"authorization_response_iss_parameter_supported": names})
			answer := port.ProviderAnswer{Code: "x", Issuer: issuer}
			if issuer == "it" {
				answer.Issuer = p.URL
			}
			_, err := p.adapter("secret").Return(t.Context(), answer, bound)
			asked, want := p.asked["/token"], 0
			if issuer == "it" || issuer == "" && !names {
				want = 1
			}
			if fault.CodeOf(err) != fault.Unauthorized || asked != want {
				t.Errorf("names itself %v, named %q: a token was asked for %d times, %v", names, issuer, asked, err)
			}
		}
	}
}

// No redirect of the provider is followed: what it answers has to be its own.
func TestNoRedirectIsFollowed(t *testing.T) {
	p := newPlain(t)
	issuer := p.URL + "/staff" // whose discovery is a redirect
	a := oidc.New(oidc.Options{Issuer: issuer, ClientID: "mneme", Redirect: redirect})
	if _, err := a.Leave(t.Context(), bound); fault.CodeOf(err) != fault.Unavailable {
		t.Error(err)
	}
	if p.asked["/staff/.well-known/openid-configuration"] != 1 || p.asked["/elsewhere"] != 0 {
		t.Errorf("asked %v", p.asked)
	}
}

// What a client asks a provider for carries state, nonce and the hash of the verifier, and not the verifier.
func TestWhatABrowserTakesAlong(t *testing.T) {
	p := newPlain(t)
	to, err := p.adapter("secret").Leave(t.Context(), bound)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("state") != bound.State || q.Get("nonce") != bound.Nonce || q.Get("code_challenge_method") != "S256" ||
		q.Get("scope") != "openid email" || q.Get("redirect_uri") != redirect || strings.Contains(to, bound.Verifier) ||
		strings.Contains(to, "secret") {
		t.Errorf("it leads to %s", to)
	}
}
