package namespace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/mnemehq/mneme/core/fault"
)

// spool is a file for temporary data that is read while it is written. Where the
// system allows it the file has no name, so that nothing of it is left however the
// process ends.
type spool struct {
	file  *os.File
	named bool

	mu    sync.Mutex
	grown *sync.Cond
	size  int64
	ended bool
	err   error // how the writer ended
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "mneme-transfer-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for a data set: %w", err)
	}
	s := &spool{file: f, named: os.Remove(f.Name()) != nil}
	s.grown = sync.NewCond(&s.mu)
	return s, nil
}

// Write implements io.Writer, for one writer.
func (s *spool) Write(b []byte) (int, error) {
	n, err := s.file.WriteAt(b, s.size) // only this goroutine changes the size
	s.mu.Lock()
	s.size += int64(n)
	s.mu.Unlock()
	s.grown.Broadcast()
	if err != nil {
		return n, fault.Wrap(fault.Internal, "keep a data set", err,
			"the server has no room left for the data set in its folder for temporary files")
	}
	return n, nil
}

// end records that nothing more will be written, and why.
func (s *spool) end(err error) {
	s.mu.Lock()
	s.ended, s.err = true, err
	s.mu.Unlock()
	s.grown.Broadcast()
}

// await waits until there is more than n bytes, or no more to come.
func (s *spool) await(ctx context.Context, n int64) (size int64, ended bool, err error) {
	defer context.AfterFunc(ctx, func() {
		s.mu.Lock() // so that no write comes between the check and the wait
		defer s.mu.Unlock()
		s.grown.Broadcast()
	})()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.size <= n && !s.ended {
		if err := ctx.Err(); err != nil {
			return s.size, false, err
		}
		s.grown.Wait()
	}
	return s.size, s.ended, s.err
}

// follow copies everything written to w until the writer ends, and returns its error.
func (s *spool) follow(ctx context.Context, w io.Writer) error {
	for at := int64(0); ; {
		size, ended, err := s.await(ctx, at)
		if err == nil || ended {
			n, failed := io.Copy(w, io.NewSectionReader(s.file, at, size-at))
			if failed != nil {
				return fmt.Errorf("send a data set: %w", failed)
			}
			at += n
		}
		if err != nil || ended {
			return err
		}
	}
}

// reader reads all, once the writer has ended.
func (s *spool) reader() io.Reader { return io.NewSectionReader(s.file, 0, s.size) }

func (s *spool) close() error {
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
