package app

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// readSingly has the kernel bring in those pages of the program that are touched, and none around
// them. It brings in as much as a disk reads ahead otherwise, up to some MiB for each page, and
// where the program and its data hardly fit it throws out for them what is needed next.
func readSingly() error {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uintptr
		if !strings.HasSuffix(lines.Text(), " "+program) {
			continue
		}
		if _, bad := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); bad != nil {
			return bad
		}
		// By addresses, since Go's checks of pointers know nothing of memory that the loader mapped.
		if _, _, why := syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_RANDOM); why != 0 {
			err = errors.Join(err, why)
		}
	}
	return errors.Join(err, lines.Err())
}
