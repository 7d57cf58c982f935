package ingest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// consumerKept is for how long deletions are kept for indexes that are not heard
// of any more. What comes back later builds anew the partitions whose log does
// not reach back.
const consumerKept = time.Hour

// consumer is what the store is to know of this process's indexes: how far they
// have durably come, so that the logs of partitions are not cut before that.
type consumer struct {
	id string

	mu    sync.Mutex
	moved map[port.Partition]struct{} // since they were last published
	told  map[int64]uint64            // by generation
}

func newConsumer(id string) consumer {
	return consumer{id: id, moved: map[port.Partition]struct{}{}, told: map[int64]uint64{}}
}

// came notes that an index has come to a number. Logs shorter than trimEvery are
// never cut, which leaves the many small partitions out.
func (c *consumer) came(p port.Partition, seq uint64) {
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
	delete(c.told, p.Generation())
}

func (c *consumer) take() map[port.Partition]struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.moved
	c.moved = map[port.Partition]struct{}{}
	return taken
}

// publishAtOnce bounds a transaction of Publish.
const publishAtOnce = 500

// Publish tells the store how far the indexes are with the partitions that have
// moved since the last call, and that they are alive.
func (pr *Projector) Publish(ctx context.Context) error {
	if len(pr.indexes) == 0 {
		return nil
	}
	c := &pr.consumer
	taken := c.take()
	var marks []port.Watermark
	put := func() error {
		err := pr.store.Update(ctx, func(w port.Writer) error { return w.PutWatermarks(ctx, c.id, consumerKept, marks) })
		if err == nil {
			c.mu.Lock()
			for _, m := range marks {
				c.told[m.Generation] = m.Seq
			}
			c.mu.Unlock()
			marks = marks[:0]
		}
		return err
	}
	err := func() error {
		for p := range taken {
			at, err := pr.mark(ctx, p)
			if err != nil {
				return err
			}
			c.mu.Lock()
			known := c.told[p.Generation()] == at
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
		return fmt.Errorf("publish how far the indexes are: %w", err)
	}
	return nil
}

// mark is from where on this process's indexes need a partition's log: an index
// goes on from what it holds, in memory or, after a crash, on disk.
func (pr *Projector) mark(ctx context.Context, p port.Partition) (uint64, error) {
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
