package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/session"
	"github.com/mnemehq/mneme/transports/codec"
	"github.com/mnemehq/mneme/transports/console"
)

// server is the console over a real engine, store and index.
type server struct {
	*testing.T
	*httptest.Server
	store    *coretest.Store
	index    *coretest.Index
	embedder *coretest.Embedder
	engine   *engine.Engine
	folder   string     // that sources may read
	key      key.Issued // of an administrator of every organization
}

func serve(t *testing.T, change func(*console.Options), engines ...func(*server, *engine.Config)) *server {
	t.Helper()
	inner, index := coretest.Open(t, t.TempDir())
	s := &server{T: t, store: &coretest.Store{DocumentStore: inner},
		index: &coretest.Index{Index: index, IndexHooks: &coretest.IndexHooks{}}}
	embedder := coretest.NewEmbedder()
	s.embedder = embedder
	made := engine.Config{Store: s.store, Sessions: &session.Settings{},
		Indexes: map[port.Retriever]port.Index{port.Vector: s.index, port.Keyword: s.index, port.SparseTerms: s.index},
		Models:  engine.Models{Embedder: embedder, All: []port.Model{embedder}}, Version: "test", Configuration: "data_dir: x\n"}
	for _, change := range engines {
		change(s, &made)
	}
	var err error
	s.engine, err = engine.Open(t.Context(), made)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.engine.Keys().EnsureDefault(t.Context()); err != nil {
		t.Fatal(err)
	}
	o := console.Options{Set: s.engine.Set(), Sessions: s.engine.Sessions(), Version: "test", Refusal: 1}
	if change != nil {
		change(&o)
	}
	handlers, err := console.Handlers(o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range handlers {
		mux.Handle(pattern, h)
	}
	mux.HandleFunc("GET /docs", func(http.ResponseWriter, *http.Request) {})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(ident.WithRequestID(r.Context(), "test"))) // for the store's hooks
	}))
	t.Cleanup(func() {
		s.Close()
		s.store.OnView.Clear()
		if err := s.engine.Close(context.Background()); err != nil {
			t.Error(err)
		}
		_ = index.Close()
		_ = inner.Close()
	})
	s.key = s.issue(key.Issue{AllOrganizations: true})
	return s
}

func (s *server) issue(in key.Issue) key.Issued {
	s.Helper()
	if in.Kind == "" {
		in.Kind = ident.Admin
	}
	k, err := s.engine.Keys().Issue(s.Context(), in)
	if err != nil {
		s.Fatal(err)
	}
	return k
}

// callAs calls an operation with a key, as an application does: body is its JSON, path are names and
// values.
func (s *server) callAs(secret, name string, body any, path ...string) {
	s.Helper()
	for _, r := range s.engine.Set().Routes() {
		if r.Spec.Name != name {
			continue
		}
		d, err := codec.NewDecoder(r.In)
		if err != nil {
			s.Fatal(err)
		}
		raw, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		in := codec.Input{Body: raw, Header: func(string) []string { return nil }, Path: func(n string) string {
			for i := 0; i < len(path); i += 2 {
				if path[i] == n {
					return path[i+1]
				}
			}
			return ""
		}}
		_, err = r.Endpoint(s.Context(), &op.Call{Spec: &r.Spec, Transport: "test", Reply: &op.Reply{},
			Credential: op.Credential{Bearer: secret},
			Decode:     func(_ context.Context, dst any) error { return d.Decode(in, dst) }})
		if err != nil {
			s.Fatalf("%s: %v", name, err)
		}
		return
	}
	s.Fatalf("there is no operation %s", name)
}

// browser keeps cookies and does not follow redirects.
type browser struct {
	*server
	http.Client
	header http.Header
}

