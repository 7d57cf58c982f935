package remote

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/sony/gobreaker/v2"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/span"
)

// Caller calls one endpoint. It is safe for many callers at once.
type Caller struct {
	id            string
	task          port.Task
	endpoint      Endpoint
	base          string // without a slash at the end
	log           *slog.Logger
	gate          *gate
	breaker       *gobreaker.TwoStepCircuitBreaker[struct{}]
	opened        atomic.Int64 // when the breaker opened, unix nanoseconds
	paused        atomic.Int64 // until when the server asked to wait
	refusalLogged atomic.Int64 // when a refused key was last logged, unix nanoseconds
	network       *http.Transport
	buffered      *retryablehttp.Client // bodies are read inside the attempt
	streamed      *retryablehttp.Client // bodies are the caller's
	redact        *strings.Replacer
}

// Bounds of a call.
const (
	waitMin, waitMax = 250 * time.Millisecond, 8 * time.Second
	connectTimeout   = 10 * time.Second // to make a connection
	maxPause         = time.Minute      // that a server may ask of all calls
	silenceLimit     = 5 * time.Second  // without an answer after which an attempt counts as failed although its caller gave up
	maxMessage       = 300              // bytes of an error's text that are kept
	maxErrorBody     = 64 << 10         // bytes of an error's body that are read
	refusalLogEvery  = time.Minute
)

// Open makes a caller. Nothing is sent before the first call, so a server that
// is down keeps nobody from starting. id is the operator's name for the model.
func Open(id string, task port.Task, e Endpoint, log *slog.Logger) (*Caller, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	proxy, err := e.Client.proxy()
	if err != nil {
		return nil, err
	}
	c := &Caller{
		id:       id,
		task:     task,
		endpoint: e,
		base:     strings.TrimRight(e.BaseURL, "/"),
		log:      log.With("model", id),
		gate:     newGate(e.Client.Concurrency),
	}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	c.network = &http.Transport{
		Proxy:               proxy,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        e.Client.Concurrency,
		MaxIdleConnsPerHost: e.Client.Concurrency,
		IdleConnTimeout:     90 * time.Second,
	}
	if e.Client.CAFile != "" {
		pem, err := os.ReadFile(e.Client.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read ca_file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca_file %s holds no certificate in PEM", e.Client.CAFile)
		}
		c.network.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	secrets := []string{}
	for _, s := range e.Client.Headers {
		if len(s) >= 4 { // shorter ones would blank out ordinary words
			secrets = append(secrets, s.Reveal(), s.String())
		}
	}
	if e.Key != "" {
		secrets = append(secrets, e.Key.Reveal(), e.Key.String())
	}
	c.redact = strings.NewReplacer(secrets...)
	c.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: id, Timeout: e.Client.BreakerWait,
		ReadyToTrip: func(n gobreaker.Counts) bool { return int(n.ConsecutiveFailures) >= e.Client.BreakerFailures },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNeither) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				c.opened.Store(time.Now().UnixNano())
			}
			c.log.Warn("remote model circuit changed", "state", to.String(), "previous", from.String())
		},
	})
	c.buffered, c.streamed = c.retrying(true), c.retrying(false)
	return c, nil
}

func (c *Caller) retrying(whole bool) *retryablehttp.Client {
	r := retryablehttp.NewClient()
	r.HTTPClient = &http.Client{Transport: attempt{c, whole}, CheckRedirect: keepRedirect}
	r.RetryMax = c.endpoint.Retries
	r.RetryWaitMin, r.RetryWaitMax = waitMin, waitMax
	r.Logger = attemptLog{c.log}
	r.CheckRetry = shouldRetry
	r.Backoff = backoff
	r.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return r
}

// keepRedirect keeps redirects from being followed: the answer itself is the result.
func keepRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Close gives idle connections back.
func (c *Caller) Close() error { c.network.CloseIdleConnections(); return nil }

// attemptLog takes the retry client's log lines about single attempts. How a call
// ends is in its fault, which is logged with its cause.
type attemptLog struct{ log *slog.Logger }

func (a attemptLog) debug(msg string, args []any) {
	a.log.Debug("remote model attempt", append([]any{"detail", msg}, args...)...)
}

func (a attemptLog) Error(msg string, args ...any) { a.debug(msg, args) }
func (a attemptLog) Info(msg string, args ...any)  { a.debug(msg, args) }
func (a attemptLog) Debug(msg string, args ...any) { a.debug(msg, args) }
func (a attemptLog) Warn(msg string, args ...any)  { a.debug(msg, args) }

