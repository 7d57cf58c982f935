package memory_test

import (
	"fmt"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
)

// found is what searches show of an end user's memories, ids left out.
func (a app) found(user string, queries ...string) string {
	a.t.Helper()
	out := ""
	for _, q := range queries {
		out += q + "\n"
		for _, r := range a.search(user, q, "limit", 20) {
			out += fmt.Sprintf("  %.4f %s\n", r["score"], r["matchedContent"])
		}
	}
	return out
}

// A turn of a conversation is found by what the turn before it said, and in
// whatever order turns come, change and go, the end is as if those that are left
// had been saved in order.
func TestTurnsInContext(t *testing.T) {
	t.Parallel()
	app := open(t, coretest.Options{}, nil).integration("chat", 0)
	at := func(minute int) string { return fmt.Sprintf("2026-05-04T10:%02d:00Z", minute) }
	turns := []string{
		"Ann: Which harbour did your brother sail to last spring?",
		"Ben: Valparaiso, and he loved it!",
		"Ann: Does he still keep the greyhound?",
		"Ben: No, she lives with our aunt now.",
	}
	queries := []string{"harbour brother sail", "greyhound", "Valparaiso", "aunt"}
	for i, c := range turns {
		app.save("ordered", c, "occurredAt", at(i))
	}
	rank := func(user, query, content string) int {
		for i, r := range app.search(user, query) {
			if r["matchedContent"] == content {
				return i
			}
		}
		return -1
	}
	if r := rank("ordered", "harbour brother sail", turns[1]); r != 0 {
		t.Errorf("the answer stands at %d, want before the question", r)
	}
	// The same words without a speaker are not turns: each stands for itself.
	for i, c := range turns {
		app.save("facts", c[5:], "occurredAt", at(i))
	}
	if app.found("facts", queries...) == app.found("ordered", queries...) {
		t.Error("facts are read like turns")
	}
	same := func(what, user string, left ...int) {
		t.Helper()
		ref := "ref-" + user + "-" + what
		for _, i := range left {
			app.save(ref, turns[i], "occurredAt", at(i))
		}
		if got, want := app.found(user, queries...), app.found(ref, queries...); got != want {
			t.Errorf("%s:\n%swant\n%s", what, got, want)
		}
	}
	ids := map[int]string{}
	for _, i := range []int{3, 1, 0, 2} {
		ids[i] = app.save("shuffled", turns[i], "occurredAt", at(i))
	}
	same("shuffled", "shuffled", 0, 1, 2, 3)
	batch := make([]coretest.Object, len(turns))
	for i, c := range turns {
		batch[i] = coretest.Object{"content": c, "occurredAt": at(i)}
	}
	app.batch(coretest.Object{"endUserId": "batch", "memories": batch}).OK()
	same("batch", "batch", 0, 1, 2, 3)

	app.remove(coretest.Object{"endUserId": "shuffled", "ids": []string{ids[0]}}).OK()
	same("first-deleted", "shuffled", 1, 2, 3)
	app.remove(coretest.Object{"endUserId": "shuffled", "ids": []string{ids[1], ids[2]}}).OK()
	same("middle-deleted", "shuffled", 3)

	// A source's turns: another text, another time, a tombstone.
	for i, c := range turns {
		app.upsert("owned", "crm", fmt.Sprint("m", i), 1, c, "occurredAt", at(i)).OK()
	}
	same("owned", "owned", 0, 1, 2, 3)
	app.upsert("owned", "crm", "m0", 2, "Ann: Good morning, did you sleep well?", "occurredAt", at(0)).OK()
	if r := rank("owned", "harbour brother sail", turns[1]); r == 0 {
		t.Error("the answer is still found by a question that is not there any more")
	}
	app.upsert("owned", "crm", "m0", 3, turns[0], "occurredAt", at(0)).OK()
	same("changed-back", "owned", 0, 1, 2, 3)
	app.upsert("owned", "crm", "m0", 4, turns[0], "occurredAt", "2026-05-04T20:00:00Z").OK()
	app.upsert("owned", "crm", "m0", 5, turns[0], "occurredAt", at(0)).OK()
	same("moved-back", "owned", 0, 1, 2, 3)
	app.tombstone("owned", "crm", "m0", 6, "").OK()
	same("tombstoned", "owned", 1, 2, 3)
}
