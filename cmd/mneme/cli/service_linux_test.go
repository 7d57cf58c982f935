package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// A service is installed into an empty home by systemd's own program, which works on files alone
// here, once; it is described, and taken out again.
func TestService(t *testing.T) {
	t.Parallel()
	harness.Installed(t, "systemctl")
	home := t.TempDir()
	run := func(args ...string) harness.Result {
		t.Helper()
		return mnemeIn(t, home, []string{"HOME=" + home, "XDG_DATA_HOME=", "MNEME_DATA=", "SYSTEMD_OFFLINE=1"},
			append([]string{"service"}, args...)...)
	}
	expect := func(code int, says string, args ...string) harness.Result {
		t.Helper()
		r := run(args...)
		if r.Code != code || !strings.Contains(r.Stdout+r.Stderr, says) {
			t.Errorf("%v: exit code %d, %q, %q; want %d and %q", args, r.Code, r.Stdout, r.Stderr, code, says)
		}
		return r
	}
	unit := filepath.Join(home, ".config", "systemd", "user", "mneme.service")
	data := filepath.Join(home, ".local", "share", "mneme")
	for _, act := range []string{"start", "stop", "uninstall"} {
		expect(1, "no service called mneme is installed", act)
	}
	expect(1, "not installed", "status")
	shown := expect(0, `"serve" "--data" "`+data+`" "--addr" "127.0.0.1:0"`, "install", "--addr", "127.0.0.1:0", "--dry-run")
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("a dry run left %v, %v", left, err)
	}
	expect(0, "service mneme is installed in "+unit, "install", "--addr", "127.0.0.1:0")
	if b, err := os.ReadFile(unit); err != nil || string(b) != shown.Stdout {
		t.Errorf("installed: %v\n%s\nshown:\n%s", err, b, shown.Stdout)
	}
	if info, err := os.Stat(data); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder is %v, %v", info, err)
	}
	expect(1, "is installed already ("+unit+")", "install")
	expect(0, "service other is installed", "install", "--name", "other", "--data", filepath.Join(home, "other"), "--no-start")
	expect(0, `"serve" "--data" "`+data+`-third" "--log`, "install", "--name", "third", "--log-level", "warn", "--dry-run")
	expect(1, "data     /var/lib/third\n", "status", "--name", "third", "--system")
	expect(1, "nowhere: no server runs", "status")
	server := (&harness.Site{T: t, Data: data}).Serve()
	if r := expect(1, "listens  "+server.URL, "status"); !strings.Contains(r.Stdout, "data     "+data+"\n") {
		t.Errorf("status:\n%s", r.Stdout)
	}
	expect(1, "data     "+filepath.Join(home, "other"), "status", "--name", "other")
	open := mnemeIn(t, home, []string{"HOME=" + home, "XDG_DATA_HOME=", "MNEME_DATA="}, "open", "--user-data")
	for _, want := range []string{data, server.URL + "/docs", server.URL + "/console"} {
		if open.Code != 0 || !strings.Contains(open.Stdout, want) {
			t.Errorf("open: %d, no %s in\n%s%s", open.Code, want, open.Stdout, open.Stderr)
		}
	}
	for what, want := range map[string]string{"docs": server.URL + "/docs\n", "data": data + "\n",
		"console": server.URL + "/console"} {
		if r := mneme(t, "open", what, "--print", "--data", data); r.Code != 0 || !strings.HasPrefix(r.Stdout, want) {
			t.Errorf("open %s: %d, %q, %q", what, r.Code, r.Stdout, r.Stderr)
		}
	}
	if err := server.Stop(os.Interrupt); err != nil {
		t.Error(err)
	}
	if r := mneme(t, "open", "docs", "--data", data); r.Code != 1 || !strings.Contains(r.Stderr, "no server runs on") {
		t.Errorf("open without a server: %d, %q", r.Code, r.Stderr)
	}
	if r := mneme(t, "open", "door"); r.Code != 2 || !strings.Contains(r.Stderr, "nothing that can be opened") {
		t.Errorf("open door: %d, %q", r.Code, r.Stderr)
	}
	expect(0, "uninstall done", "uninstall")
	expect(0, "uninstall done", "uninstall", "--name", "other")
	if _, err := os.Stat(unit); !os.IsNotExist(err) {
		t.Errorf("the unit is left: %v", err)
	}
	if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(1, "is a file; name a folder", "install", "--data", filepath.Join(home, "file"))
	expect(2, "--name must be", "install", "--name", "A B")
	expect(2, "--user goes with --system", "install", "--user", "me")
	expect(2, "--data with --system needs --user", "install", "--system", "--data", home)
	expect(0, "DynamicUser=yes", "install", "--system", "--dry-run")
}

// A log file takes the log, and one that can't be written is told at once.
func TestLogFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := filepath.Join(dir, "logs", "mneme.log")
	if r := mneme(t, "serve", "--data", filepath.Join(dir, "data"), "--addr", "nowhere", "--log-file", log); r.Code == 0 {
		t.Error("a server without an address")
	}
	b, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(b), "server failed") {
		t.Errorf("the log says %q, %v", b, err)
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log is %v, %v", info, err)
	}
	r := mneme(t, "serve", "--data", filepath.Join(dir, "data"), "--log-file", dir)
	if r.Code != 1 || !strings.Contains(r.Stderr, "open the log") || !strings.Contains(r.Stderr, "with --log-file") {
		t.Errorf("a folder for a log: %d, %q", r.Code, r.Stderr)
	}
}
