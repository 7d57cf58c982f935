package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kardianos/service"

	"github.com/mnemehq/mneme/adapters/disk"
)

// State is how a service fares.
type State string

// The states of a service.
const (
	Running State = "running"
	Stopped State = "stopped"
	Absent  State = "not installed"
)

// Manager is the system's part that runs services.
type Manager struct {
	spec   Spec
	file   string // of the unit; "": the system keeps it elsewhere
	link   string // to it, by which systemd starts it by itself; "": there is none
	unit   string
	inside service.Service
}

// For is this system's manager for a service.
func For(s Spec) (*Manager, error) { return forSystem(runtime.GOOS, s) }

func forSystem(system string, s Spec) (*Manager, error) {
	m := &Manager{spec: s}
	config := &service.Config{Name: s.Name, DisplayName: "Mneme", Description: Description, Executable: s.Program,
		Arguments: s.Args, UserName: s.User, Option: service.KeyValue{"UserService": !s.System}}
	home, err := os.UserHomeDir()
	if err != nil && !s.System {
		return nil, fmt.Errorf("find where this user's services are: %w", err)
	}
	switch system {
	case "linux":
		if _, err := exec.LookPath("systemctl"); err != nil {
			return nil, errors.New("there is no systemd (no systemctl in PATH); have what starts programs here run mneme serve")
		}
		units := "/etc/systemd/system"
		if !s.System {
			units = filepath.Join(home, ".config", "systemd", "user")
		}
		m.file = filepath.Join(units, s.Name+".service")
		m.link = filepath.Join(units, target(s)+".wants", s.Name+".service")
		if m.unit, err = Systemd(s); err != nil {
			return nil, err
		}
		config.Option["SystemdScript"] = m.unit
		for _, system := range service.AvailableSystems() {
			if system.String() == "linux-systemd" {
				m.inside, err = system.New(program{}, config)
				return m, err
			}
		}
		return nil, errors.New("services are not supported on this system; have what starts programs here run mneme serve")
	case "darwin":
		m.file = filepath.Join("/Library/LaunchDaemons", s.Name+".plist")
		if !s.System {
			m.file = filepath.Join(home, "Library", "LaunchAgents", s.Name+".plist")
		}
		if m.unit, err = Launchd(s); err != nil {
			return nil, err
		}
		config.Option["LaunchdConfig"] = m.unit
	case "windows":
		if !s.System {
			return nil, errors.New("services of Windows are those of the machine: give --system, as an administrator")
		}
		if err := s.check(); err != nil {
			return nil, err
		}
		m.unit = Windows(s)
		config.Option["OnFailure"] = "restart"
		config.Option["OnFailureDelayDuration"] = "5s"
	default:
		return nil, fmt.Errorf("services are not supported on %s; have what starts programs there run mneme serve", system)
	}
	m.inside, err = service.New(program{}, config)
	return m, err
}

// Windows shows what the service manager is told.
func Windows(s Spec) string {
	words := make([]string, 0, len(s.Args)+1)
	for _, a := range append([]string{s.Program}, s.Args...) {
		if strings.ContainsAny(a, " \t") || a == "" {
			a = `"` + a + `"`
		}
		words = append(words, a)
	}
	return fmt.Sprintf("Name: %s\nDisplay name: Mneme\nDescription: %s\nAccount: %s\nStart: automatic\n"+
		"After a failure: start again after 5 s\nCommand line: %s\n", s.Name, Description, s.User, strings.Join(words, " "))
}

// LocalService is the account of Windows with few rights that services may run as.
const LocalService = `NT AUTHORITY\LocalService`

// Unit is what is installed, as text.
func (m *Manager) Unit() string { return m.unit }

// File is where it is installed; "": in no file.
func (m *Manager) File() string { return m.file }

// Data is the data folder that the installed service was given; "" where it was given none, or where
// there is no service.
func (m *Manager) Data() string {
	if m.file == "" {
		return dataAmong(installedWords(m.spec.Name))
	}
	body, err := os.ReadFile(m.file)
	if err != nil {
		return ""
	}
	return DataIn(string(body))
}

// Install makes the service known to the system, which starts it with the machine or the
// user's session from then on.
func (m *Manager) Install() error {
	state, err := m.State()
	if err == nil && state != Absent || m.there() {
		where := ""
		if m.file != "" {
			where = " (" + m.file + ")"
		}
		return fmt.Errorf("a service called %s is installed already%s: run mneme service uninstall first, or give another --name",
			m.spec.Name, where)
	}
	if m.file != "" {
		if err := os.MkdirAll(filepath.Dir(m.file), 0o755); err != nil {
			return m.explain("install", err)
		}
	}
	if err := m.inside.Install(); err != nil {
		if m.file != "" && !errors.Is(err, fs.ErrPermission) {
			return errors.Join(m.explain("install", err), ignoreMissing(os.Remove(m.file)), m.unlink())
		}
		return m.explain("install", err)
	}
	return nil
}

