package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/port"
)

func hook(org ident.Org, n int) port.WebhookRow {
	return port.WebhookRow{ID: fmt.Sprintf("whk_%s_%d", org, n), Org: org, URL: fmt.Sprintf("https://example.org/%d", n),
		Kinds: []string{"documents.written", "key.created"}, Description: "číslo", Scheme: "v1", Enabled: true,
		CreatedAt: at(n), UpdatedAt: at(n)}
}

func (f *fixture) hook(row port.WebhookRow) port.WebhookRow {
	f.Helper()
	f.update(func(w port.DocumentWriter) error { return w.PutWebhook(f.ctx, row) })
	return row
}

// written appends and numbers events of an entity, and gives them.
func (f *fixture) written(org ident.Org, entity string, ns ...int) (out []port.Event) {
	f.Helper()
	for _, n := range ns {
		e := event(org, n)
		e.Entity = entity
		f.append(e)
	}
	var fresh []port.Event
	f.view(func(r port.Reader) (err error) { fresh, err = r.UnnumberedEvents(f.ctx, 1000); return err })
	f.update(func(w port.DocumentWriter) (err error) { out, err = w.NumberEvents(f.ctx, fresh); return err })
	return out
}

// deliver makes deliveries of events, at the time of a number.
func (f *fixture) deliver(row port.WebhookRow, n int, events ...port.Event) {
	f.Helper()
	var all []port.Delivery
	for _, e := range events {
		all = append(all, port.Delivery{ID: fmt.Sprintf("dlv_%s_%s_%d", row.ID, e.ID, n), Org: row.Org, Webhook: row.ID,
			Event: e.ID, Seq: e.Seq, Kind: e.Kind, Entity: e.Entity, CreatedAt: at(n)})
	}
	f.update(func(w port.DocumentWriter) error { return w.AppendDeliveries(f.ctx, all) })
}

// due are the ids of the events that are due of a webhook by the time of a number.
func (f *fixture) due(row port.WebhookRow, n int) (out []string) {
	f.Helper()
	f.view(func(r port.Reader) error {
		found, err := r.DueDeliveries(f.ctx, row.Org, row.ID, at(n), 100)
		for _, d := range found {
			if string(d.Body) == "" {
				f.Errorf("no body: %+v", d)
			}
			out = append(out, d.Event)
		}
		return err
	})
	return out
}

func (f *fixture) deliveries(row port.WebhookRow, l port.DeliveryList) (out []port.Delivery) {
	f.Helper()
	f.view(func(r port.Reader) (err error) { out, err = r.Deliveries(f.ctx, row.Org, row.ID, l); return err })
	return out
}

// settle ends or postpones the delivery of an event that is pending.
func (f *fixture) settle(row port.WebhookRow, event string, status port.DeliveryStatus, next time.Time) {
	f.Helper()
	for _, d := range f.deliveries(row, port.DeliveryList{Status: port.DeliveryPending, Limit: 100}) {
		if d.Event == event {
			d.Status, d.NextAt, d.UpdatedAt = status, next, at(50)
			d.Tries++
			d.Attempts = append(d.Attempts,
				port.DeliveryAttempt{At: at(50), Status: 500, Millis: 7, Error: "ouch", Answer: "číslo"})
			f.update(func(w port.DocumentWriter) error {
				return w.SettleDeliveries(f.ctx, row.Org, row.ID, []port.Delivery{d})
			})
			return
		}
	}
	f.Errorf("%s is not pending", event)
}

