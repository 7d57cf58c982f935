package audit

import (
	"testing"
	"time"
)

// A minute's refusals are counted from its first one; the first of the next minute, or of a clock that went back, says
// how many were left out, once.
func TestRefusalsAreCountedByTheMinute(t *testing.T) {
	begin := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		after   time.Duration
		ok      bool
		dropped int
	}{
		{0, false, 0}, {time.Minute - 1, false, 0}, {time.Minute, true, 3}, {time.Hour, true, 3}, {-1, true, 3},
	} {
		var r refusals
		for i := range refusalsPerMinute + 2 {
			dropped, ok := r.admit(begin.Add(time.Duration(i)))
			if ok != (i < refusalsPerMinute) || dropped != 0 {
				t.Fatalf("refusal %d is recorded: %v, %d were not", i, ok, dropped)
			}
		}
		r.admit(begin.Add(time.Second))
		if dropped, ok := r.admit(begin.Add(c.after)); ok != c.ok || dropped != c.dropped {
			t.Errorf("%s later: %v, %d; want %v, %d", c.after, ok, dropped, c.ok, c.dropped)
		}
		if dropped, ok := r.admit(begin.Add(c.after)); ok != c.ok || dropped != 0 {
			t.Errorf("%s later, again: %v, %d", c.after, ok, dropped)
		}
	}
}
