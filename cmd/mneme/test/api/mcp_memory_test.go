package api_test

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/core/ident"
	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/transports/mcp"
)

// TestMCPMemory is the protocol with keys of the memory API: tools by scope, a conversation
// that is remembered, and a block of memories and of the passages that the key may have
// (docs/contract.md#mcp-memory-tools).
func TestMCPMemory(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		root := start(t, b, options{})
		root.write("menus", doc("autumn", "The carrot cake has walnuts.", ""))
		root.write("other", doc("secret", "The carrot cake is a secret.", ""))
		app := root.integration("app", func(in *key.Issue) { in.Namespace = "menus" })
		reads, writes := []ident.Scope{ident.MemoriesRead}, []ident.Scope{ident.MemoriesWrite}
		scoped := func(s []ident.Scope) func(*key.Issue) { return func(in *key.Issue) { in.Scopes, in.Quotas = s, nil } }
		personal := root.as(root.issue(key.Issue{Kind: ident.Personal, Integration: "app", EndUser: "ann"}))
		for name, c := range map[string]struct {
			s      *server
			query  string
			tools  []string
			pinned bool
		}{
			"all rights":   {app, "", []string{"context", "forget", "remember"}, false},
			"a user's URL": {app, "?endUserId=ann", []string{"context", "forget", "remember"}, true},
			"a user's key": {personal, "", []string{"context", "forget", "remember"}, true},
			"reading":      {root.integration("app", scoped(reads)), "", []string{"context"}, false},
			"writing":      {root.integration("app", scoped(writes)), "", []string{"forget", "remember"}, false},
			"neither":      {root.integration("app", scoped([]ident.Scope{ident.UsersErase})), "", []string{}, false},
		} {
			for _, version := range mcp.Versions() {
				list := c.s.mcp(version, c.query).list()
				if got := toolNames(list); !slices.Equal(got, c.tools) {
					t.Errorf("%s, %s: tools %v, want %v", name, version, got, c.tools)
				}
				for _, tool := range c.tools {
					if slices.Contains(arguments(t, list, tool), "end_user_id") == c.pinned {
						t.Errorf("%s, %s: %s takes %v", name, version, tool, arguments(t, list, tool))
					}
				}
			}
		}
		c := app.mcp(newest, "?endUserId=ann")
		said := object{"conversation": "chat", "messages": []object{
			{"id": "1", "role": "user", "content": "I can't eat walnuts."},
		}}
		if got := c.call("remember", said)["results"].([]any); got[0].(object)["outcome"] != "created" {
			t.Errorf("remembered %v", got)
		}
		if got := c.call("remember", said)["results"].([]any); got[0].(object)["outcome"] != "unchanged" {
			t.Errorf("remembered again %v", got)
		}
		got := c.call("context", object{"message": "Can I eat the carrot cake with walnuts?"})
		text, cited := got["context"].(string), got["citations"].([]any)
		if !strings.Contains(text, "I can't eat walnuts.") || !strings.Contains(text, "autumn: The carrot cake has walnuts.") ||
			strings.Contains(text, "secret") || len(cited) != 2 || cited[1].(object)["id"] != "menus/autumn" {
			t.Errorf("context %v", got)
		}
		got = app.mcp(newest, "?endUserId=ben").call("context", object{"message": "walnuts"})
		if strings.Contains(got["context"].(string), "eat") {
			t.Errorf("another user's context %v", got)
		}
		if got := root.integration("stranger", nil).mcp(newest, "?endUserId=ann").call("context",
			object{"message": "walnuts"}); got["context"] != "" {
			t.Errorf("another integration's context %v", got)
		}
		id := cited[0].(object)["id"]
		if got := c.call("forget", object{"ids": []any{id}}); got["deleted"] != 1.0 || len(app.memories("ann")) != 0 {
			t.Errorf("forgotten %v", got)
		}
		if r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "search", Arguments: object{"query": "x"}}); err == nil {
			t.Errorf("a tool of namespaces answers %v", r)
		}
		personal.mcp(newest, "?endUserId=ben").refuses("context", object{"message": "x"}, "forbidden", "another end user")

		// The same over HTTP, whose answer says where a passage stands.
		r := app.post("/api/v1/context", object{"endUserId": "ann", "query": "carrot cake", "passages": 1}).ok()
		if p := r.list("passages"); len(p) != 1 || p[0]["documentId"] != "autumn" || p[0]["start"] != 0.0 || p[0]["end"] != 28.0 {
			t.Errorf("passages of %s", r.body)
		}
	})
}
