package host

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/mnemehq/mneme/core/fair"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

// TestGiveWay: a batch that runs on the only processor and in the only instance for
// everybody gives way to a query of its own organization and to whatever another one
// asks, of its own model or one that shares with it. It goes on when they are done.
func TestGiveWay(t *testing.T) {
	shared := NewShared()
	shared.processors = fair.New(1)
	opened := func() *Model {
		module := hostileModule(t)
		module.Interrupt = Cooperative
		m, err := Open(t.Context(), module, Options{Instances: 1, Shared: shared, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return m
	}
	one, other := opened(), opened()
	of := func(org string) context.Context {
		return ident.WithPrincipal(t.Context(), ident.Principal{Org: ident.Org(org)})
	}
	long, stop := context.WithCancel(of("acme"))
	ended := make(chan error, 1)
	go func() {
		_, err := one.Embed(long, port.Passage, []string{"poll"}) // until it is told to stop
		ended <- err
	}()
	for running := 0; running == 0; { // no sooner does the instance count as busy
		one.queue.mu.Lock()
		running = len(one.queue.running)
		one.queue.mu.Unlock()
	}
	for _, c := range []struct {
		name string
		m    *Model
		org  string
		as   port.TextKind
	}{
		{"a query of its own organization", one, "acme", port.Query},
		{"another's query", one, "beta", port.Query},
		{"another's passage", one, "beta", port.Passage},
		{"another's passage again", one, "beta", port.Passage},
		{"a third one's passage", one, "gamma", port.Passage},
		{"a query to another model", other, "acme", port.Query},
		{"another's passage to another model", other, "beta", port.Passage},
	} {
		if _, err := c.m.Embed(of(c.org), c.as, []string{"ok"}); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		select {
		case err := <-ended:
			t.Fatalf("%s ends the batch: %v", c.name, err)
		default:
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the batch ends with %v", err)
	}
	if _, err := one.Embed(of("acme"), port.Passage, []string{"ok"}); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// TestGuestsPrepared: the instance that guests need is there before they come, where more
// than one organization calls, and isn't made where there is one.
func TestGuestsPrepared(t *testing.T) {
	m, err := Open(t.Context(), hostileModule(t), Options{Instances: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	call := func(org string) {
		ctx := ident.WithPrincipal(t.Context(), ident.Principal{Org: ident.Org(org)})
		if _, err := m.Embed(ctx, port.Passage, []string{"ok"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		call("acme")
	}
	if n := m.Stats().Made; n != 1 {
		t.Errorf("%d instances for one organization", n)
	}
	call("beta")
	for m.Stats().Instances < 2 {
		call("beta")
	}
	if n := m.Stats().Made; n != 2 {
		t.Errorf("%d instances for two organizations", n)
	}
}
