package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	sender "github.com/mnemehq/mneme/adapters/webhook"
	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/seal"
	"github.com/mnemehq/mneme/core/webhook"
)

// hooked is a server that sends to a receiver.
func hooked(t *testing.T) (*server, *webhooktest.Receiver) {
	t.Helper()
	r := webhooktest.New(t)
	return serve(t, nil, whole, func(s *server, c *engine.Config) {
		made, err := sender.New(sender.Options{Private: []string{r.Network()}})
		if err != nil {
			s.Fatal(err)
		}
		c.Events.Sender, c.Events.HTTP, c.Sealing = made, true, []seal.Key{seal.NewKey()}
	}), r
}

// eventually gets a page until it says something.
func (b *browser) eventually(at, text string) answer {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		a := b.get(at)
		if strings.Contains(a.text, text) {
			return a
		}
		if time.Now().After(deadline) {
			b.Fatalf("%s never says %q: %s", at, text, a.text)
		}
	}
}

// shownSecret is what a page shows once.
func (a answer) shownSecret(t *testing.T, prefix string) string {
	t.Helper()
	for _, n := range a.elements("code") {
		if n.FirstChild != nil && strings.HasPrefix(n.FirstChild.Data, prefix) {
			return n.FirstChild.Data
		}
	}
	t.Fatalf("no %s is shown: %s", prefix, a.text)
	return ""
}

// linked is where the first link leads whose address holds a text.
func (a answer) linked(t *testing.T, part string) string {
	t.Helper()
	for _, n := range a.elements("a") {
		h, _ := attribute(n, "href")
		if to, err := a.Request.URL.Parse(h); err == nil && strings.Contains(to.RequestURI(), part) {
			return to.RequestURI()
		}
	}
	t.Fatalf("%s links to no %s: %s", a.Request.URL, part, a.text)
	return ""
}

// written are the events of documents on a page of events.
func written(a answer) (out []*html.Node) {
	for _, n := range a.elements("span") {
		if class, _ := attribute(n, "class"); class == "kind documents" {
			out = append(out, n)
		}
	}
	return out
}

