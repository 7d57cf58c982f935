package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/configs"
	"github.com/mnemehq/mneme/core/engine"
	"github.com/mnemehq/mneme/core/port"
)

// mailbox is a connector to a system that takes grants back.
type mailbox struct {
	mu     sync.Mutex
	tokens []string // of the grants that were given back
}

func (*mailbox) Kind() port.SourceKind {
	return port.SourceKind{Name: "acme_mail", Title: "Acme Mail", Summary: "Of a test.", Revokes: true,
		Config:  json.RawMessage(`{"type":"object","properties":{"folder":{"type":"string"}},"required":["folder"]}`),
		Secrets: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string"}},"additionalProperties":false}`)}
}

func (*mailbox) Check(context.Context, port.Connection) ([]port.SourceFieldProblem, error) {
	return nil, nil
}

func (*mailbox) List(ctx context.Context, _ port.Connection, _ []byte, l port.SourceListing) error {
	return l.Complete(ctx, true)
}

func (*mailbox) Fetch(context.Context, port.Connection, port.SourceItem) (port.SourceContent, error) {
	return port.SourceContent{}, errors.New("it has no items")
}

func (m *mailbox) Revoke(_ context.Context, c port.Connection) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tokens = append(m.tokens, c.Secrets["token"])
	if c.Secrets["token"] == "zqxlosttoken" {
		return port.SourceErrorf(port.SourceUnavailable, nil, "Acme Mail does not answer")
	}
	return nil
}

// A grant with secrets is given back to its upstream by the connector that is named like
// its source, when it is revoked and when its end user is erased. Nothing says or keeps the
// secret in clear.
func TestGrantsAreGivenBack(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		upstream := &mailbox{}
		root := start(t, b, options{
			config: func(c *configs.Config) { c.Sources.Enabled = true },
			engine: func(c *engine.Config) { c.Sources.Connectors = append(c.Sources.Connectors, upstream) },
		})
		s := root.integration("app", nil)
		grant := func(source string, secrets object) *reply {
			t.Helper()
			return s.post("/api/v1/grants", object{"endUserId": "ann", "source": source, "secrets": secrets})
		}
		for _, k := range root.get("/source_kinds").ok().list("kinds") {
			if k["revokes"] != (k["name"] == "acme_mail") {
				t.Errorf("kind %v revokes: %v", k["name"], k["revokes"])
			}
		}
		grant("crm", object{"token": "t"}).refuses(400, "invalid_request", "field", "secrets")
		grant("git", object{"token": "t"}).refuses(400, "invalid_request", "field", "secrets")
		grant("acme_mail", object{"tokken": "zqxwrongtoken"}).refuses(400, "invalid_request", "field", "secrets.tokken")
		if got := root.roster(); len(got) != 0 {
			t.Errorf("a refused grant has made %v", got)
		}
		var ids []string
		for _, token := range []string{"zqxfirsttoken", "zqxsecondtoken", "zqxlosttoken"} {
			r := grant("acme_mail", object{"token": token}).ok()
			if strings.Contains(string(r.body), "zqx") {
				t.Errorf("a grant says its secret: %s", r.body)
			}
			ids = append(ids, r.json["grant"].(object)["id"].(string))
		}
		if r := s.do("DELETE", "/api/v1/grants/"+ids[0], nil).ok(); r.json["grant"].(object)["upstream"] != "revoked" {
			t.Errorf("revoked: %s", r.body)
		}
		r := s.erase("ann").ok()
		if r.number("revokedGrants") != 3 || r.number("unansweredUpstreams") != 1 {
			t.Errorf("erased: %s", r.body)
		}
		slices.Sort(upstream.tokens)
		if !slices.Equal(upstream.tokens, []string{"zqxfirsttoken", "zqxlosttoken", "zqxsecondtoken"}) {
			t.Errorf("given back: %v", upstream.tokens)
		}
		if got := root.left("zqx"); len(got) != 0 {
			t.Errorf("%v hold a secret", got)
		}
	})
}
