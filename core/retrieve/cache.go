package retrieve

import (
	"container/list"
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"

	"github.com/mnemehq/mneme/core/port"
)

// queryCache keeps the encodings of the last queries, keyed by tenant, task, model
// digest and text: the same query asked again, in another namespace or with another
// filter, costs no model run. A tenant is an organization, and an integration where
// memories are searched: how fast an answer comes must not tell one of them what
// another has asked. Values are shared and must not be changed.
type queryCache struct {
	mu    sync.Mutex
	max   int
	byKey map[[32]byte]*list.Element
	order *list.List // newest first

	hits, misses atomic.Int64
}

type cached struct {
	key   [32]byte
	value any
}

func newQueryCache(n int) *queryCache {
	return &queryCache{max: max(n, 0), byKey: map[[32]byte]*list.Element{}, order: list.New()}
}

func (c *queryCache) get(ctx context.Context, p port.Partition, model, text string,
	compute func(context.Context) (any, error)) (any, error) {
	key := sha256.Sum256([]byte(string(p.Org()) + "\x00" + p.Integration() + "\x00" + model + "\x00" + text))
	c.mu.Lock()
	if e, ok := c.byKey[key]; ok {
		c.order.MoveToFront(e)
		v := e.Value.(*cached).value
		c.mu.Unlock()
		c.hits.Add(1)
		return v, nil
	}
	c.mu.Unlock()
	c.misses.Add(1)
	v, err := compute(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; !ok {
		c.byKey[key] = c.order.PushFront(&cached{key, v})
		for c.order.Len() > c.max {
			last := c.order.Back()
			c.order.Remove(last)
			delete(c.byKey, last.Value.(*cached).key)
		}
	}
	return v, nil
}
