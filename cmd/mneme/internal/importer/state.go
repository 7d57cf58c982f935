package importer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/core/fault"
)

// Source names an import: the same paths into the same namespace of the same
// server go on where they were.
type Source struct {
	Target    string   `json:"target"` // base URL or data directory
	Namespace string   `json:"namespace"`
	Paths     []string `json:"paths"` // absolute
}

func (s Source) key() string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{s.Target, s.Namespace}, s.Paths...), "\x00")))
	return hex.EncodeToString(sum[:8])
}

// State is the journal of one import: a file of JSON lines, a header and then a
// line for each mark. It is only ever appended to, so that a killed process
// leaves at most one torn last line, which is not read; when much of it is out of
// date it is rewritten under another name and renamed. One process at a time holds it.
type State struct {
	path string
	lock *flock.Flock

	source Source

	mu     sync.Mutex
	file   *os.File // nil: only read
	files  map[string]*fileState
	synced time.Time
	broken error // the first failed write: later marks would leave a gap
}

// fileState is what the journal knows of a file.
type fileState struct {
	Mark
	path     string
	docs     map[string]int // documents that it put there, by the reading that did so last
	problems []string       // of this reading
}

type stateHeader struct {
	Version int `json:"version"`
	Source
}

// stateLine is a mark with what happened since the one before. Other than the mark,
// what it brings is added to what is known.
type stateLine struct {
	File string `json:"file"`
	Mark
	Path     string   `json:"path,omitempty"`     // absolute
	IDs      []string `json:"ids,omitempty"`      // of documents written
	Dropped  []string `json:"dropped,omitempty"`  // of documents deleted
	Problems []string `json:"problems,omitempty"` // what was not imported and why
	Gone     bool     `json:"gone,omitempty"`     // nothing of the file is left
}

const (
	stateVersion = 1
	maxProblems  = 100 // of a file, kept to be told again
)

// OpenState opens the journal of a source in a folder, which it makes. It fails
// with Conflict while another process imports the same source, and with
// Unavailable when the folder cannot be written.
func OpenState(dir string, s Source) (*State, error) {
	fail := func(err error) error {
		return fault.Wrap(fault.Unavailable, "importer.OpenState", err, "cannot keep the import's state: %v", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fail(err)
	}
	path := filepath.Join(dir, "import-"+s.key()+".jsonl")
	lock := flock.New(path + ".lock")
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fail(err)
	}
	if !locked {
		return nil, fault.New(fault.Conflict, "another import of these files into namespace %s is running", s.Namespace)
	}
	st := &State{path: path, lock: lock, source: s, files: map[string]*fileState{}}
	lines, err := st.load(s)
	if err == nil {
		err = st.start(s, lines)
	}
	if err != nil {
		return nil, errors.Join(fail(err), lock.Unlock())
	}
	return st, nil
}

// ReadState reads the journal of a source and holds nothing: what is put to it is not kept.
func ReadState(dir string, s Source) (*State, error) {
	st := &State{path: filepath.Join(dir, "import-"+s.key()+".jsonl"), source: s, files: map[string]*fileState{}}
	if _, err := st.load(s); err != nil {
		return nil, fault.Wrap(fault.Unavailable, "importer.ReadState", err, "cannot read the import's state: %v", err)
	}
	return st, nil
}

// load reads what is whole of the journal and says how many lines that was; -1
// when the file must be rewritten.
func (st *State) load(s Source) (int, error) {
	data, err := os.ReadFile(st.path)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	in := bufio.NewReader(bytes.NewReader(data))
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return n, nil
		}
		if err == io.EOF {
			return -1, nil // torn
		}
		if n == 0 {
			var h stateHeader
			if json.Unmarshal(line, &h) != nil || h.Version != stateVersion || h.key() != s.key() {
				return -1, nil
			}
			continue
		}
		var l stateLine
		if json.Unmarshal(line, &l) != nil {
			return -1, nil
		}
		st.apply(l)
	}
}

