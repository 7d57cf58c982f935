package engine

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/ingest"
	"github.com/mnemehq/mneme/core/job"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
	"github.com/mnemehq/mneme/core/webhook"
)

// Figures are what a running Engine measures of itself beside its calls. All but
// Store are of this process, and as they are now.
type Figures struct {
	Store       port.Statistics // as counted at Counted
	Counted     time.Time       // zero: not yet
	Running     int             // calls that are served
	Waiting     int             // calls that wait for their turn
	Backlog     ingest.Backlog
	Replica     replica.Standing
	Jobs        map[job.Attempt]int64
	Deliveries  map[webhook.Outcome]int64 // attempts to deliver events to webhooks
	CacheHits   int64                     // queries whose encoding was kept from before
	CacheMisses int64
	StorePools  map[string]port.Pool // by database, "" where it is one; empty: the store has none
	IndexPools  []port.Pool
}

// Figures measures. It asks nothing that takes time.
func (e *Engine) Figures() Figures {
	f := Figures{
		Running: e.gate.InUse(),
		Waiting: e.gate.Waiting(),
		Backlog: e.projector.Backlog(),
		Replica: e.replica.Standing(),
		Jobs:    e.jobs.Attempts(),

		Deliveries: e.deliverer.Attempts(),
	}
	if e.runs != nil {
		maps.Copy(f.Jobs, e.runs.Attempts())
	}
	f.Store, f.Counted = e.census.last()
	f.CacheHits, f.CacheMisses = e.searcher.CacheUse()
	f.StorePools = map[string]port.Pool{}
	switch s := e.ports.(type) {
	case port.Pooled:
		f.StorePools[""] = s.Pool()
	case port.Parted:
		for _, part := range s.Parts() {
			if p, ok := part.Pool(); ok {
				f.StorePools[part.Name] = p
			}
		}
	}
	for _, ix := range e.projector.Indexes() {
		if p, ok := ix.(port.Pooled); ok {
			f.IndexPools = append(f.IndexPools, p.Pool())
		}
	}
	return f
}

// census counts the store at its start, and again once its counts are asked for and old, so
// that reading the figures costs nothing and a server that nobody watches sleeps.
type census struct {
	store port.Snapshots[port.StatisticsReader]
	every time.Duration
	now   func() time.Time
	log   *slog.Logger
	asked chan struct{} // holds one while somebody has asked since the last count

	mu      sync.Mutex
	counts  port.Statistics
	counted time.Time
}

func newCensus(c *Config) *census {
	return &census{
		store: port.NarrowReads(c.Store, func(r port.Reader) port.StatisticsReader { return r }),
		every: c.Count,
		now:   c.Now,
		log:   c.Log,
		asked: make(chan struct{}, 1),
	}
}

func (c *census) last() (port.Statistics, time.Time) {
	select {
	case c.asked <- struct{}{}:
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts, c.counted
}

// Run counts until ctx ends.
func (c *census) Run(ctx context.Context) {
	for {
		began := time.Now()
		select {
		case <-c.asked: // this count is the answer
		default:
		}
		c.count(ctx)
		select {
		case <-ctx.Done():
			return
		case <-c.asked:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.every - time.Since(began)):
		}
	}
}

// countTimeout bounds one count, so that a store that hangs is asked again.
const countTimeout = 20 * time.Second

func (c *census) count(ctx context.Context) {
	within, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	var counts port.Statistics
	err := c.store.View(within, func(r port.StatisticsReader) (err error) {
		counts, err = r.Statistics(within)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "store not counted", "error", err)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.counted = counts, c.now()
}
