package clientconfig_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/mnemehq/mneme/cmd/mneme/internal/clientconfig"
)

func client(t *testing.T, name string) clientconfig.Client {
	t.Helper()
	c, ok := clientconfig.Find(name)
	if !ok {
		t.Fatalf("no client %s", name)
	}
	return c
}

var (
	local  = clientconfig.Server{Command: "/opt/mneme", Args: []string{"mcp", "--stdio", "--data", "/d"}}
	remote = clientconfig.Server{Command: "/opt/mneme", Args: []string{"mcp", "--stdio", "--url", "https://m.example"},
		Secret: "MNEME_KEY"}
)

// The entries are as each client documents them.
func TestFormats(t *testing.T) {
	args := `"args": ["mcp", "--stdio", "--data", "/d"]`
	there := `"args": ["mcp", "--stdio", "--url", "https://m.example"]`
	for name, want := range map[string]struct{ local, remote string }{
		"claude-desktop": {`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`, ""},
		"claude-code": {`{"mcpServers": {"mneme": {"type": "stdio", "command": "/opt/mneme", ` + args + `}}}`,
			`{"mcpServers": {"mneme": {"type": "stdio", "command": "/opt/mneme", ` + there + `,
			"env": {"MNEME_KEY": "${MNEME_KEY}"}}}}`},
		"cursor": {`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`,
			`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + there + `, "env": {"MNEME_KEY": "${env:MNEME_KEY}"}}}}`},
		"vscode": {`{"servers": {"mneme": {"type": "stdio", "command": "/opt/mneme", ` + args + `}}}`,
			`{"servers": {"mneme": {"type": "stdio", "command": "/opt/mneme", ` + there + `,
			"env": {"MNEME_KEY": "${input:mneme-key}"}}},
			"inputs": [{"type": "promptString", "id": "mneme-key", "description": "API key of Mneme", "password": true}]}`},
		"windsurf": {`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`,
			`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + there + `, "env": {"MNEME_KEY": "${env:MNEME_KEY}"}}}}`},
		"gemini": {`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`,
			`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + there + `, "env": {"MNEME_KEY": "$MNEME_KEY"}}}}`},
		"zed":      {`{"context_servers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`, ""},
		"lmstudio": {`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`, ""},
		"cline":    {`{"mcpServers": {"mneme": {"command": "/opt/mneme", ` + args + `}}}`, ""},
	} {
		c := client(t, name)
		for _, way := range []struct {
			s    clientconfig.Server
			want string
		}{{local, want.local}, {remote, want.remote}} {
			if way.want == "" {
				if c.KeepsSecrets() {
					t.Errorf("%s has a place for keys", name)
				}
				continue
			}
			got, err := c.Add(nil, "mneme", way.s, false)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var a, b any
			if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(way.want), &b) != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s\n%s\nwant %s", name, got, way.want)
			}
		}
	}
	got, err := client(t, "codex").Add(nil, "mneme", remote, false)
	want := "[mcp_servers.mneme]\nargs = [\"mcp\", \"--stdio\", \"--url\", \"https://m.example\"]\ncommand = \"/opt/mneme\"\n" +
		"env_vars = [\"MNEME_KEY\"]\n"
	if err != nil || string(got) != want {
		t.Errorf("codex: %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestFiles(t *testing.T) {
	env := func(vars map[string]string) func(string) string { return func(n string) string { return vars[n] } }
	linux := clientconfig.System{OS: "linux", Home: "/h", Getenv: env(nil)}
	moved := clientconfig.System{OS: "linux", Home: "/h",
		Getenv: env(map[string]string{"XDG_CONFIG_HOME": "/x", "CODEX_HOME": "/c"})}
	mac := clientconfig.System{OS: "darwin", Home: "/h", Getenv: env(nil)}
	windows := clientconfig.System{OS: "windows", Home: "/h", Getenv: env(map[string]string{"APPDATA": "/roaming"})}
	bare := clientconfig.System{OS: "windows", Home: "/h", Getenv: env(nil)}
	for _, c := range []struct {
		client string
		on     clientconfig.System
		want   string
	}{
		{"claude-desktop", linux, "/h/.config/Claude/claude_desktop_config.json"},
		{"claude-desktop", moved, "/x/Claude/claude_desktop_config.json"},
		{"claude-desktop", mac, "/h/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", windows, "/roaming/Claude/claude_desktop_config.json"},
		{"claude-desktop", bare, "/h/AppData/Roaming/Claude/claude_desktop_config.json"},
		{"claude-code", mac, "/h/.claude.json"},
		{"cursor", windows, "/h/.cursor/mcp.json"},
		{"vscode", linux, "/h/.config/Code/User/mcp.json"},
		{"vscode", mac, "/h/Library/Application Support/Code/User/mcp.json"},
		{"vscode", windows, "/roaming/Code/User/mcp.json"},
		{"vscode-insiders", linux, "/h/.config/Code - Insiders/User/mcp.json"},
		{"windsurf", linux, "/h/.codeium/windsurf/mcp_config.json"},
		{"codex", linux, "/h/.codex/config.toml"},
		{"codex", moved, "/c/config.toml"},
		{"gemini", linux, "/h/.gemini/settings.json"},
		{"zed", linux, "/h/.config/zed/settings.json"},
		{"zed", mac, "/h/.config/zed/settings.json"},
		{"zed", windows, "/roaming/Zed/settings.json"},
		{"lmstudio", mac, "/h/.lmstudio/mcp.json"},
		{"cline", linux, "/h/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
	} {
		if got := filepath.ToSlash(client(t, c.client).File(c.on)); got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.client, c.on.OS, got, c.want)
		}
	}
	for name, want := range map[string]string{"cursor": "/p/.cursor/mcp.json", "claude-desktop": "",
		"codex": "/p/.codex/config.toml"} {
		if got := filepath.ToSlash(client(t, name).ProjectFile("/p")); got != want {
			t.Errorf("%s in a project: %s, want %s", name, got, want)
		}
	}
	if _, ok := clientconfig.Find("nobody"); ok || len(clientconfig.Names()) != 11 {
		t.Errorf("%v are known", clientconfig.Names())
	}
}

