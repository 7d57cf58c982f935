package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// canListProcesses is whether this system reports which processes a program has started.
const canListProcesses = true

// processInfo is what /proc/PID tells: proc(5), stat.
type processInfo struct {
	pid, parent int
	resident    int64 // bytes
}

func processes() []processInfo {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	var all []processInfo
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The second field is the program's name in brackets, which may hold anything.
		_, rest, _ := strings.Cut(string(b[max(bytes.LastIndexByte(b, ')'), 0):]), " ")
		fields := strings.Fields(rest)
		if len(fields) < 22 {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parent, parentErr := strconv.Atoi(fields[1])
		pages, pagesErr := strconv.ParseInt(fields[21], 10, 64)
		if errors.Join(err, parentErr, pagesErr) == nil && fields[0] != "Z" {
			all = append(all, processInfo{pid, parent, pages * int64(os.Getpagesize())})
		}
	}
	return all
}

// backendPIDs finds the children of this process that run a command: the program itself, or an
// interpreter that runs it, with the same arguments.
func backendPIDs(command []string) []int {
	var pids []int
	for _, p := range processes() {
		if p.parent != os.Getpid() {
			continue
		}
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.pid), "cmdline"))
		if err != nil {
			continue
		}
		line := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
		at := len(line) - len(command)
		if at >= 0 && slices.Equal(line[at+1:], command[1:]) && filepath.Base(line[at]) == filepath.Base(command[0]) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// residentBytes is the memory of processes and of everything that they started.
func residentBytes(pids []int) int64 {
	all := processes()
	counted := map[int]bool{}
	for _, pid := range pids {
		counted[pid] = true
	}
	for grown := true; grown; {
		grown = false
		for _, p := range all {
			if counted[p.parent] && !counted[p.pid] {
				counted[p.pid], grown = true, true
			}
		}
	}
	n := int64(0)
	for _, p := range all {
		if counted[p.pid] {
			n += p.resident
		}
	}
	return n
}

// killBackends ends the backends of a command without warning.
func killBackends(command []string) error {
	pids := backendPIDs(command)
	if len(pids) == 0 {
		return errors.New("its process was not found")
	}
	var errs []error
	for _, pid := range pids {
		errs = append(errs, syscall.Kill(pid, syscall.SIGKILL))
	}
	return errors.Join(errs...)
}
