package sqlite

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mnemehq/mneme/adapters/storage/bunsql"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
)

// What deleted content leaves behind in SQLite's files, and who removes it:
//
//   - Freed cells, overflow pages and pages of the free list: overwritten with
//     zeros at once (secure_delete).
//   - The gap between the cell pointers and the cells of a b-tree page: when
//     SQLite rebuilds a page, to split it or to fill it from its neighbour, the
//     cells move to the page's end and their old copies stay in the gap, out of
//     reach of secure_delete. Deleting such a cell later leaves its copy. Scrub
//     overwrites the gaps of the pages written since it last ran; the first
//     time since the store was opened, of all pages. A store with memories
//     does that in the background when it is opened.
//   - The write-ahead log: holds pages as they were. Scrub empties it, for which
//     it makes readers wait for a moment.
//   - Statement journals and sorters: in memory (temp_store).
//   - The log's index (-shm): page numbers only.

// Bounds of a Scrub: how long a step keeps writers waiting, and how long to try
// to find a moment without readers.
const (
	scrubStep     = 10 * time.Millisecond
	scrubPatience = 5 * time.Second
)

// maxPages is where a page number's first byte could be mistaken for a type of
// b-tree page: at 256 GB of 8 KB pages.
const maxPages = 0x02000000

// scrubber is the state of Scrub.
type scrubber struct {
	running   chan struct{} // semaphore: one call runs at a time
	untracked bool          // pages may have been written before this process began
	waiting   atomic.Int32  // calls that wait for running; the one in the background hurries for them
	began     atomic.Int64  // runs that have begun
	lastClean int64         // the last run that succeeded

	background sync.WaitGroup // of scrubAhead
	cancel     func()         // ends it
}

// Scrub implements port.Scrubber. It finishes what DeletePartition left to be
// purged, overwrites what secure_delete does not reach, and empties the log.
// Reads and writes go on, but for moments. Fault Unavailable with RetryAfter
// when readers do not let go of the log; the next call goes on from there.
func (s *Store) Scrub(ctx context.Context) error {
	const op = "scrub"
	if s.purge == nil {
		return fault.Wrap(fault.Internal, op, errors.New("the store is shared"), "an internal error occurred")
	}
	before := s.scrub.began.Load()
	s.scrub.waiting.Add(1)
	defer s.scrub.waiting.Add(-1)
	select {
	case s.scrub.running <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.scrub.running }()
	if s.scrub.lastClean > before { // one that began after this call has done its work
		return nil
	}
	run := s.scrub.began.Add(1)
	if err := s.purge.All(ctx); err != nil {
		return err
	}
	if _, err := s.scrubPages(ctx); err != nil {
		return dialect{}.Fault(op, err)
	}
	if err := s.emptyLog(ctx); err != nil {
		return dialect{}.Fault(op, err)
	}
	s.scrub.lastClean = run
	return nil
}