const entered = `{"command": "/opt/mneme","args": ["mcp","--stdio","--data","/d"]}`

// compact takes the entry's own spacing away, so that the rest can be compared byte by byte.
func compact(s string) string {
	from := strings.Index(s, `"mneme": {`)
	if from < 0 {
		return s
	}
	from += len(`"mneme": `)
	end := from + strings.IndexByte(s[from:], '}') + 1
	text := strings.NewReplacer("\n", "", "\r", "", "\t", "", "  ", "").Replace(s[from:end])
	return s[:from] + strings.ReplaceAll(text, `" `, `"`) + s[end:]
}

// Everything but the entry stays as it is, and taking the entry out gives the file back where
// that is possible without a copy.
func TestTheRestStays(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"nothing":        {"", "{\n  \"mcpServers\": {\n    \"mneme\": " + entered + "\n  }\n}\n"},
		"an empty file":  {" \n", "{\n  \"mcpServers\": {\n    \"mneme\": " + entered + "\n  }\n}\n"},
		"an empty table": {"{\"mcpServers\": {}}", "{\"mcpServers\": {\n    \"mneme\": " + entered + "\n  }}"},
		"on one line":    {`{"a": 1}`, "{\"a\": 1,\n  \"mcpServers\": {\n    \"mneme\": " + entered + "\n  }\n}"},
		"comments": {"// top\n{\n\t/* a */ \"a\": [1, 2,], // after a\n" +
			"\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"} // its comment\n\t\t// last\n\t}\n}\n// end",
			"// top\n{\n\t/* a */ \"a\": [1, 2,], // after a\n" +
				"\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}, // its comment\n\t\t// last\n" +
				"\t\t\"mneme\": " + entered + "\n\t}\n}\n// end"},
		"a trailing comma": {"{\n    \"mcpServers\": {\n        \"other\": {},\n    },\n}\n",
			"{\n    \"mcpServers\": {\n        \"other\": {},\n        \"mneme\": " + entered + ",\n    },\n}\n"},
		"Windows": {"\ufeff{\r\n  \"a\": 1\r\n}\r\n",
			"\ufeff{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n    \"mneme\": " + entered + "\r\n  }\r\n}\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cursor := client(t, "cursor")
			got, err := cursor.Add([]byte(c.before), "mneme", local, false)
			if err != nil {
				t.Fatal(err)
			}
			if compact(string(got)) != c.after {
				t.Errorf("got\n%s\nwant\n%s", compact(string(got)), c.after)
			}
			if again, err := cursor.Add(got, "mneme", local, false); err != nil || string(again) != string(got) {
				t.Errorf("entered again: %v\n%s", err, again)
			}
			other := local
			other.Args = []string{"mcp"}
			if _, err := cursor.Add(got, "mneme", other, false); !errors.Is(err, clientconfig.ErrTaken) {
				t.Errorf("another server of this name: %v", err)
			}
			replaced, err := cursor.Add(got, "mneme", other, true)
			if err != nil || !strings.Contains(string(replaced), `"mcp"`) || strings.Contains(string(replaced), "--stdio") {
				t.Errorf("replaced: %v\n%s", err, replaced)
			}
			out, found, err := cursor.Remove(got, "mneme")
			if err != nil || !found || strings.Contains(string(out), "mneme\"") {
				t.Errorf("taken out: %v, %v\n%s", found, err, out)
			}
			if strings.Contains(c.before, "other") && string(out) != c.before { // it had the list of servers before
				t.Errorf("taken out, it is\n%s\nwant\n%s", out, c.before)
			}
			if out, found, err := cursor.Remove(out, "mneme"); err != nil || found || strings.Contains(string(out), "mneme\"") {
				t.Errorf("taken out twice: %v, %v", found, err)
			}
			if strings.Contains(c.before, "its comment") && (!strings.Contains(string(out), "// its comment") ||
				!strings.Contains(string(out), "// last")) {
				t.Errorf("comments went with the entry:\n%s", out)
			}
		})
	}
}

