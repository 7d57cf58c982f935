package mneme

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mnemehq/mneme/sdk/go/api"
)

// longestWait is how long a server's wish to wait is granted; beyond it the error is returned.
const longestWait = time.Minute

// safety says whether a call may be sent again when nobody knows what became of it.
type safety bool

const (
	repeatable safety = true
	once       safety = false
)

// core is what all operations share.
type core struct {
	api     *api.Client
	http    *http.Client
	timeout time.Duration
	retries int
	sleep   func(context.Context, time.Duration) error
}

// Do sends a request of the generated layer.
func (c *core) Do(r *http.Request) (*http.Response, error) {
	// The server stops with the client, but only a client that asked for less needs to say so.
	if most, ok := r.Context().Value(limit).(time.Duration); ok && most < DefaultTimeout {
		r.Header.Set("X-Timeout-Ms", strconv.FormatInt(max(1, most.Milliseconds()), 10))
	}
	return c.http.Do(r)
}

type contextKey int

const (
	idempotency contextKey = iota
	extraTime
	limit
)

// WithIdempotencyKey gives the saves of memories under ctx this key instead of one of their own, so that a save can be
// repeated by another process.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotency, key)
}

func idempotencyKey(ctx context.Context) *string {
	if key, ok := ctx.Value(idempotency).(string); ok {
		return &key
	}
	key := rand.Text()
	return &key
}

// call sends a request until it is answered, must not be sent again, or was sent too often, and returns the answer.
func call[T any](ctx context.Context, c *core, safe safety, send func(context.Context) (*http.Response, error)) (*T, error) {
	body, err := c.again(ctx, safe, func(ctx context.Context) (io.ReadCloser, error) {
		response, err := c.send(ctx, send)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		whole, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, &ConnectionError{err}
		}
		return io.NopCloser(bytes.NewReader(whole)), nil
	})
	if err != nil {
		return nil, err
	}
	answer := new(T)
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return nil, fmt.Errorf("mneme: an answer of success is not what the API says: %w", err)
	}
	return answer, nil
}

// stream is call for a body that is read as it comes; only its beginning is tried again.
func (c *core) stream(ctx context.Context, send func(context.Context) (*http.Response, error)) (io.ReadCloser, error) {
	return c.again(ctx, repeatable, func(ctx context.Context) (io.ReadCloser, error) {
		response, err := c.send(ctx, send)
		if err != nil {
			return nil, err
		}
		return response.Body, nil
	})
}

// send is one attempt; what the server refuses is an error.
func (c *core) send(ctx context.Context, send func(context.Context) (*http.Response, error)) (*http.Response, error) {
	response, err := send(ctx)
	if err != nil {
		return nil, &ConnectionError{err}
	}
	if response.StatusCode < 300 {
		return response, nil
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, &ConnectionError{err}
	}
	return nil, errorOf(response.StatusCode, response.Header, body)
}

func (c *core) again(
	ctx context.Context, safe safety, attempt func(context.Context) (io.ReadCloser, error),
) (io.ReadCloser, error) {
	for n := 1; ; n++ {
		body, err := c.within(ctx, attempt)
		if err == nil {
			return body, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pause, again := pauseBeforeRetry(err, n, safe)
		if !again || n > c.retries {
			return nil, err
		}
		if err := c.sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// within bounds an attempt by the time-out, until its body is closed.
func (c *core) within(ctx context.Context, attempt func(context.Context) (io.ReadCloser, error)) (io.ReadCloser, error) {
	if c.timeout <= 0 {
		return attempt(ctx)
	}
	extra, _ := ctx.Value(extraTime).(time.Duration)
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(c.timeout+extra, func() { cancel(ErrTimeout) })
	body, err := attempt(context.WithValue(ctx, limit, c.timeout+extra))
	timer.Stop() // a stream takes as long as its reader
	if err != nil {
		cause := context.Cause(ctx)
		cancel(nil)
		if errors.Is(cause, ErrTimeout) {
			return nil, &ConnectionError{ErrTimeout}
		}
		return nil, err
	}
	return &closing{body, func() { cancel(nil) }}, nil
}

type closing struct {
	io.ReadCloser
	also func()
}

func (c *closing) Close() error {
	defer c.also()
	return c.ReadCloser.Close()
}

// pauseBeforeRetry says how long to wait before the next attempt, or that another must not, or need not, be made.
func pauseBeforeRetry(err error, attempt int, safe safety) (time.Duration, bool) {
	most := min(8*time.Second, 500*time.Millisecond<<min(attempt-1, 10))
	backoff := most/2 + jitter(most/2)
	if refused := new(APIError); errors.As(err, &refused) {
		busy := refused.Status == http.StatusTooManyRequests || refused.Status == http.StatusServiceUnavailable
		switch {
		case busy && refused.RetryAfter != nil:
			// Nothing was done, so that every call may be repeated.
			return max(*refused.RetryAfter, backoff), *refused.RetryAfter <= longestWait
		case refused.Status == http.StatusServiceUnavailable && refused.Code != "":
			return 0, false // something is switched off, and waiting does not help
		}
		switch refused.Status {
		case 408, 429, 500, 502, 503, 504:
			return backoff, bool(safe)
		}
		return 0, false
	}
	if dial := new(net.OpError); errors.As(err, &dial) && dial.Op == "dial" {
		return backoff, true // never sent
	}
	lost := new(ConnectionError)
	return backoff, bool(safe) && errors.As(err, &lost)
}

func jitter(below time.Duration) time.Duration {
	n, err := rand.Int(rand.Reader, big.NewInt(int64(below)+1))
	if err != nil {
		return 0
	}
	return time.Duration(n.Int64())
}

func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pages goes over the items of a list, page by page.
func pages[Params, Page, Item any](
	params *Params, at func(*Params, string), fetch func(*Params) (*Page, error), read func(*Page) ([]Item, *string),
) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		from := new(Params)
		if params != nil {
			*from = *params
		}
		for {
			page, err := fetch(from)
			if err != nil {
				yield(*new(Item), err)
				return
			}
			items, next := read(page)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil || *next == "" {
				return
			}
			at(from, *next)
		}
	}
}

// lines goes over the objects of an export in JSON lines, as they come.
func (c *core) lines(
	ctx context.Context, send func(context.Context) (*http.Response, error),
) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		body, err := c.stream(ctx, send)
		if err != nil {
			yield(nil, err)
			return
		}
		defer body.Close()
		lines := bufio.NewReader(body)
		for {
			line, err := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(line, nil) {
				return
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, &ConnectionError{err})
				return
			}
		}
	}
}

func retryAfter(header http.Header) *time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31)
	if err != nil {
		return nil
	}
	return Ptr(time.Duration(seconds) * time.Second)
}
