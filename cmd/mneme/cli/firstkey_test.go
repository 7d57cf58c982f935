package cli_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// A fresh server has the key that its environment names, before any command has made one: it
// administers, and makes the keys that applications have.
func TestFirstKeyOfTheEnvironment(t *testing.T) {
	secret := made(t, "adm-", succeed(t, "keys", "secret").Stdout)
	site := harness.NewSite(t, "roles: {embed: off, sparse: off, rerank: off}\n")
	site.Env = []string{"MNEME_FIRST_KEY=" + secret}
	serving := site.Serve()
	a, err := serving.Client(t, secret).Ask(t.Context(), http.MethodPost, "/admin/v1/organizations/default/keys",
		harness.Object{"kind": "service", "name": "app"})
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%v %v", a, err)
	}
	if key := listKeys(t, site.Data)["first"]; key.CreatedBy != "configuration" || key.Kind != "admin" || key.State != "live" {
		t.Errorf("%+v", key)
	}
	shown := site.Mneme("config", "show")
	for where, text := range map[string]string{"the log": serving.Logged(), "config show": shown.Stdout + shown.Stderr} {
		if strings.Contains(text, secret) || strings.Contains(text, secret[4:]) {
			t.Errorf("the key is in %s", where)
		}
	}

	site.Env[0] = "MNEME_FIRST_KEY=hunter2"
	if r := site.Run("serve", "--addr", "127.0.0.1:0"); r.Code == 0 || strings.Contains(r.Stderr, "hunter2") ||
		!strings.Contains(r.Stderr, "MNEME_FIRST_KEY") || !strings.Contains(r.Stderr, "mneme keys secret") {
		t.Errorf("%+v", r)
	}
}