// Wherever an entry stands among others, it goes with its line and its comma, and with nothing else.
func TestOneAmongOthers(t *testing.T) {
	const (
		servers = `{"mcpServers": %s}`
		inputs  = `{"servers": {%s}, "inputs": %s}`
		ask     = `{"id": "mneme-key"}`
	)
	for name, c := range map[string]struct{ client, before, after string }{
		"alone":              {"cursor", `{"mneme": {}}`, `{}`},
		"first on a line":    {"cursor", `{"mneme": {}, "b": {}}`, `{ "b": {}}`},
		"last on a line":     {"cursor", `{"a": {}, "mneme": {}}`, `{"a": {} }`},
		"in the middle":      {"cursor", `{"a": {}, "mneme": {} , "b": {}}`, `{"a": {},   "b": {}}`},
		"last with a comma":  {"cursor", `{"a": {}, "mneme": {},}`, `{"a": {}, }`},
		"first of its lines": {"cursor", "{\n\t\"mneme\": {},\n\t\"b\": {}\n}", "{\n\t\"b\": {}\n}"},
		"middle of its lines": {"cursor", "{\n \"a\": 1,\n \"mneme\": {},\n \"b\": {}\n}",
			"{\n \"a\": 1,\n \"b\": {}\n}"},
		"last of its lines": {"cursor", "{\r\n \"a\": 1,\r\n \"mneme\": {}\r\n}", "{\r\n \"a\": 1\r\n}"},
		"behind a comment": {"cursor", "{/* m */\"mneme\": {}, // n\n\"b\": 1}",
			"{/* m */ // n\n\"b\": 1}"},
		"a secret first":       {"vscode", `[` + ask + `, {"id": "b"}]`, `[ {"id": "b"}]`},
		"a secret last":        {"vscode", `[1, ` + ask + `]`, `[1 ]`},
		"a secret with commas": {"vscode", `[1, ` + ask + `,]`, `[1, ]`},
		"secrets of others":    {"vscode", `["mneme-key"]`, `["mneme-key"]`},
		"no list of secrets":   {"vscode", ask, ask},
		"a table first":        {"codex", "[mcp_servers.mneme]\na = 1\n[b]\nc = 1\n", "[b]\nc = 1\n"},
		"a table between":      {"codex", "[a]\n\n[mcp_servers.mneme]\na = 1\n\n[[b]]\n[[b]]\n", "[a]\n\n[[b]]\n[[b]]\n"},
		"a table of its own": {"codex", "[mcp_servers]\n[mcp_servers.mneme]\n[mcp_servers.mneme.env]\nA = 'b'\n",
			"[mcp_servers]\n"},
		"a table last": {"codex", "[a]\r\nb = 1\r\n\r\n[mcp_servers.mneme]\r\na = 1", "[a]\r\nb = 1\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := c.before, c.after
			switch c.client {
			case "cursor":
				before, after = fmt.Sprintf(servers, before), fmt.Sprintf(servers, after)
			case "vscode":
				before, after = fmt.Sprintf(inputs, `"mneme": {}`, before), fmt.Sprintf(inputs, "", after)
			}
			out, found, err := client(t, c.client).Remove([]byte(before), "mneme")
			if err != nil || !found || string(out) != after {
				t.Errorf("%v, %v\n%q\nwant\n%q", found, err, out, after)
			}
		})
	}
}