// scrubAhead does what the first Scrub would have to do, when there are
// memories that may be erased. It rests as long as it works.
func (s *Store) scrubAhead(ctx context.Context) {
	found := false
	err := s.View(ctx, func(r port.Reader) (err error) {
		found, err = r.(*bunsql.Reader).HasEndUsers(ctx)
		return err
	})
	if err == nil && found {
		select {
		case s.scrub.running <- struct{}{}:
			defer func() { <-s.scrub.running }()
		case <-ctx.Done():
			return
		}
		if s.scrub.untracked {
			began := time.Now()
			var pages int
			if pages, err = s.scrubPages(ctx); err == nil {
				s.o.Log.Info("pages scrubbed", "pages", pages, "took", time.Since(began))
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		s.o.Log.Warn("page scrub failed", "error", err)
	}
}

// scrubPages overwrites the gaps of every page that may have something in it
// and gives the number of pages.
func (s *Store) scrubPages(ctx context.Context) (int, error) {
	var pages []uint32
	if s.scrub.untracked {
		var err error
		if pages, err = s.pagesWithGaps(ctx); err != nil {
			return 0, err
		}
	}
	err := s.commit.runBetween(ctx, func(w *bunsql.Session) error {
		err := s.log.collectPages(ctx, w)
		if err == nil {
			pages = append(pages, s.log.written.drain()...)
		}
		return err
	})
	n := len(pages)
	for err == nil && len(pages) > 0 {
		began := time.Now()
		err = s.commit.runBetween(ctx, func(w *bunsql.Session) (err error) {
			pages, err = s.scrubStep(ctx, w, pages)
			return err
		})
		s.pauseBetweenSteps(ctx, time.Since(began))
	}
	if err == nil {
		s.scrub.untracked = false
		return n, nil
	}
	// These pages have yet to be scrubbed.
	return 0, errors.Join(err, s.commit.runBetween(context.WithoutCancel(ctx), func(*bunsql.Session) error {
		for _, n := range pages {
			s.log.written.add(n)
		}
		return nil
	}))
}

// pauseBetweenSteps lets others have the disk for as long as the work took, unless a call of
// Scrub waits for it.
func (s *Store) pauseBetweenSteps(ctx context.Context, took time.Duration) {
	if s.scrub.waiting.Load() > 0 {
		return
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
	}
}

// scrubStep overwrites the gaps of some pages and gives the rest.
func (s *Store) scrubStep(ctx context.Context, w *bunsql.Session, pages []uint32) ([]uint32, error) {
	if err := s.log.collectPages(ctx, w); err != nil {
		return pages, err
	}
	if err := s.commit.begin(ctx); err != nil {
		return pages, err
	}
	began, changed, rest := time.Now(), 0, pages
	for len(rest) > 0 && time.Since(began) < scrubStep {
		var page []byte
		// Past the end: the page was written and the file cut since.
		ok, err := w.Row(ctx, `SELECT data FROM sqlite_dbpage WHERE pgno = ?`, []any{rest[0]}, &page)
		if err == nil && ok && clearGap(page, rest[0]) {
			changed++
			err = w.Exec(ctx, `UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, page, rest[0])
		}
		if err != nil {
			s.commit.abandon()
			return pages, err
		}
		rest = rest[1:]
	}
	if changed == 0 {
		s.commit.abandon()
		return rest, nil
	}
	if err := s.commit.retry(ctx, `COMMIT`); err != nil {
		s.commit.abandon()
		return pages, err
	}
	// What this wrote is clean.
	return rest, errors.Join(s.log.skipFrames(ctx, w), s.log.keepShort(ctx, w))
}

// pagesWithGaps reads the database file beside SQLite and finds the pages with something
// in their gap. A page that is written during the scan is in the log: note the log's
// pages afterwards.
//
// The file stays open as long as the store: a process that closes a file loses all locks
// that it has on it, those of SQLite too, and other programs would take the database for
// one that nobody uses.
func (s *Store) pagesWithGaps(ctx context.Context) (pages []uint32, err error) {
	info, err := s.file.Stat()
	if err != nil {
		return nil, err
	}
	f := io.NewSectionReader(s.file, 0, info.Size())
	var head [100]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 {
		return nil, fmt.Errorf("page size %d", size)
	}
	r := bufio.NewReaderSize(f, 1<<20)
	page := make([]byte, size)
	began := time.Now()
	for n := uint32(1); ; n++ {
		if _, err := io.ReadFull(r, page); err == io.EOF || err == io.ErrUnexpectedEOF {
			return pages, nil
		} else if err != nil {
			return nil, err
		}
		if n >= maxPages {
			return nil, errors.New("the database is larger than what can be scrubbed")
		}
		if clearGap(page, n) {
			pages = append(pages, n)
		}
		if n%1024 == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			s.pauseBetweenSteps(ctx, time.Since(began))
			began = time.Now()
		}
	}
}

// clearGap overwrites the gap of a b-tree page and reports whether anything was
// in it. Other pages begin with a page number below maxPages, or zeros.
func clearGap(page []byte, number uint32) bool {
	if len(page) < 512 { // less than any page
		return false
	}
	at := 0
	if number == 1 {
		at = 100 // the file's header
	}
	pointers := at
	switch page[at] {
	case 10, 13: // leaves of an index and of a table
		pointers += 8
	case 2, 5: // inner pages
		pointers += 12
	default:
		return false
	}
	// SQLite file format, section 1.6: 3..4 the number of cells, 5..6 where
	// their content begins, 0 being 65536.
	from := pointers + 2*int(binary.BigEndian.Uint16(page[at+3:]))
	to := int(binary.BigEndian.Uint16(page[at+5:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return false
	}
	dirty := false
	for i, b := range page[from:to] {
		if b != 0 {
			dirty = true
			clear(page[from+i : to])
			break
		}
	}
	return dirty
}

// emptyLog empties the log as soon as no reader needs it.
func (s *Store) emptyLog(ctx context.Context) error {
	// within bounds the wait for the connection that writes.
	try := func(within context.Context) (done bool, err error) {
		err = s.commit.runBetween(within, func(w *bunsql.Session) (err error) {
			done, err = s.log.empty(ctx, w)
			return err
		})
		if err != nil && within.Err() != nil && ctx.Err() == nil {
			return false, nil
		}
		return done, err
	}
	if done, err := try(ctx); done || err != nil {
		return err
	}
	// Views follow one another without a break: make one, a longer one each time.
	until := time.Now().Add(scrubPatience)
	for patience := 20 * time.Millisecond; time.Now().Before(until); patience = min(2*patience, time.Second) {
		var done bool
		if _, err := s.read.pause(ctx, patience, func() (err error) {
			// A writer that reads besides waits for the end of the pause: it can't be waited for.
			within, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			done, err = try(within)
			return err
		}); done || err != nil {
			return err
		}
		select {
		case <-time.After(patience): // let views through that others wait for
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fault.Wrap(fault.Unavailable, "scrub", errors.New("a reader holds the write-ahead log"),
		"a long read is under way; deleted content is still in the log").After(5 * time.Second)
}

var _ port.Scrubber = (*Store)(nil)
