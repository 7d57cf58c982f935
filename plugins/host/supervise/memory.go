package supervise

import (
	"fmt"
	"time"
)

// A backend's memory is that of all processes that it consists of. It is looked at again
// and again, more often the nearer it comes to its limit: a limit of the kernel's own is
// either of the address space, which runtimes reserve far more of than they use, or a
// control group, which few servers may make.

const (
	fastestFill  = 4 << 30 // bytes a second that a process may come to fill
	soonestLook  = 10 * time.Millisecond
	latestLook   = 500 * time.Millisecond
	membersLast  = 250 * time.Millisecond // after which it is asked again which processes belong to a backend
	bytesInMB    = 1 << 20
	exceededText = "it took %d MB of memory, memory_mb allows %d"
)

// nextLook is how long after a look the limit can be passed at the earliest.
func nextLook(used, limit int64) time.Duration {
	left := time.Duration(float64(limit-used) / fastestFill * float64(time.Second))
	return min(max(left, soonestLook), latestLook)
}

// keepMemory ends the backend once it holds more than limit bytes.
func (p *process) keepMemory(limit int64) {
	for {
		used := p.memory.used(limit)
		if used > limit {
			p.mu.Lock()
			p.exceeded = fmt.Errorf(exceededText, used/bytesInMB, limit/bytesInMB)
			p.mu.Unlock()
			p.kill()
			return
		}
		select {
		case <-p.exited:
			return
		case <-time.After(nextLook(used, limit)):
		}
	}
}

// ofMemory reports whether the backend was ended for its memory.
func (p *process) ofMemory() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exceeded != nil
}
