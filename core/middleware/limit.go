package middleware

import (
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/go-kit/kit/endpoint"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Limiter keeps token buckets. Safe for concurrent use. One process keeps them
// in memory (Buckets); replicas may share an implementation.
type Limiter interface {
	// Take charges units to a key's bucket of a class, or nothing when there are
	// not enough. spent is what the same call was charged before. A call that
	// costs more than the whole bucket is allowed when it found the bucket full,
	// and leaves a debt, so that no batch is locked out for ever.
	Take(ctx context.Context, key string, class op.Class, rate ident.Rate, units, spent int) (Taken, error)
}

// Taken is the state of a bucket after a charge.
type Taken struct {
	OK        bool
	Remaining int           // whole units left
	Reset     time.Duration // until the bucket is full again
	Retry     time.Duration // when not OK: until the call, repeated whole, would be allowed
}

// Limits applies rates per class. A rate of the key itself comes first, and is
// counted for it alone; then the quotas of its integration, which all its keys
// share; then Rates.
type Limits struct {
	Limiter Limiter
	Rates   map[op.Class]ident.Rate // PerMinute 0 or absent: unlimited
}

// Admit charges units of a class to the caller, says what is left in the
// RateLimit headers (draft-ietf-httpapi-ratelimit-headers-11) and answers fault
// RateLimited when there is too little. It is an op.Admit; nil Limits charge nothing.
func (l *Limits) Admit(ctx context.Context, c *op.Call, class op.Class, units int) error {
	spent := 0
	if class == c.Spec.Class {
		spent = 1 // by Limit
	}
	return l.charge(ctx, c, class, units, spent)
}

func (l *Limits) charge(ctx context.Context, c *op.Call, class op.Class, units, spent int) error {
	if l == nil || class == op.Free || c.Caller.KeyID == "" {
		return nil
	}
	key, rate := l.rate(c.Caller, class)
	if rate.PerMinute <= 0 {
		return nil
	}
	t, err := l.Limiter.Take(ctx, key, class, rate, units, spent)
	if err != nil {
		return fmt.Errorf("charge rate limit: %w", err)
	}
	if c.Reply != nil {
		mergeHeader(c.Reply, "RateLimit-Policy", class, fmt.Sprintf("q=%d;w=60", rate.PerMinute))
		mergeHeader(c.Reply, "RateLimit", class, fmt.Sprintf("r=%d;t=%d", t.Remaining, seconds(t.Reset)))
	}
	if t.OK {
		return nil
	}
	f := fault.New(fault.RateLimited, "the %s limit of %d requests a minute is used up; retry after %d s",
		class, rate.PerMinute, seconds(t.Retry)).After(t.Retry).By(fault.RateLimit)
	f.Details = map[string]any{"retryAfter": seconds(t.Retry)}
	return f
}

// fullBatch is the least capacity of a bucket of memory writes.
const fullBatch = 100

// rate is a caller's rate of a class, and the key of the bucket that is charged.
func (l *Limits) rate(p ident.Principal, class op.Class) (key string, r ident.Rate) {
	key = p.RateKey()
	r, own := p.Limits[string(class)]
	switch {
	case own:
		key = p.KeyID
	case p.Integration != "" && class == op.MemoryRead:
		r.PerMinute = p.Quotas.ReadRatePerMin
	case p.Integration != "" && class == op.MemoryWrite:
		r.PerMinute = p.Quotas.WriteRatePerMin
	default:
		r = l.Rates[class]
	}
	if class == op.MemoryWrite && r.Burst == 0 {
		r.Burst = max(fullBatch, r.PerMinute/10)
	}
	return key, r
}

// seconds rounds up and is at least 1 for any wait.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// mergeHeader puts a class's item into a list header, in the place of an earlier one.
func mergeHeader(r *op.Reply, header string, class op.Class, params string) {
	name := fmt.Sprintf("%q;", string(class))
	var items []string
	if list := r.Header[header]; list != "" {
		for item := range strings.SplitSeq(list, ", ") {
			if !strings.HasPrefix(item, name) {
				items = append(items, item)
			}
		}
	}
	r.Set(header, strings.Join(append(items, name+params), ", "))
}

// Limit charges the first unit of a call before its input is read.
func Limit(l *Limits) endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, request any) (any, error) {
			c := request.(*op.Call)
			if err := l.charge(ctx, c, c.Spec.Class, 1, 0); err != nil {
				return nil, err
			}
			return next(ctx, request)
		}
	}
}

// Buckets is a Limiter in memory. A bucket that is full again is forgotten, so
// memory follows the keys used in the last minutes.
type Buckets struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [16]bucketShard
}

type bucketShard struct {
	mu      sync.Mutex
	buckets map[bucketKey]*bucket
	swept   time.Time
}

type bucketKey struct {
	key   string
	class op.Class
}

type bucket struct {
	port.Bucket
	full time.Time // when it will be full
}

// NewBuckets makes an empty Limiter. now is the clock; nil: time.Now.
func NewBuckets(now func() time.Time) *Buckets {
	if now == nil {
		now = time.Now
	}
	b := &Buckets{now: now, seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i].buckets = map[bucketKey]*bucket{}
	}
	return b
}

const sweepEvery = 30 * time.Second

// Take implements Limiter.
func (b *Buckets) Take(_ context.Context, key string, class op.Class, rate ident.Rate, units, spent int) (Taken, error) {
	c := port.Charge{Rate: rate, Units: units, Spent: spent}
	capacity, perSecond := port.Capacity(rate), float64(rate.PerMinute)/60
	now := b.now()
	s := &b.shards[maphash.String(b.seed, key)%uint64(len(b.shards))]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	k := bucketKey{key, class}
	x, ok := s.buckets[k]
	if !ok {
		x = &bucket{Bucket: port.Bucket{Tokens: capacity, At: now}}
		s.buckets[k] = x
	}
	t := Taken{OK: x.Draw(now, c).OK}
	if !t.OK {
		t.Retry = waitFor(c.Whole()-x.Tokens, perSecond)
	}
	t.Remaining = max(0, int(x.Tokens+1e-9))
	t.Reset = waitFor(capacity-x.Tokens, perSecond)
	x.full = now.Add(t.Reset)
	return t, nil
}

func waitFor(units, perSecond float64) time.Duration {
	return time.Duration(units / perSecond * float64(time.Second))
}

// sweep forgets buckets that are full.
func (s *bucketShard) sweep(now time.Time) {
	if since := now.Sub(s.swept); since >= 0 && since < sweepEvery {
		return
	}
	s.swept = now
	for k, x := range s.buckets {
		if !now.Before(x.full) {
			delete(s.buckets, k)
		}
	}
}

// len counts buckets, for tests of forgetting.
func (b *Buckets) len() int {
	n := 0
	for i := range b.shards {
		b.shards[i].mu.Lock()
		n += len(b.shards[i].buckets)
		b.shards[i].mu.Unlock()
	}
	return n
}

var (
	_ Limiter  = (*Buckets)(nil)
	_ op.Admit = (*Limits)(nil).Admit
)
