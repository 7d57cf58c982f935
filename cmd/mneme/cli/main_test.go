package cli_test

import (
	"flag"
	"os"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// mneme runs the program to its end.
func mneme(t *testing.T, args ...string) harness.Result {
	t.Helper()
	return mnemeIn(t, "", nil, args...)
}

func mnemeIn(t *testing.T, dir string, env []string, args ...string) harness.Result {
	t.Helper()
	cmd := (&harness.Site{T: t, Env: env}).Command(args...)
	cmd.Dir = dir
	return harness.Run(t, cmd)
}

// succeed runs the program and fails the test where it does.
func succeed(t *testing.T, args ...string) harness.Result {
	t.Helper()
	return (&harness.Site{T: t}).Mneme(args...)
}
