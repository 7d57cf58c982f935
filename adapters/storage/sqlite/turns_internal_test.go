package sqlite

import (
	"context"
	"errors"
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

// A function that errs for what another one of the same commit has changed is not answered before
// that change can be read.
func TestErrorsWaitForWhatTheySaw(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	waiting := func(n int) {
		for s.commit.queue.Len() < n {
			time.Sleep(time.Millisecond)
		}
	}
	taken := errors.New("the name is taken")
	name := func(r port.Reader) (string, error) {
		orgs, err := r.Organizations(t.Context())
		if err != nil || len(orgs) == 0 {
			return "", err
		}
		return orgs[0].Name, nil
	}
	var all sync.WaitGroup
	under, answered := make(chan struct{}), make(chan struct{})
	all.Go(func() {
		if err := s.Update(t.Context(), func(w port.Writer) error {
			close(under)
			waiting(2)
			return w.PutOrganization(t.Context(), port.Organization{ID: "a", Name: "A"})
		}); err != nil {
			t.Error(err)
		}
	})
	<-under
	all.Go(func() {
		defer close(answered)
		err := s.Update(t.Context(), func(w port.Writer) error {
			if got, err := name(w); err != nil || got != "A" {
				return err
			}
			return taken
		})
		if !errors.Is(err, taken) {
			t.Errorf("the second function saw nothing of the first: %v", err)
		}
		if err := s.View(t.Context(), func(r port.Reader) error {
			got, err := name(r)
			if got != "A" {
				t.Errorf("%q is there once the error is known", got)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	waiting(1)
	all.Go(func() { // holds the commit back for a while
		if err := s.Update(t.Context(), func(port.Writer) error {
			select {
			case <-answered:
			case <-time.After(100 * time.Millisecond):
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
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
