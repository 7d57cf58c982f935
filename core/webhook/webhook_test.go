package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/seal"
	"github.com/mnemehq/mneme/core/webhook"
)

// clock is a clock that the test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) to(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// endpoint is what answers; it keeps what came.
type endpoint struct {
	mu     sync.Mutex
	got    []port.WebhookMessage
	answer func(port.WebhookMessage) (port.WebhookAnswer, error) // nil: 204
	now    int
	most   int
}

// Send implements port.Sender.
func (e *endpoint) Send(ctx context.Context, m port.WebhookMessage) (port.WebhookAnswer, error) {
	e.mu.Lock()
	answer := e.answer
	e.now++
	e.most = max(e.most, e.now)
	e.got = append(e.got, m)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.now--
	}()
	if answer != nil {
		return answer(m)
	}
	return port.WebhookAnswer{Status: 204}, nil
}

func (e *endpoint) set(answer func(port.WebhookMessage) (port.WebhookAnswer, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

func (e *endpoint) taken() []port.WebhookMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]port.WebhookMessage{}, e.got...)
}

func (e *endpoint) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = nil
}

func status(n int, more ...time.Duration) func(port.WebhookMessage) (port.WebhookAnswer, error) {
	return func(port.WebhookMessage) (port.WebhookAnswer, error) {
		a := port.WebhookAnswer{Status: n, Text: "ouch"}
		if len(more) > 0 {
			a.RetryAfter = more[0]
		}
		if n/100 == 2 {
			return a, nil
		}
		return a, fmt.Errorf("it answers with status %d", n)
	}
}

// world is a store with a publisher, a deliverer and an endpoint.
type world struct {
	*coretest.Fixture
	*testing.T
	*clock
	ctx, admin context.Context
	org        ident.Org
	recorder   *event.Recorder
	endpoint   *endpoint
	service    *webhook.Service
	deliverer  *webhook.Deliverer
	sealer     port.Sealer
	n          int // of the last change
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, clock: &clock{at: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)}, endpoint: &endpoint{}}
	w.Fixture = coretest.New(t, coretest.Options{Now: w.now, Over: func(store port.DocumentStore) port.DocumentStore {
		w.recorder = event.NewRecorder(event.RecorderSettings{Store: store, Record: event.RecordSubscribed, Now: w.now})
		return w.recorder
	}})
	w.sealer = seal.New(seal.Settings{Store: w.Store, Keys: []seal.Key{seal.NewKey()}})
	w.deliverer = w.newDeliverer(w.sealer)
	w.service = webhook.New(webhook.Settings{Store: w.Store, Sender: w.endpoint, Sealer: w.sealer, Pages: w.Pages, HTTP: false,
		Wake: w.deliverer.Wake, Now: w.now})
	publisher := event.NewPublisher(event.PublisherSettings{Recorder: w.recorder, Replica: w.Replica, Now: w.now,
		Pace: time.Millisecond, Delivered: w.deliverer.Wake})
	w.ctx, w.admin = w.Caller(key.Issue{}), w.Caller(key.Issue{Kind: ident.Admin, Name: "admin"})
	w.org = ident.From(w.ctx).Org
	w.run(publisher.Run)
	return w
}

func (w *world) newDeliverer(sealer port.Sealer) *webhook.Deliverer {
	return webhook.NewDeliverer(webhook.DelivererSettings{Store: w.Store, Replica: w.Replica, Sender: w.endpoint, Sealer: sealer,
		Random: func() float64 { return 0.5 }, Now: w.now})
}

