//go:build unix

package datadir

import "golang.org/x/sys/unix"

// Free is what an unprivileged process may still write to the folder's disk.
func Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // Bavail is signed on some systems
}
