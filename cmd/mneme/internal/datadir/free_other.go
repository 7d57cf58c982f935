//go:build !unix

package datadir

import "errors"

// Free is what may still be written to the folder's disk.
func Free(string) (uint64, error) {
	return 0, errors.New("this system does not say")
}
