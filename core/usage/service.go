package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/page"
	"github.com/mnemehq/mneme/core/port"
)

// DefaultRetention is how long usage is kept.
const DefaultRetention = 400 * 24 * time.Hour

const (
	// flushAfter is how long counts are gathered after the first one.
	flushAfter    = 5 * time.Second
	trimEvery     = time.Hour
	trimmedAtOnce = 5000
	storedAtOnce  = 500
)

// Settings configure a Service. Store, Counter and Guard are required, Pages for its lists.
type Settings struct {
	Store     port.Store
	Counter   *Counter
	Guard     *Guard
	Pages     *page.Signer
	Retention time.Duration    // 0: DefaultRetention
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: discarded
}

type reader interface {
	port.UsageReader
	port.OrganizationReader
}

type writer interface {
	reader
	port.UsageWriter
}

// Service stores what was counted, and shows it.
type Service struct {
	*Counter
	guard     *Guard
	store     port.Narrowed[reader, writer]
	pages     *page.Signer
	retention time.Duration
	now       func() time.Time
	log       *slog.Logger
	trimmed   time.Time

	flushing sync.Mutex // one flush at a time
}

// New makes the service. Run stores what is counted, and reading does, too.
func New(s Settings) *Service {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{
		Counter: s.Counter,
		guard:   s.Guard,
		store: port.Narrow(s.Store, func(r port.Reader) reader { return r },
			func(w port.Writer) writer { return w }),
		pages:     s.Pages,
		retention: cmp.Or(s.Retention, DefaultRetention),
		now:       s.Now,
		log:       s.Log,
	}
}

// Run stores what is counted until ctx ends. While nothing is counted it does nothing.
func (s *Service) Run(ctx context.Context) {
	if err := s.readAll(ctx); err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "kept bytes not read", "error", err)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushAfter):
		}
		if err := s.Flush(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "usage not stored", "error", err)
		}
		if now := s.now(); now.Sub(s.trimmed) >= trimEvery {
			s.trimmed = now
			if err := s.Trim(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "usage not trimmed", "error", err)
			}
		}
	}
}

// Flush stores what was counted in this process so far. What cannot be stored stays counted, to
// be stored with the next flush: counts of which the database does not say whether it has
// them may be there twice then.
func (s *Service) Flush(ctx context.Context) error {
	s.flushing.Lock()
	defer s.flushing.Unlock()
	var errs []error
	for rows := range slices.Chunk(s.take(), storedAtOnce) {
		if err := s.store.Update(ctx, func(w writer) error { return w.AddUsage(ctx, rows) }); err != nil {
			s.back(rows)
			errs = append(errs, fmt.Errorf("store usage: %w", err))
		}
	}
	changed := s.guard.changed.take()
	if err := s.readKept(ctx, changed); err != nil {
		s.guard.changed.add(changed...)
		s.Rouse()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// readKept stores what accounts keep now.
func (s *Service) readKept(ctx context.Context, of []port.UsageAccount) error {
	if len(of) == 0 {
		return nil
	}
	var all []port.UsageBytes
	// Not in the transaction that stores it: reading so many rows would be in the way of those
	// who write them.
	err := s.store.View(ctx, func(r reader) error {
		all = nil
		for _, a := range of {
			kept, err := r.Kept(ctx, a)
			if err != nil {
				return err
			}
			all = append(all, kept...)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what is kept: %w", err)
	}
	return s.putKept(ctx, all)
}

func (s *Service) putKept(ctx context.Context, all []port.UsageBytes) error {
	for some := range slices.Chunk(all, storedAtOnce) {
		if err := s.store.Update(ctx, func(w writer) error { return w.PutUsageBytes(ctx, some) }); err != nil {
			return fmt.Errorf("store what is kept: %w", err)
		}
	}
	return nil
}

// readAll stores what has changed without being read: by a process that died, or before there
// was usage.
func (s *Service) readAll(ctx context.Context) error {
	var news []port.UsageBytes
	err := s.store.View(ctx, func(r reader) error {
		news = nil
		now, err := r.Kept(ctx, port.UsageAccount{})
		if err != nil {
			return err
		}
		read, err := r.UsageBytes(ctx, port.UsageBytesList{At: s.now(), Empty: true})
		if err != nil {
			return err
		}
		known := map[port.UsageAccount]int64{}
		for _, b := range read {
			if b.Bytes > 0 {
				known[accountOf(b)] = b.Bytes
			}
		}
		for _, b := range now {
			if known[accountOf(b)] != b.Bytes {
				news = append(news, b)
			}
			delete(known, accountOf(b))
		}
		for a := range known {
			gone, err := r.Kept(ctx, a)
			if err != nil {
				return err
			}
			news = append(news, gone...)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read what is kept: %w", err)
	}
	return s.putKept(ctx, news)
}

func accountOf(b port.UsageBytes) port.UsageAccount {
	return port.UsageAccount{Org: b.Org, Namespace: b.Namespace, Integration: b.Integration}
}

// Trim removes usage whose time is up.
func (s *Service) Trim(ctx context.Context) error {
	before := s.now().Add(-s.retention)
	for {
		n := 0
		err := s.store.Update(ctx, func(w writer) (err error) {
			n, err = w.TrimUsage(ctx, before, trimmedAtOnce)
			return err
		})
		if err != nil || n < trimmedAtOnce {
			return err
		}
	}
}
