package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/cmd/mneme/internal/clientconfig"
	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// inHome runs the program as a user with an empty home.
func inHome(t *testing.T, home string, args ...string) harness.Result {
	t.Helper()
	return mnemeIn(t, home, []string{"HOME=" + home, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "CODEX_HOME=", "MNEME_KEY=",
		"MNEME_URL=", "MNEME_DATA="}, args...)
}

// The entry that install makes starts a server whose tools work, and uninstall leaves the file
// as it was.
func TestMCPInstall(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, ".cursor", "mcp.json")
	original := "{\n  // mine\n  \"mcpServers\": {},\n}\n"
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(original), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"mcp", "install", "--client", "cursor", "--namespace", "notes"}
	if r := inHome(t, home, append(args, "--dry-run")...); r.Code != 0 || !strings.Contains(r.Stdout, "+    \"mneme\": {") ||
		!strings.HasPrefix(r.Stdout, "--- "+file) {
		t.Errorf("dry run: %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != original {
		t.Errorf("a dry run writes: %v\n%s", err, b)
	}
	if r := inHome(t, home, args...); r.Code != 0 || !strings.Contains(r.Stdout, "Cursor: it notices by itself") {
		t.Fatalf("install: %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if r := inHome(t, home, args...); r.Code != 0 || !strings.Contains(r.Stdout, "already, just so") {
		t.Errorf("install again: %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	b, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(b), "// mine") {
		t.Fatalf("%v\n%s", err, b)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	plain := regexp.MustCompile(`//.*|,(\s*})`).ReplaceAllString(string(b), "$1")
	if err := json.Unmarshal([]byte(plain), &config); err != nil {
		t.Fatalf("%v\n%s", err, plain)
	}
	entry := config.MCPServers["mneme"]
	data := filepath.Join(home, ".local", "share", "mneme")
	if got := strings.Join(entry.Args, " "); entry.Command != harness.Program(t) ||
		got != "mcp --stdio --data "+data+" --namespace notes" {
		t.Errorf("the entry starts %s %s", entry.Command, got)
	}
	s, log := stdio(t, "", nil, entry.Args[2:]...)
	var saved struct{ ID string }
	callTool(t, s, "save", map[string]any{"text": "The key is under the mat.", "id": "key"}, &saved)
	var found struct{ Results []struct{ ID string } }
	callTool(t, s, "search", map[string]any{"query": "where is the key"}, &found)
	if saved.ID != "notes/key" || len(found.Results) != 1 || found.Results[0].ID != "notes/key" {
		t.Errorf("saved %+v, found %+v", saved, found)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the command ended with %v\n%s", err, log.String())
	}
	if r := inHome(t, home, "mcp", "uninstall", "--client", "cursor"); r.Code != 0 {
		t.Errorf("uninstall: %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != original {
		t.Errorf("after uninstall: %v\n%s", err, b)
	}
}

func TestMCPInstallRefusals(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	note := filepath.Join(home, "note")
	if err := os.WriteFile(note, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no client":       {[]string{"install"}, 2, "give --client: claude-desktop, claude-code"},
		"unknown client":  {[]string{"install", "--client", "emacs"}, 2, "--client emacs is not known"},
		"no such name":    {[]string{"install", "--client", "zed", "--name", "A B"}, 2, "--name must be 1-64"},
		"file and more":   {[]string{"install", "--client", "zed", "--file", "x", "--project", "y"}, 2, "do not go together"},
		"no project":      {[]string{"install", "--client", "lmstudio", "--project", home}, 2, "no configuration of projects"},
		"a file followed": {[]string{"install", "--client", "zed", "--namespace", "n", "--follow", note}, 2, "is a file"},
		"follow where":    {[]string{"install", "--client", "zed", "--follow", home}, 2, "--follow needs --namespace"},
		"url and data":    {[]string{"install", "--client", "zed", "--url", "http://h", "--data", "d"}, 2, "do not go together"},
		"a key for data":  {[]string{"install", "--client", "zed", "--key-file", note}, 2, "--key-file goes with --url"},
		"no place":        {[]string{"install", "--client", "claude-desktop", "--url", "http://h"}, 2, "give --key-file"},
		"no key":          {[]string{"install", "--client", "zed", "--url", "http://h", "--key-file", "none"}, 1, "read the key"},
		"broken":          {[]string{"install", "--client", "zed", "--file", note}, 1, "it is no valid JSON"},
		"no link":         {[]string{"install", "--link", "zed"}, 2, "only cursor, vscode"},
		"not there":       {[]string{"uninstall", "--client", "zed"}, 1, "no server called mneme"},
	} {
		t.Run(name, func(t *testing.T) {
			r := inHome(t, home, append([]string{"mcp"}, c.args...)...)
			if r.Code != c.code || !strings.Contains(r.Stderr, c.says) || r.Stdout != "" {
				t.Errorf("exit code %d, %q, %q", r.Code, r.Stdout, r.Stderr)
			}
		})
	}
	if b, err := os.ReadFile(note); err != nil || string(b) != "{" {
		t.Errorf("the broken file is %q, %v", b, err)
	}
	if files, err := os.ReadDir(home); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// For every client, where it itself looks: what it could not read stays as it is.
func TestMCPInstallIntoBrokenConfigurations(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, c := range clientconfig.Clients() {
		file := c.File(clientconfig.System{OS: runtime.GOOS, Home: home, Getenv: func(string) string { return "" }})
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		const broken = "{\n  \"theme\": \"dark\"\n  \"servers\": {}\n}\n"
		if err := os.WriteFile(file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		r := inHome(t, home, "mcp", "install", "--client", c.Name, "--force")
		if r.Code != 1 || !strings.Contains(r.Stderr, file+" can't be changed: it is no valid ") ||
			!strings.Contains(r.Stderr, "Mend the file") || r.Stdout != "" {
			t.Errorf("%s: exit code %d, %q, %q", c.Name, r.Code, r.Stdout, r.Stderr)
		}
		if b, err := os.ReadFile(file); err != nil || string(b) != broken {
			t.Errorf("%s: the file is %q, %v", c.Name, b, err)
		}
		if beside, err := os.ReadDir(filepath.Dir(file)); err != nil || len(beside) != 1 && c.Name != "claude-code" {
			t.Errorf("%s: beside it lie %v, %v", c.Name, beside, err)
		}
	}
}

// The buttons of the page lead to what the command prints.
func TestMCPLinks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"cursor", "vscode"} {
		links := strings.Fields(succeed(t, "mcp", "install", "--link", client).Stdout)
		if len(links) != 2 || !strings.Contains(string(page), "]("+links[1]+")") {
			t.Errorf("docs/mcp.md has no button that leads to %v", links)
		}
	}
	if r := succeed(t, "mcp", "clients"); !strings.Contains(r.Stdout, "claude-desktop  ") {
		t.Errorf("the clients:\n%s", r.Stdout)
	}
}

// Folders that a process follows are in its namespace, and what goes from them goes from there.
func TestMCPFollow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "notes")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.md", "The heron stands in the reeds.")
	write("b.md", "The otter swims at night.")
	s, log := stdio(t, "", nil, "--data", filepath.Join(dir, "data"), "--namespace", "n", "--follow", folder, "--follow", "",
		"--follow", "${user_config.folder}")
	ids := func() string {
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "search",
			Arguments: map[string]any{"query": "which animal", "rerank": false}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*sdk.TextContent).Text // before the first import there is no namespace
	}
	harness.EventuallySees(t, "what was there is followed", func() (bool, string) {
		got := ids()
		return strings.Contains(got, "n/a.md") && strings.Contains(got, "n/b.md"), got
	})
	if err := os.Remove(filepath.Join(folder, "a.md")); err != nil {
		t.Fatal(err)
	}
	write("c.md", "The owl sits on the barn.")
	harness.EventuallySees(t, "what changes is followed", func() (bool, string) {
		got := ids()
		return !strings.Contains(got, "n/a.md") && strings.Contains(got, "n/c.md"), got
	})
	if err := s.Close(); err != nil {
		t.Errorf("the command ended with %v\n%s", err, log.String())
	}
}
