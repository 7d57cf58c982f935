package contract_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

var (
	mneme *harness.Program // the real one, built once
	tools string           // what install.sh brings
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if tools, err = filepath.Abs("../../../../.cache/contract"); err != nil {
		panic(err)
	}
	mneme = harness.New()
	defer mneme.Remove()
	return m.Run()
}

// tool is the path of something that install.sh brings. Without it the test is
// skipped, or fails where MNEME_TEST_REQUIRE is set.
func tool(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short leaves what runs outside this process out")
	}
	path := filepath.Join(tools, name)
	if _, err := os.Stat(path); err != nil {
		missing(t, fmt.Sprintf("%s is not there: run cmd/mneme/test/contract/install.sh", name))
	}
	return path
}

// program is the path of a program of the system, under the same rule.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name+" is not installed")
	}
	return path
}

func missing(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("MNEME_TEST_REQUIRE") != "" {
		t.Fatal(why)
	}
	t.Skip("SKIPPED: " + why)
}

// server is a running one with a key of each kind.
type server struct {
	*harness.Server
	url, data                   string
	service, integration, admin string
}

// start runs the binary on a fresh folder until the test ends.
func start(t *testing.T) *server {
	t.Helper()
	s := &server{data: t.TempDir()}
	s.Server = harness.Serve(t, exec.Command(mneme.Path(t), "serve", "--data", s.data, "--addr", "127.0.0.1:0"))
	s.url = s.URL
	t.Cleanup(func() {
		if err := s.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(s.Logged()) {
			if strings.Contains(line, "panic") || strings.Contains(line, "level=ERROR") {
				t.Errorf("the server logged %s", line)
			}
		}
	})
	s.service = s.key(t, "--name", "contract")
	s.integration = s.key(t, "--name", "contract", "--type", "integration", "--scopes",
		"memories:read,memories:write,recall:read,users:erase")
	s.admin = s.key(t, "--name", "contract", "--type", "admin")
	return s
}

func (s *server) key(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(mneme.Path(t), append([]string{"keys", "create", "--data", s.data}, args...)...)
	return strings.TrimSpace(harness.Succeed(t, cmd).Stdout)
}

// do runs a program to its end and fails the test with its output where it fails.
func do(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}
