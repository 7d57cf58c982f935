package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/limit/limittest"
	"github.com/mnemehq/mneme/adapters/limit/store"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

func openStore(t testing.TB) port.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlitetest.Dir(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Buckets in the store hold for every process that draws from them.
func TestContract(t *testing.T) {
	s := openStore(t)
	r := registry.New()
	store.Register(r)
	info, ok := r.Limit.Component("store")
	if !ok {
		t.Fatal("the component is not registered under its name")
	}
	limittest.Run(t, func(t *testing.T) port.Budget {
		b, err := r.Limit.Open(t.Context(), info.Select(), registry.Env{Store: s})
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	b, err := r.Limit.Open(t.Context(), info.Select(), registry.Env{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Draw(t.Context(), "after close", port.Charge{Rate: ident.Rate{PerMinute: 1}, Units: 1}); err != nil {
		t.Errorf("closing the limiter closed the store: %v", err)
	}
	if _, err := r.Limit.Open(t.Context(), info.Select(), registry.Env{}); err == nil {
		t.Error("opened without a store")
	}
}

// watched is a store that shows what buckets are kept.
type watched struct {
	port.Store
	kept port.Bucket
	full time.Time
}

type watchedWriter struct {
	port.Writer
	of *watched
}

func (s *watched) Update(ctx context.Context, fn func(port.Writer) error) error {
	return s.Store.Update(ctx, func(w port.Writer) error { return fn(watchedWriter{w, s}) })
}

func (w watchedWriter) PutBucket(ctx context.Context, name string, b port.Bucket, full time.Time) error {
	w.of.kept, w.of.full = b, full
	return w.Writer.PutBucket(ctx, name, b, full)
}

// A bucket is kept until it is full again, and no longer.
func TestBucketsAreForgotten(t *testing.T) {
	s := &watched{Store: openStore(t)}
	b := store.Budget{Store: s}
	for _, c := range []struct {
		rate  ident.Rate
		units int
		until time.Duration
	}{
		{ident.Rate{PerMinute: 60, Burst: 10}, 6, 6 * time.Second},
		{ident.Rate{PerMinute: 120, Burst: 10}, 10, 5 * time.Second},
		{ident.Rate{PerMinute: 600}, 0, 0},
	} {
		name := fmt.Sprint(c.rate)
		if _, err := b.Draw(t.Context(), name, port.Charge{Rate: c.rate, Units: c.units}); err != nil {
			t.Fatal(err)
		}
		if got := s.full.Sub(s.kept.At); got != c.until {
			t.Errorf("%s, %d drawn: full after %s, want %s", name, c.units, got, c.until)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	budget := store.Budget{Store: openStore(b)}
	for b.Loop() {
		if _, err := budget.Draw(b.Context(), "key/read", port.Charge{Rate: ident.Rate{PerMinute: 600}, Units: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
