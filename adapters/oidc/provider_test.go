package oidc_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/oidc"
	"github.com/mnemehq/mneme/adapters/oidc/oidctest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

const redirect = "http://127.0.0.1:1/console/sign-in/return"

// world is a provider with the adapter that asks it, and a clock that tests move.
type world struct {
	*testing.T
	at    *oidctest.Provider
	ahead atomic.Int64
	*oidc.Provider
}

func begin(t *testing.T, change func(*oidc.Options)) *world {
	t.Helper()
	w := &world{T: t, at: oidctest.New(t)}
	w.at.Register(redirect)
	o := oidc.Options{Issuer: w.at.URL, ClientID: oidctest.ClientID, ClientSecret: oidctest.ClientSecret, Redirect: redirect,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Now: func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }}
	if change != nil {
		change(&o)
	}
	w.Provider = oidc.New(o)
	return w
}

var bound = port.SignInBinding{State: "the state of this sign-in", Nonce: "the nonce of this sign-in",
	Verifier: strings.Repeat("verifier", 6)}

// answer is what the provider answers to a sign-in of an account.
func (w *world) answer(s oidctest.Says) port.ProviderAnswer {
	w.Helper()
	w.at.Say(s)
	to, err := w.Leave(w.Context(), bound)
	if err != nil {
		w.Fatal(err)
	}
	back, err := w.at.SignIn(w.Context(), to)
	if err != nil {
		w.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil || !strings.HasPrefix(back, redirect+"?") {
		w.Fatalf("it leads to %s: %v", back, err)
	}
	q := u.Query()
	return port.ProviderAnswer{Code: q.Get("code"), State: q.Get("state"), Issuer: q.Get("iss"), Error: q.Get("error")}
}

func (w *world) want(what string, err error, code fault.Code) {
	w.Helper()
	if err == nil || fault.CodeOf(err) != code {
		w.Errorf("%s answered %v, want %s", what, err, code)
	}
}

var ann = oidctest.Says{Subject: "ann-1", Email: "Ann@example.com"}

func TestAnAccountSignsIn(t *testing.T) {
	w := begin(t, nil)
	for name, s := range map[string]oidctest.Says{"in the token": ann,
		"beside it":    {Subject: ann.Subject, Email: ann.Email, UserinfoOnly: true},
		"not verified": {Subject: ann.Subject, Email: ann.Email, Unverified: true}} {
		a := w.answer(s)
		if a.State != bound.State {
			t.Errorf("the state comes back as %q", a.State)
		}
		id, err := w.Return(t.Context(), a, bound)
		want := port.Identity{Issuer: w.at.URL, Subject: "ann-1", Email: ann.Email, EmailVerified: !s.Unverified}
		if err != nil || id != want {
			t.Errorf("address %s: %+v, %v", name, id, err)
		}
		_, err = w.Return(t.Context(), a, bound)
		w.want("the code again", err, fault.Unauthorized)
	}
	if w.Name() != strings.TrimPrefix(w.at.URL, "http://") || w.Problem() != "" {
		t.Errorf("it is %q with the problem %q", w.Name(), w.Problem())
	}
}

// What does not belong to this sign-in of this client signs nobody in.
func TestWhatDoesNotVerify(t *testing.T) {
	w := begin(t, nil)
	with := func(change func(*oidctest.Says)) oidctest.Says { s := ann; change(&s); return s }
	claim := func(name string, value any) oidctest.Says {
		return with(func(s *oidctest.Says) { s.Alter = map[string]any{name: value} })
	}
	for name, s := range map[string]oidctest.Says{
		"another nonce":    claim("nonce", "x"),
		"no nonce":         claim("nonce", nil),
		"another audience": claim("aud", "x"),
		"another party":    claim("azp", "x"),
		"two audiences": with(func(s *oidctest.Says) {
			s.Alter = map[string]any{"aud": []string{"x", oidctest.ClientID}, "azp": nil}
		}),
		"another issuer":     claim("iss", "https://evil.example"),
		"an expired token":   claim("exp", time.Now().Add(-time.Minute).Unix()),
		"another access":     claim("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
		"an unknown key":     with(func(s *oidctest.Says) { s.Alter, s.Unknown = map[string]any{}, true }),
		"no subject":         claim("sub", ""),
		"a subject of bytes": claim("sub", "a\x00b"),
		"a long subject":     claim("sub", strings.Repeat("x", 256)),
		"claims of no sense": claim("email", 1),
		"who turns back":     with(func(s *oidctest.Says) { s.Deny = true }),
	} {
		_, err := w.Return(t.Context(), w.answer(s), bound)
		w.want(name, err, fault.Unauthorized)
	}
	for name, change := range map[string]func(*port.ProviderAnswer, *port.SignInBinding){
		"another provider": func(a *port.ProviderAnswer, _ *port.SignInBinding) { a.Issuer = "https://evil.example" },
		"no code":          func(a *port.ProviderAnswer, _ *port.SignInBinding) { a.Code = "" },
		"an unknown code":  func(a *port.ProviderAnswer, _ *port.SignInBinding) { a.Code = "x" },
		"an error":         func(a *port.ProviderAnswer, _ *port.SignInBinding) { a.Error = "invalid_scope" },
		"another verifier": func(_ *port.ProviderAnswer, b *port.SignInBinding) { b.Verifier = strings.Repeat("x", 43) },
		"no nonce":         func(_ *port.ProviderAnswer, b *port.SignInBinding) { b.Nonce = "" },
	} {
		a, b := w.answer(ann), bound
		change(&a, &b)
		_, err := w.Return(t.Context(), a, b)
		w.want(name, err, fault.Unauthorized)
	}
}

// What a token may say beside what it has to.
func TestWhatVerifies(t *testing.T) {
	w := begin(t, nil)
	for name, alter := range map[string]map[string]any{
		"no party":               {"azp": nil},
		"this party among two":   {"aud": []string{"x", oidctest.ClientID}, "azp": oidctest.ClientID},
		"the longest subject":    {"sub": strings.Repeat("x", 255)},
		"all that a subject has": {"sub": " ~"},
		"no hash of the access":  {"at_hash": nil},
	} {
		s := ann
		s.Alter = alter
		id, err := w.Return(w.Context(), w.answer(s), bound)
		if want, altered := alter["sub"]; err != nil || altered && id.Subject != want {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
	for _, subject := range []string{"\x1f", "\x7f", "é"} {
		s := ann
		s.Alter = map[string]any{"sub": subject}
		_, err := w.Return(w.Context(), w.answer(s), bound)
		w.want("the subject "+subject, err, fault.Unauthorized)
	}
}

// A provider that does not work is said to be that, and works again by itself.
func TestAProviderThatIsDown(t *testing.T) {
	w := begin(t, nil)
	w.at.Say(oidctest.Says{Down: "/.well-known"})
	for range 2 {
		_, err := w.Leave(t.Context(), bound)
		w.want("leaving", err, fault.Unavailable)
	}
	if w.Problem() == "" {
		t.Error("it has no problem")
	}
	w.ahead.Add(int64(time.Minute))
	for _, path := range []string{"/oauth/token", "/keys", "/userinfo"} {
		a := w.answer(ann)
		w.at.Say(oidctest.Says{Subject: ann.Subject, Email: ann.Email, UserinfoOnly: true, Down: path})
		w.at.Rotate(t) // so that the keys are asked for
		_, err := w.Return(t.Context(), a, bound)
		w.want(path, err, fault.Unavailable)
		if _, err := w.Return(t.Context(), w.answer(ann), bound); err != nil || w.Problem() != "" {
			t.Errorf("after %s: %v, %q", path, err, w.Problem())
		}
	}
	a := w.answer(ann)
	w.at.Close()
	_, err := w.Return(t.Context(), a, bound)
	w.want("gone", err, fault.Unavailable)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := begin(t, nil).Leave(ctx, bound); err == nil || fault.CodeOf(err) == fault.Unauthorized {
		t.Errorf("who gives up gets %v", err)
	}
}

func TestKeysRotate(t *testing.T) {
	w := begin(t, nil)
	for range 3 {
		if _, err := w.Return(t.Context(), w.answer(ann), bound); err != nil {
			t.Fatal(err)
		}
		w.at.Rotate(t)
	}
}

func TestDomains(t *testing.T) {
	w := begin(t, func(o *oidc.Options) { o.Domains, o.Name = []string{"Example.com"}, "Staff" })
	if _, err := w.Return(t.Context(), w.answer(ann), bound); err != nil {
		t.Error(err)
	}
	for _, s := range []oidctest.Says{{Subject: "x", Email: "x@example.com.evil.example"}, {Subject: "x", Email: "example.com"},
		{Subject: "x", Email: "x@example.com", Unverified: true}, {Subject: "x"}} {
		_, err := w.Return(t.Context(), w.answer(s), bound)
		w.want(s.Email, err, fault.Unauthorized)
	}
	if w.Name() != "Staff" {
		t.Errorf("it is %q", w.Name())
	}
}

// No browser and no secret is sent over a way that others read, whatever the provider names.
func TestWhatTheProviderNames(t *testing.T) {
	for _, at := range []string{"http://login.example.com/x", "ftp://127.0.0.1/x", "/x", "http://a@127.0.0.1/x"} {
		var s *httptest.Server
		s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"issuer":"` + s.URL + `","authorization_endpoint":"` + at + `","token_endpoint":"` + s.URL +
				`/t","jwks_uri":"` + s.URL + `/k"}`))
		}))
		defer s.Close()
		_, err := oidc.New(oidc.Options{Issuer: s.URL, ClientID: "x", Redirect: redirect}).Leave(t.Context(), bound)
		if fault.CodeOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", at, err)
		}
	}
}