func (st *State) apply(l stateLine) {
	written := l.File // by a version that took names as the system spells them, perhaps
	l.File = called(written)
	if l.Gone {
		delete(st.files, l.File)
		return
	}
	f := st.files[l.File]
	if f == nil {
		f = &fileState{docs: map[string]int{}}
		st.files[l.File] = f
	}
	if slices.Contains(ofFirstVersions, ext(l.File)) && l.Reading == 0 && l.Done {
		// A version that kept no ids; those of such files follow from their names.
		for _, id := range fileDocuments(written, l.Parts) {
			f.docs[id] = 0
		}
	}
	if l.Reading != f.Reading {
		f.problems = nil
	}
	f.Mark = l.Mark
	if l.Path != "" {
		f.path = l.Path
	}
	for _, id := range l.IDs {
		f.docs[id] = l.Reading
	}
	for _, id := range l.Dropped {
		delete(f.docs, id)
	}
	f.problems = append(f.problems, l.Problems...)
	f.problems = f.problems[:min(len(f.problems), maxProblems)]
}

// lines are a file's in a journal that is written again: one for each reading that
// has left documents, the present one last.
func (f *fileState) lines(name string) []stateLine {
	ids := map[int][]string{f.Reading: nil}
	for id, reading := range f.docs {
		ids[reading] = append(ids[reading], id)
	}
	delete(ids, f.Reading)
	var out []stateLine
	for _, reading := range slices.Sorted(maps.Keys(ids)) {
		out = append(out, stateLine{File: name, Mark: Mark{Reading: reading}, IDs: ids[reading]})
	}
	last := stateLine{File: name, Mark: f.Mark, Path: f.path, Problems: f.problems}
	for id, reading := range f.docs {
		if reading == f.Reading {
			last.IDs = append(last.IDs, id)
		}
	}
	return append(out, last)
}

// start opens the journal for appending, first rewriting it when that is due.
func (st *State) start(s Source, lines int) error {
	if lines < 0 || lines > 64+4*len(st.files) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		if err := enc.Encode(stateHeader{stateVersion, s}); err != nil {
			return err
		}
		for name, f := range st.files {
			for _, l := range f.lines(name) {
				if err := enc.Encode(l); err != nil {
					return err
				}
			}
		}
		if err := disk.Replace(disk.OS(), st.path, b.Bytes()); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(st.path, os.O_WRONLY|os.O_APPEND, 0o600)
	st.file = f
	return err
}

// Mark is how far a file was imported.
func (st *State) Mark(name string) (Mark, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	f, ok := st.files[name]
	if !ok {
		return Mark{}, false
	}
	return f.Mark, true
}

// Problems are what was not imported of a file the last time and why, a hundred
// at most.
func (st *State) Problems(name string) []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	if f, ok := st.files[name]; ok {
		return slices.Clone(f.problems)
	}
	return nil
}

// Put records how far a file is imported. It reaches the disk within a second of
// marks being put, or on Close; losing it costs some work again and no document.
func (st *State) Put(name string, m Mark) error { return st.put(stateLine{File: name, Mark: m}) }

func (st *State) put(l stateLine) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.broken != nil {
		return st.broken
	}
	if st.file == nil {
		st.apply(l)
		return nil
	}
	if f := st.files[l.File]; f != nil && f.path == l.Path {
		l.Path = ""
	}
	line, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if _, err = st.file.Write(append(line, '\n')); err == nil && time.Since(st.synced) > time.Second {
		st.synced = time.Now()
		err = st.file.Sync()
	}
	if err != nil {
		st.broken = fault.Wrap(fault.Unavailable, "importer.State.Put", err, "cannot keep the import's state: %v", err)
		return st.broken
	}
	st.apply(l)
	return nil
}

// Reset forgets everything, so that all files are read again.
func (st *State) Reset(s Source) error {
	return st.rewrite(s, func() { st.files = map[string]*fileState{} })
}

// Reread has all files read again, and still knows what documents they put there.
func (st *State) Reread(s Source) error {
	return st.rewrite(s, func() {
		for _, f := range st.files {
			f.Mark, f.problems = Mark{Reading: f.Reading, Parts: f.Parts}, nil
		}
	})
}

func (st *State) rewrite(s Source, change func()) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	change()
	if err := st.file.Close(); err != nil {
		return fmt.Errorf("forget the import's state: %w", err)
	}
	if err := st.start(s, -1); err != nil {
		return fault.Wrap(fault.Unavailable, "importer.State.Reset", err, "cannot keep the import's state: %v", err)
	}
	st.broken = nil
	return nil
}

// Close makes the journal durable and lets others have it.
func (st *State) Close() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.file == nil {
		return nil
	}
	err := errors.Join(st.file.Sync(), st.file.Close(), st.lock.Unlock())
	if err != nil {
		return fault.Wrap(fault.Unavailable, "importer.State.Close", err, "cannot keep the import's state: %v", err)
	}
	return nil
}