// run runs a loop until stop, or the end of the test.
func (w *world) run(loop func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { loop(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	w.Cleanup(stop)
	return stop
}

func (w *world) must(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) want(what string, err error, code fault.Code) {
	w.T.Helper()
	if fault.CodeOf(err) != code {
		w.T.Errorf("%s: %v, want %s", what, err, code)
	}
}

// hook makes a webhook of some kinds.
func (w *world) hook(kinds ...string) webhook.Made {
	w.T.Helper()
	m, err := w.service.Create(w.ctx, webhook.Create{URL: "https://example.org/hook", Kinds: kinds})
	w.must(err)
	return m
}

// happen has events of entities happen, and waits until they are deliveries.
func (w *world) happen(entities ...string) (ids []string) {
	w.T.Helper()
	w.must(w.Store.Update(w.ctx, func(tx port.Writer) error {
		var all []port.Event
		for _, e := range entities {
			w.n++
			id := fmt.Sprintf("evt_%06d", w.n)
			ids = append(ids, id)
			all = append(all, port.Event{ID: id, Org: w.org, Kind: event.DocumentsWritten, Entity: e, Namespace: "docs",
				Body: []byte(fmt.Sprintf(`{"type":"documents.written","n":%d}`, w.n)), CreatedAt: w.now()})
		}
		return tx.AppendEvents(w.ctx, all)
	}))
	w.recorder.Wake()
	w.until("the events have numbers", func() bool {
		var fresh []port.Event
		w.must(w.Store.View(w.ctx, func(r port.Reader) (err error) { fresh, err = r.UnnumberedEvents(w.ctx, 1); return err }))
		return len(fresh) == 0
	})
	return ids
}

func (w *world) until(what string, ok func() bool) {
	w.T.Helper()
	for began := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			w.T.Fatalf("not within a minute: %s", what)
		}
	}
}

// tries waits until there are so many requests, and gives the ids of those since the last time.
func (w *world) tries(n int) []port.WebhookMessage {
	w.T.Helper()
	w.deliverer.Wake()
	w.until(fmt.Sprintf("%d requests", n), func() bool { return len(w.endpoint.taken()) >= n })
	got := w.endpoint.taken()
	if len(got) != n {
		w.T.Fatalf("%d requests, want %d", len(got), n)
	}
	return got
}

// settled waits until no delivery of a webhook is being sent, and gives those there are.
func (w *world) settled(id string, tries int) (out []webhook.Delivery) {
	w.T.Helper()
	w.until("the attempts are recorded", func() bool {
		page, err := w.service.Deliveries(w.ctx, webhook.ListDeliveries{Ref: webhook.Ref{ID: id}})
		w.must(err)
		out = page.Deliveries
		n := 0
		for _, d := range out {
			n += d.Tries
		}
		return n == tries
	})
	return out
}

func (w *world) get(id string) webhook.Webhook {
	w.T.Helper()
	out, err := w.service.Get(w.ctx, webhook.Ref{ID: id})
	w.must(err)
	return out
}

func TestTheScheduleOfAFailingDelivery(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	w.happen("namespace/docs")
	tries := 1
	w.tries(tries)
	for i, wait := range []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour} {
		d := w.settled(m.ID, tries)[0]
		if d.Status != "pending" || d.NextAttemptAt == nil || !d.NextAttemptAt.Equal(w.now().Add(wait)) {
			t.Fatalf("after attempt %d at %v: %+v", i+1, w.now(), d)
		}
		w.to(w.now().Add(wait - time.Second))
		w.tries(tries) // not yet
		w.to(w.now().Add(time.Second))
		tries++
		w.tries(tries)
	}
	d := w.settled(m.ID, tries)[0]
	if d.Status != "failed" || d.NextAttemptAt != nil || len(d.Attempts) != 10 || *d.Attempts[9].Status != 500 ||
		*d.Attempts[0].Error != "it answers with status 500" || *d.Attempts[0].Answer != "ouch" {
		t.Errorf("after the last attempt: %+v", d)
	}
	at := w.get(m.ID)
	if at.State != "failing" || !at.Enabled || at.FailingSince == nil { // one bad event ends nothing
		t.Errorf("the webhook: %+v", at)
	}
	ids := map[string]bool{}
	for i, one := range w.endpoint.taken() {
		ids[one.ID] = true
		if i > 0 && !one.At.After(w.endpoint.taken()[i-1].At) {
			t.Error("the time is not of the attempt")
		}
	}
	if len(ids) != 1 {
		t.Errorf("an event has %d ids", len(ids))
	}
	w.until("the last attempt is counted", func() bool { return w.deliverer.Attempts()[webhook.Failed] > 0 })
	counts := w.deliverer.Attempts()
	if counts[webhook.Retried] != 9 || counts[webhook.Failed] != 1 || counts[webhook.Succeeded] != 0 {
		t.Errorf("counted: %v", counts)
	}
	// A success ends the state.
	w.endpoint.set(nil)
	w.happen("namespace/docs")
	w.tries(tries + 1)
	w.settled(m.ID, tries+1)
	if at := w.get(m.ID); at.State != "active" || at.FailingSince != nil {
		t.Errorf("after a success: %+v", at)
	}
}

