package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// Place is a folder.
type Place struct {
	dir  string
	disk disk.FS
}

// Open names a folder, which is made when something is first written to it. files is how it is
// changed; nil: the operating system's way.
func Open(dir string, files disk.FS) (*Place, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("backup folder: %w", err)
	}
	if files == nil {
		files = disk.OS()
	}
	return &Place{dir: dir, disk: files}, nil
}

// String is the folder's path.
func (p *Place) String() string { return p.dir }

const lockFile = "lock"

func (p *Place) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

// explain says in plain words what the operating system refuses.
func (p *Place) explain(doing string, err error) error {
	what := ""
	switch {
	case err == nil:
		return nil
	case disk.Full(err):
		what = "its disk is full"
	case errors.Is(err, fs.ErrPermission):
		what = "this user may not"
	case disk.ReadOnly(err):
		what = "its file system is read-only"
	default:
		return fmt.Errorf("backup folder %s: %s: %w", p.dir, doing, err)
	}
	return fault.Wrap(fault.Unavailable, "backup", err, "backup folder %s: %s: %s", p.dir, doing, what)
}

// Read implements port.BackupPlace.
func (p *Place) Read(ctx context.Context, name string, off, n int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(p.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s is not in %s", name, p.dir)
	}
	if err != nil {
		return nil, p.explain("read "+name, err)
	}
	defer f.Close()
	if n == 0 {
		body, err := io.ReadAll(f)
		return body, p.explain("read "+name, err)
	}
	body := make([]byte, n)
	switch _, err := f.ReadAt(body, off); {
	case errors.Is(err, io.EOF):
		return nil, fault.New(fault.NotFound, "%s in %s is too short", name, p.dir)
	case err != nil:
		return nil, p.explain("read "+name, err)
	}
	return body, nil
}

// Write implements port.BackupPlace.
func (p *Place) Write(ctx context.Context, name string, body []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := p.path(name)
	if err := disk.MakeDir(p.disk, filepath.Dir(path)); err != nil {
		return p.explain("make a folder", err)
	}
	return p.explain("write "+name, disk.Replace(p.disk, path, body))
}

// List implements port.BackupPlace. Files that an interrupted write left are not shown.
func (p *Place) List(ctx context.Context, prefix string, visit func(string, int64) error) error {
	root := p.path(prefix)
	return p.explain("list it", filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir(), strings.HasPrefix(d.Name(), "."):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(p.dir, path)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(name), info.Size())
	}))
}

// Remove implements port.BackupPlace.
func (p *Place) Remove(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := p.path(name)
	if err := p.disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p.explain("remove "+name, err)
	}
	if err := p.disk.SyncDir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p.explain("remove "+name, err)
	}
	return nil
}

// Lock implements port.BackupPlace. It also removes what interrupted writes have left.
func (p *Place) Lock(context.Context) (held func() error, release func(), err error) {
	if err := disk.MakeDir(p.disk, p.dir); err != nil {
		return nil, nil, p.explain("make it", err)
	}
	file := flock.New(filepath.Join(p.dir, lockFile), flock.SetPermissions(0o600))
	ok, err := file.TryLock()
	switch {
	case err != nil && disk.NoLocks(err):
		return nil, nil, fmt.Errorf("backup folder %s: its file system has no locks: %w", p.dir, err)
	case err != nil:
		return nil, nil, p.explain("lock it", err)
	case !ok:
		return nil, nil, fault.New(fault.Conflict, "another process is writing to the backups in %s", p.dir)
	}
	release = func() { _ = file.Unlock() } // ends with the process anyway
	if err := p.sweep(); err != nil {
		release()
		return nil, nil, p.explain("remove what was not finished", err)
	}
	return func() error { return nil }, release, nil
}

// sweep removes files under the names that disk.Replace gives those that are not whole yet, in the folders
// of this program's own, where it has begun to keep backups.
func (p *Place) sweep() error {
	if _, err := os.Stat(p.path("repository.json")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, below := range []string{"packs", "backups"} {
		err := filepath.WalkDir(filepath.Join(p.dir, below), func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.Type().IsRegular() && strings.HasPrefix(d.Name(), "."):
				return p.disk.Remove(path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var _ port.BackupPlace = (*Place)(nil)
