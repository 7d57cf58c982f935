package supervise

import (
	"testing"
	"time"
)

// TestNextLook: the nearer the limit, the sooner the next look, and never so late that a
// process could have filled what was left twice.
func TestNextLook(t *testing.T) {
	const gb = 1 << 30
	for _, c := range []struct {
		used, limit int64
		want        time.Duration
	}{
		{0, gb, 250 * time.Millisecond}, {gb / 2, gb, 125 * time.Millisecond}, {0, 64 * gb, 500 * time.Millisecond},
		{gb, gb, 10 * time.Millisecond}, {gb - 4096, gb, 10 * time.Millisecond},
	} {
		if got := nextLook(c.used, c.limit); got != c.want {
			t.Errorf("%d of %d: %s, want %s", c.used, c.limit, got, c.want)
		}
	}
}
