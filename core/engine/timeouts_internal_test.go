package engine

import (
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/middleware"
)

// The configured time-outs replace the operations' own by what their Specs say, and
// leave the Specs as they are.
func TestConfiguredTimeoutsGoByTheSpecs(t *testing.T) {
	all := Timeouts{Read: time.Second, Query: 2 * time.Second, Rerank: 3 * time.Second, Write: 4 * time.Second}
	set := Operations()
	got := map[string]time.Duration{}
	for _, r := range set.Routes() {
		before := r.Spec.Timeout
		got[r.Spec.Name] = all.of(&r.Spec)
		middleware.Chain(middleware.Options{Keys: noKeys{}, Timeout: all.of})(&r.Spec)
		if none := (Timeouts{}).of(&r.Spec); none != 0 {
			t.Errorf("%s: %s although none is configured", r.Spec.Name, none)
		}
		if r.Spec.Timeout != before {
			t.Errorf("%s: the Spec changed from %s to %s", r.Spec.Name, before, r.Spec.Timeout)
		}
	}
	for name, want := range map[string]time.Duration{
		"namespaces.query":         4 * time.Second, // with its reranking
		"documents.get":            time.Second,
		"models.list":              time.Second,
		"documents.write":          4 * time.Second,
		"namespaces.delete":        4 * time.Second,
		"rerank":                   3 * time.Second,
		"rerank.v2":                3 * time.Second,
		"memories.search":          0,
		"admin.organizations.list": 0,
		"health":                   0,
		"tools.search":             0,
		"tools.save":               0,
		"admin.namespaces.import":  0,
		"sources.list":             0,
		"memories.recall":          0,
		"documents.delete":         4 * time.Second,
		"namespaces.list":          time.Second,
		"operations.get":           time.Second,
	} {
		if d, ok := got[name]; !ok || d != want {
			t.Errorf("%s: %s (there: %v), want %s", name, d, ok, want)
		}
	}
}

type noKeys struct{ middleware.Verifier }
