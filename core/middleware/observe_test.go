package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/middleware"
	"github.com/mnemehq/mneme/core/op"
)

// A call is logged with its milliseconds, and one whose caller's own time is up is no
// failure of the server, to the moment.
func TestACallIsLoggedWithItsTime(t *testing.T) {
	for _, c := range []struct {
		asked, takes time.Duration
		says         string
	}{
		{0, 1500 * time.Microsecond, "level=INFO msg=call op=notes.get transport=inprocess request_id=req_1 code=ok ms=1.5 "},
		{time.Hour, 2 * time.Second, "level=INFO msg=call op=notes.get transport=inprocess request_id=req_1 code=ok ms=2000 "},
		{time.Second, time.Hour,
			"level=INFO msg=call op=notes.get transport=inprocess request_id=req_1 code=timeout ms=1000 "},
		{0, time.Hour,
			`level=ERROR msg="call failed" op=notes.get transport=inprocess request_id=req_1 code=timeout ms=30000 `},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			chain := middleware.Chain(middleware.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Keys: verifier(anyone)})
			x := call(op.Spec{Name: "notes.get"})
			x.Timeout = c.asked
			_, err := chain(x.Spec)(func(ctx context.Context, _ any) (any, error) {
				select {
				case <-time.After(c.takes):
					return nil, nil
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			})(t.Context(), x)
			late := strings.Contains(c.says, "code=timeout")
			if !strings.Contains(log.String(), c.says) || late != (fault.CodeOf(err) == fault.Timeout) {
				t.Errorf("%v; logged %s, want %s", err, log.String(), c.says)
			}
		})
	}
}

// A call that the server has no room for is no failure of it, however it came to wait.
func TestARefusedCallIsAWarning(t *testing.T) {
	for _, c := range []struct {
		err   error
		level string
		code  fault.Code
	}{
		{fault.Busy("the model is busy"), `level=WARN msg="call refused"`, fault.Unavailable},
		{fault.New(fault.Unavailable, "the disk is full"), `level=ERROR msg="call failed"`, fault.Unavailable},
		{fault.New(fault.RateLimited, "slowly").By(fault.RateLimit), "level=INFO msg=call", fault.RateLimited},
	} {
		var log bytes.Buffer
		chain := middleware.Chain(middleware.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Keys: verifier(anyone)})
		x := call(op.Spec{Name: "notes.get"})
		_, _ = chain(x.Spec)(func(context.Context, any) (any, error) { return nil, c.err })(t.Context(), x) // it is c.err
		says := c.level + " op=notes.get transport=inprocess request_id=req_1 code=" + string(c.code) + " "
		if !strings.Contains(log.String(), says) {
			t.Errorf("%v: logged %s, want %s", c.err, log.String(), says)
		}
	}
}
