package web

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
)

const (
	maxInline   = 1 << 20     // bytes of a page that a listing brings along
	maxFailures = 5           // pages in a row without an answer, after which a site is taken to be down
	saveAfter   = 20          // requests between two checkpoints
	saveEach    = time.Minute // or this
)

// errElsewhere says that a URL is of none of the site's hosts.
var errElsewhere = errors.New("it is on another host")

// listing is one listing of a site, or what of it a check or a fetch needs.
type listing struct {
	w   *Connector
	cfg config
	c   port.Connection
	out port.SourceListing

	hosts   map[string]bool // of the site
	opening bool            // the first page is asked for: where it redirects to is the site
	seen    map[string]bool // URLs that were or will be asked for
	// leave decides whether a page is left to its canonical URL. nil: none is.
	leave    func(t target, p *page, a *polite.Answer) bool
	state    state
	listed   int
	requests int
	failures int // in a row
	saved    time.Time
}

func (w *Connector) listing(cfg config, c port.Connection, l port.SourceListing) *listing {
	s := &listing{w: w, cfg: cfg, c: c, out: l, hosts: map[string]bool{}, seen: map[string]bool{}, saved: w.client.Now()}
	_, at := cfg.root()
	if u, err := url.Parse(at); err == nil {
		if u, ok := normalize(u); ok {
			s.hosts[u.Host] = true
		}
	}
	return s
}

// inside reports whether a URL is of the site.
func (s *listing) inside(u *url.URL) bool { return !s.cfg.sameHost() || s.hosts[u.Host] }

// before decides about each request: see polite.Request.
func (s *listing) before(ctx context.Context, to *url.URL) (time.Duration, error) {
	at, ok := normalize(to)
	switch {
	case s.opening && ok:
		s.hosts[at.Host] = true
	case !ok || !s.inside(at):
		return 0, errElsewhere
	}
	if !s.cfg.robots() {
		return 0, nil
	}
	return s.w.robots.allow(ctx, to)
}

// open asks for the page that a crawl starts from. Without it there is no site.
func (s *listing) open(ctx context.Context) (*polite.Answer, error) {
	s.opening = true
	defer func() { s.opening = false }()
	a, err := s.w.client.Get(ctx, polite.Request{URL: s.cfg.StartURL, Accept: accept, Before: s.before, Want: wanted})
	switch {
	case errors.Is(err, errDisallowed):
		return nil, port.SourceErrorf(port.SourceForbidden, err, "%s", err.Error())
	case errors.Is(err, errElsewhere):
		return nil, port.SourceErrorf(port.SourceForbidden, err, "it redirects to what is not a URL of a page")
	case err != nil:
		return nil, err
	case a.Unwanted:
		return nil, port.SourceErrorf(port.SourceConfig, nil, "it is no page")
	}
	return a, nil
}

// parse reads the page of an answer.
func (s *listing) parse(a *polite.Answer) (*page, error) {
	media, _ := mediaType(a.Header)
	if isPage(media) && len(a.Body) > maxPage {
		return nil, port.SourceErrorf(port.SourceTooLarge, nil, "it has more than %d bytes, too many for a page", maxPage)
	}
	return parsePage(a.URL, a.Header, a.Body, s.cfg.robots()), nil
}

// visit asks for a page, with ask only if it has changed, and tells the listing what
// became of it. The page is nil where none was read.
func (s *listing) visit(ctx context.Context, t target, ask bool) (*page, error) {
	known, ok, err := s.known(ctx, t.URL)
	if err != nil {
		return nil, err
	}
	r := polite.Request{URL: t.URL, Accept: accept, Before: s.before, Want: wanted}
	if ask {
		r.ETag, r.LastModified = validators(known)
	}
	s.requests++
	a, err := s.w.client.Get(ctx, r)
	var failed *port.SourceError
	switch {
	case errors.As(err, &failed) && failed.Code == port.SourceTooLarge:
	case errors.As(err, &failed) && failed.Code == port.SourceNotFound:
		s.failures, a.Permanent = 0, true // whatever led there
		return nil, s.absent(ctx, t, a, ok, err)
	case failed != nil:
		return nil, s.failed(ctx, t, failed)
	case errors.Is(err, errElsewhere), errors.Is(err, errDisallowed):
		return nil, s.absent(ctx, t, a, ok, err)
	case err != nil:
		return nil, err
	}
	s.failures = 0
	if a.Unchanged {
		item := port.SourceItem{Key: t.URL, Version: known, Name: source.Cut(t.URL, source.MaxName), URL: t.URL, Size: -1}
		return nil, s.item(ctx, t, item)
	}
	if a.Unwanted {
		return nil, s.absent(ctx, t, a, ok, errors.New("it is no page any more"))
	}
	if failed != nil {
		return s.arrived(ctx, t, a, ok, failed)
	}
	return s.arrived(ctx, t, a, ok, nil)
}

