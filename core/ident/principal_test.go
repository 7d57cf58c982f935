package ident_test

import (
	"testing"

	"github.com/mnemehq/mneme/core/ident"
)

func TestFromGivesTheCallerAndNeverAnEmptyOne(t *testing.T) {
	ctx := ident.WithPrincipal(t.Context(), ident.Principal{Org: "org_a", KeyID: "key_1"})
	if p := ident.From(ctx); p.Org != "org_a" || p.KeyID != "key_1" {
		t.Errorf("From = %+v", p)
	}
	if p := ident.Known(t.Context()); p != nil {
		t.Errorf("Known without a caller = %+v, want nil", p)
	}
	defer func() {
		if recover() == nil {
			t.Error("From without a caller did not panic")
		}
	}()
	ident.From(t.Context())
}
