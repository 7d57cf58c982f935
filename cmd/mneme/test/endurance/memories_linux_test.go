package endurance_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// user is the end user whom the client keeps. The other organization has one of this name, too.
func (c *client) user() string { return "ann-" + c.name }

func (c *client) content(version string) string {
	return fmt.Sprintf("The %s remembers %s by the harbour.", c.org.mark, version)
}

// searched are the memories of an end user that a search finds.
func (c *client) searched(user, query string) ([]string, bool) {
	var found struct {
		Results []struct{ ID, MatchedContent string }
	}
	if !c.into(&found, "search", c.org.memory, "POST", "/api/v1/search",
		object{"endUserId": user, "query": query, "limit": 100}) {
		return nil, false
	}
	ids, texts := map[string]bool{}, []string{}
	for _, r := range found.Results {
		c.own(r.MatchedContent)
		if ids[r.ID] {
			c.score.report(doubled, "a search in %s of %s finds %s twice", user, c.org.name, r.ID)
		}
		ids[r.ID] = true
		texts = append(texts, r.MatchedContent)
	}
	return texts, true
}

type memory struct{ ID, Content, ExternalID string }

// remembered lists an end user's memories.
func (c *client) remembered(user string) ([]memory, bool) {
	var list struct{ Memories []memory }
	if !c.into(&list, "list memories", c.org.memory, "GET", "/api/v1/memories?limit=100&endUserId="+user, nil) {
		return nil, false
	}
	contents := map[string]bool{}
	for _, m := range list.Memories {
		c.own(m.Content)
		if contents[m.Content] {
			c.score.report(doubled, "%s of %s has %q twice", user, c.org.name, m.Content)
		}
		contents[m.Content] = true
	}
	return list.Memories, true
}

// remember saves a memory, one way or another.
func (c *client) remember() bool {
	there := 0
	for _, x := range c.notes {
		if x.now != "" {
			there++
		}
	}
	if there >= notes {
		return c.forget()
	}
	v := c.version()
	x := c.cell(c.notes, v)
	x.begin("there")
	body := object{"endUserId": c.user(), "content": c.content(v)}
	if c.rand.IntN(2) == 0 {
		var saved struct{ Results []struct{ Created bool } }
		if !c.into(&saved, "save batch", c.org.memory, "POST", "/api/v1/memories/batch",
			object{"endUserId": c.user(), "memories": []object{{"content": c.content(v)}}}, "Idempotency-Key", "batch-"+v) {
			return false
		}
	} else if _, ok := c.ok("save", c.org.memory, "POST", "/api/v1/memories", body); !ok {
		return false
	}
	x.done("there")
	var again struct{ Deduped, Created bool }
	if !c.into(&again, "save again", c.org.memory, "POST", "/api/v1/memories", body) {
		return false
	}
	if !again.Deduped || again.Created {
		c.score.report(doubled, "%q was saved again: %+v", c.content(v), again)
	}
	found, ok := c.searched(c.user(), c.content(v))
	if ok && !slices.Contains(found, c.content(v)) {
		c.score.report(lost, "%q was saved, and a search finds %q", c.content(v), found)
	}
	return ok
}

// forget deletes a memory by its id.
func (c *client) forget() bool {
	v := c.present(c.notes)
	if v == "" {
		return true
	}
	list, ok := c.remembered(c.user())
	if !ok {
		return false
	}
	at := slices.IndexFunc(list, func(m memory) bool { return m.Content == c.content(v) })
	if at < 0 {
		c.score.report(lost, "%q was saved, and is not in the list", c.content(v))
		delete(c.notes, v)
		return true
	}
	x := c.notes[v]
	x.begin("")
	if _, ok := c.ok("delete memory", c.org.memory, "POST", "/api/v1/memories/delete",
		object{"endUserId": c.user(), "ids": []string{list[at].ID}}); !ok {
		return false
	}
	delete(c.notes, v)
	found, ok := c.searched(c.user(), c.content(v))
	if ok && slices.Contains(found, c.content(v)) {
		c.score.report(stale, "%q was deleted, and a search finds it", c.content(v))
	}
	return ok
}

const occurred = "2026-01-02T03:04:05Z"

// record applies the next version of a source system's record.
func (c *client) record() bool {
	id := fmt.Sprintf("r%d", c.rand.IntN(records))
	x := c.cell(c.records, id)
	c.next++
	n := c.next
	if c.rand.IntN(4) == 0 {
		to := fmt.Sprint("tombstoned ", n)
		x.begin(to)
		if _, ok := c.ok("tombstone", c.org.memory, "DELETE", fmt.Sprintf(
			"/api/v1/memories/%s?endUserId=%s&source=crm&version=%d&occurredAt=%s", id, c.user(), n, occurred), nil); !ok {
			return false
		}
		x.done(to)
		return true
	}
	to, content := fmt.Sprint("active ", n), fmt.Sprintf("The %s has record %s at version %d.", c.org.mark, id, n)
	x.begin(to)
	if _, ok := c.ok("upsert", c.org.memory, "PUT", "/api/v1/memories/"+id, object{"endUserId": c.user(), "source": "crm",
		"version": n, "content": content, "occurredAt": occurred}); !ok {
		return false
	}
	x.done(to)
	found, ok := c.searched(c.user(), content)
	if ok && !slices.Contains(found, content) {
		c.score.report(lost, "%q was applied, and a search finds %q", content, found)
	}
	return ok
}

