package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/mnemehq/mneme/core/ingest"
)

// TestRetry: a write is prepared again until it answers something else than that
// the store moved or that writes are paused, or until its caller leaves.
func TestRetry(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		answers []error
		want    error
	}{
		"at once":     {[]error{nil}, nil},
		"moved twice": {[]error{ingest.ErrMoved, fmt.Errorf("commit: %w", ingest.ErrMoved), nil}, nil},
		"paused":      {[]error{ingest.ErrPaused, ingest.ErrMoved, ingest.ErrPaused, nil}, nil},
		"fails":       {[]error{ingest.ErrMoved, broken}, broken},
	} {
		tries := 0
		got, err := ingest.Retry(t.Context(), func() (int, error) {
			tries++
			return tries, c.answers[tries-1]
		})
		if !errors.Is(err, c.want) || tries != len(c.answers) || got != tries {
			t.Errorf("%s: %d, %v after %d tries", name, got, err, tries)
		}
	}
	for _, why := range []error{ingest.ErrMoved, ingest.ErrPaused} {
		ctx, leave := context.WithCancel(t.Context())
		tries := 0
		got, err := ingest.Retry(ctx, func() (int, error) {
			if tries++; tries == 3 {
				leave()
			}
			return tries, why
		})
		if !errors.Is(err, context.Canceled) || got != 0 || tries != 3 {
			t.Errorf("who leaves: %d, %v after %d tries", got, err, tries)
		}
	}
}
