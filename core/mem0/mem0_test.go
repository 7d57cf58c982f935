package mem0_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/mem0"
	"github.com/mnemehq/mneme/core/memory"
)

type object = coretest.Object

// site is the protocol, as an integration sees it.
type site struct {
	t        *testing.T
	f        *coretest.Fixture
	memories *memory.Service
	service  *mem0.Service
	ctx      context.Context
}

func open(t *testing.T) *site {
	t.Helper()
	var last atomic.Int64 // each time is another millisecond, however fast the calls are
	f := coretest.New(t, coretest.Options{Now: func() time.Time {
		for {
			before := last.Load()
			if now := max(time.Now().UnixMilli(), before+1); last.CompareAndSwap(before, now) {
				return time.UnixMilli(now)
			}
		}
	}})
	memories := services.Memories(f, nil)
	services.Running(t, memories)
	return &site{t, f, memories, mem0.New(true, memories), f.Caller(key.Issue{Kind: ident.Integration, Name: "app",
		Integration: "app", Scopes: ident.Scopes()})}
}

func (s *site) add(body object, texts ...string) *coretest.Reply {
	s.t.Helper()
	messages := []object{}
	for _, text := range texts {
		messages = append(messages, object{"role": "user", "content": text})
	}
	body["messages"] = messages
	return coretest.Ask(s.ctx, s.t, s.service.Add, body)
}

func (s *site) list(body object, set ...func(*mem0.ListRequest)) *coretest.Reply {
	s.t.Helper()
	return coretest.Ask(s.ctx, s.t, s.service.List, body, set...)
}

func (s *site) search(body object) *coretest.Reply {
	s.t.Helper()
	return coretest.Ask(s.ctx, s.t, s.service.Search, body)
}