func (s *server) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &browser{server: s, header: http.Header{}, Client: http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// signedIn is a browser with a session of a key.
func (s *server) signedIn(secret string) *browser {
	s.Helper()
	b := s.browser()
	if a := b.post("/console/session", url.Values{"key": {secret}}); a.StatusCode != http.StatusSeeOther {
		s.Fatalf("signing in answered %d: %s", a.StatusCode, a.text)
	}
	return b
}

// answer is what a browser got.
type answer struct {
	*http.Response
	body string
	text string // of the page, without its elements
	page *html.Node
}

func (b *browser) do(method, at string, form url.Values) answer {
	b.Helper()
	kind := ""
	if form != nil {
		kind = "application/x-www-form-urlencoded"
	}
	return b.request(method, at, strings.NewReader(form.Encode()), kind)
}

func (b *browser) request(method, at string, content io.Reader, kind string) answer {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.URL+at, content)
	if err != nil {
		b.Fatal(err)
	}
	r.Header = b.header.Clone()
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	if host := b.header.Get("Host"); host != "" {
		r.Host = host
	}
	res, err := b.Client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	a := answer{Response: res, body: string(body)}
	if a.page, err = html.Parse(strings.NewReader(a.body)); err != nil {
		b.Fatal(err)
	}
	var words []string
	for n := range a.page.Descendants() {
		if n.Type == html.TextNode && strings.TrimSpace(n.Data) != "" {
			if n.PrevSibling != nil && n.PrevSibling.Data == "wbr" { // the word goes on
				words[len(words)-1] += strings.TrimSpace(n.Data)
				continue
			}
			words = append(words, strings.TrimSpace(n.Data))
		}
	}
	a.text = strings.Join(words, " ")
	return a
}

func (b *browser) get(at string) answer                   { b.Helper(); return b.do("GET", at, nil) }
func (b *browser) post(at string, form url.Values) answer { b.Helper(); return b.do("POST", at, form) }

// want fails unless the answer has the status and its page the texts.
func (a answer) want(t *testing.T, status int, texts ...string) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s answered %d, want %d: %s", a.Request.Method, a.Request.URL, a.StatusCode, status, a.text)
	}
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			t.Errorf("%s %s lacks %q: %s", a.Request.Method, a.Request.URL, text, a.text)
		}
	}
	return a
}

// leads is the path that an answer redirects to.
func (a answer) leads(t *testing.T) string {
	t.Helper()
	to, err := a.Request.URL.Parse(a.Header.Get("Location"))
	if err != nil || a.StatusCode != http.StatusSeeOther || to.Host != a.Request.URL.Host {
		t.Fatalf("%s %s answered %d to %q (%v)", a.Request.Method, a.Request.URL, a.StatusCode, a.Header.Get("Location"), err)
	}
	return to.RequestURI()
}

func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// hidden is the value of a field that is sent and not shown; "": there is none.
func (a answer) hidden(name string) string {
	for _, n := range a.elements("input") {
		kind, _ := attribute(n, "type")
		if is, _ := attribute(n, "name"); kind == "hidden" && is == name {
			value, _ := attribute(n, "value")
			return value
		}
	}
	return ""
}

func (a answer) elements(name string) (out []*html.Node) {
	for n := range a.page.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			out = append(out, n)
		}
	}
	return out
}

