package service

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kardianos/service"
)

// installed is the path of a program of this machine.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: %s is not installed", name)
	}
	return path
}

// odd has what must not be read as more than text.
var odd = Spec{Name: "mneme", Program: "/opt/my progs/mneme", Data: `/d a/100% "x" $HOME\y`,
	Args: []string{"serve", "--data", `/d a/100% "x" $HOME\y`, "--addr", "127.0.0.1:0", "<&>'"}}

// verified has systemd itself read a unit; what it complains of fails the test.
func verified(t *testing.T, unit string, user bool) {
	t.Helper()
	program := installed(t, "systemd-analyze")
	dir := t.TempDir()
	file := filepath.Join(dir, "mneme.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"verify", "--man=no"}
	if user {
		args = append(args, "--user")
	}
	cmd := exec.Command(program, append(args, file)...)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "HOME="+dir)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "mneme.service") {
			t.Errorf("systemd says %s", line)
		}
	}
	if err != nil {
		t.Logf("systemd-analyze: %v\n%s", err, out)
	}
	if strings.Contains(string(out), "Failed to initialize manager") {
		t.Errorf("not verified: %s", out)
	}
}

func TestSystemd(t *testing.T) {
	of := func(change func(*Spec)) string {
		s := odd
		s.Program = "/bin/true"
		change(&s)
		unit, err := Systemd(s)
		if err != nil {
			t.Fatal(err)
		}
		return unit
	}
	user := of(func(*Spec) {})
	want := `ExecStart="/bin/true" "serve" "--data" "/d a/100%% \"x\" $$HOME\\y" "--addr" "127.0.0.1:0" "<&>'"` + "\n"
	if !strings.Contains(user, want) || !strings.Contains(user, "WantedBy=default.target") || strings.Contains(user, "User=") {
		t.Errorf("the unit of a user is\n%s", user)
	}
	if got := DataIn(user); got != odd.Data {
		t.Errorf("its data are in %q", got)
	}
	machine := of(func(s *Spec) { s.System, s.Data, s.Args = true, "", []string{"serve"} })
	if !strings.Contains(machine, "DynamicUser=yes\nStateDirectory=mneme\n") ||
		!strings.Contains(machine, "MNEME_DATA=%S/mneme") || !strings.Contains(machine, "WantedBy=multi-user.target") ||
		DataIn(machine) != "" {
		t.Errorf("the unit of the machine is\n%s", machine)
	}
	somebody := of(func(s *Spec) { s.System, s.User = true, "daemon" })
	if !strings.Contains(somebody, "User=daemon\n") || strings.Contains(somebody, "DynamicUser") {
		t.Errorf("the unit of the machine for a user is\n%s", somebody)
	}
	verified(t, user, true)
	verified(t, machine, false)
	verified(t, somebody, false)
}

// listed are the keys of launchd.plist(5) that may be used, and what their values are; of what is not there,
// launchd takes no notice.
var listed = map[string]string{"Label": "str", "ProgramArguments": "list", "RunAtLoad": "bool", "KeepAlive": "dict",
	"ThrottleInterval": "int", "ExitTimeOut": "int", "Umask": "int", "UserName": "str"}

// parsed is what Python's parser of property lists makes of one, and the types of its values.
func parsed(t *testing.T, list string) (values map[string]any, types map[string]string) {
	t.Helper()
	cmd := exec.Command(installed(t, "python3"), "-c", `import json, plistlib, sys
of = plistlib.loads(sys.stdin.buffer.read())
print(json.dumps([of, {key: type(value).__name__ for key, value in of.items()}]))`)
	cmd.Stdin = strings.NewReader(list)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	if err := json.Unmarshal(out, &[]any{&values, &types}); err != nil {
		t.Fatal(err)
	}
	return values, types
}

