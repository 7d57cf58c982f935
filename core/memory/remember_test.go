package memory_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/port"
)

// remember saves messages of a conversation.
func (a app) remember(user, container string, messages ...coretest.Object) *coretest.Reply {
	a.t.Helper()
	body := coretest.Object{"endUserId": user, "messages": messages}
	if container != "" {
		body["containerTag"] = container
	}
	return coretest.Ask(a.ctx, a.t, a.memories.Remember, body)
}

// outcomes of a call that has to succeed, and the ids of the memories.
func outcomes(r *coretest.Reply) (all string, ids []string) {
	for _, o := range r.OK().List("results") {
		all += fmt.Sprint(o["outcome"], " ")
		ids = append(ids, o["memory"].(coretest.Object)["id"].(string))
	}
	return strings.TrimSpace(all), ids
}

func said(id, role, content string, more ...any) coretest.Object {
	m := coretest.Object{"role": role, "content": content}
	if id != "" {
		m["id"] = id
	}
	return with(m, more)
}

// TestConversationsAreRememberedOnce: a message that is sent again changes nothing, one that
// says something else under its id takes the place of what it said.
func TestConversationsAreRememberedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	expect := func(r *coretest.Reply, want string) []string {
		t.Helper()
		got, ids := outcomes(r)
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
		return ids
	}
	asked := said("m1", "assistant", "Where did you move to?", "occurredAt", "2026-05-04T10:00:00Z")
	told := said("m2", "user", "To Lyon.", "name", "Ann", "occurredAt", "2026-05-04T10:00:20Z", "metadata",
		coretest.Object{"channel": "web", "n": 12345678901234567})
	yes := said("", "user", "Yes.")
	first := expect(s.remember("ann", "chat-7", asked, told, yes), "created created created")
	again := expect(s.remember("ann", "chat-7", asked, told, yes), "unchanged unchanged unchanged")
	if !slices.Equal(again, first) {
		t.Errorf("%v, then %v", first, again)
	}
	expect(s.remember("ann", "chat-7", said("m2", "user", "To Lyon.", "name", "Ann", "metadata",
		coretest.Object{"channel": "web", "n": 12345678901234567})), "unchanged") // no time: it keeps its own
	// Of messages without ids the role tells, and of all of them the container.
	expect(s.remember("ann", "chat-7", said("", "assistant", "Yes."), said("", "user", " Yes.\n"), said("m4", "user", "Yes."),
		said("", "user", "No."), said("", "user", "No.")), "created unchanged created created unchanged")
	expect(s.remember("ann", "chat-8", told), "created")
	expect(s.remember("ann", "", told), "created")
	expect(s.remember("bob", "chat-7", told), "created")
	s.save("ann", "To Lyon.", "containerTag", "chat-7") // is not a message

	changed := said("m2", "user", "To Bordeaux.", "name", "Ann", "metadata", coretest.Object{"channel": "app"})
	if id := expect(s.remember("ann", "chat-7", asked, changed), "unchanged updated"); id[1] != first[1] {
		t.Errorf("%s became %s", first[1], id[1])
	}
	expect(s.remember("ann", "chat-7", with(changed, []any{"occurredAt", "2026-05-04T10:00:30Z"})), "updated")
	expect(s.remember("ann", "chat-7", changed), "unchanged")
	var found coretest.Object
	for _, m := range s.list("ann") {
		if m["id"] == first[1] {
			found = m
		}
	}
	meta := found["metadata"].(coretest.Object)
	if found["content"] != "To Bordeaux." || found["created_at"] != float64(1777888830000) {
		t.Errorf("%v", found)
	}
	if len(meta) != 4 || meta["role"] != "user" || meta["name"] != "Ann" || meta["messageId"] != "m2" ||
		meta["channel"] != "app" {
		t.Errorf("metadata %v", meta)
	}
	if n := len(s.list("ann")); n != 9 {
		t.Errorf("%d memories", n)
	}
	// They are memories: deleted by id, and free to come again.
	s.remove(coretest.Object{"endUserId": "ann", "ids": []any{first[1]}}).OK()
	if id := expect(s.remember("ann", "chat-7", changed), "created"); id[0] == first[1] {
		t.Error("a deleted memory's id came back")
	}
}

