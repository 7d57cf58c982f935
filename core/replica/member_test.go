package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/storage/sqlite"
	"github.com/mnemehq/mneme/adapters/storage/sqlite/sqlitetest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/replica"
)

func open(t testing.TB) port.Store {
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

func join(t *testing.T, s replica.Settings) *replica.Member {
	t.Helper()
	s.Log = slog.New(slog.DiscardHandler)
	m, err := replica.Join(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func claim(t *testing.T, m *replica.Member) bool {
	t.Helper()
	_, ok, err := m.Claim(t.Context(), "work", func(replica.Reader) (bool, error) { return true, nil })
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// Work stays with a replica that renews, and moves on from one that stops renewing,
// one that leaves, and an earlier process of the same place.
func TestWorkMovesOn(t *testing.T) {
	for !workMovesOn(t) {
		t.Log("a renewal was held up for longer than the lease; once more")
	}
}

// workMovesOn reports whether it came to its end: a machine that stands still for
// longer than the lease lets it lapse, and then the test has seen nothing.
func workMovesOn(t *testing.T) bool {
	t.Helper()
	store := open(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	lease := replica.Settings{Store: store, Lease: 3 * time.Second, Every: 50 * time.Millisecond}
	renewing := lease
	var last, before atomic.Int64 // ns, when the last renewal was done, and the one before: it began after that
	renewing.Beat = func(context.Context) {
		before.Store(last.Load())
		last.Store(time.Now().UnixNano())
	}
	a, b := join(t, renewing), join(t, lease)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { a.Run(ctx) })
	other, end := context.WithCancel(t.Context())
	defer end()
	running.Go(func() { b.Run(other) })
	if !claim(t, a) {
		t.Fatal("a free claim was refused")
	}
	for began := time.Now(); time.Since(began) < 4*time.Second; time.Sleep(20 * time.Millisecond) {
		if claim(t, b) {
			if time.Since(time.Unix(0, before.Load())) < lease.Lease {
				t.Fatal("a claim moved on although its replica renews")
			}
			return false
		}
	}
	stop() // it dies
	for began := time.Now(); !claim(t, b); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			t.Fatal("the claim of a dead replica does not move on")
		}
	}
	end()
	running.Wait()
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	place := replica.Settings{Store: store, ID: "place", Lease: time.Hour}
	c := join(t, place)
	if !claim(t, c) {
		t.Fatal("the claim of one that left does not move on")
	}
	if d := join(t, place); d.Self().Epoch <= c.Self().Epoch || !claim(t, d) {
		t.Error("the next process of a place does not have what the one before had")
	}
	return true
}

// Over a store that only one process can have, nobody waits for who had it before.
func TestAlone(t *testing.T) {
	store := open(t)
	a := join(t, replica.Settings{Store: store, ID: "a"})
	if !a.Alone() || !a.Standing().Alone || !claim(t, a) {
		t.Fatal("not alone")
	}
	b := join(t, replica.Settings{Store: store, ID: "b"}) // the folder was copied, or its name lost
	if !claim(t, b) {
		t.Error("a claim stays with a process that is no more")
	}
	err := store.View(t.Context(), func(r port.Reader) error {
		live, err := r.Replicas(t.Context())
		if len(live) != 1 || live[0] != b.Self() {
			t.Errorf("living: %v", live)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// One that slept past its lease learns so, cleans up, and goes on as another.
func TestLapsed(t *testing.T) {
	var beats, lapses atomic.Int32
	m := join(t, replica.Settings{Store: open(t), ID: "sleeper", Lease: 30 * time.Millisecond, Every: 20 * time.Millisecond,
		Beat: func(context.Context) {
			if beats.Add(1) == 1 {
				time.Sleep(100 * time.Millisecond)
			}
		},
		Lapsed: func(context.Context) { lapses.Add(1) }})
	before, stood := m.Self(), m.Standing()
	if stood.Alone || stood.Lapses != 0 || stood.Renewed.IsZero() {
		t.Errorf("at the start: %+v", stood)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); m.Run(ctx) }()
	for began := time.Now(); m.Self() == before || lapses.Load() == 0; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 2*time.Minute {
			t.Fatalf("%v after %d lapses", m.Self(), lapses.Load())
		}
	}
	stop()
	<-done
	if now := m.Standing(); now.Lapses < int64(lapses.Load()) || now.Lapses == 0 || !now.Renewed.After(stood.Renewed) {
		t.Errorf("after %d lapses: %+v, before %+v", lapses.Load(), now, stood)
	}
}

// A renewal that succeeds is told, one that fails is none.
func TestRenewalsAreTold(t *testing.T) {
	store := &coretest.Store{DocumentStore: open(t).(port.DocumentStore)}
	beats := make(chan struct{})
	m := join(t, replica.Settings{Store: store, Lease: time.Hour, Every: time.Millisecond,
		Beat: func(ctx context.Context) {
			select {
			case beats <- struct{}{}:
			case <-ctx.Done():
			}
		}})
	joined := m.Standing()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); m.Run(ctx) }()
	<-beats
	first := m.Standing()
	if !first.Renewed.After(joined.Renewed) || first.Lapses != 0 || first.Alone {
		t.Errorf("joined %+v, renewed %+v", joined, first)
	}
	stop()
	<-done
	failed := m.Standing()
	broken := make(chan struct{}, 1)
	store.OnBackgroundUpdate.Set(func() error {
		select {
		case broken <- struct{}{}:
		default:
		}
		return errors.New("away")
	})
	ctx, stop = context.WithCancel(t.Context())
	done = make(chan struct{})
	go func() { defer close(done); m.Run(ctx) }()
	for range 3 {
		<-broken
	}
	stop()
	<-done
	if now := m.Standing(); now != failed {
		t.Errorf("a renewal that failed: %+v, before %+v", now, failed)
	}
}
