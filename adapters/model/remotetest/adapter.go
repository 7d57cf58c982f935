package remotetest

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/registry"
)

// Configured opens the component that register adds, as an operator's configuration would;
// config points to the component's settings.
func Configured(t testing.TB, register func(*registry.Registry), component string, config any) port.Model {
	t.Helper()
	r := registry.New()
	register(r)
	m, err := r.Model.Open(t.Context(), registry.Selection{Component: component, Config: config}, registry.Env{Name: "remote"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Invalid checks that each change to a valid configuration is refused with an error that
// names the setting.
func Invalid[C interface{ Validate() error }](t *testing.T, valid C, changes map[string]func(*C)) {
	t.Helper()
	if err := valid.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range changes {
		c := valid
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Sent is what an embedder sends for the query "text", and for a passage of it.
func Sent(t *testing.T, m port.Model, server *Server) (query, passage map[string]any) {
	t.Helper()
	for _, as := range []port.TextKind{port.Query, port.Passage} {
		if _, err := m.(port.Embedder).Embed(t.Context(), as, []string{"text"}); err != nil {
			t.Fatal(err)
		}
	}
	seen := server.Requests()
	if len(seen) != 2 {
		t.Fatalf("%d requests for two texts", len(seen))
	}
	return seen[0].Body, seen[1].Body
}
