package contract_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// generate makes a client from the running server's document.
func generate(t *testing.T, s *server, dir, language string, args ...string) {
	t.Helper()
	jar := tool(t, "openapi-generator-cli-7.17.0.jar")
	java := harness.Installed(t, "java")
	file := filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(file, s.Client(t, "").OK("GET", "/openapi.json", nil).Body, 0o600); err != nil {
		t.Fatal(err)
	}
	// It runs too briefly for the better compiler of Java to pay.
	do(t, dir, nil, java, append([]string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar, "generate", "-g",
		language, "-i", file}, args...)...)
}

func (s *server) environment() []string {
	return []string{"MNEME_URL=" + s.URL, "MNEME_SERVICE_KEY=" + s.service, "MNEME_INTEGRATION_KEY=" + s.integration}
}

func TestPythonClient(t *testing.T) {
	python := tool(t, "venv/bin/python")
	s, dir := start(t), t.TempDir()
	generate(t, s, dir, "python", "-o", dir, "--package-name", "mneme_client")
	out := do(t, ".", append(s.environment(), "PYTHONPATH="+dir), python, "-B", "roundtrip.py")
	if !strings.Contains(out, "round trip done") {
		t.Errorf("got %s", out)
	}
}

func TestTypeScriptClient(t *testing.T) {
	tsc := tool(t, "node_modules/.bin/tsc")
	node := harness.Installed(t, "node")
	s, dir := start(t), t.TempDir()
	generate(t, s, dir, "typescript-fetch", "-o", filepath.Join(dir, "client"), "--additional-properties",
		"importFileExtension=.js")
	source, err := os.ReadFile("roundtrip.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"roundtrip.ts": string(source), "package.json": `{"type": "module"}`,
		"tsconfig.json": `{"compilerOptions": {"target": "ES2022", "module": "NodeNext", "strict": true, "outDir": ` +
			`"out", "types": ["node"],
			"typeRoots": ["` + tool(t, "node_modules/@types") + `"]}, "include": ["roundtrip.ts", "client"]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	do(t, dir, nil, tsc, "-p", ".")
	out := do(t, dir, s.environment(), node, "out/roundtrip.js")
	if !strings.Contains(out, "round trip done") {
		t.Errorf("got %s", out)
	}
}
