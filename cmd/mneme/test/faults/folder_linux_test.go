package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// fill writes documents that are never changed, and gives their ids.
func (p *process) fill(namespace string, documents int) []string {
	p.T.Helper()
	var ids []string
	for from := 0; from < documents; from += 5 {
		var docs []object
		for i := from; i < min(from+5, documents); i++ {
			id := fmt.Sprintf("w%d-%02d", i%4, i)
			ids = append(ids, id)
			docs = append(docs, object{"id": id, "text": documentText(id, i+1),
				"metadata": documentMetadata(fmt.Sprint("w", i%4), id, version{i + 1, i + 1})})
		}
		p.OK("POST", "/namespaces/"+namespace+"/documents", object{"documents": docs})
	}
	return ids
}

// smallDisk is a folder on a disk of its own.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("SKIPPED: a full disk needs the right to mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}

// ballast gives functions that leave so many bytes of a disk free, and that free all again.
func ballast(t *testing.T, disk string) (occupy func(leave int64), release func()) {
	t.Helper()
	return func(leave int64) {
			t.Helper()
			for { // until what the server takes between a look and its use leaves nothing to look at
				var space syscall.Statfs_t
				if err := syscall.Statfs(disk, &space); err != nil {
					t.Fatal(err)
				}
				free := int64(space.Bavail)*space.Bsize - leave
				if free <= 0 {
					return
				}
				f, err := os.CreateTemp(disk, "ballast-*")
				if errors.Is(err, syscall.ENOSPC) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				err = syscall.Fallocate(int(f.Fd()), 0, 0, free)
				_ = f.Close() // nothing was written
				if err == nil {
					return
				}
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatal(err)
				}
			}
		}, func() {
			t.Helper()
			files, _ := filepath.Glob(filepath.Join(disk, "ballast-*")) // the pattern is well-formed
			for _, f := range files {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
		}
}

// TestFullDisk fills the disk under a running server.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 48<<20)
	s := newSite(t, filepath.Join(disk, "data"), smallIndex)
	p := s.start()
	p.fill("full", 20)
	known := p.documents(t, "full")
	occupy, release := ballast(t, disk)
	maybe := map[string]int{} // version that a write without success may have left
	refused := 0
	number := 100
	write := func() bool {
		t.Helper()
		number++
		id := fmt.Sprintf("w1-%02d", number%40)
		a := p.Call("POST", "/namespaces/full/documents",
			object{"documents": []object{{"id": id, "text": documentText(id, number),
				"metadata": documentMetadata("w1", id, version{number, number})}}})
		if a.Status == 200 {
			known[id] = document{ID: id, Text: documentText(id, number)}
			delete(maybe, id)
			return true
		}
		if a.Status != 503 || a.Code() != "unavailable" || a.Header.Get("Retry-After") == "" {
			t.Fatalf("a write on a full disk: %s (Retry-After %q)", a, a.Header.Get("Retry-After"))
		}
		maybe[id] = number
		refused++
		return false
	}
	check := func() {
		t.Helper()
		found := p.documents(t, "full")
		for id, d := range found {
			v, err := consistent(d)
			if err != nil {
				t.Error(err)
			}
			if d.Text != known[id].Text && maybe[id] != v.text {
				t.Errorf("%s is at version %d, which was not acknowledged", id, v.text)
			}
		}
		for id := range known {
			if _, ok := found[id]; !ok {
				t.Errorf("%s is lost", id)
			}
		}
	}
	occupy(512 << 10)
	for i := 0; i < 2000 && refused < 5; i++ {
		if refused > 0 {
			occupy(0)
		}
		write()
	}
	if refused < 5 {
		t.Fatal("the disk does not get full")
	}
	// Reads and queries go on, and nothing is half written.
	check()
	for _, mode := range []string{"keyword", "vector", "hybrid"} {
		var q queried
		p.OK("POST", "/namespaces/full/query", object{"query": "harbor", "mode": mode}).Into(&q)
		if len(q.Results) == 0 || len(q.Degraded) > 0 {
			t.Errorf("a %s query on a full disk: %+v", mode, q)
		}
	}
	p.OK("GET", "/health", nil)
	if a := p.Call("GET", "/health/deep", nil); a.Status != 503 || !strings.Contains(string(a.Body), "full") {
		t.Errorf("deep health on a full disk: %s", a)
	}
	a := p.Call("POST", "/namespaces/full/documents/delete", object{"ids": []string{"w1-01"}})
	if a.Status != 200 && (a.Status != 503 || a.Header.Get("Retry-After") == "") {
		t.Errorf("a deletion on a full disk: %s", a)
	}
	if a.Status == 200 {
		delete(known, "w1-01")
	}

	// A kill on a full disk loses nothing: the next start serves or says why not.
	p.Kill()
	next := s.Launch()
	if err := next.Ready(); err == nil {
		p = s.served(next)
		check()
		t.Log("the server starts on the full disk and serves")
	} else {
		if log := next.Logged(); !strings.Contains(log, "full") && !strings.Contains(log, "no space left") {
			t.Errorf("the start on a full disk says %q", log)
		}
		t.Log("the start on the full disk is refused:", strings.TrimSpace(next.Logged()))
		release()
		p = s.start()
		occupy(0)
	}

	// Space comes back: writes work without a restart.
	for i := 0; i < 300 && write(); i++ {
	}
	release()
	harness.EventuallySees(t, "writing works with space",
		func() (bool, string) { return write(), fmt.Sprint(refused, " refused") })
	for range 50 {
		if !write() {
			t.Fatal("a write is refused though there is space")
		}
	}
	check()
	p.healthy()
	p.Kill()
	p = s.start()
	check()
	p.healthy()
	t.Logf("%d writes refused, %d documents checked", refused, len(known))
}

