//go:build !linux

package supervise

// memorySeen is whether this system tells what a process holds.
const memorySeen = false

// memory is for systems that tell it.
type memory struct{}

func newMemory(int, string) *memory { return &memory{} }

func (*memory) used(int64) int64 { return 0 }

func firstToGo(int) {}
