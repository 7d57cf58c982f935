package supervise

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// attributes keeps what is typed into this process's console from the backend, which ends
// when it is told to, and opens no window for it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// killGroup kills a backend; what it started ends with its guard.
func killGroup(p *os.Process) { _ = p.Kill() } // gone already is what is wanted

// guard is a job that a backend and what it starts belong to. They end when its last handle
// is closed, which this process has: however it ends, they do.
type guard struct{ job windows.Handle }

// newGuard puts a process into a job of its own; nil where that can't be.
func newGuard(pid int, _ string) *guard {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, pid)
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil
	}
	return &guard{job: job}
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(job, process)
}

// dismiss ends what is left of the backend.
func (g *guard) dismiss() {
	if g != nil {
		_ = windows.CloseHandle(g.job)
	}
}
