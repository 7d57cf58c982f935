package disktest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mnemehq/mneme/adapters/disk"
)

// Recorder is disk.FS over real files in a folder. What bypasses it is not recorded, so
// the folder has to be empty at first.
type Recorder struct {
	root string

	mu    sync.Mutex
	steps []step
	nodes map[string]int // present names of files
	next  int
}

// New records what happens in a folder that is empty.
func New(root string) *Recorder { return &Recorder{root: root, nodes: map[string]int{}} }

// kind is what a step does.
type kind int

const (
	mkdir    kind = iota
	create        // a new file of no bytes gets a name
	write         // bytes at a place in a file
	truncate      // a file gets the length at
	sync1         // a file's bytes are durable
	rename
	unlink
	rmdir
	syncDir
)

// step is one change. A file is the same under whatever name.
type step struct {
	kind     kind
	path, to string
	node     int
	at       int64
	data     []byte
}

// Len is the number of steps so far.
func (r *Recorder) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.steps)
}

// add does something and records it if that succeeded. Holding the lock all the while keeps the
// steps in the order in which they happen.
func (r *Recorder) add(do func() error, steps ...step) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	r.steps = append(r.steps, steps...)
	return nil
}

// name is a path below the root.
func (r *Recorder) name(path string) string {
	name, err := filepath.Rel(r.root, path)
	if err != nil || strings.HasPrefix(name, "..") {
		panic(fmt.Sprintf("%s is not below %s", path, r.root))
	}
	return name
}

func (r *Recorder) Mkdir(dir string) error {
	return r.add(func() error { return disk.OS().Mkdir(dir) }, step{kind: mkdir, path: r.name(dir)})
}

func (r *Recorder) Create(path string) (disk.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	file, err := disk.OS().Create(path)
	if err != nil {
		return nil, err
	}
	name := r.name(path)
	node, ok := r.nodes[name]
	if ok {
		r.steps = append(r.steps, step{kind: truncate, node: node})
	} else {
		node = r.born(name)
	}
	return &recorded{r: r, File: file, node: node}, nil
}

// born gives a new file a name. The caller holds mu.
func (r *Recorder) born(name string) int {
	r.next++
	r.nodes[name] = r.next
	r.steps = append(r.steps, step{kind: create, path: name, node: r.next})
	return r.next
}

func (r *Recorder) Rename(from, to string) error {
	a, b := r.name(from), r.name(to)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := disk.OS().Rename(from, to); err != nil {
		return err
	}
	node, ok := r.nodes[a]
	if !ok {
		panic(from + " is not a file that was recorded")
	}
	r.steps = append(r.steps, step{kind: rename, path: a, to: b, node: node})
	r.nodes[b] = node
	delete(r.nodes, a)
	return nil
}

func (r *Recorder) Remove(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if err := disk.OS().Remove(path); err != nil {
		return err
	}
	r.removed(r.name(path), info.IsDir())
	return nil
}

// removed notes that a name is gone. The caller holds mu.
func (r *Recorder) removed(name string, dir bool) {
	k := unlink
	if dir {
		k = rmdir
	}
	r.steps = append(r.steps, step{kind: k, path: name})
	delete(r.nodes, name)
}

func (r *Recorder) RemoveAll(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		list, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := r.RemoveAll(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := r.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (r *Recorder) Sync(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := disk.OS().Sync(path); err != nil {
		return err
	}
	if node, ok := r.nodes[r.name(path)]; ok {
		r.steps = append(r.steps, step{kind: sync1, node: node})
	}
	return nil
}

func (r *Recorder) SyncDir(dir string) error {
	return r.add(func() error { return disk.OS().SyncDir(dir) }, step{kind: syncDir, path: r.name(dir)})
}

// recorded is a file that is written.
type recorded struct {
	disk.File

	r    *Recorder
	node int
	at   int64
}

func (f *recorded) Write(b []byte) (int, error) {
	n, err := f.write(func() (int, error) { return f.File.Write(b) }, b, f.at)
	f.at += int64(n)
	return n, err
}

func (f *recorded) WriteAt(b []byte, at int64) (int, error) {
	return f.write(func() (int, error) { return f.File.WriteAt(b, at) }, b, at)
}

func (f *recorded) write(do func() (int, error), b []byte, at int64) (n int, err error) {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	n, err = do()
	f.r.steps = append(f.r.steps, step{kind: write, node: f.node, at: at, data: append([]byte(nil), b[:n]...)})
	return n, err
}

func (f *recorded) Sync() error {
	return f.r.add(f.File.Sync, step{kind: sync1, node: f.node})
}

// What follows records the changes of a file that another library writes, which says of
// each that it happened.

// Opened says that a file was opened to be written, and tells it from others.
func (r *Recorder) Opened(path string) (file int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := r.name(path)
	if node, ok := r.nodes[name]; ok {
		return node
	}
	return r.born(name)
}

// Wrote says that bytes were written into a file.
func (r *Recorder) Wrote(file int, at int64, b []byte) {
	r.note(step{kind: write, node: file, at: at, data: append([]byte(nil), b...)})
}

// Truncated says that a file was cut to a length.
func (r *Recorder) Truncated(file int, at int64) { r.note(step{kind: truncate, node: file, at: at}) }

// Synced says that a file was synced.
func (r *Recorder) Synced(file int) { r.note(step{kind: sync1, node: file}) }

// SyncedDir says that a folder was synced.
func (r *Recorder) SyncedDir(dir string) { r.note(step{kind: syncDir, path: r.name(dir)}) }

// Removed says that a file was removed.
func (r *Recorder) Removed(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removed(r.name(path), false)
}

func (r *Recorder) note(s step) { _ = r.add(func() error { return nil }, s) }

var _ disk.FS = (*Recorder)(nil)