// arrived takes a page from where its URL led to. It may be too large, which failed says.
func (s *listing) arrived(ctx context.Context, t target, a *polite.Answer, known bool, failed error) (*page, error) {
	at, ok := normalize(a.URL)
	if !ok {
		return nil, s.absent(ctx, t, a, known, errElsewhere)
	}
	if at.String() != t.URL {
		moved := fmt.Errorf("it redirects to %s for the time being", at)
		if t.From == at.String() { // its canonical URL leads back to it
			t.From, t.Final = "", true
		} else if s.seen[at.String()] {
			return nil, s.absent(ctx, t, a, known, moved)
		} else if err := s.absent(ctx, target{URL: t.URL}, a, known, moved); err != nil {
			return nil, err
		}
		t.URL = at.String()
		s.seen[t.URL] = true
	}
	var p *page
	if failed == nil {
		p, failed = s.parse(a)
	}
	if failed != nil {
		// It is there. The one that fetches it says by its name that it can't be read.
		return nil, s.item(ctx, t, port.SourceItem{
			Key: t.URL, URL: t.URL, Version: version("large", a), Name: source.Cut(t.URL, source.MaxName), Size: -1,
		})
	}
	if s.leave != nil && s.leave(t, p, a) {
		return p, nil
	}
	if p.noindex {
		return p, s.forget(ctx, t.URL)
	}
	return p, s.item(ctx, t, s.describe(t, p, a))
}

// describe makes an item of a page.
func (s *listing) describe(t target, p *page, a *polite.Answer) port.SourceItem {
	item := port.SourceItem{
		Key: t.URL, URL: t.URL, Version: version(p.hash, a),
		Name: source.Cut(p.title, source.MaxName), Size: int64(len(p.file.Content)), Modified: p.modified,
	}
	if item.Name == "" {
		item.Name = source.Cut(t.URL, source.MaxName)
	}
	if len(p.file.Content) <= maxInline {
		all := content(p, a)
		item.Content = &all
	}
	return item
}

func (s *listing) item(ctx context.Context, t target, item port.SourceItem) error {
	s.listed++
	if s.cfg.Sitemap == "" {
		s.state.Done = append(s.state.Done, target{URL: item.Key, Depth: t.Depth})
	}
	return s.out.Item(ctx, item)
}

// forget says that a page is gone, if it was there.
func (s *listing) forget(ctx context.Context, key string) error {
	_, known, err := s.known(ctx, key)
	if err != nil || !known {
		return err
	}
	return s.out.Gone(ctx, key)
}

// absent says that there is no page at a URL, if there was one. A redirect for the time
// being proves nothing: a login page that all pages redirect to does not delete them.
func (s *listing) absent(ctx context.Context, t target, a *polite.Answer, known bool, why error) error {
	if t.From != "" {
		s.state.Next = append(s.state.Next, target{URL: t.From, Depth: t.Depth, Final: true})
	}
	switch {
	case !known:
		return nil
	case a.Permanent:
		return s.out.Gone(ctx, t.URL)
	}
	return s.problem(ctx, t.URL, port.SourceErrorf(port.SourceForbidden, nil, "%s", why.Error()))
}

// failed says that nobody knows about a page, and ends the listing where its site does
// not want to be asked, or does not answer at all.
func (s *listing) failed(ctx context.Context, t target, failed *port.SourceError) error {
	if s.cfg.Sitemap == "" {
		s.state.Failed = append(s.state.Failed, t)
	}
	if failed.RetryAfter > 0 {
		return failed
	}
	if failed.Code != port.SourceUnavailable {
		s.failures = 0
	} else if s.failures++; s.failures >= maxFailures {
		return port.SourceErrorf(port.SourceUnavailable, failed, "%d pages in a row are not to be had, the last because %s",
			s.failures, failed.Message)
	}
	return s.problem(ctx, t.URL, failed)
}

func (s *listing) problem(ctx context.Context, path string, failed *port.SourceError) error {
	s.state.Problems = true
	return s.out.Problem(ctx, port.SourceProblem{Path: path, Code: failed.Code, Message: failed.Message})
}

func (s *listing) known(ctx context.Context, key string) (string, bool, error) {
	if s.c.Known == nil {
		return "", false, nil
	}
	return s.c.Known(ctx, key)
}

// save gives a checkpoint once there is something to lose.
func (s *listing) save(ctx context.Context) error {
	now := s.w.client.Now()
	if s.requests%saveAfter != 0 && now.Sub(s.saved) < saveEach {
		return nil
	}
	s.saved = now
	return s.checkpoint(ctx)
}

// checkpoint gives the state, unless it is too large to be kept: the one before holds then.
func (s *listing) checkpoint(ctx context.Context) error {
	raw := s.state.encode()
	if raw == nil {
		return nil
	}
	return s.out.Checkpoint(ctx, raw)
}
