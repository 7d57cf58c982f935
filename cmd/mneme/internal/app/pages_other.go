//go:build !linux

package app

// readSingly has nothing to do: groups that bound the memory of a process with its files' pages
// are Linux's.
func readSingly() error { return nil }
