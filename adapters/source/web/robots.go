package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/temoto/robotstxt"

	"github.com/mnemehq/mneme/adapters/source/polite"
	"github.com/mnemehq/mneme/core/port"
)

// robotsName is who the rules of a robots.txt are for, RFC 9309.
const robotsName = "mneme"

const (
	robotsKept     = 24 * time.Hour
	robotsBytes    = 500 << 10
	robotsHosts    = 1000 // remembered at once
	robotsLine     = 2000 // bytes of a rule
	robotsPatterns = 1000 // rules with wildcards; each URL is held against each
)

// errDisallowed says that a site's robots.txt does not allow a page.
var errDisallowed = errors.New("robots.txt does not allow it")

// robots are the rules of the hosts that were asked lately.
type robots struct {
	client *polite.Client
	mu     sync.Mutex
	known  map[string]rules
}

type rules struct {
	group *robotstxt.Group
	until time.Time
}

// allow says what pause a host asks for, or fails: with errDisallowed where its rules do
// not allow a page, with a *port.SourceError where nobody knows, because they cannot be
// had.
func (r *robots) allow(ctx context.Context, u *url.URL) (time.Duration, error) {
	site := u.Scheme + "://" + u.Host
	r.mu.Lock()
	found, ok := r.known[site]
	r.mu.Unlock()
	if !ok || !r.client.Now().Before(found.until) {
		group, err := r.get(ctx, site)
		if err != nil {
			return 0, err
		}
		found = rules{group: group, until: r.client.Now().Add(robotsKept)}
		r.keep(site, found)
	}
	if !found.group.Test(u.RequestURI()) {
		return 0, errDisallowed
	}
	return found.group.CrawlDelay, nil
}

func (r *robots) keep(site string, found rules) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= robotsHosts {
		clear(r.known)
	}
	r.known[site] = found
}

// get reads the rules of a site. One without a robots.txt allows everything; one that
// does not answer allows nothing until it does.
func (r *robots) get(ctx context.Context, site string) (*robotstxt.Group, error) {
	a, err := r.client.Get(ctx, polite.Request{URL: site + "/robots.txt", Accept: "text/plain", MaxBytes: robotsBytes})
	var failed *port.SourceError
	switch {
	case err == nil:
		return parseRobots(a.Body), nil
	case !errors.As(err, &failed):
		return nil, err
	}
	switch failed.Code {
	case port.SourceNotFound, port.SourceCredentials:
		return parseRobots(nil), nil
	case port.SourceForbidden:
		if a.Header != nil { // the host answered; it is not the address that is forbidden
			return parseRobots(nil), nil
		}
	}
	unknown := port.SourceErrorf(failed.Code, err, "the robots.txt of %s cannot be read: %s", site, failed.Message)
	unknown.RetryAfter = failed.RetryAfter
	return nil, unknown
}

// parseRobots reads rules. Lines that cannot be read are passed over, where the library
// would read none at all.
func parseRobots(content []byte) (group *robotstxt.Group) {
	group = &robotstxt.Group{}
	defer func() {
		_ = recover() // the file is a stranger's: what the parser cannot stand has no rules
	}()
	var kept bytes.Buffer
	named, patterns := false, 0
	for line := range strings.Lines(strings.TrimPrefix(string(content), "\ufeff")) {
		line, _, _ = strings.Cut(line, "#")
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || len(line) > robotsLine {
			continue
		}
		switch name {
		case "user-agent":
			// Of "Mneme/1.0" the product is what counts.
			value, _, _ = strings.Cut(value, "/")
			named = true
		case "allow", "disallow":
			if strings.ContainsAny(value, "*$") {
				patterns++
			}
			if !named || patterns > robotsPatterns {
				continue
			}
			if value == "" {
				name, value = "allow", "/" // the library would take the group for absent
			}
		case "crawl-delay":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil || !named || !(seconds >= 0) {
				continue
			}
			value = strconv.FormatFloat(min(seconds, 3600), 'f', -1, 64)
		default:
			continue
		}
		fmt.Fprintf(&kept, "%s: %s\n", name, value)
	}
	if data, err := robotstxt.FromBytes(kept.Bytes()); err == nil {
		group = data.FindGroup(robotsName)
	}
	return group
}