func TestEndpointsSayWhenToComeAgain(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook()
	began, tries := w.now(), 0
	for what, c := range map[string]struct{ asked, wait time.Duration }{
		"later":         {time.Hour, time.Hour},
		"sooner":        {time.Second, 5 * time.Second},
		"much too late": {48 * time.Hour, 24 * time.Hour},
	} {
		w.endpoint.set(status(503, c.asked))
		w.happen("namespace/" + what)
		tries++
		w.tries(tries)
		if d := w.settled(m.ID, tries)[0]; !d.NextAttemptAt.Equal(began.Add(c.wait)) {
			t.Errorf("%s: %v, want %v", what, d.NextAttemptAt.Sub(began), c.wait)
		}
	}
}

func TestAnEndpointThatIsGone(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m, other := w.hook(event.DocumentsWritten, event.WebhookDisabled), w.hook(event.WebhookDisabled)
	w.endpoint.set(func(msg port.WebhookMessage) (port.WebhookAnswer, error) {
		if strings.Contains(string(msg.Body), event.WebhookDisabled) {
			return port.WebhookAnswer{Status: 200}, nil
		}
		return status(410)(msg)
	})
	first := w.happen("namespace/docs", "namespace/docs")
	w.until("it is disabled", func() bool { return !w.get(m.ID).Enabled })
	if at := w.get(m.ID); at.State != "disabled" || at.Reason == nil || *at.Reason != webhook.ReasonGone {
		t.Errorf("%+v", at)
	}
	for _, d := range w.settled(m.ID, 1) {
		if want := map[string]string{first[0]: "failed", first[1]: "dropped"}[d.EventID]; d.Status != want {
			t.Errorf("%s is %s, want %s", d.EventID, d.Status, want)
		}
	}
	// Others are told, the endpoint itself is not.
	w.until("another webhook is told", func() bool { return len(w.settled(other.ID, 1)) == 1 })
	got := w.endpoint.taken()
	var told struct {
		Type string
		Data event.WebhookData
	}
	w.must(json.Unmarshal(got[len(got)-1].Body, &told))
	if told.Type != event.WebhookDisabled || told.Data.WebhookID != m.ID || told.Data.Reason != webhook.ReasonGone {
		t.Errorf("told: %+v", told)
	}

	// Disabled, it gets nothing; enabled, what is new; recovered, the rest, each once, in order.
	w.endpoint.set(nil)
	missed := w.happen("namespace/docs")
	again := webhook.Recover{Ref: webhook.Ref{ID: m.ID}, Since: w.now().Add(-time.Hour)}
	w.to(w.now().Add(time.Minute))
	_, err := w.service.Recover(w.ctx, again)
	w.want("recover while disabled", err, fault.Conflict)
	_, err = w.service.Change(w.ctx, webhook.Change{Ref: webhook.Ref{ID: m.ID}, Enabled: new(true)})
	w.must(err)
	if at := w.get(m.ID); at.State != "active" || at.Reason != nil || at.FailingSince != nil {
		t.Errorf("afresh: %+v", at)
	}
	before := len(w.endpoint.taken())
	out, err := w.service.Recover(w.ctx, again)
	w.must(err)
	if out.Deliveries != 3 || out.More {
		t.Errorf("recovered: %+v", out)
	}
	got = w.tries(before + 3)[before:]
	for i, id := range append(first, missed...) {
		if got[i].ID != id {
			t.Errorf("number %d is %s, want %s", i, got[i].ID, id)
		}
	}
	w.settled(m.ID, 4)
	if out, err = w.service.Recover(w.ctx, again); err != nil || out.Deliveries != 0 {
		t.Errorf("recovered again: %+v, %v", out, err)
	}
}

