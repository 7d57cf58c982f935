package browser_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/oidc/oidctest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// evil is stored wherever a text can be.
const evil = `<img src=x onerror=alert(1)><script>alert(2)</script>"'>`

// In a real browser: a member signs in at a provider of another site, below a path of a proxy; what is
// stored with markup in it stays text on every page that shows it; another site can neither send a
// form nor show a page in a frame.
func TestStrangersAndProvidersInABrowser(t *testing.T) {
	k := findTools(t)
	provider := oidctest.New(t)
	const prefix = "/memory/api"
	var to http.Handler
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { to.ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	base := strings.Replace(front.URL, "127.0.0.1", "localhost", 1) + prefix // another site than the provider's
	provider.Register(base + "/console/sign-in/return")
	provider.Say(oidctest.Says{Subject: "1", Email: "ann@example.com"})
	at := harness.NewSite(t, fmt.Sprintf(`server: { base_url: %q }
console: { oidc: { issuer: %q, client_id: %q, client_secret: %q, name: Staff login } }
`, base, provider.URL, oidctest.ClientID, oidctest.ClientSecret))
	key := at.Key()
	server := at.Serve()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	to = http.StripPrefix(prefix, harness.Buffered(httputil.NewSingleHostReverseProxy(address)))
	server.Client(t, key).OK("POST", "/namespaces/notes/documents", harness.Object{"documents": []harness.Object{
		{"id": "evil", "text": "The lease. " + evil, "metadata": harness.Object{"title": evil, "url": "javascript:alert(3)"}}}})
	at.Mneme("members", "invite", "ann@example.com", "--role", "owner")
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/frame" {
			fmt.Fprintf(w, `<iframe src="%s/console/sign-in"></iframe>`, base)
			return
		}
		fmt.Fprintf(w, `<form method="post" action="%s/console/session/end"><button>Win</button></form>`, base)
	}))
	t.Cleanup(stranger.Close)
	var s struct {
		In, Foot, Forged, Framed, After, Cookie string
		Dialogs, Violations, Missing            []string
		Cookies                                 []struct {
			Name, SameSite, Path string
			HTTPOnly             bool `json:"httpOnly"`
		}
	}
	k.run(t, &s, "security.mjs", base, stranger.URL)
	if s.In != base+"/console/o/default/members" || !strings.Contains(s.Foot, "ann@example.com, owner") {
		t.Errorf("the provider leads to %s, as %q", s.In, s.Foot)
	}
	if k := s.Cookies; len(k) != 1 || k[0].Name != "mneme" || k[0].SameSite != "Strict" || !k[0].HTTPOnly || s.Cookie != "" {
		t.Errorf("cookies %+v; scripts read %q", s.Cookies, s.Cookie)
	}
	if len(s.Dialogs) > 0 || len(s.Violations) > 0 || len(s.Missing) > 0 {
		t.Errorf("stored text ran (%q), broke the policy (%q) or is not shown as text (%q)", s.Dialogs, s.Violations, s.Missing)
	}
	if !strings.Contains(s.Forged, "another site") || s.After != s.In {
		t.Errorf("a form of another site says %q, and leads to %s", s.Forged, s.After)
	}
	if strings.Contains(s.Framed, "Sign in") {
		t.Errorf("a frame of another site shows %q", s.Framed)
	}
}
