package handover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Base is the URL below which calls are made; who answers them is found for each.
const Base = "http://holder"

// Holder answers calls.
type Holder struct {
	URL       string // base
	Host      string // sent in place of the URL's host; "": that
	Key       string // sent with each call
	Transport http.RoundTripper
	Here      bool // it is this process, which does not end before its calls

	calls sync.RWMutex
	left  bool
}

// Leave waits for the calls that the holder is answering to this process, and lets later ones
// look for the next holder.
func (o *Holder) Leave() {
	o.calls.Lock()
	defer o.calls.Unlock()
	o.left = true
}

var errLeft = errors.New("the holder gives the folder back")

// Wait is the error of a Find that may succeed a moment later.
type Wait struct{ Err error }

// Error is that of the cause.
func (w Wait) Error() string { return w.Err.Error() }

// Unwrap is the cause.
func (w Wait) Unwrap() error { return w.Err }

// Handover is an http.RoundTripper. Safe for concurrent use.
type Handover struct {
	// Find says who holds the folder, or takes it. An error that is a Wait has it called
	// again. It runs once at a time, for whichever calls need it.
	Find func() (*Holder, error)
	// Patience is how long a call waits for a holder; 0: a minute.
	Patience time.Duration

	finding singleflight.Group
	mu      sync.Mutex
	holder  *Holder
}

// Answers are read whole before they are passed on, so that one which is cut short can be
// asked for again.
const maxAnswer = 64 << 20

// maxLost bounds how many holders in a row may take a call and end before they answer it: the
// call itself may be what ends them.
const maxLost = 5

// RoundTrip implements http.RoundTripper.
func (h *Handover) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		body, err = io.ReadAll(r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return nil, fmt.Errorf("read request: %w", err)
		}
	}
	patience := h.patience()
	for lost := 0; ; {
		holder, err := h.current(r.Context(), patience)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		res, err := holder.call(r, body)
		switch {
		case errors.Is(err, errLeft): // nobody has seen the call
		case err == nil || r.Context().Err() != nil || holder.Here:
			return res, err
		case !unsent(err):
			lost++
		default:
			patience -= time.Since(began)
		}
		h.forget(holder)
		if lost == maxLost || patience <= 0 {
			return nil, err
		}
		patience -= pause
		select {
		case <-time.After(pause):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

// pause is how long a call waits before it looks again.
const pause = 20 * time.Millisecond

func (h *Handover) patience() time.Duration {
	if h.Patience > 0 {
		return h.Patience
	}
	return time.Minute
}

// unsent reports that a call has reached nobody.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Connect finds a holder before the first call does.
func (h *Handover) Connect(ctx context.Context) error {
	_, err := h.current(ctx, h.patience())
	return err
}

// known is the last holder that was found; nil: none, or it ended.
func (h *Handover) known() *Holder {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holder
}

// current is the known holder, or one that is found now.
func (h *Handover) current(ctx context.Context, patience time.Duration) (*Holder, error) {
	for until := time.Now().Add(patience); ; {
		if known := h.known(); known != nil {
			return known, nil
		}
		found := h.finding.DoChan("", func() (any, error) {
			if known := h.known(); known != nil { // another call found it since this one looked
				return known, nil
			}
			holder, err := h.Find()
			if err == nil {
				h.mu.Lock()
				h.holder = holder
				h.mu.Unlock()
			}
			return holder, err
		})
		select {
		case f := <-found:
			if f.Err == nil {
				return f.Val.(*Holder), nil
			}
			if !errors.As(f.Err, new(Wait)) || !time.Now().Before(until) {
				return nil, f.Err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// forget has the next call look for a holder.
func (h *Handover) forget(lost *Holder) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.holder == lost {
		h.holder = nil
	}
}

// call makes one call and reads its answer.
func (o *Holder) call(r *http.Request, body []byte) (*http.Response, error) {
	o.calls.RLock()
	defer o.calls.RUnlock()
	if o.left {
		return nil, errLeft
	}
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("call server: %w", err)
	}
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = base.Scheme, base.Host, o.Host
	out.Header.Set("Authorization", "Bearer "+o.Key)
	out.Body, out.GetBody = http.NoBody, nil
	if out.ContentLength = int64(len(body)); len(body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	res, err := o.Transport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if len(answer) > maxAnswer {
		return nil, fmt.Errorf("read answer: it is longer than %d bytes", maxAnswer)
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(answer)), int64(len(answer))
	return res, nil
}