func TestInputs(t *testing.T) {
	vscode := client(t, "vscode")
	before := "{\n  \"inputs\": [\n    // of another\n    {\"type\": \"promptString\", \"id\": \"other\"}\n" +
		"  ],\n  \"servers\": {}\n}\n"
	got, err := vscode.Add([]byte(before), "mneme", remote, false)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := vscode.Add(got, "mneme", remote, true); err != nil || string(again) != string(got) {
		t.Errorf("entered again: %v\n%s", err, again)
	}
	for _, want := range []string{"// of another", `"id": "other"},`, `"id": "mneme-key"`, `"${input:mneme-key}"`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	out, found, err := vscode.Remove(got, "mneme")
	if err != nil || !found || strings.Contains(string(out), "mneme") || !strings.Contains(string(out), `"id": "other"`) {
		t.Errorf("taken out: %v, %v\n%s", found, err, out)
	}
}

func TestTOML(t *testing.T) {
	codex := client(t, "codex")
	table := "[mcp_servers.mneme]\nargs = [\"mcp\", \"--stdio\", \"--data\", \"/d\"]\ncommand = \"/opt/mneme\"\n"
	for name, c := range map[string]struct{ before, after, back string }{
		"nothing":    {"", table, ""},
		"a file":     {"# mine\nmodel = \"x\" # why\n", "# mine\nmodel = \"x\" # why\n\n" + table, ""},
		"no newline": {"a = 1", "a = 1\n\n" + table, "a = 1\n"},
		"Windows":    {"a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n"), ""},
		"others": {"[mcp_servers.\"other one\"]\ncommand = \"\"\"\n[mcp_servers.x]\n\"\"\"\n",
			"[mcp_servers.\"other one\"]\ncommand = \"\"\"\n[mcp_servers.x]\n\"\"\"\n\n" + table, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := codex.Add([]byte(c.before), "mneme", local, false)
			if err != nil || string(got) != c.after {
				t.Fatalf("%v\n%q\nwant\n%q", err, got, c.after)
			}
			if again, err := codex.Add(got, "mneme", local, false); err != nil || string(again) != string(got) {
				t.Errorf("entered again: %v\n%s", err, again)
			}
			if _, err := codex.Add(got, "mneme", remote, false); !errors.Is(err, clientconfig.ErrTaken) {
				t.Errorf("another server of this name: %v", err)
			}
			replaced, err := codex.Add(got, "mneme", remote, true)
			if err != nil || !strings.Contains(string(replaced), "m.example") {
				t.Errorf("replaced: %v\n%s", err, replaced)
			}
			back := c.back
			if back == "" {
				back = c.before
			}
			if out, found, err := codex.Remove(got, "mneme"); err != nil || !found || string(out) != back {
				t.Errorf("taken out: %v, %v\n%q\nwant %q", found, err, out, back)
			}
			if _, found, err := codex.Remove([]byte(c.before), "mneme"); found || err != nil {
				t.Errorf("taken out of a file without it: %v, %v", found, err)
			}
		})
	}
	// In the middle, with a table below it.
	middle := "[mcp_servers.mneme]\ncommand = \"x\"\n\n[mcp_servers.mneme.env]\nA = \"b\"\n\n[mcp_servers.z]\ncommand = \"z\"\n"
	out, found, err := codex.Remove([]byte(middle), "mneme")
	var left map[string]any
	if _, bad := toml.Decode(string(out), &left); err != nil || !found || bad != nil || strings.Contains(string(out), "mneme") ||
		!strings.Contains(string(out), "command = \"z\"\n") {
		t.Errorf("%v, %v\n%s", found, err, out)
	}
	for name, before := range map[string]string{"inline": "mcp_servers = {a = {command = \"x\"}}\n", "broken": "a = \n"} {
		if out, err := codex.Add([]byte(before), "mneme", local, false); err == nil {
			t.Errorf("%s becomes\n%s", name, out)
		}
	}
	if _, _, err := codex.Remove([]byte("[mcp_servers]\nmneme = {command = \"x\"}\n"), "mneme"); err == nil {
		t.Error("an inline table was taken out by lines")
	}
	if _, _, err := codex.Remove([]byte("= x"), "mneme"); err == nil {
		t.Error("something was taken out of a broken file")
	}
}

