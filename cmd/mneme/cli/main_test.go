package cli_test

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var update = flag.Bool("update", false, "rewrite golden files")

// program is the real one, built once for all tests.
var program *harness.Program

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	program = harness.New()
	defer program.Remove()
	return m.Run()
}

// result is what a command did.
type result struct {
	code           int
	stdout, stderr string
}

// mneme runs the program to its end.
func mneme(t *testing.T, args ...string) result {
	t.Helper()
	return mnemeIn(t, "", nil, args...)
}

func mnemeIn(t *testing.T, dir string, env []string, args ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Path(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	return finish(t, cmd)
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	r := harness.Run(t, cmd)
	return result{r.Code, r.Stdout, r.Stderr}
}

// succeed runs the program and fails the test where it does.
func succeed(t *testing.T, args ...string) result {
	t.Helper()
	r := mneme(t, args...)
	if r.code != 0 {
		t.Fatalf("mneme %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}
