package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/mnemehq/mneme/core/oauth"
)

// Client makes a request to a URL that came from outside. It follows no redirects, and
// its errors say no more than an outsider may know.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// DocumentOptions bound the reading of client metadata documents.
type DocumentOptions struct {
	Client  Client
	Timeout time.Duration    // for a whole document; 0: 5 s
	Now     func() time.Time // nil: time.Now
}

// Documents reads client metadata documents from the network, for
// oauth.Settings, and keeps what it read for as long as its server says, at least a
// minute and at most a day. Safe for concurrent use.
type Documents struct {
	client  Client
	now     func() time.Time
	timeout time.Duration
	slots   chan struct{}
	flight  singleflight.Group

	mu    sync.Mutex
	cache map[string]document
}

type document struct {
	body  []byte
	until time.Time
}

// Bounds of the cache and of reading at once.
const (
	maxCached       = 500
	maxConcurrent   = 8
	defaultLifetime = time.Hour
	minLifetime     = time.Minute
	maxLifetime     = 24 * time.Hour
)

// NewDocuments makes a reader.
func NewDocuments(o DocumentOptions) *Documents {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Documents{client: o.Client, now: o.Now, timeout: o.Timeout, slots: make(chan struct{}, maxConcurrent),
		cache: map[string]document{}}
}

// Document implements oauth.Documents.
func (d *Documents) Document(ctx context.Context, url string) ([]byte, error) {
	if body, ok := d.cached(url); ok {
		return body, nil
	}
	found := d.flight.DoChan(url, func() (any, error) {
		// The caller that asked first may leave while others wait for the same document.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.timeout)
		defer cancel()
		return d.read(ctx, url)
	})
	select {
	case r := <-found:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.([]byte), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (d *Documents) cached(url string) ([]byte, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	k, ok := d.cache[url]
	return k.body, ok && d.now().Before(k.until)
}

// read fetches a document. Its errors say no more than an outsider may know.
func (d *Documents) read(ctx context.Context, url string) ([]byte, error) {
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, errors.New("too many are being read at once")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, errors.New("its URL cannot be read")
	}
	r.Header.Set("Accept", "application/json")
	answer, err := d.client.Do(r)
	if err != nil {
		return nil, late(ctx, err)
	}
	defer answer.Body.Close()
	switch kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); {
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		return nil, errors.New("its server redirects, which is not followed")
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("its server answers status %d", answer.StatusCode)
	case err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		return nil, errors.New("it is not of type application/json")
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, oauth.MaxMetadata+1))
	switch {
	case err != nil:
		return nil, late(ctx, err)
	case len(body) > oauth.MaxMetadata:
		return nil, fmt.Errorf("it is larger than %d bytes", oauth.MaxMetadata)
	}
	d.store(url, body, d.now().Add(lifetime(answer.Header.Get("Cache-Control"))))
	return body, nil
}

// late replaces the error of a read that took all of its time.
func late(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("its server does not answer in time")
	}
	return err
}

func (d *Documents) store(url string, body []byte, until time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.cache) >= maxCached {
		now := d.now()
		for u, k := range d.cache {
			if !now.Before(k.until) {
				delete(d.cache, u)
			}
		}
	}
	if len(d.cache) >= maxCached {
		clear(d.cache) // all are fresh: reading again is cheap
	}
	d.cache[url] = document{body, until}
}

// lifetime is how long Cache-Control lets a document be kept, within bounds.
func lifetime(control string) time.Duration {
	keep := defaultLifetime
	for directive := range strings.SplitSeq(strings.ToLower(control), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache":
			return minLifetime
		case "max-age":
			if n, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil && n >= 0 {
				keep = time.Duration(min(n, int(maxLifetime/time.Second))) * time.Second
			}
		}
	}
	return min(max(keep, minLifetime), maxLifetime)
}

var _ oauth.Documents = (*Documents)(nil)