// proper fails on what no page may have.
func (a answer) proper(t *testing.T) {
	t.Helper()
	where := a.Request.URL.RequestURI()
	ids, labelled := map[string]bool{}, map[string]bool{}
	level := 0
	for n := range a.page.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, x := range n.Attr {
			if x.Key == "style" || strings.HasPrefix(x.Key, "on") || strings.HasPrefix(strings.TrimSpace(x.Val), "javascript:") {
				t.Errorf("%s: inline %s=%q", where, x.Key, x.Val)
			}
		}
		if id, ok := attribute(n, "id"); ok {
			if ids[id] {
				t.Errorf("%s: id %q twice", where, id)
			}
			ids[id] = true
		}
		if of, ok := attribute(n, "for"); ok {
			labelled[of] = true
		}
		switch n.Data {
		case "style":
			t.Errorf("%s: an inline style sheet", where)
		case "script":
			if _, ok := attribute(n, "src"); !ok {
				t.Errorf("%s: an inline script", where)
			}
		case "h1", "h2", "h3", "h4":
			if next := int(n.Data[1] - '0'); next > level+1 {
				t.Errorf("%s: a heading of level %d after one of %d", where, next, level)
			} else {
				level = next
			}
		}
	}
	for _, name := range []string{"input", "select", "textarea"} {
		for _, n := range a.elements(name) {
			kind, _ := attribute(n, "type")
			id, _ := attribute(n, "id")
			if _, said := attribute(n, "aria-label"); kind != "hidden" && !said && !labelled[id] {
				t.Errorf("%s: a field without a label: %v", where, n.Attr)
			}
		}
	}
	for _, name := range []string{"aria-describedby", "aria-labelledby"} {
		for n := range a.page.Descendants() {
			for of := range strings.FieldsSeq(func() string { s, _ := attribute(n, name); return s }()) {
				if !ids[of] {
					t.Errorf("%s: %s names %q, which is not there", where, name, of)
				}
			}
		}
	}
	if n := len(a.elements("h1")); n != 1 {
		t.Errorf("%s: %d headings of the first level", where, n)
	}
	policy := a.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
		!strings.Contains(policy, "require-trusted-types-for 'script'") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("%s: policy %q", where, policy)
	}
	if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: headers %v", where, a.Header)
	}
}

// crawl visits every page that links lead to from one on, checks each, and gives their texts by
// path.
func (b *browser) crawl(from string) map[string]answer {
	b.Helper()
	seen, todo := map[string]answer{}, []string{from}
	titles := map[string]string{}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if _, ok := seen[at]; ok {
			continue
		}
		a := b.get(at)
		for a.StatusCode == http.StatusSeeOther {
			a = b.get(a.leads(b.T))
		}
		seen[at] = a
		if a.StatusCode != http.StatusOK {
			b.Errorf("%s answered %d: %s", at, a.StatusCode, a.text)
			continue
		}
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || strings.HasPrefix(at, "/docs") {
			continue
		}
		a.proper(b.T)
		path := a.Request.URL.Path
		title := a.elements("title")[0].FirstChild.Data
		if other, ok := titles[title]; ok && other != path {
			b.Errorf("%s and %s have one title: %s", path, other, title)
		}
		titles[title] = path
		for element, name := range map[string]string{"a": "href", "link": "href", "script": "src", "img": "src"} {
			for _, n := range a.elements(element) {
				link, _ := attribute(n, name)
				to, err := a.Request.URL.Parse(link)
				if err != nil || to.Host != a.Request.URL.Host {
					b.Errorf("%s leads to %q (%v)", at, link, err)
					continue
				}
				todo = append(todo, to.RequestURI())
			}
		}
	}
	return seen
}

