//go:build unix

package supervise

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// killGroup kills a backend with what it started.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // gone already is what is wanted

// guard is a shell that outlives this process by a moment: when this process ends
// without having dismissed it, it kills what the backend started, which the kernel
// spares when it kills the backend, and removes the socket's folder.
type guard struct {
	cmd *exec.Cmd
	end *os.File
}

// guardScript is what the guard runs. Processes that have left the group are found by
// their environment, which names the socket's folder.
const guardScript = `read -r x && exit
kill -s KILL -- "-$1"
for e in /proc/[0-9]*/environ; do
	if grep -qzxF "PLUGIN_UNIX_SOCKET_DIR=$2" "$e" 2>/dev/null; then e=${e#/proc/}; kill -s KILL "${e%/environ}"; fi
done
rm -rf -- "$2"`

// newGuard starts a guard over the group of a process; nil where there is no shell.
func newGuard(pid int, dir string) *guard {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	//nolint:noctx // it ends with the backend
	cmd := exec.Command("/bin/sh", "-c", guardScript, "mneme-guard", strconv.Itoa(pid), dir)
	cmd.Stdin, cmd.Env, cmd.SysProcAttr = r, []string{"PATH=/usr/bin:/bin"}, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil
	}
	return &guard{cmd: cmd, end: w}
}

// dismiss ends the guard without harm.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_, _ = g.end.WriteString("x\n") // a guard that is gone needs no word
	g.end.Close()
	_ = g.cmd.Wait()
}