func webhooks(t *testing.T, f *fixture) {
	f.otherOrganization()
	has := func() (has bool) {
		f.view(func(r port.Reader) (err error) { has, err = r.HasWebhooks(f.ctx); return err })
		return has
	}
	recorded := func(org ident.Org) (has bool) {
		f.view(func(r port.Reader) (err error) { _, has, err = r.EventsRead(f.ctx, org); return err })
		return has
	}
	if has() || recorded(f.org) {
		t.Error("there are webhooks before there are")
	}
	one, two, others := f.hook(hook(f.org, 1)), f.hook(hook(f.org, 2)), f.hook(hook(otherOrg, 1))
	if !has() || !recorded(f.org) {
		t.Error("there are no webhooks")
	}
	changed := one
	changed.URL, changed.Kinds, changed.Admin, changed.Description = "https://example.org/new", nil, true, ""
	changed.Enabled, changed.Reason, changed.UpdatedAt, changed.Scheme = false, "gone", at(9), "v1a"
	health := port.WebhookHealth{Since: at(3), Events: 2, Event: "evt_x", At: at(4)}
	f.update(func(w port.DocumentWriter) error { return w.NoteWebhookHealth(f.ctx, f.org, one.ID, health) })
	f.update(func(w port.DocumentWriter) error { return w.NoteWebhookHealth(f.ctx, otherOrg, two.ID, health) }) // not its
	kept := changed
	kept.Health.Events = 9
	f.hook(kept)
	changed.Health, changed.Kinds = health, []string{}
	f.view(func(r port.Reader) error {
		got, err := r.Webhook(f.ctx, f.org, one.ID)
		f.same("changed", got, changed)
		all, failed := r.Webhooks(f.ctx, f.org)
		f.same("all", all, []port.WebhookRow{changed, two})
		f.fine("all", failed)
		_, absent := r.Webhook(f.ctx, otherOrg, one.ID)
		f.want("another organization's", absent, fault.NotFound)
		return err
	})
	put := func(row port.WebhookRow) error {
		return f.s.Update(f.ctx, func(w port.Writer) error { return w.PutWebhook(f.ctx, row) })
	}
	stolen := others
	stolen.Org = f.org
	f.want("another's id", put(stolen), fault.Conflict)
	f.want("of none", put(hook("org_none", 1)), fault.NotFound)

	secrets := []port.WebhookSecret{{ID: "whs_1", Sealed: []byte{1, 0, 2}, CreatedAt: at(1), ExpiresAt: at(8)},
		{ID: "whs_2", Sealed: []byte{3}, Public: "whpk_x", CreatedAt: at(2)}}
	read := func(org ident.Org, id string) (out []port.WebhookSecret) {
		f.view(func(r port.Reader) (err error) { out, err = r.WebhookSecrets(f.ctx, org, id); return err })
		return out
	}
	f.update(func(w port.DocumentWriter) error { return w.SetWebhookSecrets(f.ctx, f.org, one.ID, secrets) })
	f.same("secrets, the newest first", read(f.org, one.ID), []port.WebhookSecret{secrets[1], secrets[0]})
	f.update(func(w port.DocumentWriter) error { return w.SetWebhookSecrets(f.ctx, f.org, one.ID, secrets[1:]) })
	f.same("replaced", read(f.org, one.ID), secrets[1:])
	if got := append(read(otherOrg, one.ID), read(f.org, two.ID)...); len(got) != 0 {
		t.Errorf("another's secrets: %v", got)
	}
	f.want("of no webhook", f.s.Update(f.ctx, func(w port.Writer) error {
		return w.SetWebhookSecrets(f.ctx, otherOrg, one.ID, secrets)
	}), fault.NotFound)

	// One goes with all that it has, in pieces, and takes nothing else along.
	events := f.written(f.org, "namespace/docs", 1, 2, 3)
	f.deliver(one, 5, events...)
	f.deliver(two, 5, events...)
	remove := func(org ident.Org, id string) (more bool) {
		f.update(func(w port.DocumentWriter) (err error) { more, err = w.DeleteWebhook(f.ctx, org, id, 2); return err })
		return more
	}
	if remove(otherOrg, one.ID) || len(f.deliveries(one, port.DeliveryList{Limit: 9})) != 3 || len(read(f.org, one.ID)) != 1 {
		t.Error("another organization's was deleted")
	}
	if !remove(f.org, one.ID) || remove(f.org, one.ID) || remove(f.org, one.ID) {
		t.Error("more is not what is left")
	}
	if len(f.deliveries(one, port.DeliveryList{Limit: 9})) != 0 || len(read(f.org, one.ID)) != 0 ||
		len(f.deliveries(two, port.DeliveryList{Limit: 9})) != 3 {
		t.Error("not what was deleted is gone")
	}
	if err := f.s.Update(f.ctx, func(w port.Writer) error {
		_, err := w.DeleteWebhook(f.ctx, f.org, two.ID, 0)
		return err
	}); err == nil {
		t.Error("up to none at once")
	}
}

