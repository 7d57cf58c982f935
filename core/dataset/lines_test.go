package dataset_test

import (
	"crypto/sha256"
	"encoding/json"
	"testing"

	"github.com/mnemehq/mneme/core/dataset"
)

func sum(text string) [32]byte { return sha256.Sum256([]byte(text)) }

type line struct {
	kind string
	data any
}

// wellFormed is what WellFormed says of the last of some lines of a partition; the others
// have to be.
func wellFormed(t testing.TB, lines ...line) error {
	t.Helper()
	var of dataset.Namespace
	for i, l := range lines {
		data, err := json.Marshal(l.data)
		if err != nil {
			t.Fatal(err)
		}
		err = dataset.WellFormed(&dataset.Line{Kind: l.kind, Data: data}, &of)
		if i == len(lines)-1 {
			return err
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return nil
}
