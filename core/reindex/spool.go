package reindex

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
)

// Spool keeps values computed from documents in a temporary file until they are stored.
// Once written it can be read many times. Where the system allows it the file has no
// name, so that nothing is left of it however the process ends.
type Spool[T any] struct {
	file  *os.File
	named bool
	w     *bufio.Writer
	enc   *gob.Encoder
	count int
}

// NewSpool makes an empty one.
func NewSpool[T any]() (*Spool[T], error) {
	f, err := os.CreateTemp("", "mneme-reindex-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for new vectors: %w", err)
	}
	w := bufio.NewWriterSize(f, 256<<10)
	return &Spool[T]{file: f, named: os.Remove(f.Name()) != nil, w: w, enc: gob.NewEncoder(w)}, nil
}

// Put adds a value.
func (s *Spool[T]) Put(v T) error {
	if err := s.enc.Encode(v); err != nil {
		return fmt.Errorf("write new vectors to %s: %w", s.file.Name(), err)
	}
	s.count++
	return nil
}

// Len is how many were put.
func (s *Spool[T]) Len() int { return s.count }

// Parts calls do with all values in the order in which they were put, in parts of at
// most Page values and partChunks chunks, as size counts them. A value with
// more chunks is a part of its own.
func (s *Spool[T]) Parts(size func(T) int, do func([]T) error) error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("write new vectors to %s: %w", s.file.Name(), err)
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read new vectors: %w", err)
	}
	dec := gob.NewDecoder(bufio.NewReaderSize(s.file, 256<<10))
	part, sum := make([]T, 0, Page), 0
	for range s.count {
		var v T
		if err := dec.Decode(&v); err != nil {
			return fmt.Errorf("read new vectors from %s: %w", s.file.Name(), err)
		}
		if len(part) == Page || len(part) > 0 && sum+size(v) > partChunks {
			if err := do(part); err != nil {
				return err
			}
			clear(part)
			part, sum = part[:0], 0
		}
		part, sum = append(part, v), sum+size(v)
	}
	if len(part) == 0 {
		return nil
	}
	return do(part)
}

// Close removes the file.
func (s *Spool[T]) Close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
