package tool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/coretest"
	"github.com/mnemehq/mneme/adapters/coretest/services"
	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/core/memory"
	"github.com/mnemehq/mneme/core/retrieve"
	"github.com/mnemehq/mneme/core/tool"
)

// talk is a bench whose caller has an integration's key.
func talk(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, nil)
	b.tools.Memories = services.Memories(b.Fixture, func(s *memory.Settings) {
		s.Passages = func(_ context.Context, namespace, _ string, _ int) ([]memory.Passage, []retrieve.Degraded, error) {
			return []memory.Passage{{Namespace: namespace, DocumentID: "d", Title: "Menu", Text: "Tea and scones."}},
				[]retrieve.Degraded{{Part: "vector", Reason: "unavailable"}}, nil
		}
	})
	services.Running(t, b.tools.Memories)
	return b.as(key.Issue{Kind: ident.Integration, Integration: "app", Scopes: ident.Scopes()})
}

// The tools of memories, called with arguments as JSON has them and what a connection adds.
func (b *bench) context(u tool.User, args object) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Context, args, func(in *tool.Context) { in.Pinned, in.Header = u.Pinned, u.Header })
}

func (b *bench) remember(u tool.User, args object) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Remember, args, func(in *tool.Remember) { in.Pinned, in.Header = u.Pinned, u.Header })
}

func (b *bench) forget(u tool.User, args object) *coretest.Reply {
	b.t.Helper()
	return coretest.Ask(b.ctx, b.t, b.tools.Forget, args, func(in *tool.Forget) { in.Pinned, in.Header = u.Pinned, u.Header })
}

// A conversation is remembered once, found for a message, and forgotten by id.
func TestAConversation(t *testing.T) {
	b, ann := talk(t), tool.User{Pinned: "ann"}
	messages := []object{
		{"id": "m1", "role": "user", "content": "I drink green tea."},
		{"role": "assistant", "content": "Noted."},
	}
	first := b.remember(ann, object{"conversation": "c", "messages": messages}).OK().List("results")
	again := b.remember(ann, object{"conversation": "c", "messages": messages}).OK().List("results")
	if !slices.Equal(coretest.Column(first, "outcome"), []string{"created", "created"}) ||
		!slices.Equal(coretest.Column(again, "outcome"), []string{"unchanged", "unchanged"}) ||
		!slices.Equal(coretest.Column(first, "id"), coretest.Column(again, "id")) {
		t.Errorf("%v, then %v", first, again)
	}
	id := coretest.Column(first, "id")[0]
	got := b.context(ann, object{"message": "green tea", "conversation": "c"}).OK()
	if cited := got.List("citations"); len(cited) != 2 || cited[0]["kind"] != "memory" ||
		!slices.Contains(coretest.Column(cited, "id"), id) ||
		!strings.Contains(got.JSON["context"].(string), "I drink green tea.") ||
		got.Number("omitted") != 0 || slices.Contains(coretest.Column(got.List("degraded"), "part"), "vector") {
		t.Errorf("%s", got.Body)
	}
	if got := b.context(ann, object{"message": "green tea", "conversation": "another"}).OK(); got.JSON["context"] != "" {
		t.Errorf("another conversation: %s", got.Body)
	}
	if got := b.context(ann, object{"message": "green tea", "max_tokens": 16}).OK(); got.Number("omitted") != 1 {
		t.Errorf("16 tokens: %s", got.Body)
	}
	if got := b.context(tool.User{Pinned: "ben"}, object{"message": "green tea"}).OK(); got.JSON["context"] != "" {
		t.Errorf("another user: %s", got.Body)
	}
	for _, want := range []float64{1, 0} {
		if got := b.forget(ann, object{"ids": []string{id, "mem_none"}}).OK(); got.Number("deleted") != want {
			t.Errorf("forgotten: %s, want %v", got.Body, want)
		}
	}
	limited := b.as(key.Issue{Kind: ident.Integration, Integration: "app", Namespace: "docs"})
	got = limited.context(ann, object{"message": "tea"}).OK()
	cited := got.List("citations")
	if fmt.Sprint(cited[len(cited)-1]) != "map[id:docs/d kind:document marker:2]" ||
		!slices.Contains(coretest.Column(got.List("degraded"), "part"), "vector") {
		t.Errorf("with passages: %s", got.Body)
	}
}