// TestWhatIsUnderWayWhenAnEndpointIsGone: what is being sent then is listed with its attempt, and
// what was taken of it is not sent again.
func TestWhatIsUnderWayWhenAnEndpointIsGone(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	gone := make(chan struct{})
	w.endpoint.set(func(msg port.WebhookMessage) (port.WebhookAnswer, error) {
		if strings.Contains(string(msg.Body), `"n":1}`) {
			w.until("all are being sent", func() bool { return len(w.endpoint.taken()) == 3 })
			return status(410)(msg)
		}
		<-gone
		if strings.Contains(string(msg.Body), `"n":2}`) {
			return status(500)(msg)
		}
		return status(204)(msg)
	})
	ids := w.happen("namespace/gone", "namespace/failed", "namespace/taken")
	w.until("it is disabled", func() bool { return !w.get(m.ID).Enabled })
	w.settled(m.ID, 1)
	close(gone)
	for _, d := range w.settled(m.ID, 3) {
		if want := map[string]string{ids[0]: "failed", ids[1]: "dropped", ids[2]: "succeeded"}[d.EventID]; d.Status != want ||
			len(d.Attempts) != 1 || d.NextAttemptAt != nil {
			t.Errorf("want %s: %+v", want, d)
		}
	}
	w.endpoint.set(nil)
	_, err := w.service.Change(w.ctx, webhook.Change{Ref: webhook.Ref{ID: m.ID}, Enabled: new(true)})
	w.must(err)
	w.to(w.now().Add(time.Minute))
	out, err := w.service.Recover(w.ctx, webhook.Recover{Ref: webhook.Ref{ID: m.ID}, Since: w.now().Add(-time.Hour)})
	w.must(err)
	if out.Deliveries != 2 {
		t.Errorf("recovered: %+v", out)
	}
	w.tries(5)
}

func TestAnEndpointThatFailsForDays(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	tries, began := 0, w.now()
	w.happen("namespace/a", "namespace/b", "namespace/c")
	w.tries(3)
	w.settled(m.ID, 3)
	for day := 0; w.get(m.ID).Enabled; day++ {
		if day > 40 {
			t.Fatalf("after %v it is enabled still: %+v", w.now().Sub(began), w.get(m.ID))
		}
		tries = len(w.endpoint.taken())
		w.to(w.now().Add(6 * time.Hour))
		w.happen(fmt.Sprint("namespace/", day))
		w.until("there was an attempt", func() bool { return len(w.endpoint.taken()) > tries })
		w.until("all that is due was tried", func() bool {
			var due []port.Delivery
			w.must(w.Store.View(w.ctx, func(r port.Reader) (err error) {
				due, err = r.DueDeliveries(w.ctx, w.org, m.ID, w.now(), 9)
				return err
			}))
			w.deliverer.Wake()
			return len(due) == 0
		})
	}
	at := w.get(m.ID)
	if d := w.now().Sub(began); d < 5*24*time.Hour || d > 6*24*time.Hour || *at.Reason != webhook.ReasonFailing ||
		!at.FailingSince.Equal(began) {
		t.Errorf("disabled after %v: %+v", d, at)
	}
	page, err := w.service.Deliveries(w.ctx, webhook.ListDeliveries{Ref: webhook.Ref{ID: m.ID}, Status: "pending"})
	w.must(err)
	if len(page.Deliveries) != 0 {
		t.Errorf("%d deliveries are pending", len(page.Deliveries))
	}
}

