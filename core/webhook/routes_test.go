package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/op"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/webhook"
)

// TestOperations: what reads changes nothing and all the rest does; each has its time, a test that of an
// attempt and more; those of admin keys name the organization wherever they lead.
func TestOperations(t *testing.T) {
	own := map[string]time.Duration{"webhooks.test": 25 * time.Second, "webhooks.recover": time.Minute}
	for _, o := range webhook.Operations() {
		s := o.Spec
		admin := s.Family == op.Administration
		name := s.Name
		if admin {
			name = name[len("admin."):]
		}
		want := 10 * time.Second
		if longer, ok := own[name]; ok {
			want = longer
		}
		if s.Mutates != (s.Method != http.MethodGet) || s.Timeout != want ||
			(s.TimeoutClass == op.OwnTimeout) != (want != 10*time.Second) {
			t.Errorf("%s %s: mutates %v, within %v", s.Name, s.Method, s.Mutates, s.Timeout)
		}
		if len(s.Examples) == 0 || name == "webhooks.create" && len(s.Links) != 2 {
			t.Errorf("%s has %d examples and %d links", s.Name, len(s.Examples), len(s.Links))
		}
		for _, e := range s.Examples {
			if _, names := e.Parameters["org"]; names != admin {
				t.Errorf("%s: an example with %v", s.Name, e.Parameters)
			}
		}
		for _, l := range s.Links {
			if _, names := l.Parameters["org"]; names != admin || l.Parameters["id"] == "" {
				t.Errorf("%s leads to %s with %v", s.Name, l.To, l.Parameters)
			}
		}
	}
}

// TestOfAnOrganization: an admin key reaches the deliveries of an organization by its name, and of
// one that is not there nothing.
func TestOfAnOrganization(t *testing.T) {
	w := open(t)
	m := w.hook(event.DocumentsWritten)
	w.happen("namespace/docs")
	ref := webhook.Ref{ID: m.ID}
	page, err := w.service.DeliveriesOf(w.admin, webhook.ListDeliveriesOf{Org: ident.DefaultOrg,
		ListDeliveries: webhook.ListDeliveries{Ref: ref}})
	w.must(err)
	if len(page.Deliveries) != 1 {
		t.Fatalf("%+v", page)
	}
	one := webhook.DeliveryRef{Ref: ref, Delivery: page.Deliveries[0].ID}
	since := webhook.Recover{Ref: ref, Since: w.now().Add(-time.Hour)}
	_, err = w.service.ChangeOf(w.admin, webhook.ChangeOf{Org: "none", Change: webhook.Change{Ref: ref, Enabled: new(false)}})
	w.want("change", err, fault.NotFound)
	_, err = w.service.DeleteOf(w.admin, webhook.RefOf{Org: "none", Ref: ref})
	w.want("delete", err, fault.NotFound)
	_, err = w.service.CreateOf(w.admin, webhook.CreateOf{Org: "none", Create: webhook.Create{URL: "https://example.org/"}})
	w.want("create", err, fault.NotFound)
	for _, org := range []string{ident.DefaultOrg, "none"} {
		want := fault.Code("")
		if org == "none" {
			want = fault.NotFound
		}
		for what, call := range map[string]func() error{
			"deliveries": func() error {
				_, err := w.service.DeliveriesOf(w.admin, webhook.ListDeliveriesOf{Org: org,
					ListDeliveries: webhook.ListDeliveries{Ref: ref}})
				return err
			},
			"delivery": func() error {
				d, err := w.service.DeliveryOf(w.admin, webhook.DeliveryRefOf{Org: org, DeliveryRef: one})
				if err == nil && d.ID != one.Delivery {
					t.Errorf("read: %+v", d)
				}
				return err
			},
			"redeliver": func() error {
				d, err := w.service.RedeliverOf(w.admin, webhook.DeliveryRefOf{Org: org, DeliveryRef: one})
				if err == nil && d.EventID != page.Deliveries[0].EventID {
					t.Errorf("sent again: %+v", d)
				}
				return err
			},
			"recover": func() error {
				_, err := w.service.RecoverOf(w.admin, webhook.RecoverOf{Org: org, Recover: since})
				return err
			},
			"get": func() error {
				at, err := w.service.GetOf(w.admin, webhook.RefOf{Org: org, Ref: ref})
				if err == nil && at.ID != m.ID {
					t.Errorf("read: %+v", at)
				}
				return err
			},
			"change": func() error {
				_, err := w.service.ChangeOf(w.admin, webhook.ChangeOf{Org: org,
					Change: webhook.Change{Ref: ref, Description: new("search")}})
				return err
			},
			"test": func() error {
				sent, err := w.service.TestOf(w.admin, webhook.RefOf{Org: org, Ref: ref})
				if err == nil && !sent.Delivered {
					t.Errorf("a test: %+v", sent)
				}
				return err
			},
			"rotate": func() error {
				made, err := w.service.RotateOf(w.admin, webhook.RotateOf{Org: org,
					Rotate: webhook.Rotate{Ref: ref, Overlap: "168h", Force: true}})
				if err == nil && made.Secret == nil {
					t.Errorf("rotated: %+v", made)
				}
				return err
			},
		} {
			w.want(what+" of "+org, call(), want)
		}
	}
}

