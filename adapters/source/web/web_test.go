package web_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/outbound/outboundtest"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/adapters/source/sourcetest"
	"github.com/mnemehq/mneme/adapters/source/web"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// TestCrawl: links are followed within the host, each page once under one key, however
// its URL is written; what is no page is passed over.
func TestCrawl(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "a", "./x/../a#part", strings.ToUpper("http")+s.url[4:]+"/a?utm_source=x&fbclid=1",
		"/b?q=1&gclid=2&r=3", "/b;jsessionid=12AB", "/b?utm%5fsource=x",
		"mailto:me@example.com", "javascript:void(0)", "http://elsewhere.example/", "picture.PNG", "/film", "/missing",
		"/doc.pdf", "http://[::1",
		"http://me:secret@"+s.url[7:]+"/user")
	s.page("/a", "page a", "/", "/deep/er")
	s.page("/b", "page b")
	s.page("/b?q=1&r=3", "page b with a question")
	s.page("/deep/er", "deep", "../up")
	s.page("/up", "up")
	s.page("/user", "user")
	s.set("/film", answer{head: map[string]string{"Content-Type": "video/mp4"}, body: "moving"})
	s.set("/doc.pdf", answer{head: map[string]string{"Content-Type": "application/pdf"}, body: "%PDF-1.7"})
	l := s.list(nil, nil)
	l.wants(true, "/", "/a", "/b", "/b?q=1&r=3", "/deep/er", "/up", "/doc.pdf")
	want := []string{"/", "/a", "/b", "/b?q=1&r=3", "/deep/er", "/doc.pdf", "/film", "/missing", "/up"}
	if got := s.requests(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("asked for %q", got)
	}
	if len(l.problems) > 0 || len(l.gone) > 0 {
		t.Errorf("%v, gone %v", l.problems, l.gone)
	}
	item := l.items["/a"]
	if item.Name != "page a" || item.URL != s.url+"/a" || item.Content.File.MediaType != markup.HTMLType ||
		item.Content.Version != item.Version {
		t.Errorf("%+v", item)
	}
	if f := l.items["/doc.pdf"].Content.File; f.Name != "doc.pdf" || f.MediaType != "application/pdf" ||
		string(f.Content) != "%PDF-1.7" {
		t.Errorf("%+v", f)
	}
	// A listing is bounded by depth: a chain ends after ten links.
	chain := newSite(t)
	for i := range 15 {
		chain.page(fmt.Sprintf("/%d", i), "page", fmt.Sprintf("/%d", i+1))
	}
	l = chain.list(map[string]any{"start_url": chain.url + "/0"}, nil)
	if len(l.items) != 11 || !l.snapshot {
		t.Errorf("%d pages of a chain, snapshot: %v", len(l.items), l.snapshot)
	}
}

