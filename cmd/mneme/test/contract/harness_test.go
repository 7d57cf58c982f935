package contract_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// tools is what install.sh brings.
const tools = "../../../../.cache/contract"

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// tool is the path of something that install.sh brings, which may be missing.
func tool(t *testing.T, name string) string {
	t.Helper()
	harness.Outside(t)
	path, err := filepath.Abs(filepath.Join(tools, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		harness.Missing(t, "%s is not there: run cmd/mneme/test/contract/install.sh", name)
	}
	return path
}

// server is a running one with a key of each kind.
type server struct {
	*harness.Server
	service, integration, admin string
}

// start runs the binary on a fresh folder until the test ends.
func start(t *testing.T) *server {
	t.Helper()
	at := harness.NewSite(t, "")
	s := &server{Server: at.Serve()}
	t.Cleanup(func() {
		if err := s.Stop(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		for _, line := range s.Complaints() {
			t.Errorf("the server logged %s", line)
		}
	})
	s.service = at.Key("--name", "contract")
	s.integration = at.Key("--name", "contract", "--type", "integration", "--scopes",
		"memories:read,memories:write,recall:read,users:erase")
	s.admin = at.Key("--name", "contract", "--type", "admin")
	return s
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
