package cli_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// stdio connects a client to the command that it starts.
func stdio(t *testing.T, version string, env []string, args ...string) (*sdk.ClientSession, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(harness.Program(t), append([]string{"mcp", "--stdio"}, args...)...)
	cmd.Env = append(cmd.Environ(), env...)
	var log bytes.Buffer
	cmd.Stderr = &log
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatalf("connect: %v\n%s", err, log.String())
	}
	return session, &log
}

func callTool(t *testing.T, s *sdk.ClientSession, tool string, args, out any) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		t.Fatalf("%s: %s", tool, text)
	}
	if err := json.Unmarshal([]byte(text), out); err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
}

// What is stored through a folder that the command opens itself is found through
// the server that runs on it later, by each of the ways to reach it.
func TestMCPStdio(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	key := strings.TrimSpace(succeed(t, "keys", "create", "--data", data, "--read-only").Stdout)
	for _, version := range []string{"2025-06-18", "2026-07-28"} { // one process after another on one folder
		s, log := stdio(t, version, nil, "--data", data, "--namespace", "notes")
		var saved struct{ ID, Namespace string }
		callTool(t, s, "save", map[string]any{"text": "The heron — 鷺 — stands in the reeds.", "id": "heron"}, &saved)
		if saved.ID != "notes/heron" || saved.Namespace != "notes" {
			t.Errorf("saved %+v", saved)
		}
		var got struct{ Text, URL string }
		callTool(t, s, "fetch", map[string]any{"id": "heron"}, &got)
		if got.Text != "The heron — 鷺 — stands in the reeds." ||
			got.URL != "http://127.0.0.1:8080/namespaces/notes/documents/heron" {
			t.Errorf("fetched %+v", got)
		}
		if err := s.Close(); err != nil { // the end of its input ends the command
			t.Errorf("%s: the command ended with %v\n%s", version, err, log.String())
		}
	}
	server := start(t, "--data", data)
	for name, c := range map[string]struct {
		env   []string
		args  []string
		tools int
	}{
		"by the folder":      {nil, []string{"--data", data}, 5},
		"by URL":             {[]string{"MNEME_KEY=" + key}, []string{"--url", server.URL}, 3}, // a read-only key
		"by the environment": {[]string{"MNEME_URL=" + server.URL}, []string{"--key", key}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := stdio(t, "", c.env, c.args...)
			list, err := s.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != c.tools {
				t.Errorf("%d tools, want %d: %v", len(list.Tools), c.tools, err)
			}
			for _, tool := range list.Tools { // a call that its holder has not answered is repeated
				if !tool.Annotations.IdempotentHint {
					t.Errorf("a repeated call of %s changes more", tool.Name)
				}
			}
			var found struct{ Results []struct{ ID string } }
			callTool(t, s, "search", map[string]any{"query": "where is the heron"}, &found)
			if len(found.Results) != 1 || found.Results[0].ID != "notes/heron" {
				t.Errorf("found %+v", found)
			}
			if err := s.Close(); err != nil {
				t.Errorf("the command ended with %v\n%s", err, log.String())
			}
		})
	}
}

// What is piped into the command is answered to the end, and nothing but the
// protocol is written.
func TestMCPStdioPiped(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), harness.Program(t), "mcp", "--stdio", "--data", filepath.Join(t.TempDir(), "data"))
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize",` +
		`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

{"jsonrpc":"2.0","id":"two","method":"ping"}
no JSON at all
{"jsonrpc":"2.0","id":3,"method":"no/such/method"}`)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	answers := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var m struct {
			JSONRPC string
			ID      json.RawMessage
			Result  json.RawMessage
			Error   *struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
			t.Fatalf("not a message: %q", line)
		}
		what := "ok"
		if m.Error != nil {
			what = map[int]string{-32700: "parse error", -32601: "method not found"}[m.Error.Code]
		}
		answers[string(m.ID)] = what
	}
	want := map[string]string{"1": "ok", `"two"`: "ok", "null": "parse error", "3": "method not found"}
	for id, what := range want {
		if answers[id] != what {
			t.Errorf("message %s is answered %q, want %q", id, answers[id], what)
		}
	}
	if len(answers) != len(want) {
		t.Errorf("answers %v", answers)
	}
}

func TestMCPStdioRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"without --stdio": {[]string{"mcp"}, 2, "give --stdio"},
		"no namespace":    {[]string{"mcp", "--stdio", "--namespace", "A B"}, 2, "--namespace must be 1-64"},
		"no key":          {[]string{"mcp", "--stdio", "--url", "http://127.0.0.1:1"}, 2, "needs a key"},
		"no URL":          {[]string{"mcp", "--stdio", "--url", "nowhere", "--key", "k"}, 1, "not the URL of a server"},
	} {
		t.Run(name, func(t *testing.T) {
			if r := mneme(t, c.args...); r.Code != c.code || !strings.Contains(r.Stderr, c.says) || r.Stdout != "" {
				t.Errorf("exit code %d, %q, %q", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
}
