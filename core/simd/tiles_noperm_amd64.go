//go:build !linux

package simd

// tilesAvailable: other systems have not been tried.
func tilesAvailable() bool { return false }
