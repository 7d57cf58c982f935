package datadir_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
)

// A file system without locks, as some network drives are, is named with what to do. The system
// refuses locks to this test's own process.
func TestNoLocks(t *testing.T) {
	dir := os.Getenv("DATADIR_NO_LOCKS")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "data")
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoLocks$", "-test.v")
		cmd.Env = append(os.Environ(), "DATADIR_NO_LOCKS="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Contains(string(out), "SKIP") {
			t.Logf("%v\n%s", err, out)
		}
		if err != nil {
			t.Fail()
		}
		return
	}
	refuseLocks(t)
	_, err := datadir.Acquire(dir, "serve")
	says(t, err, dir+" is on a file system that has no locks", "name another with --data", "no locks available")
	says(t, datadir.Held(dir), "no locks, as some network drives are")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// refuseLocks has flock fail in this process from now on, as without a lock manager.
func refuseLocks(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	load := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: k}
	}
	program := []unix.SockFilter{
		load(0), // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FLOCK, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOLCK)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skipf("SKIPPED, NOT TESTED: %v", err)
	}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter))); err != 0 {
		t.Skipf("SKIPPED, NOT TESTED: the system takes no filter of calls: %v", err)
	}
}
