package host

import "github.com/tetratelabs/wazero/experimental"

// memory is that of an instance. wazero by itself moves most of it at each step in which a
// guest grows it, which is a good part of what opening a model takes; here half as much
// again is set aside, of which the system gives pages when they are first written.
type memory struct {
	bytes []byte
	most  uint64
}

func newMemory(_, most uint64) experimental.LinearMemory { return &memory{most: most} }

// Reallocate implements experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	switch {
	case size > m.most:
		return nil
	case size > uint64(cap(m.bytes)):
		grown := make([]byte, size, min(size+size/2, m.most))
		copy(grown, m.bytes)
		m.bytes = grown
	default:
		m.bytes = m.bytes[:size]
	}
	return m.bytes
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() { m.bytes = nil }