// texts are what the memories of an answer say, sorted.
func texts(r *coretest.Reply) string {
	out := coretest.Column(r.OK().List("results"), "memory")
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// filled is a site with memories of two users and an agent.
func filled(t *testing.T) *site {
	t.Helper()
	s := open(t)
	s.add(object{"user_id": "ann", "run_id": "r1", "metadata": object{"kind": "a", "n": 1}, "timestamp": 1700000000},
		"apple tart").OK()
	s.add(object{"user_id": "ann", "agent_id": "bot", "metadata": object{"kind": "b"}}, "pear tart").OK()
	s.add(object{"filters": object{"user_id": "ann"}, "app_id": "web"}, "plum tart").OK()
	s.add(object{"user_id": "ben"}, "fig tart").OK()
	s.add(object{"agent_id": "bot"}, "bot tart").OK()
	return s
}

func TestFilters(t *testing.T) {
	s := filled(t)
	ann := object{"user_id": "ann"}
	and := func(more ...any) object { return object{"AND": append([]any{ann}, more...)} }
	or := func(parts ...any) object { return object{"OR": parts} }
	for _, c := range []struct {
		filters object
		want    string
	}{
		{ann, "apple tart, pear tart, plum tart"},
		{object{"user_id": object{"eq": "ben"}}, "fig tart"},
		{object{"user_id": object{"in": []any{"ben"}}}, "fig tart"},
		{object{"agent_id": "bot"}, "bot tart"},
		{object{"user_id": "ann", "agent_id": "bot"}, "pear tart"},
		{and(object{"app_id": "web"}), "plum tart"},
		{and(object{"run_id": "r1"}), "apple tart"},
		{and(or(object{"run_id": "r1"}, object{"agent_id": "bot"})), "apple tart, pear tart"},
		{or(and()), "apple tart, pear tart, plum tart"},
		{and(or(object{"run_id": "r1", "metadata": object{"kind": "b"}}, object{"app_id": "web"})), "plum tart"},
		{and(object{"metadata": object{"kind": object{"in": []any{"a", "b"}}}}), "apple tart, pear tart"},
		{and(object{"metadata": object{"n": 1, "kind": object{"eq": "a"}}}), "apple tart"},
		{and(object{"created_at": object{"gte": "2023-11-14T22:13:20Z", "lte": "2023-11-14T22:13:20Z"}}), "apple tart"},
		{and(object{"created_at": object{"gt": "2023-11-14T22:13:20Z"}}), "pear tart, plum tart"},
		{and(object{"created_at": object{"lt": "2023-11-14T22:13:20Z"}}), ""},
		{and(object{"created_at": object{"lt": "2023-11-15"}}), "apple tart"},
		{object{"user_id": "nobody"}, ""},
	} {
		if got := texts(s.list(object{"filters": c.filters})); got != c.want {
			t.Errorf("%v lists %q, want %q", c.filters, got, c.want)
		}
		if got := texts(s.search(object{"query": "tart", "filters": c.filters})); got != c.want {
			t.Errorf("%v finds %q, want %q", c.filters, got, c.want)
		}
	}
	for filters, says := range map[string]string{
		`7`:                                 "filters: must be an object",
		`{}`:                                "filters: has no condition",
		`{"NOT": [{"user_id": "a"}]}`:       "filters.NOT: is not supported",
		`{"categories": {"contains": "a"}}`: "filters.categories: is not supported",
		`{"AND": {}}`:                       "filters.AND: must be an array",
		`{"AND": []}`:                       "filters.AND: must be an array",
		`{"AND": [{}]}`:                     "filters.AND[0]: has no condition",
		`{"user_id": "*"}`:                  "filters.user_id: must be an id",
		`{"user_id": ["a"]}`:                "filters.user_id: must be one id",
		`{"user_id": {"in": ["a", "b"]}}`:   "filters.user_id: must be one id",
		`{"OR": [{"user_id": "a"}, {"user_id": "b"}]}`:                              "filters.OR[0].user_id: may only stand",
		`{"OR": [{"created_at": {"gt": "2026-01-02"}}, {}]}`:                        "filters.OR[0].created_at: may only stand",
		`{"created_at": {"gt": "soon"}}`:                                            "filters.created_at.gt: must be a date",
		`{"created_at": {"ne": "2026-01-02"}}`:                                      "filters.created_at.ne: is not supported",
		`{"created_at": {}}`:                                                        "filters.created_at: must be an object",
		`{"metadata": {}}`:                                                          "filters.metadata: must be an object",
		`{"metadata": {"$or": 1}}`:                                                  "is no key",
		`{"metadata": {"a": {"gt": 1}}}`:                                            "operator gt is not supported",
		`{"metadata": {"a": null}}`:                                                 "filters.metadata: values are",
		strings.Repeat(`{"AND":[`, 17) + strings.Repeat(`]}`, 17):                   "nested deeper than 16",
		`{"AND": [` + strings.Repeat(`{"run_id": "a"},`, 256) + `{"run_id": "a"}]}`: "more than 256",
		`{"AND": [` + manyKeys(150) + `, ` + manyKeys(150) + `]}`:                   "filters.AND[1].metadata: makes more",
	} {
		var in mem0.SearchRequest
		err := json.Unmarshal([]byte(`{"query": "a", "filters": `+filters+`}`), &in)
		if fault.CodeOf(err) != fault.InvalidFilter || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: %v, want %s", filters, err, says)
		}
	}
	s.search(object{"query": "a"}).Fails(fault.InvalidRequest, "whose memories")
	s.search(object{"query": "a", "filters": object{"metadata": object{"a": 1}}}).
		Fails(fault.InvalidRequest, "user_id: is needed")
	s.list(object{"filters": ann, "start_date": "2026-01-02", "end_date": "2026-01-01"}).Fails(fault.InvalidFilter, "ends before")
}

