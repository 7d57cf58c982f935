package console_test

import (
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/oidc"
	"github.com/mnemehq/mneme/adapters/oidc/oidctest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/transports/console"
)

// withProvider is a console whose members may sign in at a provider. The address of the console is known
// to the provider once it is served.
func withProvider(t *testing.T, passwords bool) (*server, *oidctest.Provider) {
	at := oidctest.New(t)
	const back = "http://127.0.0.1:1" + console.ReturnPath // the browser of a test turns it into the console's
	at.Register(back)
	s := serve(t, nil, func(_ *server, c *engine.Config) {
		c.Sessions.NoPasswords = !passwords
		c.Sessions.Provider = oidc.New(oidc.Options{Issuer: at.URL, ClientID: oidctest.ClientID,
			ClientSecret: oidctest.ClientSecret, Name: "Staff login", Redirect: back})
	})
	return s, at
}

// goes does what a person does at the provider, and comes back.
func (b *browser) goes(at *oidctest.Provider, link string) answer {
	b.Helper()
	a := b.get(link)
	if a.StatusCode != http.StatusSeeOther {
		return a
	}
	back, err := at.SignIn(b.Context(), a.Header.Get("Location"))
	if err != nil {
		b.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil {
		b.Fatal(err)
	}
	return b.get(u.RequestURI())
}

const leave = "/console/sign-in/leave?org=&return=o%2Fdefault%2Fmembers"

// A member signs in at the provider, comes back to the page that was asked for, and is in by a
// cookie that was never part of the provider's navigation.
func TestSigningInAtAProvider(t *testing.T) {
	s, at := withProvider(t, true)
	operator := s.signedIn(s.key.Secret)
	operator.invited("ann@example.com", "viewer")
	at.Say(oidctest.Says{Subject: "1", Email: "ann@example.com"})
	b := s.browser()
	asked := b.get("/console/sign-in?return=o%2Fdefault%2Fmembers").want(t, 200, "Sign in with Staff login", "Password")
	asked.proper(t)
	if n := strings.Count(asked.body, "sign-in/leave?org=&amp;return=o%2fdefault%2fmembers"); n != 1 {
		t.Errorf("%d buttons: %s", n, asked.body)
	}
	away := b.get(leave).Cookies()[0]
	if away.Name != "mneme-away" || !away.HttpOnly || away.SameSite != http.SameSiteLaxMode || away.MaxAge != 600 {
		t.Errorf("the cookie of the way is %+v", away)
	}
	in := b.goes(at, leave).want(t, 200, "Signed in")
	in.proper(t)
	if !strings.Contains(in.body, `content="0; url=../../console/o/default/members"`) ||
		in.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("it goes on by %s, %v", in.body, in.Header)
	}
	for _, c := range in.Cookies() {
		if c.Name == "mneme" && c.SameSite != http.SameSiteStrictMode || c.Name == "mneme-away" && c.MaxAge >= 0 {
			t.Errorf("cookie %+v", c)
		}
	}
	b.get("/console/o/default/members").want(t, 200, "ann@example.com")
	b.get("/console/account").want(t, 200, "viewer")
	operator.get("/console/o/default/audit").want(t, 200, "console.sign_in", "console.account")
}