func TestEachEntityInItsOrder(t *testing.T) {
	w := open(t)
	w.hook(event.DocumentsWritten)
	const entities, each = 12, 15
	var all []string
	of := map[string]string{}
	for n := range entities * each {
		all = append(all, fmt.Sprint("namespace/", n%entities))
	}
	for i, id := range w.happen(all...) {
		of[id] = all[i]
	}
	// Every third request fails once, and one entity at a time is never in hand twice.
	var mu sync.Mutex
	busy, failed, n := map[string]bool{}, map[string]bool{}, 0
	taken := map[string][]string{}
	w.endpoint.set(func(m port.WebhookMessage) (port.WebhookAnswer, error) {
		entity := of[m.ID]
		mu.Lock()
		if busy[entity] {
			t.Errorf("%s is sent twice at once", entity)
		}
		busy[entity] = true
		n++
		fails := n%3 == 0 && !failed[m.ID]
		failed[m.ID] = failed[m.ID] || fails
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if busy[entity] = false; fails {
			return status(500)(m)
		}
		taken[entity] = append(taken[entity], m.ID)
		return port.WebhookAnswer{Status: 200}, nil
	})
	w.run(w.deliverer.Run)
	w.until("all have come", func() bool {
		w.to(w.now().Add(time.Second))
		w.deliverer.Wake()
		mu.Lock()
		defer mu.Unlock()
		sum := 0
		for _, ids := range taken {
			sum += len(ids)
		}
		return sum == entities*each
	})
	for entity, ids := range taken {
		for i := 1; i < len(ids); i++ {
			if ids[i] <= ids[i-1] {
				t.Errorf("%s: %s comes after %s", entity, ids[i], ids[i-1])
			}
		}
	}
	if w.endpoint.most > 8 {
		t.Errorf("%d at once to one endpoint", w.endpoint.most)
	}
}

func TestSecretsThatCannotBeRead(t *testing.T) {
	w := open(t)
	m := w.hook(event.DocumentsWritten)
	broken := w.newDeliverer(seal.New(seal.Settings{Store: w.Store}))
	stop := w.run(broken.Run)
	w.happen("namespace/docs")
	broken.Wake()
	time.Sleep(20 * time.Millisecond)
	stop()
	if n := len(w.endpoint.taken()); n != 0 {
		t.Fatalf("%d were sent unsigned", n)
	}
	without := webhook.New(webhook.Settings{Store: w.Store, Sender: w.endpoint, Pages: w.Pages, Now: w.now})
	at, err := without.Get(w.ctx, webhook.Ref{ID: m.ID})
	w.must(err)
	if at.State != "secret_unavailable" {
		t.Errorf("its state is %s", at.State)
	}
	_, err = without.Test(w.ctx, webhook.Ref{ID: m.ID})
	w.want("a test", err, fault.Unavailable)
	_, err = without.Create(w.ctx, webhook.Create{URL: "https://example.org/"})
	w.want("a new one", err, fault.Unavailable)
	w.run(w.deliverer.Run)
	w.tries(1) // with the key it goes on
}

func TestRotation(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	one := *m.Secret
	rotate := func(in webhook.Rotate) (webhook.Made, error) {
		in.Ref = webhook.Ref{ID: m.ID}
		return w.service.Rotate(w.ctx, in)
	}
	sent := 0
	signs := func(want ...string) {
		t.Helper()
		w.happen("namespace/docs")
		sent++
		got := w.tries(sent)[sent-1].Secrets
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%d secrets sign, not in the order wanted", len(got))
		}
		w.settled(m.ID, sent)
	}
	signs(one)
	second, err := rotate(webhook.Rotate{})
	w.must(err)
	two := *second.Secret
	if len(second.Secrets) != 2 || !second.Secrets[1].ExpiresAt.Equal(w.now().Add(24*time.Hour)) ||
		second.Secrets[0].ExpiresAt != nil {
		t.Errorf("secrets: %+v", second.Secrets)
	}
	signs(two, one)
	_, err = rotate(webhook.Rotate{})
	w.want("while two sign", err, fault.Conflict)
	third, err := rotate(webhook.Rotate{Force: true, Overlap: "1h"})
	w.must(err)
	three := *third.Secret
	signs(three, two)
	w.to(w.now().Add(time.Hour))
	signs(three)
	if got := w.get(m.ID).Secrets; len(got) != 1 {
		t.Errorf("secrets: %+v", got)
	}
	last, err := rotate(webhook.Rotate{Overlap: "0s"})
	w.must(err)
	signs(*last.Secret)
	for _, overlap := range []string{"-1s", "169h", "day"} {
		_, err := rotate(webhook.Rotate{Overlap: overlap})
		w.want(overlap, err, fault.InvalidRequest)
	}
}

