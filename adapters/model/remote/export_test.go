package remote

import "github.com/mnemehq/mneme/core/port"

// Waiting is the number of calls of a kind that wait for a place.
func (c *Caller) Waiting(as port.TextKind) int {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	return len(c.gate.waiting[as])
}
