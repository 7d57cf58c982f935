package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/oidc/oidctest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// Who is disabled is out at once and cannot sign in until that is taken back; the last owner who can
// sign in cannot be.
func TestMembersAreDisabledAndEnabled(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := start(t, "--data", data)
	const password = "a long enough password"
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	ask := func(method, at, cookie string, form url.Values) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, s.URL+at, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if form != nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		r.Header.Set("Cookie", "mneme="+cookie)
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	join := func(email, role string) (session string) {
		t.Helper()
		_, code, _ := strings.Cut(succeed(t, "members", "invite", email, "--role", role, "--data", data).Stdout, "#code=")
		joined := ask("POST", "/console/invitation", "", url.Values{"code": {strings.TrimSpace(code)}, "password": {password},
			"again": {password}})
		if joined.StatusCode != http.StatusSeeOther || len(joined.Cookies()) == 0 {
			t.Fatalf("joining answered %s", joined.Status)
		}
		return joined.Cookies()[0].Value
	}
	is := func(session string, page, signIn int, state string) {
		t.Helper()
		if got := ask("GET", "/console/o/default", session, nil); got.StatusCode != page {
			t.Errorf("%s: the session's page answers %s", state, got.Status)
		}
		in := ask("POST", "/console/session", "", url.Values{"org": {"default"}, "email": {"vic@example.com"},
			"password": {password}})
		if in.StatusCode != signIn {
			t.Errorf("%s: signing in answers %s", state, in.Status)
		}
		for line := range strings.Lines(succeed(t, "members", "list", "--data", data).Stdout) {
			if strings.Contains(line, "vic@example.com") && !strings.Contains(line, state) {
				t.Errorf("it is not %s: %s", state, line)
			}
		}
	}
	join("ann@example.com", "owner")
	vic := join("vic@example.com", "viewer")
	is(vic, http.StatusOK, http.StatusSeeOther, "active")
	for range 2 { // again changes nothing
		r := succeed(t, "members", "disable", "Vic@Example.com", "--data", data)
		if r.Stdout != "" || r.Stderr != "vic@example.com: disabled\n" {
			t.Errorf("it says %q, %q", r.Stdout, r.Stderr)
		}
	}
	is(vic, http.StatusUnauthorized, http.StatusForbidden, "disabled")
	if r := succeed(t, "members", "enable", "vic@example.com", "--data", data); r.Stderr != "vic@example.com: enabled\n" {
		t.Errorf("it says %q", r.Stderr)
	}
	is("", http.StatusSeeOther, http.StatusSeeOther, "active")
	for email, why := range map[string]string{"ann@example.com": "last owner", "eve@example.com": "eve@example.com"} {
		r := mneme(t, "members", "disable", email, "--data", data)
		if r.Code == 0 || !strings.Contains(r.Stderr, why) || strings.Contains(r.Stderr, email+": disabled") {
			t.Errorf("disabling %s: %d, %s", email, r.Code, r.Stderr)
		}
	}
}

// An account that is unbound is out at once, and gives way to another one with the same address.
func TestMembersAreUnbound(t *testing.T) {
	provider := oidctest.New(t)
	const base = "http://127.0.0.1:1" // the test takes the way there to where the server really is
	provider.Register(base + "/console/sign-in/return")
	site := harness.NewSite(t, fmt.Sprintf(`server: { base_url: %q }
console: { oidc: { issuer: %q, client_id: %q, client_secret: %q } }
`, base, provider.URL, oidctest.ClientID, oidctest.ClientSecret))
	s := site.Serve()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(at string, cookies ...*http.Cookie) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cookies {
			r.AddCookie(c)
		}
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	signIn := func(subject string, status int) []*http.Cookie {
		t.Helper()
		provider.Say(oidctest.Says{Subject: subject, Email: "ann@example.com"})
		away := get("/console/sign-in/leave?org=&return=")
		back, err := provider.SignIn(t.Context(), away.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		in := get(strings.TrimPrefix(back, base), away.Cookies()...)
		if in.StatusCode != status {
			t.Errorf("the account %s: signing in answers %s", subject, in.Status)
		}
		return in.Cookies()
	}
	site.Mneme("members", "invite", "ann@example.com", "--role", "owner")
	session := signIn("1", http.StatusOK)
	signIn("2", http.StatusForbidden)
	if r := site.Mneme("members", "unbind", "Ann@Example.com"); r.Stdout != "" || r.Stderr != "ann@example.com: unbound\n" {
		t.Errorf("it says %q, %q", r.Stdout, r.Stderr)
	}
	if a := get("/console/o/default", session...); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("the session's page answers %s", a.Status)
	}
	signIn("2", http.StatusOK)
	signIn("1", http.StatusForbidden)
}
