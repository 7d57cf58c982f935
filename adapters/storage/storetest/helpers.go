package storetest

import (
	"slices"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// Forever calls fn with rising numbers until stop is closed or it fails.
func Forever(stop <-chan struct{}, fn func(i int) error) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := fn(i); err != nil {
			return err
		}
	}
}

// Generations are those that a store has, rising.
func Generations(t testing.TB, s port.DocumentStore) (all []int64) {
	t.Helper()
	if err := s.View(t.Context(), func(r port.Reader) (err error) {
		all, err = r.Generations(t.Context())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}