// TestWhatAPageSays: its main part alone, as it is read; in any charset.
func TestWhatAPageSays(t *testing.T) {
	prose := strings.Repeat("The lighthouse keeper writes down what the weather was like, and who came by. ", 12)
	in := func(e *charmap.Charmap, page string) string {
		t.Helper()
		out, err := e.NewEncoder().String(page)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, c := range map[string]struct {
		page string
		head map[string]string
		want string
		not  string
	}{
		"main": {page: `<body><header>top</header><main><h1>Said</h1><p>this</p></main><footer>end</footer>`,
			want: "# Said\n\nthis"},
		"role": {page: `<body><div>top</div><div role="main"><p>this</p></div>`, want: "this"},
		"articles": {page: `<body><p>top</p><article>one<article>reply</article></article><article>two</article>`,
			want: "one\n\nreply\n\ntwo"},
		"readable": {page: `<body><div class="menu"><a href=/x>menu</a></div><div class="content"><p>` + prose + `</p><p>` +
			prose + `</p></div>` +
			`<div class="footer">imprint</div>`, want: "lighthouse", not: "imprint"},
		"short": {page: `<body><p>Just this.</p><p>And that.</p>`, want: "Just this.\n\nAnd that."},
		"latin": {page: in(charmap.ISO8859_1, "<head><meta charset=iso-8859-1><title>Ça</title></head><main>où était</main>"),
			want: "où était"},
		"koi8": {page: in(charmap.KOI8R, "<title>маяк</title><main>смотритель маяка</main>"),
			head: map[string]string{"Content-Type": "text/html; charset=koi8-r"}, want: "смотритель маяка"},
		"bom":      {page: "\ufeff<main>mark</main>", want: "mark"},
		"no media": {page: "<main>plain</main>", head: map[string]string{"Content-Type": ""}, want: "plain"},
		"xhtml": {page: "<main>strict</main>", head: map[string]string{"Content-Type": "application/xhtml+xml"},
			want: "strict"},
		"escaped": {page: `<html lang='a"b'><title>&lt;script&gt;</title><main>1 &lt; 2</main>`, want: "1 < 2"},
	} {
		s := newSite(t)
		s.set("/", answer{body: c.page, head: c.head})
		l := s.list(nil, nil)
		got, _, err := markup.HTML([]byte(l.text("/")), "utf-8")
		if err != nil || !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if len(c.want) > 12 && got != c.want && c.not == "" {
			t.Errorf("%s: %q and no more, got %q", name, c.want, got)
		}
	}
	s := newSite(t)
	s.set("/", answer{body: `<html lang="en-GB"><head><title> A
		title </title><meta name="description" content="What it is about">
		<meta property="article:published_time" content="2025-01-02T03:04:05Z">
		<meta property="article:modified_time" content="2025-02-02T03:04:05+01:00">
		</head><body><main>x</main>`, head: map[string]string{"Last-Modified": "Sun, 01 Mar 2026 12:00:00 GMT"}})
	item := s.list(nil, nil).items["/"]
	if item.Name != "A title" || item.Content.Metadata["description"] != "What it is about" ||
		item.Content.Metadata["language"] != "en-GB" ||
		!item.Modified.Equal(time.Date(2025, 2, 2, 2, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v, %+v", item, item.Content.Metadata)
	}
}

// TestVersion: a page's version is of what it says, whatever else changes about it.
func TestVersion(t *testing.T) {
	s := newSite(t)
	version := func(body string, head map[string]string) string {
		t.Helper()
		s.set("/", answer{body: body, head: head})
		s.known = map[string]string{}
		v := s.list(nil, nil).items["/"].Version
		if len(v) == 0 || len(v) > 256 {
			t.Errorf("a version of %d bytes", len(v))
		}
		return v
	}
	one := version(`<title>t</title><main><p class="a1">text</p></main>`, nil)
	if two := version(`<title>t</title><script>nonce=7</script><main><p class="b2">text</p><!-- noon --></main>`+
		`<footer>9:41</footer>`, nil); two != one {
		t.Errorf("%q and %q", one, two)
	}
	for _, other := range []string{`<title>u</title><main><p>text</p></main>`, `<title>t</title><main><p>text!</p></main>`,
		`<html lang=de><title>t</title><main><p>text</p></main>`,
		`<title>t</title><meta name=description content=d><main><p>text</p></main>`,
		`<title>t</title><meta property="article:modified_time" content="2025-02-02T03:04:05Z"><main><p>text</p></main>`} {
		if version(other, nil) == one {
			t.Errorf("%s has the version of another", other)
		}
	}
	same := `<title>t</title><main><p>text</p></main>`
	for _, head := range []map[string]string{{"ETag": `W/"abc"`}, {"Last-Modified": "Sun, 01 Mar 2026 12:00:00 GMT"}} {
		if v := version(same, head); v == one || !strings.HasPrefix(v, one) {
			t.Errorf("%v: %q", head, v)
		}
	}
	if v := version(same, map[string]string{"ETag": `"` + strings.Repeat("x", 200) + `"`}); v != one {
		t.Errorf("a long ETag: %q", v)
	}
}

// TestAgain: a crawl that follows another asks for what it found, and reads what changed.
func TestAgain(t *testing.T) {
	s := newSite(t)
	tag := func(path, version, text string, links ...string) {
		s.set(path, answer{body: html(text, "", links...), head: map[string]string{"ETag": `"` + version + `"`}})
	}
	tag("/", "1", "home", "/a", "/b", "/gone", "/flaky")
	tag("/a", "1", "a", "/a/deep")
	tag("/a/deep", "1", "deep")
	tag("/b", "1", "b")
	tag("/gone", "1", "gone")
	s.set("/flaky", answer{status: 500})
	began := s.clock.Now()
	first := s.list(nil, nil)
	first.wants(false, "/", "/a", "/a/deep", "/b", "/gone")
	if p := first.problems["/flaky"]; p.Code != port.SourceUnavailable {
		t.Errorf("%v", first.problems)
	}
	s.requests()
	s.remove("/gone")
	tag("/flaky", "1", "flaky")
	tag("/b", "2", "b anew", "/b/new")
	tag("/b/new", "1", "new")
	s.heads = nil
	second := s.list(nil, first.last())
	second.wants(false, "/", "/a", "/a/deep", "/b", "/b/new", "/flaky")
	if !slices.Equal(second.gone, []string{"/gone"}) || len(second.problems) > 0 {
		t.Errorf("gone: %q, %v", second.gone, second.problems)
	}
	for path, brought := range map[string]bool{"/": true, "/a": false, "/a/deep": false, "/b": true, "/b/new": true,
		"/flaky": true} {
		if i := second.items[path]; (i.Content != nil) != brought || i.Key == "" || !brought && i.Size != -1 {
			t.Errorf("%s: %+v", path, i)
		}
		if same := second.items[path].Version == first.items[path].Version; same != (path == "/" || strings.HasPrefix(path,
			"/a")) {
			t.Errorf("%s: the version %q was %q", path, second.items[path].Version, first.items[path].Version)
		}
	}
	// From another configuration's state, or after a week, all is read from the start.
	tag("/b", "3", "b again")
	if l := s.list(map[string]any{"max_pages": 99}, second.last()); !l.snapshot {
		t.Errorf("another configuration: %v", l.problems)
	}
	if l := s.list(nil, second.last()); l.snapshot || l.items["/b/new"].Key == "" {
		t.Error("what nothing leads to any more, and is there, is not gone yet")
	}
	s.clock.mu.Lock()
	s.clock.now = began.Add(7 * 24 * time.Hour)
	s.clock.mu.Unlock()
	s.list(nil, second.last()).wants(true, "/", "/a", "/a/deep", "/b", "/flaky")
}

// TestGoingOn: a crawl that broke off goes on from each of its states, and the end is
// that of a whole one; a failure before it is not forgotten.
func TestGoingOn(t *testing.T) {
	s := newSite(t)
	s.other = func(path string) (answer, bool) {
		var n int
		if _, err := fmt.Sscanf(path, "/%d", &n); err != nil || n >= 100 {
			return answer{}, false
		}
		return answer{body: html(fmt.Sprint("page ", n), "", fmt.Sprintf("/%d", 2*n+1), fmt.Sprintf("/%d", 2*n+2))}, true
	}
	fields := map[string]any{"start_url": s.url + "/0"}
	broke := errors.New("broken off")
	first, err := s.try(fields, nil, func(l *listed) error {
		if len(l.items) == 61 {
			return broke
		}
		return nil
	})
	if !errors.Is(err, broke) || first.complete || len(first.states) != 3 {
		t.Fatalf("%v, %d states", err, len(first.states))
	}
	for i, state := range first.states {
		rest := s.list(fields, state)
		if want := 100 - 20*(i+1); len(rest.items) < want-1 || len(rest.items) > want+1 || !rest.snapshot {
			t.Errorf("from state %d: %d pages, snapshot: %v", i, len(rest.items), rest.snapshot)
		}
		for path := range rest.items {
			if slices.Contains(first.order[:20*i], path) {
				t.Errorf("from state %d, %s came again", i, path)
			}
		}
	}
	s.set("/3", answer{status: 503})
	failed, err := s.try(fields, nil, func(l *listed) error {
		if len(l.items) == 30 {
			return broke
		}
		return nil
	})
	if !errors.Is(err, broke) {
		t.Fatal(err)
	}
	s.remove("/3")
	if rest := s.list(fields, failed.last()); rest.snapshot {
		t.Error("a page that could not be had before the break is forgotten")
	} else if again := s.list(fields, rest.last()); again.items["/3"].Key == "" {
		t.Error("and is not asked for again")
	}
}

// TestRobots: what robots.txt and pages do not allow is not read, and not kept.
func TestRobots(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "/private/x", "/public/x", "/a?print=1", "/noindex", "/none", "/hidden", "/rel")
	s.set("/", answer{body: strings.Replace(html("home", "", "/private/x", "/private/open", "/a?print=1", "/noindex", "/none",
		"/head"),
		"<nav>", `<nav><a rel="external nofollow" href="/rel">there</a>`, 1)})
	for _, path := range []string{"/private/x", "/private/open", "/a?print=1", "/rel", "/behind", "/never", "/unseen"} {
		s.page(path, path)
	}
	s.set("/noindex", answer{body: html("n", `<meta name="ROBOTS" content="NoIndex, follow">`, "/behind")})
	s.set("/none", answer{body: html("n", `<meta name="mneme" content="none">`, "/never")})
	s.set("/head", answer{body: html("n", "", "/unseen"),
		head: map[string]string{"X-Robots-Tag": "otherbot: noarchive, mneme: noindex, nofollow"}})
	robots := "\ufeffDisallow: /\nCrawl-delay: 9\nUser-agent: *\nDisallow: /\n\n" +
		"User-agent: Mneme/2.0 # us\nCrawl-delay: nonsense\n" +
		"Disallow: /private/\nAllow: /private/open\nDisallow: /*print=\nCrawl-delay: 4\nUnknown: x\nno colon\n"
	s.set("/robots.txt", answer{body: robots})
	for _, path := range []string{"/private/x", "/noindex"} {
		s.known[s.url+path] = "old"
	}
	began := s.clock.Now()
	l := s.list(nil, nil)
	l.wants(true, "/", "/private/open", "/behind")
	asked := s.requests()
	if slices.Contains(asked, "/private/x") || slices.Contains(asked, "/a?print=1") || slices.Contains(asked, "/rel") ||
		slices.Contains(asked, "/never") {
		t.Errorf("asked for %q", asked)
	}
	slices.Sort(l.gone)
	if !slices.Equal(l.gone, []string{"/noindex", "/private/x"}) {
		t.Errorf("gone: %q", l.gone)
	}
	if took := s.clock.Now().Sub(began); took != time.Duration(len(asked)-1)*4*time.Second+4*time.Second {
		t.Errorf("%d requests took %v", len(asked), took)
	}
	s.list(map[string]any{"robots": false}, nil).wants(true, "/", "/private/x", "/private/open", "/a?print=1", "/noindex",
		"/none", "/head",
		"/rel", "/behind", "/never", "/unseen")

	// It is read once a day.
	count := func() (n int) {
		for _, p := range s.asked {
			if p == "/robots.txt" {
				n++
			}
		}
		return n
	}
	s.requests()
	if s.list(nil, nil); count() != 0 {
		t.Error("robots.txt was read again")
	}
	if err := s.clock.Sleep(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	s.set("/robots.txt", answer{body: "User-agent: *\nDisallow: /\n\nUser-agent: mneme\nDisallow:\n"})
	if l := s.list(nil, nil); count() != 1 || l.items["/private/x"].Key == "" {
		t.Errorf("a day later it was read %d times", count())
	}
	if err := s.clock.Sleep(t.Context(), 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	s.set("/robots.txt", answer{body: "User-agent: *\nDisallow: /\n"})
	_, err := s.try(nil, nil, nil)
	sourcetest.WantCode(t, err, port.SourceForbidden, "robots.txt")
	_, err = s.web.Fetch(t.Context(), s.connection(nil), port.SourceItem{Key: s.url + "/rel"})
	sourcetest.WantCode(t, err, port.SourceForbidden, "robots.txt")
}

// TestRobotsUnknown: without a robots.txt all is allowed; while nobody knows, nothing is.
func TestRobotsUnknown(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		code   port.SourceCode // empty: all is allowed
	}{{404, "", ""}, {401, "", ""}, {403, "", ""}, {410, "", ""}, {200, "<html>no such page</html>", ""}, {200,
		"User-agent: *\nDisallow: " +
			strings.Repeat("/x", 5000), ""}, {500, "", port.SourceUnavailable}, {503, "", port.SourceUnavailable}} {
		s := newSite(t)
		s.page("/", "home")
		s.set("/robots.txt", answer{status: c.status, body: c.body})
		l, err := s.try(nil, nil, nil)
		if c.code == "" {
			if err != nil || len(l.items) != 1 {
				t.Errorf("%d: %v", c.status, err)
			}
			continue
		}
		sourcetest.WantCode(t, err, c.code, "robots.txt")
		if len(l.items) > 0 || len(s.requests()) > 0 {
			t.Errorf("%d: the site was asked", c.status)
		}
		s.remove("/robots.txt")
		if _, err := s.try(nil, nil, nil); err != nil {
			t.Errorf("%d: it is not asked for again: %v", c.status, err)
		}
	}
	down := newSite(t)
	down.page("/", "home")
	down.set("/robots.txt", answer{do: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }})
	_, err := down.try(nil, nil, nil)
	sourcetest.WantCode(t, err, port.SourceUnavailable, "robots.txt")
	hostile := newSite(t)
	hostile.page("/", "home")
	hostile.set("/robots.txt", answer{body: "User-agent: *\n" + strings.Repeat("Disallow: /*a*b*c$\n", 20_000)})
	hostile.list(nil, nil).wants(true, "/")
}

// TestStatuses: 404 and 410 are gone; other failures are problems, and prove nothing.
func TestStatuses(t *testing.T) {
	for status, code := range map[int]port.SourceCode{404: "", 410: "", 401: port.SourceCredentials, 403: port.SourceForbidden,
		500: port.SourceUnavailable, 503: port.SourceUnavailable} {
		for _, known := range []bool{false, true} {
			s := newSite(t)
			s.page("/", "home", "/x", "/y")
			s.page("/y", "y")
			s.set("/x", answer{status: status})
			if known {
				s.known[s.url+"/x"] = "old"
			}
			l := s.list(nil, nil)
			l.wants(code == "", "/", "/y")
			if p := l.problems["/x"]; p.Code != code || code != "" && !strings.Contains(p.Message, fmt.Sprint(status)) {
				t.Errorf("%d: %+v", status, p)
			}
			if gone := len(l.gone) == 1; gone != (known && code == "") {
				t.Errorf("%d, known %v: gone %q", status, known, l.gone)
			}
		}
	}
	s := newSite(t)
	s.page("/", "home", "/x", "/y")
	s.set("/x", answer{status: 429, head: map[string]string{"Retry-After": "7200"}})
	_, err := s.try(nil, nil, nil)
	sourcetest.WantCode(t, err, port.SourceRateLimited, "429")
	var failed *port.SourceError
	if errors.As(err, &failed) && failed.RetryAfter != 2*time.Hour {
		t.Errorf("after %v", failed.RetryAfter)
	}
	// A site that answers nothing any more is left alone.
	down := newSite(t)
	down.page("/", "home", "/1", "/2", "/3", "/4", "/5", "/6", "/7")
	down.other = func(string) (answer, bool) { return answer{status: 502}, true }
	l, err := down.try(map[string]any{"robots": false}, nil, nil)
	sourcetest.WantCode(t, err, port.SourceUnavailable, "5 pages in a row")
	if n := len(down.requests()); n != 6 || len(l.problems) != 4 {
		t.Errorf("%d requests, problems: %v", n, l.problems)
	}
	for status, code := range map[int]port.SourceCode{404: port.SourceNotFound, 500: port.SourceUnavailable,
		401: port.SourceCredentials} {
		down.set("/", answer{status: status})
		l, err := down.try(map[string]any{"robots": false}, nil, nil)
		if sourcetest.WantCode(t, err, code, fmt.Sprint(status)); l.complete {
			t.Errorf("%d: a site that is not there was listed as an empty one", status)
		}
	}
}

// TestRedirects: a page is where it is found; where the old place leads for good it is
// gone, and for the time being nothing is proven.
func TestRedirects(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "/old", "/moved", "/for-now", "/away", "/away-now", "/loop", "/lost", "/known-now")
	s.set("/old", redirect("/new?utm_medium=x#top", 301))
	s.set("/moved", redirect("/new", 308))
	s.page("/new", "new")
	s.page("/new?utm_medium=x", "new")
	s.set("/for-now", redirect("/later", 302))
	s.page("/later", "later")
	s.set("/known-now", redirect("/login?next=known-now", 302))
	s.page("/login?next=known-now", "login")
	s.set("/away", redirect("http://elsewhere.example/", 301))
	s.set("/away-now", redirect("http://elsewhere.example/", 307))
	s.set("/lost", redirect("/nowhere", 302))
	s.set("/loop", redirect("/loop", 301))
	for _, path := range []string{"/old", "/away", "/away-now", "/lost", "/known-now"} {
		s.known[s.url+path] = "old"
	}
	l := s.list(nil, nil)
	l.wants(false, "/", "/new", "/later", "/login?next=known-now")
	slices.Sort(l.gone)
	if !slices.Equal(l.gone, []string{"/away", "/lost", "/old"}) {
		t.Errorf("gone: %q", l.gone)
	}
	for path, code := range map[string]port.SourceCode{"/away-now": port.SourceForbidden, "/known-now": port.SourceForbidden,
		"/loop": port.SourceUnavailable} {
		if l.problems[path].Code != code {
			t.Errorf("%s: %+v", path, l.problems[path])
		}
	}
	if len(l.problems) != 3 {
		t.Errorf("%v", l.problems)
	}
	// The site is where its first page leads to.
	other := newSite(t)
	other.page("/", "there", "/x")
	other.page("/x", "x", s.url+"/new")
	front := newSite(t, func(p *polite.Settings) { p.Private = nil })
	front.set("/", redirect(other.url+"/", 301))
	_, err := front.try(nil, nil, nil)
	sourcetest.WantCode(t, err, port.SourceForbidden, "not a public one")
	other.set("/start", redirect(strings.Replace(other.url, "127.0.0.1", "[::ffff:127.0.0.1]", 1)+"/", 302))
	l = other.list(map[string]any{"start_url": other.url + "/start"}, nil)
	if len(l.items) != 2 || !l.snapshot {
		t.Errorf("%v, %v", l.order, l.problems)
	}
}