// The user of a call is the connection's, the key's or the argument's, and none is guessed.
func TestWhereAnEndUserComesFrom(t *testing.T) {
	b := talk(t)
	messages := []object{{"role": "user", "content": "I drink green tea."}}
	b.remember(tool.User{}, object{"end_user_id": "ann", "messages": messages}).OK()
	mine := b.as(key.Issue{Kind: ident.Personal, Integration: "app", EndUser: "ann"})
	ask := object{"message": "tea"}
	for name, r := range map[string]*coretest.Reply{
		"argument": b.context(tool.User{}, object{"message": "tea", "end_user_id": "ann"}),
		"URL":      b.context(tool.User{Pinned: "ann"}, ask),
		"header":   b.context(tool.User{Header: "ann"}, ask),
		"key":      mine.context(tool.User{}, ask),
		"all":      mine.context(tool.User{Pinned: "ann", Header: "ann"}, object{"message": "tea", "end_user_id": "ann"}),
	} {
		if got := r.OK(); len(got.List("citations")) != 1 {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	for name, u := range map[string]tool.User{"URL": {Pinned: "ben"}, "header": {Header: "ben"}} {
		mine.context(u, ask).Fails(fault.Forbidden, "another end user")
		b.context(u, object{"message": "tea", "end_user_id": "ann"}).Fails(fault.Forbidden, "another end user")
		if got := b.context(u, ask).OK(); got.JSON["context"] != "" {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	mine.context(tool.User{}, object{"message": "tea", "end_user_id": "ben"}).Fails(fault.Forbidden, "another end user")
	mine.remember(tool.User{Pinned: "ben"}, object{"messages": messages}).Fails(fault.Forbidden, "another end user")
	mine.forget(tool.User{Pinned: "ben"}, object{"ids": []string{"mem_x"}}).Fails(fault.Forbidden, "another end user")
	for says, r := range map[string]*coretest.Reply{
		"end_user_id": b.context(tool.User{}, ask),
		"end_user":    b.remember(tool.User{}, object{"messages": messages}),
		"end_":        b.forget(tool.User{}, object{"ids": []string{"mem_x"}}),
	} {
		r.Fails(fault.InvalidRequest, says, "is required")
	}
}

// What the service of memories refuses, the tools refuse.
func TestWhatTheToolsOfMemoriesRefuse(t *testing.T) {
	b, ann := talk(t), tool.User{Pinned: "ann"}
	message := func(role, content string) []object { return []object{{"role": role, "content": content}} }
	b.context(ann, object{"message": " \n"}).Fails(fault.InvalidRequest, "message", "white space")
	b.context(ann, object{"message": strings.Repeat("x", 8193)}).Fails(fault.InvalidRequest, "message")
	b.context(ann, object{"message": "x", "max_tokens": 8001}).Fails(fault.InvalidRequest, "max_tokens")
	b.context(ann, object{"message": "x", "conversation": ""}).Fails(fault.InvalidContainerTag, "conversation")
	b.context(tool.User{Pinned: "a:b"}, object{"message": "x"}).Fails(fault.InvalidEndUserID)
	b.remember(ann, object{"messages": message("pirate", "x")}).Fails(fault.InvalidRequest, "role")
	b.remember(ann, object{"messages": message("user", " ")}).Fails(fault.InvalidRequest, "content")
	b.remember(ann, object{"messages": []object{}}).Fails(fault.InvalidRequest, "messages")
	b.remember(tool.User{Pinned: "a:b"}, object{"messages": message("user", "x")}).Fails(fault.InvalidEndUserID)
	b.forget(ann, object{"ids": []string{}}).Fails(fault.InvalidRequest, "ids")
	b.forget(tool.User{Pinned: "a:b"}, object{"ids": []string{"mem_x"}}).Fails(fault.InvalidEndUserID)
	three := tool.Remember{Messages: make([]memory.Message, 3)}
	if n := three.Units(); n != 3 {
		t.Errorf("three messages are %d units", n)
	}
}