func TestRedelivery(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	ids := w.happen("namespace/docs", "namespace/docs")
	w.tries(1)
	all := w.settled(m.ID, 1) // the newest first
	again := func(id string) (webhook.Delivery, error) {
		return w.service.Redeliver(w.ctx, webhook.DeliveryRef{Ref: webhook.Ref{ID: m.ID}, Delivery: id})
	}
	_, err := again(all[0].ID)
	w.want("one that waits", err, fault.Conflict)
	_, err = again("dlv_none")
	w.want("none", err, fault.NotFound)
	w.endpoint.set(nil)
	d, err := again(all[1].ID)
	w.must(err)
	if d.ID != all[1].ID || d.StatusCode() != 202 {
		t.Errorf("one that is pending: %+v", d)
	}
	got := w.tries(3)
	if got[1].ID != ids[0] || got[2].ID != ids[1] {
		t.Errorf("tried at once: %s, %s", got[1].ID, got[2].ID)
	}
	w.settled(m.ID, 3)
	d, err = again(all[1].ID)
	w.must(err)
	if d.ID == all[1].ID || *d.RedeliveryOf != all[1].ID || d.EventID != ids[0] {
		t.Errorf("one that has ended: %+v", d)
	}
	if got := w.tries(4); got[3].ID != ids[0] || string(got[3].Body) != string(got[0].Body) {
		t.Errorf("sent again: %+v", got[3])
	}
	w.settled(m.ID, 4)
	one, err := w.service.Delivery(w.ctx, webhook.DeliveryRef{Ref: webhook.Ref{ID: m.ID}, Delivery: d.ID})
	w.must(err)
	if one.Status != "succeeded" || one.Tries != 1 {
		t.Errorf("%+v", one)
	}
}

func TestATest(t *testing.T) {
	w := open(t)
	m := w.hook()
	for n, want := range map[int]bool{204: true, 500: false} {
		w.endpoint.set(status(n))
		got, err := w.service.Test(w.ctx, webhook.Ref{ID: m.ID})
		w.must(err)
		if got.Delivered != want || *got.Status != n || (got.Error == nil) != want || got.EventID == "" {
			t.Errorf("%d: %+v", n, got)
		}
	}
	w.endpoint.set(func(port.WebhookMessage) (port.WebhookAnswer, error) {
		return port.WebhookAnswer{}, errors.New("its server cannot be reached")
	})
	got, err := w.service.Test(w.ctx, webhook.Ref{ID: m.ID})
	w.must(err)
	if got.Status != nil || *got.Error != "its server cannot be reached" {
		t.Errorf("%+v", got)
	}
	sent := w.endpoint.taken()[0]
	if !strings.Contains(string(sent.Body), `"type":"webhook.test"`) || sent.URL != m.URL || sent.Secrets[0] != *m.Secret {
		t.Errorf("sent: %+v", sent)
	}
	if at := w.get(m.ID); at.State != "active" {
		t.Errorf("it counts: %+v", at)
	}
}