func TestAdding(t *testing.T) {
	s := open(t)
	first := s.add(object{"user_id": "ann", "metadata": object{"kind": "a"}}, "one", "two").OK().List("results")
	if fmt.Sprint(coretest.Column(first, "event")) != "[ADD ADD]" || !strings.HasSuffix(fmt.Sprint(first[0]["id"]), ":ann") {
		t.Errorf("%v", first)
	}
	again := s.add(object{"user_id": "ann", "metadata": object{"kind": "a"}}, "two", "three").List("results")
	if fmt.Sprint(coretest.Column(again, "event")) != "[NOOP ADD]" || again[0]["id"] != first[1]["id"] {
		t.Errorf("%v", again)
	}
	parts := coretest.Ask(s.ctx, t, s.service.Add, object{"user_id": "ann", "messages": []object{{"role": "user",
		"content": []object{{"type": "text", "text": "a"}, {"type": "text", "text": "b"}}}}})
	if texts(parts) != "a\nb" {
		t.Errorf("%s", parts.Body)
	}
	for field, value := range map[string]any{"infer": true, "custom_instructions": "x", "agent_custom_instructions": "x",
		"custom_categories": []any{}, "structured_data_schema": object{}} {
		s.add(object{"user_id": "ann", field: value}, "x").Fails(fault.InvalidRequest, field+": needs a language model")
	}
	s.add(object{"user_id": "ann", "infer": false}, "x").OK()
	s.add(object{"user_id": "cat", "agent_id": "bot", "metadata": nil}, "x").
		Fails(fault.InvalidRequest, "metadata: must be an object")
	s.add(object{"user_id": "ann", "expiration_date": "2030-01-01"}, "x").Fails(fault.InvalidRequest, "until they are deleted")
	s.add(object{}, "x").Fails(fault.InvalidRequest, "user_id: is needed")
	s.add(object{"user_id": "ann", "filters": object{"user_id": "ben"}}, "x").
		Fails(fault.InvalidRequest, "one call is of one user")
	s.add(object{"user_id": "ann", "filters": object{"metadata": object{"a": 1}}}, "x").
		Fails(fault.InvalidRequest, "may only name")
	s.add(object{"user_id": "ann", "metadata": object{"agent_id": "x"}}, "x").Fails(fault.InvalidRequest, "may not hold")
	s.add(object{"user_id": "mem0-agent.bot"}, "x").Fails(fault.InvalidEndUserID, "may not begin")
	s.add(object{"run_id": "a:b"}, "x").Fails(fault.InvalidRequest, "run_id: without a user_id")
	s.add(object{"user_id": "ann"}, " ").Fails(fault.InvalidRequest, "messages[0].content")
	if n := s.list(object{"filters": object{"user_id": "ann"}}).JSON["count"]; n != 5.0 {
		t.Errorf("%v memories are kept", n)
	}
}

// manyKeys is a filter of metadata with n conditions.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `, "k%d": %d`, i, i)
	}
	return `{"metadata": {` + b.String()[2:] + `}}`
}

func TestOneMemory(t *testing.T) {
	s := open(t)
	id := s.add(object{"user_id": "ann", "agent_id": "bot", "run_id": "r", "metadata": object{"kind": "a"}}, "apple tart").OK().
		List("results")[0]["id"].(string)
	at := func(r *mem0.Ref) { r.MemoryID = id }
	get := func() *coretest.Reply { return coretest.Ask(s.ctx, t, s.service.Get, nil, at) }
	update := func(body object) *coretest.Reply {
		return coretest.Ask(s.ctx, t, s.service.Update, body, func(in *mem0.UpdateRequest) { in.MemoryID = id })
	}
	get().Answers(`{"id": "`+id+`", "memory": "apple tart", "user_id": "ann", "agent_id": "bot", "app_id": null, "run_id": "r",
		"metadata": {"kind": "a", "role": "user"}, "categories": []}`, "created_at", "updated_at")
	update(object{"text": "pear cake", "metadata": object{"shape": "round"}, "timestamp": "2024-05-01T10:00:00Z"}).
		Answers(`{"id": "`+id+`", "memory": "pear cake", "user_id": "ann", "agent_id": "bot", "app_id": null, "run_id": "r",
			"metadata": {"shape": "round", "role": "user"}, "categories": [],
			"created_at": "2024-05-01T10:00:00Z"}`, "updated_at")
	found := s.search(object{"query": "pear", "filters": object{"user_id": "ann", "agent_id": "bot"}})
	if got := texts(found); got != "pear cake" {
		t.Errorf("after the update %q is found", got)
	}
	update(object{"metadata": object{"shape": "flat"}}).OK()
	if m := get().JSON; m["memory"] != "pear cake" || m["created_at"] != "2024-05-01T10:00:00Z" ||
		m["metadata"].(object)["shape"] != "flat" {
		t.Errorf("%v", m)
	}
	again := s.add(object{"user_id": "ann", "agent_id": "bot", "run_id": "r"}, "pear cake").List("results")[0]
	if again["event"] != "NOOP" || again["id"] != id {
		t.Errorf("what was changed to the same text is kept twice: %v", again)
	}
	for _, other := range []object{{"agent_id": "cat"}, {"app_id": "bot"}, {}} {
		other["user_id"], other["run_id"] = "ann", "r"
		if r := s.add(other, "pear cake").List("results")[0]; r["event"] != "ADD" || r["id"] == id {
			t.Errorf("%v: the same of another agent or app is not kept: %v", other, r)
		}
	}
	update(object{"text": "pear cake", "metadata": object{"shape": "flat", "role": "user"}}).OK()
	update(object{"metadata": object{"role": "assistant"}}).Fails(fault.InvalidRequest, "may not change")
	update(object{"metadata": object{"messageId": "m1"}}).Fails(fault.InvalidRequest, "may not change")
	before := get().OK().JSON["memory"]
	if after := update(object{}).OK().JSON["memory"]; after != before {
		t.Errorf("%v, before %v", after, before)
	}
	update(object{"metadata": nil}).Fails(fault.InvalidRequest, "metadata: must be an object")
	update(object{"metadata": object{"agent_id": "x"}}).Fails(fault.InvalidRequest, "may not hold")
	update(object{"metadata": object{"a": object{}}}).Fails(fault.InvalidRequest, "metadata")
	update(object{"expiration_date": "2030-01-01"}).Fails(fault.InvalidRequest, "until they are deleted")
	history, err := s.service.History(s.ctx, mem0.Ref{MemoryID: id})
	if err != nil || len(history) != 1 || history[0].NewMemory != "pear cake" {
		t.Errorf("%v, %v", history, err)
	}
	remove := func() *coretest.Reply {
		return coretest.Ask(s.ctx, t, s.service.Delete, nil, func(in *mem0.DeleteRequest) { in.MemoryID = id })
	}
	remove().OK()
	remove().Fails(fault.MemoryNotFound, id)
	get().Fails(fault.MemoryNotFound)
	update(object{"text": "x"}).Fails(fault.MemoryNotFound)
	for _, id = range []string{"x", "mem_0:", "mem_0:a b", ":ann", "mem_0:nobody"} {
		get().Fails(fault.MemoryNotFound)
	}
}

