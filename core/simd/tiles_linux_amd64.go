package simd

import (
	"sync"

	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// tilesAvailable asks for the instructions, for their registers (XCR0), and then for
// leave to use them: Linux wants a process to say so, since signals save 8 KiB more
// from then on, and refuses where a thread's signal stack is too small for that. Leave
// is for all threads that there are and will be.
var tilesAvailable = sync.OnceValue(func() bool {
	const tileRegisters = 1<<17 | 1<<18
	x := &cpu.X86
	if !x.HasAMXTile || !x.HasAMXInt8 || !x.HasOSXSAVE || xgetbv0()&tileRegisters != tileRegisters {
		return false
	}
	const archReqXcompPerm, tileData = 0x1023, 18
	_, _, errno := unix.RawSyscall(unix.SYS_ARCH_PRCTL, archReqXcompPerm, tileData, 0)
	return errno == 0
})
