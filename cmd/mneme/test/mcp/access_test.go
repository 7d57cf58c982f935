package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// TestWrongKey: every client says that the key is wrong, and none gets further.
func TestWrongKey(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	s := newSite(t)
	s.serve()
	operator := s.Key("--type", "admin", "--name", "operator")
	for name, key := range map[string]string{"unknown": "sk-service-" + strings.Repeat("a", 43), "none": "",
		"of an operator": operator} {
		for _, k := range []kind{goClient(rev2026), goClient(rev2511), typescript("v2", rev2026),
			typescript("v1", rev2511), python("v1"), python("v2")} {
			t.Run(name+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				_, err := k.connect(t, target{url: s.mcp(), key: key})
				if err == nil {
					t.Fatal("a client with a wrong key is connected")
				}
				// Version 2 of the SDK for Python shows the server's own sentence instead of the status.
				text, sentence := strings.ToLower(err.Error()), strings.Contains(err.Error(), "not valid") ||
					strings.Contains(err.Error(), "an API key is required")
				if !strings.Contains(text, "unauthorized") && !strings.Contains(text, "401") &&
					!(strings.HasPrefix(k.name, "python-v2/") && sentence) {
					t.Errorf("the client says %q, which is not that the key is wrong", err)
				}
			})
		}
		t.Run(name+"/inspector", func(t *testing.T) {
			t.Parallel()
			i := &inspection{t: t, era: "legacy", to: target{url: s.mcp(), key: key}}
			out, code, stderr := i.run("--method", "tools/list")
			if code != 3 || !strings.Contains(string(out)+stderr, "auth_required") {
				t.Errorf("exit code %d, want 3 (auth_required): %s%s", code, out, stderr)
			}
		})
	}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		_, err := goClient(rev2511).connect(t,
			target{command: []string{harness.Program(t), "mcp", "--stdio", "--url", s.url},
				env: []string{"MNEME_KEY=sk-service-wrong"}})
		if err == nil {
			t.Error("the command serves with a wrong key")
		} else if !strings.Contains(err.Error(), "key is not valid") {
			t.Errorf("the command says %v, which is not that the key is wrong", err)
		}
	})
}

// TestReadOnlyKey: what a key may not do is not offered, and refused if it is
// called all the same.
func TestReadOnlyKey(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	s := newSite(t)
	key := s.Key("--name", "reader", "--read-only")
	s.serve()
	for name, to := range map[string]target{
		"http":  {url: s.mcp(), key: key},
		"stdio": {command: []string{harness.Program(t), "mcp", "--stdio", "--url", s.url}, env: []string{"MNEME_KEY=" + key}},
	} {
		for _, k := range []kind{goClient(rev2026), goClient(rev2511), typescript("v1", rev2511), inspector("legacy"),
			inspector("modern")} {
			t.Run(name+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				c, err := k.connect(t, to)
				if err != nil {
					t.Fatalf("connect: %v", err)
				}
				tools, err := c.tools()
				if err != nil {
					t.Fatalf("list the tools: %v", err)
				}
				checkTools(t, tools, "fetch", "list_namespaces", "search")
				r, err := c.call("save", object{"namespace": "a", "text": "b"})
				if err == nil && !r.IsError {
					t.Errorf("a read-only key saved a document: %s", brief(r))
				}
				if r, err := c.call("list_namespaces", object{}); err != nil || r.IsError {
					t.Errorf("list_namespaces with a read-only key: %v %s", err, brief(r))
				}
			})
		}
	}
}

// TestServerInfo: a client is told who answers, and how to use it.
func TestServerInfo(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	s := newSite(t)
	s.serve()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: s.mcp(), HTTPClient: httpClient(s.key)},
			&sdk.ClientSessionOptions{ProtocolVersion: rev2511})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := session.InitializeResult()
	if r.ServerInfo == nil || r.ServerInfo.Name != "mneme" || r.ServerInfo.Version == "" || r.Capabilities.Tools == nil {
		t.Errorf("the server introduces itself as %+v with %+v", r.ServerInfo, r.Capabilities)
	}
}
