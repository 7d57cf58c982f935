package fault_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
)

// Every published code tells a caller what it means and what to do, in sentences.
func TestCatalogueIsWhole(t *testing.T) {
	codes := fault.Codes()
	if len(codes) < 33 {
		t.Fatalf("%d codes are published", len(codes))
	}
	last := 0
	for _, c := range codes {
		e, ok := fault.Describe(c)
		if !ok || e.Code != c || e.Status < max(last, 400) || e.Status > 599 {
			t.Errorf("%s: %v, status %d after %d", c, ok, e.Status, last)
		}
		last = e.Status
		if e.Status != fault.Status(c) || e.Retryable != fault.Retryable(c) {
			t.Errorf("%s: the catalogue and the rules differ", c)
		}
		if (e.Status == 429 || e.Status >= 500) && !e.Retryable {
			t.Errorf("%s: a %d promises that a retry may help", c, e.Status)
		}
		for _, text := range []string{e.Meaning, e.Remedy} {
			if !strings.HasSuffix(text, ".") {
				t.Errorf("%s: %q is no sentence", c, text)
			}
		}
	}
	for _, c := range []fault.Code{"", "no_such_code", fault.Canceled, fault.PartitionNotFound} {
		if _, ok := fault.Describe(c); ok {
			t.Errorf("%q is in the catalogue", c)
		}
	}
	if fault.Status("no_such_code") != 500 {
		t.Error("a code that is not published must be a 500")
	}
}
