package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// TestKilledWhileDelivering kills the server again and again while it sends events to a
// receiver that fails at random. Each write that was acknowledged is told of, by a message
// that the standard's library verifies, and what a namespace is told of first comes in the
// order of its changes.
func TestKilledWhileDelivering(t *testing.T) {
	const spaces = 3
	n := harness.Rounds(t, 3, 2)
	r := webhooktest.New(t)
	s := newSite(t, "",
		fmt.Sprintf("roles: {sparse: off, rerank: off}\nevents: {http: true, allow_private: [%q]}\n", r.Network()))
	p := s.start()
	var made struct{ ID, Secret string }
	p.Call("POST", "/webhooks", object{"url": r.URL, "kinds": []string{"documents.written"}}).Is(201).Into(&made)
	r.Know(made.Secret)
	var mu sync.Mutex
	failed := map[string]bool{} // a message that fails twice would wait for minutes
	r.Fail(func(m webhooktest.Message) bool {
		mu.Lock()
		defer mu.Unlock()
		if failed[m.ID] || rand.IntN(10) > 0 {
			return false
		}
		failed[m.ID] = true
		return true
	})
	acknowledged := map[string]bool{}
	for round := range n {
		var writers sync.WaitGroup
		for i := range spaces {
			writers.Go(func() {
				for k := 0; ; k++ {
					id := fmt.Sprintf("%d-%d-%d", i, round, k)
					a, err := p.Ask(context.Background(), "POST", fmt.Sprintf("/namespaces/space%d/documents", i),
						object{"documents": []object{{"id": id, "text": "The gate is locked."}}})
					if err != nil {
						return // killed
					}
					if a.Status != 200 {
						t.Errorf("a write: %s", a)
						return
					}
					mu.Lock()
					acknowledged[id] = true
					mu.Unlock()
				}
			})
		}
		time.Sleep(200*time.Millisecond + rand.N(400*time.Millisecond))
		p.Kill()
		writers.Wait()
		p = s.start()
	}
	mu.Lock()
	failures := len(failed)
	mu.Unlock()
	r.Fail(nil) // each failure holds its namespace back for 5 seconds
	missing := func() (out []string) {
		told := map[string]bool{}
		for _, m := range r.Taken() {
			for _, id := range toldOf(t, m).Data.IDs {
				told[id] = true
			}
		}
		for id := range acknowledged {
			if !told[id] {
				out = append(out, id)
			}
		}
		return out
	}
	harness.EventuallySees(t, "every write is told of", func() (bool, string) {
		left := missing()
		return len(left) == 0, fmt.Sprintf("%d of %d are not: %q", len(left), len(acknowledged), left[:min(len(left), 5)])
	})
	if len(acknowledged) == 0 || r.Refused() != 0 {
		t.Errorf("%d writes, %d messages that are not genuine", len(acknowledged), r.Refused())
	}
	seen, last, again := map[string]bool{}, map[string]int{}, 0
	for _, m := range r.Taken() {
		if seen[m.ID] {
			again++
			continue
		}
		seen[m.ID] = true
		e := toldOf(t, m)
		if e.Data.Change <= last[e.Data.Namespace] {
			t.Errorf("%s is told of change %d after %d", e.Data.Namespace, e.Data.Change, last[e.Data.Namespace])
		}
		last[e.Data.Namespace] = e.Data.Change
	}
	t.Logf("FIGURES %d kills, %d writes, %d failures of the receiver, %d messages taken twice", n, len(acknowledged),
		failures, again)
	p.Alive(t)
	for _, line := range p.Complaints() {
		t.Errorf("the server logged %s", line)
	}
}

// toldEvent is an event of documents as a receiver gets it.
type toldEvent struct {
	Data struct {
		Namespace string
		IDs       []string
		Change    int
	}
}

func toldOf(t *testing.T, m webhooktest.Message) (e toldEvent) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.Body), &e); err != nil {
		t.Fatal(err)
	}
	return e
}