func TestAPersonSignsInAndOut(t *testing.T) {
	s := serve(t, nil)
	b := s.browser()
	asked := b.get("/console/o/default/n?prefix=a").leads(t)
	if asked != "/console/sign-in?return="+url.QueryEscape("o/default/n?prefix=a") {
		t.Fatalf("it leads to %s", asked)
	}
	page := b.get(asked).want(t, 200, "Admin key")
	page.proper(t)
	back := ""
	for _, n := range page.elements("input") {
		if name, _ := attribute(n, "name"); name == "return" {
			back, _ = attribute(n, "value")
		}
	}
	in := b.post("/console/session", url.Values{"key": {" " + s.key.Secret + "\n"}, "return": {back}})
	if to := in.leads(t); to != "/console/o/default/n?prefix=a" {
		t.Errorf("after signing in it leads to %s", to)
	}
	cookie := in.Cookies()[0]
	if cookie.Name != "mneme" || !cookie.HttpOnly || cookie.Secure || cookie.SameSite != http.SameSiteStrictMode ||
		cookie.Path != "/" || cookie.MaxAge < 11*3600 || cookie.MaxAge > 12*3600 || strings.Contains(in.body, s.key.Secret) {
		t.Errorf("the cookie is %+v", cookie)
	}
	if to := b.get("/console").leads(t); to != "/console/o/default" {
		t.Errorf("the console begins at %s", to)
	}
	if to := b.get("/console/sign-in?return=models").leads(t); to != "/console/models" {
		t.Errorf("who is signed in is led to %s", to)
	}
	again := b.post("/console/session", url.Values{"key": {s.key.Secret}}) // the old session does not live on
	if again.Cookies()[0].Value == cookie.Value {
		t.Error("a new session has the token of the old one")
	}
	old := s.browser()
	old.header.Set("Cookie", "mneme="+cookie.Value)
	old.get("/console/models").want(t, 401, "the session has ended", "Sign in")

	last := again.Cookies()[0]
	if to := b.post("/console/session/end", url.Values{}).leads(t); to != "/console/sign-in" {
		t.Errorf("after signing out it leads to %s", to)
	}
	old.header.Set("Cookie", "mneme="+last.Value)
	old.get("/console/models").want(t, 401, "Sign in")
}

// A form that is sent when its session has ended is shown again once there is one, without its secrets, and does nothing
// by itself.
func TestAFormOfASessionThatHasEnded(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	sent := url.Values{"name": {"<third> one"}, "password": {"hush"}, "secrets.token": {"hush"}, "do": {""}}
	again := s.signedIn(s.key.Secret)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range again.Jar.Cookies(at) {
		if err := s.engine.Sessions().End(t.Context(), c.Value); err != nil {
			t.Fatal(err)
		}
	}
	asked := again.post("/console/organizations", sent).want(t, 401, "the session has ended", "What you have sent was not done")
	asked.proper(t)
	kept := asked.hidden("kept")
	if strings.Contains(kept, "hush") || !strings.Contains(kept, "third") {
		t.Errorf("kept is %q", kept)
	}
	wrong := again.post("/console/session", url.Values{"key": {"adm-x"}, "return": {"organizations"}, "kept": {kept}})
	if wrong.want(t, 403, "not accepted"); wrong.hidden("kept") != kept {
		t.Errorf("after a wrong key %q is kept", wrong.hidden("kept"))
	}
	in := again.post("/console/session", url.Values{"key": {s.key.Secret}, "return": {"organizations"}, "kept": {kept}})
	in.want(t, 200, "Signed in again", "<third> one", "Send it now", "Organizations").proper(t)
	b.get("/console/organizations").want(t, 200)
	if strings.Contains(b.get("/console/organizations").text, "third") {
		t.Error("it was done by itself")
	}
	again.post("/console/organizations", url.Values{"name": {in.hidden("name")}}).want(t, 422)
	for _, c := range []url.Values{{"return": {"organizations"}, "kept": {"%zz"}}, {"return": {"organizations"}, "kept": {""}},
		{"return": {"https://evil.example"}, "kept": {kept}}} {
		c.Set("key", s.key.Secret)
		if to := s.browser().post("/console/session", c).leads(t); strings.Contains(to, "evil") {
			t.Errorf("%v leads to %s", c, to)
		}
	}
}

func TestALinkOpensTheConsole(t *testing.T) {
	s := serve(t, nil)
	code, err := s.engine.Sessions().Link(t.Context(), s.key.Org, s.key.ID)
	if err != nil {
		t.Fatal(err)
	}
	b := s.signedIn(code)
	b.get("/console/o/default").want(t, 200, "Nothing is stored yet")
	s.browser().post("/console/session", url.Values{"key": {code}}).want(t, 403, "not accepted")
}

