package supervise

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes makes the backend the leader of a group of its own, and has the
// kernel kill it when the thread that starts it ends, which is when this process
// does; see process.run.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits until a child has ended and calls before. Until before has returned, no other
// process can have the child's id or that of its group.
func reap(cmd *exec.Cmd, before func()) error {
	for {
		if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	before()
	return cmd.Wait()
}

// killStrays kills what a backend started and what has left its group: it is known by
// its environment, which names the socket's folder.
func killStrays(dir string) {
	mark := []byte("PLUGIN_UNIX_SOCKET_DIR=" + dir + "\x00")
	for range 5 { // a process may start another in between
		found := false
		all, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well formed
		for _, file := range all {
			env, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(env, mark) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil &&
				syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
		if !found {
			return
		}
	}
}