// A webhook is made, tested, fails, is seen to fail, recovers, is switched, changed, rotated and deleted.
func TestAWebhookLives(t *testing.T) {
	s, r := hooked(t)
	b := s.signedIn(s.key.Secret)
	const list = "/console/o/default/webhooks"
	b.get(list).want(t, 200, "Nothing is sent to anybody yet", "Make a webhook", "documents.written").proper(t)
	b.post(list, url.Values{"url": {"gopher://x/" + hostile}, "description": {hostile}, "kinds": {"documents.deleted"}}).
		want(t, 422, "https").proper(t)
	made := b.post(list, url.Values{"url": {r.URL + "/in?x=<b>"}, "description": {hostile}, "signature": {"v1"},
		"kinds": {"documents.written", "documents.deleted"}}).want(t, 200, "only time")
	made.proper(t)
	secret := made.shownSecret(t, "whsec_")
	r.Know(secret)
	at := made.linked(t, "/webhooks/whk_")
	b.get(list).want(t, 200, "2 kinds", "active", hostile).proper(t)
	if a := b.get(at).want(t, 200, "Nothing was sent yet", "documents.written, documents.deleted",
		hostile); strings.Contains(a.body,
		secret) {
		t.Error("the secret is shown twice")
	}
	b.post(at, url.Values{"do": {"test"}}).want(t, 200, "The test arrived", "204").proper(t)

	r.Answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, hostile, http.StatusTeapot) }))
	b.post(at, url.Values{"do": {"test"}}).want(t, 200, "The test did not arrive", "418", "<script>").proper(t)
	b.write("notes", "one", "The lease.").want(t, 303)
	b.eventually(at, "failing since").want(t, 200, "documents.written", "pending").proper(t)
	b.get(list).want(t, 200, "failing").proper(t)
	b.get("/console/o/default").want(t, 200, "The webhook to "+r.Network()+" fails", "See the webhook")
	one := b.get(at).linked(t, "/deliveries/")
	b.get(one).want(t, 200, "418", "Try it now", "<script>").proper(t)
	r.Answer(nil)
	b.post(one, url.Values{"do": {"again"}}).want(t, 303)
	b.eventually(one, "succeeded").want(t, 200, "2 tries", "Send it again").proper(t)
	again := b.post(one, url.Values{"do": {"again"}}).leads(t)
	if again == one {
		t.Error("what has ended was not sent by a delivery of its own")
	}
	b.eventually(again, "succeeded").want(t, 200, "Sent again after").proper(t)
	b.get(at+"?status=succeeded").want(t, 200, "documents.written").proper(t)
	b.get(at+"?status=dropped").want(t, 200, "No delivery fits").proper(t)

	b.post(at, url.Values{"do": {"recover"}, "since": {"soon"}}).want(t, 422, "since when").proper(t)
	if to := b.post(at, url.Values{"do": {"recover"}, "since": {"1h"}}).leads(t); !strings.HasSuffix(to, "?said=complete") {
		t.Errorf("with nothing missing it leads to %s", to)
	}
	b.post(at, url.Values{"do": {"disable"}}).want(t, 303)
	b.get(at).want(t, 200, "disabled", "starts afresh").proper(t)
	b.get("/console/o/default").want(t, 200).lacks(t, "The webhook to") // it was meant
	b.write("notes", "two", "The hedge.").want(t, 303)
	deadline := time.Now().Add(time.Minute) // until it is numbered, so that enabling does not send it
	for len(written(b.get("/console/o/default/events?kinds=documents.written"))) < 2 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	b.post(at, url.Values{"do": {"recover"}, "since": {"1h"}}).want(t, 422, "enable it first").proper(t)
	b.post(one, url.Values{"do": {"again"}}).want(t, 422, "enable it first").proper(t)
	b.post(at, url.Values{"do": {"enable"}}).want(t, 303)
	if to := b.post(at, url.Values{"do": {"recover"}, "since": {"24h"}}).leads(t); !strings.HasSuffix(to, "?said=recovering") {
		t.Errorf("with an event missing it leads to %s", to)
	}

	b.post(at, url.Values{"do": {"change"}, "url": {"no address"}}).want(t, 422, "absolute URL").proper(t)
	b.post(at, url.Values{"do": {"change"}, "url": {r.URL + "/other"}, "description": {"Search page"}}).want(t, 303)
	b.get(at).want(t, 200, "Search page", "/other").proper(t)
	b.get(list).want(t, 200, "all kinds")
	b.post(at, url.Values{"do": {"rotate"}, "overlap": {"long"}}).want(t, 422, "duration").proper(t)
	next := b.post(at, url.Values{"do": {"rotate"}, "overlap": {"24h"}}).want(t, 200, "only time", "The old one signs until")
	next.proper(t)
	r.Know(next.shownSecret(t, "whsec_"))
	b.post(at, url.Values{"do": {"test"}}).want(t, 200, "The test arrived")
	b.post(at, url.Values{"do": {"rotate"}, "overlap": {"24h"}}).want(t, 422).proper(t)
	b.post(at, url.Values{"do": {"rotate"}, "overlap": {"0s"}, "force": {"1"}}).want(t, 200, "only time")
	b.get(at).want(t, 200, "Replace the secret").proper(t)

	pair := b.post(list, url.Values{"url": {r.URL}, "signature": {"v1a"}}).want(t, 200, "It is no secret")
	pair.proper(t)
	b.get(pair.linked(t, "/webhooks/whk_")).want(t, 200, pair.shownSecret(t, "whpk_")).proper(t)
	b.crawl("/console/o/default/webhooks")

	b.post(at, url.Values{"do": {"delete"}, "typed": {"x"}}).want(t, 422, "Type the host").proper(t)
	for range 2 { // again, as a browser may
		b.post(at, url.Values{"do": {"delete"}, "typed": {r.Network()}}).want(t, 303)
	}
	b.get(at).want(t, 404).proper(t)
	b.get(one).want(t, 404).proper(t)
}

// An endpoint that answers that it is gone gets nothing more, and the overview says so until somebody switches its webhook.
// A test tells what it answers, and disables nothing.
func TestAWebhookWhoseEndpointIsGone(t *testing.T) {
	s, r := hooked(t)
	b := s.signedIn(s.key.Secret)
	const list = "/console/o/default/webhooks"
	const overview = "/console/o/default"
	made := b.post(list, url.Values{"url": {r.URL}, "signature": {"v1"}, "kinds": {"documents.written"}}).want(t, 200)
	r.Know(made.shownSecret(t, "whsec_"))
	at := made.linked(t, "/webhooks/whk_")
	r.Answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
	b.post(at, url.Values{"do": {"test"}}).want(t, 200, "The test did not arrive", "410").proper(t)
	b.get(overview).want(t, 200).lacks(t, "The webhook to")

	b.write("notes", "one", "The lease.").want(t, 303)
	const gone = "its endpoint answered that it is gone"
	b.eventually(at, gone).want(t, 200, "disabled", "410", "failed").proper(t)
	b.get(overview).want(t, 200, "The webhook to "+r.Network()+" is disabled: "+gone, "See the webhook").proper(t)
	b.get(list).want(t, 200, "disabled", gone).proper(t)
	one := b.get(at).linked(t, "/deliveries/")
	b.get(one).want(t, 200, "410").proper(t)
	r.Answer(nil)
	b.post(one, url.Values{"do": {"again"}}).want(t, 422, "enable it first").proper(t)
	b.post(at, url.Values{"do": {"enable"}}).want(t, 303)
	b.get(overview).want(t, 200).lacks(t, "The webhook to")
	b.post(one, url.Values{"do": {"again"}}).want(t, 303)
	b.eventually(at, "succeeded").want(t, 200, "active").lacks(t, gone)
}

