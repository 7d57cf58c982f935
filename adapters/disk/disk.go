package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// FS changes files and folders. A caller reads what is there from the operating
// system. New files and folders are for their owner alone. It is safe for concurrent use.
type FS interface {
	// Mkdir makes a folder in one that is there.
	Mkdir(dir string) error
	// Create makes a file, or empties the one that is there.
	Create(path string) (File, error)
	// Rename puts a file in the place of the one of that name, at once.
	Rename(from, to string) error
	Remove(path string) error
	// RemoveAll removes a folder and all below. That there is none is no error.
	RemoveAll(path string) error
	// Sync makes durable what was written into a file, and to what length it was cut, by
	// whomever.
	Sync(path string) error
	// SyncDir makes what happened to the names in a folder durable.
	SyncDir(dir string) error
}

// File is one that is written.
type File interface {
	io.Writer
	io.WriterAt
	// Sync makes what was written durable, but not the file's name.
	Sync() error
	Close() error
}

// OS is the file system of the operating system.
func OS() FS { return system{} }

type system struct{}

func (system) Mkdir(dir string) error { return mkdir(dir) }

func (system) Create(path string) (File, error) {
	return OpenPrivate(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR)
}

func (system) Rename(from, to string) error { return rename(from, to) }

func (system) Remove(path string) error { return remove(path) }

func (system) RemoveAll(path string) error { return removeAll(path) }

func (system) Sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (system) SyncDir(dir string) error { return syncDir(dir) }

// NoLocks reports an error of a file system on which files can't be locked.
func NoLocks(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK)
}

// OpenPrivate opens a file as os.OpenFile does. One that it makes is for its owner alone.
func OpenPrivate(path string, flag int) (*os.File, error) { return openPrivate(path, flag) }

// Access is what users other than its owner may do with a file or folder. Those that
// administer the machine are not counted.
type Access struct {
	Who         string // may do what, in words
	Read, Write bool   // others may read anything of it, or change it
}

// MakeDir makes a folder and those above it that are missing, durably.
func MakeDir(f FS, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is not a folder", dir)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	above := filepath.Dir(dir)
	if above == dir {
		return err
	}
	if err := MakeDir(f, above); err != nil {
		return err
	}
	if err := f.Mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) { // another process may have been first
		return err
	}
	if err := f.SyncDir(above); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil // one may make folders in it and not open it
}

// Replace writes a file whole, durably: a reader never sees half of it, and after a power
// cut there is what it held before or what it holds now. A power cut in the middle leaves a
// hidden file beside it.
func Replace(f FS, path string, body []byte) error {
	return replace(f, path, f.Create, whole(body))
}

// Publish is Replace of a file that everybody may read, as far as the umask lets them, by
// the system's FS.
func Publish(path string, body []byte) error { return PublishFrom(path, whole(body)) }

// PublishFrom is Publish of what write writes.
func PublishFrom(path string, write func(io.Writer) error) error {
	return replace(OS(), path, func(next string) (File, error) {
		return os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}, write)
}

func whole(body []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}
}

func replace(f FS, path string, create func(string) (File, error), write func(io.Writer) error) error {
	dir, name := filepath.Split(path)
	next := filepath.Join(dir, "."+name+"-"+rand.Text())
	file, err := create(next)
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = f.Rename(next, path)
	}
	if err != nil {
		return errors.Join(err, f.Remove(next))
	}
	return f.SyncDir(filepath.Dir(path))
}
