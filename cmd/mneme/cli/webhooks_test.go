package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// Each command of webhooks, beside one server.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	r := webhooktest.New(t)
	site := harness.NewSite(t, fmt.Sprintf("roles: {sparse: off, rerank: off}\nevents: {http: true, allow_private: [%q]}\n",
		r.Network()))
	site.Serve()
	webhooks := func(args ...string) string {
		t.Helper()
		return site.Mneme(append([]string{"webhooks"}, args...)...).Stdout
	}
	has := func(what, got string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q: %s", what, want, got)
			}
		}
	}
	first := strings.TrimSpace(webhooks("add", r.URL, "--kinds", "key.created,key.revoked", "--description", "for the log"))
	if !strings.HasPrefix(first, "whsec_") {
		t.Fatalf("add prints %q", first)
	}
	r.Know(first)
	list := webhooks("list")
	has("the list", list, "active", "key.created,key.revoked", r.URL)
	id := strings.Fields(list[strings.Index(list, "whk_"):])[0]
	has("a webhook", webhooks("show", id), id, r.URL, "for the log", "v1", "active")

	has("a test", webhooks("test", id), "it answers 204")
	site.Key("--name", "one")
	harness.Eventually(t, "the receiver is told", func() bool { return len(r.Taken()) == 2 })
	var sent struct {
		Deliveries []struct{ ID, Status, Kind string }
		More       bool
	}
	harness.Eventually(t, "the delivery is recorded", func() bool {
		if err := json.Unmarshal([]byte(webhooks("deliveries", id, "--status", "succeeded", "--json")), &sent); err != nil {
			t.Fatal(err)
		}
		return len(sent.Deliveries) == 1
	})
	has("deliveries", webhooks("deliveries", id), sent.Deliveries[0].ID, "succeeded", "key.created")
	has("the new delivery", webhooks("redeliver", id, sent.Deliveries[0].ID), "dlv_")
	harness.Eventually(t, "the event comes again", func() bool { return len(r.Taken()) == 3 })
	if got := r.Taken(); got[2].ID != got[1].ID || got[2].Body != got[1].Body {
		t.Errorf("sent again as %+v, was %+v", got[2], got[1])
	}

	second := strings.TrimSpace(webhooks("rotate", id, "--overlap", "0s"))
	if !strings.HasPrefix(second, "whsec_") || second == first {
		t.Errorf("rotate prints %q", second)
	}
	r.Know(second)
	has("a test with the new secret", webhooks("test", id), "it answers 204")

	has("a disabled one", webhooks("change", id, "--disable"), "disabled")
	site.Key("--name", "two")
	// It is numbered while nothing is sent: one that were numbered later would come by itself.
	harness.Eventually(t, "it is told of", func() bool {
		return strings.Count(site.Mneme("events", "tail", "--all", "--once", "--kinds", "key.created").Stdout, "evt_") == 2
	})
	has("an enabled one", webhooks("change", id, "--enable", "--description", "for the chat"), "active", "for the chat")
	has("what was missed", webhooks("recover", id, "--since", "1h"), "1 events")
	harness.Eventually(t, "what was missed comes", func() bool { return len(r.Taken()) == 5 })
	has("nothing is left to recover", webhooks("recover", id), "0 events")

	r.Answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	if got := site.Run("webhooks", "test", id); got.Code != 1 || !strings.Contains(got.Stderr, "418") {
		t.Errorf("an endpoint that takes nothing: %+v", got)
	}
	for want, args := range map[string][]string{
		"nothing is changed": {"change", id},
		"two states":         {"change", id, "--enable", "--disable"},
		"none for --kinds":   {"change", id, "--all-kinds", "--kinds", "key.created"},
		"--since":            {"recover", id, "--since", "yesterday"},
		"--until":            {"recover", id, "--until", "soon"},
		"--limit":            {"deliveries", id, "--limit", "-1"},
		"kinds":              {"add", r.URL, "--kinds", "key.made"},
		"url":                {"add", "ftp://example.org/"},
		"overlap":            {"rotate", id, "--overlap", "year"},
		"no webhook":         {"show", "whk_019e2b4b-0c55-7d90-9e1f-3a7b5c2d8e60"},
		"accepts 2 arg(s)":   {"redeliver", id},
		"nobody":             {"list", "--org", "nobody"},
	} {
		if got := site.Run(append([]string{"webhooks"}, args...)...); got.Code == 0 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%q: %+v, want %q", args, got, want)
		}
	}
	webhooks("rm", id)
	if list := webhooks("list"); strings.Contains(list, id) {
		t.Errorf("deleted, and listed: %s", list)
	}
	if got := site.Run("webhooks", "rm", id); got.Code != 0 || !strings.Contains(got.Stderr, "there was none") {
		t.Errorf("deleted again: %+v", got)
	}
	if r.Refused() != 0 {
		t.Errorf("%d messages were not genuine", r.Refused())
	}
}