// What comes back without this browser's sign-in signs nobody in, and says what to do.
func TestWhatComesBackToNobody(t *testing.T) {
	s, at := withProvider(t, true)
	s.signedIn(s.key.Secret).invited("ann@example.com", "viewer")
	at.Say(oidctest.Says{Subject: "1", Email: "ann@example.com"})
	b, other := s.browser(), s.browser()
	b.get(console.ReturnPath+"?code=x&state=y").want(t, http.StatusForbidden, "Begin again")
	to := b.get(leave).Header.Get("Location")
	back, err := at.SignIn(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	other.get(u.RequestURI()).want(t, http.StatusForbidden, "Begin again")
	other.get(leave)
	other.get(u.RequestURI()).want(t, http.StatusForbidden, "another sign-in")
	other.get("/console/account").leads(t)
	b.get(u.RequestURI()).want(t, 200, "Signed in")
	b.get(u.RequestURI()).want(t, http.StatusForbidden, "Begin again") // once
	for name, says := range map[string]oidctest.Says{"not verified": {Subject: "2", Email: "ann@example.com", Unverified: true},
		"a stranger": {Subject: "3", Email: "eve@example.com"}, "another nonce": {Subject: "1", Email: "ann@example.com",
			Alter: map[string]any{"nonce": "x"}},
		"denied": {Subject: "1", Deny: true}, "another with the address": {Subject: "4", Email: "ann@example.com"}} {
		at.Say(says)
		them := s.browser()
		if a := them.goes(at, leave).want(t, http.StatusForbidden); len(a.Cookies()) != 1 || strings.Contains(a.text, "acme") {
			t.Errorf("%s: %v %s", name, a.Cookies(), a.text)
		}
		them.get("/console/account").leads(t)
	}
}

// Whose address is a member's of another organization signs in there alone; of several, one is chosen.
func TestTheOrganizationOfAnAccount(t *testing.T) {
	s, at := withProvider(t, true)
	if _, err := s.engine.Keys().CreateOrganization(t.Context(), "globex"); err != nil {
		t.Fatal(err)
	}
	operator := s.signedIn(s.key.Secret)
	invite := func(org string) {
		operator.post("/console/o/"+org+"/members", url.Values{"email": {"ann@example.com"}, "role": {"viewer"}}).want(t, 200)
	}
	invite("globex")
	at.Say(oidctest.Says{Subject: "1", Email: "ann@example.com"})
	b := s.browser()
	b.goes(at, "/console/sign-in/leave?org=default").want(t, http.StatusForbidden, "ask an owner to invite")
	b.goes(at, "/console/sign-in/leave").want(t, 200, "Signed in")
	b.get("/console/o/default/members").want(t, http.StatusNotFound)
	invite("default")
	chosen := s.browser()
	a := chosen.goes(at, "/console/sign-in/leave").want(t, 200, "several organizations", "default", "globex")
	a.proper(t)
	chosen.goes(at, "/console/sign-in/leave?org=default").want(t, 200, "Signed in")
	chosen.get("/console/o/default/members").want(t, 200)
}

// A provider that is down is said to be, on a page where other ways in are left.
func TestAProviderThatDoesNotAnswer(t *testing.T) {
	s, at := withProvider(t, true)
	at.Say(oidctest.Says{Down: "/"})
	a := s.browser().get(leave).want(t, http.StatusServiceUnavailable, "Staff login does not answer", "Admin key")
	a.proper(t)
}

// With passwords switched off members sign in at the provider, and keys go on working.
func TestWithoutPasswords(t *testing.T) {
	s, at := withProvider(t, false)
	b := s.browser()
	if a := b.get("/console/sign-in").want(t, 200, "Staff login", "Admin key"); strings.Contains(a.text, "Password") {
		t.Errorf("the page asks for a password: %s", a.text)
	}
	operator := s.signedIn(s.issue(key.Issue{}).Secret)
	code := operator.invited("ann@example.com", "owner")
	b.post("/console/invitation", url.Values{"code": {code}, "password": {secret}, "again": {secret}}).
		want(t, http.StatusForbidden)
	b.post("/console/session", url.Values{"org": {"default"}, "email": {"ann@example.com"}, "password": {secret}}).
		want(t, http.StatusForbidden)
	at.Say(oidctest.Says{Subject: "1", Email: "ann@example.com"})
	b.goes(at, leave).want(t, 200, "Signed in")
	b.post("/console/account", url.Values{"old": {""}, "password": {secret}, "again": {secret}}).want(t, http.StatusForbidden)
}

// An owner takes signing in from a member and gives it back, on the page of the members.
func TestDisablingAMember(t *testing.T) {
	s, at := withProvider(t, true)
	operator := s.signedIn(s.key.Secret)
	them := operator.joined("ann@example.com", "viewer")
	ann := operator.member("ann@example.com")
	change := func(deed string) { operator.post(ann, url.Values{"do": {deed}}).leads(t) }
	change("disable")
	them.get("/console/account").want(t, 401, "the session has ended")
	at.Say(oidctest.Says{Subject: "1", Email: "ann@example.com"})
	s.browser().goes(at, leave).want(t, http.StatusForbidden, "disabled")
	operator.get(ann).want(t, 200, "Let them sign in again").proper(t)
	change("enable")
	s.browser().goes(at, leave).want(t, 200, "Signed in")
}

// A member unbinds their account, and an owner that of a member: another one with the address takes its place.
func TestUnbindingAnAccount(t *testing.T) {
	s, at := withProvider(t, true)
	operator := s.signedIn(s.key.Secret)
	operator.joined("ann@example.com", "viewer").get("/console/account").want(t, 200, "Change the password")
	says := func(subject string) { at.Say(oidctest.Says{Subject: subject, Email: "ann@example.com"}) }
	says("1")
	b, other := s.browser(), s.browser()
	b.goes(at, leave).want(t, 200, "Signed in")
	other.goes(at, leave).want(t, 200, "Signed in")
	page := b.get("/console/account").want(t, 200, "Account of Staff login", "Unbind the account")
	page.proper(t)
	if to := b.post("/console/account", url.Values{"do": {"unbind"}}).leads(t); !strings.HasSuffix(to, "?said=unbound") {
		t.Errorf("it leads to %s", to)
	}
	page = b.get("/console/account?said=unbound").want(t, 200, "The account is unbound")
	if strings.Contains(page.text, "Unbind") {
		t.Errorf("unbound: %s", page.text)
	}
	other.get("/console/account").want(t, 401, "the session has ended")
	says("2")
	s.browser().goes(at, leave).want(t, 200, "Signed in")
	says("1")
	s.browser().goes(at, leave).want(t, http.StatusForbidden, "ask an owner to unbind it")
	ann := operator.member("ann@example.com")
	operator.get(ann).want(t, 200, "an account of Staff login, or a password", "Unbind the account").proper(t)
	operator.post(ann, url.Values{"do": {"unbind"}}).leads(t)
	if page = operator.get(ann).want(t, 200, "a password"); strings.Contains(page.text, "Unbind") {
		t.Errorf("unbound: %s", page.text)
	}
	s.browser().goes(at, leave).want(t, 200, "Signed in")
	operator.post("/console/account", url.Values{"do": {"unbind"}}).want(t, http.StatusForbidden)
	operator.get("/console/o/default/audit").want(t, 200, "console.unbind", "admin.members.change", "has_account")
}

// That the way is encrypted is believed of a proxy that is trusted, and of nobody else.
func TestWhoSaysThatTheWayIsEncrypted(t *testing.T) {
	for trusted, cases := range map[string]map[string]int{"127.0.0.0/8": {"https": 303, "HTTPS": 303, "http": 403, "": 403},
		"10.0.0.0/8": {"https": 403}, "": {"https": 403}} {
		s := serve(t, func(o *console.Options) {
			if trusted != "" {
				o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(trusted)}
			}
		})
		for said, want := range cases {
			b := s.browser()
			b.header.Set("Host", "memory.example.org")
			b.header.Set("X-Forwarded-Proto", said)
			a := b.post("/console/session", url.Values{"key": {s.key.Secret}})
			if a.StatusCode != want {
				t.Errorf("%q trusted, %q said: it answers %d", trusted, said, a.StatusCode)
			}
			k := a.Cookies()
			if want == 303 && (len(k) != 1 || k[0].Name != "__Host-mneme" || !k[0].Secure || k[0].Path != "/") ||
				want != 303 && len(k) > 0 {
				t.Errorf("%q trusted, %q said: cookies %v", trusted, said, k)
			}
		}
	}
}
