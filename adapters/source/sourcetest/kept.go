package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/port"
)

// Kept keeps what a connector lists that knows of nothing that is gone.
type Kept struct {
	Items    []port.SourceItem
	Problems []port.SourceProblem
	States   [][]byte
	Ended    bool                  // it has called Complete
	Snapshot bool                  // as it said there
	Each     func(port.SourceItem) // called with each item; nil: nothing
}

// Item implements port.SourceListing.
func (k *Kept) Item(_ context.Context, item port.SourceItem) error {
	k.Items = append(k.Items, item)
	if k.Each != nil {
		k.Each(item)
	}
	return nil
}

// Gone implements port.SourceListing.
func (k *Kept) Gone(_ context.Context, key string) error { return fmt.Errorf("%q is named gone", key) }

// Checkpoint implements port.SourceListing.
func (k *Kept) Checkpoint(_ context.Context, state []byte) error {
	k.States = append(k.States, state)
	return nil
}

// Problem implements port.SourceListing.
func (k *Kept) Problem(_ context.Context, p port.SourceProblem) error {
	k.Problems = append(k.Problems, p)
	return nil
}

// Complete implements port.SourceListing.
func (k *Kept) Complete(_ context.Context, snapshot bool) error {
	k.Ended, k.Snapshot = true, snapshot
	return nil
}

// Keys are those of the items, in the order of the listing.
func (k *Kept) Keys() (keys []string) {
	for _, item := range k.Items {
		keys = append(keys, item.Key)
	}
	return keys
}

// Cause is an error with the cause that is kept for the log.
func Cause(err error) string {
	var why *port.SourceError
	if errors.As(err, &why) {
		return fmt.Sprintf("%v (%v)", err, why.Err)
	}
	return fmt.Sprint(err)
}

// WantCode checks the code of a connector's error, and that its message says so.
func WantCode(t *testing.T, err error, code port.SourceCode, says ...string) {
	t.Helper()
	var why *port.SourceError
	if !errors.As(err, &why) || why.Code != code {
		t.Errorf("%s, want %s", Cause(err), code)
		return
	}
	for _, part := range says {
		if !strings.Contains(why.Message, part) {
			t.Errorf("%s, want %q", Cause(err), part)
		}
	}
}
