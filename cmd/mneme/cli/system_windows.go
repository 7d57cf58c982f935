package cli

import (
	"errors"

	"golang.org/x/sys/windows"
)

// keepFolder and keepFile are what keeps others from a folder and a file.
func keepFolder(dir string) string {
	return `icacls "` + dir + `" /inheritance:r /grant:r "%USERNAME%:(OI)(CI)F"`
}
func keepFile(file string) string {
	return `icacls "` + file + `" /inheritance:r /grant:r "%USERNAME%:F"`
}

// taken reports that another process listens on an address, or may not share it.
func taken(err error) bool {
	return errors.Is(err, windows.WSAEADDRINUSE) || errors.Is(err, windows.WSAEACCES)
}