// One whose endpoint took nothing for days is told apart from one that a person has switched off.
func TestAWebhookThatWasGivenUp(t *testing.T) {
	s, r := hooked(t)
	b := s.signedIn(s.key.Secret)
	const list = "/console/o/default/webhooks"
	at := b.post(list, url.Values{"url": {r.URL}, "signature": {"v1"}}).want(t, 200).linked(t, "/webhooks/whk_")
	if err := s.store.Update(t.Context(), func(w port.Writer) error {
		all, err := w.Webhooks(t.Context(), s.key.Org)
		if err != nil {
			return err
		}
		all[0].Enabled, all[0].Reason = false, webhook.ReasonFailing
		return w.PutWebhook(t.Context(), all[0])
	}); err != nil {
		t.Fatal(err)
	}
	const days = "it took nothing for days"
	b.get("/console/o/default").want(t, 200, "The webhook to "+r.Network()+" is disabled: "+days)
	b.get(list).want(t, 200, days).proper(t)
	a := b.get(at).want(t, 200, "disabled", days)
	a.proper(t)
	a.lacks(t, "it is gone")
}

// An address that the configuration allows at other ports is refused for its port: nobody looks for the fault in its address.
func TestAWebhookToAPortThatIsNotAllowed(t *testing.T) {
	r := webhooktest.New(t)
	s := serve(t, nil, whole, func(s *server, c *engine.Config) {
		made, err := sender.New(sender.Options{Private: []string{"127.0.0.0/8", "[::1]"}})
		if err != nil {
			s.Fatal(err)
		}
		c.Events.Sender, c.Events.HTTP, c.Sealing = made, true, []seal.Key{seal.NewKey()}
	})
	b := s.signedIn(s.key.Secret)
	at := b.post("/console/o/default/webhooks", url.Values{"url": {r.URL}, "signature": {"v1"}}).want(t, 200).
		linked(t, "/webhooks/whk_")
	b.post(at, url.Values{"do": {"test"}}).want(t, 200, "The test did not arrive", "its port is not allowed at its address").
		lacks(t, "not a public one")
	if len(r.Taken())+r.Refused() != 0 {
		t.Error("something came")
	}
}

// Who may only read sees webhooks, is offered nothing that changes them, and is refused what the address says.
func TestWebhooksOfThoseWhoRead(t *testing.T) {
	s, r := hooked(t)
	b := s.signedIn(s.key.Secret)
	const list = "/console/o/default/webhooks"
	at := b.post(list, url.Values{"url": {r.URL}, "signature": {"v1"}}).want(t, 200).linked(t, "/webhooks/whk_")
	b.post("/console/organizations", url.Values{"name": {"acme"}}).want(t, 303)
	reader := s.signedIn(s.issue(key.Issue{ReadOnly: true}).Secret)
	for _, page := range []string{list, at} {
		a := reader.get(page).want(t, 200, r.Network())
		for _, f := range a.elements("form") {
			action, _ := attribute(f, "action")
			if method, _ := attribute(f, "method"); method == "post" && strings.Contains(action, "webhooks") {
				t.Errorf("%s offers the form %s", page, action)
			}
		}
	}
	reader.post(list, url.Values{"url": {r.URL}, "signature": {"v1"}}).want(t, 403)
	for _, do := range []string{"test", "enable", "disable", "rotate", "change"} {
		reader.post(at, url.Values{"do": {do}, "url": {r.URL}}).want(t, 403)
	}
	reader.post(at, url.Values{"do": {"recover"}, "since": {"1h"}}).want(t, 403)
	reader.post(at, url.Values{"do": {"delete"}, "typed": {r.Network()}}).want(t, 403)
	b.get(strings.Replace(at, "/o/default/", "/o/acme/", 1)).want(t, 404)
	b.get(list).want(t, 200, r.Network())

	s.store.OnView.Set(func() error { return fault.New(fault.Unavailable, "the store is gone") })
	b.get(at).want(t, 503).proper(t)
	s.store.OnView.Clear()
}

// A server that cannot keep secrets says so when a webhook is to be made.
func TestWebhooksWithoutAKeyForSecrets(t *testing.T) {
	s := serve(t, nil, whole)
	b := s.signedIn(s.key.Secret)
	a := b.post("/console/o/default/webhooks", url.Values{"url": {"https://example.org/x"}, "signature": {"v1"}})
	if a.StatusCode < 400 || !strings.Contains(a.text, "keeps no secrets") {
		t.Errorf("it answered %d: %s", a.StatusCode, a.text)
	}
	a.proper(t)
}
