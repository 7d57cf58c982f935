package simd

import (
	"runtime/debug"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Weights pass by once a call, front to back, from beyond the second-level cache. In
// pages of 4 KiB a processor walks its page tables some five thousand times for those
// of a small model, so layers share slabs for which huge pages are asked.
const (
	slabBytes = 8 << 20
	// leastInSlab is how many weights are worth a place there.
	leastInSlab = 32 << 10
	// leastMemory is the collector's limit below which no memory is left unused for it.
	leastMemory = 256 << 20
)

// slab is the one that has room left.
var slab struct {
	sync.Mutex
	left []int8
}

// weightRoom is n zeros for the weights of a layer.
func weightRoom(n int) []int8 {
	if n < leastInSlab || debug.SetMemoryLimit(-1) < leastMemory {
		return make([]int8, n)
	}
	slab.Lock()
	defer slab.Unlock()
	if n > len(slab.left) {
		slab.left = make([]int8, max(n, slabBytes))
		askForHugePages(slab.left)
	}
	room := slab.left[:n:n]
	const line = 64
	slab.left = slab.left[min((n+line-1)&^(line-1), len(slab.left)):]
	return room
}

// askForHugePages does so for those that lie in memory that nobody has touched. Where the
// system has none to give, or never does, pages stay small.
func askForHugePages(memory []int8) {
	page := unix.Getpagesize()
	from := -int(uintptr(unsafe.Pointer(unsafe.SliceData(memory)))) & (page - 1)
	to := len(memory) - (len(memory)-from)%page
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory))
	_ = unix.Madvise(all[from:to], unix.MADV_HUGEPAGE)
}
