package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/event"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/webhook"
)

// tenant is an organization with webhooks, and what it is sent.
func (w *world) tenant(name string, hooks int) (org ident.Org) {
	w.T.Helper()
	ctx := w.Caller(key.Issue{Org: name})
	for n := range hooks {
		_, err := w.service.Create(ctx, webhook.Create{URL: fmt.Sprintf("https://%s.example/%d", name, n),
			Kinds: []string{event.DocumentsWritten}})
		w.must(err)
	}
	return ident.From(ctx).Org
}

// TestOrganizationsShareThePlaces: endpoints that hold every delivery keep those of other
// organizations from nothing, whether they have worked so far or not.
func TestOrganizationsShareThePlaces(t *testing.T) {
	for name, failing := range map[string]bool{"endpoints that are slow": false, "endpoints that fail": true} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.run(w.deliverer.Run)
			slow := []string{"one", "two"}
			var orgs []ident.Org
			for _, name := range append(slow, "late") {
				hooks := 20
				if name == "late" {
					hooks = 1
				}
				orgs = append(orgs, w.tenant(name, hooks))
			}
			happen := func(org ident.Org, entities ...string) {
				w.org = org
				w.happen(entities...)
			}
			sent := func(name string) (n int) {
				for _, m := range w.endpoint.taken() {
					if strings.HasPrefix(m.URL, "https://"+name) {
						n++
					}
				}
				return n
			}
			if failing {
				// They have taken nothing for a minute, and have one delivery each at a time.
				w.endpoint.set(status(503, 24*time.Hour))
				for _, org := range orgs {
					happen(org, "namespace/later")
				}
				w.until("each has failed", func() bool { return sent("one")+sent("two")+sent("late") == 41 })
				w.until("each is known to have failed", func() bool { return w.deliverer.Attempts()[webhook.Retried] == 41 })
			}
			held := make(chan struct{})
			release := func() {
				select {
				case <-held:
				default:
					close(held)
				}
			}
			t.Cleanup(release)
			before := map[string]int{"one": sent("one"), "two": sent("two"), "late": sent("late")}
			w.endpoint.set(func(m port.WebhookMessage) (port.WebhookAnswer, error) {
				if !strings.HasPrefix(m.URL, "https://late") {
					<-held
				}
				return port.WebhookAnswer{Status: 204}, nil
			})
			w.to(w.now().Add(2 * time.Minute))
			first, second := 16, 8 // half of the places, and half of the rest
			if failing {
				first, second = 8, 4
			}
			for i, want := range []int{first, second} {
				happen(orgs[i], "namespace/a", "namespace/b", "namespace/c")
				w.until(slow[i]+" has its share", func() bool {
					w.deliverer.Wake()
					return sent(slow[i])-before[slow[i]] == want
				})
			}
			happen(orgs[2], "namespace/a", "namespace/b", "namespace/c")
			w.until("the third is served", func() bool { return sent("late")-before["late"] == 3 })
			for i, want := range []int{first, second} {
				if n := sent(slow[i]) - before[slow[i]]; n != want {
					t.Errorf("%s has %d at once, want %d", slow[i], n, want)
				}
			}
			release()
			w.until("all are served", func() bool { return sent("one")+sent("two")-before["one"]-before["two"] == 2*20*3 })
		})
	}
}