// Where a sign-in leads is a page of the console, whatever the form says.
func TestNobodyIsLedElsewhere(t *testing.T) {
	s := serve(t, nil)
	for _, to := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example",
		"javascript:alert(1)",
		"../../docs", "o/../../x", "/docs", "sign-in", strings.Repeat("a", 5000), "%zz", "a\nb"} {
		b := s.browser()
		if at := b.post("/console/session", url.Values{"key": {s.key.Secret}, "return": {to}}).leads(t); at != "/console" {
			t.Errorf("%q leads to %s", fmt.Sprintf("%.40s", to), at)
		}
	}
}

func TestKeysThatDoNotSignIn(t *testing.T) {
	s := serve(t, nil)
	b := s.browser()
	for secret, text := range map[string]string{
		"":            "Enter an admin key",
		"adm-nothing": "This key was not accepted",
		s.issue(key.Issue{Kind: ident.Service}).Secret: "This is a key of an application",
	} {
		status := 403
		if secret == "" {
			status = 422
		}
		a := b.post("/console/session", url.Values{"key": {secret}, "return": {"models"}}).want(t, status, text)
		a.proper(t)
		if len(a.Cookies()) > 0 || secret != "" && strings.Contains(a.body, secret) {
			t.Errorf("%q: %v", secret, a.Cookies())
		}
	}
}

func TestTriesToSignInAreCounted(t *testing.T) {
	var mu sync.Mutex
	tries := map[string]int{}
	s := serve(t, func(o *console.Options) {
		o.Allow = func(_ context.Context, from string, r console.Rate) bool {
			mu.Lock()
			defer mu.Unlock()
			tries[r.Name+" "+from]++
			return tries[r.Name+" "+from] <= r.PerMinute
		}
	})
	b := s.browser()
	for range 10 {
		b.post("/console/session", url.Values{"key": {"adm-x"}}).want(t, 403)
	}
	a := b.post("/console/session", url.Values{"key": {s.key.Secret}}).want(t, 429, "too many tries")
	if a.Header.Get("Retry-After") == "" || len(a.Cookies()) > 0 {
		t.Errorf("headers: %v", a.Header)
	}
	if tries["console_address 127.0.0.1"] != 11 || tries["console_all "] != 10 {
		t.Errorf("counted %v", tries)
	}
}

// A key is never asked for where others could read it.
func TestSigningInNeedsAnEncryptedWay(t *testing.T) {
	s := serve(t, nil)
	b := s.browser()
	b.header.Set("Host", "mneme.example:8080")
	b.get("/console/sign-in").want(t, 403, "not encrypted")
	a := b.post("/console/session", url.Values{"key": {s.key.Secret}}).want(t, 403, "not encrypted")
	if len(a.Cookies()) > 0 || len(a.elements("input")) > 1 { // that of the theme's form
		t.Errorf("it asks all the same: %s", a.body)
	}
	for _, host := range []string{"localhost:1", "127.0.0.1", "[::1]:8080", "app.localhost"} {
		b.header.Set("Host", host)
		b.get("/console/sign-in").want(t, 200)
	}

	s = serve(t, func(o *console.Options) { o.BaseURL = "https://mneme.example/base/" })
	b = s.browser()
	b.header.Set("Host", "mneme.example")
	b.get("/console/sign-in").want(t, 200)
	c := b.post("/console/session", url.Values{"key": {s.key.Secret}}).Cookies()[0]
	if c.Name != "__Host-mneme" || !c.Secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" {
		t.Errorf("the cookie is %+v", c)
	}
	b.header.Set("Cookie", "__Host-mneme="+c.Value)
	b.get("/console/models").want(t, 200, "curl")
	if !strings.Contains(b.get("/console/models").body, "https://mneme.example/base/models") {
		t.Error("the calls are not those of the base URL")
	}
	b.header.Set("Cookie", "mneme="+c.Value) // without the prefix anybody's subdomain could have set it
	b.get("/console/models").want(t, 303)
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	s := serve(t, nil)
	for _, h := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"https://evil.example"}}, {"Origin": {"null"}}} {
		b := s.browser()
		b.header = h
		for _, at := range []string{"/console/session", "/console/session/end", "/console/theme"} {
			a := b.post(at, url.Values{"key": {s.key.Secret}, "theme": {"dark"}}).want(t, 403, "another site")
			if len(a.Cookies()) > 0 {
				t.Errorf("%v: %s set %v", h, at, a.Cookies())
			}
		}
	}
	b := s.browser()
	b.header = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {s.URL}}
	b.post("/console/session", url.Values{"key": {s.key.Secret}}).want(t, 303)
}

