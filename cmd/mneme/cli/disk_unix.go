//go:build unix

package cli

import "golang.org/x/sys/unix"

// freeBytes is what an unprivileged process may still write to the folder's disk.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // Bavail is signed on some systems
}

// writable reports whether this process may write into a folder, without doing so.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
