package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/core/key"
	"github.com/mnemehq/mneme/transports/mcp"
)

var update = flag.Bool("update", false, "rewrite golden files")

func (c *mcpClient) list() []*sdk.Tool {
	c.t.Helper()
	r, err := c.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatalf("list tools: %v", err)
	}
	return r.Tools
}

func toolNames(list []*sdk.Tool) []string {
	var names []string
	for _, tool := range list {
		names = append(names, tool.Name)
	}
	return names
}

// arguments are the names that a tool's schema takes.
func arguments(t *testing.T, list []*sdk.Tool, tool string) []string {
	t.Helper()
	i := slices.IndexFunc(list, func(x *sdk.Tool) bool { return x.Name == tool })
	if i < 0 {
		t.Fatalf("there is no tool %s", tool)
	}
	properties, ok := list[i].InputSchema.(map[string]any)["properties"].(map[string]any)
	if !ok {
		t.Fatalf("%s: no properties in %v", tool, list[i].InputSchema)
	}
	var names []string
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// The tool list is part of the interface: what changes it shows here.
func TestMCPToolListIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	s := start(t, backends()[0], options{})
	r := s.post("/mcp", raw(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), "Mcp-Protocol-Version", "2025-11-25",
		"Accept", "application/json, text/event-stream").ok()
	var pretty bytes.Buffer
	var answer struct {
		Result struct{ Tools json.RawMessage }
	}
	if err := json.Unmarshal(r.body, &answer); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&pretty, answer.Result.Tools, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	golden := filepath.Join("testdata", "tools.json")
	if *update {
		if err := os.WriteFile(golden, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, pretty.Bytes()) {
		t.Errorf("the tool list changed; go test ./cmd/mneme/test/api -run %s -update writes %s:\n%s", t.Name(), golden,
			pretty.Bytes())
	}
	// Four bytes a token is a little more than the tokenizers o200k_base and
	// cl100k_base make of such JSON.
	if n := len(answer.Result.Tools) / 4; n > 1200 {
		t.Errorf("the tool list takes about %d tokens (%d bytes); a model should not spend more than 1200 on it", n,
			len(answer.Result.Tools))
	}
}

func TestMCPToolList(t *testing.T) {
	once(t, func(t *testing.T, b backend) {
		s := start(t, b, options{})
		all := []string{"delete", "fetch", "list_namespaces", "save", "search"}
		reading := []string{"fetch", "list_namespaces", "search"}
		reader := s.as(s.issue(key.Issue{Name: "reader", ReadOnly: true}))
		limited := s.as(s.issue(key.Issue{Name: "limited", Namespace: "notes"}))
		standard := s.as(s.issue(key.Issue{Name: "standard", DefaultNamespace: "notes"}))
		for name, c := range map[string]struct {
			s      *server
			query  string
			header []string
			tools  []string
			named  bool // the namespace is an argument
		}{
			"all rights":        {s: s, tools: all, named: true},
			"read-only":         {s: reader, tools: reading, named: true},
			"URL":               {s: s, query: "?namespace=notes", tools: all},
			"URL, read-only":    {s: reader, query: "?namespace=notes", tools: reading},
			"limited key":       {s: limited, tools: all},
			"header":            {s: s, header: []string{"X-Mneme-Namespace", "notes"}, tools: all, named: true},
			"default namespace": {s: standard, tools: all, named: true},
		} {
			for _, version := range mcp.Versions() {
				t.Run(name+" "+version, func(t *testing.T) {
					list := c.s.mcp(version, c.query, c.header...).list()
					if got := toolNames(list); !slices.Equal(got, c.tools) {
						t.Fatalf("tools %v, want %v", got, c.tools)
					}
					for _, tool := range c.tools {
						if tool != "search" && tool != "save" {
							continue
						}
						if got := slices.Contains(arguments(t, list, tool), "namespace"); got != c.named {
							t.Errorf("%s has the argument namespace: %t, want %t", tool, got, c.named)
						}
					}
					for _, tool := range list {
						a := tool.Annotations
						if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || *a.OpenWorldHint ||
							!a.IdempotentHint {
							t.Errorf("%s has annotations %+v", tool.Name, a)
							continue
						}
						if got, want := a.ReadOnlyHint, slices.Contains(reading, tool.Name); got != want {
							t.Errorf("%s is read-only: %t", tool.Name, got)
						}
						if got, want := *a.DestructiveHint, tool.Name == "delete"; got != want {
							t.Errorf("%s is destructive: %t", tool.Name, got)
						}
						if tool.OutputSchema == nil || tool.Title == "" || tool.Description == "" {
							t.Errorf("%s lacks a title, a description or an output schema", tool.Name)
						}
					}
				})
			}
		}
	})
}
