package host

import (
	"sync"
	"time"
)

// linesPerSecond is how many lines of the log a model may fill.
const linesPerSecond = 20

// limiter lets some events of each second through and counts the others. The
// zero value is ready.
type limiter struct {
	mu      sync.Mutex
	second  time.Time // when the current second began
	passed  int
	dropped int
}

// allow tells whether an event goes through, and with the first of a second how
// many did not since the last.
func (l *limiter) allow(now time.Time) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.second) >= time.Second {
		dropped = l.dropped
		l.second, l.passed, l.dropped = now, 0, 0
	}
	if l.passed >= linesPerSecond {
		l.dropped++
		return false, 0
	}
	l.passed++
	return true, dropped
}
