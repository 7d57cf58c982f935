package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// place is where the program of a package's tests is.
type place struct {
	dir   string
	path  string // of the program
	build func() error
}

// program is there while Main runs.
var program *place

// ProgramVariable names another program to be tested than the one of this system, such as a
// script that runs one for Windows.
const ProgramVariable = "MNEME_TEST_PROGRAM"

// builtVariable names the program of this system, built already by what runs the tests of many packages.
const builtVariable = "MNEME_TEST_BUILT"

// Main runs a package's tests and gives the exit code. What this process's
// environment says of a configuration is taken out before, and models are compiled
// once for all tests, into a folder beside the program.
func Main(m *testing.M) int {
	var err error
	if program, err = prepare(); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(program.dir) }()
	return m.Run()
}

func prepare() (*place, error) {
	dir, err := os.MkdirTemp("", "mneme-test-")
	if err != nil {
		return nil, err
	}
	p := &place{dir: dir, path: filepath.Join(dir, "mneme")}
	p.build = p.link()
	if other := os.Getenv(ProgramVariable); other != "" {
		p.use(other)
	}
	err = errors.Join(os.Chmod(dir, 0o755), // some processes run as another user
		os.Setenv("MNEME_CACHE", filepath.Join(dir, "cache")))
	for _, name := range []string{"MNEME_DATA", "MNEME_CONFIG", "MNEME_URL", "MNEME_KEY", "MNEME_ADMIN_KEY",
		"MNEME_ADDR", "MNEME_LOG_LEVEL"} {
		err = errors.Join(err, os.Unsetenv(name))
	}
	return p, err
}

// look reads the folders of the module: go test gives an earlier answer again unless
// something has changed that a test is linked of, or has looked at.
func look() error {
	root, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(root) == root {
			return errors.New("the tests do not run in the module")
		}
		root = filepath.Dir(root)
	}
	return errors.Join(err, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	}))
}

func (p *place) use(path string) { p.path, p.build = path, func() error { return nil } }

// Use puts another program in the place of this system's, as ProgramVariable does.
func Use(path string) { program.use(path) }

func (p *place) link() func() error {
	return sync.OnceValue(func() error {
		if built := os.Getenv(builtVariable); built != "" {
			return p.copied(built)
		}
		if err := look(); err != nil {
			return err
		}
		// go run keeps what it has linked in Go's build cache, where go build links again
		// for each package.
		out, err := exec.CommandContext(context.Background(), "go", "run", "-exec", "cp",
			"github.com/mnemehq/mneme/cmd/mneme", p.path).CombinedOutput()
		if err != nil {
			return fmt.Errorf("build the program: %w\n%s", err, out)
		}
		return nil
	})
}

// copied copies a program to where another user may run it. go test gives an earlier answer again unless
// the file that is read here has changed.
func (p *place) copied(from string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("the program that %s names: %w", builtVariable, err)
	}
	defer in.Close()
	out, err := os.OpenFile(p.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Program is the path of the real program, which is built when the first test asks
// for it, or of what ProgramVariable names.
func Program(t testing.TB) string {
	t.Helper()
	if err := program.build(); err != nil {
		t.Fatal(err)
	}
	return program.path
}

// Result is what a command did.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// long is how long a command may take: to compile the program for another system takes two slow processors that others
// use, too, more than ten minutes.
const long = 30 * time.Minute

// Run runs a command to its end, whatever that is. One that a signal ends, as at the
// end of its context or of that of our patience, fails the test.
func Run(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	if cmd.WaitDelay == 0 && cmd.Cancel != nil {
		cmd.WaitDelay = time.Second
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Start()
	if err == nil {
		kill := time.AfterFunc(long, func() { _ = cmd.Process.Kill() })
		err = cmd.Wait()
		kill.Stop()
	}
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || !exit.Exited()) {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), err, &stdout, &stderr)
	}
	return Result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// Succeed is Run of a command that has to succeed.
func Succeed(t testing.TB, cmd *exec.Cmd) Result {
	t.Helper()
	r := Run(t, cmd)
	if r.Code != 0 {
		t.Fatalf("%s %s: exit code %d\n%s%s", filepath.Base(cmd.Path), strings.Join(cmd.Args[1:], " "), r.Code,
			r.Stdout, r.Stderr)
	}
	return r
}
