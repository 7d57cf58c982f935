package document

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mnemehq/mneme/core/port"
)

// spooled is a document's new chunks and vectors between their making and the
// transaction that stores them.
type spooled struct {
	ID       string
	TextHash [32]byte
	Chunks   []port.Chunk
	Vectors  port.Vectors
}

// spool keeps them in a file for temporary data, which can be read many times
// once it is written.
type spool struct {
	file  *os.File
	w     *bufio.Writer
	enc   *gob.Encoder
	count int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "mneme-reindex-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for new vectors: %w", err)
	}
	w := bufio.NewWriterSize(f, 256<<10)
	return &spool{file: f, w: w, enc: gob.NewEncoder(w)}, nil
}

func (s *spool) put(d spooled) error {
	if err := s.enc.Encode(d); err != nil {
		return fmt.Errorf("write new vectors to %s: %w", s.file.Name(), err)
	}
	s.count++
	return nil
}

// each reads all in the order they came in.
func (s *spool) each(do func(spooled) error) error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("write new vectors to %s: %w", s.file.Name(), err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read new vectors: %w", err)
	}
	dec := gob.NewDecoder(bufio.NewReaderSize(s.file, 256<<10))
	for range s.count {
		var d spooled
		if err := dec.Decode(&d); err != nil {
			return fmt.Errorf("read new vectors from %s: %w", s.file.Name(), err)
		}
		if err := do(d); err != nil {
			return err
		}
	}
	return nil
}

func (s *spool) close() error { return errors.Join(s.file.Close(), os.Remove(s.file.Name())) }
