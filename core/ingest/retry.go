package ingest

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrMoved says that the store changed between preparing a write and its
	// transaction in a way that the write did not foresee; it is prepared again.
	ErrMoved = errors.New("ingest: stored state moved")
	// ErrPaused says that a reindexing is about to swap, for which writes wait; see
	// port.PartitionRow.PausedUntil.
	ErrPaused = errors.New("ingest: writes are paused")
)

// pausePoll is how long a write waits before it checks again whether a pause has ended.
const pausePoll = 10 * time.Millisecond

// Retry prepares and commits a write, again as long as that answers ErrMoved, or a
// moment later after ErrPaused, until ctx ends.
func Retry[T any](ctx context.Context, write func() (T, error)) (T, error) {
	for {
		out, err := write()
		switch {
		case errors.Is(err, ErrPaused):
			err = Sleep(ctx, pausePoll)
		case errors.Is(err, ErrMoved):
			err = ctx.Err()
		default:
			return out, err
		}
		if err != nil {
			var none T
			return none, err
		}
	}
}

// Sleep waits, unless ctx ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
