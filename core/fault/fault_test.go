package fault_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// Any error becomes one that may be published: a fault stays as it is, an expired
// deadline is 504, a caller that went away is told apart, and anything else gives
// nothing away (docs/contract.md#err-codes).
func TestAnyErrorCanBePublished(t *testing.T) {
	own := fault.New(fault.StaleVersion, "version %d is older", 3)
	for _, c := range []struct {
		err       error
		code      fault.Code
		message   string
		status    int
		retryable bool
	}{
		{own, fault.StaleVersion, "version 3 is older", 409, false},
		{fmt.Errorf("save: %w", own), fault.StaleVersion, "version 3 is older", 409, false},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), fault.Timeout, "the request took longer than its time limit",
			504, true},
		{fmt.Errorf("read: %w", context.Canceled), fault.Canceled, "the caller went away", 499, true},
		{errors.New("password=secret"), fault.Internal, "an internal error occurred", 500, true},
	} {
		f := fault.From(c.err)
		if f.Code != c.code || f.Message != c.message || f.Error() != string(c.code)+": "+c.message {
			t.Errorf("%v: %v", c.err, f)
		}
		if !errors.Is(c.err, f) && !errors.Is(f, c.err) {
			t.Errorf("%v: the cause is lost in %v", c.err, f)
		}
		if got := fault.CodeOf(c.err); got != c.code || fault.Status(got) != c.status || fault.Retryable(got) != c.retryable {
			t.Errorf("%v: %s, %d, retryable %t", c.err, got, fault.Status(got), fault.Retryable(got))
		}
	}
	if f := fault.From(nil); f != nil || fault.CodeOf(nil) != "" {
		t.Errorf("no error: %v, %q", f, fault.CodeOf(nil))
	}
}

// Faults are the same when their codes are, whatever they say.
func TestFaultsAreComparedByTheirCodes(t *testing.T) {
	err := fmt.Errorf("write: %w", fault.Wrap(fault.Conflict, "write", errors.New("row"), "somebody else did"))
	if !errors.Is(err, fault.New(fault.Conflict, "")) {
		t.Error("a fault is not told by its code")
	}
	if errors.Is(err, fault.New(fault.StaleVersion, "somebody else did")) || errors.Is(err, errors.New("conflict")) {
		t.Error("a fault is taken for another")
	}
}

// A fault about a field names it in the message and in the details
// (docs/contract.md#err-details).
func TestAFaultNamesItsField(t *testing.T) {
	f := fault.Field(fault.InvalidRequest, "top_k", "must be 1-%d", 20).After(time.Minute)
	if f.Message != "top_k: must be 1-20" || len(f.Details) != 2 || f.Details["field"] != "top_k" ||
		f.Details["reason"] != "must be 1-20" || f.RetryAfter != time.Minute {
		t.Errorf("%+v", f)
	}
}

// What the operator left out is told from what failed (docs/contract.md#query-degraded).
func TestWhatIsOffIsNoFailure(t *testing.T) {
	off := fault.Off("the %s model is off", "rerank")
	if off.Code != fault.Unavailable || off.Message != "the rerank model is off" || off.RetryAfter != 0 {
		t.Errorf("%+v", off)
	}
	for err, want := range map[error]bool{
		off:                           true,
		fmt.Errorf("rerank: %w", off): true,
		fault.New(fault.Unavailable, "the rerank model is off"): false,
		errors.New("it is off in the configuration"):            false,
	} {
		if fault.IsOff(err) != want {
			t.Errorf("%v: off %t", err, !want)
		}
	}
}

// What has too much to do works, and is told from what failed.
func TestWhatIsBusyIsNoFailure(t *testing.T) {
	busy := fault.Busy("the model is busy: %d calls are waiting", 3)
	if busy.Code != fault.Unavailable || busy.Message != "the model is busy: 3 calls are waiting" ||
		busy.RetryAfter != time.Second {
		t.Errorf("%+v", busy)
	}
	for err, want := range map[error]bool{
		busy:                          true,
		fmt.Errorf("embed: %w", busy): true,
		fault.Off("off"):              false,
		fault.New(fault.Unavailable, "the model is busy"): false,
	} {
		if fault.IsBusy(err) != want {
			t.Errorf("%v: busy %t", err, !want)
		}
	}
}

// The limit that refused is found through whatever was wrapped around it.
func TestTheLimitThatRefusedIsFound(t *testing.T) {
	rate := fault.New(fault.RateLimited, "too fast").By(fault.RateLimit)
	for err, want := range map[error]fault.Limit{
		rate:                           fault.RateLimit,
		fmt.Errorf("charge: %w", rate): fault.RateLimit,
		fault.Wrap(fault.Unavailable, "rerank", fmt.Errorf("score: %w", fault.Busy("wait")), "no reranker"): fault.ModelLimit,
		fault.Wrap(fault.Unavailable, "x", fault.Off("off"), "no model").By(fault.JobLimit):                 fault.JobLimit,
		fault.Off("off"):     "",
		errors.New("broken"): "",
	} {
		if got := fault.LimitOf(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if got := fault.LimitOf(nil); got != "" {
		t.Errorf("nothing was refused by %q", got)
	}
}

// What a caller sent is repeated to it in 100 bytes at most, in whole characters.
func TestWhatACallerSentIsClipped(t *testing.T) {
	a99 := strings.Repeat("a", 99)
	for in, want := range map[string]string{
		"":           "",
		a99 + "b":    a99 + "b",
		a99 + "bc":   a99 + "b...",
		a99 + "é":    a99 + "...",
		"a\xff\xfeb": "a\ufffdb",
	} {
		if got := fault.Clip(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A log gets the cause that Error keeps from callers.
func TestLogsGetTheCause(t *testing.T) {
	for _, c := range []struct {
		err  *fault.Error
		want string
	}{
		{fault.New(fault.Conflict, "taken"), "conflict: taken"},
		{fault.Wrap(fault.Internal, "write row", errors.New("column a is gone"), "an internal error occurred"),
			"internal_error: an internal error occurred: write row: column a is gone"},
		{fault.Wrap(fault.Unavailable, "",
			fmt.Errorf("read: %w", fault.Wrap(fault.Internal, "scan", errors.New("EOF"), "broken")), "later"),
			"unavailable: later: read: internal_error: broken: scan: EOF"},
	} {
		var b strings.Builder
		slog.New(slog.NewTextHandler(&b, nil)).Warn("failed", "error", c.err)
		if want := fmt.Sprintf("error=%q", c.want); !strings.Contains(b.String(), want) {
			t.Errorf("logged %s, want %s", b.String(), want)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"path", "token", "include", "exclude"}
	for name, want := range map[string]string{"pth": "path", "PATHS": "path", "tokne": "token", "xclude": "exclude",
		"inclusive": "include", "to": "", "pa": "path", "inclusively": "", "": ""} {
		if got := fault.Nearest(name, known); got != want {
			t.Errorf("%q is near %q, want %q", name, got, want)
		}
	}
}
