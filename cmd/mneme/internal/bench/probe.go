package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mnemehq/mneme/core/registry"
)

// Usage is what a server and its database have used so far. What can't be seen
// from here, as on another machine, is zero.
type Usage struct {
	ServerCPU      float64          `json:"-"`                               // seconds
	DatabaseCPU    float64          `json:"-"`                               // seconds of all its processes
	ServerMemory   int64            `json:"server_memory_bytes,omitempty"`   // resident at its peak
	DatabaseMemory int64            `json:"database_memory_bytes,omitempty"` // its processes now, shared pages once
	Folder         int64            `json:"folder_bytes,omitempty"`          // the server's data folder
	Database       int64            `json:"database_bytes,omitempty"`        // tables and indexes
	Tables         map[string]int64 `json:"tables,omitempty"`                // each of them, with what is stored out of line
	WAL            int64            `json:"-"`                               // written by the database server so far
}

// Probe reads the usage.
type Probe func(context.Context) (Usage, error)

// resources is what a set uses: its server's process, folder and parts of databases.
type resources struct {
	pid       int    // of the server
	folder    string // its data folder
	databases []registry.Isolated
}

// usage reads what the place has used.
func (p resources) usage(ctx context.Context) (Usage, error) {
	u := Usage{Tables: map[string]int64{}, ServerCPU: cpuSeconds(p.pid), ServerMemory: peakMemory(p.pid)}
	var err error
	if u.Folder, err = folderSize(p.folder); err != nil {
		return u, err
	}
	places, servers := map[string]bool{}, map[int]bool{}
	for _, d := range p.databases {
		if d.Usage == nil {
			continue
		}
		of, err := d.Usage(ctx)
		if err != nil {
			return u, err
		}
		seen := places[of.Place]
		places[of.Place] = true
		if !seen {
			for table, size := range of.Tables {
				u.Tables[table] += size
				u.Database += size
			}
		}
		switch {
		case of.PID == 0 && !seen:
			u.WAL = max(u.WAL, of.WAL)
			u.DatabaseCPU += of.CPU
			u.DatabaseMemory += of.Memory
		case of.PID == 0:
		case !servers[of.PID]:
			servers[of.PID] = true
			u.WAL += of.WAL
			for _, pid := range append(children(of.PID), of.PID) {
				u.DatabaseCPU += cpuSeconds(pid)
				u.DatabaseMemory += proportionalMemory(pid)
			}
		}
	}
	return u, nil
}

// folderSize is the size of all files below a folder. Files may disappear in the meantime.
func folderSize(dir string) (int64, error) {
	n := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("measure %s: %w", dir, err)
	}
	return n, nil
}

// ticksPerSecond is the unit of processor time in /proc: USER_HZ, 100 on every Linux.
const ticksPerSecond = 100

// stat is what follows the program's name in /proc/PID/stat: proc(5). nil: the
// process is not there, or this is no Linux.
func stat(pid int) []string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 22 {
		return nil
	}
	return fields
}

// cpuSeconds is the processor time of a process and of its children that ended.
func cpuSeconds(pid int) float64 {
	sum := 0.0
	if f := stat(pid); f != nil {
		for _, field := range f[11:15] { // utime, stime, cutime, cstime
			n, _ := strconv.ParseFloat(field, 64)
			sum += n
		}
	}
	return sum / ticksPerSecond
}

func parent(pid int) int {
	f := stat(pid)
	if f == nil {
		return 0
	}
	n, _ := strconv.Atoi(f[1])
	return n
}

func children(of int) []int {
	names, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	var out []int
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && parent(pid) == of {
			out = append(out, pid)
		}
	}
	return out
}

// peakMemory is the most that a process had resident.
func peakMemory(pid int) int64 { return kilobytes(pid, "status", "VmHWM:") }

// proportionalMemory is a process's memory with its part of what it shares.
func proportionalMemory(pid int) int64 { return kilobytes(pid, "smaps_rollup", "Pss:") }

func kilobytes(pid int, file, field string) int64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(b), field)
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(words[0], 10, 64)
	return n << 10
}