// TestWhatIsSentAgainIsDueAtOnce: the answer says so, as a later read does, and those who send are woken,
// but not for what is refused.
func TestWhatIsSentAgainIsDueAtOnce(t *testing.T) {
	w := open(t)
	woken := 0
	service := webhook.New(webhook.Settings{Store: w.Store, Sender: w.endpoint, Sealer: w.sealer, Pages: w.Pages, Now: w.now,
		Wake: func() { woken++ }})
	m := w.hook(event.DocumentsWritten)
	stop := w.run(w.deliverer.Run)
	w.happen("namespace/docs")
	w.tries(1)
	sent := w.settled(m.ID, 1)[0]
	stop()
	ref := webhook.DeliveryRef{Ref: webhook.Ref{ID: m.ID}, Delivery: sent.ID}
	again, err := service.Redeliver(w.ctx, ref)
	w.must(err)
	read, err := service.Delivery(w.ctx, webhook.DeliveryRef{Ref: ref.Ref, Delivery: again.ID})
	w.must(err)
	if again.NextAttemptAt == nil || !again.NextAttemptAt.Equal(w.now()) || read.NextAttemptAt == nil ||
		!read.NextAttemptAt.Equal(w.now()) || woken != 1 {
		t.Errorf("answered %+v, read %+v, woken %d times", again, read, woken)
	}
	alone := webhook.New(webhook.Settings{Store: w.Store, Sender: w.endpoint, Sealer: w.sealer, Pages: w.Pages, Now: w.now})
	_, err = alone.Redeliver(w.ctx, ref) // there is nobody to wake
	w.must(err)
	ref.Delivery = "dlv_none"
	_, err = service.Redeliver(w.ctx, ref)
	w.want("of none", err, fault.NotFound)
	if woken != 1 {
		t.Errorf("those who send are woken for nothing: %d", woken)
	}
}

// TestASecretThatEndsAtOnce: without an overlap nothing of it is kept.
func TestASecretThatEndsAtOnce(t *testing.T) {
	w := open(t)
	m := w.hook()
	_, err := w.service.Rotate(w.ctx, webhook.Rotate{Ref: webhook.Ref{ID: m.ID}, Overlap: "0s"})
	w.must(err)
	w.must(w.Store.View(w.ctx, func(r port.Reader) error {
		kept, err := r.WebhookSecrets(w.ctx, w.org, m.ID)
		if len(kept) != 1 || kept[0].ID == m.Secrets[0].ID {
			t.Errorf("kept: %+v", kept)
		}
		return err
	}))
}

// TestARetryNeedsNoOtherEvent: what has failed is sent again when its time has come, though nothing
// else happens.
func TestARetryNeedsNoOtherEvent(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	w.happen("namespace/docs")
	w.tries(1)
	next := *w.settled(m.ID, 1)[0].NextAttemptAt
	w.endpoint.set(nil)
	w.to(next.Add(-50 * time.Millisecond))
	w.deliverer.Wake() // it looks how long to wait
	time.Sleep(20 * time.Millisecond)
	w.to(next)
	w.until("it is sent again", func() bool { return len(w.endpoint.taken()) == 2 })
}

