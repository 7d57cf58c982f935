package process_test

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/model/process"
	"github.com/mnemehq/mneme/adapters/model/wasm"
	"github.com/mnemehq/mneme/core/port"
)

// missing skips a test whose tools are not there, or fails it where they have to be.
func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("MNEME_TEST_REQUIRE") == "1" {
		t.Fatalf("MISSING: %s", what)
	}
	t.Skipf("SKIPPED, MISSING: %s", what)
}

// pythonConfig is the configuration of the Python example with the default model:
// MNEME_BACKEND_PYTHON names the interpreter that has its requirements,
// MNEME_E5_ONNX the folder of the checkpoint; by default both lie in .cache, where
// setup.sh of the example and wasm/models/fetch.sh put them.
func pythonConfig(t testing.TB) process.Config {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	where := func(variable string, rest ...string) string {
		path := os.Getenv(variable)
		if path == "" {
			path = filepath.Join(append([]string{root, ".cache"}, rest...)...)
		}
		if _, err := os.Stat(path); err != nil {
			missing(t, path+" ("+variable+")")
		}
		return path
	}
	c := process.Default()
	c.Command = []string{where("MNEME_BACKEND_PYTHON", "backend-python", "bin", "python"),
		filepath.Join(root, "plugins", "examples", "python", "backend.py"),
		where("MNEME_E5_ONNX", "models", "e5-small-v2")}
	c.Unverified, c.MTLS = true, "off"
	return c
}

func openModel(t testing.TB, c process.Config) port.Model {
	t.Helper()
	m, err := process.Open(t.Context(), "e5", c, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func openWasm(t testing.TB) port.Model {
	t.Helper()
	m, err := wasm.Open(t.Context(), wasm.Default(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// TestPythonAgrees: the Python example gives the vectors of the built-in model.
func TestPythonAgrees(t *testing.T) {
	native, builtin := openModel(t, pythonConfig(t)), openWasm(t)
	texts := []string{"How do I reset my password?", "", "a", "Bread rises because yeast turns sugar into gas.",
		"naïve café, 東京タワー and emoji 🙂",
		strings.Repeat("The harbour was rebuilt after the storm of 1953. ", 100), "nul \x00 inside", strings.Repeat("x", 300)}
	lowest := 1.0
	for _, as := range []port.TextKind{port.Query, port.Passage} {
		a, err := native.(port.Embedder).Embed(t.Context(), as, texts)
		if err != nil {
			t.Fatal(err)
		}
		b, err := builtin.(port.Embedder).Embed(t.Context(), as, texts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range texts {
			cos := 0.0
			for j, x := range a.Row(i) {
				cos += float64(x) * float64(b.Row(i)[j])
			}
			lowest = math.Min(lowest, cos)
			if cos < .999 || a.Tokens[i] != b.Tokens[i] {
				t.Errorf("text %d: cosine %f, %d tokens and %d", i, cos, a.Tokens[i], b.Tokens[i])
			}
		}
	}
	t.Logf("lowest cosine of ONNX Runtime to the built-in model: %.5f", lowest)
	na, err := native.(port.TokenCounter).CountTokens(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := builtin.(port.TokenCounter).CountTokens(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	ia, err := native.(port.Tokenizer).TokenIDs(t.Context(), port.Query, texts)
	if err != nil {
		t.Fatal(err)
	}
	ib, err := builtin.(port.Tokenizer).TokenIDs(t.Context(), port.Query, texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if na[i] != nb[i] || len(ia[i]) != len(ib[i]) {
			t.Errorf("text %d: %d pieces and %d, %d read and %d", i, na[i], nb[i], len(ia[i]), len(ib[i]))
		}
	}
}
