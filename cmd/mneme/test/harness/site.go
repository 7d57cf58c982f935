package harness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Site is a data folder with a configuration, on which commands are run and a server
// at a time serves.
type Site struct {
	T      testing.TB
	Data   string   // the folder; "": the configuration says it
	Config string   // a configuration file; "": none
	Env    []string // beside this process's
	// Keep says which lines of a server's log are kept; nil: all.
	Keep func(line string) bool
}

// NewSite is a fresh folder with what a configuration file says; "": without one.
func NewSite(t testing.TB, config string) *Site {
	t.Helper()
	dir := t.TempDir()
	s := &Site{T: t, Data: filepath.Join(dir, "data")}
	if config != "" {
		s.Config = filepath.Join(dir, "mneme.yaml")
		if err := os.WriteFile(s.Config, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Command is a command of the program on the site, to be run.
func (s *Site) Command(args ...string) *exec.Cmd {
	s.T.Helper()
	args = slices.Clone(args)
	if s.Data != "" {
		args = append(args, "--data", s.Data)
	}
	if s.Config != "" {
		args = append(args, "--config", s.Config)
	}
	// The end of the test does not end it: a server is to stop in order then.
	cmd := exec.CommandContext(context.Background(), Program(s.T), args...)
	cmd.Env = append(os.Environ(), s.Env...)
	return cmd
}

// Run runs a command to its end, whatever that is.
func (s *Site) Run(args ...string) Result {
	s.T.Helper()
	return Run(s.T, s.Command(args...))
}

// Mneme runs a command that has to succeed.
func (s *Site) Mneme(args ...string) Result {
	s.T.Helper()
	return Succeed(s.T, s.Command(args...))
}

// Key makes a key.
func (s *Site) Key(args ...string) string {
	s.T.Helper()
	out := s.Mneme(append([]string{"keys", "create"}, args...)...).Stdout
	secret := strings.TrimSuffix(out, "\n")
	if secret == "" || strings.ContainsAny(secret, " \n") {
		s.T.Fatalf("keys create prints %q, not a key alone", out)
	}
	return secret
}

// Launch starts a server on a free port without waiting until it serves. It is killed
// at the end of the test.
func (s *Site) Launch(args ...string) *Server {
	s.T.Helper()
	server, err := Start(s.Command(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...), s.Keep)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(server.Kill)
	return server
}

// Serve is Launch that waits until the server serves.
func (s *Site) Serve(args ...string) *Server {
	s.T.Helper()
	server := s.Launch(args...)
	if err := server.Ready(); err != nil {
		s.T.Fatal(err)
	}
	return server
}