func deliveryLanes(t *testing.T, f *fixture) {
	f.otherOrganization()
	row, second := f.hook(hook(f.org, 1)), f.hook(hook(f.org, 2))
	docs, notes := f.written(f.org, "namespace/docs", 1, 2, 3), f.written(f.org, "namespace/notes", 4, 5)
	f.deliver(row, 10, docs...)
	f.deliver(row, 11, notes...)
	f.deliver(second, 11, notes[1])
	f.same("before their time", f.due(row, 9), []string(nil))
	f.same("one of each entity", f.due(row, 20), []string{docs[0].ID, notes[0].ID})
	f.same("another webhook's", f.due(second, 20), []string{notes[1].ID})
	f.same("another organization's", f.due(hook(otherOrg, 1), 20), []string(nil))

	// A failing one holds back its entity, and nothing else.
	f.settle(row, docs[0].ID, port.DeliveryPending, at(60))
	f.same("others go on", f.due(row, 20), []string{notes[0].ID})
	f.settle(row, notes[0].ID, port.DeliverySucceeded, time.Time{})
	f.same("the next of the entity", f.due(row, 20), []string{notes[1].ID})
	f.same("by its time", f.due(row, 60), []string{notes[1].ID, docs[0].ID})
	f.settle(row, docs[0].ID, port.DeliveryFailed, time.Time{})
	f.same("what has failed makes room", f.due(row, 20), []string{docs[1].ID, notes[1].ID})

	// What comes late goes to its place.
	f.deliver(row, 30, docs[0])
	f.same("an earlier one goes first", f.due(row, 40), []string{notes[1].ID, docs[0].ID})
	f.settle(row, docs[0].ID, port.DeliverySucceeded, time.Time{})
	f.same("then the others", f.due(row, 40), []string{docs[1].ID, notes[1].ID})

	// What was stored is read, the newest first, and by its status.
	all := f.deliveries(row, port.DeliveryList{Limit: 100})
	if len(all) != 6 || all[0].Event != docs[0].ID || all[5].Event != docs[0].ID || all[5].Status != port.DeliveryFailed {
		t.Fatalf("deliveries: %+v", all)
	}
	want := port.Delivery{ID: all[5].ID, Org: f.org, Webhook: row.ID, Event: docs[0].ID, Seq: docs[0].Seq, Kind: docs[0].Kind,
		Entity: docs[0].Entity, Status: port.DeliveryFailed, Tries: 2, CreatedAt: at(10), UpdatedAt: at(50),
		Position: all[5].Position}
	one := port.DeliveryAttempt{At: at(50), Status: 500, Millis: 7, Error: "ouch", Answer: "číslo"}
	want.Attempts = []port.DeliveryAttempt{one, one}
	f.same("as stored", all[5], want)
	f.same("a page", f.deliveries(row, port.DeliveryList{Before: all[1].Position, Limit: 2}), all[2:4])
	f.same("of a status", f.deliveries(row, port.DeliveryList{Status: port.DeliveryFailed, Limit: 9}), all[5:])
	f.view(func(r port.Reader) error {
		got, err := r.Delivery(f.ctx, f.org, row.ID, want.ID)
		f.same("one", got, want)
		for _, of := range []port.WebhookRow{{Org: otherOrg, ID: row.ID}, {Org: f.org, ID: second.ID}} {
			_, absent := r.Delivery(f.ctx, of.Org, of.ID, want.ID)
			f.want("another's", absent, fault.NotFound)
		}
		of, failed := r.DeliveriesOf(f.ctx, f.org, docs[0].ID, 9)
		f.same("of an event", of, []port.Delivery{all[0], all[5]})
		f.fine("of an event", failed)
		none, failed := r.DeliveriesOf(f.ctx, otherOrg, docs[0].ID, 9)
		f.same("of another's event", none, []port.Delivery(nil))
		f.fine("of another's event", failed)
		s, failed := r.Statistics(f.ctx)
		if s.Deliveries != 4 || s.OldestDelivery <= 0 {
			t.Errorf("%d are pending, since %v", s.Deliveries, s.OldestDelivery)
		}
		f.fine("statistics", failed)
		return err
	})

	// What has ended stays as it is; what is dropped is pending no more.
	again := all[5]
	again.Status = port.DeliverySucceeded
	f.update(func(w port.DocumentWriter) error {
		return w.SettleDeliveries(f.ctx, f.org, row.ID, []port.Delivery{again})
	})
	f.update(func(w port.DocumentWriter) error { return w.DropDeliveries(f.ctx, otherOrg, row.ID, at(55)) })
	f.same("not another's to drop", f.due(row, 40), []string{docs[1].ID, notes[1].ID})
	f.update(func(w port.DocumentWriter) error { return w.DropDeliveries(f.ctx, f.org, row.ID, at(55)) })
	f.same("after they were dropped", f.due(row, 99), []string(nil))
	f.same("another webhook's stay", f.due(second, 99), []string{notes[1].ID})
	if got := f.deliveries(row, port.DeliveryList{Status: port.DeliveryDropped, Limit: 9}); len(got) != 3 ||
		!got[0].UpdatedAt.Equal(at(55)) {
		t.Errorf("dropped: %+v", got)
	}
	if got := f.deliveries(row, port.DeliveryList{Status: port.DeliveryFailed, Limit: 9}); len(got) != 1 {
		t.Errorf("what has ended has changed: %+v", got)
	}

	// What it has not taken: all but what succeeded.
	undelivered := func(l port.UndeliveredList) (out []string) {
		l.Webhook, l.Kinds = row.ID, []string{"documents.written"}
		if l.Until.IsZero() {
			l.Until = at(99)
		}
		f.view(func(r port.Reader) error {
			found, err := r.Undelivered(f.ctx, f.org, l)
			for _, e := range found {
				out = append(out, e.ID)
			}
			return err
		})
		return out
	}
	f.same("not taken", undelivered(port.UndeliveredList{Limit: 9}), []string{docs[1].ID, docs[2].ID, notes[1].ID})
	f.same("a page", undelivered(port.UndeliveredList{After: docs[1].Seq, Limit: 1}), []string{docs[2].ID})
	f.same("of a time", undelivered(port.UndeliveredList{Since: at(3), Until: at(5), Limit: 9}), []string{docs[2].ID})
	f.deliver(row, 70, docs[2])
	f.same("that one is under way", undelivered(port.UndeliveredList{Limit: 9}), []string{docs[1].ID, notes[1].ID})
	f.same("none at once", undelivered(port.UndeliveredList{}), []string(nil))

	// What was being sent when it was dropped keeps what came of it; what the endpoint took was taken.
	late := f.deliveries(row, port.DeliveryList{Status: port.DeliveryDropped, Limit: 9})
	for i, status := range []port.DeliveryStatus{port.DeliveryPending, port.DeliveryFailed, port.DeliverySucceeded} {
		late[i].Status, late[i].NextAt, late[i].UpdatedAt = status, at(60), at(56)
		late[i].Attempts, late[i].Tries = append(late[i].Attempts, one), late[i].Tries+1
	}
	f.update(func(w port.DocumentWriter) error { return w.SettleDeliveries(f.ctx, otherOrg, row.ID, late) }) // not its
	f.update(func(w port.DocumentWriter) error { return w.SettleDeliveries(f.ctx, f.org, row.ID, late) })
	f.same("none is due for it", f.due(row, 99), []string{docs[2].ID})
	for i := range late {
		late[i].NextAt = time.Time{}
	}
	late[0].Status, late[1].Status = port.DeliveryDropped, port.DeliveryDropped
	f.same("dropped still", f.deliveries(row, port.DeliveryList{Status: port.DeliveryDropped, Limit: 9}), late[:2])
	f.view(func(r port.Reader) error {
		got, err := r.Delivery(f.ctx, f.org, row.ID, late[2].ID)
		f.same("taken", got, late[2])
		return err
	})
	f.same("not taken after that", undelivered(port.UndeliveredList{Limit: 9}), []string{notes[1].ID})

	// A delivery that cannot be is refused.
	for _, broken := range []port.Delivery{{}, {ID: "dlv_x", Webhook: row.ID, Event: "evt_x", Entity: "e"}} {
		if err := f.s.Update(f.ctx, func(w port.Writer) error {
			return w.AppendDeliveries(f.ctx, []port.Delivery{broken})
		}); err == nil {
			t.Errorf("taken: %+v", broken)
		}
	}
}

