package port

import (
	"context"
	"math"
	"time"

	"github.com/mnemehq/mneme/core/ident"
)

// Budget keeps token buckets that several processes share. Safe for concurrent use.
type Budget interface {
	// Draw charges the named bucket; one that is not known is full. Times are by
	// the budget's clock.
	Draw(ctx context.Context, name string, c Charge) (Drawn, error)
	Close() error
}

// Charge is what is asked of a token bucket.
type Charge struct {
	Rate  ident.Rate
	Units int // of the call, all or nothing
	// Spent is what the same call was charged before. A call that costs more than
	// the whole bucket is allowed when it found the bucket full, and leaves a debt.
	Spent int
	Back  int // tokens that were drawn ahead and not spent: they are put in first
	Ahead int // tokens to draw beside, as far as they are there
}

// Drawn is the state of a bucket after a charge.
type Drawn struct {
	OK     bool
	Ahead  int     // drawn beside
	Tokens float64 // left; negative: a debt
}

// Capacity is what a bucket of a rate holds.
func Capacity(r ident.Rate) float64 {
	if r.Burst > 0 {
		return float64(r.Burst)
	}
	return math.Max(1, float64(r.PerMinute)/10)
}

// rounding is what tokens may be off by.
const rounding = 1e-9

// Whole is what a call needs to find in the bucket at its start.
func (c Charge) Whole() float64 {
	return math.Min(float64(c.Units+c.Spent), Capacity(c.Rate))
}

// Draw fills the bucket up to now and charges it. A clock that goes back gives
// nothing and takes nothing.
func (b *Bucket) Draw(now time.Time, c Charge) Drawn {
	capacity := Capacity(c.Rate)
	if passed := now.Sub(b.At).Seconds(); passed > 0 {
		b.Tokens += passed * float64(c.Rate.PerMinute) / 60
	}
	b.At = now
	b.Tokens = math.Min(b.Tokens+float64(c.Back), capacity)
	d := Drawn{OK: b.Tokens >= c.Whole()-float64(c.Spent)-rounding}
	if d.OK {
		b.Tokens -= float64(c.Units)
		d.Ahead = max(0, min(c.Ahead, int(b.Tokens+rounding)))
		b.Tokens -= float64(d.Ahead)
	}
	d.Tokens = b.Tokens
	return d
}