func TestBroken(t *testing.T) {
	for before, want := range map[string]string{
		`{"mcpServers": `:                      "no valid JSON",
		`{"mcpServers": {}, "mcpServers": {}}`: "\"mcpServers\" twice",
		`{"mcpServers": {"a": {}, "a": {}}}`:   "\"a\" twice",
		`[1]`:                                  "no object",
		`{"mcpServers": [1]}`:                  "its mcpServers is no object",
		`{"servers": {}, "inputs": {}}`:        "its inputs are no array",
	} {
		c, s := client(t, "cursor"), local
		if strings.Contains(before, "inputs") {
			c, s = client(t, "vscode"), remote
		}
		if out, err := c.Add([]byte(before), "mneme", s, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v\n%s", before, err, out)
		}
	}
	if _, _, err := client(t, "cursor").Remove([]byte("{"), "mneme"); err == nil {
		t.Error("something was taken out of a broken file")
	}
}

func installation(t *testing.T, dir, file string) clientconfig.Installation {
	t.Helper()
	return clientconfig.Installation{Client: client(t, "cursor"), File: filepath.Join(dir, file), Name: "mneme",
		State: filepath.Join(dir, "state")}
}

// applying makes changes.
func applying(t *testing.T) func(*clientconfig.Change, error) *clientconfig.Change {
	return func(c *clientconfig.Change, err error) *clientconfig.Change {
		t.Helper()
		if err == nil {
			err = c.Apply()
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestInstallAndUninstall(t *testing.T) {
	dir, apply := t.TempDir(), applying(t)
	original := "{ \"mcpServers\" : {\"a\":{} }  ,\n\n }" // as nobody would write it again
	i := installation(t, dir, "mcp.json")
	if err := os.WriteFile(i.File, []byte(original), 0o640); err != nil {
		t.Fatal(err)
	}
	c, err := i.Install(local, false)
	if err != nil || content(t, i.File) != original || !strings.HasPrefix(c.Diff(), "--- "+i.File) ||
		!strings.Contains(c.Diff(), "+ ") {
		t.Fatalf("a change that is not made yet: %v\n%s", err, c.Diff())
	}
	apply(c, nil)
	if content(t, c.Copy) != original {
		t.Error("the copy is not what was there")
	}
	if info, err := os.Stat(i.File); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if again, err := i.Install(local, false); err != nil || !again.None() || again.Apply() != nil {
		t.Errorf("entered again: %v", err)
	}
	changed := local
	changed.Args = append(changed.Args, "--namespace", "n")
	if apply(i.Install(changed, false)); !strings.Contains(content(t, i.File), "--namespace") {
		t.Error("our own entry is not replaced")
	}
	if apply(i.Uninstall()); content(t, i.File) != original {
		t.Errorf("what is left:\n%s", content(t, i.File))
	}
	if left, err := os.ReadDir(i.State); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := i.Uninstall(); err == nil || !strings.Contains(err.Error(), "no server called mneme") {
		t.Errorf("taken out twice: %v", err)
	}

	// Others changed it in between: the entry alone goes.
	apply(i.Install(local, false))
	if err := os.WriteFile(i.File, []byte(strings.Replace(content(t, i.File), `"a":{}`, `"a":{},"b":{}`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if apply(i.Uninstall()); !strings.Contains(content(t, i.File), `"b":{}`) || strings.Contains(content(t, i.File), "mneme\"") {
		t.Errorf("what is left:\n%s", content(t, i.File))
	}

	// A file that the installation made goes with it.
	i = installation(t, dir, "new/folder/mcp.json")
	if c := apply(i.Install(local, false)); c.Copy != "" {
		t.Errorf("a copy of nothing: %s", c.Copy)
	}
	apply(i.Uninstall())
	if _, err := os.Stat(i.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

func TestLinksAndStrangers(t *testing.T) {
	dir, apply := t.TempDir(), applying(t)
	target := filepath.Join(dir, "dotfiles.json")
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	i := installation(t, dir, "mcp.json")
	if err := os.Symlink(target, i.File); err != nil {
		t.Fatal(err)
	}
	apply(i.Install(local, false))
	info, err := os.Lstat(i.File)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(content(t, target), "mneme") {
		t.Errorf("the link was replaced: %v, %v", info.Mode(), err)
	}
	stranger := installation(t, t.TempDir(), "mcp.json")
	if err := os.WriteFile(stranger.File, []byte(`{"mcpServers": {"mneme": {"command": "mine"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Install(local, false); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("an entry that is not ours: %v", err)
	}
	apply(stranger.Install(local, true))
	if strings.Contains(content(t, stranger.File), "mine") {
		t.Error("not replaced")
	}
}

// What can't be written stays as it is, and the error says what to do.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		make func(file string) error
		says string
	}{
		"no JSON":   {func(f string) error { return os.WriteFile(f, []byte("{"), 0o600) }, "Mend the file"},
		"read-only": {func(f string) error { return os.WriteFile(f, []byte("{}"), 0o400) }, "is read-only"},
		"a folder":  {func(f string) error { return os.Mkdir(f, 0o700) }, "is a folder"},
	} {
		i := installation(t, dir, name)
		if err := c.make(i.File); err != nil {
			t.Fatal(err)
		}
		if _, err := i.Install(local, true); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	i := installation(t, dir, "no JSON/below/mcp.json")
	if c, err := i.Install(local, false); err == nil {
		err = c.Apply()
		if err == nil || !strings.Contains(err.Error(), "lies below a file") {
			t.Errorf("below a file: %v", err)
		}
	} else if !strings.Contains(err.Error(), "lies below a file") {
		t.Errorf("below a file: %v", err)
	}
}

// A configuration that its client itself could not read, or only by guessing, is left as it is for every
// client, whether a server is to come or to go, and the error says what is wrong with it and what to do.
func TestBrokenConfigurations(t *testing.T) {
	const noJSON, noTOML = "it is no valid JSON: ", "it is no valid TOML: "
	utf16 := "\xff\xfe{\x00}\x00"
	kinds := map[bool]map[string]string{ // by whether it is TOML: what is in the file, and what is said of it
		false: {
			`{"SECTION": {"a": {`:                              noJSON,
			`{"SECTION": {"a": {}} "b": 1}`:                    noJSON,
			`{'SECTION': {}}`:                                  noJSON,
			`{SECTION: {}}`:                                    noJSON,
			`{"SECTION": {}} {}`:                               noJSON,
			"{\n<<<<<<< HEAD\n\"a\": 1\n=======\n>>>>>>> b\n}": noJSON,
			"// nothing but a comment\n":                       noJSON,
			"[SECTION.a]\ncommand = \"x\"\n":                   noJSON,
			"SECTION:\n  a: 1\n":                               noJSON,
			"{\"a\": \"\x00\"}":                                noJSON,
			utf16:                                              noJSON,
			`["SECTION"]`:                                      "it is JSON, but no object",
			`null`:                                             "it is JSON, but no object",
			`{"SECTION": {"a": {}, "a": {}}}`:                  `it has "a" twice`,
			`{"a": 1, "a": 2}`:                                 `it has "a" twice`,
		},
		true: {
			"[SECTION.a\ncommand = 1\n":  noTOML,
			"a = \n":                     noTOML,
			"a = 'x\n":                   noTOML,
			"a = 1\na = 2\n":             noTOML,
			"[SECTION.a]\n[SECTION.a]\n": noTOML,
			"<<<<<<< HEAD\na = 1\n=======\n>>>>>>> b": noTOML,
			`{"SECTION": {}}`:                         noTOML,
			"SECTION:\n  a: 1\n":                      noTOML,
			"a = \"\x00\"\n":                          noTOML,
			utf16:                                     noTOML,
		},
	}
	for _, c := range clientconfig.Clients() {
		broken, section := kinds[c.Name == "codex"], sections[c.Name]
		if section == "" {
			t.Errorf("%s is not in the table", c.Name)
		}
		dir := t.TempDir()
		i := clientconfig.Installation{Client: c, File: filepath.Join(dir, "config"), Name: "mneme",
			State: filepath.Join(dir, "state")}
		for body, says := range broken {
			body = strings.ReplaceAll(body, "SECTION", section)
			if err := os.WriteFile(i.File, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, replace := range []bool{false, true} {
				refused(t, i, body, says)(i.Install(local, replace))
			}
			refused(t, i, body, says)(i.Uninstall())
		}
		for _, body := range []string{`{"SECTION": 1}`, `{"SECTION": ["a"]}`, "SECTION = 1\n", "SECTION = []\n"} {
			if strings.HasPrefix(body, "{") == (c.Name == "codex") {
				continue
			}
			body = strings.ReplaceAll(body, "SECTION", section)
			if err := os.WriteFile(i.File, []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, i, body, "its "+section+" is ")(i.Install(local, true))
		}
	}
}

// sections are where clients keep their servers.
var sections = map[string]string{"claude-desktop": "mcpServers", "claude-code": "mcpServers", "cursor": "mcpServers",
	"vscode": "servers", "vscode-insiders": "servers", "windsurf": "mcpServers", "codex": "mcp_servers", "gemini": "mcpServers",
	"zed": "context_servers", "lmstudio": "mcpServers", "cline": "mcpServers"}

// refused fails where a change is offered, where the error does not say what is wrong and what to do, and
// where anything was written.
func refused(t *testing.T, i clientconfig.Installation, body, says string) func(*clientconfig.Change, error) {
	t.Helper()
	return func(c *clientconfig.Change, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s, %q: a change is offered:\n%s", i.Client.Name, body, c.Diff())
			return
		}
		for _, part := range []string{i.File + " can't be changed: " + says,
			"; nothing was written. Mend the file, or add the server by hand"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s, %q: %v lacks %q", i.Client.Name, body, err, part)
			}
		}
		if got := content(t, i.File); got != body {
			t.Errorf("%s, %q has become %q", i.Client.Name, body, got)
		}
		if files, err := os.ReadDir(filepath.Dir(i.File)); err != nil || len(files) != 1 {
			t.Errorf("%s, %q: left behind %v, %v", i.Client.Name, body, files, err)
		}
	}
}

func TestDiff(t *testing.T) {
	got := clientconfig.Diff("f", []byte("1\n2\n3\n4\n5\n6\n7\n8\n"), []byte("1\n2\n3\n4\nx\n6\n7\n8\n"))
	want := "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	got = clientconfig.Diff("f", []byte("1\n2\n3\n"), []byte("1\nx\ny\n2\n3\n"))
	if want := "--- f\n+++ f\n@@ -1,3 +1,5 @@\n 1\n+x\n+y\n 2\n 3\n"; got != want {
		t.Errorf("of lines that came in\n%s", got)
	}
	got = clientconfig.Diff("f", []byte("a\nb\na\nb\n"), []byte("a\nb\n"))
	if want := "--- f\n+++ f\n@@ -1,4 +1,2 @@\n a\n b\n-a\n-b\n"; got != want {
		t.Errorf("of lines that went\n%s", got)
	}
	if got := clientconfig.Diff("f", nil, []byte("a\n")); got != "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n" {
		t.Errorf("of a new file\n%s", got)
	}
	if got := clientconfig.Diff("f", []byte("a"), []byte("a")); got != "" {
		t.Errorf("of nothing\n%s", got)
	}
}

func TestLink(t *testing.T) {
	s := clientconfig.Server{Command: "mneme", Args: []string{"mcp", "--stdio", "a&b+c d"}}
	program, page, err := client(t, "cursor").Link("mneme", s)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{program, page} {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		body, err := base64.StdEncoding.DecodeString(u.Query().Get("config"))
		if want := `{"command":"mneme","args":["mcp","--stdio","a\u0026b+c d"]}`; err != nil || string(body) != want ||
			u.Query().Get("name") != "mneme" {
			t.Errorf("%s holds %s, %v", link, body, err)
		}
	}
	if !strings.HasPrefix(program, "cursor://anysphere.cursor-deeplink/mcp/install?name=mneme&config=") ||
		!strings.HasPrefix(page, "https://cursor.com/en/install-mcp?name=mneme&config=") {
		t.Errorf("%s\n%s", program, page)
	}
	s.Secret = "MNEME_KEY"
	for name, scheme := range map[string]string{"vscode": "vscode:mcp/install?",
		"vscode-insiders": "vscode-insiders:mcp/install?"} {
		program, page, err = client(t, name).Link("mneme", s)
		if err != nil {
			t.Fatal(err)
		}
		query, ok := strings.CutPrefix(program, scheme)
		text, bad := url.PathUnescape(query)
		if want := `{"name":"mneme","type":"stdio","command":"mneme","args":["mcp","--stdio","a\u0026b+c d"],` +
			`"env":{"MNEME_KEY":"${input:mneme-key}"},"inputs":[{"type":"promptString","id":"mneme-key",` +
			`"description":"API key of Mneme",` +
			`"password":true}]}`; !ok || bad != nil || text != want {
			t.Errorf("%s\n%s", program, text)
		}
		u, err := url.Parse(page)
		if err != nil ||
			!strings.HasPrefix(page, "https://insiders.vscode.dev/redirect/mcp/install?name=mneme&config=%7B") ||
			!strings.Contains(u.Query().Get("config"), "a\\u0026b+c d") ||
			!strings.Contains(u.Query().Get("inputs"), "mneme-key") ||
			strings.Contains(page, "quality=insiders") != (name == "vscode-insiders") {
			t.Errorf("%s: %v", page, err)
		}
	}
	if _, _, err := client(t, "zed").Link("mneme", s); err == nil {
		t.Error("a link for a client that takes none")
	}
}

// What an installation made goes with it, also where others have written the file in between: the list of
// servers, that of secrets, the file and its folders. What was there before, or got something of others, stays.
func TestUninstallTakesAllBack(t *testing.T) {
	write := func(t *testing.T, file, body string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edited := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	spaced := func(s string) string { return s + "\n" } // as a client that writes it again
	const gone = "gone"
	for name, c := range map[string]struct {
		client, before string
		edit           func(string) string
		after          string
	}{
		"a list that it made": {"cursor", "{\n  \"a\": 1\n}\n", edited("1", "2"), "{\n  \"a\": 2\n}\n"},
		"a list that was there": {"cursor", "{\n  \"mcpServers\": {\n  }\n}\n", spaced,
			"{\n  \"mcpServers\": {\n  }\n}\n\n"},
		"a list that others use": {"cursor", "{\n}\n", edited("\"mcpServers\": {", "\"mcpServers\": {\n    \"b\": {},"),
			"\"b\": {}"},
		"a list with a comment":        {"cursor", "{\n}\n", edited("\"mcpServers\": {", "\"mcpServers\": { // mine"), "// mine"},
		"both lists of VS Code":        {"vscode", "{\n  \"a\": 1\n}\n", edited("1", "2"), "{\n  \"a\": 2\n}\n"},
		"a file of VS Code":            {"vscode", gone, spaced, gone},
		"a file":                       {"cursor", gone, spaced, gone},
		"a file that others use":       {"cursor", gone, edited("{", "{\n  \"b\": 1,"), "\"b\": 1"},
		"a file with a comment":        {"cursor", gone, edited("{", "// mine\n{"), "// mine"},
		"an empty file that was":       {"cursor", " ", edited("\n}", "\n}\n"), "{"},
		"a table":                      {"codex", "a = 1\n", edited("1", "2"), "a = 2\n"},
		"a file of tables":             {"codex", gone, spaced, gone},
		"a file of tables with others": {"codex", gone, func(s string) string { return "b = 1\n" + s }, "b = 1\n"},
		"nothing in between":           {"cursor", "{ }", func(s string) string { return s }, "{ }"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, apply := t.TempDir(), applying(t)
			i := clientconfig.Installation{Client: client(t, c.client), Name: "mneme",
				File: filepath.Join(dir, "made", "twice", "config"), State: filepath.Join(dir, "state")}
			made := c.before == gone
			if !made {
				if err := os.MkdirAll(filepath.Dir(i.File), 0o700); err != nil {
					t.Fatal(err)
				}
				write(t, i.File, c.before)
			}
			s := local
			if c.client == "vscode" {
				s = remote
			}
			apply(i.Install(s, false))
			write(t, i.File, c.edit(content(t, i.File)))
			check := func() {
				t.Helper()
				apply(i.Uninstall())
				if c.after == gone {
					if _, err := os.Stat(filepath.Join(dir, "made")); !errors.Is(err, os.ErrNotExist) {
						t.Errorf("a folder that was made is left: %v", err)
					}
					return
				}
				got := content(t, i.File)
				if strings.Contains(got, "mneme\"") || strings.Contains(got, "mneme]") || !strings.Contains(got, c.after) ||
					strings.HasSuffix(c.after, "}\n") && got != c.after || strings.Contains(c.after, " = ") && got != c.after {
					t.Errorf("left\n%q\nwant\n%q", got, c.after)
				}
			}
			// A second installation on top of what others wrote forgets nothing of the first.
			s.Args = append([]string{"mcp"}, s.Args...)
			if c.after == gone || strings.HasPrefix(name, "nothing") {
				check()
				return
			}
			apply(i.Install(s, false))
			check()
		})
	}
}

// A file of others in a folder that an installation made keeps the folder.
func TestFoldersThatOthersUse(t *testing.T) {
	dir, apply := t.TempDir(), applying(t)
	i := installation(t, dir, "made/twice/mcp.json")
	apply(i.Install(local, false))
	other := filepath.Join(dir, "made", "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	apply(i.Uninstall())
	if _, err := os.Stat(filepath.Dir(i.File)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the inner folder is left: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
