package usage

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// Counter adds up what is done until somebody takes it. Safe for concurrent use.
type Counter struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [16]shard
	wake   chan struct{}
}

// shard is a part of the counts, so that calls on different accounts don't wait for each other.
type shard struct {
	mu     sync.Mutex
	counts map[counted]*port.Usage
}

type counted struct {
	hour int64 // since 1970
	of   port.UsageAccount
}

// NewCounter makes a Counter; without now it asks time.Now.
func NewCounter(now func() time.Time) *Counter {
	if now == nil {
		now = time.Now
	}
	return &Counter{now: now, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1)}
}

const anHour = int64(time.Hour / time.Second)

// CountUsage implements port.UsageCounter.
func (c *Counter) CountUsage(a port.UsageAccount, u port.Usage) {
	if a.Org == "" || u == (port.Usage{}) {
		return
	}
	c.add(counted{c.now().Unix() / anHour, a}, u)
	c.Rouse()
}

func (c *Counter) add(k counted, u port.Usage) {
	s := &c.shards[maphash.Comparable(c.seed, k.of)%uint64(len(c.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts = map[counted]*port.Usage{}
	}
	sum := s.counts[k]
	if sum == nil {
		sum = &port.Usage{}
		s.counts[k] = sum
	}
	sum.Add(u)
}

// Rouse has Run of the service store what there is in a while.
func (c *Counter) Rouse() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// take takes what was counted, by hour and account: transactions of several processes that
// add to the same rows meet in the same order.
func (c *Counter) take() []port.UsageRow {
	var out []port.UsageRow
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		counts := s.counts
		s.counts = nil
		s.mu.Unlock()
		for k, u := range counts {
			out = append(out, port.UsageRow{From: time.Unix(k.hour*anHour, 0).UTC(), UsageAccount: k.of, Usage: *u})
		}
	}
	slices.SortFunc(out, func(a, b port.UsageRow) int {
		return cmp.Or(a.From.Compare(b.From), cmp.Compare(a.Org, b.Org), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Integration, b.Integration), cmp.Compare(a.KeyID, b.KeyID))
	})
	return out
}

// back takes back what could not be stored.
func (c *Counter) back(rows []port.UsageRow) {
	for _, r := range rows {
		c.add(counted{r.From.Unix() / anHour, r.UsageAccount}, r.Usage)
	}
	if len(rows) > 0 {
		c.Rouse()
	}
}

var _ port.UsageCounter = (*Counter)(nil)