func TestLaunchd(t *testing.T) {
	daemon := odd
	daemon.System, daemon.User = true, "_mneme"
	for name, s := range map[string]Spec{"agent": odd, "daemon": daemon} {
		list, err := Launchd(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := DataIn(list); got != odd.Data {
			t.Errorf("%s: its data are in %q", name, got)
		}
		got, types := parsed(t, list)
		for key, is := range types {
			if is != listed[key] {
				t.Errorf("%s: %s is a %s, launchd wants %q", name, key, is, listed[key])
			}
		}
		want := map[string]any{"Label": "mneme", "RunAtLoad": true, "KeepAlive": map[string]any{"SuccessfulExit": false},
			"ThrottleInterval": 5., "ExitTimeOut": 150., "Umask": float64(0o077),
			"ProgramArguments": []any{odd.Program, "serve", "--data", odd.Data, "--addr", "127.0.0.1:0", "<&>'"}}
		if s.User != "" {
			want["UserName"] = s.User
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v\nwant %v", name, got, want)
		}
	}
}

func TestWindows(t *testing.T) {
	s := Spec{Name: "mneme", Program: `C:\Program Files\Mneme\mneme.exe`, User: LocalService,
		Args: []string{"serve", "--data", `C:\ProgramData\Mneme`}}
	want := "Name: mneme\nDisplay name: Mneme\nDescription: " + Description + "\nAccount: NT AUTHORITY\\LocalService\n" +
		"Start: automatic\nAfter a failure: start again after 5 s\n" +
		"Command line: \"C:\\Program Files\\Mneme\\mneme.exe\" serve --data C:\\ProgramData\\Mneme\n"
	if got := Windows(s); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestDataAmongWords(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{nil, ""},
		{[]string{"--data"}, ""},
		{[]string{`C:\mneme.exe`, "serve"}, ""},
		{[]string{"--data", `C:\a`}, `C:\a`},
		{[]string{`C:\mneme.exe`, "serve", "--data", `C:\all my data`, "--addr", ":1"}, `C:\all my data`},
	} {
		if got := dataAmong(c.words); got != c.want {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

func TestRefusedText(t *testing.T) {
	for _, bad := range []string{"a\nExecStart=/bin/sh", "{{x}}", "a\x00"} {
		s := odd
		s.Args = []string{bad}
		if _, err := Systemd(s); !errors.Is(err, ErrText) {
			t.Errorf("%q in a unit: %v", bad, err)
		}
		if _, err := Launchd(s); !errors.Is(err, ErrText) {
			t.Errorf("%q in a property list: %v", bad, err)
		}
	}
}

// A manager that stops by a call ends the server as SIGTERM does, and waits for it.
func TestManaged(t *testing.T) {
	running, ended := make(chan struct{}), false
	err := runManaged(t.Context(), func(ctx context.Context) error {
		close(running)
		<-ctx.Done()
		ended = true
		return nil
	}, func(int) { t.Error("the process was ended") }, func(p service.Interface) error {
		if err := p.Start(nil); err != nil {
			return err
		}
		<-running
		return p.Stop(nil)
	})
	if err != nil || !ended {
		t.Errorf("%v, ended %v", err, ended)
	}
	failed := errors.New("no room")
	err = runManaged(t.Context(), func(ctx context.Context) error {
		<-ctx.Done()
		return failed
	}, func(int) { t.Error("the process was ended") }, func(p service.Interface) error {
		return errors.Join(p.Start(nil), p.Stop(nil))
	})
	if !errors.Is(err, failed) {
		t.Errorf("a failure at the end gives %v", err)
	}
	for code, failure := range map[int]error{0: nil, 1: failed} { // it ends by itself
		exited := make(chan int)
		_ = runManaged(t.Context(), func(context.Context) error { return failure }, func(c int) { exited <- c },
			func(p service.Interface) error {
				err := p.Start(nil)
				if got := <-exited; got != code {
					t.Errorf("exit code %d, want %d", got, code)
				}
				return err
			})
	}
	refused := errors.New("no manager here")
	if err := runManaged(t.Context(), nil, nil, func(service.Interface) error { return refused }); !errors.Is(err, refused) ||
		!strings.Contains(err.Error(), "run as a service: ") {
		t.Errorf("a manager that refuses gives %v", err)
	}
	if err := Run(t.Context(), func(context.Context) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("without a manager: %v", err)
	}
}

// For a system that this is not, too, what would be installed can be told.
func TestOtherSystems(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	of := func(system string, change func(*Spec)) (*Manager, error) {
		s := Spec{Name: "mneme", Program: "/bin/mneme", Args: []string{"serve"}}
		change(&s)
		return forSystem(system, s)
	}
	machine := func(s *Spec) { s.System, s.User = true, "_mneme" }
	for want, change := range map[string]func(*Spec){
		filepath.Join(home, "Library/LaunchAgents/mneme.plist"): func(*Spec) {},
		"/Library/LaunchDaemons/mneme.plist":                    machine,
	} {
		if m, err := of("darwin", change); err == nil {
			if list, _ := Launchd(m.spec); m.File() != want || m.Unit() != list {
				t.Errorf("launchd: %s, want %s\n%s", m.File(), want, m.Unit())
			}
		} else if !errors.Is(err, service.ErrNoServiceSystemDetected) {
			t.Errorf("launchd: %v", err)
		}
	}
	if m, err := of("windows", machine); err == nil {
		if m.File() != "" || m.Data() != "" || m.there() || m.Unit() != Windows(m.spec) {
			t.Errorf("Windows: %q\n%s", m.File(), m.Unit())
		}
	} else if !errors.Is(err, service.ErrNoServiceSystemDetected) {
		t.Errorf("Windows: %v", err)
	}
	if _, err := of("windows", func(*Spec) {}); err == nil ||
		!strings.Contains(err.Error(), "give --system, as an administrator") {
		t.Errorf("a user's service of Windows: %v", err)
	}
	if _, err := of("plan9", machine); err == nil || !strings.Contains(err.Error(), "not supported on plan9") {
		t.Errorf("a system without services: %v", err)
	}
	for _, system := range []string{"darwin", "windows"} {
		if _, err := of(system, func(s *Spec) { machine(s); s.Args = []string{"a\nb"} }); !errors.Is(err, ErrText) {
			t.Errorf("a control character for %s: %v", system, err)
		}
	}
}

// told is a manager that keeps its services in no file, as that of Windows does.
type told struct {
	service.Service
	state     service.Status
	err       error
	installed int
}

func (m *told) Status() (service.Status, error) { return m.state, m.err }
func (m *told) Install() error                  { m.installed++; return nil }

func TestServicesThatAreInNoFile(t *testing.T) {
	inside := &told{err: service.ErrNotInstalled}
	m := &Manager{spec: Spec{Name: "mneme"}, inside: inside}
	if err := m.Install(); err != nil || inside.installed != 1 {
		t.Errorf("installed %d times: %v", inside.installed, err)
	}
	inside.state, inside.err = service.StatusStopped, nil
	if err := m.Install(); err == nil || inside.installed != 1 ||
		!strings.Contains(err.Error(), "a service called mneme is installed already: run mneme service uninstall first") {
		t.Errorf("installed again: %v", err)
	}
	inside.err = errors.New("Access is denied.")
	if _, err := m.State(); err == nil || !strings.Contains(err.Error(), "look for the service: this user may not") {
		t.Errorf("without rights: %v", err)
	}
}