func deliveriesGo(t *testing.T, f *fixture) {
	f.otherOrganization()
	p := f.ann()
	row := f.hook(hook(f.org, 1))
	ann := event(f.org, 1)
	ann.Subject, ann.Entity = port.EventSubject(p), "user/ann"
	f.append(ann)
	events := append(f.written(f.org, "user/ann"), f.written(f.org, "user/ann", 2)...)
	f.deliver(row, 10, events...)
	f.same("the first", f.due(row, 20), []string{ann.ID})
	f.update(func(w port.DocumentWriter) (err error) { p, err = w.BeginErasure(f.ctx, p, at(20)); return err })
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) { more, err = w.EraseMemories(f.ctx, p, 5); return err })
	}
	// What waited behind goes on.
	f.same("after the erasure", f.due(row, 20), []string{events[1].ID})
	if left := f.deliveries(row, port.DeliveryList{Limit: 9}); len(left) != 1 {
		t.Errorf("an erasure leaves %+v", left)
	}
	// What is forgotten by its age goes with its deliveries, too.
	more := f.written(f.org, "user/ann", 30)
	f.deliver(row, 30, more...)
	f.update(func(w port.DocumentWriter) error { _, err := w.TrimEvents(f.ctx, at(20), 10); return err })
	f.same("after a trim", f.due(row, 40), []string{more[0].ID})

	// An organization goes with all of it.
	others := f.hook(hook(otherOrg, 1))
	f.deliver(others, 30, f.written(otherOrg, "namespace/docs", 1, 2, 3)...)
	f.update(func(w port.DocumentWriter) error {
		return w.SetWebhookSecrets(f.ctx, otherOrg, others.ID, []port.WebhookSecret{{ID: "whs_1", Sealed: []byte{1}}})
	})
	f.update(func(w port.DocumentWriter) error { return w.BeginDeletion(f.ctx, otherOrg, at(40)) })
	for more := true; more; {
		f.update(func(w port.DocumentWriter) (err error) {
			_, more, err = w.EraseOrganization(f.ctx, otherOrg, 2)
			return err
		})
	}
	f.view(func(r port.Reader) error {
		all, err := r.Webhooks(f.ctx, otherOrg)
		secrets, failed := r.WebhookSecrets(f.ctx, otherOrg, others.ID)
		if len(all)+len(secrets)+len(f.deliveries(others, port.DeliveryList{Limit: 9})) != 0 {
			t.Errorf("a deleted organization leaves %v, %v", all, secrets)
		}
		f.fine("secrets", failed)
		return err
	})
	f.same("another's stay", f.due(row, 40), []string{more[0].ID})
}

