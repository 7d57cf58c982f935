package webhook_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/port"
)

// events is how many EVENTS says, or few.
func events(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("EVENTS")
	if text == "" {
		return few
	}
	total, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// TestASleepingEndpoint has many events wait for an endpoint, which are rows and not memory, and
// then come in their order. EVENTS says how many (make webhook-scale).
func TestASleepingEndpoint(t *testing.T) {
	total := events(t, 600)
	const entities, batch = 10, 1000
	w := open(t)
	w.hook(event.DocumentsWritten)
	w.endpoint.set(status(503))
	w.run(w.deliverer.Run)
	of := map[string]string{}
	began := time.Now()
	for n := 0; n < total; n += batch {
		var some []string
		for i := n; i < min(total, n+batch); i++ {
			some = append(some, fmt.Sprint("namespace/", i%entities))
		}
		for i, id := range w.happen(some...) {
			of[id] = some[i]
		}
	}
	t.Logf("%d events are stored after %v, heap %d MiB", total, time.Since(began).Round(time.Millisecond), heap()>>20)

	var mu sync.Mutex
	last, came, peak := map[string]string{}, 0, uint64(0)
	w.endpoint.forget()
	w.endpoint.set(func(m port.WebhookMessage) (port.WebhookAnswer, error) {
		mu.Lock()
		defer mu.Unlock()
		entity := of[m.ID]
		if m.ID <= last[entity] {
			t.Errorf("%s: %s comes after %s", entity, m.ID, last[entity])
		}
		last[entity] = m.ID
		if came++; came%10_000 == 0 {
			peak = max(peak, heap())
			w.endpoint.forget() // the test's own memory
		}
		return port.WebhookAnswer{Status: 204}, nil
	})
	began = time.Now()
	w.to(w.now().Add(24 * time.Hour))
	limit := time.Duration(total)*20*time.Millisecond + time.Minute
	for at := 0; at < total; {
		if time.Since(began) > limit {
			t.Fatalf("%d of %d have come after %v", at, total, limit)
		}
		// An attempt that was refused before may be recorded after the clock has moved, and waits from then.
		w.to(w.now().Add(time.Second))
		w.deliverer.Wake()
		time.Sleep(10 * time.Millisecond)
		mu.Lock()
		at = came
		mu.Unlock()
	}
	t.Logf("they have come after %v, heap %d MiB at most", time.Since(began).Round(time.Millisecond), max(peak, heap())>>20)
}
