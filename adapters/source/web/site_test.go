package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/adapters/source/web"
	"github.com/mnemehq/mneme/core/port"
)

// clock goes on when somebody sleeps.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
}

// answer is what a site says at a path.
type answer struct {
	status int // 0: 200
	head   map[string]string
	body   string
	do     http.HandlerFunc // instead
}

// site is a real site, and a connector that reaches it and nothing else.
type site struct {
	t      *testing.T
	server *httptest.Server
	url    string
	clock  *clock
	web    *web.Connector

	mu    sync.Mutex
	at    map[string]answer // by path and query
	other func(path string) (answer, bool)
	asked []string
	heads []http.Header
	known map[string]string // versions by key, as a run of the source keeps them
}

func newSite(t *testing.T, change ...func(*polite.Settings)) *site {
	t.Helper()
	s := &site{t: t, at: map[string]answer{}, known: map[string]string{}, clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0,
		time.UTC)}}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.server.Close)
	s.url = s.server.URL
	at, err := outbound.ParseNetwork(s.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	settings := polite.Settings{Private: []outbound.Network{at}, Now: s.clock.Now, Sleep: s.clock.Sleep, Timeout: time.Minute}
	for _, c := range change {
		c(&settings)
	}
	s.web = web.New(polite.New(settings))
	return s
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	path := r.URL.RequestURI()
	s.mu.Lock()
	s.asked = append(s.asked, path)
	s.heads = append(s.heads, r.Header.Clone())
	a, ok := s.at[path]
	other := s.other
	s.mu.Unlock()
	if !ok && other != nil {
		a, ok = other(path)
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if a.do != nil {
		a.do(w, r)
		return
	}
	if w.Header().Set("Content-Type", "text/html; charset=utf-8"); a.body == "" && a.status == 0 {
		a.status = http.StatusNoContent
	}
	for name, value := range a.head {
		w.Header().Set(name, value)
	}
	if tag := w.Header().Get("ETag"); tag != "" && r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	if _, err := io.WriteString(w, a.body); err != nil {
		return // the client has what it wants
	}
}

// set has the site say something at a path.
func (s *site) set(path string, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at[path] = a
}

func (s *site) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, path)
}

// page sets a page with a text and links.
func (s *site) page(path, text string, links ...string) {
	s.set(path, answer{body: html(text, "", links...)})
}

func html(text, head string, links ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><head><title>%s</title>%s</head><body><main><p>%s</p></main><nav>", text, head, text)
	for _, l := range links {
		fmt.Fprintf(&b, "<a href=\"%s\">there</a>", strings.ReplaceAll(l, "&", "&amp;"))
	}
	return b.String() + "</nav></body></html>"
}

func redirect(to string, status int) answer {
	return answer{status: status, head: map[string]string{"Location": to}}
}

// requests are the paths that were asked for since it was last called, without robots.txt.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := slices.DeleteFunc(s.asked, func(p string) bool { return p == "/robots.txt" })
	s.asked = nil
	return asked
}

// connection is one to this site; fields are of its configuration, with start_url / unless
// they have another beginning.
func (s *site) connection(fields map[string]any) port.Connection {
	s.t.Helper()
	fields = maps.Clone(fields)
	if fields == nil {
		fields = map[string]any{}
	}
	if fields["sitemap"] == nil && fields["start_url"] == nil {
		fields["start_url"] = s.url + "/"
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		s.t.Fatal(err)
	}
	return port.Connection{Config: raw, Known: func(_ context.Context, key string) (string, bool, error) {
		v, ok := s.known[key]
		return v, ok, nil
	}}
}

// listed is what a listing said.
type listed struct {
	items    map[string]port.SourceItem // by key without the site's URL
	order    []string
	gone     []string
	problems map[string]port.SourceProblem
	states   [][]byte
	complete bool
	snapshot bool
	site     *site
	stop     func(l *listed) error // after each item
}

func (l *listed) Item(_ context.Context, i port.SourceItem) error {
	path := strings.TrimPrefix(i.Key, l.site.url)
	if _, ok := l.items[path]; ok {
		l.site.t.Errorf("%s was listed twice", path)
	}
	l.items[path] = i
	l.order = append(l.order, path)
	if l.stop != nil {
		return l.stop(l)
	}
	return nil
}

func (l *listed) Gone(_ context.Context, key string) error {
	l.gone = append(l.gone, strings.TrimPrefix(key, l.site.url))
	return nil
}

func (l *listed) Checkpoint(_ context.Context, state []byte) error {
	l.states = append(l.states, slices.Clone(state))
	return nil
}

func (l *listed) Problem(_ context.Context, p port.SourceProblem) error {
	l.problems[strings.TrimPrefix(p.Path, l.site.url)] = p
	return nil
}

func (l *listed) Complete(_ context.Context, snapshot bool) error {
	l.complete, l.snapshot = true, snapshot
	return nil
}

// last is the state of a listing that ended.
func (l *listed) last() []byte { return l.states[len(l.states)-1] }

// list lists the site, and keeps what is found as a run does.
func (s *site) list(fields map[string]any, state []byte) *listed {
	s.t.Helper()
	l, err := s.try(fields, state, nil)
	if err != nil || !l.complete {
		var failed *port.SourceError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w (%v)", err, failed.Err)
		}
		s.t.Fatalf("listing: %v, complete: %v", err, l.complete)
	}
	return l
}

func (s *site) try(fields map[string]any, state []byte, stop func(*listed) error) (*listed, error) {
	s.t.Helper()
	l := &listed{items: map[string]port.SourceItem{}, problems: map[string]port.SourceProblem{}, site: s, stop: stop}
	err := s.web.List(s.t.Context(), s.connection(fields), state, l)
	for _, i := range l.items {
		s.known[i.Key] = i.Version
	}
	for _, path := range l.gone {
		delete(s.known, s.url+path)
	}
	return l, err
}

// wants checks which pages a listing has named, and whether it proves that there are no more.
func (l *listed) wants(snapshot bool, paths ...string) {
	l.site.t.Helper()
	got := slices.Sorted(maps.Keys(l.items))
	slices.Sort(paths)
	if !slices.Equal(got, paths) || l.snapshot != snapshot {
		l.site.t.Errorf("listed %q, want %q; snapshot: %v, want %v; problems: %v", got, paths, l.snapshot, snapshot, l.problems)
	}
}

// text is what was brought along of a page.
func (l *listed) text(path string) string {
	l.site.t.Helper()
	i, ok := l.items[path]
	if !ok || i.Content == nil {
		l.site.t.Fatalf("no content of %q", path)
	}
	return string(i.Content.File.Content)
}
