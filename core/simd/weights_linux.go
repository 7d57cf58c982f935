package simd

import (
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Weights pass by once a call, front to back, from beyond the second-level cache. In
// pages of 4 KiB a processor walks its page tables some five thousand times for those
// of a small model, so they lie in huge ones where the system gives these on request.
// That memory is not the collector's: it counts neither as live, nor is it scanned.
const (
	hugePage    = 2 << 20
	regionBytes = 4 * hugePage
	// leastInRegion is how many weights are worth a place there.
	leastInRegion = 32 << 10
)

// region is memory of several layers, unmapped when the last of them is collected.
type region struct {
	memory []byte
	layers int
}

// regions guards the one that has room, and how many layers each has.
var regions struct {
	sync.Mutex
	open *region
	left []byte
}

// weightRoom is n zeros for the weights of a layer, which must be kept alive while they are read.
func weightRoom(l *Layer, n int) []int8 {
	if n < leastInRegion {
		return make([]int8, n)
	}
	regions.Lock()
	defer regions.Unlock()
	if n > len(regions.left) {
		size := max(regionBytes, (n+hugePage-1)&^(hugePage-1))
		memory := mapAligned(size)
		if memory == nil {
			return make([]int8, n)
		}
		regions.open, regions.left = &region{memory: memory}, memory
	}
	room := unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(regions.left))), n)
	const line = 64
	regions.left = regions.left[min((n+line-1)&^(line-1), len(regions.left)):]
	regions.open.layers++
	runtime.AddCleanup(l, (*region).release, regions.open)
	return room
}

// release takes a layer off, and unmaps the memory after the last one.
func (r *region) release() {
	regions.Lock()
	defer regions.Unlock()
	r.layers--
	if r.layers > 0 {
		return
	}
	if r == regions.open {
		regions.open, regions.left = nil, nil
	}
	_ = unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(r.memory)), uintptr(len(r.memory)))
}

// mapAligned maps size zeros from a huge page's beginning on, or nothing where there is no room.
func mapAligned(size int) []byte {
	at, err := unix.MmapPtr(-1, 0, nil, uintptr(size+hugePage), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	before := -uintptr(at) & (hugePage - 1)
	memory := unsafe.Slice((*byte)(unsafe.Add(at, before)), size)
	if before > 0 {
		_ = unix.MunmapPtr(at, before)
	}
	if after := hugePage - before; after > 0 {
		_ = unix.MunmapPtr(unsafe.Add(at, before+uintptr(size)), after)
	}
	_ = unix.Madvise(memory, unix.MADV_HUGEPAGE) // where it is refused, pages stay small
	return memory
}