func dueWebhooks(t *testing.T, f *fixture) {
	f.otherOrganization()
	var self, other port.Replica
	f.update(func(w port.DocumentWriter) (err error) {
		self, err = w.JoinReplica(f.ctx, "self", time.Hour)
		return err
	})
	f.update(func(w port.DocumentWriter) (err error) {
		other, err = w.JoinReplica(f.ctx, "other", time.Hour)
		return err
	})
	due := func(n, limit int) (ids []string, next time.Time) {
		f.Helper()
		f.view(func(r port.Reader) error {
			rows, at, err := r.DueWebhooks(f.ctx, self, at(n), limit)
			for _, row := range rows {
				ids = append(ids, row.ID)
			}
			next = at
			return err
		})
		return ids, next
	}
	check := func(what string, n, limit int, next time.Time, rows ...port.WebhookRow) {
		f.Helper()
		var want []string
		for _, row := range rows {
			want = append(want, row.ID)
		}
		got, then := due(n, limit)
		f.same(what, got, want)
		f.same(what+": next", then, next)
	}
	check("none", 99, 9, time.Time{})
	one, two, others := f.hook(hook(f.org, 1)), f.hook(hook(f.org, 2)), f.hook(hook(otherOrg, 1))
	events := f.written(f.org, "namespace/docs", 1, 2)
	f.deliver(one, 20, events...)
	f.deliver(two, 10, events...)
	f.deliver(others, 30, f.written(otherOrg, "namespace/docs", 1)...)
	check("before", 5, 9, at(10))
	check("the first", 10, 9, at(20), two)
	check("those that have waited longest first", 40, 9, time.Time{}, two, one, others)
	check("not all at once", 40, 2, time.Time{}, two, one)

	var c port.Claim
	claim := func(by port.Replica, row port.WebhookRow) {
		f.update(func(w port.DocumentWriter) (err error) {
			c, _, err = w.TakeClaim(f.ctx, by, "webhook/"+row.ID)
			return err
		})
	}
	claim(self, one)
	claim(other, two)
	check("one is another's", 40, 9, time.Time{}, one, others)
	f.update(func(w port.DocumentWriter) error { return w.EndClaim(f.ctx, c) })
	check("it is free again", 40, 9, time.Time{}, two, one, others)
	claim(other, two)
	f.update(func(w port.DocumentWriter) error { return w.LeaveReplica(f.ctx, other) })
	check("the other has ended", 40, 9, time.Time{}, two, one, others)

	two.Enabled = false
	f.hook(two)
	check("one is disabled", 40, 9, time.Time{}, one, others)
	f.update(func(w port.DocumentWriter) error {
		return w.PutOrganization(f.ctx, port.Organization{ID: otherOrg, Name: "other", Suspended: true, CreatedAt: at(1)})
	})
	check("one is of a suspended organization", 40, 9, time.Time{}, one)
}
