package opensearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// refreshing lets batches that are written at the same time share a refresh, as transactions
// share a flush in a group commit: refreshes of a shard are made one after another, and each
// costs the same whether it shows one chunk or many.
type refreshing struct {
	writers atomic.Int64 // batches whose chunks are being written

	mu   sync.Mutex
	next *sharedRefresh // has not begun, so it shows whatever is written now
	busy bool
}

type sharedRefresh struct {
	ended chan struct{}
	err   error // once it has ended
}

// errNotRefreshed says that chunks are written, and that a shared refresh may not show them.
var errNotRefreshed = errors.New("the refresh has failed")

// shareRefresh waits for a refresh that begins after the call. It asks all shards, and fails
// with errNotRefreshed where one of them does, which need not be the caller's.
func (x *Index) shareRefresh(ctx context.Context) error {
	r := &x.refreshing
	r.mu.Lock()
	if r.next == nil {
		r.next = &sharedRefresh{ended: make(chan struct{})}
	}
	joined := r.next
	if !r.busy {
		r.busy = true
		go x.refreshAsked(context.WithoutCancel(ctx)) // who asks first may leave before the others
	}
	r.mu.Unlock()
	select {
	case <-joined.ended:
		return joined.err
	case <-ctx.Done():
		return fmt.Errorf("opensearch: wait for a refresh: %w", context.Cause(ctx))
	}
}

// refreshAsked refreshes until nobody has asked since the last one began.
func (x *Index) refreshAsked(ctx context.Context) {
	r := &x.refreshing
	for {
		r.mu.Lock()
		now := r.next
		r.next, r.busy = nil, r.next != nil
		r.mu.Unlock()
		if now == nil {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, x.cfg.Timeout)
		if err := x.refresh(ctx); err != nil {
			now.err = errors.Join(errNotRefreshed, err)
		}
		cancel()
		close(now.ended)
	}
}

// refresh lets searches see what was written and deleted in all shards.
func (x *Index) refresh(ctx context.Context) error {
	var r struct {
		Shards struct {
			Failed   int   `json:"failed"`
			Failures []any `json:"failures"`
		} `json:"_shards"`
	}
	if err := x.call(ctx, request{op: "refresh", method: http.MethodPost, path: "/" + x.alias + "/_refresh",
		limit: x.cfg.WriteTimeout}, &r); err != nil {
		return err
	}
	if r.Shards.Failed > 0 {
		return unavailable("refresh", &unreachableError{fmt.Errorf("%d copies of shards failed: %.300v", r.Shards.Failed,
			r.Shards.Failures)})
	}
	return nil
}