// A message that was changed is still the one of its id, and one that was saved as a text the one of its text.
func TestEditedMessages(t *testing.T) {
	s := open(t)
	remember := func(text string) object {
		r := coretest.Ask(s.ctx, t, s.memories.Remember, object{"endUserId": "ann", "messages": []object{
			{"id": "m1", "role": "user", "content": text}}})
		return r.OK().List("results")[0]
	}
	id := remember("apple tart")["memory"].(object)["id"].(string)
	saved := coretest.Ask(s.ctx, t, s.memories.Save, object{"endUserId": "ann", "content": "one",
		"metadata": object{"role": "user"}}).OK().JSON["memory"].(object)["id"].(string)
	for id, text := range map[string]string{id: "pear tart", saved: "two"} {
		coretest.Ask(s.ctx, t, s.service.Update, object{"text": text},
			func(in *mem0.UpdateRequest) { in.MemoryID = id + ":ann" }).OK()
	}
	if r := remember("plum tart"); r["memory"].(object)["id"] != id {
		t.Errorf("the message is another memory: %v", r)
	}
	coretest.Ask(s.ctx, t, s.memories.Save, object{"endUserId": "ann", "content": "two"}).OK()
	if got := texts(s.list(object{"filters": object{"user_id": "ann"}})); got != "plum tart, two" {
		t.Errorf("kept are %q", got)
	}
}

