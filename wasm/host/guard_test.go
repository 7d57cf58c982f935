package host

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// module puts sections together.
func module(sections ...string) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		out = appendBytes(append(out, s[0]), []byte(s[1:]))
	}
	return out
}

func hostileWasm(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestGuardStopsRecursion: a recursion without loops, which would take longer than
// the universe, ends with the deadline.
func TestGuardStopsRecursion(t *testing.T) {
	// (func $f (export "f") (param i32) local.get 0 i32.eqz if return end, and twice: local.get 0 i32.const 1 i32.sub call $f)
	once := "\x20\x00\x41\x01\x6b\x10\x00"
	body := "\x00\x20\x00\x45\x04\x40\x0f\x0b" + once + once + "\x0b"
	wasm, err := guard(module("\x01\x01\x60\x01\x7f\x00", "\x03\x01\x00", "\x07\x01\x01f\x00\x00",
		"\x0a\x01"+string(appendBytes(nil, []byte(body)))))
	if err != nil {
		t.Fatal(err)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(),
		wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2).WithCloseOnContextDone(true))
	defer r.Close(t.Context())
	m, err := r.Instantiate(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	f := m.ExportedFunction("f")
	if _, err := f.Call(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { _, err := f.Call(ctx, 200); done <- err }()
	select {
	case err := <-done:
		if err == nil {
			t.Error("2^200 calls came to an end")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the recursion goes on")
	}
}

// TestGuardTables: tables get a maximum, whatever they say, and too large ones are refused.
func TestGuardTables(t *testing.T) {
	for name, c := range map[string]struct{ in, want, refused string }{
		"no maximum":     {"\x04\x01\x70\x00\x02", "\x04\x01\x70\x01\x02\x80\x80\x04", ""},
		"small maximum":  {"\x04\x01\x70\x01\x02\x03", "\x04\x01\x70\x01\x02\x03", ""},
		"large maximum":  {"\x04\x01\x70\x01\x02\xff\xff\xff\xff\x0f", "\x04\x01\x70\x01\x02\x80\x80\x04", ""},
		"large start":    {"\x04\x01\x70\x00\x80\x80\x08", "\x04\x01\x70\x01\x80\x80\x08\x80\x80\x08", ""},
		"too large":      {"\x04\x01\x70\x00\xff\xff\xff\x7f", "", "a table of 268435455 entries"},
		"too many":       {"\x04\x11", "", "17 tables"},
		"unknown flags":  {"\x04\x01\x70\x04\x01", "", "does not know"},
		"cut off":        {"\x04\x01\x70", "", "ends early"},
		"bytes left":     {"\x04\x01\x70\x00\x02\x00", "", "behind its end"},
		"endless number": {"\x04\x80\x80\x80\x80\x80\x00", "", "number"},
	} {
		got, err := guard(module(c.in))
		switch {
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: %v, want %q", name, err, c.refused)
		case c.refused == "" && (err != nil || !bytes.Equal(got, module(c.want))):
			t.Errorf("%s: %x, %v, want %x", name, got, err, module(c.want))
		}
	}
	if _, err := guard(make([]byte, maxModule+1)); err == nil || !strings.Contains(err.Error(), "assets") {
		t.Errorf("a huge module: %v", err)
	}
}

// FuzzGuard: no bytes make guard panic, and what it makes of a module is one that
// it takes again.
func FuzzGuard(f *testing.F) {
	f.Add(hostileWasm(f))
	f.Add(module("\x04\x01\x70\x00\x02", "\x00\x04name", "\x00\x01x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := guard(b)
		if err != nil {
			return
		}
		if _, err := guard(out); err != nil {
			t.Errorf("guarded module is refused: %v", err)
		}
	})
}
