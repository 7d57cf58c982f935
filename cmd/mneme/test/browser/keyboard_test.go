package browser_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// everyFlowByKeyboard: what people do on the pages goes without a pointer, and the control that has
// the focus is marked and in view.
func everyFlowByKeyboard(t *testing.T, k tools, _ *harness.Server, link string) {
	var s struct {
		Complaints, Overflow, Unseen []string
		Said                         map[string]string
	}
	k.run(t, &s, "keyboard.mjs", link)
	for what, want := range map[string]string{"key": "sk-service-", "rotated": "The old key ends", "revoked": "revoked",
		"organization": "zoo", "quotas": "321", "gone": "deleted", "invitation": "/console/invitation#", "webhook": "whsec_",
		"webhookGone": "/webhooks?said=deleted", "source": "House papers", "checked": "It works", "connected": "By hand",
		"disconnected": "disconnected", "saved": "2 of 3 pass", "unsaved": "deleted",
		"document": "The lease runs until May 2027", "uploaded": "2 written", "documentGone": "fridge.txt",
		"found": "trains to planes", "erased": "Certificate", "out": "/console/sign-in"} {
		if !strings.Contains(s.Said[what], want) {
			t.Errorf("%s says %.600q, without %q", what, s.Said[what], want)
		}
	}
	for what, gone := range map[string]string{"documentGone": "oven.txt", "namespaceGone": "spare"} {
		if strings.Contains(s.Said[what], gone) {
			t.Errorf("%s says %.600q, with %q", what, s.Said[what], gone)
		}
	}
	if len(s.Complaints) > 0 || len(s.Overflow) > 0 || len(s.Unseen) > 0 {
		t.Errorf("the browser complains: %q; these scroll sideways: %q; the focus is not seen: %q", s.Complaints, s.Overflow,
			s.Unseen)
	}
}
