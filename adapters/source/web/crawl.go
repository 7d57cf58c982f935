package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
)

// Bounds of a crawl. Where one of them ends it, or leaves something out, it proves no absence.
const (
	maxVariants = 100                // pages of one path that differ in their query
	maxTraps    = 20                 // that are named
	queueFactor = 10                 // URLs that wait, for each page that may be listed
	askFactor   = 3                  // requests, for each page that may be listed
	startAgain  = 7 * 24 * time.Hour // after which all is read from the start
)

// media are endings of what is never read, so that it is not even asked for.
var media = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg", ".ico", ".bmp", ".tif", ".tiff", ".css", ".js",
	".mjs",
	".woff", ".woff2", ".ttf", ".otf", ".eot", ".mp3", ".m4a", ".ogg", ".wav", ".mp4", ".m4v", ".webm", ".mov", ".avi", ".mkv",
	".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".tar", ".jar", ".exe", ".msi", ".dmg", ".iso", ".deb", ".rpm",
	".apk"}

// crawl follows links from the first page, and from all that the last crawl has found.
type crawl struct {
	*listing
	variants map[string]int    // URLs of a path with parameters
	aliases  map[string]string // pages that were left to their canonical URL, which is the value
	traps    int               // that were named
}

func (s *listing) crawl(ctx context.Context, from state) error {
	w := &crawl{listing: s, variants: map[string]int{}, aliases: map[string]string{}}
	s.leave = w.toCanonical
	if err := w.begin(ctx, from); err != nil {
		return err
	}
	for len(s.state.Next) > 0 {
		if s.listed >= s.cfg.MaxPages || s.requests >= askFactor*s.cfg.MaxPages+maxVariants {
			s.state.Limited = true
			break
		}
		t := s.state.Next[0]
		s.state.Next = s.state.Next[1:]
		p, err := s.visit(ctx, t, s.state.Again)
		if err == nil {
			err = w.follow(ctx, t, p)
		}
		if err == nil {
			err = s.save(ctx)
		}
		if err != nil {
			return err
		}
	}
	if err := w.forgetAliases(ctx); err != nil {
		return err
	}
	if s.state.Limited {
		if err := s.tooMany(ctx); err != nil {
			return err
		}
	}
	snapshot := !s.state.Problems && !s.state.Again
	s.state.Over, s.state.Next, s.state.Failed = true, s.state.Failed, nil
	s.state.Hosts = s.hostNames()
	raw := s.state.encode()
	if raw == nil { // too many pages to remember: the next crawl is one from the start
		raw = (&state{Config: s.state.Config, Over: true}).encode()
	}
	if err := s.out.Checkpoint(ctx, raw); err != nil {
		return err
	}
	return s.out.Complete(ctx, snapshot)
}

// tooMany says that a site has more pages than are read.
func (s *listing) tooMany(ctx context.Context) error {
	_, root := s.cfg.root()
	return s.problem(ctx, root, port.SourceErrorf(port.SourceTooLarge, nil, "the site has more than the %d pages of max_pages",
		s.cfg.MaxPages))
}

// begin sets a crawl up: to go on, to ask again for what the last one found, or again.
func (w *crawl) begin(ctx context.Context, from state) error {
	now := w.w.client.Now()
	for _, h := range from.Hosts {
		w.hosts[h] = true
	}
	w.state = state{Config: from.Config, Started: now}
	switch {
	case !from.Over && len(from.Done)+len(from.Next) > 0:
		w.state = from
		w.listed = len(from.Done)
		for _, t := range slices.Concat(from.Done, from.Next, from.Failed) {
			w.remember(t.URL)
		}
		return nil
	case from.Over && len(from.Done) > 0 && now.Sub(from.Started) < startAgain:
		w.state.Started, w.state.Again, w.state.Limited = from.Started, true, from.Limited
	}
	u, err := url.Parse(w.cfg.StartURL)
	if err != nil {
		return port.SourceErrorf(port.SourceConfig, err, "start_url is not a URL")
	}
	first, ok := normalize(u)
	if !ok {
		return port.SourceErrorf(port.SourceConfig, nil, "start_url cannot be a page's URL")
	}
	start := target{URL: first.String()}
	w.seen[start.URL] = true
	if w.state.Again {
		for _, t := range slices.Concat(from.Done, from.Next) {
			if !w.seen[t.URL] || t.Final {
				w.remember(t.URL)
				w.state.Next = append(w.state.Next, t)
			}
		}
	}
	w.requests++
	a, err := w.open(ctx)
	if err != nil {
		return err
	}
	_, known, err := w.known(ctx, start.URL)
	if err != nil {
		return err
	}
	w.state.Hosts = w.hostNames()
	p, err := w.arrived(ctx, start, a, known, nil)
	if err != nil {
		return err
	}
	return w.follow(ctx, start, p)
}

