package polite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/adapters/outbound"
	"github.com/mnemehq/mneme/core/port"
)

// Settings are what a client works with. A field left zero has the default.
type Settings struct {
	Private   []outbound.Network // may be reached beside public addresses
	UserAgent string             // "Mneme"
	MaxBytes  int64              // 64 MiB: of an answer, after decompression
	Timeout   time.Duration      // 30 s: of one exchange, to the last byte
	Resolver  *net.Resolver      // nil: the system's
	Hosts     *Hosts             // shared with other clients, whose requests it takes turns with; nil: its own
	Now       func() time.Time   // nil: time.Now
	// Sleep waits, or fails with its context's error. nil: by the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// What a guest keeps to.
const (
	pause        = time.Second      // between two requests to a host
	maxPause     = 30 * time.Second // of what a host asks for
	maxWait      = time.Minute      // for a host that asks to come back later; a longer wait is the caller's
	maxRetry     = 24 * time.Hour   // of what a host may ask for
	tries        = 3                // of a request to a host that asks to come back soon
	maxRedirects = 5
)

// Client makes requests. Safe for concurrent use.
type Client struct {
	http     *outbound.Client
	maxBytes int64
	now      func() time.Time
	sleep    func(context.Context, time.Duration) error
	hosts    *Hosts
}

// New makes a client.
func New(s Settings) *Client {
	c := &Client{
		http: outbound.New(outbound.Options{
			// Bodies are bounded here, once it is known whether they are wanted.
			Allowed: s.Private, Timeout: s.Timeout, MaxBytes: math.MaxInt64 >> 1, MaxRedirects: -1,
			UserAgent: cmp.Or(s.UserAgent, "Mneme"), Resolver: s.Resolver,
		}),
		maxBytes: cmp.Or(s.MaxBytes, 64<<20),
		now:      s.Now, sleep: s.Sleep, hosts: s.Hosts,
	}
	if c.hosts == nil {
		c.hosts = NewHosts()
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = sleep
	}
	return c
}

// Now is the client's clock.
func (c *Client) Now() time.Time { return c.now() }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Request is what to get.
type Request struct {
	URL          string
	Accept       string
	ETag         string // what is there is not wanted again; empty: it is
	LastModified string // the same, for a server without ETag
	MaxBytes     int64  // of the body; 0: as the client's
	// Before is asked before each request, the first one and each redirect: it says how
	// long a pause the host wants, or with an error that nothing is asked. nil: everything is.
	Before func(ctx context.Context, to *url.URL) (time.Duration, error)
	// Want says by the head of an answer with status 200 whether its body is read. nil: it is.
	Want func(h http.Header) bool
}

// Answer is what a host said.
type Answer struct {
	URL       *url.URL // of the last request
	Permanent bool     // every redirect on the way is for good
	Passed    []string // the URLs that redirected, in order
	Unchanged bool     // it is as ETag or LastModified have it
	Unwanted  bool     // Want did not want it
	Header    http.Header
	Body      []byte
}

// Get makes a request and follows its redirects. The error is that of Before as it is, the
// context's, or a *port.SourceError; the answer then says how far it got.
func (c *Client) Get(ctx context.Context, r Request) (*Answer, error) {
	a := &Answer{Permanent: true}
	to, err := url.Parse(r.URL)
	if err != nil {
		return a, port.SourceErrorf(port.SourceConfig, err, "it is not a URL")
	}
	for try := 1; ; {
		a.URL = to
		next, err := c.hop(ctx, r, a)
		var failed *port.SourceError
		switch {
		case errors.As(err, &failed) && failed.RetryAfter > 0 && failed.RetryAfter <= maxWait && try < tries:
			try++ // the host's own pause is kept by the next hop
			continue
		case err != nil:
			return a, err
		case next == nil:
			return a, nil
		}
		a.Passed = append(a.Passed, to.String())
		if len(a.Passed) > maxRedirects {
			return a, port.SourceErrorf(port.SourceUnavailable, nil, "it redirects more than %d times", maxRedirects)
		}
		to = next
	}
}

// hop makes one request, and says where it redirects to, if it does.
func (c *Client) hop(ctx context.Context, r Request, a *Answer) (*url.URL, error) {
	var asked time.Duration
	if r.Before != nil {
		var err error
		if asked, err = r.Before(ctx, a.URL); err != nil {
			return nil, err
		}
	}
	h, err := c.enter(ctx, strings.ToLower(a.URL.Host), min(max(asked, pause), maxPause))
	if err != nil {
		return nil, err
	}
	defer c.leave(h)

	// A body that is not wanted is left where it is, and its connection with it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL.String(), nil)
	if err != nil {
		return nil, port.SourceErrorf(port.SourceConfig, err, "it is not a URL")
	}
	if r.Accept != "" {
		request.Header.Set("Accept", r.Accept)
	}
	if len(a.Passed) == 0 {
		set(request.Header, "If-None-Match", r.ETag)
		set(request.Header, "If-Modified-Since", r.LastModified)
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer answer.Body.Close()
	a.Header = answer.Header
	switch status := answer.StatusCode; {
	case status == http.StatusNotModified && len(a.Passed) == 0 && r.ETag+r.LastModified != "":
		a.Unchanged = true
		return nil, nil
	case status == http.StatusOK:
	case redirects(status) && answer.Header.Get("Location") != "":
		a.Permanent = a.Permanent && (status == http.StatusMovedPermanently || status == http.StatusPermanentRedirect)
		to, err := a.URL.Parse(answer.Header.Get("Location"))
		if err != nil {
			return nil, port.SourceErrorf(port.SourceUnavailable, err, "it redirects to what is not a URL")
		}
		to.Fragment, to.RawFragment = "", ""
		return to, nil
	default:
		failed := statusError(status)
		if failed.Code == port.SourceRateLimited || status == http.StatusServiceUnavailable {
			failed.RetryAfter = c.retryAfter(answer.Header.Get("Retry-After"), failed.Code)
			h.closed = c.now().Add(failed.RetryAfter)
		}
		return nil, failed
	}
	if r.Want != nil && !r.Want(answer.Header) {
		a.Unwanted = true
		return nil, nil
	}
	a.Body, err = read(ctx, answer, min(cmp.Or(r.MaxBytes, c.maxBytes), c.maxBytes))
	return nil, err
}

func set(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}

// read reads a body of at most so many bytes.
func read(ctx context.Context, answer *http.Response, most int64) ([]byte, error) {
	if answer.ContentLength > most {
		return nil, tooLarge(most)
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(answer.Body, most+1))
	if n > most {
		return nil, tooLarge(most)
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return b.Bytes(), nil
}

func tooLarge(most int64) error {
	return port.SourceErrorf(port.SourceTooLarge, nil, "it has more than %d bytes", most)
}

// statusError is what a status says that is no success.
func statusError(status int) *port.SourceError {
	code := port.SourceUnavailable
	switch status {
	case http.StatusNotFound, http.StatusGone:
		code = port.SourceNotFound
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		code = port.SourceCredentials
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		code = port.SourceForbidden
	case http.StatusTooManyRequests:
		code = port.SourceRateLimited
	}
	return port.SourceErrorf(code, nil, "its server answers %s", strings.TrimSpace(fmt.Sprintf("%d %s", status,
		http.StatusText(status))))
}

// failure is what a request failed for that got no answer, or not all of it.
func failure(ctx context.Context, err error) error {
	code := port.SourceUnavailable
	switch {
	case ctx.Err() != nil: // the time of the request itself ends with such an error, too
		return ctx.Err()
	case errors.Is(err, outbound.ErrURL), errors.Is(err, outbound.ErrNotPublic):
		code = port.SourceForbidden
	}
	return port.SourceErrorf(code, err, "%s", err.Error())
}

// retryAfter reads a header of RFC 9110, 10.2.3. A host that says too many and not when
// is left alone for some time.
func (c *Client) retryAfter(header string, code port.SourceCode) time.Duration {
	var d time.Duration
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(header); err == nil {
		d = at.Sub(c.now())
	}
	if d <= 0 && code == port.SourceRateLimited {
		d = maxPause
	}
	return min(max(d, 0), maxRetry)
}
