package datadir_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/cmd/mneme/internal/datadir"
)

func TestOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	lock, err := datadir.Acquire(dir, "serve")
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v, %v; want mode 0700", info, err)
	}
	var inUse *datadir.InUse
	if _, err := datadir.Acquire(dir, "import"); !errors.As(err, &inUse) || inUse.Holder.PID != os.Getpid() ||
		inUse.Holder.Command != "serve" {
		t.Errorf("a second Acquire gives %v", err)
	}
	if _, ok, err := datadir.Running(dir); ok || !errors.As(err, &inUse) {
		t.Errorf("a holder that serves nothing: %v, %v", ok, err)
	}
	if err := lock.Announce(datadir.Server{URL: "http://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	says(t, datadir.Held(dir), "is in use by process "+strconv.Itoa(os.Getpid())+" (mneme serve, since ",
		"which serves it at http://127.0.0.1:1; stop it first, or name another folder with --data")
	if s, ok, err := datadir.Running(dir); !ok || err != nil || s.URL != "http://127.0.0.1:1" || s.PID != os.Getpid() {
		t.Errorf("Running gives %+v, %v, %v", s, ok, err)
	}
	if _, err := datadir.Acquire(dir, "import"); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1") {
		t.Errorf("the message %v does not name the server", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := datadir.Running(dir); ok || err != nil {
		t.Errorf("after Release: %v, %v", ok, err)
	}
	again, err := datadir.Acquire(dir, "serve")
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestRecordOfAKilledServerIsNotBelieved(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{"lock": `{"pid":1,"command":"serve"}`,
		"server.json": `{"url":"http://127.0.0.1:1","pid":1}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, ok, err := datadir.Running(dir); ok || err != nil {
		t.Errorf("Running gives %+v, %v, %v", s, ok, err)
	}
	lock, err := datadir.Acquire(dir, "import")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "server.json")); !os.IsNotExist(err) {
		t.Errorf("the old record is still there: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

// Looking for a server takes a shared lock for a moment, which must not keep
// another process from taking the folder.
func TestLookingDoesNotKeepOthersOut(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var lookers sync.WaitGroup
	for range 2 {
		lookers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = datadir.Held(dir)
					time.Sleep(time.Millisecond) // or it would be held more than looked at
				}
			}
		})
	}
	for range 50 {
		lock, err := datadir.Acquire(dir, "serve")
		if err != nil {
			t.Errorf("kept out: %v", err)
			break
		}
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	lookers.Wait()
}

// The lock ends with its process, however that ends.
func TestLockEndsWithTheProcess(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("DATADIR_HOLD") != "" {
		lock, err := datadir.Acquire(os.Getenv("DATADIR_HOLD"), "serve")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(os.Getenv("DATADIR_HOLD"), "held"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // it is killed before
		t.Fatal(lock.Release())
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestLockEndsWithTheProcess")
	cmd.Env = append(os.Environ(), "DATADIR_HOLD="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	for {
		if _, err := os.Stat(filepath.Join(dir, "held")); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("the other process does not take the folder")
		}
		time.Sleep(5 * time.Millisecond)
	}
	var inUse *datadir.InUse
	if _, err := datadir.Acquire(dir, "import"); !errors.As(err, &inUse) || inUse.Holder.PID != cmd.Process.Pid {
		t.Errorf("held by another process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	lock, err := datadir.Acquire(dir, "import")
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestID(t *testing.T) {
	seen := map[string]bool{}
	for _, dir := range []string{t.TempDir(), t.TempDir()} {
		var last string
		for range 2 { // over restarts
			lock, err := datadir.Acquire(dir, "serve")
			if err != nil {
				t.Fatal(err)
			}
			id, err := lock.ID()
			if err != nil || id == "" || last != "" && id != last {
				t.Errorf("the folder is called %q, %v; before %q", id, err, last)
			}
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
			last = id
		}
		if seen[last] {
			t.Errorf("two folders are called %q", last)
		}
		seen[last] = true
	}
}

func TestLocalKey(t *testing.T) {
	dir := t.TempDir()
	if key, err := datadir.LocalKey(dir); key != "" || err != nil {
		t.Errorf("of an empty folder: %q, %v", key, err)
	}
	for _, key := range []string{"sk-service-one", "sk-service-two"} {
		if err := datadir.SaveLocalKey(dir, key); err != nil {
			t.Fatal(err)
		}
		if got, err := datadir.LocalKey(dir); got != key || err != nil {
			t.Errorf("got %q, %v; want %q", got, err, key)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v; want local.key alone", files, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "local.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("local.key is %v, %v; want mode 0600", info, err)
	}
}

func TestClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, ok, err := datadir.Claim(dir); ok || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there is claimed: %v, %v", ok, err)
	}
	if claimed, err := datadir.Claimed(dir); claimed || err != nil {
		t.Errorf("a folder that is not there: %v, %v", claimed, err)
	}
	lock, err := datadir.Acquire(dir, "mcp") // a claim and a holder don't meet
	if err != nil {
		t.Fatal(err)
	}
	release, ok, err := datadir.Claim(dir)
	if !ok || err != nil {
		t.Fatalf("not claimed: %v", err)
	}
	if _, ok, err := datadir.Claim(dir); ok || err != nil {
		t.Errorf("claimed twice: %v, %v", ok, err)
	}
	if claimed, err := datadir.Claimed(dir); !claimed || err != nil {
		t.Errorf("while it is claimed: %v, %v", claimed, err)
	}
	if err := errors.Join(release(), lock.Release()); err != nil {
		t.Error(err)
	}
	if claimed, err := datadir.Claimed(dir); claimed || err != nil {
		t.Errorf("after the claim: %v, %v", claimed, err)
	}
}

func says(t *testing.T, err error, want ...string) {
	t.Helper()
	for _, text := range want {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("it says %v, want %q", err, text)
		}
	}
}

// A path that is a file, or lies below one, is named with what to do, and the file stays.
func TestAFileInPlaceOfTheFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := datadir.Acquire(file, "serve")
	says(t, err, "the data folder "+file+" is a file; name another with --data")
	says(t, datadir.Held(file), file+" is a file; name another with --data")
	says(t, datadir.Usable(file), file+" is a file; name another with --data")
	_, _, err = datadir.Running(file)
	says(t, err, file+" is a file; name another with --data")
	if _, err = datadir.Acquire(filepath.Join(file, "below"), "serve"); err == nil ||
		!strings.Contains(err.Error(), "name another with --data") {
		t.Errorf("below a file: %v", err)
	}
	if body, err := os.ReadFile(file); err != nil || string(body) != "mine" {
		t.Errorf("the file is %q, %v", body, err)
	}
}

// The size of a folder is that of its files, at any depth.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"x": 7, "a/y": 20, "a/b/z": 300} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := datadir.Size(dir); got != 327 {
		t.Errorf("%d bytes, want 327", got)
	}
	if got := datadir.Size(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("a folder that is not there holds %d bytes", got)
	}
}

// The holder hears of what other processes say that they stored, even if others said something before, and nothing
// of what it writes itself.
func TestTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := datadir.Tell(dir); err != nil {
		t.Errorf("nobody listens: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("to tell somebody has made a folder")
	}
	lock, err := datadir.Acquire(dir, "serve")
	if err != nil {
		t.Fatal(err)
	}
	told, err := lock.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Announce(datadir.Server{URL: "http://127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told.C:
		t.Error("it hears its own writes")
	case <-time.After(20 * time.Millisecond):
	}
	for range 3 {
		if err := datadir.Tell(dir); err != nil {
			t.Fatal(err)
		}
		<-told.C // there is no look that would find it otherwise
	}
	if err := told.Close(); err != nil {
		t.Error(err)
	}
	if err := datadir.Tell(dir); err != nil {
		t.Errorf("nobody listens any more: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "told")); err != nil {
		t.Fatal(err)
	}
	write := func(name string) error { return os.WriteFile(filepath.Join(dir, name), nil, 0o600) }
	if err := write("told"); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Listen(); err == nil {
		t.Error("it listens at a file")
	}
	if err := datadir.Tell(dir); err == nil {
		t.Error("a file was told something")
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}
