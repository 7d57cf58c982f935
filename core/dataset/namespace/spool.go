package namespace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
)

// Spool is where data sets are kept while they are received or sent.
type Spool struct {
	Dir string // "": the system's folder for temporary files
	Max int64  // bytes of all data sets together; 0: what the disk has
	// Free is what may still be written to the disk of a folder; nil, or an error:
	// nobody knows.
	Free func(dir string) (uint64, error)
}

// reserve is what data sets leave free on their disk, which the store may be on, too.
const reserve = 256 << 20

// spools makes spools, and knows what each organization has in them: at most as much as
// it leaves to the others.
type spools struct {
	Spool

	mu    sync.Mutex
	total int64
	held  map[ident.Org]int64
}

// room is how much may still be written. The caller holds mu.
func (x *spools) room() int64 {
	room := int64(math.MaxInt64)
	if x.Max > 0 {
		room = x.Max - x.total
	}
	if x.Free == nil {
		return room
	}
	dir := x.Dir
	if dir == "" {
		dir = os.TempDir()
	}
	if free, err := x.Free(dir); err == nil {
		room = min(room, int64(min(free, math.MaxInt64))-reserve)
	}
	return room
}

// grow counts n bytes of an organization; fault Unavailable where there is no room.
func (x *spools) grow(org ident.Org, n int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.held[org]+n > x.room()-n {
		return fault.New(fault.Unavailable,
			"the server has too little room left for the data set in its folder for temporary files").
			After(30 * time.Second).By(fault.SpoolLimit)
	}
	x.total += n
	x.held[org] += n
	return nil
}

// shrink takes n bytes back.
func (x *spools) shrink(org ident.Org, n int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.total -= n
	if x.held[org] -= n; x.held[org] == 0 {
		delete(x.held, org)
	}
}

// spool is a file for temporary data that is read while it is written. Where the
// system allows it the file has no name, so that nothing of it is left however the
// process ends.
type spool struct {
	of    *spools
	org   ident.Org
	file  *os.File
	named bool

	mu    sync.Mutex
	grown *sync.Cond
	size  int64
	ended bool
	err   error // how the writer ended
}

func (x *spools) open(org ident.Org) (*spool, error) {
	f, err := os.CreateTemp(x.Dir, "mneme-transfer-*")
	if err != nil {
		return nil, fmt.Errorf("make a file for a data set: %w", err)
	}
	s := &spool{of: x, org: org, file: f, named: os.Remove(f.Name()) != nil}
	s.grown = sync.NewCond(&s.mu)
	return s, nil
}

// Write implements io.Writer, for one writer.
func (s *spool) Write(b []byte) (int, error) {
	if err := s.of.grow(s.org, int64(len(b))); err != nil {
		return 0, err
	}
	n, err := s.file.WriteAt(b, s.size) // only this goroutine changes the size
	s.of.shrink(s.org, int64(len(b)-n))
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
	s.of.shrink(s.org, s.size)
	err := s.file.Close()
	if s.named {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
