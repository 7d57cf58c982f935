package datadir

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/mnemehq/mneme/adapters/disk"
)

const (
	lockFile   = "lock"
	claimFile  = "claim"
	serverFile = "server.json"
	keyFile    = "local.key"
	adminFile  = "local-admin.key"
	quickFile  = "quickstart.key"
	sealFile   = "seal.key"
	idFile     = "replica"
)

// Holder is the process that has a folder.
type Holder struct {
	PID     int       `json:"pid"`
	Command string    `json:"command"` // serve, import...
	Started time.Time `json:"started"`
}

// InUse is the error of a folder that another process has.
type InUse struct {
	Dir    string
	Holder Holder // zero: it has not said who it is
	URL    string // of its server, "" if it serves none
}

// Error says who has the folder and what to do.
func (e *InUse) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the data folder %s is in use by ", e.Dir)
	if e.Holder.PID == 0 {
		b.WriteString("another process")
	} else {
		fmt.Fprintf(&b, "process %d (mneme %s, since %s)", e.Holder.PID, e.Holder.Command,
			e.Holder.Started.Local().Format(time.DateTime))
	}
	if e.URL != "" {
		fmt.Fprintf(&b, ", which serves it at %s", e.URL)
	}
	b.WriteString("; stop it first, or name another folder with --data")
	return b.String()
}

// Lock is a folder held by this process.
type Lock struct {
	dir  string
	file *flock.Flock
}

// Acquire makes the folder where it is missing and takes it for this process.
// The error is *InUse when another one has it. The lock ends with the process,
// however that ends.
func Acquire(dir, command string) (*Lock, error) {
	if err := Create(dir); err != nil {
		return nil, err
	}
	file, ok, err := lock(dir, lockFile)
	if err != nil {
		return nil, unusable(dir, fmt.Errorf("lock data folder: %w", err))
	}
	if !ok {
		return nil, inUse(dir)
	}
	l := &Lock{dir: dir, file: file}
	// A process that ended abruptly leaves its record behind.
	if err := disk.OS().Remove(filepath.Join(dir, serverFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(unusable(dir, fmt.Errorf("remove old server record: %w", err)), file.Unlock())
	}
	body, err := json.Marshal(Holder{PID: os.Getpid(), Command: command, Started: time.Now().Truncate(time.Second)})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, holderFile), append(body, '\n'), 0o600)
	}
	if err != nil {
		return nil, errors.Join(unusable(dir, fmt.Errorf("write lock: %w", err)), file.Unlock())
	}
	return l, nil
}

// lock locks a file of the folder; ok is false where another process has.
func lock(dir, name string) (file *flock.Flock, ok bool, err error) {
	file = flock.New(filepath.Join(dir, name), flock.SetPermissions(0o600))
	// To test a lock takes a shared one for a moment, which is waited out.
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	if ok, err = file.TryLockContext(ctx, 5*time.Millisecond); errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return file, ok, err
}

// Claim says that this process is about to take the folder, until the claim is released
// or the process ends. ok is false where another process says so. A folder that is not there
// yet can't be claimed: the error is a fs.ErrNotExist.
func Claim(dir string) (release func() error, ok bool, err error) {
	file, ok, err := lock(dir, claimFile)
	return file.Unlock, ok, err
}

// Claimed reports that a process is about to take the folder.
func Claimed(dir string) (bool, error) {
	free, err := unlocked(dir, claimFile)
	return !free, err
}

// unlocked reports that no process has locked a file of the folder.
func unlocked(dir, name string) (bool, error) {
	file := flock.New(filepath.Join(dir, name), flock.SetFlag(os.O_RDONLY))
	free, err := file.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil // never used
	case err != nil || !free:
		return false, err
	}
	return true, file.Unlock()
}

// Create makes the folder, for its owner alone. Others lose the right to write into one that
// is there and this user's.
func Create(dir string) error {
	if err := disk.MakeDir(disk.OS(), dir); err != nil {
		return unusable(dir, fmt.Errorf("make data folder: %w", err))
	}
	if _, err := disk.Private(dir); err != nil {
		return unusable(dir, fmt.Errorf("keep others out of the data folder: %w", err))
	}
	return nil
}

// Usable says in plain words why this user may not write into a folder; nil: nothing is known
// against it, as where it is not there.
func Usable(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unusable(dir, err)
	}
	return f.Close()
}