// TestASlowAnswerHoldsBackItsEntityAlone: what happens to others while it is awaited is sent.
func TestASlowAnswerHoldsBackItsEntityAlone(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	w.hook(event.DocumentsWritten)
	slow := make(chan struct{})
	defer close(slow)
	w.endpoint.set(func(m port.WebhookMessage) (port.WebhookAnswer, error) {
		if strings.HasSuffix(string(m.Body), `"n":1}`) {
			<-slow
		}
		return status(204)(m)
	})
	w.happen("namespace/slow")
	for i := range 3 {
		w.happen("namespace/slow", fmt.Sprint("namespace/", i))
		w.until("others are sent", func() bool { return len(w.endpoint.taken()) == i+2 })
	}
}

// TestAnEndpointIsDoubtedAfterAMinute: until then it gets several deliveries at once, from then on
// one at a time.
func TestAnEndpointIsDoubtedAfterAMinute(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	w.happen("namespace/failing")
	w.tries(1)
	w.settled(m.ID, 1)
	began := w.now()
	hold := func() (release func()) {
		held := make(chan struct{})
		w.endpoint.set(func(msg port.WebhookMessage) (port.WebhookAnswer, error) {
			<-held
			return status(500)(msg)
		})
		return sync.OnceFunc(func() { close(held) })
	}
	release := hold()
	defer release()
	w.to(began.Add(time.Minute))
	w.happen("namespace/a", "namespace/b")
	w.tries(4) // the one that failed, too
	release()
	w.settled(m.ID, 4)
	w.endpoint.forget()
	release = hold()
	defer release()
	w.to(began.Add(10 * time.Minute)) // all are due again
	w.deliverer.Wake()
	w.until("one is sent", func() bool { return len(w.endpoint.taken()) > 0 })
	time.Sleep(20 * time.Millisecond)
	if n := len(w.endpoint.taken()); n != 1 {
		t.Errorf("%d at once to an endpoint that has taken nothing for minutes", n)
	}
}

// TestPausesVary: by a fifth at most, so that what has failed together doesn't come together.
func TestPausesVary(t *testing.T) {
	for random, want := range map[float64]time.Duration{0: 4 * time.Second, 0.75: 5500 * time.Millisecond} {
		w := open(t)
		d := webhook.NewDeliverer(webhook.DelivererSettings{Store: w.Store, Replica: w.Replica, Sender: w.endpoint,
			Sealer: w.sealer, Random: func() float64 { return random }, Now: w.now})
		w.run(d.Run)
		m := w.hook(event.DocumentsWritten)
		w.endpoint.set(status(500))
		w.happen("namespace/docs")
		d.Wake()
		if d := w.settled(m.ID, 1)[0]; d.NextAttemptAt.Sub(w.now()) != want {
			t.Errorf("%v: it is tried again after %v, want %v", random, d.NextAttemptAt.Sub(w.now()), want)
		}
	}
}

// TestWhenAnEndpointIsGivenUp: after five days to the second, with failures of three events 12 hours
// apart.
func TestWhenAnEndpointIsGivenUp(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	began, tries := w.now(), 0
	for i, after := range []time.Duration{0, 12 * time.Hour, 5*24*time.Hour - time.Second} {
		w.to(began.Add(after))
		if i < 2 {
			w.happen(fmt.Sprint("namespace/", i))
		}
		tries += min(i+1, 2) // those of before are tried again
		w.tries(tries)
		w.settled(m.ID, tries)
	}
	if at := w.get(m.ID); !at.Enabled {
		t.Errorf("given up too early: %+v", at)
	}
	w.to(began.Add(5 * 24 * time.Hour))
	w.happen("namespace/last")
	w.until("it is given up", func() bool { return !w.get(m.ID).Enabled })
}

// TestOneEventEndsNothing: however often it fails.
func TestOneEventEndsNothing(t *testing.T) {
	w := open(t)
	w.run(w.deliverer.Run)
	m := w.hook(event.DocumentsWritten)
	w.endpoint.set(status(500))
	began := w.now()
	w.happen("namespace/docs")
	for i := range 4 {
		w.to(began.Add(time.Duration(i) * 2 * 24 * time.Hour))
		w.tries(i + 1)
		w.settled(m.ID, i+1)
	}
	if at := w.get(m.ID); !at.Enabled || at.State != "failing" {
		t.Errorf("%+v", at)
	}
}