func TestWhatIsRefused(t *testing.T) {
	w := open(t)
	for url, says := range map[string]string{
		"": "absolute", "nowhere": "absolute", "https://": "absolute", "mailto:x@example.org": "absolute",
		"http://example.org/": "TLS",
		"ftp://example.org/":  "https", "https://me:secret@example.org/": "password", "https://example.org/#x": "fragment",
		"https://exa mple/": "absolute",
	} {
		_, err := w.service.Create(w.ctx, webhook.Create{URL: url})
		if w.want(url, err, fault.InvalidRequest); err != nil && (!strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", url, err)
		}
	}
	_, err := w.service.Create(w.ctx, webhook.Create{URL: "https://example.org/", Kinds: []string{"documents.writen"}})
	if w.want("a kind", err, fault.InvalidRequest); !strings.Contains(err.Error(), `"documents.written"`) {
		t.Errorf("%v", err)
	}
	_, err = w.service.Create(w.ctx, webhook.Create{URL: "https://example.org/", Kinds: []string{event.MemoryCreated}})
	w.want("a kind for admin keys", err, fault.Forbidden)
	limited := w.Caller(key.Issue{Namespace: "docs"})
	_, err = w.service.List(limited, webhook.List{})
	w.want("a key of a namespace", err, fault.Forbidden)
	none := webhook.Ref{ID: "whk_none"}
	_, err = w.service.Get(w.ctx, none)
	w.want("none", err, fault.NotFound)
	_, err = w.service.Rotate(w.ctx, webhook.Rotate{Ref: none})
	w.want("rotate none", err, fault.NotFound)
	_, err = w.service.Deliveries(w.ctx, webhook.ListDeliveries{Ref: none})
	w.want("deliveries of none", err, fault.NotFound)
	if out, err := w.service.Delete(w.ctx, none); err != nil || out.Deleted {
		t.Errorf("delete none: %+v, %v", out, err)
	}
	if err := (&webhook.Change{}).Validate(); err == nil {
		t.Error("a change of nothing")
	}
	for range 20 {
		w.hook()
	}
	_, err = w.service.Create(w.ctx, webhook.Create{URL: "https://example.org/"})
	w.want("one too many", err, fault.Conflict)
}

// TestWebhooksOfAdminKeys: who has only the key of an organization neither sees nor turns to
// itself what is sent of end users.
func TestWebhooksOfAdminKeys(t *testing.T) {
	w := open(t)
	m, err := w.service.CreateOf(w.admin, webhook.CreateOf{Org: ident.DefaultOrg, Create: webhook.Create{
		URL: "https://example.org/admin", Kinds: []string{event.MemoryCreated, event.DocumentsWritten}}})
	w.must(err)
	own := w.hook(event.DocumentsWritten)
	ref := webhook.Ref{ID: m.ID}
	_, err = w.service.Get(w.ctx, ref)
	w.want("read", err, fault.NotFound)
	_, err = w.service.Change(w.ctx, webhook.Change{Ref: ref, URL: new("https://evil.example/")})
	w.want("change", err, fault.NotFound)
	_, err = w.service.Rotate(w.ctx, webhook.Rotate{Ref: ref})
	w.want("rotate", err, fault.NotFound)
	if out, err := w.service.Delete(w.ctx, ref); err != nil || out.Deleted {
		t.Errorf("delete: %+v, %v", out, err)
	}
	list, err := w.service.List(w.ctx, webhook.List{})
	w.must(err)
	if len(list.Webhooks) != 1 || list.Webhooks[0].ID != own.ID {
		t.Errorf("listed: %+v", list)
	}
	of := webhook.ListOf{Org: ident.DefaultOrg}
	list, err = w.service.ListOf(w.admin, of)
	w.must(err)
	if len(list.Webhooks) != 2 {
		t.Errorf("listed for admin: %+v", list)
	}
	for _, kinds := range [][]string{{event.DocumentsWritten}, {}} { // given back, and all kinds of admins
		_, err = w.service.ChangeOf(w.admin, webhook.ChangeOf{Org: ident.DefaultOrg,
			Change: webhook.Change{Ref: ref, Kinds: &kinds}})
		w.must(err)
		_, err = w.service.Get(w.ctx, ref)
		if visible := err == nil; visible != (len(kinds) == 1) {
			t.Errorf("%q: %v", kinds, err)
		}
	}
	if out, err := w.service.DeleteOf(w.admin, webhook.RefOf{Org: ident.DefaultOrg, Ref: ref}); err != nil || !out.Deleted {
		t.Errorf("delete by admin: %+v, %v", out, err)
	}
	_, err = w.service.ListOf(w.admin, webhook.ListOf{Org: "none"})
	w.want("an organization that is not there", err, fault.NotFound)
}

