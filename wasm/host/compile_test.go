package host

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Models of one process over the same bytes have their code in common: the second finds it, also where no file
// keeps it, and the last one lets it go.
func TestCodeIsShared(t *testing.T) {
	dir := t.TempDir()
	kept := func() (files []string) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	module := hostileModule(t)
	module.Interrupt = Cooperative
	o := Options{Instances: 1, CacheDir: dir, Shared: NewShared(), Log: slog.New(slog.DiscardHandler)}
	opened := func() *Model {
		t.Helper()
		m, err := Open(t.Context(), module, o)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	one := opened()
	if n := len(kept()); n != 1 {
		t.Fatalf("a model that was compiled leaves %d files", n)
	}
	forget := func() {
		t.Helper()
		for _, f := range kept() {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	forget()
	two := opened()
	if n := len(kept()); n != 0 {
		t.Error("the second model of the same bytes is compiled again")
	}
	for _, m := range []*Model{one, two} {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	three := opened()
	if n := len(kept()); n != 1 {
		t.Error("code is kept that no model uses")
	}
	if err := three.Close(); err != nil {
		t.Error(err)
	}

	// While one is being compiled, another one of the same bytes waits, as long as a start may take.
	c, err := o.Shared.compiler(dir)
	if err != nil {
		t.Fatal(err)
	}
	turn := c.turn(module.Wasm)
	turn.Lock()
	o.StartTimeout = time.Second
	if m, err := Open(t.Context(), module, o); err == nil {
		m.Close()
		t.Error("two compile the same bytes at a time")
	} else if !strings.Contains(err.Error(), "takes longer than 1s") {
		t.Error(err)
	}
	turn.Unlock()
	o.StartTimeout = 0
	four := opened()
	if err := four.Close(); err != nil {
		t.Error(err)
	}
}
