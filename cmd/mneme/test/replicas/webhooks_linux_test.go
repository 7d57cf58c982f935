package replicas_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/core/seal"
)

// TestDeliveriesMoveOn kills the replica that sends events to a receiver: another one goes on,
// with nothing lost and in order.
func TestDeliveriesMoveOn(t *testing.T) {
	t.Parallel()
	const writes = 60
	r := webhooktest.New(t)
	f := &fleet{t: t, set: set{name: "postgres+embedded", replicas: 2}, postgres: database}
	f.begin(fmt.Sprintf("roles: {sparse: off, rerank: off}\nevents: {http: true, allow_private: [%q]}\nseal: {key: %q}\n",
		r.Network(), seal.NewKey().Reveal()))
	made := f.ok(f.key, "POST", "/webhooks", object{"url": r.URL, "kinds": []string{"documents.written"}}).JSON()
	secret, _ := made["secret"].(string)
	id, _ := made["id"].(string)
	r.Know(secret)
	// The receiver holds on to what comes after a few, until the replica that sends is dead.
	dead := make(chan struct{})
	release := sync.OnceFunc(func() { close(dead) })
	defer release()
	var came atomic.Int64
	r.Fail(func(webhooktest.Message) bool {
		if came.Add(1) > 5 {
			<-dead
		}
		return false
	})
	n := 0
	write := func() {
		f.ok(f.key, "POST", docs, object{"documents": []object{document(fmt.Sprint("d", n), "The gate is locked.")}})
		n++
	}
	for range 10 {
		write()
	}
	sender := -1
	harness.Eventually(t, "a replica sends", func() bool {
		sender = slices.IndexFunc(f.replicas, func(one *replica) bool { return one.claims("webhook/" + id) })
		return came.Load() > 5 && sender >= 0
	})
	f.replicas[sender].kill()
	release()
	began, before := time.Now(), came.Load()
	for n < writes {
		write()
	}
	told, last := map[string]bool{}, 0
	harness.EventuallySees(t, "the other replica sends the rest", func() (bool, string) {
		clear(told)
		for _, m := range r.Taken() {
			told[m.ID] = true
		}
		return len(told) >= writes, fmt.Sprintf("%d have come", len(told))
	})
	t.Logf("FIGURES %d of %d events had been sent when the replica died, the rest %v later", before, writes,
		time.Since(began).Round(100*time.Millisecond))
	clear(told)
	for _, m := range r.Taken() {
		var e struct{ Data struct{ Change int } }
		if err := json.Unmarshal([]byte(m.Body), &e); err != nil {
			t.Fatal(err)
		}
		if !told[m.ID] && e.Data.Change <= last {
			t.Errorf("change %d comes after %d", e.Data.Change, last)
		}
		told[m.ID], last = true, max(last, e.Data.Change)
	}
	if r.Refused() != 0 {
		t.Errorf("%d messages were not genuine", r.Refused())
	}
}
