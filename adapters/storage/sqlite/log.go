package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/mnemehq/mneme/adapters/disk"
	"github.com/mnemehq/mneme/adapters/storage/bunsql"
)

// checkpointFrames is how long the write-ahead log may get before it is copied
// back: rarely enough that a small commit pays one fsync only, often enough
// that the log stays at some 16 MB.
const checkpointFrames = 2000

// writeAheadLog copies the log back into the database file, in SQLite's place,
// so as to know every page that was written. All methods run on the committer's
// goroutine.
type writeAheadLog struct {
	path    string
	disk    disk.FS
	written pageSet // pages written since the store was scrubbed

	salt [8]byte // of the log's present life
	seen int64   // frames of it that are in written
}

// A log begins with 32 bytes: 8..11 the page size, 16..23 the salt of this life
// of the log. Each frame is 24 bytes, 0..3 the page's number and 8..15 the salt,
// and the page (SQLite file format, section 4.1).
const (
	logHeader   = 32
	frameHeader = 24
)

// frames asks how many frames the log holds.
func (l *writeAheadLog) frames(ctx context.Context, s *bunsql.Session) (int64, error) {
	var busy, frames, copied int64
	_, err := s.Row(ctx, `PRAGMA wal_checkpoint(NOOP)`, nil, &busy, &frames, &copied)
	return frames, err
}

// collectPages adds the pages of the log to those written. Another process may append to
// the log at the same time, but only keys and organizations.
func (l *writeAheadLog) collectPages(ctx context.Context, s *bunsql.Session) error {
	return l.read(ctx, s, func(page uint32) { l.written.add(page) })
}

// skipFrames goes by what the log holds and note has not seen.
func (l *writeAheadLog) skipFrames(ctx context.Context, s *bunsql.Session) error {
	return l.read(ctx, s, func(uint32) {})
}

func (l *writeAheadLog) read(ctx context.Context, s *bunsql.Session, each func(page uint32)) (err error) {
	frames, err := l.frames(ctx, s)
	if err != nil || frames <= 0 {
		return err
	}
	f, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var head [logHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return err
	}
	if !bytes.Equal(l.salt[:], head[16:24]) {
		l.seen = 0
		copy(l.salt[:], head[16:24])
	}
	size := int64(binary.BigEndian.Uint32(head[8:12]))
	for ; l.seen < frames; l.seen++ {
		var frame [frameHeader]byte
		if _, err := f.ReadAt(frame[:], logHeader+l.seen*(frameHeader+size)); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if !bytes.Equal(l.salt[:], frame[8:16]) {
			return nil // another process restarted the log in between
		}
		each(binary.BigEndian.Uint32(frame[:4]))
	}
	return nil
}

// keepShort copies the log back once it is long.
func (l *writeAheadLog) keepShort(ctx context.Context, s *bunsql.Session) error {
	frames, err := l.frames(ctx, s)
	if err != nil || frames < checkpointFrames {
		return err
	}
	if err := l.collectPages(ctx, s); err != nil {
		return err
	}
	var busy, log, copied int64
	_, err = s.Row(ctx, `PRAGMA wal_checkpoint(PASSIVE)`, nil, &busy, &log, &copied)
	return err
}

// empty copies the log back and truncates it. It returns false if a reader still needs
// the log.
func (l *writeAheadLog) empty(ctx context.Context, s *bunsql.Session) (bool, error) {
	if err := l.collectPages(ctx, s); err != nil {
		return false, err
	}
	// SQLite would wait for readers with the write lock in its hands.
	const op = "wait for readers"
	if err := s.Once(ctx, op, `PRAGMA busy_timeout = 10`); err != nil {
		return false, err
	}
	var busy, log, copied int64
	_, err := s.Row(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`, nil, &busy, &log, &copied)
	if err := errors.Join(err, s.Once(ctx, op, `PRAGMA busy_timeout = 5000`)); err != nil {
		return false, err
	}
	if busy != 0 {
		return false, nil
	}
	switch info, err := os.Stat(l.path); {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case info.Size() != 0:
		return false, nil
	}
	// SQLite leaves it to the next commit to make the new length durable. Until then a power
	// cut would bring back the old log, with all that was erased.
	return true, l.disk.Sync(l.path)
}

// pageSet is a set of page numbers, a bit each.
type pageSet struct{ bits []uint64 }

func (p *pageSet) add(n uint32) {
	for int(n/64) >= len(p.bits) {
		p.bits = append(p.bits, 0)
	}
	p.bits[n/64] |= 1 << (n % 64)
}

// drain empties the set and gives its members in rising order.
func (p *pageSet) drain() []uint32 {
	var out []uint32
	for i, w := range p.bits {
		for b := range uint32(64) {
			if w&(1<<b) != 0 {
				out = append(out, uint32(i)*64+b)
			}
		}
	}
	p.bits = nil
	return out
}
