package dataset_test

import (
	"testing"

	"github.com/mnemehq/mneme/core/dataset"
)

func TestPolicyKnown(t *testing.T) {
	for p, want := range map[dataset.Policy]bool{"fail": true, "skip": true, "replace": true, "": false, "Fail": false,
		"merge": false} {
		if p.Known() != want {
			t.Errorf("%q is known: %v", p, !want)
		}
	}
}
