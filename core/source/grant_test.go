package source_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/source"
)

// A kind that revokes gives grants back with the secrets that its schema wants, and no
// other is asked to.
func TestAConnectorGivesGrantsBack(t *testing.T) {
	f := newFixture(t, func(_ *source.Settings, s *shelf) { s.revokes = true })
	secrets := map[string]string{"token": "abc"}
	if err := f.svc.CheckGrant("shelf", secrets); err != nil {
		t.Errorf("as the schema wants them: %v", err)
	}
	for what, err := range map[string]error{
		"an unknown secret":       f.svc.CheckGrant("shelf", map[string]string{"tokken": "abc"}),
		"of a kind without":       f.svc.CheckGrant("push", secrets),
		"of no kind that is here": f.svc.CheckGrant("crm", secrets),
	} {
		if fault.CodeOf(err) != fault.InvalidRequest || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := f.svc.RevokeGrant(t.Context(), "shelf", secrets); err != nil {
		t.Error(err)
	}
	if got := f.shelf.revoked; len(got) != 1 || got[0].Secrets["token"] != "abc" || string(got[0].Config) != "{}" ||
		got[0].Renew(t.Context(), secrets) != nil {
		t.Errorf("given back: %+v", got)
	} else if _, known, err := got[0].Known(t.Context(), "k"); known || err != nil {
		t.Errorf("an item is known: %v", err)
	}
	for _, kind := range []string{"push", "crm"} {
		if err := f.svc.RevokeGrant(t.Context(), kind, secrets); err == nil {
			t.Errorf("%s gave a grant back", kind)
		}
	}
	if err := source.Off().CheckGrant("shelf", secrets); fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("without sources: %v", err)
	}
	if err := source.Off().RevokeGrant(t.Context(), "shelf", secrets); err == nil {
		t.Error("without sources a grant was given back")
	}
}