// shouldRetry asks for a repeat where it may help, unless the server asks to wait
// longer than the call has.
func shouldRetry(ctx context.Context, r *http.Response, err error) (bool, error) {
	var decided *fault.Error
	if errors.As(err, &decided) || errors.Is(err, ErrInvalidAnswer) {
		return false, err
	}
	if r != nil && r.StatusCode == http.StatusNotImplemented {
		return false, nil
	}
	again, failed := retryablehttp.DefaultRetryPolicy(ctx, r, err)
	if !again || r == nil {
		return again, failed
	}
	if end, ok := ctx.Deadline(); ok && retryAfter(r.Header) > time.Until(end) {
		return false, nil
	}
	return true, nil
}

// backoff waits as the server asks, else from half to the whole of twice the last time.
func backoff(lowest, highest time.Duration, n int, r *http.Response) time.Duration {
	if r != nil {
		if d := retryAfter(r.Header); d > 0 {
			return d
		}
	}
	d := min(lowest<<min(n, 20), highest)
	return d/2 + rand.N(d/2+1)
}

// state collects what the fault of a call needs to know of its attempts.
type state struct {
	as      port.TextKind
	refusal atomic.Pointer[StatusError] // the last
}

type stateKey struct{}

func stateOf(ctx context.Context) *state {
	s, _ := ctx.Value(stateKey{}).(*state)
	return s
}

// Begin starts a call. It returns the context that the call's requests must carry, bounded
// by the endpoint's timeout. Waiting queries go before waiting passages, as as says.
func (c *Caller) Begin(ctx context.Context, as port.TextKind) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(ctx, stateKey{}, &state{as: as}), c.endpoint.Timeout)
}

// attempt is one try of a call.
type attempt struct {
	*Caller
	buffered bool
}

// errNeither tells the breaker that an attempt says nothing about the server.
var errNeither = errors.New("neither success nor failure")

// RoundTrip waits for a place, asks the breaker and sends the request.
func (a attempt) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	s := stateOf(ctx)
	if s == nil {
		s = &state{}
	}
	if err := a.admit(ctx); err != nil {
		return nil, err
	}
	if err := a.gate.enter(ctx, s.as); err != nil {
		return nil, err
	}
	done, err := a.breaker.Allow()
	if err != nil {
		a.gate.leave(s.as)
		return nil, a.breakerFault(err)
	}
	r = r.Clone(ctx) // what is added goes no further than this attempt
	if key := a.endpoint.Key.Reveal(); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	r.Header.Set("User-Agent", "mneme")
	span.Propagate(ctx, r.Header.Set)
	for name, value := range a.endpoint.Client.Headers {
		r.Header.Set(name, value.Reveal())
	}
	started := time.Now()
	resp, err := a.network.RoundTrip(r)
	if err == nil && (a.buffered || resp.StatusCode >= 300) {
		err = a.readAll(resp)
	}
	done(breakerOutcome(ctx, resp, err, time.Since(started)))
	if err != nil {
		a.gate.leave(s.as)
		return nil, err
	}
	if resp.StatusCode >= 300 {
		refusal := &StatusError{Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
		s.refusal.Store(refusal)
		if isBusy(refusal.Status) && refusal.RetryAfter > 0 {
			a.paused.Store(time.Now().Add(min(refusal.RetryAfter, maxPause)).UnixNano())
		}
	}
	if a.buffered || resp.StatusCode >= 300 {
		a.gate.leave(s.as)
		return resp, nil
	}
	resp.Body = &gatedBody{resp.Body, func() { a.gate.leave(s.as) }}
	return resp, nil
}

