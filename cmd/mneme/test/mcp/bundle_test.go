package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

const mcpb = "@anthropic-ai/mcpb/dist/"

// settled has the official library fill a bundle's settings in, and prints what is to be started.
const settled = `import { readFileSync } from 'node:fs';
const [, , library, folder, home, settings] = process.argv;
const { getMcpConfigForManifest } = await import(library);
console.log(JSON.stringify(await getMcpConfigForManifest({ manifest: JSON.parse(readFileSync(folder + '/manifest.json')),
  extensionPath: folder, systemDirs: { HOME: home }, userConfig: JSON.parse(settings), pathSeparator: '/' })));
`

// TestBundle: a bundle that the official tool has validated, packed and unpacked is started as that tool's
// library says, in an empty home, and its tools work.
func TestBundle(t *testing.T) {
	harness.Outside(t)
	t.Parallel()
	dir := t.TempDir()
	build := exec.Command("sh", filepath.Join(root, "deploy/mcpb/build.sh"), dir, "1.2.3", runtime.GOOS+"/"+runtime.GOARCH)
	build.Env = append(os.Environ(), "MNEME_BINARY="+harness.Program(t), "MNEME_MCP_CLIENTS="+clients(t),
		"PATH="+filepath.Dir(node(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	harness.Succeed(t, build)
	bundle := filepath.Join(dir, "mneme-1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH+".mcpb")
	checkRegistryEntry(t, filepath.Join(dir, "server.json"), filepath.Base(bundle))
	unpacked := filepath.Join(dir, "unpacked")
	if r := script(t, mcpb+"cli/cli.js", "unpack", bundle, unpacked); r.Code != 0 {
		t.Fatalf("unpack: %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	home, folder := filepath.Join(dir, "home"), filepath.Join(dir, "folder")
	for _, d := range []string{home, folder} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "lease.md"), []byte("The lease ends in May 2027."), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		settings object
		data     string
	}{
		{object{}, filepath.Join(home, ".local/share/mneme")},
		{object{"folder": folder, "data": filepath.Join(dir, "data")}, filepath.Join(dir, "data")},
	} {
		settings, err := json.Marshal(c.settings)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "settled.mjs")
		if err := os.WriteFile(file, []byte(settled), 0o600); err != nil {
			t.Fatal(err)
		}
		library := filepath.Join(clients(t), "node_modules", mcpb, "shared/config.js")
		r := execute(t, node(t), file, library, unpacked, home, string(settings))
		var start struct {
			Command string
			Args    []string
		}
		if err := json.Unmarshal([]byte(r.Stdout), &start); err != nil {
			t.Fatalf("%v\n%s%s", err, r.Stdout, r.Stderr)
		}
		cmd := exec.Command(start.Command, start.Args...)
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home}
		var log bytes.Buffer
		cmd.Stderr = &log
		session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.CommandTransport{Command: cmd, TerminateDuration: harness.Patience}, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
		s := goSession{session}
		first, err := s.call("search", object{"query": "where is the key"})
		if err != nil || first.IsError || !strings.Contains(string(first.Structured), `"results":[]`) && len(c.settings) == 0 {
			t.Errorf("a search before anything is saved: %+v, %v", first, err)
		}
		if out, err := s.call("save", object{"text": "The key is under the mat.", "id": "key"}); err != nil || out.IsError {
			t.Fatalf("save: %+v, %v", out, err)
		}
		finds := func(query, id string) (bool, string) {
			out, err := s.call("search", object{"query": query})
			return err == nil && !out.IsError && strings.Contains(string(out.Structured), id), string(out.Structured)
		}
		if ok, got := finds("where is the key", `"memory/key"`); !ok {
			t.Errorf("what was saved is not found: %s", got)
		}
		if len(c.settings) > 0 {
			harness.EventuallySees(t, "the folder is followed", func() (bool, string) {
				return finds("when does the lease end", `"memory/lease.md"`)
			})
		}
		if _, err := os.Stat(filepath.Join(c.data, "mneme.db")); err != nil {
			t.Errorf("the data are not where they should be: %v", err)
		}
		if err := session.Close(); err != nil {
			t.Errorf("it ended with %v\n%s", err, log.String())
		}
	}
}

// checkRegistryEntry holds server.json to what the registry documents of it.
func checkRegistryEntry(t *testing.T, file, bundle string) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var entry struct {
		Schema                            string `json:"$schema"`
		Name, Title, Description, Version string
		Repository                        struct{ URL, Source string }
		Packages                          []struct {
			RegistryType, Identifier, Version, FileSha256 string
			Transport                                     struct{ Type string }
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&entry); err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	if entry.Version != "1.2.3" || strings.Count(entry.Name, "/") != 1 || len(entry.Description) > 100 ||
		entry.Title == "" || !strings.HasSuffix(entry.Schema, "/server.schema.json") ||
		entry.Repository.Source != "github" || len(entry.Packages) != 1 {
		t.Fatalf("server.json is\n%s", body)
	}
	p := entry.Packages[0]
	if p.RegistryType != "mcpb" || !strings.HasSuffix(p.Identifier, "/v1.2.3/"+bundle) || len(p.FileSha256) != 64 ||
		p.Transport.Type != "stdio" || p.Version != "1.2.3" {
		t.Errorf("the bundle is entered as %+v", p)
	}
}