// TestAMessageThatIsReplacedTakesItsContextAlong: what follows it is found by what it says
// now, and no longer by what it said.
func TestAMessageThatIsReplacedTakesItsContextAlong(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	at := func(second int) string { return fmt.Sprintf("2026-05-04T10:00:%02dZ", second) }
	question := said("m1", "assistant", "Which harbour is near your house?", "occurredAt", at(0))
	reply := said("m2", "user", "The one in Lyon.", "occurredAt", at(10))
	ids := func(r *coretest.Reply) []string { _, ids := outcomes(r); return ids }
	ask := []string{"orchard", "harbour", "which orchard is near", "Lyon"}
	kept := ids(s.remember("ann", "c", question, reply))
	now := said("m1", "assistant", "Which orchard is near your house?", "occurredAt", at(0))
	s.remember("eve", "c", now, reply).OK()
	want := s.found("eve", ask...)
	if s.found("ann", ask...) == want {
		t.Fatal("a question changes nothing")
	}
	if id := ids(s.remember("ann", "c", now)); id[0] != kept[0] {
		t.Errorf("%v, then %v", kept, id)
	}
	if got := s.found("ann", ask...); got != want {
		t.Errorf("replaced:\n%swant\n%s", got, want)
	}
	// So it is where both change in one call, or the reply comes first and the question later.
	s.remember("bob", "c", question, reply).OK()
	s.remember("bob", "c", said("m1", "assistant", "Which orchard is near your house?"),
		with(reply, []any{"metadata", coretest.Object{"edited": true}})).OK()
	delete(reply, "metadata")
	if got := s.found("bob", ask...); got != want {
		t.Errorf("replaced together:\n%swant\n%s", got, want)
	}
	s.remember("kim", "c", reply).OK()
	s.remember("kim", "c", now).OK()
	if got := s.found("kim", ask...); got != want {
		t.Errorf("out of order:\n%swant\n%s", got, want)
	}
	// One that moves behind the reply has no part in it any more.
	s.remember("lee", "c", now, reply).OK()
	s.remember("lee", "c", with(now, []any{"occurredAt", at(50)})).OK()
	s.remember("max", "c", reply).OK()
	s.remember("max", "c", now).OK()
	if got, want := s.found("lee", ask...), s.found("max", ask...); got != want {
		t.Errorf("moved behind:\n%swant\n%s", got, want)
	}
}

