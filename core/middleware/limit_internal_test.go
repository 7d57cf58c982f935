package middleware

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
)

// Memory follows the keys in use: buckets that are full again go.
func TestBucketsAreForgotten(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	b := NewBuckets(func() time.Time { return now })
	rate := ident.Rate{PerMinute: 60, Burst: 5}
	for minute := range 20 {
		for i := range 500 {
			if _, err := b.Take(t.Context(), strconv.Itoa(minute)+"/"+strconv.Itoa(i), op.Read, rate, 1, 0); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Minute)
	}
	if n := b.len(); n > 1000 {
		t.Errorf("%d buckets for 500 keys in use", n)
	}
}

// A shard is swept half a minute after the last time, or when the clock has gone back,
// and loses the buckets that are full.
func TestAShardIsSwept(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	for after, want := range map[time.Duration]int{
		0: 2, 1: 2, sweepEvery - 1: 2, sweepEvery: 1, time.Hour: 1, -1: 1, -time.Hour: 1,
	} {
		now := at.Add(after)
		s := bucketShard{swept: at, buckets: map[bucketKey]*bucket{{key: "full"}: {full: now}, {key: "used"}: {full: now.Add(1)}}}
		s.sweep(now)
		swept := at
		if want == 1 {
			swept = now
		}
		if len(s.buckets) != want || !s.swept.Equal(swept) || s.buckets[bucketKey{key: "used"}] == nil {
			t.Errorf("after %s: %d left, swept at %s", after, len(s.buckets), s.swept)
		}
	}
}

// full is a budget in which there is always enough.
type full struct{}

func (full) Draw(_ context.Context, _ string, c port.Charge) (port.Drawn, error) {
	return port.Drawn{OK: true, Tokens: port.Capacity(c.Rate)}, nil
}
func (full) Close() error { return nil }

// A process forgets the shares that nobody has used for half a minute, also when the
// clock has gone back in the meantime.
func TestSharesAreForgotten(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	s := NewShared(full{}, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	for i, c := range []struct {
		after time.Duration
		key   string
		left  string
	}{
		{0, "a", "[a]"},
		{1, "b", "[a b]"},
		{sweepEvery - 2, "c", "[a b c]"},
		{1, "d", "[b c d]"}, // a was used half a minute ago, b a moment less
		{sweepEvery - 1, "e", "[b c d e]"},
		{1, "e", "[e]"},
		{-time.Hour, "f", "[e f]"},
		{sweepEvery - 1, "f", "[e f]"},
		{1, "g", "[e f g]"}, // e will be used in an hour
		{2 * time.Hour, "h", "[h]"},
	} {
		now = now.Add(c.after)
		if _, err := s.Take(t.Context(), c.key, op.Read, ident.Rate{PerMinute: 60}, 1, 0); err != nil {
			t.Fatal(err)
		}
		var left []string
		for k := range s.keys {
			left = append(left, k.key)
		}
		slices.Sort(left)
		if got := fmt.Sprint(left); got != c.left {
			t.Errorf("%d: %s, want %s", i, got, c.left)
		}
	}
}
