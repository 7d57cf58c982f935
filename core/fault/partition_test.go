package fault_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
)

// TestAnAbsentPartitionIsPublishedAsANamespace, with all that the fault tells, while the
// server tells a store's answer from a service's own.
func TestAnAbsentPartitionIsPublishedAsANamespace(t *testing.T) {
	cause := errors.New("no row")
	stored := fault.Wrap(fault.PartitionNotFound, "read", cause, "namespace docs does not exist").After(time.Second)
	err := fmt.Errorf("read the namespace: %w", stored)
	f := fault.From(err)
	if f.Code != fault.NamespaceNotFound || f.Message != stored.Message || f.Op != stored.Op ||
		f.RetryAfter != stored.RetryAfter || !errors.Is(f, cause) || fault.CodeOf(err) != fault.NamespaceNotFound {
		t.Errorf("published %+v as %s", f, fault.CodeOf(err))
	}
	if stored.Code != fault.PartitionNotFound || !fault.IsPartitionNotFound(err) {
		t.Errorf("%+v is not told from others any more", stored)
	}
	for _, other := range []error{
		nil,
		cause,
		f,
		fault.New(fault.NamespaceNotFound, "namespace docs holds no documents"),
		fault.Wrap(fault.Unavailable, "search", err, "the index is away"),
	} {
		if fault.IsPartitionNotFound(other) {
			t.Errorf("%v is no answer of a store", other)
		}
	}
}