func (s *listing) hostNames() []string {
	var names []string
	for h := range s.hosts {
		names = append(names, h)
	}
	slices.Sort(names)
	return names
}

// follow puts a page's links in line.
func (w *crawl) follow(ctx context.Context, t target, p *page) error {
	if p == nil || p.nofollow || t.Depth >= maxDepth {
		return nil
	}
	for _, to := range p.links {
		at := to.String()
		if w.seen[at] || !w.inside(to) || slices.Contains(media, strings.ToLower(path.Ext(to.Path))) {
			continue
		}
		var err error
		switch {
		case to.RawQuery != "" && w.variants[to.Scheme+"://"+to.Host+to.EscapedPath()] >= maxVariants:
			err = w.trap(ctx, to, fmt.Sprintf("there are more than %d pages of it with other parameters", maxVariants))
		case len(w.state.Next) >= queueFactor*w.cfg.MaxPages:
			err = w.trap(ctx, to, "there are too many links to remember")
		default:
			w.remember(at)
			w.state.Next = append(w.state.Next, target{URL: at, Depth: t.Depth + 1})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remember keeps a URL from being put in line again.
func (w *crawl) remember(at string) {
	w.seen[at] = true
	if base, _, ok := strings.Cut(at, "?"); ok {
		w.variants[base]++
	}
}

// trap leaves a link out, so that the crawl proves no absence. Of many such, some are named.
func (w *crawl) trap(ctx context.Context, to *url.URL, why string) error {
	base, _, _ := strings.Cut(to.String(), "?")
	w.state.Problems = true
	if w.seen["trap "+base] || w.traps >= maxTraps {
		return nil
	}
	w.traps++
	w.seen["trap "+base] = true
	return w.problem(ctx, base, port.SourceErrorf(port.SourceTooLarge, nil, "%s", why))
}

// toCanonical leaves a page to the URL that it names as its canonical one, unless that
// is no page, or leaves itself to this one in turn.
func (w *crawl) toCanonical(t target, p *page, a *polite.Answer) bool {
	if p.canonical == nil || t.Final {
		return false
	}
	to := p.canonical.String()
	if to == t.URL || !w.inside(p.canonical) || w.aliases[to] != "" || passed(a, to) {
		return false
	}
	is := func(o target) bool { return o.URL == to }
	waits := slices.IndexFunc(w.state.Next, is)
	switch {
	case waits >= 0:
		w.state.Next[waits].From = cmp.Or(w.state.Next[waits].From, t.URL)
	case slices.ContainsFunc(w.state.Done, is):
	case w.seen[to]: // and it was none
		return false
	default:
		w.remember(to)
		w.state.Next = append(w.state.Next, target{URL: to, Depth: t.Depth, From: t.URL})
	}
	w.aliases[t.URL] = to
	return true
}

// forgetAliases says of pages that were left to their canonical URL, and were listed once
// under their own, that they are gone, now that the other one is there.
func (w *crawl) forgetAliases(ctx context.Context) error {
	there := map[string]bool{}
	for _, t := range w.state.Done {
		there[t.URL] = true
	}
	for _, alias := range slices.Sorted(maps.Keys(w.aliases)) {
		if there[w.aliases[alias]] && !there[alias] {
			if err := w.forget(ctx, alias); err != nil {
				return err
			}
		}
	}
	return nil
}

// passed reports whether an answer was led to by a URL.
func passed(a *polite.Answer, at string) bool {
	return slices.ContainsFunc(a.Passed, func(raw string) bool {
		u, err := url.Parse(raw)
		if err != nil {
			return false
		}
		n, ok := normalize(u)
		return ok && n.String() == at
	})
}
