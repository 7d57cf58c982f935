package remote

import (
	"context"
	"errors"
	"net/http"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Limits bounds what one call carries.
type Limits struct {
	Texts  int // in one call
	Tokens int // in one call, by estimate; 0: no bound but the texts'
	Window int // of one text, in tokens, special tokens included
}

// specialTokens is how many tokens of a window are left for what models put around texts.
const specialTokens = 8

// texts are inputs made ready to send.
type texts struct {
	send   []string
	tokens []int // by estimate; the window where the text was cut
	cut    int   // how many were
}

// prepare checks, prefixes and cuts. room is how much of the window is taken
// by something else, beside prefix and special tokens.
func (l Limits) prepare(prefix string, in []string, room int) (texts, error) {
	out := texts{send: make([]string, len(in)), tokens: make([]int, len(in))}
	taken := Estimate(prefix) + room + specialTokens
	for i, t := range in {
		if !utf8.ValidString(t) {
			return out, fault.Field(fault.InvalidRequest, "texts", "text %d is not valid UTF-8", i)
		}
		t, cut := Cut(t, max(1, l.Window-taken))
		out.send[i] = prefix + nonBlank(t)
		out.tokens[i] = min(Estimate(out.send[i])+room+2, l.Window)
		if cut {
			out.cut++
			out.tokens[i] = l.Window
		}
	}
	return out, nil
}

// splitBatches splits texts into runs that one call can carry.
func (l Limits) splitBatches(tokens []int) [][2]int {
	var parts [][2]int
	for from := 0; from < len(tokens); {
		to, sum := from, 0
		for to < len(tokens) && to-from < l.Texts && (to == from || l.Tokens == 0 || sum+tokens[to] <= l.Tokens) {
			sum += tokens[to]
			to++
		}
		parts = append(parts, [2]int{from, to})
		from = to
	}
	return parts
}

// ahead is how many calls are prepared beyond those in progress; grace is how long a
// caller whose deadline has passed still waits for its calls' own errors.
const (
	ahead = 2
	grace = 20 * time.Millisecond
)

// runBatches calls send for every part, several at once, each with the endpoint's time
// limit, and returns when all are done, one failed, or the caller left: then
// whatever the calls do.
func (c *Caller) runBatches(ctx context.Context, as port.TextKind, parts [][2]int,
	send func(ctx context.Context, from, to int) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(c.endpoint.Client.Concurrency + ahead)
	ended := make(chan error, 1)
	go func() {
		for _, p := range parts {
			group.Go(func() error {
				ctx, cancel := c.Begin(inner, as)
				defer cancel()
				return c.Fault(ctx, send(ctx, p[0], p[1]))
			})
		}
		ended <- group.Wait()
	}()
	select {
	case err := <-ended:
		return preferCallersError(ctx, err)
	case <-ctx.Done():
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	select {
	case err := <-ended:
		return preferCallersError(ctx, err)
	case <-time.After(grace):
		return c.Fault(ctx, ctx.Err())
	}
}

// preferCallersError returns the caller's own error if the caller has left, rather than
// what that did to the calls.
func preferCallersError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}

// isTooLong reports whether err is a refusal that shorter texts may avoid: one with a
// status that dialects give to texts beyond the window.
func isTooLong(err error) bool {
	var refused *StatusError
	return errors.As(err, &refused) && (refused.Status == http.StatusBadRequest ||
		refused.Status == http.StatusRequestEntityTooLarge || refused.Status == http.StatusUnprocessableEntity)
}

// shorten cuts what may still exceed the window to as many bytes as it has
// tokens, which no tokenizer exceeds. It says whether it cut anything.
func (l Limits) shorten(prefix string, send []string, room int) ([]string, bool) {
	out, cut := make([]string, len(send)), false
	for i, t := range send {
		out[i] = cutBytes(t, max(len(prefix)+1, l.Window-specialTokens-room))
		cut = cut || len(out[i]) < len(t)
	}
	return out, cut
}

// shareTokens shares the tokens that a server counted for a call among its texts.
// Where it counted none the estimates stay.
func (l Limits) shareTokens(tokens []int, counted int) {
	sum := 0
	for _, n := range tokens {
		sum += n
	}
	if counted <= 0 || sum == 0 {
		return
	}
	for i, n := range tokens {
		if n < l.Window {
			tokens[i] = max(1, min(n*counted/sum, l.Window))
		}
	}
}
