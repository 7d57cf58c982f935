package service_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/internal/service"
)

// systemctl keeps to what systemd's own answers, over a folder of units: a machine that has no
// systemd can run this test, and one that has keeps its services.
const systemctl = `#!/bin/sh
verb=$1; shift
user=; unit=
for a in "$@"; do
  case $a in
  --user) user=--user ;;
  *.service) unit=$a ;;
  esac
done
echo "$verb $user $unit" >>"$PEER/calls"
if [ -e "$PEER/refuse-$verb" ]; then cat "$PEER/refuse-$verb" >&2; exit 1; fi
if [ -e "$PEER/no-right-to-$verb" ]; then echo "Interactive authentication required." >&2; exit 4; fi
file=$HOME/.config/systemd/user/$unit
case $verb in
is-active)
  if [ -e "$PEER/failed" ]; then echo failed; exit 3; fi
  if [ -e "$PEER/active-$unit" ]; then echo active; exit 0; fi
  echo inactive; exit 3 ;;
list-unit-files)
  if [ -e "$file" ] && [ ! -e "$PEER/unread" ]; then printf '%s enabled enabled\n\n1 unit files listed.\n' "$unit"; exit 0; fi
  echo "0 unit files listed."; exit 1 ;;
enable | start) [ -e "$file" ] || { echo "Unit $unit not found." >&2; exit 5; } ;;
esac
wants=$HOME/.config/systemd/user/default.target.wants
case $verb in
enable) mkdir -p "$wants" && ln -sf "$file" "$wants/$unit" ;;
disable) rm -f "$wants/$unit" ;;
start) : >"$PEER/active-$unit" ;;
stop) rm -f "$PEER/active-$unit" ;;
esac
`

// peer is a systemd of its own, and an empty home.
type peer struct {
	t         *testing.T
	dir, home string
}

func newPeer(t *testing.T) peer {
	t.Helper()
	p := peer{t, t.TempDir(), t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.dir, "systemctl"), []byte(systemctl), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", p.dir+":/usr/bin:/bin")
	t.Setenv("PEER", p.dir)
	t.Setenv("HOME", p.home)
	return p
}

// set has the peer be in a state, or no longer.
func (p peer) set(name, text string) (undo func()) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			p.t.Fatal(err)
		}
	}
}

// asked are the calls that change something since it was last asked.
func (p peer) asked() (calls []string) {
	p.t.Helper()
	path := filepath.Join(p.dir, "calls")
	body, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if !strings.HasPrefix(line, "is-active ") && !strings.HasPrefix(line, "list-unit-files ") {
			calls = append(calls, strings.TrimSpace(line))
		}
	}
	if err := os.Remove(path); err != nil {
		p.t.Fatal(err)
	}
	return calls
}

// data is what the service is told.
const data = "/srv/all my data"

func (p peer) manager() *service.Manager {
	p.t.Helper()
	m, err := service.For(service.Spec{Name: "mneme", Program: "/bin/true", Data: data, Args: []string{"serve", "--data", data}})
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p peer) says(err error, want ...string) {
	p.t.Helper()
	for _, text := range want {
		if err == nil || !strings.Contains(err.Error(), text) {
			p.t.Errorf("it says %v, want %q", err, text)
		}
	}
}

func (p peer) is(m *service.Manager, want service.State) {
	p.t.Helper()
	if got, err := m.State(); err != nil || got != want {
		p.t.Errorf("it is %q, %v; want %q", got, err, want)
	}
}

func TestAServiceFromItsInstallationToItsEnd(t *testing.T) {
	p := newPeer(t)
	m := p.manager()
	file := filepath.Join(p.home, ".config", "systemd", "user", "mneme.service")
	if m.File() != file || m.Data() != "" {
		t.Errorf("before: %s, %q", m.File(), m.Data())
	}
	p.is(m, service.Absent)
	for _, act := range []func() error{m.Start, m.Stop, m.Uninstall} {
		p.says(act(), "no service called mneme is installed: run mneme service install")
	}
	if err := m.Install(); err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(file); err != nil || string(body) != m.Unit() || m.Data() != data {
		t.Errorf("installed: %v, data in %q\n%s\nwant\n%s", err, m.Data(), body, m.Unit())
	}
	if got := p.asked(); !slices.Equal(got, []string{"enable --user mneme.service", "daemon-reload --user"}) {
		t.Errorf("systemd was asked %q", got)
	}
	p.is(m, service.Stopped)
	p.says(m.Install(), "is installed already ("+file+")", "mneme service uninstall", "--name")
	if err := m.Start(); err != nil {
		t.Error(err)
	}
	p.is(m, service.Running)
	if err := m.Stop(); err != nil {
		t.Error(err)
	}
	p.is(m, service.Stopped)
	if err := m.Start(); err != nil {
		t.Error(err)
	}
	p.asked()
	if err := m.Uninstall(); err != nil {
		t.Error(err)
	}
	if got := p.asked(); !slices.Equal(got, []string{"stop --user mneme.service", "disable --user mneme.service",
		"daemon-reload --user"}) {
		t.Errorf("systemd was asked %q", got)
	}
	p.is(m, service.Absent)
	if err := m.Install(); err != nil {
		t.Fatalf("again: %v", err)
	}
	p.asked()
	if err := m.Uninstall(); err != nil {
		t.Error(err)
	}
	if got := p.asked(); slices.Contains(got, "stop --user mneme.service") {
		t.Errorf("one that does not run was stopped: %q", got)
	}
}

