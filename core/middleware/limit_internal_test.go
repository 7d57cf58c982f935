package middleware

import (
	"strconv"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
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