// TestMessagesThatAreRefused change nothing.
func TestMessagesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 3)
	good := said("m1", "user", "Hello.")
	refused := func(code fault.Code, field string, messages ...coretest.Object) {
		t.Helper()
		s.remember("ann", "c", messages...).Fails(code, field)
	}
	refused(fault.InvalidRequest, "messages")
	refused(fault.InvalidRequest, "role", good, said("m2", "narrator", "Once."))
	refused(fault.InvalidRequest, "content", good, said("m2", "user", " "))
	refused(fault.InvalidRequest, "content", good, coretest.Object{"role": "user"})
	refused(fault.InvalidRequest, "messages[1].id", good, said("m1", "user", "Again."))
	refused(fault.InvalidRequest, "id", good, said("", "user", "Again.", "id", ""))
	refused(fault.InvalidRequest, "id", good, said("", "user", "Again.", "id", "ä"))
	refused(fault.InvalidRequest, "messages[1].occurredAt", good, said("m2", "user", "Again.", "occurredAt", "yesterday"))
	refused(fault.InvalidRequest, "messages[1].metadata", good,
		said("m2", "user", "Again.", "metadata", coretest.Object{"a": nil}))
	for _, taken := range []string{"role", "name", "messageId"} {
		refused(fault.InvalidRequest, taken, good, said("m2", "user", "Again.", "metadata", coretest.Object{taken: "x"}))
	}
	half := strings.Repeat("word ", 13_000) // 65,000 bytes
	var many []coretest.Object
	for i := range 17 {
		many = append(many, said(fmt.Sprint(i), "user", half))
	}
	refused(fault.PayloadTooLarge, "messages", many...)
	refused(fault.QuotaExceeded, "", good, said("m2", "user", "2"), said("m3", "user", "3"), said("m4", "user", "4"))
	if n := len(s.list("ann")); n != 0 || len(s.roster()) != 0 {
		t.Errorf("%d memories, roster %v", n, s.roster())
	}
	got, _ := outcomes(s.remember("ann", "c", good, said("m2", "user", "2"), said("m3", "user", "3")))
	if got != "created created created" {
		t.Error(got)
	}
	// A full quota does not keep out what adds nothing.
	got, _ = outcomes(s.remember("ann", "c", said("m1", "user", "Hello again."), said("m2", "user", "2")))
	if got != "updated unchanged" {
		t.Error(got)
	}
	refused(fault.QuotaExceeded, "", said("m4", "user", "4"))
}

// TestConversationsSavedAtOnce are remembered once.
func TestConversationsSavedAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, coretest.Options{}, nil).integration("app", 0)
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			for n := range 5 {
				var in memory.Remember
				in.EndUserID = "ann"
				for k := range 3 {
					in.Messages = append(in.Messages, memory.Message{ID: new(fmt.Sprint("m", n+k)), Role: "user",
						Content: new(fmt.Sprint("message ", n+k, " by ", i%2))})
				}
				if _, err := coretest.Call(s.ctx, s.memories.Remember, in); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if n := len(s.list("ann")); n != 7 {
		t.Errorf("%d memories", n)
	}
}

// TestNothingOfAnErasedConversationComesBack: a turn that is saved while its end user is erased
// has nothing in its vector of the turn that was there before it.
func TestNothingOfAnErasedConversationComesBack(t *testing.T) {
	t.Parallel()
	model := coretest.NewEmbedder()
	s := open(t, coretest.Options{Embedder: model}, nil).integration("app", 0)
	question := said("m1", "assistant", "Which orchard is near your house?", "occurredAt", "2026-05-04T10:00:00Z")
	reply := said("m2", "user", "The one in Lyon.", "occurredAt", "2026-05-04T10:00:10Z")
	s.remember("alone", "", reply).OK()
	ask := []string{"orchard house", "Lyon"}
	want := s.found("alone", ask...)
	for name, save := range map[string]func(user string){
		"remembered": func(user string) { s.remember(user, "", reply).OK() },
		"saved": func(user string) {
			s.save(user, "The one in Lyon.", "metadata", coretest.Object{"role": "user"}, "occurredAt", "2026-05-04T10:00:10Z")
		},
	} {
		s.remember(name, "", question).OK()
		var once sync.Once
		model.Before.Set(func(context.Context, port.TextKind, []string) error {
			once.Do(func() { s.eraseUser(name).OK() })
			return nil
		})
		save(name)
		model.Before.Clear()
		if got := s.found(name, ask...); got != want {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
	}
}

// TestConversationsHoldAMebibyte, and not a byte more.
func TestConversationsHoldAMebibyte(t *testing.T) {
	t.Parallel()
	in := memory.Remember{EndUserID: "ann"}
	for range 16 {
		in.Messages = append(in.Messages, memory.Message{Role: "user", Content: new(strings.Repeat("x", 64<<10))})
	}
	if err := in.Validate(); err != nil {
		t.Error(err)
	}
	in.Messages = append(in.Messages, memory.Message{Role: "user", Content: new("x")})
	if err := in.Validate(); fault.CodeOf(err) != fault.PayloadTooLarge {
		t.Error(err)
	}
}
