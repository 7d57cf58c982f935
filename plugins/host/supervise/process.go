package supervise

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// handshake is how the line begins in which a backend says where it listens.
// Other lines before it are only logged.
var handshake = regexp.MustCompile(`^\d+\|\d+\|[a-z]+\|`)

// process is one run of a backend. It implements go-plugin's runner, and adds
// what that leaves open: a death with this process, whatever the way it ends; the
// whole process group; a standard input that ends when this process does; and
// output that can neither block the backend nor grow.
type process struct {
	cmd     *exec.Cmd
	dir     string // private folder of the socket
	private bool   // refuse any address but a socket in dir
	out     *output
	limit   int64 // of its memory, in bytes; 0: none

	memory *memory // of a process that runs

	stdin           *os.File // write end; its end tells the backend to go
	stdout, stderr  *os.File
	handshakeLine   *io.PipeReader // the handshake line, then nothing until the end
	handshakeWriter *io.PipeWriter
	reading         sync.WaitGroup

	mu        sync.Mutex
	running   *os.Process   // from its start until it is reaped, when its number may become another's
	killed    bool          // kill was called
	greeted   bool          // the handshake line came
	certified bool          // and carried a certificate
	exceeded  error         // why it was ended for its memory
	exited    chan struct{} // closed when it is gone, with its group, and err is set
	err       error
}

func newProcess(cmd *exec.Cmd, dir string, private bool, out *output) *process {
	p := &process{cmd: cmd, dir: dir, private: private, out: out, exited: make(chan struct{})}
	p.handshakeLine, p.handshakeWriter = io.Pipe()
	return p
}

// Start implements runner.Runner.
func (p *process) Start(context.Context) error {
	in, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), stdin.Close())
	}
	stderr, errs, err := os.Pipe()
	if err != nil {
		return errors.Join(err, in.Close(), stdin.Close(), stdout.Close(), out.Close())
	}
	p.stdin, p.stdout, p.stderr = stdin, stdout, stderr
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	p.cmd.SysProcAttr = attributes()
	started := make(chan error, 1)
	p.reading.Add(2)
	go p.run(started)
	err = <-started
	for _, f := range []*os.File{in, out, errs} {
		f.Close()
	}
	if err != nil {
		for _, f := range []*os.File{stdin, stdout, stderr} {
			f.Close()
		}
		_ = p.handshakeWriter.Close()
		return err
	}
	go p.readStdout()
	go p.readStderr()
	if p.limit > 0 {
		go p.keepMemory(p.limit)
	}
	return nil
}

// run starts the backend and stays with it, on one thread: the kernel kills the
// backend when the thread that started it ends, so that thread must not end first.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil {
		p.err = err
		close(p.exited)
		started <- err
		return
	}
	p.mu.Lock()
	p.running = p.cmd.Process
	killed := p.killed
	p.mu.Unlock()
	if killed {
		p.kill()
	}
	firstToGo(p.cmd.Process.Pid)
	p.memory = newMemory(p.cmd.Process.Pid, p.dir)
	g := newGuard(p.cmd.Process.Pid, p.dir)
	started <- nil
	err := reap(p.cmd, func() { // what it started must not stay, nor keep the pipes open
		p.mu.Lock()
		p.running = nil
		killGroup(p.cmd.Process)
		p.mu.Unlock()
		g.dismiss()
	})
	killStrays(p.dir)
	// What it wrote before it ended is in the pipes. Something that left the group
	// may hold their other end.
	soon := time.Now().Add(200 * time.Millisecond)
	_ = errors.Join(p.stdout.SetReadDeadline(soon), p.stderr.SetReadDeadline(soon)) // pipes have deadlines
	p.reading.Wait()
	p.mu.Lock()
	p.err = err
	if err == nil {
		p.err = errors.New("exit status 0")
	}
	if p.exceeded != nil {
		p.err = p.exceeded
	}
	p.mu.Unlock()
	close(p.exited)
	p.stdin.Close()
	p.stdout.Close()
	p.stderr.Close()
	_ = p.handshakeWriter.Close()
}

func (p *process) readStdout() {
	defer p.reading.Done()
	rest := &lineWriter{to: p.out, stream: "stdout", level: slog.LevelDebug}
	defer rest.flush()
	r := bufio.NewReaderSize(p.stdout, 16<<10)
	for {
		line, err := r.ReadSlice('\n')
		if err == nil && handshake.Match(line) {
			parts := strings.Split(strings.TrimSpace(string(line)), "|")
			p.mu.Lock()
			p.greeted, p.certified = true, len(parts) > 5 && len(parts[5]) > 50
			p.mu.Unlock()
			if _, err := p.handshakeWriter.Write(line); err != nil {
				return
			}
			break
		}
		_, _ = rest.Write(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
	_, _ = io.Copy(rest, r) // ends with the process
}

func (p *process) readStderr() {
	defer p.reading.Done()
	to := &lineWriter{to: p.out, stream: "stderr", level: slog.LevelInfo}
	defer to.flush()
	_, _ = io.Copy(to, p.stderr) // ends with the process
}

// greeting reports whether the handshake line came, and with a certificate.
func (p *process) greeting() (came, certified bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.greeted, p.certified
}

// end asks the backend to go and, once grace is over, kills it with its group.
func (p *process) end(grace time.Duration) {
	p.stdin.Close()
	if grace > 0 {
		select {
		case <-p.exited:
			return
		case <-time.After(grace):
		}
	}
	p.kill()
	<-p.exited
}

// kill ends the backend with its group.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.running != nil {
		killGroup(p.running)
	}
}

// Wait implements runner.Runner.
func (p *process) Wait(context.Context) error { <-p.exited; return p.err }

// Kill implements runner.Runner.
func (p *process) Kill(context.Context) error { p.kill(); return nil }

// Stdout implements runner.Runner: it gives the handshake line only.
func (p *process) Stdout() io.ReadCloser { return p.handshakeLine }

// Stderr implements runner.Runner: the process reads that itself.
func (p *process) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

// Name implements runner.Runner.
func (p *process) Name() string { return p.cmd.Path }

// ID implements runner.Runner.
func (p *process) ID() string {
	if p.cmd.Process == nil {
		return ""
	}
	return fmt.Sprint(p.cmd.Process.Pid)
}

// Diagnose implements runner.Runner.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner. Without TLS only the folder's
// permissions keep others away, so no other address is taken.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	if p.private {
		if network != "unix" || filepath.Dir(filepath.Clean(address)) != filepath.Clean(p.dir) {
			return "", "", fmt.Errorf("without mtls a backend has to listen on a unix socket in the folder that "+
				"PLUGIN_UNIX_SOCKET_DIR names, not on %s %s", network, address)
		}
	}
	if host, _, err := net.SplitHostPort(address); network == "tcp" && (err != nil || !net.ParseIP(host).IsLoopback()) {
		return "", "", fmt.Errorf("a backend has to listen on this machine alone, not on %s", address)
	}
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

var _ runner.Runner = (*process)(nil)
