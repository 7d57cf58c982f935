package clients_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// root is the repository.
const root = "../../../.."

// tools are the generators, and what their clients are made of.
var tools = harness.Clients

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// document is the one of the repository, as a user of it finds it.
func document(t *testing.T) string {
	return harness.Absolute(t, filepath.Join(root, "docs", "openapi.yaml"))
}

// A client of each generator writes, queries with filters, meets typed errors, reranks in
// each of the three ways, and saves and finds a memory.
func TestClients(t *testing.T) {
	harness.Outside(t)
	tools.Path(t)
	at := harness.NewSite(t, "")
	server := at.Serve()
	t.Cleanup(func() {
		if err := server.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for _, line := range server.Complaints() {
			t.Errorf("the server logged %s", line)
		}
	})
	env := []string{"MNEME_URL=" + server.URL, "MNEME_SERVICE_KEY=" + at.Key("--name", "clients"), "MNEME_INTEGRATION_KEY=" +
		at.Key("--name", "clients", "--type", "integration", "--scopes", "memories:read,memories:write")}
	for name, client := range map[string]func(t *testing.T, env []string) harness.Result{
		"openapi-python-client": python, "openapi-typescript": openapiTypeScript, "hey-api": heyAPI, "oapi-codegen": golang,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out := client(t, env); !strings.Contains(out.Stdout, "round trip done") {
				t.Errorf("got %s%s", out.Stdout, out.Stderr)
			}
		})
	}
}

var warning = regexp.MustCompile(`(?m)^(?:WARNING parsing (.*?) within|Unable to process schema .*)`)

// python has to make every operation but the four of the admin API whose bodies are
// streams, of which this generator knows no media type (docs/rest.md says so).
func python(t *testing.T, env []string) harness.Result {
	dir, interpreter := t.TempDir(), harness.Installed(t, "python3")
	env = append(env, "PYTHONPATH="+tools.Path(t, "python")+string(filepath.ListSeparator)+dir, "PYTHONDONTWRITEBYTECODE=1",
		"COLUMNS=200")
	made := harness.Do(t, dir, env, interpreter, "-m", "openapi_python_client", "generate", "--path", document(t),
		"--meta", "none", "--output-path", filepath.Join(dir, "mneme_client"))
	var got []string
	for _, w := range warning.FindAllStringSubmatch(made.Stdout+made.Stderr, -1) {
		got = append(got, w[1])
	}
	slices.Sort(got)
	if want := []string{
		"GET /admin/v1/audit.ndjson",
		"GET /admin/v1/end_users/{id}/export",
		"GET /admin/v1/organizations/{org}/namespaces/{namespace}/export",
		"POST /admin/v1/organizations/{org}/namespaces/{namespace}/import",
	}; !slices.Equal(got, want) {
		t.Errorf("openapi-python-client warns of %q, want %q\n%s%s", got, want, made.Stdout, made.Stderr)
	}
	return harness.Do(t, ".", env, interpreter, "roundtrip.py")
}

func openapiTypeScript(t *testing.T, env []string) harness.Result {
	dir := typescript(t, "fetch.ts", `"module": "NodeNext"`)
	harness.Do(t, dir, nil, harness.Installed(t, "node"), tools.Path(t, "node_modules/openapi-typescript/bin/cli.js"),
		document(t), "-o", "schema.d.ts")
	return compiled(t, dir, env, "fetch")
}

func heyAPI(t *testing.T, env []string) harness.Result {
	// It asks the tsconfig.json beside itself, and none is there, whether imports need extensions.
	dir := typescript(t, "hey.ts", `"module": "CommonJS", "moduleResolution": "node10", "esModuleInterop": true`)
	harness.Do(t, dir, nil, harness.Installed(t, "node"), tools.Path(t, "node_modules/@hey-api/openapi-ts/bin/run.js"),
		"-i", document(t), "-o", "client", "--no-log-file")
	return compiled(t, dir, env, "hey")
}

// typescript makes a project of one program, whose modules are what options say.
func typescript(t *testing.T, program, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	kind := map[bool]string{true: "module", false: "commonjs"}[strings.Contains(options, "NodeNext")]
	harness.Write(t, filepath.Join(dir, "package.json"), []byte(`{"type": "`+kind+`"}`))
	harness.Write(t, filepath.Join(dir, "tsconfig.json"), []byte(`{"compilerOptions": {`+options+`,
		"target": "ES2022", "strict": true,
		"skipLibCheck": true, "outDir": "out", "rootDir": ".", "types": ["node"]}, "include": ["*.ts", "client"]}`))
	harness.Write(t, filepath.Join(dir, program), harness.Read(t, program))
	if err := os.Symlink(tools.Path(t, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func compiled(t *testing.T, dir string, env []string, program string) harness.Result {
	t.Helper()
	node := harness.Installed(t, "node")
	harness.Do(t, dir, nil, node, tools.Path(t, "node_modules/typescript/bin/tsc"), "-p", ".")
	return harness.Do(t, dir, env, node, filepath.Join("out", program+".js"))
}

func golang(t *testing.T, env []string) harness.Result {
	dir := t.TempDir()
	for _, file := range []string{"go.mod", "go.sum", "main.go"} {
		harness.Write(t, filepath.Join(dir, file), harness.Read(t, filepath.Join("testdata", "go", file)))
	}
	harness.Do(t, dir, nil, tools.Path(t, "oapi-codegen"), "-package", "main", "-generate", "types,client",
		"-o", "client.go", document(t))
	harness.Do(t, dir, nil, harness.Installed(t, "go"), "build", "-o", "roundtrip", ".")
	return harness.Do(t, dir, env, filepath.Join(dir, "roundtrip"))
}
