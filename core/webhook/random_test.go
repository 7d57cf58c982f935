package webhook_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	sender "github.com/mnemehq/mneme/adapters/webhook"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/webhook"
)

// receiver is an HTTP server that verifies what it is sent with the standard's library.
type receiver struct {
	*testing.T

	mu      sync.Mutex
	secret  string // the one that it knows
	entity  map[string]string
	last    map[string]string // event of an entity
	arrived map[string]int    // how often an event came
	repeats int               // events that came though they had come before
	taken   map[string]bool
	answer  func(w http.ResponseWriter, id string, arrived int) (taken bool) // nil: 204
}

// receive has the endpoint be a receiver, to which a real sender sends. lost says of an attempt whose
// answer came that it did not come in time.
func (w *world) receive(secret string, lost func(id string) bool) *receiver {
	w.T.Helper()
	r := &receiver{T: w.T, secret: secret, entity: map[string]string{}, last: map[string]string{}, arrived: map[string]int{},
		taken: map[string]bool{}}
	server := httptest.NewServer(r)
	w.Cleanup(server.Close)
	s, err := sender.New(sender.Options{Private: []string{server.Listener.Addr().String()}, Timeout: time.Minute})
	w.must(err)
	w.endpoint.set(func(m port.WebhookMessage) (port.WebhookAnswer, error) {
		m.URL = server.URL
		answer, err := s.Send(context.Background(), m)
		if lost != nil && lost(m.ID) {
			return port.WebhookAnswer{}, context.DeadlineExceeded
		}
		return answer, err
	})
	return r
}

// expect says which events are to come, before they do.
func (r *receiver) expect(w *world, entities ...string) {
	r.mu.Lock()
	for i, e := range entities {
		r.entity[fmt.Sprintf("evt_%06d", w.n+1+i)] = e
	}
	r.mu.Unlock()
	w.happen(entities...)
}

func (r *receiver) know(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

func (r *receiver) all() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.taken) == len(r.entity)
}

func verify(secret string, h http.Header, body []byte) error {
	hook, err := standard.NewWebhook(secret)
	if err == nil {
		err = hook.VerifyIgnoringTimestamp(body, h) // the time is the test's
	}
	return err
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	id := q.Header.Get(standard.HeaderWebhookID)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = verify(r.secret, q.Header, body)
	}
	entity, ok := r.entity[id]
	switch last := r.last[entity]; {
	case err != nil || !ok:
		r.Errorf("%q is not genuine: %v", id, err)
	case id < last:
		r.Errorf("%s: %s comes after %s", entity, id, last)
	case id > last && last != "" && !r.taken[last]:
		r.Errorf("%s: %s comes before %s is taken", entity, id, last)
	}
	r.last[entity] = id
	r.arrived[id]++
	if r.taken[id] {
		r.repeats++
	}
	taken := true
	if r.answer != nil {
		taken = r.answer(w, id, r.arrived[id])
	} else {
		w.WriteHeader(http.StatusNoContent)
	}
	r.taken[id] = r.taken[id] || taken
	if taken && r.answer != nil && chance(id, r.arrived[id], "reset") < 5 {
		panic(http.ErrAbortHandler) // taken, and the connection breaks before it says so
	}
}

// chance is a number from 0 to 99 that depends on nothing but these.
func chance(id string, arrived int, what string) int {
	h := fnv.New64a()
	fmt.Fprint(h, id, arrived, what)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(h.Sum(nil)), 1)).IntN(100)
}