// unlink removes what systemd may have made before it failed.
func (m *Manager) unlink() error {
	if m.link == "" {
		return nil
	}
	return ignoreMissing(os.Remove(m.link))
}

// dangling reports whether nothing but the link is left of a service.
func (m *Manager) dangling() bool {
	if m.link == "" || m.there() {
		return false
	}
	_, err := os.Lstat(m.link)
	return err == nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (m *Manager) there() bool {
	if m.file == "" {
		return false
	}
	_, err := os.Lstat(m.file)
	return err == nil
}

// Uninstall ends the service and makes the system forget it. Data stay.
func (m *Manager) Uninstall() error {
	if m.dangling() {
		return m.explain("uninstall", m.unlink())
	}
	if err := m.known(); err != nil {
		return err
	}
	if state, err := m.State(); err == nil && state == Running {
		if err := m.inside.Stop(); err != nil {
			return m.explain("stop", err)
		}
	}
	return m.explain("uninstall", m.inside.Uninstall())
}

// Start starts the service.
func (m *Manager) Start() error {
	if err := m.known(); err != nil {
		return err
	}
	return m.explain("start", m.inside.Start())
}

// Stop ends it, and waits.
func (m *Manager) Stop() error {
	if err := m.known(); err != nil {
		return err
	}
	return m.explain("stop", m.inside.Stop())
}

// State asks the system.
func (m *Manager) State() (State, error) {
	status, err := m.inside.Status()
	switch {
	case errors.Is(err, service.ErrNotInstalled):
		if m.there() { // the system has not heard of it yet
			return Stopped, nil
		}
		return Absent, nil
	case err != nil && m.there():
		return Stopped, nil //nolint:nilerr // it failed, or the system says nothing of it
	case err != nil:
		return Absent, m.explain("look for", err)
	case status == service.StatusRunning:
		return Running, nil
	}
	return Stopped, nil
}

func (m *Manager) known() error {
	if state, err := m.State(); err == nil && state == Absent {
		return fmt.Errorf("no service called %s is installed: run mneme service install", m.spec.Name)
	}
	return nil
}

// noRights is how systemctl ends where the user may not do what it was asked for.
const noRights = 4

func (m *Manager) explain(what string, err error) error {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission) || strings.Contains(strings.ToLower(err.Error()), "access is denied") ||
		errors.As(err, &ended) && ended.ExitCode() == noRights:
		return fmt.Errorf("%s the service: this user may not: services of the machine are for administrators (sudo), those of "+
			"a user need no --system: %w", what, err)
	case disk.Full(err):
		return fmt.Errorf("%s the service: the disk is full; make room there: %w", what, err)
	case ended != nil && runtime.GOOS == "linux": // its own words are lost
		of, ask := "", "status "+m.spec.Name
		if !m.spec.System {
			of = "--user "
		}
		if what == "install" { // nothing is left to ask about
			ask = "daemon-reload"
		}
		return fmt.Errorf("%s the service: systemctl: %w; systemctl %s%s may say why", what, err, of, ask)
	}
	return fmt.Errorf("%s the service: %w", what, err)
}

// program stands for the server where only the manager is asked.
type program struct{}

func (program) Start(service.Service) error { return nil }
func (program) Stop(service.Service) error  { return nil }

// server runs under a manager that tells its programs to end by calls, not by signals.
type server struct {
	run  func(context.Context) error
	ctx  context.Context
	stop context.CancelFunc
	done chan error
	exit func(code int)
}

// Start implements service.Interface.
func (s *server) Start(service.Service) error {
	go func() {
		err := s.run(s.ctx)
		s.done <- err
		if s.ctx.Err() == nil { // it ended by itself; the manager starts it again after a failure
			s.exit(exitCode(err))
		}
	}()
	return nil
}

// Stop implements service.Interface: as SIGTERM does, it lets calls finish.
func (s *server) Stop(service.Service) error {
	s.stop()
	return <-s.done
}

func exitCode(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

// errUnmanaged is the error of a process that no manager has started, or one that sends signals.
var errUnmanaged = errors.New("no manager calls this process")

// Run runs the server, which ends in order when ctx does or the system's manager wants it to.
func Run(ctx context.Context, run func(context.Context) error) error {
	err := runManaged(ctx, run, os.Exit, dispatch)
	if errors.Is(err, errUnmanaged) {
		return run(ctx)
	}
	return err
}

func runManaged(ctx context.Context, run func(context.Context) error, exit func(int),
	manage func(service.Interface) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := manage(&server{run: run, ctx: ctx, stop: stop, done: make(chan error, 1), exit: exit}); err != nil {
		return fmt.Errorf("run as a service: %w", err)
	}
	return nil
}
