//go:build linux || darwin || freebsd

package sqlite

import "syscall"

// room is what an unprivileged process may still write to a directory's disk; false:
// it is not known.
func room(dir string) (bytes uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true //nolint:unconvert // the types differ by system
}
