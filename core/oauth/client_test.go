package oauth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mnemehq/mneme/core/oauth"
)

func TestRedirectURIs(t *testing.T) {
	for uri, allowed := range map[string]bool{
		"https://app.example/cb":        true,
		"https://app.example/cb?x=1":    true,
		"https://app.example:8443/cb":   true,
		"http://127.0.0.1/cb":           true,
		"http://127.0.0.1:8080/cb":      true,
		"http://[::1]:8080/cb":          true,
		"http://localhost/cb":           true,
		"cursor://anysphere.mcp/oauth":  true,
		"vscode://app/cb":               true,
		"ms-msdt:/id":                   false,
		"search-ms:query":               false,
		"steam://run":                   false,
		"ftp://app.example/cb":          false,
		"ws://app.example/cb":           false,
		"com.example.app:/oauth":        true,
		"http://app.example/cb":         false,
		"http://127.0.0.1.evil.test/cb": false,
		"http://localhost.evil.test/cb": false,
		"http://10.0.0.1/cb":            false,
		"https://":                      false,
		"https:///cb":                   false,
		"https://app.example/cb#x":      false,
		"https://app.example/cb#":       false,
		"https://user@app.example/cb":   false,
		"https://*.example/cb":          false,
		"https://app.example/\\cb":      false,
		"https://app.example/c b":       false,
		"https://app.example/\ncb":      false,
		"https://žluť.example/cb":       false, // as punycode
		"/cb":                           false,
		"//app.example/cb":              false,
		"":                              false,
		"javascript:alert(1)":           false,
		"JavaScript:alert(1)":           false,
		"data:text/html,<script>":       false,
		"file:///etc/passwd":            false,
		"https://app.example/" + strings.Repeat("x", 2000): false,
	} {
		body, err := json.Marshal(map[string]any{"redirect_uris": []string{uri}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = oauth.ParseMetadata(body)
		var e *oauth.Error
		if (err == nil) != allowed || err != nil && (!errors.As(err, &e) || e.Code != oauth.InvalidRedirectURI) {
			t.Errorf("%q: %v, want allowed %v", uri, err, allowed)
		}
	}
}

func TestRedirectMatches(t *testing.T) {
	w := begin(t, nil)
	for _, c := range []struct {
		registered, asked string
		ok                bool
	}{
		{"https://app.example/cb", "https://app.example/cb", true},
		{"https://app.example/cb", "https://app.example/cb/", false},
		{"https://app.example/cb", "https://app.example/cb?x=1", false},
		{"https://app.example/cb", "https://app.example:444/cb", false},
		{"https://app.example/cb", "https://APP.example/cb", false},
		{"https://app.example/cb", "https://app.example/CB", false},
		{"https://app.example/cb", "https://app.example.evil.test/cb", false},
		{"https://app.example/cb", "https://app.example@evil.test/cb", false},
		{"https://app.example/cb", "", true}, // the only one
		{"http://127.0.0.1/cb", "http://127.0.0.1:51234/cb", true},
		{"http://127.0.0.1:1/cb", "http://127.0.0.1:51234/cb", true},
		{"http://127.0.0.1/cb", "http://127.0.0.1:51234/other", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:51234/cb?x", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1:51234/cb#x", false},
		{"http://127.0.0.1/cb", "https://127.0.0.1:51234/cb", false},
		{"http://127.0.0.1/cb", "http://127.0.0.1@evil.test/cb", false},
		{"http://127.0.0.1/cb", "http://user@127.0.0.1/cb", false},
		{"http://127.0.0.1/cb", "http://localhost/cb", false},
		{"http://[::1]/cb", "http://[::1]:51234/cb", true},
		{"http://localhost/cb", "http://localhost:51234/cb", true},
		{"https://localhost/cb", "https://localhost:51234/cb", false},
		{"cursor://app/cb", "cursor://app:1/cb", false},
	} {
		r := w.request()
		r.ClientID, r.RedirectURI = w.register("x", c.registered), c.asked
		got, err := w.Begin(w.ctx, r)
		if (err == nil) != c.ok {
			t.Errorf("%s for %s: %v, want %v", c.asked, c.registered, err, c.ok)
		}
		var e *oauth.Error
		if err != nil && (!errors.As(err, &e) || e.Redirect != "") {
			t.Errorf("%s: the browser would be sent to %s", c.asked, e.Redirect)
		}
		if want := c.asked; err == nil && want != "" && got.RedirectURI != want {
			t.Errorf("%s: redirects to %s", want, got.RedirectURI)
		}
	}
	two := w.request()
	two.ClientID, two.RedirectURI = w.register("two", callback, callback+"2"), ""
	if _, err := w.Begin(w.ctx, two); err == nil {
		t.Error("a client with two redirect URIs may leave it out")
	}
}

// A refusal goes back to the client only where the redirect URI is its own.
func TestAuthorizationRequestRefused(t *testing.T) {
	w := begin(t, nil)
	for _, c := range []struct {
		name   string
		change func(*oauth.Request)
		code   string
		back   bool
	}{
		{"unknown client", func(r *oauth.Request) { r.ClientID = "mncl_" + strings.Repeat("A", 26) }, oauth.InvalidClient, false},
		{"odd client", func(r *oauth.Request) { r.ClientID = "' OR 1=1 --" }, oauth.InvalidClient, false},
		{"no client", func(r *oauth.Request) { r.ClientID = "" }, oauth.InvalidClient, false},
		{"foreign redirect", func(r *oauth.Request) { r.RedirectURI = "https://evil.test/" }, oauth.InvalidRequest, false},
		{"implicit", func(r *oauth.Request) { r.ResponseType = "token" }, oauth.UnsupportedResponseType, true},
		{"hybrid", func(r *oauth.Request) { r.ResponseType = "code token" }, oauth.UnsupportedResponseType, true},
		{"fragment", func(r *oauth.Request) { r.ResponseMode = "fragment" }, oauth.InvalidRequest, true},
		{"no PKCE", func(r *oauth.Request) { r.Challenge = "" }, oauth.InvalidRequest, true},
		{"plain PKCE", func(r *oauth.Request) { r.Method = "plain" }, oauth.InvalidRequest, true},
		{"no method, which means plain", func(r *oauth.Request) { r.Method = "" }, oauth.InvalidRequest, true},
		{"no hash", func(r *oauth.Request) { r.Challenge = verifier }, oauth.InvalidRequest, true},
		{"padded", func(r *oauth.Request) { r.Challenge += "=" }, oauth.InvalidRequest, true},
		{"other resource", func(r *oauth.Request) { r.Resources = []string{"https://evil.test/mcp"} }, oauth.InvalidTarget, true},
		{"one more resource", func(r *oauth.Request) { r.Resources = []string{resource, issuer + "/other"} },
			oauth.InvalidTarget, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := w.request()
			c.change(&r)
			for what, err := range map[string]error{"begin": second(w.Begin(w.ctx, r)),
				"approve": second(w.Approve(w.ctx, r, w.lent.Secret, false)), "deny": second(w.Deny(w.ctx, r))} {
				var e *oauth.Error
				if !errors.As(err, &e) || e.Code != c.code || (e.Redirect != "") != c.back {
					t.Fatalf("%s: %v to %q", what, err, e.Redirect)
				}
				if u, err := url.Parse(e.Redirect); c.back &&
					(err != nil || !strings.HasPrefix(e.Redirect, callback+"?") || u.Query().Get("error") != c.code ||
						u.Query().Get("state") != r.State || u.Query().Get("iss") != issuer) {
					t.Errorf("%s: goes to %s", what, e.Redirect)
				}
			}
		})
	}
}

func TestResourceSpellings(t *testing.T) {
	w := begin(t, nil)
	for asked, ok := range map[string]bool{resource: true, resource + "/": true, "HTTPS://Mneme.Example:443/mcp": true,
		resource + "?namespace=docs": true,
		issuer:                       false, issuer + "/MCP": false, "http://mneme.example/mcp": false, resource + "#x": false,
		"https://mneme.example:444/mcp": false, "https://u@mneme.example/mcp": false, "mcp": false, "": false} {
		r := w.request()
		r.Resources = []string{asked}
		if _, err := w.Begin(w.ctx, r); (err == nil) != ok {
			t.Errorf("%q: %v, want %v", asked, err, ok)
		}
	}
}

func TestAnswersKeepTheRedirectURI(t *testing.T) {
	w := begin(t, nil)
	for registered, prefix := range map[string]string{
		"https://app.example/cb":       "https://app.example/cb?error=access_denied",
		"https://app.example/cb?b=2&a": "https://app.example/cb?b=2&a&error=access_denied",
		"https://app.example/cb?":      "https://app.example/cb?error=access_denied",
		"com.example.app:/cb":          "com.example.app:/cb?error=access_denied",
	} {
		r := w.request()
		r.ClientID, r.RedirectURI = w.register("x", registered), registered
		if to, err := w.Deny(w.ctx, r); err != nil || !strings.HasPrefix(to, prefix) {
			t.Errorf("%s: %s, %v", registered, to, err)
		}
	}
}

func TestDocumentedClients(t *testing.T) {
	const id = "https://client.example/meta.json"
	good := func(id string) string {
		return fmt.Sprintf(`{"client_id":%q,"client_name":"Documented","redirect_uris":[%q],`+
			`"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"]}`, id, callback)
	}
	docs := documents{id: good(id)}
	for bad, body := range map[string]string{
		"other":      good("https://client.example/else.json"),
		"none":       strings.Replace(good("https://client.example/none"), `"client_id":"https://client.example/none",`, "", 1),
		"secret":     strings.Replace(good("https://client.example/secret"), `"none"`, `"client_secret_basic"`, 1),
		"jwt":        strings.Replace(good("https://client.example/jwt"), `"none"`, `"private_key_jwt"`, 1),
		"redirects":  `{"client_id":"https://client.example/redirects","redirect_uris":["javascript:alert(1)"]}`,
		"no":         `{"client_id":"https://client.example/no"}`,
		"types":      `{"client_id":"https://client.example/types","redirect_uris":"x"}`,
		"html":       `<html>`,
		"empty":      ``,
		"huge":       good("https://client.example/huge") + strings.Repeat(" ", oauth.MaxMetadata),
		"grants":     strings.Replace(good("https://client.example/grants"), `"authorization_code",`, "", 1),
		"notutf8":    strings.Replace(good("https://client.example/notutf8"), "Documented", "\xff", 1),
		"../up":      good("https://client.example/../up"),
		"a//b":       good("https://client.example/a//b"),
		"x#fragment": good("https://client.example/x#fragment"),
	} {
		docs["https://client.example/"+bad] = body
	}
	docs["http://client.example/plain"] = good("http://client.example/plain")
	docs["https://u:p@client.example/x"] = good("https://u:p@client.example/x")
	docs["https://client.example"] = good("https://client.example")
	docs["https://client.example/"] = good("https://client.example/")
	docs["ftp://client.example/x"] = good("ftp://client.example/x")
	docs["http://127.0.0.1:1/x"] = good("http://127.0.0.1:1/x")

	w := begin(t, func(s *oauth.Settings) { s.Documents = docs })
	ask := func(id string) (oauth.Consent, error) {
		r := w.request()
		r.ClientID = id
		return w.Begin(w.ctx, r)
	}
	c, err := ask(id)
	if err != nil || c.Client.Name != "Documented" || c.Client.Host != "client.example" {
		t.Fatalf("%+v, %v", c, err)
	}
	for url := range docs {
		if url == id {
			continue
		}
		_, err := ask(url)
		var e *oauth.Error
		if !errors.As(err, &e) || e.Code != oauth.InvalidClient || e.Redirect != "" {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := ask("https://client.example/absent"); err == nil || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("absent: %v", err)
	}
	w.client = id
	w.works("a documented client's token", w.tokens(w.exchange(w.approve(w.request(), w.lent.Secret, false))).AccessToken, true)

	local := begin(t, func(s *oauth.Settings) { s.Documents, s.LoopbackDocuments = docs, true })
	r := local.request()
	r.ClientID = "http://127.0.0.1:1/x"
	if _, err := local.Begin(local.ctx, r); err != nil {
		t.Errorf("http of this machine where that is allowed: %v", err)
	}
	r.ClientID = "http://client.example/plain"
	if _, err := local.Begin(local.ctx, r); err == nil {
		t.Error("http of another machine was taken")
	}
	none := begin(t, nil)
	r.ClientID = id
	if _, err := none.Begin(none.ctx, r); err == nil || !strings.Contains(err.Error(), "register") {
		t.Errorf("without documents: %v", err)
	}
}

func TestRegisteredMetadata(t *testing.T) {
	w := begin(t, nil)
	m, err := w.Register(w.ctx, []byte(`{"client_name":"  An\u202eapp\u0007\n two `+
		`","client_uri":"javascript:alert(1)","redirect_uris":["https://app.example/callback"],
		"token_endpoint_auth_method":"client_secret_post","client_id":"mine","scope":"admin","client_secret":"x",`+
		`"unknown":{"a":[1]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "Anapp two" || m.URI != "" || m.AuthMethod != "none" || m.ClientID == "mine" ||
		m.Scope != "mcp:read mcp:write" || m.IssuedAt == 0 {
		t.Errorf("registered %+v", m)
	}
	long, err := w.Register(w.ctx, []byte(fmt.Sprintf(`{"client_name":%q,"redirect_uris":["https://app.example/callback"]}`,
		strings.Repeat("漢", 500))))
	if err != nil || utf8.RuneCountInString(long.Name) != 100 || !strings.HasSuffix(long.Name, "…") {
		t.Errorf("a long name became %q, %v", long.Name, err)
	}
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf("https://app.example/%d", i)
	}
	uris, err := json.Marshal(many)
	if err != nil {
		t.Fatal(err)
	}
	for body, code := range map[string]string{
		`{}`:                     oauth.InvalidRedirectURI,
		`{"redirect_uris":[]}`:   oauth.InvalidRedirectURI,
		`{"redirect_uris":[""]}`: oauth.InvalidRedirectURI,
		`{"redirect_uris":[1]}`:  oauth.InvalidClientMetadata,
		`[]`:                     oauth.InvalidClientMetadata,
		``:                       oauth.InvalidClientMetadata,
		`{"redirect_uris":["https://app.example/cb"],` +
			`"grant_types":["client_credentials"]}`: oauth.InvalidClientMetadata,
		`{"redirect_uris":["https://app.example/cb"],"response_types":["token"]}`: oauth.InvalidClientMetadata,
		`{"redirect_uris":` + string(uris) +
			`}`: oauth.InvalidRedirectURI,
		`{"redirect_uris":["https://app.example/cb"],"x":"` + strings.Repeat("x", oauth.MaxMetadata) +
			`"}`: oauth.InvalidClientMetadata,
	} {
		_, err := w.Register(w.ctx, []byte(body))
		var e *oauth.Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%.60s: %v, want %s", body, err, code)
		}
	}
}

// FuzzParseMetadata checks that whatever is taken can be shown and redirected to.
func FuzzParseMetadata(f *testing.F) {
	f.Add([]byte(`{"client_name":"x","redirect_uris":["https://app.example/cb","http://127.0.0.1/","a.b:/c"],` +
		`"client_uri":"https://x.example"}`))
	f.Add([]byte(`{"client_name":"\u202e<b>","redirect_uris":["HTTPS://[::1]:1/?#"]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := oauth.ParseMetadata(body)
		if err != nil {
			var e *oauth.Error
			if !errors.As(err, &e) || strings.ContainsFunc(e.Description,
				func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
				t.Errorf("refused with %q", err)
			}
			return
		}
		if utf8.RuneCountInString(m.Name) > 100 || strings.ContainsAny(m.Name, "\n\r\t\u202e\x00") {
			t.Errorf("name %q", m.Name)
		}
		for _, u := range m.RedirectURIs {
			parsed, err := url.Parse(u)
			if err != nil || parsed.Scheme == "" || parsed.Fragment != "" || strings.ContainsAny(u, "\r\n \\") ||
				parsed.Scheme == "javascript" {
				t.Errorf("redirect URI %q", u)
			}
		}
	})
}
