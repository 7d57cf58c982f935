//go:build unix

package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func mkdir(dir string) error { return os.Mkdir(dir, 0o700) }

func openPrivate(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }

func rename(from, to string) error { return os.Rename(from, to) }

func remove(path string) error { return os.Remove(path) }

func removeAll(path string) error { return os.RemoveAll(path) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// forOthers are the rights of a folder that let other users put files into it and take files away.
const forOthers = 0o022

// Look says who may reach a file or folder.
func Look(path string) (Access, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Access{}, err
	}
	mode := info.Mode().Perm()
	return Access{Who: fmt.Sprintf("mode %04o", mode), Read: mode&0o077 != 0, Write: mode&forOthers != 0}, nil
}

// Private takes the right to write into a folder from others, where the folder is this user's. private
// is false where they keep it: the folder is somebody else's, as a volume of a container may be.
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

// Free is what an unprivileged process may still write to the disk of a folder.
func Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // Bavail is signed on some systems
}

// Writable says why this process may not write into a folder, without trying; nil: nothing
// is known against it.
func Writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

// Full reports an error of a disk, or of a user's part of it, without room.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// ReadOnly reports an error of a file system that can't be written.
func ReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
