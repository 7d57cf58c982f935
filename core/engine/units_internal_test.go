package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// Every unit of the table does something, under a name of its own.
func TestUnitsAreNamedAndDoSomething(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range units() {
		if u.name == "" || seen[u.name] || u.mount == nil && u.run == nil {
			t.Errorf("unit %q", u.name)
		}
		seen[u.name] = true
	}
}

// What the loops of units end with is answered, and logged by the unit's name; a loop
// that is off is left out.
func TestLoopsRunUntilTheyAreStopped(t *testing.T) {
	var log bytes.Buffer
	running := make(chan struct{}, 2)
	loop := func(name string, end error) unit {
		return runs(name, func(*services) func(context.Context) error {
			return func(ctx context.Context) error {
				running <- struct{}{}
				<-ctx.Done()
				return end
			}
		})
	}
	off := runs("off", func(*services) func(context.Context) error { return nil })
	ctx, stop := context.WithCancel(t.Context())
	loops := start(ctx, []unit{loop("works", nil), off, loop("fails", errors.New("disk")), {name: "mounted only"}}, &services{},
		slog.New(slog.NewTextHandler(&log, nil)))
	<-running
	<-running
	stop()
	if err := loops.Wait(); err == nil || err.Error() != "disk" {
		t.Errorf("the loops ended with %v", err)
	}
	if lines := strings.Count(log.String(), "\n"); lines != 1 ||
		!strings.Contains(log.String(), `msg="background loop failed" unit=fails error=disk`) {
		t.Errorf("logged %q", log.String())
	}
}
