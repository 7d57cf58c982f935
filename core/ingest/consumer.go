package ingest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// consumerTTL is how long deletions are kept for indexes that have stopped reporting.
// An index that comes back later rebuilds the partitions whose log was cut.
const consumerTTL = time.Hour

// consumer reports the watermarks of this process's indexes to the store, which
// cuts no partition's log above them.
type consumer struct {
	id string

	mu        sync.Mutex
	moved     map[port.Partition]struct{} // since the last Publish
	published map[int64]uint64            // watermarks, by generation
}

func newConsumer(id string) consumer {
	return consumer{id: id, moved: map[port.Partition]struct{}{}, published: map[int64]uint64{}}
}

// noteApplied notes that an index has applied a change. Logs shorter than trimEvery
// are never cut, which leaves the many small partitions out.
func (c *consumer) noteApplied(p port.Partition, seq uint64) {
	if seq < trimEvery/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved[p] = struct{}{}
}

func (c *consumer) forget(p port.Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.moved, p)
	delete(c.published, p.Generation())
}

func (c *consumer) takeMoved() map[port.Partition]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.moved
	c.moved = map[port.Partition]struct{}{}
	return taken
}

// publishAtOnce bounds a transaction of Publish.
const publishAtOnce = 500

// Publish stores the watermarks of partitions whose indexes have moved since the
// last call, which also says that this process is alive.
func (pr *Projector) Publish(ctx context.Context) error {
	if len(pr.indexes) == 0 {
		return nil
	}
	c := &pr.consumer
	taken := c.takeMoved()
	var marks []port.Watermark
	put := func() error {
		err := pr.store.Update(ctx, func(w projectorWriter) error { return w.PutWatermarks(ctx, c.id, consumerTTL, marks) })
		if err == nil {
			c.mu.Lock()
			for _, m := range marks {
				c.published[m.Generation] = m.Seq
			}
			c.mu.Unlock()
			marks = marks[:0]
		}
		return err
	}
	err := func() error {
		for p := range taken {
			at, err := pr.lowWatermark(ctx, p)
			if err != nil {
				return err
			}
			c.mu.Lock()
			known := c.published[p.Generation()] == at
			c.mu.Unlock()
			if known {
				continue
			}
			if marks = append(marks, port.Watermark{Generation: p.Generation(), Seq: at}); len(marks) == publishAtOnce {
				if err := put(); err != nil {
					return err
				}
			}
		}
		return put()
	}()
	if err != nil {
		c.mu.Lock()
		for p := range taken {
			c.moved[p] = struct{}{}
		}
		c.mu.Unlock()
		return fmt.Errorf("publish watermarks: %w", err)
	}
	return nil
}

// lowWatermark is the number from which this process's indexes need a partition's
// log: an index continues from what it holds, in memory or, after a crash, on disk.
func (pr *Projector) lowWatermark(ctx context.Context, p port.Partition) (uint64, error) {
	low := ^uint64(0)
	for _, ix := range pr.indexes {
		at, err := ix.Durable(ctx, p)
		if err == nil && at == 0 {
			at, err = ix.Applied(ctx, p)
		}
		if err != nil {
			return 0, err
		}
		if at > 0 { // one that has nothing starts from the beginning
			low = min(low, at)
		}
	}
	if low == ^uint64(0) {
		return 0, nil
	}
	return low, nil
}
