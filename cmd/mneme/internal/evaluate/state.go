package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// FileState is a State in a JSON file.
type FileState struct {
	path string
	mu   sync.Mutex
	seen map[string]string
}

// OpenState reads a state file; an absent one is empty, as is one that cannot
// be read as such, which costs no more than writing again.
func OpenState(path string) (*FileState, error) {
	s := &FileState{path: path, seen: map[string]string{}}
	body, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read state of evaluations: %w", err)
	}
	if err == nil && json.Unmarshal(body, &s.seen) != nil || s.seen == nil {
		s.seen = map[string]string{}
	}
	return s, nil
}

// Get is the fingerprint that a namespace was built from; "": not known.
func (s *FileState) Get(namespace string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[namespace]
}

// Set remembers a fingerprint.
func (s *FileState) Set(namespace, fingerprint string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[namespace] = fingerprint
	body, err := json.MarshalIndent(s.seen, "", "  ")
	if err == nil {
		err = os.WriteFile(s.path, append(body, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write state of evaluations: %w", err)
	}
	return nil
}
