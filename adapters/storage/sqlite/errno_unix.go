//go:build unix

package sqlite

import (
	"errors"
	"syscall"
)

func readOnlyFilesystem(err error) bool { return errors.Is(err, syscall.EROFS) }

func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
