package feed

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/adapters/source"
	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
)

const (
	maxFeed   = 10 << 20 // bytes of a feed
	maxInline = 1 << 20  // bytes of an entry that a listing brings along
)

const accept = "application/atom+xml,application/rss+xml,application/feed+json,application/xml;q=0.9,text/xml;q=0.9,*/*;q=0.5"

const configSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "required": ["url"],
  "properties": {
    "url": {
      "type": "string", "format": "uri", "maxLength": 2000,
      "description": "The feed: RSS, Atom or JSON Feed."
    }
  }
}`

const secretsSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "additionalProperties": false,
  "properties": {}
}`

// config is a source's configuration.
type config struct {
	URL string `json:"url"`
}

func read(raw json.RawMessage) (config, []port.SourceFieldProblem) {
	var c config
	switch err := source.Decode(raw, &c); {
	case err != nil:
		return c, []port.SourceFieldProblem{{Field: "config", Message: "does not fit the kind's schema"}}
	case c.URL == "":
		return c, []port.SourceFieldProblem{{Field: "config.url", Message: "is missing"}}
	case outbound.CheckURL(c.URL) != nil:
		return c, []port.SourceFieldProblem{{Field: "config.url", Message: "is not an absolute http or https URL without a user"}}
	}
	return c, nil
}

// state is what a listing asks by whether the feed has changed since.
type state struct {
	Config       string `json:"config"` // digest of the configuration that it is for
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// maxValidator bounds what a server may say for a state.
const maxValidator = 1000

// Connector reads feeds.
type Connector struct{ client *polite.Client }

// New makes a connector over a client.
func New(client *polite.Client) *Connector { return &Connector{client: client} }

// Kind implements port.Connector.
func (*Connector) Kind() port.SourceKind {
	return port.SourceKind{
		Name: "feed", Title: "Feed", Summary: "The entries of an RSS, Atom or JSON feed.",
		Config: []byte(configSchema), Secrets: []byte(secretsSchema),
		Incremental: true, Keeps: true,
	}
}

// Check implements port.Connector.
func (f *Connector) Check(ctx context.Context, c port.Connection) ([]port.SourceFieldProblem, error) {
	cfg, problems := read(c.Config)
	if len(problems) > 0 {
		return problems, nil
	}
	_, _, err := f.get(ctx, cfg, state{})
	var failed *port.SourceError
	if !errors.As(err, &failed) {
		return nil, err
	}
	switch failed.Code {
	case port.SourceUnavailable, port.SourceRateLimited:
		return nil, err
	}
	return []port.SourceFieldProblem{{Field: "config.url", Message: "does not lead to a feed: " + failed.Message}}, nil
}

// List implements port.Connector.
func (f *Connector) List(ctx context.Context, c port.Connection, raw []byte, l port.SourceListing) error {
	cfg, problems := read(c.Config)
	if len(problems) > 0 {
		return invalid(problems)
	}
	fresh := state{Config: source.Digest(string(c.Config))}
	var from state
	if json.Unmarshal(raw, &from) != nil || from.Config != fresh.Config {
		from = fresh
	}
	entries, a, err := f.get(ctx, cfg, from)
	if err != nil {
		return err
	}
	if a.Unchanged {
		return l.Complete(ctx, false) // nothing was named
	}
	for _, e := range entries {
		err := l.Item(ctx, e.item())
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
	fresh.ETag, fresh.LastModified = validator(a, "ETag"), validator(a, "Last-Modified")
	next, err := json.Marshal(fresh)
	if err != nil {
		return err
	}
	if err := l.Checkpoint(ctx, next); err != nil {
		return err
	}
	return l.Complete(ctx, true)
}

func validator(a *polite.Answer, name string) string {
	if v := a.Header.Get(name); len(v) <= maxValidator && len(a.Passed) == 0 {
		return v
	}
	return ""
}

// Fetch implements port.Connector: it reads the feed and takes one entry of it.
func (f *Connector) Fetch(ctx context.Context, c port.Connection, item port.SourceItem) (port.SourceContent, error) {
	cfg, problems := read(c.Config)
	if len(problems) > 0 {
		return port.SourceContent{}, invalid(problems)
	}
	entries, _, err := f.get(ctx, cfg, state{})
	if err != nil {
		return port.SourceContent{}, err
	}
	for _, e := range entries {
		if e.key == item.Key {
			return e.content(), nil
		}
	}
	return port.SourceContent{}, port.SourceErrorf(port.SourceNotFound, nil, "the feed does not have it any more")
}

// Revoke implements port.Connector; there is nothing to give back.
func (*Connector) Revoke(context.Context, port.Connection) error { return nil }

func invalid(problems []port.SourceFieldProblem) error {
	return port.SourceErrorf(port.SourceConfig, nil, "%s %s", problems[0].Field, problems[0].Message)
}

// get reads the feed, if it has changed.
func (f *Connector) get(ctx context.Context, cfg config, since state) ([]entry, *polite.Answer, error) {
	a, err := f.client.Get(ctx, polite.Request{
		URL: cfg.URL, Accept: accept, ETag: since.ETag, LastModified: since.LastModified, MaxBytes: maxFeed,
	})
	if err != nil || a.Unchanged {
		return nil, a, err
	}
	entries, err := parse(a.Body, a.Header.Get("Content-Type"), a.URL)
	if err == nil {
		return entries, a, ctx.Err()
	}
	if feeds := announced(a.Body, a.URL); len(feeds) > 0 {
		return nil, a, port.SourceErrorf(port.SourceConfig, err, "it is a page, whose feeds are %s", strings.Join(feeds, " and "))
	}
	return nil, a, port.SourceErrorf(port.SourceUnavailable, err, "it is no feed")
}

// link is a URL that people can follow, or empty.
func link(base *url.URL, raw string) string {
	u, err := base.Parse(strings.TrimSpace(raw))
	if raw == "" || err != nil || outbound.CheckURL(u.String()) != nil {
		return ""
	}
	return u.String()
}

var _ port.Connector = (*Connector)(nil)
