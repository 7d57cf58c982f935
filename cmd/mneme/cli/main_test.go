package cli_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite golden files")

// binary is the real program, built once for all tests.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mneme-cli-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "mneme")
	if out, err := exec.Command("go", "build", "-o", binary, "..").CombinedOutput(); err != nil {
		panic(string(out))
	}
	// Models are compiled once for all tests.
	if err := os.Setenv("MNEME_CACHE", filepath.Join(dir, "cache")); err != nil {
		panic(err)
	}
	for _, name := range []string{"MNEME_DATA", "MNEME_CONFIG", "MNEME_URL", "MNEME_KEY", "MNEME_ADMIN_KEY", "MNEME_ADDR", "MNEME_LOG_LEVEL"} {
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
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
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
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
