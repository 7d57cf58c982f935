package importer

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/fault"
)

// Stale is a file whose documents an earlier run put into the namespace and this
// one would not.
type Stale struct {
	File   string
	Reason string
	IDs    []string
	all    bool // of the file nothing is left
}

// Stale lists, after a run, what earlier ones put there and a listing no longer
// gives: documents of files that are gone or are left out now, and records that are
// no longer in their file. What cannot be read stays, and so does what another
// file has put there since, of this import or of another one.
func (st *State) Stale(l Listing, others Claims) []Stale {
	st.mu.Lock()
	defer st.mu.Unlock()
	listed, held := map[string]bool{}, map[string]bool{}
	for _, f := range l.Files {
		listed[f.Name] = true
		if s := st.files[f.Name]; s != nil {
			for id, reading := range s.docs {
				if reading == s.Reading || !s.Done || s.Failed > 0 {
					held[id] = true
				}
			}
		}
	}
	var out []Stale
	for _, name := range slices.Sorted(maps.Keys(st.files)) {
		s := Stale{File: name, Reason: "is no longer in the file", all: !listed[name]}
		if s.all {
			left := l.left(name)
			if left.Failed {
				continue
			}
			s.Reason = "is gone"
			if left.Reason != "" {
				s.Reason = left.Reason
			}
		}
		for id := range st.files[name].docs {
			if !held[id] && !others.ids[id] {
				s.IDs = append(s.IDs, id)
			}
		}
		if len(s.IDs) > 0 {
			slices.Sort(s.IDs)
			out = append(out, s)
		}
	}
	return out
}

// left finds what was left out as a file or with a folder.
func (l Listing) left(name string) Left {
	for _, left := range l.Left {
		if left.Name == name || left.Folder() && strings.HasPrefix(name, left.Name) {
			return left
		}
	}
	return Left{}
}

// Drop records that the documents of what was stale are deleted.
func (st *State) Drop(s Stale) error {
	if s.all {
		return st.put(stateLine{File: s.File, Gone: true})
	}
	m, _ := st.Mark(s.File)
	return st.put(stateLine{File: s.File, Mark: m, Dropped: s.IDs})
}

// Claims are the documents that other imports put into a namespace.
type Claims struct {
	ids   map[string]bool
	files map[string]string // absolute path by name
}

// Others reads the journals of other imports into the same namespace of the same
// target.
func (st *State) Others() (Claims, error) {
	c := Claims{ids: map[string]bool{}, files: map[string]string{}}
	err := st.eachOther(func(other *State) error {
		for name, f := range other.files {
			for id, reading := range f.docs {
				if reading == f.Reading {
					c.ids[id] = true
				}
			}
			if path := f.path; path != "" {
				c.files[name] = path
			} else {
				c.files[name] = other.source.find(name)
			}
		}
		return nil
	})
	return c, err
}

// owner is another file that has given its name to a document; empty: there is none.
func (c Claims) owner(f File) string {
	path := c.files[f.Name]
	if path == "" || f.Abs == "" || !f.document() {
		return ""
	}
	theirs, err := os.Stat(path)
	if err != nil {
		return "" // moved, perhaps to here
	}
	if ours, err := os.Stat(f.Abs); err != nil || os.SameFile(theirs, ours) {
		return ""
	}
	return path
}

// find guesses where a file lies, for journals that don't say.
func (s Source) find(name string) string {
	for _, p := range s.Paths {
		for _, at := range []string{filepath.Join(p, name), filepath.Join(filepath.Dir(p), name)} {
			if info, err := os.Stat(at); err == nil && !info.IsDir() {
				return at
			}
		}
	}
	return ""
}

// ResetAll forgets everything that was imported into the namespace, by whatever
// import: it's gone. An import that runs now keeps what it knows.
func (st *State) ResetAll(s Source) error {
	err := st.eachOther(func(other *State) error {
		lock := flock.New(other.path + ".lock")
		if locked, err := lock.TryLock(); err != nil || !locked {
			return err
		}
		return errors.Join(disk.OS().Remove(other.path), lock.Unlock())
	})
	if err != nil {
		return fault.Wrap(fault.Unavailable, "importer.State.ResetAll", err, "cannot keep the import's state: %v", err)
	}
	return st.Reset(s)
}

func (st *State) eachOther(fn func(*State) error) error {
	names, err := filepath.Glob(filepath.Join(filepath.Dir(st.path), "import-*.jsonl"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if name == st.path {
			continue
		}
		h, err := readHeader(name)
		if err != nil {
			return err
		}
		if h.Version != stateVersion || h.Target != st.source.Target || h.Namespace != st.source.Namespace {
			continue
		}
		other := &State{path: name, source: h.Source, files: map[string]*fileState{}}
		if _, err := other.load(h.Source); err != nil {
			return err
		}
		if err := fn(other); err != nil {
			return err
		}
	}
	return nil
}

// readHeader reads the first line of a journal; the zero header is of none.
func readHeader(name string) (stateHeader, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return stateHeader{}, nil
	}
	if err != nil {
		return stateHeader{}, err
	}
	defer closeReader(f)
	var h stateHeader
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &h) != nil {
		return stateHeader{}, nil // torn, or of something else
	}
	return h, nil
}
