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
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

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

	mu     sync.Mutex
	file   *os.File
	marks  map[string]Mark
	synced time.Time
	broken error // the first failed write: later marks would leave a gap
}

type stateHeader struct {
	Version int `json:"version"`
	Source
}

type stateLine struct {
	File string `json:"file"`
	Mark
}

const stateVersion = 1

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
	st := &State{path: path, lock: lock, marks: map[string]Mark{}}
	lines, err := st.load(s)
	if err == nil {
		err = st.start(s, lines)
	}
	if err != nil {
		return nil, errors.Join(fail(err), lock.Unlock())
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
		st.marks[l.File] = l.Mark
	}
}

// start opens the journal for appending, first rewriting it when that is due.
func (st *State) start(s Source, lines int) error {
	if lines < 0 || lines > 64+4*len(st.marks) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		if err := enc.Encode(stateHeader{stateVersion, s}); err != nil {
			return err
		}
		for name, m := range st.marks {
			if err := enc.Encode(stateLine{name, m}); err != nil {
				return err
			}
		}
		if err := replace(st.path, b.Bytes()); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(st.path, os.O_WRONLY|os.O_APPEND, 0o600)
	st.file = f
	return err
}

func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Mark is how far a file was imported.
func (st *State) Mark(name string) (Mark, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	m, ok := st.marks[name]
	return m, ok
}

// Put records how far a file is imported. It reaches the disk within a second of
// marks being put, or on Close; losing it costs some work again and no document.
func (st *State) Put(name string, m Mark) error {
	line, err := json.Marshal(stateLine{name, m})
	if err != nil {
		return err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.broken != nil {
		return st.broken
	}
	if _, err = st.file.Write(append(line, '\n')); err == nil && time.Since(st.synced) > time.Second {
		st.synced = time.Now()
		err = st.file.Sync()
	}
	if err != nil {
		st.broken = fault.Wrap(fault.Unavailable, "importer.State.Put", err, "cannot keep the import's state: %v", err)
		return st.broken
	}
	st.marks[name] = m
	return nil
}

// Reset forgets everything, so that all files are read again.
func (st *State) Reset(s Source) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.marks = map[string]Mark{}
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
	err := errors.Join(st.file.Sync(), st.file.Close(), st.lock.Unlock())
	if err != nil {
		return fault.Wrap(fault.Unavailable, "importer.State.Close", err, "cannot keep the import's state: %v", err)
	}
	return nil
}
