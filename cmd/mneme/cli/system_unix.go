//go:build unix

package cli

import (
	"errors"
	"syscall"
)

// keepFolder and keepFile are what keeps others from a folder and a file.
func keepFolder(string) string { return "chmod 700" }
func keepFile(string) string   { return "chmod 600" }

// taken reports that another process listens on an address.
func taken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
