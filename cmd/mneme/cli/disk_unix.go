//go:build unix

package cli

import "golang.org/x/sys/unix"

// writable reports whether this process may write into a folder, without doing so.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
