//go:build unix

package datadir

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// forOthers are the rights of a folder that let other users put files into it and take files away.
const forOthers = 0o022

// Private takes these rights from a folder that is this user's. private is false where others
// keep them: the folder is somebody else's, as a volume of a container may be.
func Private(dir string) (private bool, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	if info.Mode().Perm()&forOthers == 0 {
		return true, nil
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Geteuid() {
		return false, nil
	}
	err = os.Chmod(dir, info.Mode()&^forOthers)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) { // a file system without rights of its own
		return false, nil
	}
	return err == nil, err
}
