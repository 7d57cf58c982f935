package remotetest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/remotetest"
)

// TestClients calls the servers with the providers' own Python clients: servers
// that only our adapters understood would prove nothing. install.sh installs the
// clients; MNEME_MODEL_CLIENTS names another folder than it does by default.
func TestClients(t *testing.T) {
	dir := os.Getenv("MNEME_MODEL_CLIENTS")
	if dir == "" {
		dir = "../../../.cache/model-clients"
	}
	packages, err := filepath.Abs(filepath.Join(dir, "python"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(packages); err != nil {
		skip := t.Skipf
		if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
			skip = t.Fatalf
		}
		skip("SKIPPED: the providers' clients are not installed (%v); run 'make model-clients'", err)
	}
	o := remotetest.Options{Key: "a-key-of-the-test", Dimensions: 48}
	urls, err := json.Marshal(map[string]string{"openai": remotetest.OpenAI(t, o).URL,
		"cohere": remotetest.Cohere(t, o).URL, "voyage": remotetest.Voyage(t, o).URL,
		"ollama": remotetest.Ollama(t, o).URL, "tei": remotetest.TEI(t, o).URL})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "testdata/clients.py")
	cmd.Env = append(os.Environ(), "MNEME_TEST_SERVERS="+string(urls), "NO_PROXY=127.0.0.1", "PYTHONPATH="+packages,
		"PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("called by %s", strings.Join(strings.Fields(string(out)), ", "))
}
