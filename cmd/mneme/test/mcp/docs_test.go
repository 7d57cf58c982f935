package mcp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var codeBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// TestSnippets: every piece of configuration and code on the pages parses, reaches
// for the endpoint, and gives the stdio command flags that it has.
func TestSnippets(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	help := execute(t, harness.Program(t), "mcp", "--help").Stdout
	for page, least := range map[string]int{"docs/mcp.md": 20, "docs/rest.md": 1} {
		content := harness.Page(t, page)
		blocks := codeBlock.FindAllStringSubmatchIndex(content, -1)
		if len(blocks) < least {
			t.Errorf("%s has %d pieces of code, want at least %d", page, len(blocks), least)
		}
		for _, b := range blocks {
			language, code := content[b[2]:b[3]], content[b[4]:b[5]]
			line := 1 + strings.Count(content[:b[0]], "\n")
			t.Run(fmt.Sprintf("%s:%d_%s", page, line, language), func(t *testing.T) {
				var config any
				var err error
				switch language {
				case "json":
					err = json.Unmarshal([]byte(code), &config)
				case "toml":
					err = toml.Unmarshal([]byte(code), &config)
				case "yaml":
					err = yaml.Unmarshal([]byte(code), &config)
				default:
					err = checkSyntax(t, language, code)
				}
				if err != nil {
					t.Fatal(err)
				}
				if page == "docs/mcp.md" {
					checkServers(t, config, help)
				}
			})
		}
	}
}

// TestExamples: the programs of the page, as they stand but for the address, get an answer
// with the version of the SDK that the text before each one names.
func TestExamples(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	s := newSite(t)
	server := s.serve()
	server.Client(t, s.key).OK("POST", "/namespaces/notes/documents", object{"documents": []object{
		{"id": "lease", "text": "The lease ends in May 2027."}}})
	env := append(os.Environ(), "MNEME_KEY="+s.key, "PYTHONDONTWRITEBYTECODE=1")
	ran := 0
	for _, b := range codeBlock.FindAllStringSubmatch(harness.Page(t, "docs/mcp.md"), -1) {
		var cmd *exec.Cmd
		file := filepath.Join(t.TempDir(), "example.mjs")
		switch code := b[2]; {
		case strings.Contains(code, "streamable_http_client"):
			cmd = exec.Command(harness.Installed(t, "python3"), file)
			cmd.Env = append(env, pythonPath(t, "v2"))
		case strings.Contains(code, "streamablehttp_client"):
			cmd = exec.Command(harness.Installed(t, "python3"), file)
			cmd.Env = append(env, pythonPath(t, "v1"))
		case b[1] == "js":
			cmd = exec.Command(node(t), file)
			cmd.Env = env
			modules := filepath.Join(filepath.Dir(file), "node_modules") // Node.js looks beside the program
			if err := os.Symlink(filepath.Join(clients(t), "node_modules"), modules); err != nil {
				t.Fatal(err)
			}
		default:
			continue
		}
		ran++
		code := strings.ReplaceAll(b[2], "http://127.0.0.1:8080", s.url)
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := harness.Run(t, cmd); r.Code != 0 || !strings.Contains(r.Stdout, "The lease ends in May 2027.") {
			t.Errorf("exit code %d: %s%s\n%s", r.Code, r.Stdout, r.Stderr, code)
		}
	}
	if ran != 4 {
		t.Errorf("%d examples ran, want two in Python and two in JavaScript", ran)
	}
}

// checkSyntax hands a program to what would run it, unrun.
func checkSyntax(t *testing.T, language, code string) error {
	t.Helper()
	check, ok := map[string]struct {
		file    string
		command []string
	}{
		"sh":     {"x.sh", []string{"bash", "-n"}},
		"python": {"x.py", []string{"python3", "-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"}},
		"js":     {"x.mjs", []string{"node", "--check"}},
		"go":     {"x.go", []string{"go", "vet"}},
	}[language]
	if !ok {
		return fmt.Errorf("a piece of %s, which nothing checks", language)
	}
	if check.command[0] == "node" {
		check.command[0] = node(t)
	} else if _, err := exec.LookPath(check.command[0]); err != nil {
		harness.Missing(t, "no %s: %v", check.command[0], err)
	}
	path := filepath.Join(t.TempDir(), check.file)
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(check.command[0], append(check.command[1:], path)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// checkServers walks a configuration and checks each server in it.
func checkServers(t *testing.T, v any, help string) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"url", "httpUrl", "serverUrl", "server_url", "uri"} {
			if url, ok := v[name].(string); ok && !strings.HasSuffix(url, "/mcp") {
				t.Errorf("%s %q is not the endpoint", name, url)
			}
		}
		if command, ok := v["command"]; ok {
			args, _ := v["args"].([]any)
			if command != "mneme" || len(args) < 2 || args[0] != "mcp" || args[1] != "--stdio" {
				t.Errorf("command %v %v, want mneme mcp --stdio", command, args)
			}
			for _, a := range args {
				if flag, _ := a.(string); strings.HasPrefix(flag, "--") && !strings.Contains(help, flag+" ") {
					t.Errorf("mneme mcp has no flag %s", flag)
				}
			}
		}
		for _, child := range v {
			checkServers(t, child, help)
		}
	case []any:
		for _, child := range v {
			checkServers(t, child, help)
		}
	}
}