// admit refuses at once while the breaker is open, and waits out a pause that
// the server asked for where the call has the time.
func (a attempt) admit(ctx context.Context) error {
	if a.breaker.State() == gobreaker.StateOpen {
		return a.breakerFault(gobreaker.ErrOpenState)
	}
	left := time.Until(time.Unix(0, a.paused.Load()))
	if left <= 0 {
		return nil
	}
	if end, ok := ctx.Deadline(); ok && left > time.Until(end) {
		return a.fault(fault.Unavailable, errors.New("the server asked to wait"), "the %s is busy").After(left)
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// breakerFault is the fault of a call that the breaker refuses.
func (a attempt) breakerFault(err error) error {
	left := time.Second
	if errors.Is(err, gobreaker.ErrOpenState) {
		left = max(left, time.Until(time.Unix(0, a.opened.Load()).Add(a.endpoint.Client.BreakerWait)))
	}
	return a.fault(fault.Unavailable, err, "the %s failed too often just now").After(left)
}

// readAll puts the body into memory, up to the bound.
func (a attempt) readAll(resp *http.Response) error {
	limit := int64(a.endpoint.Client.MaxResponseMB) << 20
	if resp.StatusCode >= 300 {
		limit = maxErrorBody
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	_ = resp.Body.Close() // read already, or not wanted
	if int64(len(body)) > limit {
		if resp.StatusCode < 300 {
			return InvalidAnswer("an answer of more than %d MB", a.endpoint.Client.MaxResponseMB)
		}
		body, err = body[:limit], nil
	}
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	resp.Body, resp.ContentLength = bufferedBody{bytes.NewReader(body), body}, int64(len(body))
	return nil
}

// bufferedBody is a body in memory.
type bufferedBody struct {
	*bytes.Reader
	bytes []byte
}

func (bufferedBody) Close() error { return nil }

// breakerOutcome is what an attempt tells the breaker.
func breakerOutcome(ctx context.Context, resp *http.Response, err error, took time.Duration) error {
	switch {
	case err == nil && resp.StatusCode >= 500:
		return errors.New(resp.Status)
	case err == nil && resp.Request.Method == http.MethodGet:
		return errNeither // that it tells about itself does not show that the model works
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled), ctx.Err() != nil && took < silenceLimit && !errors.Is(err, ErrInvalidAnswer):
		return errNeither
	}
	return err
}

// gatedBody gives the place back when a streamed body is closed.
type gatedBody struct {
	io.ReadCloser
	leave func()
}

func (l *gatedBody) Close() error {
	if l.leave != nil {
		l.leave()
		l.leave = nil
	}
	return l.ReadCloser.Close()
}

// mayLogRefusal limits how often a refused key is logged.
func (c *Caller) mayLogRefusal() bool {
	now, last := time.Now().UnixNano(), c.refusalLogged.Load()
	return now-last >= int64(refusalLogEvery) && c.refusalLogged.CompareAndSwap(last, now)
}

// Post sends in as JSON to a path below the base URL and decodes the answer
// into out. ctx comes from Begin. Errors: StatusError, ErrInvalidAnswer, a fault
// where no attempt was made, else the connection's.
func (c *Caller) Post(ctx context.Context, path string, in, out any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(in); err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	return c.send(ctx, http.MethodPost, path, body.Bytes(), out)
}

// Get fetches a path below the base URL into out, as Post does.
func (c *Caller) Get(ctx context.Context, path string, out any) error {
	return c.send(ctx, http.MethodGet, path, nil, out)
}

func (c *Caller) send(ctx context.Context, method, path string, body []byte, out any) error {
	resp, err := c.exchange(ctx, c.buffered, method, path, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // in memory
	whole, ok := resp.Body.(bufferedBody)
	if !ok {
		return fmt.Errorf("the answer's body is %T", resp.Body)
	}
	if err := json.Unmarshal(whole.bytes, out); err != nil {
		return InvalidAnswer("decode answer: %v", err)
	}
	return nil
}

// Stream sends in as JSON and gives the body of a good answer, which the caller
// reads and closes.
func (c *Caller) Stream(ctx context.Context, path string, in any) (io.ReadCloser, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	resp, err := c.exchange(ctx, c.streamed, http.MethodPost, path, body)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// exchange gives an answer of status 200-299.
func (c *Caller) exchange(ctx context.Context, by *retryablehttp.Client, method, path string,
	body []byte) (*http.Response, error) {
	var payload any
	if body != nil {
		payload = body
	}
	r, err := retryablehttp.NewRequestWithContext(ctx, method, c.base+path, payload)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := by.Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 || resp.StatusCode < 200 {
		return nil, c.statusError(resp)
	}
	return resp, nil
}

// statusError reads an error's answer.
func (c *Caller) statusError(resp *http.Response) error {
	defer func() { _ = resp.Body.Close() }() // in memory
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("read error: %w", err)
	}
	text := c.redact.Replace(message(body))
	if resp.StatusCode < 400 {
		text = "redirects are not followed, so that the key goes nowhere else; set base_url to the address meant"
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "..."
	}
	return &StatusError{Status: resp.StatusCode, Message: text, RetryAfter: retryAfter(resp.Header)}
}

// Doer is the endpoint for a client library of its own: answers of any status
// are given as they are, retried and limited as all are.
type Doer struct{ c *Caller }

// Doer wraps the caller for a client library. Its requests carry a context from Begin.
func (c *Caller) Doer() Doer { return Doer{c} }

// Do sends a request. The body of a good answer is streamed.
func (d Doer) Do(r *http.Request) (*http.Response, error) {
	retried, err := retryablehttp.FromRequest(r)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	resp, err := d.c.streamed.Do(retried)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, d.c.statusError(resp)
	}
	return resp, nil
}
