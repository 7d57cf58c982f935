package store_test

import (
	"testing"

	"github.com/mnemehq/mneme/adapters/limit/limittest"
	"github.com/mnemehq/mneme/adapters/limit/store"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

func openStore(t testing.TB) port.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{})
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

func BenchmarkDraw(b *testing.B) {
	budget := store.Budget{Store: openStore(b)}
	for b.Loop() {
		if _, err := budget.Draw(b.Context(), "key/read", port.Charge{Rate: ident.Rate{PerMinute: 600}, Units: 1}); err != nil {
			b.Fatal(err)
		}
	}
}
