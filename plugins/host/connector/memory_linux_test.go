package connector_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host/connector"
)

// TestMemoryLimit: a program that takes memory without end for one source is ended at its limit. That
// source's call proves nothing, a call of another kind's program goes on in the meantime, and a source of the same
// program is followed again by the one that is started in its place.
func TestMemoryLimit(t *testing.T) {
	o, log := logged(connector.Options{MemoryMB: 256})
	c, beside := open(t, o), open(t, connector.Options{})
	for i := range 2 {
		leaking, other := &shelf{}, &shelf{}
		other.at = func(string) error { // the other program is listing while this one leaks
			if err := c.List(t.Context(), to("hoard"), nil, leaking); why(t, err) != port.SourceUnavailable || leaking.ended {
				t.Errorf("%v, complete: %v", err, leaking.ended)
			}
			other.at = nil
			return nil
		}
		if err := beside.List(t.Context(), to(""), nil, other); err != nil || !other.ended || len(other.keys) != 2 {
			t.Errorf("beside it: %v, %q", err, other.keys)
		}
		within(t, "a source of the same program is listed again", func() bool {
			again := &shelf{}
			err := c.List(t.Context(), to(""), nil, again)
			if err != nil && why(t, err) != port.SourceUnavailable {
				t.Fatal(err)
			}
			return err == nil && again.ended
		})
		if n := strings.Count(log.String(), "memory_mb allows 256"); n != i+1 {
			t.Errorf("%d ends for memory in the log:\n%s", n, log.String())
		}
	}
}
