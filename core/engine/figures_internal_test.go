package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mnemehq/mneme/core/port"
)

// tally is a store that counts how often it is counted.
type tally struct {
	port.DocumentStore
	counts int
}

func (s *tally) View(context.Context, func(port.Reader) error) error {
	s.counts++
	return nil
}

// The store is counted at the start, and then while somebody asks, as often as is set: a server
// that nobody watches does not wake.
func TestTheStoreIsCountedForThoseWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &tally{}
		c := newCensus(&Config{Store: store, Count: 30 * time.Second, Now: time.Now})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { c.Run(ctx); close(ended) }()
		counted := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if store.counts != want {
				t.Errorf("counted %d times, want %d", store.counts, want)
			}
		}
		counted(0, 1)
		began := time.Now()
		counted(time.Hour, 1)
		if _, at := c.last(); !at.Equal(began) { // it tells how old it is, and is counted again
			t.Errorf("counted at %v, want %v", at, began)
		}
		counted(0, 2)
		for range 10 { // often, and still every 30 s
			c.last()
			time.Sleep(3 * time.Second)
		}
		counted(time.Second, 3)
		counted(time.Hour, 3) // what was asked before the last count is answered by it
		stop()
		<-ended
	})
}
