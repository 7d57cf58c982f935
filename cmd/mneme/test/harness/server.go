package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a running server.
type Server struct {
	URL   string // where it serves, once it is ready
	Cmd   *exec.Cmd
	Ended <-chan struct{} // closed when the process has ended and its log is whole

	ready <-chan string
	said  io.Closer       // its standard error
	cut   context.Context // ends a moment after Kill
	end   func()
	http  *http.Client
	mu    sync.Mutex
	log   bytes.Buffer
}

// Start starts a server whose log goes to its standard error, which keeps the
// lines that keep says (nil: all).
func Start(cmd *exec.Cmd, keep func(line string) bool) (*Server, error) {
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	at := regexp.MustCompile(`server ready.* url=(https?://[0-9.:]+)`)
	ready, ended := make(chan string, 1), make(chan struct{})
	s := &Server{Cmd: cmd, Ended: ended, ready: ready, said: stderr, http: HTTP()}
	s.cut, s.end = context.WithCancel(context.Background())
	go func() {
		defer close(ended)
		for lines := bufio.NewReader(stderr); ; {
			line, err := lines.ReadString('\n')
			if keep == nil || keep(line) {
				s.mu.Lock()
				s.log.WriteString(line)
				s.mu.Unlock()
			}
			if m := at.FindStringSubmatch(line); m != nil {
				select {
				case ready <- m[1]:
				default: // said before
				}
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait() // how it ended is in the process's state
	}()
	return s, nil
}

// Ready waits until the server serves, and sets URL.
func (s *Server) Ready() error {
	select {
	case s.URL = <-s.ready:
		return nil
	case <-s.Ended:
		return fmt.Errorf("the server ended at its start: %s\n%s", s.Cmd.ProcessState, s.Logged())
	case <-time.After(Patience):
		return fmt.Errorf("the server is not ready after %s\n%s", Patience, s.Logged())
	}
}

// Client asks the server with a key.
func (s *Server) Client(t testing.TB, key string) Client {
	return Client{T: t, At: s.URL, Key: key, HTTP: s.http, server: s}
}

// Logged is the log so far.
func (s *Server) Logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Complaints are the lines of the log that no test wants to see.
func (s *Server) Complaints() []string { return Complaints(s.Logged()) }

// Complaints are the lines of a log that no test wants to see: panics and errors.
func Complaints(log string) (lines []string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, "panic") || strings.Contains(line, "level=ERROR") ||
			strings.Contains(line, `"level":"ERROR"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Alive ends the test when the process has ended.
func (s *Server) Alive(t testing.TB) {
	t.Helper()
	select {
	case <-s.Ended:
		t.Fatalf("the server has ended: %s\n%s", s.Cmd.ProcessState, s.Logged())
	default:
	}
}

// Kill ends the process as a power cut does, and waits for its end. Under Wine others may hold
// its log open, and now and then a connection: calls that are under way end a second later.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Kill() // it may have ended already
	select {
	case <-s.Ended:
	case <-time.After(2 * time.Second):
		_ = s.said.Close()
		<-s.Ended
	}
	time.AfterFunc(time.Second, s.end)
	s.http.CloseIdleConnections()
}

// Signal sends a signal to a process that has not ended.
func (s *Server) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := s.Cmd.Process.Signal(signal); err != nil {
		t.Fatalf("%v: %v", signal, err)
	}
}

// Stop sends a signal and waits for the end; the error says how the server ended
// where that was not in order.
func (s *Server) Stop(signal os.Signal) error {
	s.http.CloseIdleConnections()
	if err := s.Cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return s.Wait()
}

// Wait waits for the end of a server that was told to stop.
func (s *Server) Wait() error {
	select {
	case <-s.Ended:
	case <-time.After(Patience):
		return fmt.Errorf("the server has not ended after %s\n%s", Patience, s.Logged())
	}
	if code := s.Cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the server ended with %s\n%s", s.Cmd.ProcessState, s.Logged())
	}
	return nil
}