// TestCanonical: of several URLs of a page one is kept, unless that one is no page.
func TestCanonical(t *testing.T) {
	s := newSite(t)
	to := func(path, canonical string, links ...string) {
		s.set(path, answer{body: html(path, `<link rel="alternate canonical" href="`+canonical+`">`, links...)})
	}
	s.page("/", "home", "/a?view=1", "/a?view=2", "/self", "/dead?x", "/slash/", "/ring1", "/away?x", "/later?x", "/later")
	to("/a?view=1", "/a", "/from-alias")
	to("/a?view=2", "/a")
	to("/a", "/a?utm_source=self")
	to("/self", s.url+"/self")
	to("/dead?x", "/dead")
	to("/slash/", "/slash")
	s.set("/slash", redirect("/slash/", 301))
	to("/ring1", "/ring2")
	to("/ring2", "/ring1")
	to("/away?x", "http://elsewhere.example/x")
	to("/later?x", "/later")
	to("/later", "/later")
	s.page("/from-alias", "found")
	s.known[s.url+"/a?view=1"] = "old"
	s.known[s.url+"/later?x"] = "old"
	s.known[s.url+"/dead?x"] = "old"
	l := s.list(nil, nil)
	l.wants(true, "/", "/a", "/self", "/dead?x", "/slash/", "/ring2", "/away?x", "/later", "/from-alias")
	slices.Sort(l.gone)
	if !slices.Equal(l.gone, []string{"/a?view=1", "/later?x"}) {
		t.Errorf("gone: %q", l.gone)
	}
	s.known = map[string]string{s.url + "/a?view=2": "old"}
	if l := s.list(nil, nil); !slices.Equal(l.gone, []string{"/a?view=2"}) {
		t.Errorf("gone: %q", l.gone)
	}
}

