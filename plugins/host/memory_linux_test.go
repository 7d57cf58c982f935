package host_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/plugins/host"
	"github.com/mnemehq/mneme/plugins/sdk"
)

const hoarded = 1 << 30 // where a backend that nobody stops stops by itself

// hoard takes more and more memory.
func hoard() {
	var all [][]byte
	for range hoarded >> 23 {
		piece := make([]byte, 1<<23)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		all = append(all, piece)
	}
	runtime.KeepAlive(all)
}

// systemConducts are those of backends that only this system watches.
func systemConducts() map[string]func([]string) {
	return map[string]func([]string){
		"hoard":       func([]string) { sdk.Serve(hoarder{}) },
		"hoard-first": func([]string) { hoard(); sdk.Serve(embedder{}) },
		"hoard-alone": func([]string) { hoard() },
		"share":       func(a []string) { share(a[0], true); sdk.Serve(embedder{}) },
		"share-child": func(a []string) { share(a[0], false); write(a[0]+".ready", "yes"); time.Sleep(time.Hour) },
	}
}

// hoarder hoards with a text that says EVIL, and has a process that has left its group do
// so with one that says CHILD.
type hoarder struct{ embedder }

func (h hoarder) Embed(ctx context.Context, as port.TextKind, texts []string) (port.Dense, error) {
	for _, text := range texts {
		switch {
		case strings.HasPrefix(text, "EVIL"):
			hoard()
		case strings.HasPrefix(text, "CHILD"):
			child := exec.CommandContext(ctx, os.Args[0], "backend", "hoard-alone")
			child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := child.Run(); err != nil {
				return port.Dense{}, err
			}
		}
	}
	return h.embedder.Embed(ctx, as, texts)
}

// shared is how much memory two processes share.
const shared = 192 << 20

// share maps a file of memory and touches all of it; the first to do so starts another
// and waits for it.
func share(file string, first bool) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Truncate(shared)
	}
	var b []byte
	if err == nil {
		b, err = unix.Mmap(int(f.Fd()), 0, shared, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if !first {
		return
	}
	child := exec.Command(os.Args[0], "backend", "share-child", file)
	if err := child.Start(); err != nil {
		panic(err)
	}
	for _, err := os.Stat(file + ".ready"); err != nil; _, err = os.Stat(file + ".ready") {
		time.Sleep(time.Millisecond)
	}
}

func figures(m port.Model) port.ModelFigures { return m.(port.Measured).Figures() }

// TestMemoryLimit: a backend that takes memory without end, itself or by a process that it
// has sent away, is ended at its limit, says so, and is started again.
func TestMemoryLimit(t *testing.T) {
	const limit = 256
	o, log := logged(host.Options{MTLS: true, MemoryMB: limit, CallTimeout: time.Minute})
	m := open(t, o, "hoard")
	good := func() error { _, err := embed(t.Context(), m, "good"); return err }
	if err := good(); err != nil {
		t.Fatal(err)
	}
	if f := figures(m); f.Memory < 1<<20 || f.Memory > limit<<20 || f.MaxMemory != limit<<20 || len(f.Restarts) != 0 {
		t.Errorf("%+v", f)
	}
	for i, text := range []string{"EVIL", "CHILD"} {
		if _, err := embed(t.Context(), m, text); fault.CodeOf(err) != fault.Unavailable {
			t.Fatalf("%s: %v", text, err)
		}
		if err := unanswered(t, good); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "memory_mb allows "+strconv.Itoa(limit)); n != i+1 {
			t.Errorf("%s: %d ends for memory in the log:\n%s", text, n, log.String())
		}
		if f := figures(m); f.Restarts[port.RestartMemory] != int64(i+1) || f.Restarts[port.RestartFailure] != 0 {
			t.Errorf("%s: %+v", text, f)
		}
	}
	if !strings.Contains(log.String(), `msg="backend ended"`) {
		t.Errorf("%s", log.String())
	}
}

// TestMemoryLimitAtStart: one that takes too much before it serves is refused with the reason.
func TestMemoryLimitAtStart(t *testing.T) {
	_, err := start(t, host.Options{MTLS: true, MemoryMB: 128}, "hoard-first")
	if err == nil || !strings.Contains(err.Error(), "memory_mb allows 128") {
		t.Errorf("%v", err)
	}
}

// TestSharedMemory: what processes of a backend share counts once.
func TestSharedMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "mneme-test-") // files elsewhere can be written out, and do not count
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	o, log := logged(host.Options{MTLS: true, MemoryMB: 300})
	m := open(t, o, "share", filepath.Join(dir, "shared"))
	before := pid(t, log)
	if f := figures(m); f.Memory < shared || f.Memory > 300<<20 {
		t.Errorf("%d MB", f.Memory>>20)
	}
	if _, err := embed(t.Context(), m, "a"); err != nil || pid(t, log) != before || len(figures(m).Restarts) != 0 {
		t.Errorf("%v:\n%s", err, log.String())
	}
	// Without a limit nothing is asked of the kernel that costs more, and both count.
	m = open(t, host.Options{MTLS: true}, "share", filepath.Join(dir, "again"))
	f := figures(m)
	for end := time.Now().Add(time.Minute); f.Memory < 2*shared && time.Now().Before(end); f = figures(m) {
		time.Sleep(10 * time.Millisecond) // the second process is looked for from time to time
	}
	if f.Memory < 2*shared || f.MaxMemory != 0 {
		t.Errorf("%+v", f)
	}
}

// TestFirstToGo: when the machine is out of memory, the kernel takes a backend first.
func TestFirstToGo(t *testing.T) {
	o, log := logged(host.Options{MTLS: true})
	open(t, o, "embedder")
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid(t, log)) + "/oom_score_adj")
	if err != nil || strings.TrimSpace(string(b)) != "1000" {
		t.Errorf("%s, %v", b, err)
	}
}

// TestRestartsPerHour: a backend that ends too often stays down, though it answered in between.
func TestRestartsPerHour(t *testing.T) {
	o, log := logged(host.Options{MTLS: true, MaxRestartsPerHour: 2})
	m := open(t, o, "mortal")
	for i := range 3 {
		if err := unanswered(t, func() error { _, err := embed(t.Context(), m, "good"); return err }); err != nil {
			t.Fatal(err)
		}
		if _, err := embed(t.Context(), m, "EVIL "+strconv.Itoa(i)); fault.CodeOf(err) != fault.Unavailable {
			t.Fatal(err)
		}
	}
	within(t, time.Minute, "it stays down", func() bool { return strings.Contains(log.String(), "ends_in_an_hour=3") })
	if _, err := embed(t.Context(), m, "good"); fault.From(err).RetryAfter != 0 ||
		!strings.Contains(err.Error(), "will not be started again") {
		t.Errorf("%v", err)
	}
	if f := figures(m); f.Restarts[port.RestartFailure] != 3 || f.Memory != 0 {
		t.Errorf("%+v", f)
	}
}
