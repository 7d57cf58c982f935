package embedded

import "github.com/mnemehq/mneme/core/port"

// Settle waits until no background work of a partition is under way or due.
var Settle = settle

// Compact has a partition compacted as if it had come to rest.
func Compact(x *Index, id port.Partition) {
	x.mu.Lock()
	p := x.open[id.Generation()]
	x.mu.Unlock()
	p.mu.Lock()
	p.flushed = p.flushed.Add(-x.compactAfter)
	x.schedule(p)
	p.mu.Unlock()
	settle(x, id)
}
