package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// Budget is port.Budget in the system of record.
type Budget struct{ Store port.Store }

// Draw implements port.Budget.
func (b Budget) Draw(ctx context.Context, name string, c port.Charge) (d port.Drawn, err error) {
	err = b.Store.Update(ctx, func(w port.Writer) error {
		bucket, ok, now, err := w.Bucket(ctx, name)
		if err != nil {
			return err
		}
		if !ok {
			bucket = port.Bucket{Tokens: port.Capacity(c.Rate), At: now}
		}
		d = bucket.Draw(now, c)
		missing := port.Capacity(c.Rate) - bucket.Tokens
		full := now.Add(time.Duration(missing * 60 / float64(c.Rate.PerMinute) * float64(time.Second)))
		return w.PutBucket(ctx, name, bucket, full)
	})
	if err != nil {
		return port.Drawn{}, fmt.Errorf("draw from a shared rate limit: %w", err)
	}
	return d, nil
}

// Close implements port.Budget. The store is closed by the program that opened it.
func (Budget) Close() error { return nil }

var _ port.Budget = Budget{}
