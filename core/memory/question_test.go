package memory_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
)

func TestIsQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Where did you move to?":                true,
		"Assistant: Where did you move to?":     true,
		"Which airline?":                        true,
		"Sugar?":                                true,
		"You moved, didn't you? ":               true,
		"(Where to?)":                           true,
		"\"Where to?\"":                         true,
		"*Where to?*":                           true,
		"Where to?! ":                           false, // it ends with an exclamation
		"Where to!?":                            true,
		"Where to ⁉":                            true,
		"Where to? 🙂":                           true,
		"どこですか？":                                true,
		"أين تسكن؟":                             true,
		"Assistant: Where do you go on holiday": true,
		"Where do you go on holiday":            true,
		"where Is it":                           true,
		"what's your name":                      true,
		"what’s your name":                      true,
		"who're they":                           true,
		"how many rooms":                        true,
		"How long":                              true,
		"So, and how's the thesis":              true,
		"Ok so how old will you be":             true,
		"do you have any pets":                  true,
		"isn't there a train":                   true,
		"Ann: To Lyon, near the old harbour.":   false,
		"Where do you go on holiday.":           false, // another mark at its end
		"Did I have fun!":                       false,
		"What a day":                            false,
		"how nice":                              false,
		"What long days":                        false,
		"When I lived in Lyon it rained":        false,
		"Where I live it rains":                 false,
		"Which is why I moved":                  false,
		"that's what you do":                    false,
		"it's four":                             false,
		"do it":                                 false,
		"have a look":                           false,
		"Will rode home":                        false,
		"many rooms":                            false,
		"Where":                                 false,
		"So":                                    false,
		"so and now":                            false,
		"":                                      false,
		"?":                                     true,
		"Ask: the question mark (?) is a mark":  false,
		"He asked \"where?\" and left.":         false,
		"I know what is due":                    false,
		"Yes, a border collie called Pixel":     false,
		"He's the one who can":                  false,
		"Ann Where did you go":                  false,
		"4: where did you go":                   false, // no speaker
		"Ann: You said: what is it":             false,
		"you are tall":                          false,
		"How far is it":                         true,
		strings.Repeat("x", 60) + ": where did he go": false, // too long for a speaker
	} {
		if got := memory.IsQuestion(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

func TestFinalQuestion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Assistant: Great! Where did you move to?": "Where did you move to?",
		"Assistant: Where did you move to?":        "Assistant: Where did you move to?",
		"Where to? I would love to know.":          "",
		"One? Two?":                                "Two?",
		"I moved.":                                 "",
		"":                                         "",
		"Assistant: I see.\n\nWhere do you live now": "Where do you live now",
	} {
		if got := memory.FinalQuestion(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A turn that only asks, and was found better than the reply to it, changes places and
// scores with it (docs/contract.md#mem-search).
func TestAReplyStandsBeforeItsQuestion(t *testing.T) {
	t.Parallel()
	app := open(t, coretest.Options{}, nil).integration("chat", 0)
	const query = "harbour brother sail spring"
	at := func(minute int) string {
		return time.Date(2026, 5, 4, 10, minute, 0, 0, time.UTC).Format(time.RFC3339)
	}
	const asks, says = "Ann: Which harbour did your brother sail to last spring?", "Ben: Valparaiso!"
	for name, c := range map[string]struct {
		question, reply string
		minutes         int
		first           string // of the two
	}{
		"a reply":                  {asks, says, 1, "reply"},
		"two questions":            {"Ann: Spring? Which harbour did your brother sail to?", "Ben: Valparaiso!", 1, "reply"},
		"it says something, too":   {"Ann: My brother loves to sail in spring. Which harbour is best?", says, 1, "question"},
		"another question":         {asks, "Ben: Why?", 1, "question"},
		"long after":               {asks, says, 61, "question"},
		"nobody speaks":            {"Which harbour did your brother sail to last spring?", "Valparaiso!", 1, "question"},
		"the reply is better":      {"Ann: Which one?", "Ben: The harbour that my brother saw in spring!", 1, "reply"},
		"the question comes after": {asks, says, -1, "question"},
	} {
		user := strings.ReplaceAll(name, " ", "-")
		user = strings.ReplaceAll(user, ",", "")
		ids := map[string]string{}
		ids[app.save(user, c.question, "occurredAt", at(0))] = "question"
		ids[app.save(user, c.reply, "occurredAt", at(c.minutes))] = "reply"
		app.save(user, "Cleo: Bread rises because of yeast, they say.", "occurredAt", "2026-01-01T00:00:00Z")
		var order []string
		var scores []float64
		for _, r := range app.search(user, query) {
			if name := ids[r["id"].(string)]; name != "" {
				order = append(order, name)
			}
			scores = append(scores, r["score"].(float64))
		}
		if len(order) != 2 || order[0] != c.first {
			t.Errorf("%s: %v, want the %s first", name, order, c.first)
		}
		if !slices.IsSortedFunc(scores, func(a, b float64) int { return int(1e9 * (b - a)) }) {
			t.Errorf("%s: the scores are %v", name, scores)
		}
	}
	// Cut behind the question, the reply stays out.
	if r := app.search("a-reply", query, "limit", 1); len(r) != 1 || !strings.HasPrefix(r[0]["matchedContent"].(string), "Ann") {
		t.Errorf("one result: %v", r)
	}
}

// The turn before a result is told where there is one within the scope of the search.
func TestPrecedingTurns(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil)
	app := s.integration("chat", 0)
	base := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for i, c := range []string{"Ann: Who sails?", "Ben: My brother.", "Ann: Where to?", "Ben: Valparaiso."} {
		app.save("ann", c, "containerTag", "c1", "occurredAt", base.Add(time.Duration(i)*time.Minute).Format(time.RFC3339))
	}
	app.save("ann", "A fact about sails.", "containerTag", "c1", "occurredAt", base.Add(5*time.Minute).Format(time.RFC3339))
	app.save("ann", "Ben: Elsewhere.", "containerTag", "c2", "occurredAt", base.Add(4*time.Minute).Format(time.RFC3339))
	all := map[string]string{"Ann: Who sails?": "", "Ben: My brother.": "Ann: Who sails?", "Ann: Where to?": "Ben: My brother.",
		"Ben: Valparaiso.": "Ann: Where to?", "A fact about sails.": "", "Ben: Elsewhere.": ""}
	minute := func(n int) memory.Millis {
		return memory.Millis{Given: true, Value: base.Add(time.Duration(n) * time.Minute).UnixMilli()}
	}
	for name, c := range map[string]struct {
		scope memory.Scope
		want  map[string]string
	}{
		"everything": {memory.Scope{}, all},
		"one container": {memory.Scope{ContainerTag: memory.Tag{Given: true, Value: "c2"}},
			map[string]string{"Ben: Elsewhere.": ""}},
		"a later time": {memory.Scope{CreatedAfter: minute(1)}, map[string]string{"Ann: Where to?": "",
			"Ben: Valparaiso.": "Ann: Where to?", "A fact about sails.": "", "Ben: Elsewhere.": ""}},
	} {
		q := memory.Query{EndUserID: "ann", Query: "sails brother Valparaiso elsewhere", Limit: new(20), Scope: c.scope}
		found, err := s.memories.Search(app.ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.memories.PrecedingTurns(app.ctx, q, found.Results)
		got := map[string]string{}
		for i, r := range found.Results {
			got[r.Memory.Text] = before[i]
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	q := memory.Query{EndUserID: "eve", Query: "x"}
	results := []memory.Result{{ID: "mem_1", Memory: port.Document{Text: "Ann: Hello."}}}
	if before, err := s.memories.PrecedingTurns(app.ctx, q, results); err != nil || !slices.Equal(before, []string{""}) {
		t.Errorf("a user never seen: %q, %v", before, err)
	}
	gone, leave := context.WithCancel(app.ctx)
	leave()
	q.EndUserID = "ann"
	if _, err := s.memories.PrecedingTurns(gone, q, results); err == nil || fault.IsPartitionNotFound(err) {
		t.Errorf("a caller that has gone: %v", err)
	}
}
