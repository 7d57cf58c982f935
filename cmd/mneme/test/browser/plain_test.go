package browser_test

import (
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// everyFlowWithoutScript: what people do on the pages goes where no script runs.
func everyFlowWithoutScript(t *testing.T, k tools, _ *harness.Server, link string) {
	var s struct {
		Complaints, Overflow []string
		Ran                  int
		Said                 told
	}
	k.run(t, &s, "plain.mjs", link)
	s.Said.say(t, map[string][]string{"signedIn": {"/console/o/default"}, "uploaded": {"60 written"},
		"first": {"60 documents", "room-49.txt"}, "next": {"room-50.txt"}, "again": {"room-00.txt"}, "filtered": {"room-59.txt"},
		"marked": {"oven"}, "sides": {"B: "}, "saved": {"1 of 1 pass"}, "unsaved": {"No query is saved yet"},
		"wrong": {"Metadata is a JSON object"}, "metadata": {"roomkitchen"}, "kept": {"Type the id of the document"},
		"deleted": {"59 documents"}, "namespaceGone": {"Namespaces", "handbook"}, "key": {"Keep this key now", "sk-service-"},
		"synced": {"It has begun."}, "theme": {"dark"}, "out": {"/console/sign-in"}})
	s.Said.lack(t, map[string]string{"first": "room-50.txt", "next": "room-49.txt", "again": "room-50.txt",
		"filtered": "room-49.txt", "deleted": "room-07.txt", "namespaceGone": "plain"})
	for _, complaint := range s.Complaints { // the browser reports statuses, which are meant
		if !strings.Contains(complaint, "422") {
			t.Errorf("the browser complains: %s", complaint)
		}
	}
	if s.Ran > 0 || len(s.Overflow) > 0 {
		t.Errorf("%d things were made by a script; these scroll sideways: %q", s.Ran, s.Overflow)
	}
}
