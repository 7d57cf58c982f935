package namespace_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/query"
)

// TestLanguage walks the rules of docs/contract.md#ns-language.
func TestLanguage(t *testing.T) {
	t.Parallel()
	c := open(t, coretest.Options{})
	for _, l := range append([]string{"auto"}, port.Languages()...) {
		if r := c.create(coretest.Object{"name": "n-" + l, "language": l}).OK(); r.JSON["language"] != l {
			t.Errorf("%s was made as %s", l, r.Body)
		}
	}
	for _, l := range []string{"", "xx", "DE", "german", "zh"} {
		c.create(coretest.Object{"name": "none", "language": l}).Fails("invalid_request", "language",
			"auto, "+strings.Join(port.Languages()[:11], ", ")+" or hi")
	}
	c.absent("none")

	// One that a write made tells its own, as does one that was asked for nothing.
	c.write("docs", "a", "one text")
	if r := c.create(coretest.Object{"name": "docs"}).OK(); r.JSON["language"] != "auto" {
		t.Errorf("made by a write: %s", r.Body)
	}
	c.create(coretest.Object{"name": "docs", "language": "de"}).Fails("conflict", `"docs"`, "language auto", "with de")

	// It stays when the first documents come, and is no reason to refuse who does not ask.
	c.write("n-de", "a", "Jede Rechnung")
	if r := c.create(coretest.Object{"name": "n-de"}).OK(); r.JSON["language"] != "de" {
		t.Errorf("created again: %s", r.Body)
	}
	c.create(coretest.Object{"name": "n-de", "language": "auto"}).Fails("conflict", "language de", "with auto")
	if n := c.get("n-de").OK(); n.JSON["language"] != "de" {
		t.Errorf("read as %s", n.Body)
	}
	for _, n := range c.list().OK().List("namespaces") {
		if want := map[any]string{"docs": "auto", "n-de": "de"}[n["name"]]; n["language"] != want {
			t.Errorf("listed as %v, want %s", n, want)
		}
	}
	// A query of one word that tells nothing.
	r := coretest.Ask(c.ctx, c.t, c.queries.Query, coretest.Object{"query": "Rechnungen", "mode": "keyword"},
		func(in *query.Request) { in.Namespace = "n-de" }).OK()
	if hits := r.List("results"); len(hits) != 1 {
		t.Errorf("found %s", r.Body)
	}
}