func TestPagesBatchesAndEntities(t *testing.T) {
	s := filled(t)
	ann := object{"filters": object{"user_id": "ann"}}
	page := func(n, size int) *coretest.Reply {
		return s.list(ann, func(in *mem0.ListRequest) { in.Page, in.PageSize = &n, &size }).OK()
	}
	if r := page(2, 2); r.JSON["count"] != 3.0 || texts(r) != "apple tart" || r.JSON["next"] != nil ||
		r.JSON["previous"] != "/v3/memories/?page=1&page_size=2" {
		t.Errorf("%s", r.Body)
	}
	if r := page(1, 2); len(r.List("results")) != 2 || r.JSON["next"] != "/v3/memories/?page=2&page_size=2" ||
		r.JSON["previous"] != nil {
		t.Errorf("%s", r.Body)
	}
	ids := coretest.Column(page(1, 100).List("results"), "id")
	change := func(ids ...string) *coretest.Reply {
		list := []object{}
		for _, id := range ids {
			list = append(list, object{"memory_id": id, "text": "cake " + id})
		}
		return coretest.Ask(s.ctx, t, s.service.BatchUpdate, object{"memories": list})
	}
	remove := func(ids ...string) *coretest.Reply {
		list := []object{}
		for _, id := range ids {
			list = append(list, object{"memory_id": id})
		}
		return coretest.Ask(s.ctx, t, s.service.BatchDelete, object{"memories": list})
	}
	change(ids[0], "mem_none:ann").Fails(fault.MemoryNotFound)
	remove(ids[0], "none").Fails(fault.MemoryNotFound)
	coretest.Ask(s.ctx, t, s.service.BatchUpdate, object{"memories": []object{{"memory_id": ids[0], "text": "cake"},
		{"memory_id": ids[1], "metadata": object{"agent_id": "x"}}}}).
		Fails(fault.InvalidRequest, "memories[1].metadata: may not hold")
	if got := texts(page(1, 100)); got != "apple tart, pear tart, plum tart" {
		t.Errorf("a batch that failed left %q", got)
	}
	change(ids[0], ids[1]).OK()
	remove(ids[0], ids[1]).Answers(`{"message": "Successfully deleted 2 memories"}`)
	remove(ids[0], ids[1]).Answers(`{"message": "Successfully deleted 0 memories"}`)
	if got := texts(page(1, 100)); got != "apple tart" {
		t.Errorf("batches left %q", got)
	}
	entities := func(set ...func(*mem0.ListEntities)) string {
		var out []string
		for _, e := range coretest.Ask(s.ctx, t, s.service.Entities, nil, set...).OK().List("results") {
			out = append(out, fmt.Sprint(e["type"], " ", e["name"], " ", e["total_memories"]))
		}
		return strings.Join(out, ", ")
	}
	if got := entities(); got != "user ann 1, user ben 1, agent bot 1" {
		t.Errorf("entities are %s", got)
	}
	two, one := 2, 1
	if got := entities(func(in *mem0.ListEntities) { in.Page, in.PageSize = &two, &one }); got != "user ben 1" {
		t.Errorf("the second page is %s", got)
	}
	no, run, user := "none", "r1", "ann"
	all := func(run *string) *coretest.Reply {
		return coretest.Ask(s.ctx, t, s.service.DeleteAll, nil,
			func(in *mem0.DeleteAllRequest) { in.UserID, in.RunID = &user, run })
	}
	if all(&no).OK(); texts(page(1, 100)) != "apple tart" {
		t.Error("another run's memories were deleted")
	}
	if all(&run).OK(); texts(page(1, 100)) != "" {
		t.Error("the run's memories are there")
	}
	coretest.Ask(s.ctx, t, s.service.DeleteAll, nil).Fails(fault.InvalidRequest, "user_id: is needed")
	erase := func(kind, id string) *coretest.Reply {
		return coretest.Ask(s.ctx, t, s.service.EraseEntity, nil, func(in *mem0.EntityRef) { in.Type, in.ID = kind, id })
	}
	erase("agent", "bot").OK()
	erase("agent", "bot").Fails(fault.NotFound, "agent_id=")
	erase("user", "nobody").Fails(fault.NotFound)
	erase("user", "ann").OK()
	if got := entities(); got != "user ben 1" {
		t.Errorf("after erasing entities are %s", got)
	}
}

// A key of one end user lists that one alone, and others are counted without being read.
func TestEntitiesOfAPersonalKey(t *testing.T) {
	s := open(t)
	for _, user := range []string{"ann", "ann@x.org", "ben"} {
		s.add(object{"user_id": user}, "bread").OK()
	}
	list := func(of *site, number int) *coretest.Reply {
		one := 1
		return coretest.Ask(of.ctx, t, s.service.Entities, nil, func(in *mem0.ListEntities) {
			in.Page, in.PageSize = &number,
				&one
		})
	}
	if r := list(s, 2).OK(); r.JSON["count"] != 3.0 || coretest.Column(r.List("results"), "name")[0] != "ann@x.org" ||
		r.JSON["next"] == nil || r.JSON["previous"] == nil {
		t.Errorf("%s", r.Body)
	}
	if r := list(s, 4).OK(); r.JSON["count"] != 3.0 || len(r.List("results")) != 0 || r.JSON["next"] != nil {
		t.Errorf("%s", r.Body)
	}
	for user, want := range map[string]int{"ann": 1, "nobody": 0} {
		personal := *s
		personal.ctx = s.f.Caller(key.Issue{Kind: ident.Personal, Integration: "app", EndUser: user})
		r := list(&personal, 1).OK()
		if names := coretest.Column(r.List("results"), "name"); r.JSON["count"] != float64(want) || len(names) != want ||
			want == 1 && names[0] != user {
			t.Errorf("%s lists %s", user, r.Body)
		}
		if r := list(&personal, 2).OK(); len(r.List("results")) != 0 || r.JSON["count"] != float64(want) {
			t.Errorf("%s lists a second page: %s", user, r.Body)
		}
	}
}