// TestQuickstartOnAFullDisk gives a quickstart less and less to write on than it needs: wherever it comes to the end
// of that, it says so and tries nothing again.
func TestQuickstartOnAFullDisk(t *testing.T) {
	disk := smallDisk(t, 16<<20)
	occupy, release := ballast(t, disk)
	importing := false
	for free := int64(0); free <= 1400<<10; free += 200 << 10 {
		s := harness.NewSite(t, "")
		s.Data = filepath.Join(disk, "data")
		occupy(free)
		r := s.Run("quickstart", "--addr", "127.0.0.1:0", "--exit")
		if r.Code == 0 {
			t.Logf("%d KiB are enough", free>>10)
		} else if r.Code != 1 || !strings.Contains(r.Stderr, "full") || strings.Contains(r.Stderr, "trying again") {
			t.Errorf("with %d KiB: exit code %d\n%s", free>>10, r.Code, r.Stderr)
		}
		importing = importing || strings.Contains(r.Stderr, "import the sample documents: ") &&
			strings.Contains(r.Stderr, "name another data folder with --data")
		release()
		if err := os.RemoveAll(s.Data); err != nil {
			t.Fatal(err)
		}
	}
	if !importing {
		t.Error("no quickstart was importing when its disk was full")
	}
}

// TestReadOnlyFolder starts on a folder that cannot be written.
func TestReadOnlyFolder(t *testing.T) {
	s := newSite(t, "", "")
	p := s.start()
	p.fill("ro", 5)
	p.stop()
	refused := func(t *testing.T, s *harness.Site, attr *syscall.SysProcAttr) {
		t.Helper()
		for _, args := range [][]string{{"serve", "--addr", "127.0.0.1:0"}, {"keys", "create"}} {
			cmd := s.Command(args...)
			cmd.SysProcAttr = attr
			r := harness.Run(t, cmd)
			if r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, s.Data) ||
				!strings.Contains(r.Stderr, "not writable") && !strings.Contains(r.Stderr, "read-only file system") ||
				strings.Contains(r.Stderr, "goroutine") {
				t.Errorf("mneme %v on a read-only folder: exit code %d\n%s%s", args, r.Code, r.Stdout, r.Stderr)
			}
			t.Logf("mneme %v says: %s", args, strings.TrimSpace(r.Stderr))
		}
	}
	t.Run("file system", func(t *testing.T) {
		at := t.TempDir()
		err := syscall.Mount(s.Data, at, "", syscall.MS_BIND, "")
		if err == nil {
			t.Cleanup(func() { _ = syscall.Unmount(at, syscall.MNT_DETACH) })
			err = syscall.Mount("", at, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
		}
		if err != nil {
			t.Skipf("SKIPPED: a read-only file system needs the right to mount one: %v", err)
		}
		refused(t, &harness.Site{T: t, Data: at}, nil)
	})
	t.Run("another user's", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("SKIPPED: only root can start a process as another user")
		}
		for dir := s.Data; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		other := &harness.Site{T: t, Data: s.Data,
			Env: []string{"MNEME_CACHE=" + filepath.Join(os.TempDir(), fmt.Sprintf("mneme-nobody-%d", os.Getpid()))}}
		defer os.RemoveAll(strings.TrimPrefix(other.Env[0], "MNEME_CACHE="))
		refused(t, other, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}})
	})
	p = s.start()
	if n := len(p.documents(t, "ro")); n != 5 {
		t.Errorf("%d documents are left of 5", n)
	}
	p.healthy()
}