func TestNetworksThatMayNot(t *testing.T) {
	for _, c := range []struct {
		networks, header, sent string
		status                 int
	}{
		{"127.0.0.0/8", "", "", 200},
		{"10.0.0.0/8", "", "", 403},
		{"10.0.0.0/8", "", "10.1.2.3", 403}, // a header that no proxy is known for
		{"10.0.0.0/8", "X-Forwarded-For", "10.1.2.3", 200},
		{"10.0.0.0/8", "X-Forwarded-For", "10.1.2.3, 192.168.0.1", 403},
		{"10.0.0.0/8", "X-Forwarded-For", "nonsense", 403},
		{"2001:db8::/32", "X-Forwarded-For", "2001:db8::1", 200},
		{"2001:db8::/32", "X-Forwarded-For", "[2001:db8::1]:99", 200},
		{"10.0.0.0/8", "X-Forwarded-For", "::ffff:10.1.2.3", 200},
	} {
		s := serve(t, func(o *console.Options) {
			o.AllowedNetworks, o.AddressHeader = []netip.Prefix{netip.MustParsePrefix(c.networks)}, c.header
		})
		b := s.browser()
		if c.sent != "" {
			b.header.Set("X-Forwarded-For", c.sent)
		}
		b.get("/console/sign-in").want(t, c.status)
		if a := b.post("/console/session", url.Values{"key": {s.key.Secret}}); (a.StatusCode == 303) != (c.status == 200) {
			t.Errorf("%+v: signing in answered %d", c, a.StatusCode)
		}
	}
}

func TestTheThemeIsKept(t *testing.T) {
	s := serve(t, nil)
	b := s.browser()
	theme := func() string {
		v, _ := attribute(b.get("/console/sign-in").elements("html")[0], "data-theme")
		return v
	}
	for _, want := range []string{"dark", "light", ""} {
		chosen := b.post("/console/theme", url.Values{"theme": {want}, "return": {"sign-in?return=models"}})
		if to := chosen.leads(t); to != "/console" {
			t.Errorf("it leads to %s", to)
		}
		if kept := chosen.Cookies(); len(kept) != 1 || kept[0].MaxAge != map[bool]int{true: -1, false: 31536000}[want == ""] {
			t.Errorf("of the theme %q is kept %v", want, kept)
		}
		if got := theme(); got != want {
			t.Errorf("the theme is %q, want %q", got, want)
		}
	}
	b.header.Set("Cookie", `mneme-theme="><script>`)
	if got := theme(); got != "" {
		t.Errorf("the theme is %q", got)
	}
}

// Every link of every page leads to a page, at the root and below a path.
func TestEveryPageIsProperAndLeadsSomewhere(t *testing.T) {
	s := serve(t, nil)
	seen := s.signedIn(s.key.Secret).crawl("/console")
	for _, at := range []string{"/console/o/default", "/console/o/default/n", "/console/models", "/console/health"} {
		if _, ok := seen[at]; !ok {
			t.Errorf("nothing leads to %s", at)
		}
	}
	below := httptest.NewServer(http.StripPrefix("/some/where", s.Config.Handler))
	defer below.Close()
	s.URL = below.URL
	b := s.browser()
	b.post("/some/where/console/session", url.Values{"key": {s.key.Secret}}).want(t, 303)
	for at := range b.crawl("/some/where/console") {
		if !strings.HasPrefix(at, "/some/where/") {
			t.Errorf("a page below a path leads to %s", at)
		}
	}
}