// What a source owns is changed and deleted by it alone, and a call that names it changes nothing else.
func TestOwnedMemories(t *testing.T) {
	s := open(t)
	own := s.add(object{"user_id": "ann"}, "apple tart").OK().List("results")[0]["id"].(string)
	coretest.Ask(s.ctx, t, s.memories.Upsert, object{"endUserId": "ann", "source": "crm", "version": 1, "content": "pear tart",
		"occurredAt": "2026-01-02T03:04:05Z"}, func(in *memory.Upsert) { in.ExternalID = "x1" }).OK()
	var owned string
	for _, m := range s.list(object{"filters": object{"user_id": "ann"}}).OK().List("results") {
		if m["memory"] == "pear tart" {
			owned = m["id"].(string)
		}
	}
	where := "is owned by source crm (x1)"
	coretest.Ask(s.ctx, t, s.service.Update, object{"text": "cake"}, func(in *mem0.UpdateRequest) { in.MemoryID = owned }).
		Fails(fault.Conflict, where, "change it there")
	coretest.Ask(s.ctx, t, s.service.Delete, nil, func(in *mem0.DeleteRequest) { in.MemoryID = owned }).
		Fails(fault.Conflict, where, "tombstone it there")
	coretest.Ask(s.ctx, t, s.service.BatchUpdate, object{"memories": []object{{"memory_id": own, "text": "cake"},
		{"memory_id": owned, "text": "cake"}}}).Fails(fault.Conflict, where)
	coretest.Ask(s.ctx, t, s.service.BatchDelete, object{"memories": []object{{"memory_id": own}, {"memory_id": owned}}}).
		Fails(fault.Conflict, where)
	user := "ann"
	coretest.Ask(s.ctx, t, s.service.DeleteAll, nil, func(in *mem0.DeleteAllRequest) { in.UserID = &user }).
		Fails(fault.Conflict, where)
	if got := texts(s.list(object{"filters": object{"user_id": "ann"}})); got != "apple tart, pear tart" {
		t.Errorf("left are %q", got)
	}
}

// The same again is no change: the memory keeps the time of its last one.
func TestAnUpdateOfNothing(t *testing.T) {
	s := open(t)
	id := s.add(object{"user_id": "ann", "metadata": object{"kind": "a"}}, "apple tart").OK().List("results")[0]["id"].(string)
	update := func(body object) any {
		t.Helper()
		return coretest.Ask(s.ctx, t, s.service.Update, body,
			func(in *mem0.UpdateRequest) { in.MemoryID = id }).OK().JSON["updated_at"]
	}
	first := update(object{"text": "pear cake", "metadata": object{"kind": "b"}, "timestamp": "2024-05-01T10:00:00Z"})
	for _, body := range []object{{}, {"text": "pear cake"}, {"metadata": object{"kind": "b"}},
		{"timestamp": "2024-05-01T10:00:00Z"},
		{"text": "pear cake", "metadata": object{"kind": "b"}, "timestamp": "2024-05-01T10:00:00Z"}} {
		if again := update(body); again != first {
			t.Errorf("%v: changed at %v, before at %v", body, again, first)
		}
	}
	for _, body := range []object{{"metadata": object{"kind": "c"}}, {"timestamp": "2024-05-01T10:00:01Z"},
		{"text": "pear tart"}} {
		if again := update(body); again == first {
			t.Errorf("%v changed nothing", body)
		} else {
			first = again
		}
	}
}

func TestWhatIsOff(t *testing.T) {
	err := mem0.New(false, nil).Available()
	if fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "protocols.mem0") {
		t.Error(err)
	}
	if mem0.New(false, nil).Absent() != nil || len(mem0.New(true, nil).Absent()) < 12 {
		t.Error("what is absent is told where the protocol is off, or not where it is on")
	}
}
