package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// The revisions of the protocol that the server speaks.
const (
	rev2026 = "2026-07-28"
	rev2511 = "2025-11-25"
	rev2506 = "2025-06-18"
	rev2503 = "2025-03-26"
)

// target is whom a client connects to: a URL, or a command that speaks on stdio.
type target struct {
	url     string
	key     string
	command []string
	env     []string // NAME=value
}

// client is an MCP client of any kind.
type client interface {
	// revision is the agreed one; "" when the client does not say.
	revision() string
	tools() ([]tool, error)
	call(name string, args object) (outcome, error)
}

type object = harness.Object

// tool is what tools/list says of one.
type tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  *struct {
		ReadOnly    bool  `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  bool  `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
}

// outcome is the answer of a tool.
type outcome struct {
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
	Content    []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// recode moves a value from one shape to another by way of JSON.
func recode[T any](v any) (out T, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	return out, err
}

// kind is a way to connect; it ends the test's connection by itself.
type kind struct {
	name    string
	connect func(t *testing.T, to target) (client, error)
	// most is how many bytes of arguments the client can be given; 0: any.
	most int
}

// goClient is the official client for Go.
func goClient(revision string) kind {
	return kind{name: "go/" + revision, connect: func(t *testing.T, to target) (client, error) {
		var transport sdk.Transport
		if to.url != "" {
			transport = &sdk.StreamableClientTransport{Endpoint: to.url, HTTPClient: httpClient(to.key), MaxRetries: -1}
		} else {
			cmd := exec.Command(to.command[0], to.command[1:]...)
			cmd.Env = append(os.Environ(), to.env...)
			cmd.Stderr = testLog{t}
			transport = &sdk.CommandTransport{Command: cmd}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		session, err := sdk.NewClient(&sdk.Implementation{Name: "mneme-test", Version: "1"}, nil).
			Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: revision})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() {
			if err := session.Close(); err != nil {
				t.Errorf("close the session: %v", err)
			}
		})
		return goSession{session}, nil
	}}
}

type goSession struct{ *sdk.ClientSession }

func (s goSession) revision() string { return s.InitializeResult().ProtocolVersion }

func (s goSession) tools() ([]tool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := s.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	return recode[[]tool](r.Tools)
}

func (s goSession) call(name string, args object) (outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := s.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return outcome{}, err
	}
	return recode[outcome](r)
}

// bearer adds a key to each request, as the clients' configuration does.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b != "" {
		r.Header.Set("Authorization", "Bearer "+string(b))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func httpClient(key string) *http.Client { return &http.Client{Transport: bearer(key)} }

// testLog passes on what a process says on stderr.
type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Logf("stderr: %s", strings.TrimSpace(string(b)))
	return len(b), nil
}

// typescript is the official SDK for TypeScript, in its version 1 or 2.
func typescript(version, revision string) kind {
	return kind{name: "typescript-" + version + "/" + revision, connect: func(t *testing.T, to target) (client, error) {
		return bridged(t, exec.Command(node(t), "bridge.mjs", clients(t)), to, object{"sdk": version, "revision": revision})
	}}
}

// python is the official SDK for Python in its version 1 or 2, which speaks the latest
// revision that has a handshake.
func python(version string) kind {
	return kind{name: "python-" + version + "/" + rev2511, connect: func(t *testing.T, to target) (client, error) {
		cmd := exec.Command(harness.Installed(t, "python3"), "bridge.py")
		cmd.Env = append(os.Environ(), pythonPath(t, version), "PYTHONDONTWRITEBYTECODE=1")
		return bridged(t, cmd, to, object{})
	}}
}

// pythonPath is the environment of a Python program with the SDK in version v1 or v2.
func pythonPath(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(clients(t), "python")
	if version == "v2" {
		path = filepath.Join(clients(t), "python-2") + string(filepath.ListSeparator) + path
	}
	return "PYTHONPATH=" + path
}

// bridged runs a client in a process that takes calls as lines.
func bridged(t *testing.T, cmd *exec.Cmd, to target, options object) (client, error) {
	cmd.Stderr = testLog{t}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() }) // Wait then says so
		defer kill.Stop()
		if err := in.Close(); err != nil {
			t.Errorf("close the bridge: %v", err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the bridge: %v", err)
		}
	})
	b := &bridge{in: in, out: bufio.NewReader(out)}
	options["url"], options["key"], options["command"] = to.url, to.key, to.command
	if to.command != nil {
		env := object{}
		for _, e := range append(os.Environ(), to.env...) {
			name, value, _ := strings.Cut(e, "=")
			env[name] = value
		}
		options["env"] = env
	}
	r, err := b.send(options)
	if err != nil {
		return nil, err
	}
	var hello struct{ Revision string }
	b.agreed = &hello.Revision
	return b, json.Unmarshal(r, &hello)
}