func TestWhatIsNotThere(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.get("/console/nothing").want(t, 404, "no such page", "Back to the overview").proper(t)
	b.get("/console/o/absent/n").want(t, 404, `no organization "absent"`).proper(t)
	b.get("/console/o/%3Cscript%3Ealert(1)%3C%2Fscript%3E/n").want(t, 404).proper(t)
	if a := b.post("/console/models", url.Values{}).want(t, 405); !strings.Contains(a.Header.Get("Allow"), "GET") {
		t.Errorf("Allow: %s", a.Header.Get("Allow"))
	}
	b.get("/console/static/0/console.css").want(t, 404)
	b.get("/console/static/0/absent.css").want(t, 404)
	s.browser().get("/console/nothing").want(t, 404)

	b.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)
	for at, org := range map[string]string{"/console/nothing": "default", "/console/o/acme/n/absent": "acme"} {
		a := b.get(at).want(t, 404)
		if title := a.elements("title")[0].FirstChild.Data; !strings.Contains(title, " "+org+" ") {
			t.Errorf("what is not there of %s has the title %s", org, title)
		}
	}
}

// Files are kept for ever under the hash of what is in them, and sent compressed to whom
// understands that.
func TestFilesOfThePages(t *testing.T) {
	s := serve(t, nil)
	b := s.browser()
	b.Transport = &http.Transport{DisableCompression: true}
	weight := 0
	for at := range b.crawl("/console/sign-in") {
		if !strings.Contains(at, "/static/") {
			continue
		}
		b.header.Del("Accept-Encoding")
		plain := b.get(at).want(t, 200)
		b.header.Set("Accept-Encoding", "gzip, br")
		zipped := b.get(at).want(t, 200)
		b.header.Del("Accept-Encoding")
		weight += len(zipped.body)
		if !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") || plain.Header.Get("Content-Type") == "" ||
			zipped.Header.Get("Content-Encoding") != "gzip" || len(zipped.body) == 0 ||
			plain.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %v, %v", at, plain.Header, zipped.Header)
		}
	}
	if weight == 0 || weight > 40<<10 { // of the 60 KB that a page may take
		t.Errorf("the files take %d bytes", weight)
	}
}

// A part that fails is named, and the rest of the page is there.
func TestAFailingPart(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	b.get("/console/o/default").want(t, 200)
	s.store.FailUpdates(1000, fmt.Errorf("the disk is gone"))
	b.get("/console/models").want(t, 200, "test-embedder")
	s.store.OnUpdate.Clear()
	s.store.OnView.Set(func() error { return fmt.Errorf("a secret of the database") })
	a := b.get("/console/models").want(t, 500, "could not answer")
	a.proper(t)
	if strings.Contains(a.body, "secret") {
		t.Error("the page shows the cause")
	}
}

// What a page shows of its calls is what it did.
func TestPagesShowTheirCalls(t *testing.T) {
	s := serve(t, nil)
	b := s.signedIn(s.key.Secret)
	a := b.get("/console/o/default/n?prefix=it%27s&cursor=").want(t, 200, "No namespace begins with it's")
	for _, text := range []string{
		`curl -s '` + s.URL + `/namespaces?limit=50&prefix=it%27s' -H "Authorization: Bearer $MNEME_KEY"`,
		`await fetch("` + s.URL + `/namespaces?limit=50&prefix=it%27s", {`,
		"Authorization: `Bearer ${process.env.MNEME_KEY}`",
		`requests.get(`,
	} {
		if !strings.Contains(a.text, text) {
			t.Errorf("the page lacks %q: %s", text, a.text)
		}
	}
	if strings.Contains(a.body, "mnss_") || strings.Contains(a.body, s.key.Secret) {
		t.Error("the page shows a secret")
	}
	b.get("/console/o/default").want(t, 200, "$MNEME_ADMIN_KEY") // of failed jobs
}
