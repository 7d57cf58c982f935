package web

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
)

// Connector reads sites.
type Connector struct {
	client *polite.Client
	robots robots
}

// New makes a connector over a client.
func New(client *polite.Client) *Connector {
	return &Connector{client: client, robots: robots{client: client, known: map[string]rules{}}}
}

// Kind implements port.Connector.
func (*Connector) Kind() port.SourceKind {
	return port.SourceKind{
		Name: "web", Title: "Website",
		Summary: "The pages of a site, by its sitemap or by following links from a page.",
		Config:  []byte(configSchema), Secrets: []byte(secretsSchema),
		Incremental: true,
	}
}

// Check implements port.Connector.
func (w *Connector) Check(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
	cfg, problems := read(c.Config)
	if len(problems) > 0 {
		return problems, nil
	}
	s := w.listing(cfg, c, nil)
	var err error
	if cfg.Sitemap != "" {
		_, err = s.sitemapURLs(ctx, 1)
	} else {
		_, err = s.open(ctx)
	}
	var failed *port.SourceError
	if !errors.As(err, &failed) {
		return nil, err
	}
	switch failed.Code {
	case port.SourceUnavailable, port.SourceRateLimited:
		return nil, err
	}
	field, _ := cfg.root()
	return []port.SourceFieldProblem{{Field: "config." + field, Message: "does not lead to anything to read: " +
		failed.Message}}, nil
}

// List implements port.Connector.
func (w *Connector) List(ctx context.Context, c port.Connection, raw []byte, l port.SourceListing) error {
	cfg, problems := read(c.Config)
	if len(problems) > 0 {
		return port.SourceErrorf(port.SourceConfig, nil, "%s %s", problems[0].Field, problems[0].Message)
	}
	s := w.listing(cfg, c, l)
	from := s.decode(raw, source.Digest(string(c.Config)))
	if cfg.Sitemap != "" {
		return s.sitemap(ctx, from)
	}
	return s.crawl(ctx, from)
}

// Fetch implements port.Connector.
func (w *Connector) Fetch(ctx context.Context, c port.Connection, item port.SourceItem) (port.SourceContent, error) {
	cfg, problems := read(c.Config)
	if len(problems) > 0 {
		return port.SourceContent{}, port.SourceErrorf(port.SourceConfig, nil, "%s %s", problems[0].Field, problems[0].Message)
	}
	s := w.listing(cfg, c, nil)
	at, err := url.Parse(item.Key)
	if err != nil {
		return port.SourceContent{}, port.SourceErrorf(port.SourceNotFound, err, "it is not a URL")
	}
	s.hosts[at.Host] = true // a listing has followed the site there
	a, err := w.client.Get(ctx, polite.Request{URL: item.Key, Accept: accept, Before: s.before, Want: wanted})
	switch {
	case errors.Is(err, errElsewhere), errors.Is(err, errDisallowed):
		return port.SourceContent{}, port.SourceErrorf(port.SourceForbidden, err, "%s", err.Error())
	case err != nil:
		return port.SourceContent{}, err
	case a.Unwanted:
		return port.SourceContent{}, port.SourceErrorf(port.SourceSkipped, nil, "it is no page or document")
	}
	p, err := s.parse(a)
	if err != nil {
		return port.SourceContent{}, err
	}
	return content(p, a), nil
}

// Revoke implements port.Connector; there is nothing to give back.
func (*Connector) Revoke(context.Context, port.Connection) error { return nil }

// content is what a page becomes.
func content(p *page, a *polite.Answer) port.SourceContent {
	return port.SourceContent{File: p.file, Metadata: p.metadata, Version: version(p.hash, a)}
}

// maxValidator bounds an ETag or a date, so that a version holds it.
const maxValidator = 200

// version is that of a page: what it says, and what to ask its server by whether it has
// changed. The number in front is that of the way in which pages are read.
func version(hash string, a *polite.Answer) string {
	v := "1-" + hash
	for _, by := range []string{"ETag", "Last-Modified"} {
		if said := a.Header.Get(by); said != "" && len(said) <= maxValidator && source.Cut(said, maxValidator) == said {
			return v + " " + by[:1] + said
		}
	}
	return v
}

// validators are what a version says to ask by.
func validators(version string) (etag, lastModified string) {
	if !strings.HasPrefix(version, "1-") {
		return "", ""
	}
	_, said, _ := strings.Cut(version, " ")
	if etag, ok := strings.CutPrefix(said, "E"); ok {
		return etag, ""
	}
	return "", strings.TrimPrefix(said, "L")
}

var _ port.Connector = (*Connector)(nil)