// TestTraps: a site without an end is read up to its limits, says so, and nothing is
// deleted for it.
func TestTraps(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "/calendar?day=0", "/grow/", "/repeat?p=1", "/page")
	s.page("/page", "page")
	s.other = func(path string) (answer, bool) {
		var day int
		switch n, _ := fmt.Sscanf(path, "/calendar?day=%d", &day); {
		case n == 1: // each day leads to three more
			return answer{body: html("day", "", fmt.Sprintf("?day=%d", 3*day+1), fmt.Sprintf("?day=%d", 3*day+2),
				fmt.Sprintf("?day=%d", 3*day+3))}, true
		case strings.HasPrefix(path, "/grow"):
			return answer{body: html("grow", "", "more/"+strings.Repeat("x", 100)+"/")}, true
		case strings.HasPrefix(path, "/repeat"):
			return answer{body: html("again", "", path+"&P=1")}, true
		}
		return answer{}, false
	}
	l := s.list(nil, nil)
	count := map[string]int{}
	for path := range l.items {
		count[path[:min(len(path), 4)]]++
	}
	if count["/cal"] != 100 || count["/gro"] != 6 || count["/rep"] != 5 || count["/pag"] != 1 || l.snapshot {
		t.Errorf("%v, snapshot: %v", count, l.snapshot)
	}
	if p, ok := l.problems["/calendar"]; !ok || p.Code != port.SourceTooLarge || !strings.Contains(p.Message, "100 pages") ||
		len(l.problems) != 1 {
		t.Errorf("%v", l.problems)
	}
	if again := s.list(nil, l.last()); len(again.items) > len(l.items) {
		t.Errorf("%d pages have become %d", len(l.items), len(again.items))
	}

	// More pages than are wanted: some of them, and no proof.
	wide := newSite(t)
	var links []string
	for i := range 40 {
		links = append(links, fmt.Sprintf("/%d", i))
		wide.page(links[i], "page")
	}
	wide.page("/", "home", links...)
	fields := map[string]any{"max_pages": 30}
	l = wide.list(fields, nil)
	if p := l.problems["/"]; len(l.items) != 30 || l.snapshot || p.Code != port.SourceTooLarge || !strings.Contains(p.Message,
		"30 pages") {
		t.Errorf("%d pages, snapshot %v, %v", len(l.items), l.snapshot, l.problems)
	}
	if again := wide.list(fields, l.last()); len(again.items) != 30 || len(again.problems) != 1 || again.snapshot {
		t.Errorf("again: %d pages, snapshot %v, %v", len(again.items), again.snapshot, again.problems)
	}
	// As many as are wanted are all.
	if l := wide.list(map[string]any{"max_pages": 41}, nil); len(l.items) != 41 || !l.snapshot {
		t.Errorf("%d pages, %v", len(l.items), l.problems)
	}
	// Links that lead nowhere end, too, and so do pages with too many of them.
	dead := newSite(t)
	dead.set("/", answer{body: html("home", "", func() (links []string) {
		for i := range 6000 {
			links = append(links, fmt.Sprintf("/%d", i))
		}
		return links
	}()...)})
	l = dead.list(map[string]any{"max_pages": 3}, nil)
	if n := len(dead.requests()); n > 120 || l.snapshot {
		t.Errorf("%d requests, snapshot: %v", n, l.snapshot)
	}
}

