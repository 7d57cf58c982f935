package browser_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// TestEveryFlowByKeyboard: what people do on the pages goes without a pointer, and the control that has
// the focus is marked and in view.
func TestEveryFlowByKeyboard(t *testing.T) {
	k := findTools(t)
	at, _ := estate(t)
	var out, problems bytes.Buffer
	c := exec.CommandContext(t.Context(), k.node, "keyboard.mjs", k.modules, k.chromium,
		strings.TrimSpace(at.Mneme("console", "open").Stdout))
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		t.Fatalf("browser: %v\n%s", err, problems.String())
	}
	var s struct {
		Complaints, Overflow, Unseen []string
		Said                         map[string]string
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		t.Fatalf("%v: %s", err, out.String())
	}
	for what, want := range map[string]string{"key": "sk-service-", "organization": "zoo", "invitation": "/console/invitation#",
		"webhook": "whsec_", "source": "House papers", "document": "The lease runs until May 2027", "found": "trains to planes",
		"erased": "Certificate", "out": "/console/sign-in"} {
		if !strings.Contains(s.Said[what], want) {
			t.Errorf("%s says %.600q, without %q", what, s.Said[what], want)
		}
	}
	if len(s.Complaints) > 0 || len(s.Overflow) > 0 || len(s.Unseen) > 0 {
		t.Errorf("the browser complains: %q; these scroll sideways: %q; the focus is not seen: %q", s.Complaints, s.Overflow,
			s.Unseen)
	}
}
