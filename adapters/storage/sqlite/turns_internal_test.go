package sqlite

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// turns has views or updates of organizations wait behind one that is under way, and says in
// which order they come.
func turns(t *testing.T, orgs string, waiting func() int, call func(context.Context, func() error) error) string {
	t.Helper()
	var mu sync.Mutex
	var order []string
	var all sync.WaitGroup
	under, end := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := call(t.Context(), func() error { close(under); <-end; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-under
	for i, org := range strings.Split(orgs, "") {
		all.Go(func() {
			ctx := ident.WithPrincipal(t.Context(), ident.Principal{Org: ident.Org(org)})
			if err := call(ctx, func() error {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, org)
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
		for waiting() <= i {
			time.Sleep(time.Millisecond)
		}
	}
	close(end)
	all.Wait()
	return strings.Join(order, "")
}

// However many reads and writes of one organization wait for the database, another's come
// after one of it.
func TestOrganizationsTakeTurns(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{Readers: 1, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	const come, want = "aaaaaabbc", "abcabaaaa"
	if got := turns(t, come, s.read.slots.Waiting, func(ctx context.Context, fn func() error) error {
		return s.View(ctx, func(port.Reader) error { return fn() })
	}); got != want {
		t.Errorf("reads come as %s, want %s", got, want)
	}
	if got := turns(t, come, s.commit.queue.Len, func(ctx context.Context, fn func() error) error {
		return s.Update(ctx, func(port.Writer) error { return fn() })
	}); got != want {
		t.Errorf("writes come as %s, want %s", got, want)
	}
}

// A commit that organizations share ends soon, so that the short write of one does not wait
// for many of another's.
func TestSharedCommitsAreShort(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	var mu sync.Mutex
	var steps []string
	note := func(step string) {
		mu.Lock()
		defer mu.Unlock()
		steps = append(steps, step)
	}
	turns(t, "aaabaaaa", s.commit.queue.Len, func(ctx context.Context, fn func() error) error {
		who := ident.Known(ctx)
		err := s.Update(ctx, func(port.Writer) error {
			if who != nil {
				time.Sleep(sharedTime)
				note(string(who.Org))
			}
			return fn()
		})
		if who != nil && who.Org == "b" {
			note("committed")
		}
		return err
	})
	b := slices.Index(steps, "b")
	if after := slices.Index(steps, "committed") - b; b > 2 || after > 3 {
		t.Errorf("%v: b is committed after %d others", steps, after)
	}
}
