package clientconfig

import (
	"path/filepath"
	"slices"
)

// System is where clients keep their files.
type System struct {
	OS     string // as in runtime.GOOS
	Home   string
	Getenv func(string) string
}

// config is the user's folder for configuration, as programs built on Electron find it.
func (s System) config() string {
	switch s.OS {
	case "windows":
		if dir := s.Getenv("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(s.Home, "AppData", "Roaming")
	case "darwin":
		return filepath.Join(s.Home, "Library", "Application Support")
	}
	return s.xdg()
}

func (s System) xdg() string {
	if dir := s.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.Home, ".config")
}

// Client is an assistant or an editor that starts MCP servers.
type Client struct {
	Name  string // as --client names it
	Title string
	// Restart says how it notices.
	Restart string

	file    func(System) string // of the user
	project string              // of a project, below its folder; "": it has none
	toml    bool
	section string // that holds the servers by their names
	typed   bool   // an entry says that it is one of stdio
	secret  func(variable string) string
	forward bool // it names the variables that it passes on
	inputs  bool // it asks for secrets and keeps them
}

func home(path ...string) func(System) string {
	return func(s System) string { return filepath.Join(append([]string{s.Home}, path...)...) }
}

func config(path ...string) func(System) string {
	return func(s System) string { return filepath.Join(append([]string{s.config()}, path...)...) }
}

const servers = "mcpServers" // most clients took the name from the first

// Clients are those whose format is known, in the order to show.
func Clients() []Client {
	return []Client{
		{Name: "claude-desktop", Title: "Claude Desktop", Restart: "quit it and start it again", section: servers,
			file: config("Claude", "claude_desktop_config.json")},
		{Name: "claude-code", Title: "Claude Code", Restart: "start a new session", section: servers, typed: true,
			file: home(".claude.json"), project: ".mcp.json",
			secret: func(v string) string { return "${" + v + "}" }},
		{Name: "cursor", Title: "Cursor", Restart: "it notices by itself", section: servers,
			file: home(".cursor", "mcp.json"), project: ".cursor/mcp.json",
			secret: func(v string) string { return "${env:" + v + "}" }},
		{Name: "vscode", Title: "VS Code", Restart: "start the server in its list of MCP servers",
			section: "servers", typed: true,
			file: config("Code", "User", "mcp.json"), project: ".vscode/mcp.json", inputs: true},
		{Name: "vscode-insiders", Title: "VS Code Insiders", Restart: "start the server in its list of MCP servers",
			section: "servers", typed: true, file: config("Code - Insiders", "User", "mcp.json"), project: ".vscode/mcp.json",
			inputs: true},
		{Name: "windsurf", Title: "Windsurf", Restart: "refresh its list of MCP servers", section: servers,
			file:   home(".codeium", "windsurf", "mcp_config.json"),
			secret: func(v string) string { return "${env:" + v + "}" }},
		{Name: "codex", Title: "Codex", Restart: "start a new session", toml: true, section: "mcp_servers",
			file: func(s System) string {
				if dir := s.Getenv("CODEX_HOME"); dir != "" {
					return filepath.Join(dir, "config.toml")
				}
				return filepath.Join(s.Home, ".codex", "config.toml")
			}, project: ".codex/config.toml", forward: true},
		{Name: "gemini", Title: "Gemini CLI", Restart: "start a new session", section: servers,
			file: home(".gemini", "settings.json"), project: ".gemini/settings.json",
			secret: func(v string) string { return "$" + v }},
		{Name: "zed", Title: "Zed", Restart: "it notices by itself", section: "context_servers",
			file: func(s System) string {
				if s.OS == "windows" {
					return filepath.Join(s.config(), "Zed", "settings.json")
				}
				return filepath.Join(s.xdg(), "zed", "settings.json") // on macOS, too
			}, project: ".zed/settings.json"},
		{Name: "lmstudio", Title: "LM Studio", Restart: "it notices by itself", section: servers,
			file: home(".lmstudio", "mcp.json")},
		{Name: "cline", Title: "Cline", Restart: "it notices by itself", section: servers,
			file: config("Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings",
				"cline_mcp_settings.json")},
	}
}

// Find is the client of a name.
func Find(name string) (Client, bool) {
	all := Clients()
	i := slices.IndexFunc(all, func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return all[i], true
}

// Names of the clients.
func Names() []string {
	var names []string
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// File is the user's configuration of a client.
func (c Client) File(s System) string { return c.file(s) }

// ProjectFile is that of a project; "" where the client has none.
func (c Client) ProjectFile(dir string) string {
	if c.project == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(c.project))
}

// KeepsSecrets reports that the client takes a key from elsewhere than its configuration.
func (c Client) KeepsSecrets() bool { return c.secret != nil || c.forward || c.inputs }

// Server is what a client starts.
type Server struct {
	Command string
	Args    []string
	// Secret is the variable that holds a key; "": none is needed.
	Secret string
}

// entry is a server as a client writes it. Fields stand in the order to write.
type entry struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// input is a secret that VS Code asks for and keeps.
type input struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}

func (c Client) entry(name string, s Server) entry {
	e := entry{Command: s.Command, Args: s.Args}
	if c.typed {
		e.Type = "stdio"
	}
	switch {
	case s.Secret == "":
	case c.inputs:
		e.Env = map[string]string{s.Secret: "${input:" + inputID(name) + "}"}
	case c.secret != nil:
		e.Env = map[string]string{s.Secret: c.secret(s.Secret)}
	}
	return e
}

func inputID(name string) string { return name + "-key" }
