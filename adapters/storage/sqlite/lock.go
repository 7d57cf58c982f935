package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

const (
	databaseFile = "mneme.db"
	lockFile     = "mneme.lock"
)

// ErrLocked is inside the error of LockDir and Open when another process
// serves the directory.
var ErrLocked = errors.New("the data directory is in use")

// LockDir makes this process the only one that serves the documents of a data
// directory, until unlock or its end, however it ends. The lock file keeps the
// holder's process id for the message to others. An error is fault Unavailable.
func LockDir(dir string) (unlock func() error, err error) {
	const op = "lock data directory"
	path := filepath.Join(dir, lockFile)
	l := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err != nil {
		return nil, directoryFault(op, dir, err)
	}
	if !got {
		by := "another process"
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 && len(b) < 32 {
			by = "process " + strings.TrimSpace(string(b))
		}
		return nil, fault.Wrap(fault.Unavailable, op, ErrLocked,
			"data directory %s is in use by %s; stop it first, or talk to it over HTTP", dir, by)
	}
	// Best effort: the lock itself holds without the process id, which Windows lets nobody write into a locked file.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return l.Unlock, nil
}

// directoryFault explains an operating system's error about the data directory.
func directoryFault(op, dir string, err error) error {
	reason := "cannot be used"
	switch {
	case errors.Is(err, fs.ErrPermission), disk.ReadOnly(err):
		reason = "is not writable"
	case disk.Full(err):
		reason = "is on a full disk"
	case errors.Is(err, fs.ErrNotExist):
		reason = "does not exist"
	}
	return fault.Wrap(fault.Unavailable, op, fmt.Errorf("%s: %w", op, err), "data directory %s %s", dir, reason)
}

// Exclusive implements port.Exclusive: the folder is locked.
func (s *Store) Exclusive() bool { return true }

var _ port.Exclusive = (*Store)(nil)