// TestHostilePages: what is too large, too slow or no page at all harms nothing but itself.
func TestHostilePages(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(bytes.Repeat([]byte("<p>"), 1<<20)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(p *polite.Settings) { p.MaxBytes = 2 << 20 })
	s.page("/", "home", "/bomb", "/huge", "/big", "/nested", "/binary", "/inner")
	s.set("/bomb", answer{do: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/html")
		w.Write(bomb.Bytes())
	}})
	s.set("/huge", answer{body: strings.Repeat("x", 3<<20),
		head: map[string]string{"Last-Modified": "Sun, 01 Mar 2026 12:00:00 GMT"}})
	s.set("/big", answer{body: "<main>" + strings.Repeat("long ", 300_000)})
	s.set("/nested", answer{body: "<main>" + strings.Repeat("<div>", 100_000) + "deep"})
	s.set("/binary", answer{body: "\x00\xff\xfe<main>\x00"})
	s.set("/inner", redirect("http://127.0.0.1:1/admin", 301))
	l := s.list(map[string]any{"same_host": false}, nil)
	l.wants(false, "/", "/bomb", "/huge", "/big", "/nested", "/binary")
	if p := l.problems["/inner"]; p.Code != port.SourceForbidden || !strings.Contains(p.Message, "its port is not allowed") ||
		len(l.problems) != 1 {
		t.Errorf("%v", l.problems)
	}
	for _, path := range []string{"/bomb", "/huge", "/big"} {
		i := l.items[path]
		if i.Content != nil || i.Version == "" {
			t.Errorf("%s: %+v", path, i)
		}
		c, err := s.web.Fetch(t.Context(), s.connection(nil), i)
		if path == "/big" {
			if err != nil || c.Version != i.Version || !strings.Contains(string(c.File.Content), "long long") {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		sourcetest.WantCode(t, err, port.SourceTooLarge, "2097152 bytes")
	}
	large := newSite(t)
	large.set("/", answer{body: "<main>" + strings.Repeat("text ", 11<<20/5)})
	l = large.list(nil, nil)
	if i := l.items["/"]; i.Size != -1 {
		t.Errorf("a page of unknown size has %d bytes", i.Size)
	}
	_, err := large.web.Fetch(t.Context(), large.connection(nil), l.items["/"])
	sourcetest.WantCode(t, err, port.SourceTooLarge, "too many for a page")

	slow := newSite(t, func(p *polite.Settings) { p.Timeout = 50 * time.Millisecond })
	slow.set("/", answer{do: func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<main>a beginning")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}})
	_, err = slow.try(map[string]any{"robots": false}, nil, nil)
	sourcetest.WantCode(t, err, port.SourceUnavailable, "in time")
}

// TestRebinding: a name that leads to this machine once it is asked leads nowhere.
func TestRebinding(t *testing.T) {
	asked := 0
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer private.Close()
	_, at, _ := net.SplitHostPort(private.Listener.Addr().String())
	s := newSite(t, func(p *polite.Settings) { p.Resolver = outboundtest.Resolver(t, "127.0.0.1") })
	s.page("/", "home", "http://rebound.example:"+at+"/", "http://rebound.example/secret", private.URL+"/")
	for _, robots := range []bool{true, false} {
		l := s.list(map[string]any{"same_host": false, "robots": robots}, nil)
		if l.wants(false, "/"); len(l.problems) != 3 {
			t.Errorf("%v", l.problems)
		}
		for path, p := range l.problems {
			if p.Code != port.SourceForbidden || !strings.Contains(path, "127.") && strings.Contains(p.Message, "127.") {
				t.Errorf("%s: %+v", path, p)
			}
		}
	}
	_, err := s.try(map[string]any{"start_url": "http://rebound.example:" + at + "/"}, nil, nil)
	sourcetest.WantCode(t, err, port.SourceForbidden, "its port is not allowed")
	_, err = s.web.Fetch(t.Context(), s.connection(nil), port.SourceItem{Key: private.URL + "/"})
	sourcetest.WantCode(t, err, port.SourceForbidden, "its port is not allowed")
	if asked != 0 {
		t.Errorf("%d requests came in", asked)
	}
}

// TestSitemap: an index, packed files and lists of lines lead to pages; a page that has
// not changed costs no body, and one that left is gone.
func TestSitemap(t *testing.T) {
	s := newSite(t)
	urlset := func(paths ...string) string {
		var b strings.Builder
		b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` +
			`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">`)
		for _, p := range paths {
			fmt.Fprintf(&b,
				"<url><loc>\n %s </loc><lastmod>2026-01-01</lastmod>"+
					"<image:image><image:loc>%s/i.png</image:loc></image:image></url>",
				strings.ReplaceAll(s.url+p, "&", "&amp;"), s.url)
		}
		return b.String() + "</urlset>"
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(urlset("/c", "/d"))); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	s.set("/sitemap.xml", answer{body: `<x:sitemapindex xmlns:x="y"><x:sitemap><x:loc>` + s.url +
		`/one.xml</x:loc></x:sitemap><x:sitemap><x:loc>` +
		s.url + `/two.xml.gz</x:loc></x:sitemap><x:sitemap><x:loc>` + s.url + `/three.txt</x:loc></x:sitemap></x:sitemapindex>`})
	s.set("/one.xml", answer{body: urlset("/a", "/b?x=1&y=2", "/a#again", "/missing")})
	s.set("/two.xml.gz", answer{body: packed.String(), head: map[string]string{"Content-Type": "application/gzip"}})
	s.set("/three.txt", answer{body: "\ufeff" + s.url + "/e\r\nhttp://elsewhere.example/\n\nnot a url %zz\n" + s.url +
		"/moved\n"})
	for _, p := range []string{"/a", "/b?x=1&y=2", "/c", "/d", "/e", "/f"} {
		s.set(p, answer{body: html("page "+p, `<link rel=canonical href="/">`, "/linked"),
			head: map[string]string{"ETag": `"1"`}})
	}
	s.set("/moved", redirect("/f", 301))
	s.set("/robots.txt", answer{body: "User-agent: *\nDisallow: /*.xml\n"})
	fields := map[string]any{"sitemap": s.url + "/sitemap.xml"}
	l := s.list(fields, nil)
	l.wants(true, "/a", "/b?x=1&y=2", "/c", "/d", "/e", "/f")
	if slices.Contains(s.requests(), "/linked") {
		t.Error("links of pages are followed")
	}
	s.set("/c", answer{body: html("changed", ""), head: map[string]string{"ETag": `"2"`}})
	s.set("/two.xml.gz", answer{body: urlset("/c")})
	again := s.list(fields, l.last())
	again.wants(true, "/a", "/b?x=1&y=2", "/c", "/e", "/f")
	for path, i := range again.items {
		if brought := i.Content != nil; brought != (path == "/c" || path == "/f") ||
			(i.Version == l.items[path].Version) != (path != "/c") {
			t.Errorf("%s: %+v, was %q", path, i, l.items[path].Version)
		}
	}
	// A part that cannot be read, or more than is wanted: what is there, and no proof.
	s.set("/one.xml", answer{status: 500})
	part := s.list(fields, nil)
	if part.wants(false, "/c", "/e", "/f"); part.problems["/one.xml"].Code != port.SourceUnavailable {
		t.Errorf("%v", part.problems)
	}
	s.set("/one.xml", answer{body: urlset("/a")})
	some := s.list(map[string]any{"sitemap": s.url + "/sitemap.xml", "max_pages": 2}, nil)
	if p := some.problems["/sitemap.xml"]; len(some.items) != 2 || some.snapshot || p.Code != port.SourceTooLarge {
		t.Errorf("%v, %v", some.order, some.problems)
	}
	// A page that is gone is, though the sitemap has it, and whatever else failed.
	s.remove("/a")
	s.set("/e", answer{status: 500})
	if l := s.list(fields, nil); !slices.Equal(l.gone, []string{"/a"}) || l.snapshot {
		t.Errorf("gone: %q", l.gone)
	}
}

// TestSitemapGoesOn: from each state on, whatever has come and gone since.
func TestSitemapGoesOn(t *testing.T) {
	s := newSite(t)
	lines := ""
	for i := range 70 {
		lines += fmt.Sprintf("%s/%02d\n", s.url, 69-i)
	}
	s.set("/sitemap.txt", answer{body: lines})
	s.other = func(path string) (answer, bool) { return answer{body: html("page "+path, "")}, path != "/robots.txt" }
	fields := map[string]any{"sitemap": s.url + "/sitemap.txt"}
	whole := s.list(fields, nil)
	if len(whole.items) != 70 || len(whole.states) != 4 {
		t.Fatalf("%d pages, %d states", len(whole.items), len(whole.states))
	}
	s.set("/sitemap.txt", answer{body: lines + s.url + "/00a\n" + s.url + "/99\n"})
	for i, left := range []int{51, 31, 11, 72} {
		l := s.list(fields, whole.states[i])
		if len(l.items) != left || !l.snapshot {
			t.Errorf("from state %d: %d pages, snapshot: %v", i, len(l.items), l.snapshot)
		}
	}
	// What failed before the break is not forgotten.
	s.set("/05", answer{status: 500})
	failed := s.list(fields, nil)
	s.remove("/05")
	if l := s.list(fields, failed.states[0]); l.snapshot || len(l.problems) > 0 {
		t.Error("a page that could not be had before the break is forgotten")
	}
	if l := s.list(fields, failed.last()); !l.snapshot {
		t.Errorf("and it is never forgiven: %v", l.problems)
	}
}

// TestNoSitemap: what is no sitemap is no empty site.
func TestNoSitemap(t *testing.T) {
	s := newSite(t)
	s.page("/", "home")
	fields := map[string]any{"sitemap": s.url + "/sitemap.xml"}
	for name, c := range map[string]struct {
		answer answer
		code   port.SourceCode
		says   string
	}{
		"page":      {answer{body: "<html><head></head></html>"}, port.SourceUnavailable, "no sitemap"},
		"cut off":   {answer{body: "<urlset><url><loc>" + s.url + "/</loc></url>"}, port.SourceUnavailable, "no sitemap"},
		"text":      {answer{body: "We are closed today."}, port.SourceUnavailable, "no sitemap"},
		"elements":  {answer{body: "<urlset><url><loc><b>x</b></loc></url></urlset>"}, port.SourceUnavailable, "no sitemap"},
		"bad gzip":  {answer{body: "\x1f\x8bnot gzip"}, port.SourceUnavailable, "no sitemap"},
		"missing":   {answer{status: 404}, port.SourceNotFound, "404"},
		"forbidden": {answer{status: 403}, port.SourceForbidden, "403"},
		"others": {answer{body: "<urlset><url><loc>http://elsewhere.example/</loc></url></urlset>"}, port.SourceConfig,
			"same_host"},
	} {
		s.set("/sitemap.xml", c.answer)
		l, err := s.try(fields, nil, nil)
		sourcetest.WantCode(t, err, c.code, c.says)
		if l.complete {
			t.Errorf("%s is complete", name)
		}
	}
	s.set("/sitemap.xml", answer{body: "<urlset></urlset>"})
	s.list(fields, nil).wants(true)
	// Files that lead to each other end.
	s.other = func(path string) (answer, bool) {
		index := "<sitemapindex>"
		for i := range 300 {
			index += fmt.Sprintf("<sitemap><loc>%s%s%d</loc></sitemap>", s.url, path, i)
		}
		return answer{body: index + "</sitemapindex>"}, path != "/robots.txt"
	}
	s.remove("/sitemap.xml")
	s.requests()
	l := s.list(fields, nil)
	if n := len(s.requests()); n != 200 || l.snapshot || len(l.problems) != 1 {
		t.Errorf("%d requests, snapshot: %v, %v", n, l.snapshot, l.problems)
	}
}

// TestSitemapBomb: no more of a packed sitemap is read than one may have.
func TestSitemapBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks fifty megabytes")
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	chunk := bytes.Repeat([]byte(" "), 1<<20)
	for range 51 {
		if _, err := z.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.set("/sitemap.xml", answer{body: bomb.String()})
	_, err := s.try(map[string]any{"sitemap": s.url + "/sitemap.xml"}, nil, nil)
	sourcetest.WantCode(t, err, port.SourceTooLarge, "unpacked")
}

// TestCheck: what cannot work, by its field.
func TestCheck(t *testing.T) {
	s := newSite(t)
	s.page("/", "home")
	s.set("/image", answer{body: "x", head: map[string]string{"Content-Type": "image/png"}})
	s.set("/down", answer{status: 503})
	s.set("/sitemap.xml", answer{body: "<urlset><url><loc>" + s.url + "/</loc></url></urlset>"})
	for raw, want := range map[string]string{
		`{"start_url":"` + s.url + `/"}`:                                      "",
		`{"sitemap":"` + s.url + `/sitemap.xml"}`:                             "",
		`{"start_url":"` + s.url + `/","max_pages":1}`:                        "",
		`{"start_url":"` + s.url + `/","max_pages":10000}`:                    "",
		`{"start_url":"` + s.url + `/missing"}`:                               "config.start_url",
		`{"start_url":"` + s.url + `/image"}`:                                 "config.start_url",
		`{"sitemap":"` + s.url + `/missing"}`:                                 "config.sitemap",
		`{"start_url":"http://127.0.0.1:1/"}`:                                 "config.start_url",
		`{"start_url":"ftp://example.com/"}`:                                  "config.start_url",
		`{"start_url":"http://u:p@example.com/"}`:                             "config.start_url",
		`{"start_url":"https://x.example/` + strings.Repeat("x", 2000) + `"}`: "config.start_url",
		`{}`: "config.start_url",
		`{"start_url":"` + s.url + `/","sitemap":"` + s.url + `/sitemap.xml"}`: "config.sitemap",
		`{"start_url":"` + s.url + `/","max_pages":0}`:                         "config.max_pages",
		`{"start_url":"` + s.url + `/","max_pages":10001}`:                     "config.max_pages",
		`{"start_url":"` + s.url + `/","max_pages":"x"}`:                       "config.max_pages",
		`[]`: "config",
	} {
		problems, err := s.web.Check(t.Context(), port.Connection{Config: json.RawMessage(raw)})
		if want == "" && (err != nil || len(problems) > 0) || want != "" && (len(problems) != 1 || problems[0].Field != want ||
			problems[0].Message == "") {
			t.Errorf("%s: %v, %v", raw, problems, err)
		}
	}
	_, err := s.web.Check(t.Context(), port.Connection{Config: json.RawMessage(`{"start_url":"` + s.url + `/down"}`)})
	sourcetest.WantCode(t, err, port.SourceUnavailable, "503")
	_, err = s.web.Check(t.Context(), port.Connection{Config: json.RawMessage(`{"sitemap":"` + s.url + `/"}`)})
	sourcetest.WantCode(t, err, port.SourceUnavailable, "no sitemap")
}

// TestManyRules: of rules with wildcards so many count, and pauses are as exact as they are said.
func TestManyRules(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "/a1", "/b1")
	s.page("/a1", "a")
	s.page("/b1", "b")
	s.set("/robots.txt", answer{body: "User-agent: *\nCrawl-delay: 2.25\n" +
		strings.Repeat("Disallow: /x*\n", 999) + "Disallow: /a*\nDisallow: /b*\n"})
	before := s.clock.Now()
	s.list(nil, nil).wants(true, "/", "/b1")
	if passed := s.clock.Now().Sub(before); passed%(2250*time.Millisecond) != 0 || passed == 0 {
		t.Errorf("it paused for %s", passed)
	}
}

// TestNestedSitemaps: sitemaps lead to others so deep, and as many pages as may be listed prove
// that there are no more.
func TestNestedSitemaps(t *testing.T) {
	s := newSite(t)
	at := func(root, entry string, paths ...string) {
		body := "<" + root + ">"
		for _, p := range paths {
			body += "<" + entry + "><loc>" + s.url + p + "</loc></" + entry + ">"
		}
		s.set("/"+root+fmt.Sprint(len(s.at))+".xml", answer{body: body + "</" + root + ">"})
	}
	at("sitemapindex", "sitemap", "/sitemapindex1.xml")
	at("sitemapindex", "sitemap", "/sitemapindex2.xml", "/urlset4.xml")
	at("sitemapindex", "sitemap", "/urlset3.xml")
	at("urlset", "url", "/too-deep")
	at("urlset", "url", "/a", "/b")
	s.page("/a", "a")
	s.page("/b", "b")
	l := s.list(map[string]any{"sitemap": s.url + "/sitemapindex0.xml", "max_pages": 2}, nil)
	l.wants(true, "/a", "/b")
	if asked := s.requests(); slices.Contains(asked, "/urlset3.xml") || !slices.Contains(asked, "/sitemapindex2.xml") {
		t.Errorf("asked for %q", asked)
	}
}

// TestNamedTraps: of many links that are left out some are named.
func TestNamedTraps(t *testing.T) {
	s := newSite(t)
	var links []string
	for i := range 60 {
		links = append(links, fmt.Sprintf("/%02d", i))
	}
	s.page("/", "home", links...)
	l := s.list(map[string]any{"max_pages": 1}, nil)
	if l.wants(false, "/"); len(l.problems) != 20+1 { // and the site itself, which has more pages than are listed
		t.Errorf("%d links are named: %v", len(l.problems), l.problems)
	}
}

// TestFrames: links count from the page's base, a Content-Type need not be right, and what a page
// has to say is in one frame.
func TestFrames(t *testing.T) {
	s := newSite(t)
	s.set("/", answer{body: html("home", `<base href="/deep/">`, "a", "../bare"),
		head: map[string]string{"Content-Type": "text/html; charset=utf-8; charset=utf-8"}})
	s.page("/deep/a", "a")
	s.set("/bare", answer{body: "<html><body>Nothing but this.</body></html>"})
	l := s.list(nil, nil)
	l.wants(true, "/", "/deep/a", "/bare")
	for _, path := range []string{"/", "/bare"} {
		if said := l.text(path); strings.Count(said, "<main>") != 1 || strings.Count(said, "<body>") != 1 {
			t.Errorf("%s: %s", path, said)
		}
	}
}

// TestRegistered: the component reaches what the operator has opened, and its requests take turns with
// those of others that have the same hosts.
func TestRegistered(t *testing.T) {
	s := newSite(t)
	s.page("/", "home")
	r := registry.New()
	hosts := polite.NewHosts()
	web.Register(r, hosts)
	info, ok := r.Source.Component("web")
	if !ok {
		t.Fatal("it is not registered")
	}
	open := func(private ...string) (port.Connector, error) {
		return r.Source.Open(t.Context(), info.Select(), registry.Env{Now: s.clock.Now, Reach: registry.Reach{
			Private: private, MaxItem: 1 << 20, UserAgent: "Mneme/1"}})
	}
	c, err := open(strings.TrimPrefix(s.url, "http://"))
	if err != nil || c.Kind().Name != "web" {
		t.Fatalf("%v, %v", c, err)
	}
	at, err := outbound.ParseNetwork(strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	other := polite.New(polite.Settings{Private: []outbound.Network{at}, Now: s.clock.Now, Sleep: s.clock.Sleep, Hosts: hosts})
	s.set("/busy", answer{status: http.StatusServiceUnavailable, head: map[string]string{"Retry-After": "3600"}})
	if _, err := other.Get(t.Context(), polite.Request{URL: s.url + "/busy"}); err == nil {
		t.Error("it is busy")
	}
	_, err = c.Fetch(t.Context(), s.connection(nil), port.SourceItem{Key: s.url + "/"})
	sourcetest.WantCode(t, err, port.SourceRateLimited, "later")
	if got := s.requests(); !slices.Equal(got, []string{"/busy"}) {
		t.Errorf("asked for %q", got)
	}
	if _, err := open("nowhere"); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
}

// TestFetch: a page alone, as a listing would bring it.
func TestFetch(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "/a")
	s.page("/a", "page a")
	s.set("/image", answer{body: "x", head: map[string]string{"Content-Type": "image/png"}})
	s.set("/away", redirect("http://elsewhere.example/", 301))
	l := s.list(nil, nil)
	for path, i := range l.items {
		c, err := s.web.Fetch(t.Context(), s.connection(nil), port.SourceItem{Key: i.Key})
		if err != nil || c.Version != i.Version || string(c.File.Content) != string(i.Content.File.Content) {
			t.Errorf("%s: %+v, %v", path, c, err)
		}
	}
	for key, code := range map[string]port.SourceCode{s.url + "/gone": port.SourceNotFound, s.url + "/image": port.SourceSkipped,
		s.url + "/away": port.SourceForbidden, "/etc/passwd": port.SourceForbidden, "http://%zz": port.SourceNotFound,
		"http://u:p@" + s.url[7:] + "/": port.SourceForbidden} {
		_, err := s.web.Fetch(t.Context(), s.connection(nil), port.SourceItem{Key: key})
		sourcetest.WantCode(t, err, code, "")
	}
	_, err := s.web.Fetch(t.Context(), port.Connection{Config: json.RawMessage(`{}`)}, port.SourceItem{Key: s.url})
	sourcetest.WantCode(t, err, port.SourceConfig, "start_url")
	if err := s.web.Revoke(t.Context(), s.connection(nil)); err != nil {
		t.Error(err)
	}
}

// TestBounds: what is as long as it may be is taken.
func TestBounds(t *testing.T) {
	s := newSite(t)
	long := "/" + strings.Repeat("x", 2000-len(s.url)-1)
	links := append(slices.Repeat([]string{"/tagged"}, 4997), long, long+"x", "/last", "/beyond")
	s.set("/robots.txt", answer{body: "User-agent: *\nDisallow:" + strings.Repeat(" ", 1990-len("/closed")) + "/closed\n"})
	s.page("/", "home", append([]string{"/closed"}, links...)...)
	for _, path := range []string{"/closed", "/last", "/beyond", long, long + "x"} {
		s.page(path, "page")
	}
	tag := `"` + strings.Repeat("t", 198) + `"`
	s.set("/tagged", answer{body: strings.Repeat("x", 1<<20), head: map[string]string{"ETag": tag,
		"Content-Type": "application/pdf"}})
	l := s.list(nil, nil)
	l.wants(true, "/", "/tagged", long, "/last")
	if i := l.items["/tagged"]; i.Content == nil || !strings.HasSuffix(i.Version, tag) {
		t.Errorf("of a file of 1 MiB: content %v, version %s", i.Content != nil, i.Version)
	}
}

// TestDefaultPorts: a URL that names its scheme's own port is that without it.
func TestDefaultPorts(t *testing.T) {
	s := newSite(t)
	s.set("/map.txt", answer{body: "http://127.0.0.1:80/a\nhttps://127.0.0.1:443/b\nhttp://127.0.0.1:443/c\n" +
		"https://127.0.0.1:80/d\n"})
	l := s.list(map[string]any{"sitemap": s.url + "/map.txt", "same_host": false}, nil)
	want := []string{"http://127.0.0.1/a", "http://127.0.0.1:443/c", "https://127.0.0.1/b", "https://127.0.0.1:80/d"}
	if got := slices.Sorted(maps.Keys(l.problems)); !slices.Equal(got, want) {
		t.Errorf("the pages that can't be read are %q, want %q", got, want)
	}
}

// TestOddHeads: a link of another kind is not the page's own URL, and a media type with parameters
// that can't be read is still that of a page.
func TestOddHeads(t *testing.T) {
	s := newSite(t)
	s.page("/", "home", "/styled")
	s.set("/styled", answer{body: html("styled", `<link rel="alternate" href="/other">`),
		head: map[string]string{"Content-Type": "Text/HTML; charset=utf-8; charset=latin1"}})
	s.page("/other", "other")
	s.list(nil, nil).wants(true, "/", "/styled")
}
