package contract_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Every operation keeps what the document says: statuses, headers, shapes, what
// is taken and what is refused, methods, keys, and what links promise.
// schemathesis.toml says which key goes where and what the document can't say.
func TestSchemathesis(t *testing.T) {
	st := tool(t, "venv/bin/schemathesis")
	s, dir := start(t), t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	// One worker: with more, Hypothesis parses Python in several threads, which some
	// releases of CPython 3.11 fail at now and then ("AST constructor recursion depth").
	args := []string{"--config-file", filepath.Join(here, "schemathesis.toml"), "run", s.URL + "/openapi.json",
		"--mode", "all", "--continue-on-failure",
		"--workers", "1", "--request-timeout", "120", "--no-color"}
	if seconds := os.Getenv("MNEME_CONTRACT_SECONDS"); seconds != "" {
		if _, err := strconv.Atoi(seconds); err != nil {
			t.Fatalf("MNEME_CONTRACT_SECONDS: %v", err)
		}
		args = append(args, "--max-time", seconds)
	} else {
		// The same cases each time: a change is judged, not the dice.
		args = append(args, "--max-examples", "5", "--seed", "20261121")
	}
	t.Log(do(t, dir, append(s.environment(), "MNEME_ADMIN_KEY="+s.admin, "SCHEMATHESIS_HOOKS="+filepath.Join(here, "hooks.py")),
		st, args...))
}
