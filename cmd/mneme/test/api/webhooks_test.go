package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/webhook/webhooktest"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/registry"
	"github.com/mnemehq/mneme/core/seal"
)

// hooked lets a server send to an address of the test.
func hooked(address string, more ...func(*configs.Config)) options {
	key := seal.NewKey()
	return options{config: func(c *configs.Config) {
		c.Events.AllowPrivate, c.Events.HTTP = []string{address}, true
		c.Seal.Key = registry.Secret(key.Reveal()) // a database has none of its own
		for _, m := range more {
			m(c)
		}
	}}
}

// TestWebhooks: what is written comes to a receiver that verifies it with the standard's
// library, over a restart, too.
func TestWebhooks(t *testing.T) {
	stores(t, func(t *testing.T, b backend) {
		r := webhooktest.New(t)
		s := start(t, b, hooked(r.Network()))
		made := s.post("/webhooks", object{"url": r.URL, "kinds": []string{"documents.written"}}).is(201)
		secret := made.json["secret"].(string)
		r.Know(secret)
		path := "/webhooks/" + made.json["id"].(string)
		if tested := s.post(path+"/test", nil).ok(); tested.json["delivered"] != true {
			t.Fatalf("a test: %s", tested.body)
		}
		s.write("docs", object{"id": "a", "text": "one two three"})
		harness.Eventually(t, "the receiver is told", func() bool { return len(r.Taken()) == 2 })
		told := r.Taken()[1]
		if !strings.Contains(told.Body, `"type":"documents.written"`) || !strings.Contains(told.Body, `"ids":["a"]`) {
			t.Errorf("told: %s", told.Body)
		}
		var event object
		harness.Eventually(t, "the delivery is recorded", func() bool {
			event = s.get("/events/" + told.ID).ok().json
			return event["deliveries"].([]any)[0].(object)["status"] == "succeeded"
		})
		// The bytes that are sent are those that are kept.
		for _, hidden := range []string{string(s.get(path).ok().body), string(s.get("/webhooks").ok().body)} {
			if strings.Contains(hidden, secret) || strings.Contains(hidden, `"secret":`) {
				t.Errorf("a secret is shown again: %s", hidden)
			}
		}
		s = s.restart(nil)
		s.write("docs", object{"id": "b", "text": "four"})
		harness.Eventually(t, "the receiver is told after a restart", func() bool { return len(r.Taken()) == 3 })
		if s.do("DELETE", path, nil).ok().json["deleted"] != true || s.do("DELETE", path, nil).ok().json["deleted"] != false {
			t.Error("deleted is not what was done")
		}
		s.get(path).is(404)
		if r.Refused() != 0 {
			t.Errorf("%d messages were not genuine", r.Refused())
		}
	})
}

// TestWebhooksReachNothingPrivate: the configuration decides, and a receiver learns nothing of it.
func TestWebhooksReachNothingPrivate(t *testing.T) {
	r := webhooktest.New(t)
	s := start(t, laptop, options{config: func(c *configs.Config) { c.Events.HTTP = true }})
	made := s.post("/webhooks", object{"url": r.URL}).is(201)
	tested := s.post("/webhooks/"+made.json["id"].(string)+"/test", nil).ok()
	if tested.json["delivered"] != false || tested.json["error"] != "its address is not a public one" {
		t.Errorf("%s", tested.body)
	}
	if len(r.Taken())+r.Refused() != 0 {
		t.Error("something came")
	}
}

// webhooksRecorded calls every operation of webhooks.
func (s *server) webhooksRecorded(r *webhooktest.Receiver, admin *server, do func(by *server, name, target, method, path string,
	body any, headers ...string) *reply) (secrets []string) {
	s.t.Helper()
	r.Answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, by := range []struct {
		*server
		prefix, base string
	}{{s, "", "/webhooks"}, {admin, "admin.", "/admin/v1/organizations/default/webhooks"}} {
		made := do(by.server, by.prefix+"webhooks.create", "", "POST", by.base,
			object{"url": r.URL + "/zebra", "kinds": []string{"documents.written"}, "description": "zebra"})
		id, secret := made.json["id"].(string), made.json["secret"].(string)
		r.Know(secret)
		one := by.base + "/" + id
		do(by.server, by.prefix+"webhooks.change", id, "PATCH", one, object{"description": "zebras"})
		do(by.server, by.prefix+"webhooks.test", id, "POST", one+"/test", nil)
		rotated := do(by.server, by.prefix+"webhooks.rotate", id, "POST", one+"/rotate", nil)
		secrets = append(secrets, secret, rotated.json["secret"].(string))
		do(by.server, by.prefix+"webhooks.recover", id, "POST", one+"/recover", object{"since": "2020-01-01T00:00:00Z"})
		var sent []object
		harness.Eventually(s.t, "everything has arrived", func() bool {
			sent = by.get(one + "/deliveries?status=succeeded").ok().objects("deliveries")
			return len(sent) > 0 && len(by.get(one+"/deliveries?status=pending").ok().objects("deliveries")) == 0
		})
		delivery := fmt.Sprint(sent[0]["id"])
		if by.prefix != "" { // now it is gone, which is told
			r.Answer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }))
		}
		do(by.server, by.prefix+"webhooks.deliveries.redeliver", id+"/"+delivery, "POST",
			one+"/deliveries/"+delivery+"/redeliver", nil)
		if by.prefix != "" {
			harness.Eventually(s.t, "the webhook is disabled", func() bool {
				return by.get(one).ok().json["state"] == "disabled"
			})
		}
		do(by.server, by.prefix+"webhooks.delete", id, "DELETE", one, nil)
	}
	return secrets
}
