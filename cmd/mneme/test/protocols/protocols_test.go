package protocols_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// cached is the path of something that install.sh brings.
func cached(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs("../../../../.cache/protocols")
	if err != nil {
		t.Fatal(err)
	}
	var pinned []byte
	for _, file := range []string{"package-lock.json", "requirements.txt"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pinned = append(pinned, b...)
	}
	switch installed, err := os.ReadFile(filepath.Join(dir, "installed")); {
	case err != nil:
		harness.Missing(t, "no clients in .cache/protocols; run make protocol-clients")
	case !bytes.Equal(installed, pinned):
		harness.Missing(t, "the clients in .cache/protocols are not those that are pinned; run make protocol-clients")
	}
	return filepath.Join(dir, name)
}

// run runs a program to its end, which has to be a good one.
func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), env...), time.Second
	if out := harness.Succeed(t, cmd); !strings.Contains(out.Stdout, "round trip done") {
		t.Errorf("got %s%s", out.Stdout, out.Stderr)
	}
}

// node runs one of the folder's programs in Node.js, which looks for packages beside it.
func node(t *testing.T, env []string, program string) {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile(program)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, program), source, 0o600)
	}
	if err == nil {
		err = os.Symlink(cached(t, "node_modules"), filepath.Join(dir, "node_modules"))
	}
	if err != nil {
		t.Fatal(err)
	}
	run(t, env, harness.Installed(t, "node"), filepath.Join(dir, program))
}

const aliases = `
aliases:
  e5-small-v2: [text-embedding-3-small]
  rerank-small: [rerank-v3.5]
`

func serve(t *testing.T, config string) (*harness.Site, *harness.Server) {
	t.Helper()
	at := harness.NewSite(t, config)
	server := at.Serve()
	t.Cleanup(func() {
		if err := server.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for _, line := range server.Complaints() {
			t.Errorf("the server logged %s", line)
		}
	})
	return at, server
}

// OpenAI's clients list models, make embeddings, search namespaces and meet errors of their own types.
func TestOpenAIsClients(t *testing.T) {
	harness.Outside(t)
	cached(t, "")
	at, server := serve(t, aliases)
	key := at.Key("--name", "openai")
	env := []string{"MNEME_URL=" + server.URL, "MNEME_SERVICE_KEY=" + key}
	server.Client(t, key).OK("POST", "/namespaces/docs/documents", harness.Object{"documents": []harness.Object{
		{"id": "garden", "text": "The hedge is cut in February.", "metadata": harness.Object{"kind": "guide", "title": "Garden",
			"year": 2026, "tags": []string{"hedge"}}},
		{"id": "bread", "text": "Bread needs salt.", "metadata": harness.Object{"kind": "recipe"}},
	}})
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		run(t, append(env, "PYTHONPATH="+cached(t, "python"), "PYTHONDONTWRITEBYTECODE=1"), harness.Installed(t, "python3"),
			"openai_client.py")
	})
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		node(t, env, "openai_client.mjs")
	})
	t.Run("go", func(t *testing.T) {
		t.Parallel()
		if os.Getenv("MNEME_INTEGRATIONS") == "" {
			t.Skip("runs with make integrations-test, which records that it passed: to compile this client takes minutes")
		}
		run(t, env, cached(t, "openai-go"))
	})
}

// mem0's clients add, find, change and delete memories, and meet errors of their own types.
func TestMem0sClients(t *testing.T) {
	harness.Outside(t)
	cached(t, "")
	at, server := serve(t, "")
	env := func(name string) []string {
		return []string{"MNEME_URL=" + server.URL, "MNEME_MEMORY_KEY=" + at.Key("--type", "integration", "--name", name,
			"--scopes", "memories:read,memories:write,users:erase"),
			"MEM0_TELEMETRY=false", "MEM0_DIR=" + t.TempDir()}
	}
	t.Run("python", func(t *testing.T) {
		run(t, append(env("python"), "PYTHONPATH="+cached(t, "python"), "PYTHONDONTWRITEBYTECODE=1"),
			harness.Installed(t, "python3"), "mem0_client.py")
	})
	t.Run("node", func(t *testing.T) {
		node(t, env("node"), "mem0_client.mjs")
	})
}

// Aliases name models for reranking, too. A protocol that is off is not there, in its own
// words, and leaves all else as it is.
func TestAliasesAndAProtocolThatIsOff(t *testing.T) {
	harness.Outside(t)
	at, server := serve(t, aliases+"protocols: { openai: false }\n")
	c := server.Client(t, at.Key("--name", "openai"))
	for path, model := range map[string]string{"/rerank": "rerank-small", "/v1/rerank": "rerank-small", "/v2/rerank": ""} {
		got, _ := c.OK("POST", path, harness.Object{"model": "rerank-v3.5", "query": "bread", "documents": []string{"salt"}}).
			JSON()["model"].(string)
		if got != model {
			t.Errorf("%s was answered by %q", path, got)
		}
	}
	if e := c.Call("POST", "/rerank", harness.Object{"model": "text-embedding-3-small", "query": "bread",
		"documents": []string{"salt"}}).Is(http.StatusBadRequest); !strings.Contains(e.String(), "is not a rerank model") {
		t.Error(e)
	}
	for method, path := range map[string]string{"GET": "/v1/models", "POST": "/v1/embeddings"} {
		var body any
		if method == "POST" {
			body = harness.Object{"model": "text-embedding-3-small", "input": "a"}
		}
		e, _ := c.Call(method, path, body).Is(http.StatusNotFound).JSON()["error"].(map[string]any)
		if e["type"] != "invalid_request_error" || e["code"] != "not_found" ||
			!strings.Contains(e["message"].(string), "protocols.openai") {
			t.Errorf("%s %s: %v", method, path, e)
		}
	}
}