func TestDisablingDropsWhatWaits(t *testing.T) {
	w := open(t)
	m := w.hook(event.DocumentsWritten)
	w.happen("namespace/docs", "namespace/notes")
	at, err := w.service.Change(w.ctx, webhook.Change{Ref: webhook.Ref{ID: m.ID}, Enabled: new(false), Description: new("off")})
	w.must(err)
	if at.State != "disabled" || at.Reason != nil || at.Description != "off" {
		t.Errorf("%+v", at)
	}
	page, err := w.service.Deliveries(w.ctx, webhook.ListDeliveries{Ref: webhook.Ref{ID: m.ID}, Limit: new(1)})
	w.must(err)
	if len(page.Deliveries) != 1 || page.Deliveries[0].Status != "dropped" || page.NextCursor == nil {
		t.Fatalf("%+v", page)
	}
	next, err := w.service.Deliveries(w.ctx, webhook.ListDeliveries{Ref: webhook.Ref{ID: m.ID}, Limit: new(1),
		Cursor: *page.NextCursor})
	w.must(err)
	if len(next.Deliveries) != 1 || next.Deliveries[0].ID == page.Deliveries[0].ID || next.NextCursor != nil {
		t.Errorf("%+v", next)
	}
	_, err = w.service.Redeliver(w.ctx, webhook.DeliveryRef{Ref: webhook.Ref{ID: m.ID}, Delivery: page.Deliveries[0].ID})
	w.want("redeliver while disabled", err, fault.Conflict)
	w.run(w.deliverer.Run)
	w.happen("namespace/docs")
	w.deliverer.Wake()
	time.Sleep(10 * time.Millisecond)
	w.tries(0)
	if out, err := w.service.Delete(w.ctx, webhook.Ref{ID: m.ID}); err != nil || !out.Deleted {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestKeyPairs(t *testing.T) {
	w := open(t)
	m, err := w.service.Create(w.ctx, webhook.Create{URL: "https://example.org/", Signature: new(webhook.SchemeAsymmetric)})
	w.must(err)
	if m.Secret != nil || m.Secrets[0].PublicKey == nil || !strings.HasPrefix(*m.Secrets[0].PublicKey, "whpk_") {
		t.Errorf("%+v", m)
	}
	_, err = w.service.Test(w.ctx, webhook.Ref{ID: m.ID})
	w.must(err)
	if got := w.endpoint.taken()[0].Secrets[0]; !strings.HasPrefix(got, "whsk_") {
		t.Error("it signs with a shared secret")
	}
}

// TestWhatADelivererSays: nothing of what goes well, the host of an endpoint that it gives up and
// not the rest of its URL, and that the database is away.
func TestWhatADelivererSays(t *testing.T) {
	w := open(t)
	var log coretest.Lines
	w.deliverer = webhook.NewDeliverer(webhook.DelivererSettings{Store: w.Store, Replica: w.Replica, Sender: w.endpoint,
		Sealer: w.sealer, Now: w.now, Log: log.Logger()})
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.happen("namespace/docs")
	w.tries(1)
	w.settled(m.ID, 1)
	if log.String() != "" {
		t.Errorf("all is well, and logged is %s", &log)
	}
	w.endpoint.set(status(410))
	w.happen("namespace/docs")
	w.tries(2)
	w.until("it says what it gives up", func() bool { return strings.Contains(log.String(), "webhook disabled") })
	if got := log.String(); !strings.Contains(got, "host=example.org") || strings.Contains(got, "/hook") {
		t.Errorf("it names more or less than the host: %s", got)
	}
	w.Store.OnView.Set(func() error { return errors.New("the database is away") })
	w.until("it says that it finds nothing", func() bool {
		w.deliverer.Wake()
		return strings.Contains(log.String(), "deliveries not looked for")
	})
	w.Store.OnView.Clear()
}

// TestEachOfAListHasItsSecrets: as a webhook has that is read alone.
func TestEachOfAListHasItsSecrets(t *testing.T) {
	w := open(t)
	for range 3 {
		w.hook(event.DocumentsWritten)
	}
	list, err := w.service.List(w.ctx, webhook.List{})
	w.must(err)
	for _, one := range list.Webhooks {
		if got := w.get(one.ID); len(one.Secrets) != 1 || len(got.Secrets) != 1 || one.Secrets[0] != got.Secrets[0] {
			t.Errorf("listed with %+v, read with %+v", one.Secrets, got.Secrets)
		}
	}
}
