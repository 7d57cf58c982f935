package host

import (
	"os"
	"syscall"
	"unsafe"
)

// readAhead has the kernel bring in at once what is about to be read from its beginning to its
// end. Where it was told to bring in single pages, as with little memory, each would be a fault.
// It is a hint: memory that is no file's takes none.
func readAhead(b []byte) {
	page := uintptr(os.Getpagesize())
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	to := from + uintptr(len(b))
	from -= from % page
	if from < to {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_WILLNEED)
	}
}