// TestTornIndex damages each file of the index in turn.
func TestTornIndex(t *testing.T) {
	t.Parallel()
	s := newSite(t, "", smallIndex)
	p := s.start()
	p.fill(steadySpace, 60)
	harness.EventuallySees(t, "segments are written", func() (bool, string) {
		files, _ := filepath.Glob(filepath.Join(s.Data, "index", "*", "*.seg")) // the pattern is well-formed
		return len(files) > 1, fmt.Sprint(files)
	})
	want := p.answers(steadySpace)
	p.stop()
	var files []string
	err := filepath.WalkDir(filepath.Join(s.Data, "index"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, s.Data))
		}
		return err
	})
	if err != nil || len(files) < 2 {
		t.Fatalf("the index has the files %v: %v", files, err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, files %v", seed, files)
	random := rand.New(rand.NewPCG(seed, 1))
	edit := func(change func([]byte) []byte) func(string) error {
		return func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, change(b), 0o600)
		}
	}
	damages := []struct {
		name string
		do   func(path string) error
	}{
		{"cut in half", edit(func(b []byte) []byte { return b[:len(b)/2] })},
		{"cut by a byte", edit(func(b []byte) []byte { return b[:len(b)-1] })},
		{"empty", edit(func([]byte) []byte { return nil })},
		{"zeroed", edit(func(b []byte) []byte { return make([]byte, len(b)) })},
		{"longer", edit(func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x"), 4096)...) })},
		{"a bit flipped", edit(func(b []byte) []byte { b[random.IntN(len(b))] ^= 1 << random.IntN(8); return b })},
		{"a page overwritten", edit(func(b []byte) []byte {
			at := random.IntN(len(b))
			for i := at; i < min(at+512, len(b)); i++ {
				b[i] = byte(random.Uint32())
			}
			return b
		})},
		{"gone", os.Remove},
		{"a folder", func(path string) error {
			return errors.Join(os.Remove(path), os.MkdirAll(filepath.Join(path, "in"), 0o700))
		}},
	}
	if n := harness.Rounds(t, len(damages), 3); n < len(damages) {
		random.Shuffle(len(damages), func(i, j int) { damages[i], damages[j] = damages[j], damages[i] })
		damages = damages[:n]
	}
	manifest := slices.IndexFunc(files, func(f string) bool { return filepath.Base(f) == "manifest" })
	if manifest < 0 {
		t.Fatalf("no manifest in %v", files)
	}
	tried := 0
	for _, d := range damages {
		segment := (manifest + 1 + random.IntN(len(files)-1)) % len(files)
		for _, at := range [][]string{{files[manifest]}, {files[segment]}, files} {
			t.Run(fmt.Sprint(d.name, at), func(t *testing.T) {
				torn := s.copy(t)
				for _, f := range at {
					if err := d.do(filepath.Join(torn.Data, f)); err != nil {
						t.Fatal(err)
					}
				}
				p := torn.start()
				defer func() {
					if t.Failed() {
						t.Log(p.Logged())
					}
				}()
				same(t, p.answers(steadySpace), want)
				p.OK("POST", "/namespaces/"+steadySpace+"/documents",
					object{"documents": []object{{"id": "more", "text": "one more zebra"}}})
				var q queried
				p.OK("POST", "/namespaces/"+steadySpace+"/query", object{"query": "zebra", "mode": "keyword"}).Into(&q)
				if len(q.Results) != 1 {
					t.Errorf("a write after the damage is not found: %+v", q)
				}
				p.Kill()
				tried++
			})
		}
	}
	t.Logf("%d damages survived", tried)
}

// TestTwoProcesses opens one folder twice.
func TestTwoProcesses(t *testing.T) {
	s := newSite(t, "", "")
	p := s.start()
	p.fill("two", 5)
	r := s.Run("serve", "--addr", "127.0.0.1:0")
	if r.Code != 1 || !strings.Contains(r.Stderr, fmt.Sprintf("process %d ", p.Cmd.Process.Pid)) ||
		!strings.Contains(r.Stderr, p.URL) || !strings.Contains(r.Stderr, s.Data) {
		t.Errorf("a second server: exit code %d\n%s", r.Code, r.Stderr)
	}
	p.healthy()

	// Keys beside the server work at once.
	use := func(key string) int {
		t.Helper()
		return p.Call("GET", "/namespaces/two", nil, "Authorization", "Bearer "+key).Status
	}
	// That they end within the documented second is tested in core/key, with a clock of
	// the test's own.
	key := s.Key("--name", "beside")
	if got := use(key); got != 200 {
		t.Errorf("a key made beside the server answers %d", got)
	}
	var listed struct {
		Keys []struct{ ID, Name, State string }
	}
	if err := json.Unmarshal([]byte(s.Mneme("keys", "list", "--json").Stdout), &listed); err != nil {
		t.Fatal(err)
	}
	id := ""
	for _, k := range listed.Keys {
		if k.Name == "beside" {
			id = k.ID
		}
	}
	s.Mneme("keys", "revoke", id)
	harness.EventuallySees(t, "a revoked key ends",
		func() (bool, string) { status := use(key); return status == 401, fmt.Sprint(status) })

	// Keys are made while the server writes; neither gets in the other's way.
	ctx, cancel := context.WithCancel(context.Background())
	wrote := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			id := fmt.Sprintf("w0-%02d", i%50)
			a, err := p.Ask(ctx, "POST", "/namespaces/two/documents",
				object{"documents": []object{{"id": id, "text": "busy writing " + id, "metadata": object{"i": i}}}})
			if ctx.Err() != nil {
				wrote <- nil
				return
			}
			if err != nil || a.Status != 200 {
				wrote <- fmt.Errorf("a write beside key commands: %v %s", err, a)
				return
			}
		}
	}()
	for range 5 {
		if got := use(s.Key()); got != 200 {
			t.Errorf("a key made beside a writing server answers %d", got)
		}
	}
	cancel()
	if err := <-wrote; err != nil {
		t.Error(err)
	}

	// A killed holder holds nothing; its traces mislead nobody.
	p.Kill()
	p = s.start()
	p.healthy()
	p.stop()
	for _, f := range []string{"lock", "mneme.lock", "server.json"} {
		if err := os.WriteFile(filepath.Join(s.Data, f), []byte(`{"pid":1,"comm`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.start().healthy()
}