// bridge is a client that runs in bridge.mjs or bridge.py.
type bridge struct {
	in     io.Writer
	out    *bufio.Reader
	agreed *string
}

// clientError is what a client in another process reports.
type clientError struct {
	Name    string
	Code    any
	Message string
	Cause   string
}

func (e *clientError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%s %v: %s %s", e.Name, e.Code, e.Message, e.Cause))
}

func (b *bridge) send(v any) (json.RawMessage, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, err := b.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the bridge ended: %w", err)
	}
	var reply struct {
		Result json.RawMessage
		Error  *clientError
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return nil, err
	}
	if reply.Error != nil {
		return nil, reply.Error
	}
	return reply.Result, nil
}

func (b *bridge) revision() string { return *b.agreed }

func (b *bridge) tools() ([]tool, error) {
	r, err := b.send(object{"method": "tools/list"})
	if err != nil {
		return nil, err
	}
	var list struct{ Tools []tool }
	return list.Tools, json.Unmarshal(r, &list)
}

func (b *bridge) call(name string, args object) (outcome, error) {
	r, err := b.send(object{"method": "tools/call", "params": object{"name": name, "arguments": args}})
	if err != nil {
		return outcome{}, err
	}
	return recode[outcome](r)
}

// inspector is the official inspector on the command line: one process a call. Era
// is legacy (handshake) or modern (2026-07-28).
func inspector(era string) kind {
	// The operating system takes 128 KB in one argument.
	return kind{name: "inspector/" + era, most: 100 << 10, connect: func(t *testing.T, to target) (client, error) {
		return &inspection{t: t, era: era, to: to}, nil
	}}
}

type inspection struct {
	t   *testing.T
	era string
	to  target
}

func (*inspection) revision() string { return "" } // it does not say

// run calls a method; code is the inspector's exit code.
func (i *inspection) run(args ...string) (result json.RawMessage, code int, stderr string) {
	i.t.Helper()
	all := []string{"--cli", "--format", "json", "--quiet", "--protocol-era", i.era}
	if i.to.url != "" {
		all = append(all, i.to.url, "--transport", "http", "--stored-auth-only")
		if i.to.key != "" {
			all = append(all, "--header", "Authorization: Bearer "+i.to.key)
		}
	} else {
		for _, e := range append([]string{"MNEME_CACHE=" + os.Getenv("MNEME_CACHE")}, i.to.env...) { // it passes nothing else on
			all = append(all, "-e", e)
		}
		all = append(all, "--transport", "stdio")
	}
	all = append(all, args...)
	if i.to.command != nil {
		all = append(append(all, "--"), i.to.command...)
	}
	r := script(i.t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", all...)
	return json.RawMessage(r.Stdout), r.Code, r.Stderr
}

func (i *inspection) tools() ([]tool, error) {
	// Strict: schemas that some client could not read are an error.
	r, code, stderr := i.run("--method", "tools/list", "--strict")
	if code != 0 {
		return nil, fmt.Errorf("inspector exit code %d: %s%s", code, r, stderr)
	}
	var list struct{ Tools []tool }
	return list.Tools, i.decode(r, &list)
}

func (i *inspection) call(name string, args object) (outcome, error) {
	a, err := json.Marshal(args)
	if err != nil {
		return outcome{}, err
	}
	r, code, stderr := i.run("--method", "tools/call", "--tool-name", name, "--tool-args-json", string(a))
	var out outcome
	if err := i.decode(r, &out); err != nil {
		return out, fmt.Errorf("inspector exit code %d: %s%s: %w", code, r, stderr, err)
	}
	return out, nil
}

// decode reads the result, which stands alone or in an envelope.
func (i *inspection) decode(r json.RawMessage, out any) error {
	var envelope struct{ Result json.RawMessage }
	if err := json.Unmarshal(r, &envelope); err != nil {
		return err
	}
	if envelope.Result != nil {
		r = envelope.Result
	}
	return json.Unmarshal(r, out)
}