// unusable says in plain words why the operating system refuses a folder.
func unusable(dir string, err error) error {
	what := ""
	switch {
	case errors.Is(err, fs.ErrPermission):
		what = "is not writable by this user"
	case disk.ReadOnly(err):
		what = "is on a read-only file system"
	case disk.Full(err):
		what = "is on a full disk"
	case disk.NoLocks(err):
		what = "is on a file system that has no locks, as some network drives are"
	case isFile(dir):
		what = "is a file"
	case errors.Is(err, syscall.ENOTDIR):
		what = "would lie below a file"
	default:
		return err
	}
	return fmt.Errorf("the data folder %s %s; name another with --data: %w", dir, what, err)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

func inUse(dir string) *InUse {
	e := &InUse{Dir: dir}
	readJSON(filepath.Join(dir, holderFile), &e.Holder) // stays zero when it is just being written
	if s := (Server{}); readJSON(filepath.Join(dir, serverFile), &s) {
		e.URL = s.URL
	}
	return e
}

func readJSON(path string, into any) bool {
	body, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(body, into) == nil
}

// Release gives the folder back. The lock file stays: removing it would let two
// processes lock two files of the same name.
func (l *Lock) Release() error {
	err := disk.OS().Remove(filepath.Join(l.dir, serverFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.Truncate(filepath.Join(l.dir, holderFile), 0), l.file.Unlock())
}

// ID names the folder among the replicas over one store; it is made when it is
// first asked for.
func (l *Lock) ID() (string, error) {
	id, err := readKey(l.dir, idFile)
	if err != nil || id != "" {
		return id, err
	}
	id = rand.Text()
	return id, writeFile(filepath.Join(l.dir, idFile), []byte(id+"\n"))
}

// Server is the running server as other commands find it.
type Server struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
	// Certificate is the file with the certificate of an https server, by which its
	// machine's commands know it: none names 127.0.0.1.
	Certificate string `json:"certificate,omitempty"`
	// Command is what the process was started as: serve, mcp...
	Command string `json:"-"`
}

// Announce records this process's server.
func (l *Lock) Announce(s Server) error {
	s.PID = os.Getpid()
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("write server record: %w", err)
	}
	return writeFile(filepath.Join(l.dir, serverFile), append(body, '\n'))
}

// Held says who has the folder; nil when nobody does.
func Held(dir string) error {
	free, err := unlocked(dir, lockFile)
	switch {
	case err != nil:
		return unusable(dir, fmt.Errorf("look who has the data folder: %w", err))
	case free:
		return nil
	}
	return inUse(dir)
}

// Running finds the server that has the folder. ok is false when nobody has it,
// even where an earlier server left its record behind. The error is *InUse when
// a process has it that serves nothing.
func Running(dir string) (s Server, ok bool, err error) {
	held := Held(dir)
	if held == nil {
		return Server{}, false, nil
	}
	var by *InUse
	if !errors.As(held, &by) || !readJSON(filepath.Join(dir, serverFile), &s) || s.URL == "" {
		return Server{}, false, held
	}
	if by.Holder.PID != s.PID { // one of both is of a process that has just ended
		return Server{}, false, held
	}
	s.Command = by.Holder.Command
	return s, true, nil
}

// LocalKey reads the local key; "" when there is none.
func LocalKey(dir string) (string, error) { return readKey(dir, keyFile) }

// LocalAdminKey reads the local admin key; "" when there is none.
func LocalAdminKey(dir string) (string, error) { return readKey(dir, adminFile) }

func readKey(dir, name string) (string, error) {
	body, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return strings.TrimSpace(string(body)), nil
}

// SaveLocalKey keeps the local key, readable by the folder's owner alone.
func SaveLocalKey(dir, secret string) error {
	return writeFile(filepath.Join(dir, keyFile), []byte(secret+"\n"))
}

// SaveLocalAdminKey keeps the local admin key the same way.
func SaveLocalAdminKey(dir, secret string) error {
	return writeFile(filepath.Join(dir, adminFile), []byte(secret+"\n"))
}

// QuickstartKey reads the key that quickstart hands out; "" when there is none.
func QuickstartKey(dir string) (string, error) { return readKey(dir, quickFile) }

// SaveQuickstartKey keeps that key the same way.
func SaveQuickstartKey(dir, secret string) error {
	return writeFile(filepath.Join(dir, quickFile), []byte(secret+"\n"))
}

// SealKeyFile is where the sealing keys lie that encrypt other systems' secrets, unless
// the configuration names another place.
func SealKeyFile(dir string) string { return filepath.Join(dir, sealFile) }

// SaveSealKey keeps a sealing key there, readable by the folder's owner alone.
func SaveSealKey(dir, key string) error {
	return writeFile(SealKeyFile(dir), []byte(key+"\n"))
}

// writeFile replaces a small file whole, and for good: a key that was shown to somebody
// survives a power cut.
func writeFile(path string, body []byte) error {
	if err := disk.Replace(disk.OS(), path, body); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}

// Size is what the files of a folder hold together. Those that go while it looks are
// passed over.
func Size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // it is gone, or not to be read
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