// recall asks for an answer with proof.
func (c *client) recall() bool {
	var a struct {
		Answer    *string
		Citations []struct{ Quote string }
		Results   []struct{ MatchedContent string }
	}
	if !c.into(&a, "recall", c.org.memory, "POST", "/api/v1/recall",
		object{"endUserId": c.user(), "query": "What is by the harbour?"}) {
		return false
	}
	if a.Answer != nil && strings.Contains(*a.Answer, c.org.other.mark) {
		c.score.report(leaked, "%s is answered %q", c.org.name, *a.Answer)
	}
	for _, r := range a.Results {
		c.own(r.MatchedContent)
	}
	return true
}

// erase makes an end user and erases them.
func (c *client) erase() bool {
	c.next++
	c.leaving = fmt.Sprintf("quetzal%s%sx%dz", c.org.mark, c.name, c.next)
	var list []object
	for i := range 5 {
		list = append(list, object{"content": fmt.Sprintf("The %s saw %s number %d.", c.org.mark, c.leaving, i),
			"metadata": object{"of": c.leaving}})
	}
	// The name is not secret and stands in jobs; the word is what has to go.
	if _, ok := c.ok("save batch", c.org.memory, "POST", "/api/v1/memories/batch",
		object{"endUserId": c.goner(), "memories": list}, "Idempotency-Key", c.leaving); !ok {
		return false
	}
	if found, ok := c.searched(c.goner(), "who saw it"); !ok || len(found) != 5 {
		if ok {
			c.score.report(lost, "5 memories of %s were saved, and a search finds %q", c.goner(), found)
		}
		return ok
	}
	return c.eraseNow()
}

// goner is the end user who is erased.
func (c *client) goner() string { return "gone-" + c.name }

func (c *client) eraseNow() bool {
	var ok bool
	if c.rand.IntN(3) > 0 {
		_, ok = c.ok("erase", c.org.memory, "DELETE", "/api/v1/users/"+c.goner(), nil)
	} else {
		_, ok = c.ok("erase by an administrator", c.admin, "POST", "/admin/v1/end_users/"+c.goner()+"/erase?organization="+
			c.org.name+"&integration=app", nil)
	}
	if !ok {
		return false
	}
	c.site.done(c.leaving)
	c.leaving = ""
	found, ok := c.searched(c.goner(), "who saw it")
	if ok && len(found) != 0 {
		c.score.report(stale, "%s of %s was erased, and a search finds %q", c.goner(), c.org.name, found)
	}
	list, ok := c.remembered(c.goner())
	if ok && len(list) != 0 {
		c.score.report(stale, "%s of %s was erased, and has %v", c.goner(), c.org.name, list)
	}
	return ok
}

// settleMemories is the part of settle about end users.
func (c *client) settleMemories() {
	if c.leaving != "" {
		c.eraseNow()
	}
	list, ok := c.remembered(c.user())
	if !ok {
		return
	}
	have, active := map[string]bool{}, 0
	for _, m := range list {
		have[m.Content] = true
		if m.ExternalID != "" {
			active++
		}
	}
	there := 0
	for v, x := range c.notes {
		is := ""
		if have[c.content(v)] {
			is = "there"
			there++
		}
		if c.seen(c.content(v), x, is); is == "" {
			delete(c.notes, v)
		}
	}
	if there+active != len(list) {
		c.score.report(stale, "%s of %s has %d memories, of which %d are known", c.user(), c.org.name, len(list), there+active)
	}
	for id, x := range c.records {
		a, ok := c.ask("record", c.org.memory, "GET", "/api/v1/memories/"+id+"?source=crm&endUserId="+c.user(), nil)
		if !ok {
			return
		}
		is := ""
		if a.Status == http.StatusOK {
			r, _ := a.JSON()["record"].(object)
			is = fmt.Sprint(r["status"], " ", r["version"])
			if r["status"] == "active" {
				active--
			}
		}
		c.seen(id, x, is)
	}
	if active != 0 {
		c.score.report(wrong, "%s of %s: the list has %d records more than are active", c.user(), c.org.name, active)
	}
	found, ok := c.searched(c.user(), "by the harbour")
	if ok && len(found) != len(list) {
		c.score.report(lost, "%s of %s has %d memories, and a search finds %d", c.user(), c.org.name, len(list), len(found))
	}
}
