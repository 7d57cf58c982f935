package browser_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// A person is invited on the command line, joins by keyboard, and signs in again where no script
// runs; below a base path, on a narrow screen.
func TestAMemberJoinsInABrowser(t *testing.T) {
	k := findTools(t)
	at := harness.NewSite(t, "")
	server := at.Serve()
	base := prefixed(t, server.URL, "/memory/api")
	path := strings.TrimSpace(at.Mneme("members", "invite", "ann@example.com", "--role", "owner").Stdout)
	var s struct {
		Requests, Complaints, Overflow []string
		Joined, Foot, Spent, Plain     string
	}
	k.run(t, &s, "members.mjs", base+path, "ann@example.com", "a long enough password")
	if want := base + "/console/o/default"; s.Joined != want || s.Plain != want {
		t.Errorf("joining leads to %s, signing in to %s", s.Joined, s.Plain)
	}
	if !strings.Contains(s.Foot, "ann@example.com, owner") || !strings.Contains(s.Spent, "used") {
		t.Errorf("the page says %q, and of the code again %q", s.Foot, s.Spent)
	}
	for _, u := range s.Requests {
		if !strings.HasPrefix(u, base+"/console") || strings.Contains(u, "mnsi_") && !strings.Contains(u, "#") {
			t.Errorf("the page asked for %s", u)
		}
	}
	for _, complaint := range s.Complaints { // the browser reports the status of the refusal, which is meant
		if !strings.Contains(complaint, "403") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
	if len(s.Overflow) > 0 {
		t.Errorf("it scrolls sideways at %q", s.Overflow)
	}
	list := at.Mneme("members", "list").Stdout
	if !strings.Contains(list, "ann@example.com") || !strings.Contains(list, "active") {
		t.Errorf("the members: %s", list)
	}
}
