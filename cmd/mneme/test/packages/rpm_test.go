package packages_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// library is a line of ldd, or the path in it.
var library = regexp.MustCompile(`/\S+`)

// newRoot is a folder that rpm installs into as if it were the whole system. Unlike dpkg it runs the scripts of packages
// in there, so that what they call has to be there, too.
func newRoot(t *testing.T) system {
	t.Helper()
	harness.Installed(t, "rpm")
	if os.Geteuid() != 0 {
		harness.Missing(t, "rpm installs for root alone")
	}
	s := system{t, t.TempDir()}
	put := func(to, from string) {
		if err := os.MkdirAll(filepath.Dir(s.path(to)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.path(to), []byte(read(t, from)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"/bin/sh", "/bin/rm", "/usr/bin/getent", "/usr/sbin/useradd"} {
		put(program, harness.Installed(t, program))
		for line := range strings.Lines(harness.Succeed(t, exec.CommandContext(t.Context(), "ldd", program)).Stdout) {
			if at := library.FindString(line); at != "" {
				put(at, at)
			}
		}
	}
	for name, text := range map[string]string{"etc/passwd": "root:x:0:0::/root:/bin/sh\n", "etc/group": "root:x:0:\n",
		"dev/null": "", "etc/nsswitch.conf": "passwd: files\n"} {
		harness.Write(t, s.path(name), []byte(text))
	}
	return s
}

func (s system) rpm(args ...string) harness.Result {
	s.t.Helper()
	cmd := exec.CommandContext(context.Background(), "rpm", append([]string{"--root", s.dir}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	return harness.Succeed(s.t, cmd)
}

// TestLifeOfAnRPM installs a package, upgrades it and takes it away again, what is stored excepted.
func TestLifeOfAnRPM(t *testing.T) {
	harness.Outside(t)
	if runtime.GOOS != "linux" {
		t.Skip("a package of Linux")
	}
	s, program := newRoot(t), small(t)
	rpm := func(version string) string {
		return filepath.Join(build(t, program, version, "rpm", "linux/"+runtime.GOARCH),
			"mneme-"+version+"-linux-"+runtime.GOARCH+".rpm")
	}
	install := []string{"--nodeps"} // nothing else is installed
	if strings.Contains(harness.Succeed(t, exec.CommandContext(t.Context(), "rpm", "--help")).Stdout, "--force-debian") {
		install = append(install, "--force-debian") // whose rpm asks whether it is meant
	}
	s.rpm(append(install, "--install", rpm("0.1.0"))...)
	for _, name := range []string{"usr/bin/mneme", "usr/lib/systemd/system/mneme.service", "usr/share/doc/mneme/copyright",
		"etc/mneme/mneme.yaml"} {
		if !s.there(name) {
			t.Errorf("not installed: %s", name)
		}
	}
	mine := read(t, s.path("etc/mneme/mneme.yaml")) + "# mine\n"
	for name, text := range map[string]string{"etc/mneme/mneme.yaml": mine, "var/cache/mneme/compiled": "",
		"var/lib/mneme/store": ""} {
		harness.Write(t, s.path(name), []byte(text))
	}
	s.rpm(append(install, "--upgrade", rpm("0.2.0"))...)
	if is := s.rpm("--query", "mneme").Stdout; !strings.HasPrefix(is, "mneme-0.2.0-") {
		t.Errorf("after the upgrade there is %q", is)
	}
	if users := read(t, s.path("etc/passwd")); strings.Count(users, "\nmneme:") != 1 {
		t.Errorf("not one user of its own in %q", users)
	}
	if got := read(t, s.path("etc/mneme/mneme.yaml")); got != mine {
		t.Errorf("an upgrade changed the configuration:\n%s", got)
	}
	if !s.there("var/cache/mneme/compiled") {
		t.Error("an upgrade removed the compiled models")
	}
	if said := s.rpm("--erase", "mneme"); !strings.Contains(said.Stdout, "still in /var/lib/mneme") {
		t.Errorf("the removal says %+v", said)
	}
	if s.there("usr/bin/mneme") || s.there("etc/mneme/mneme.yaml") || s.there("var/cache/mneme") ||
		!s.there("var/lib/mneme/store") {
		t.Error("removed: program, configuration and compiled models are to go, what was stored to stay")
	}
	if got := read(t, s.path("etc/mneme/mneme.yaml.rpmsave")); got != mine {
		t.Errorf("a changed configuration is kept as\n%s", got)
	}
}
