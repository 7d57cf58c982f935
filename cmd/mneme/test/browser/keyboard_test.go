package browser_test

import (
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// everyFlowByKeyboard: what people do on the pages goes without a pointer, and the control that has
// the focus is marked and in view.
func everyFlowByKeyboard(t *testing.T, k tools, _ *harness.Server, link string) {
	var s struct {
		Complaints, Overflow, Unseen []string
		Said                         told
	}
	k.run(t, &s, "keyboard.mjs", link)
	s.Said.say(t, map[string][]string{"key": {"Keep this key now", "sk-service-"},
		"rotated": {"Keep this key now", "The old key ends"}, "revoked": {"The key is revoked", "was revoked"},
		"organization": {"zoo"}, "quotas": {"0 of 321"}, "gone": {"It is being deleted."},
		"invitation": {"/console/invitation#"}, "disabled": {"They are out", "Let them sign in again"},
		"memberGone": {"The member is removed", "Invite"}, "integrationQuotas": {"500 30"},
		"webhook": {"whsec_"}, "webhookGone": {"/webhooks?said=deleted"}, "source": {"It has begun."},
		"checked": {"It works"}, "connected": {"By hand"}, "disconnected": {"The source is disconnected."},
		"saved": {"2 of 3 pass"}, "unsaved": {"It is deleted.", "lease-end"}, "document": {"The lease runs until May 2027"},
		"uploaded": {"2 written"}, "documentGone": {"1 document with 1 chunk", "fridge.txt"},
		"namespaceGone": {"Namespaces", "handbook"}, "found": {"trains to planes"},
		"forgotten": {"The memory is deleted.", "trains to planes"}, "erased": {"is erased", "Certificate"},
		"out": {"/console/sign-in"}})
	s.Said.lack(t, map[string]string{"memberGone": "bob@example.com", "unsaved": "by-keyboard",
		"documentGone": "oven.txt", "namespaceGone": "spare", "forgotten": "geese"})
	if len(s.Complaints) > 0 || len(s.Overflow) > 0 || len(s.Unseen) > 0 {
		t.Errorf("the browser complains: %q; these scroll sideways: %q; the focus is not seen: %q", s.Complaints, s.Overflow,
			s.Unseen)
	}
}