// What systemd refuses is told, and leaves nothing half done.
func TestAServiceThatIsRefused(t *testing.T) {
	p := newPeer(t)
	m := p.manager()
	const why = "systemctl: exit status 1; systemctl --user status mneme may say why"
	undo := p.set("refuse-enable", "no room")
	const whyNot = "systemctl: exit status 1; systemctl --user daemon-reload may say why"
	gone := func(what string) {
		t.Helper()
		wants := filepath.Join(filepath.Dir(m.File()), "default.target.wants", "mneme.service")
		for _, path := range []string{m.File(), wants} {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is left: %v", what, path, err)
			}
		}
	}
	p.says(m.Install(), "install the service: ", whyNot)
	gone("it can't be enabled")
	undo()
	undo = p.set("refuse-daemon-reload", "no bus")
	p.says(m.Install(), "install the service: ", whyNot)
	gone("systemd can't read it")
	undo()
	// A link that was left behind goes, and is not taken for a service.
	if err := m.Install(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.File()); err != nil {
		t.Fatal(err)
	}
	p.is(m, service.Absent)
	if err := m.Uninstall(); err != nil {
		t.Errorf("a link alone: %v", err)
	}
	gone("a link alone")
	p.says(m.Uninstall(), "no service called mneme is installed")
	if err := m.Install(); err != nil {
		t.Fatal(err)
	}
	undo = p.set("refuse-start", "Job failed")
	p.says(m.Start(), "start the service: ", why)
	undo()
	undo = p.set("no-right-to-start", "")
	p.says(m.Start(), "start the service: this user may not", "sudo", "exit status 4")
	undo()
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	undo = p.set("refuse-stop", "busy")
	p.says(m.Stop(), "stop the service: ", why)
	p.says(m.Uninstall(), "stop the service: ", why)
	p.is(m, service.Running)
	undo()
	p.set("failed", "")
	p.is(m, service.Stopped) // it failed, and is there
	if err := os.Remove(m.File()); err != nil {
		t.Fatal(err)
	}
	_, err := m.State()
	p.says(err, "look for the service: ")
}

// A unit that systemd has not read yet is not written over.
func TestAUnitThatSystemdHasNotRead(t *testing.T) {
	p := newPeer(t)
	m := p.manager()
	if err := os.MkdirAll(filepath.Dir(m.File()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.File(), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.set("unread", "")
	p.is(m, service.Stopped)
	p.says(m.Install(), "is installed already")
	p.set("failed", "")
	p.says(m.Install(), "is installed already")
	if body, err := os.ReadFile(m.File()); err != nil || string(body) != "mine" {
		t.Errorf("it is %q now, %v", body, err)
	}
}

func TestNoPlaceForAService(t *testing.T) {
	p := newPeer(t)
	if err := os.WriteFile(filepath.Join(p.home, ".config"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.says(p.manager().Install(), "install the service: ", ".config")
	_, err := service.For(service.Spec{Name: "mneme", Program: "/bin/true", Args: []string{"a\nb"}})
	if !errors.Is(err, service.ErrText) {
		t.Errorf("a control character: %v", err)
	}
	t.Setenv("HOME", "")
	_, err = service.For(service.Spec{Name: "mneme", Program: "/bin/true"})
	p.says(err, "find where this user's services are")
	m, err := service.For(service.Spec{Name: "mneme", Program: "/bin/true", System: true})
	if err != nil || m.File() != "/etc/systemd/system/mneme.service" {
		t.Errorf("of the machine: %v, %v", m, err)
	}
	t.Setenv("PATH", t.TempDir())
	_, err = service.For(service.Spec{Name: "mneme", Program: "/bin/true", System: true})
	p.says(err, "there is no systemd", "mneme serve")
}
