package app_test

import (
	"errors"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// A start for which there is no room says so before any model is opened, and the collector
// keeps to what there is.
func TestTheMemoryOfTheContainerIsRead(t *testing.T) {
	const mib = 1 << 20
	const with = "models:\n  e: {wasm: {tasks: [embedding]}}\nroles: {embed: e, sparse: off, rerank: off}\n"
	const without = "roles: {embed: off, sparse: off, rerank: off}\n"
	restore(t)
	for name, c := range map[string]struct {
		file  string
		limit uint64
		err   error
		kept  int64 // 0: as before
		one   bool  // text at once
		says  []string
	}{
		"too little for a model": {file: with, limit: 96*mib - 1, says: []string{"95 MiB", "96 MiB", "allow it more", "models"}},
		"enough for a model":     {file: with, limit: 96 * mib, kept: 60 * mib, one: true},
		"too little":             {file: without, limit: 48*mib - 1, says: []string{"47 MiB", "48 MiB"}},
		"enough":                 {file: without, limit: 48 * mib, kept: 24 * mib, one: true},
		"nobody knows":           {file: with, err: errors.New("no control groups here")},
		"no limit":               {file: with, err: memlimit.ErrNoLimit},
		"a tenth is left":        {file: with, limit: 1000 * mib, kept: 900 * mib},
		"36 MiB are left":        {file: with, limit: 350 * mib, kept: 314 * mib},
		"half is left":           {file: without, limit: 72 * mib, kept: 36 * mib, one: true},
		"just cramped":           {file: with, limit: 127 * mib, kept: 91 * mib, one: true},
		"not cramped":            {file: with, limit: 128 * mib, kept: 92 * mib},
		"any number":             {file: with, limit: math.MaxUint64, kept: math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			runtime.GOMAXPROCS(3)
			_, err := openBounded(t, t.TempDir(), c.file, func() (uint64, error) { return c.limit, c.err })
			check(t, err, c.says)
			want := c.kept
			if want == 0 {
				want = math.MaxInt64
			}
			if kept := debug.SetMemoryLimit(-1); kept != want {
				t.Errorf("the collector keeps to %d, not to %d", kept, want)
			}
			if one := runtime.GOMAXPROCS(0) == 1; one != c.one {
				t.Errorf("one text at once is %t", one)
			}
			if c.file == with && err == nil && spared.Load() != c.one {
				t.Errorf("models spare memory: %t", !c.one)
			}
		})
	}
}

// restore puts back, after a test, what the process was bounded by, and has the environment
// say nothing of it.
func restore(t *testing.T) {
	memory, processors := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0)
	t.Cleanup(func() {
		debug.SetMemoryLimit(memory)
		runtime.GOMAXPROCS(processors)
	})
	t.Setenv("GOMAXPROCS", "")
	t.Setenv("GOMEMLIMIT", "")
	if err := os.Unsetenv("GOMEMLIMIT"); err != nil { // which is set when it is empty, too
		t.Fatal(err)
	}
}

// What the environment says is the operator's word.
func TestTheEnvironmentBoundsTheProcess(t *testing.T) {
	restore(t)
	t.Setenv("GOMEMLIMIT", "1GiB")
	t.Setenv("GOMAXPROCS", "3")
	debug.SetMemoryLimit(math.MaxInt64)
	runtime.GOMAXPROCS(3)
	_, err := openBounded(t, t.TempDir(), "roles: {embed: off, sparse: off, rerank: off}\n", memlimit.Limit(100<<20))
	check(t, err, nil)
	if kept, at := debug.SetMemoryLimit(-1), runtime.GOMAXPROCS(0); kept != math.MaxInt64 || at != 3 {
		t.Errorf("the collector keeps to %d, and %d threads run", kept, at)
	}
}
