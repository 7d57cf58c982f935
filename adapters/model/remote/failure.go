package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// StatusError is an answer that refuses.
type StatusError struct {
	Status     int
	Message    string        // what the server says, shortened, without keys
	RetryAfter time.Duration // as the server says; 0: it does not
}

// Error gives status and message.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the server answers %d %s: %s", e.Status, http.StatusText(e.Status), e.Message)
}

// ErrInvalidAnswer is wrapped by errors about answers that are not what the protocol says.
var ErrInvalidAnswer = errors.New("the server does not keep to the protocol")

// InvalidAnswer makes an error that wraps ErrInvalidAnswer.
func InvalidAnswer(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidAnswer, fmt.Sprintf(format, args...))
}

// modelNoun names a model by its task in messages.
func modelNoun(t port.Task) string {
	switch t {
	case port.TaskEmbed:
		return "embedding model"
	case port.TaskSparse:
		return "sparse model"
	case port.TaskRerank:
		return "rerank model"
	}
	return "answer model"
}

// Fault turns the error of a call into what a caller may see: Timeout,
// Unavailable with RetryAfter where the model is busy or cannot be reached,
// Upstream for the rest. A caller who left gets its context's error.
func (c *Caller) Fault(ctx context.Context, err error) error {
	var ready *fault.Error
	var refused *StatusError
	var last *StatusError
	if s := stateOf(ctx); s != nil {
		last = s.refusal.Load()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &ready):
		return ready
	case errors.As(err, &refused):
		return c.refusal(err, refused.Status, refused.RetryAfter)
	case ctx.Err() != nil && last != nil && isBusy(last.Status):
		return c.refusal(err, last.Status, last.RetryAfter)
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return c.fault(fault.Timeout, err, "the %s took longer than its time limit")
	case errors.Is(err, ErrInvalidAnswer):
		return c.fault(fault.Upstream, err, "the %s gave an answer that makes no sense")
	}
	return c.unreachable(err, c.endpoint.Client.BreakerWait)
}

// unreachable is the fault of a server that is not there. An answer model that
// is not there is one that failed: port.Synthesizer keeps Unavailable for what
// the model itself says.
func (c *Caller) unreachable(err error, retryAfter time.Duration) error {
	code := fault.Unavailable
	if c.task == port.TaskSynthesize {
		code = fault.Upstream
	}
	return c.fault(code, err, "the %s cannot be reached").After(max(retryAfter, time.Second))
}

// refusal is the fault of an answer with an error's status.
func (c *Caller) refusal(err error, status int, retryAfter time.Duration) error {
	switch status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return c.fault(fault.Unavailable, err, "the %s is busy").After(max(retryAfter, time.Second))
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return c.unreachable(err, retryAfter)
	case http.StatusUnauthorized, http.StatusForbidden, statusInvalidToken:
		if c.mayLogRefusal() {
			c.log.Error("remote model key refused", "status", status, "error", err)
		}
		return c.fault(fault.Upstream, err, "the %s refused this server's key")
	}
	return c.fault(fault.Upstream, err, "the %s failed")
}

func (c *Caller) fault(code fault.Code, err error, message string) *fault.Error {
	return fault.Wrap(code, "call "+c.id, err, message, modelNoun(c.task))
}

// Statuses beside the registered ones.
const (
	statusInvalidToken = 498 // Cohere
	statusOverloaded   = 529 // several providers
)

// isBusy tells statuses that ask to come back later.
func isBusy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable || status == statusOverloaded
}

// retryAfter reads Retry-After, in seconds or as a date; 0 for none or nonsense.
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if x, err := strconv.ParseFloat(v, 64); err == nil && x >= 0 && x < 1e6 {
		return time.Duration(x * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// message finds the sentence in the body of an error, in any of the dialects'
// shapes, else gives the body's beginning.
func message(body []byte) string {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shape) == nil {
		var nested struct {
			Message string `json:"message"`
		}
		for _, raw := range []json.RawMessage{shape.Error, shape.Detail} {
			var text string
			switch {
			case len(raw) == 0:
			case json.Unmarshal(raw, &text) == nil && text != "":
				return text
			case json.Unmarshal(raw, &nested) == nil && nested.Message != "":
				return nested.Message
			default:
				return string(raw)
			}
		}
		if shape.Message != "" {
			return shape.Message
		}
	}
	return string(body)
}
