package supervise

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// memorySeen is whether this system tells what a process holds.
const memorySeen = true

// memory is what the processes of a backend hold: those of its group, and those that have
// left it and are known by their environment, which names the socket's folder.
type memory struct {
	group int
	mark  []byte

	mu      sync.Mutex
	members []string // their folders of /proc
	looked  time.Time
}

func newMemory(group int, dir string) *memory {
	return &memory{group: group, mark: []byte("PLUGIN_UNIX_SOCKET_DIR=" + dir + "\x00")}
}

// used is how many bytes they hold, where nobody else can use them: neither what is mapped
// from files nor what the kernel can drop. Above limit it is counted with care, since
// processes share what they had when one of them started another.
func (m *memory) used(limit int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.Sub(m.looked) > membersLast {
		m.members, m.looked = m.find(), now
	}
	sum := m.sum("status", "RssAnon:", "RssShmem:", "VmSwap:")
	if sum > limit && len(m.members) > 1 {
		if shared := m.sum("smaps_rollup", "Pss_Anon:", "Pss_Shmem:", "SwapPss:"); shared > 0 {
			return shared
		}
	}
	return sum
}

func (m *memory) find() (members []string) {
	all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well formed
	for _, dir := range all {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if group, err := unix.Getpgid(pid); err == nil && group == m.group {
			members = append(members, dir)
			continue
		}
		if env, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil && bytes.Contains(env, m.mark) {
			members = append(members, dir)
		}
	}
	return members
}

// sum adds lines of a file that each process has, in bytes.
func (m *memory) sum(file string, names ...string) (sum int64) {
	for _, dir := range m.members {
		b, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil { // it has ended
			continue
		}
		for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
			for _, name := range names {
				if rest, ok := strings.CutPrefix(lines.Text(), name); ok {
					kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
					sum += kb << 10
				}
			}
		}
	}
	return sum
}

// firstToGo has the kernel end the backend before anything else when the machine is out
// of memory.
func firstToGo(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0) // if it may not, it goes by size
}