// TestAReceiverThatFailsAtRandom sends many events to a receiver that fails in many ways, before it has taken
// an event and after. EVENTS says how many (make webhook-scale). The clock moves when nothing is due.
func TestAReceiverThatFailsAtRandom(t *testing.T) {
	total := events(t, 200)
	const entities, batch = 20, 1000
	w := open(t)
	m := w.hook(event.DocumentsWritten)
	var r *receiver
	r = w.receive(*m.Secret, func(id string) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.arrived[id] <= failures && chance(id, r.arrived[id], "late") < 5
	})
	failed := map[string]int{}
	r.answer = func(w http.ResponseWriter, id string, arrived int) (taken bool) {
		what, status := "", http.StatusInternalServerError
		switch n := chance(id, arrived, "answer"); {
		case arrived > failures:
		case n < 10:
			what = "500"
		case n < 15:
			what, status = "503", http.StatusServiceUnavailable
		case n < 25:
			what, status = "429", http.StatusTooManyRequests
			w.Header().Set("Retry-After", strconv.Itoa(n*n))
		case n < 30:
			failed["no answer"]++
			panic(http.ErrAbortHandler)
		case n < 35:
			what = "a slow answer"
			time.Sleep(time.Millisecond)
		}
		if failed[what]++; what != "" {
			w.WriteHeader(status)
			return false
		}
		w.WriteHeader(http.StatusNoContent)
		return true
	}
	w.run(w.deliverer.Run)
	began, at, peak := time.Now(), w.now(), heap()
	for n := 0; n < total; n += batch {
		var some []string
		for i := n; i < min(total, n+batch); i++ {
			some = append(some, fmt.Sprint("namespace/", i%entities))
		}
		r.expect(w, some...)
	}
	pending := func(limit int) (due []port.Delivery, next time.Time) {
		w.must(w.Store.View(w.ctx, func(tx port.Reader) (err error) {
			if due, err = tx.DueDeliveries(w.ctx, w.org, m.ID, w.now(), limit); err == nil {
				_, next, err = tx.DueWebhooks(w.ctx, w.Replica.Self(), w.now(), 1)
			}
			return err
		}))
		return due, next
	}
	limit := time.Duration(total)*100*time.Millisecond + time.Minute
	for n := 1; ; n++ {
		due, next := pending(1)
		if len(due) == 0 && next.IsZero() {
			break
		}
		if len(due) == 0 {
			w.to(next)
		}
		if n%5000 == 0 {
			peak = max(peak, heap())
			w.endpoint.forget()
		}
		if w.deliverer.Wake(); time.Since(began) > limit {
			t.Fatalf("not all have come after %v", limit)
		}
		time.Sleep(time.Millisecond)
	}
	peak = max(peak, heap())
	if len(r.taken) != total {
		t.Errorf("%d of %d were taken", len(r.taken), total)
	}
	if r.repeats == 0 || len(failed) != 6 {
		t.Errorf("it failed too seldom to show anything: %v, %d repeats", failed, r.repeats)
	}
	if w.endpoint.most > 8 {
		t.Errorf("%d at once", w.endpoint.most)
	}
	counts := w.deliverer.Attempts()
	if counts[webhook.Succeeded] != int64(total) || counts[webhook.Failed] != 0 {
		t.Errorf("attempts: %v", counts)
	}
	t.Logf("%d events came in %v, %v of the test's clock; attempts: %v; answers: %v; came again: %d; heap at most %d MiB",
		total, time.Since(began).Round(time.Millisecond), w.now().Sub(at).Round(time.Minute), counts, failed, r.repeats, peak>>20)
}

// failures is how often an event fails at most, so that it is not given up: there are ten attempts.
const failures = 8

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestRotationUnderLoad replaces the secret several times while events flow: what knows one of the secrets
// that sign verifies every message, the older one until its overlap ends. EVENTS says how many there are
// (make webhook-scale).
func TestRotationUnderLoad(t *testing.T) {
	rounds := events(t, 432) / 72
	w := open(t)
	m := w.hook(event.DocumentsWritten)
	current := *m.Secret
	r := w.receive(current, nil)
	w.run(w.deliverer.Run)
	var flow []string
	for n := range 24 {
		flow = append(flow, fmt.Sprint("namespace/", n%12))
	}
	for round := range rounds {
		// Some are being sent while it is rotated, and until the receiver has learned of it.
		r.expect(w, flow...)
		made, err := w.service.Rotate(w.ctx, webhook.Rotate{Ref: webhook.Ref{ID: m.ID}, Overlap: "1h", Force: true})
		w.must(err)
		r.expect(w, flow...)
		w.until("all verified by the older secret have come", r.all)

		// It learns of the new one while more are being sent. Every other time the overlap ends, too.
		r.expect(w, flow...)
		current = *made.Secret
		if r.know(current); round%2 == 1 {
			w.to(w.now().Add(time.Hour))
			w.deliverer.Wake()
		}
		w.until("all verified by the newer secret have come", r.all)
		if round%2 == 1 {
			before := len(w.endpoint.taken())
			r.expect(w, flow[0])
			w.until("one more has come", r.all)
			if got := w.endpoint.taken()[before]; len(got.Secrets) != 1 || got.Secrets[0] != current {
				t.Errorf("%d secrets sign after the overlap", len(got.Secrets))
			}
		}
	}
	w.until("all is recorded", func() bool { return w.deliverer.Attempts()[webhook.Succeeded] == int64(len(r.taken)) })
	counts := w.deliverer.Attempts()
	if counts[webhook.Retried]+counts[webhook.Failed] != 0 {
		t.Errorf("attempts: %v", counts)
	}
	t.Logf("%d events came through %d rotations; attempts: %v; heap %d MiB", len(r.taken), rounds, counts, heap()>>20)
}
