package host

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/mnemehq/mneme/wasm/abi"
	"github.com/mnemehq/mneme/wasm/models"
)

func hostileModule(t *testing.T) Module {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "abitest", "testdata", "hostile.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return Module{Wasm: b, Config: []byte("{}"), Assets: map[string][]byte{"secret": []byte("secret")}}
}

// TestInputIsNotRetained overwrites the input after a call and before the result
// is read: a module that answers with a pointer into its input would be seen.
func TestInputIsNotRetained(t *testing.T) {
	m, err := Open(t.Context(), hostileModule(t), Options{Instances: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	in, err := m.newInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.discard(t.Context())
	frame, err := abi.Request{Rows: []string{"ok", "more"}}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := in.callFrame(t.Context(), abi.FuncEmbed, frame)
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(len(frame))
	at, err := in.alloc.Call(t.Context(), n)
	if err != nil || at[0] == 0 {
		t.Fatal(at, err)
	}
	if at[0]%16 != 0 {
		t.Errorf("a buffer at %d is not aligned to 16", at[0])
	}
	in.mod.Memory().Write(uint32(at[0]), frame)
	out, err := in.mod.ExportedFunction(abi.FuncEmbed).Call(t.Context(), at[0], n)
	if err != nil {
		t.Fatal(err)
	}
	in.mod.Memory().Write(uint32(at[0]), bytes.Repeat([]byte{0xEE}, len(frame)))
	ptr, size := abi.Unpack(out[0])
	got, ok := in.mod.Memory().Read(ptr, size)
	if !ok || !bytes.Equal(got, want) {
		t.Errorf("the result changed with the input:\n got %x\nwant %x", got, want)
	}
}

// TestAllocatorReuses: what is freed is used again, in whatever order, and
// neighbours merge.
func TestAllocatorReuses(t *testing.T) {
	m, err := Open(t.Context(), hostileModule(t), Options{Instances: 1, MemoryMB: 16, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	in, err := m.newInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.discard(t.Context())
	alloc := func(n uint32) uint32 {
		out, err := in.alloc.Call(t.Context(), uint64(n))
		if err != nil {
			t.Fatal(err)
		}
		return uint32(out[0])
	}
	round := func() {
		type piece struct{ at, n uint32 }
		var held []piece
		for i := range uint32(400) {
			n := (i * 7919) % 20000
			at := alloc(n)
			if at == 0 {
				t.Fatalf("out of memory at piece %d", i)
			}
			for _, p := range held {
				if at < p.at+p.n && p.at < at+n {
					t.Fatalf("piece at %d+%d overlaps %d+%d", at, n, p.at, p.n)
				}
			}
			held = append(held, piece{at, n})
			if i%3 == 2 { // free one from the middle
				mid := len(held) / 2
				if err := in.release(t.Context(), held[mid].at, held[mid].n); err != nil {
					t.Fatal(err)
				}
				held = append(held[:mid], held[mid+1:]...)
			}
		}
		for _, p := range held {
			if err := in.release(t.Context(), p.at, p.n); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		round()
	}
	late := in.memory()
	for range 5 {
		round()
	}
	if later := in.memory(); later != late {
		t.Errorf("memory grew from %d to %d bytes", late, later)
	}
	// All of it has merged: one piece nearly as large as the memory fits.
	if at := alloc(uint32(late) - 512<<10); at == 0 {
		t.Error("freed pieces did not merge")
	}
	if at := alloc(64 << 20); at != 0 {
		t.Error("more than the ceiling was given")
	}
	if at := alloc(0xFFFFFFFF); at != 0 {
		t.Error("4 GiB were given")
	}
}

// TestDigest: any byte of module, settings or assets changes the identity, and
// nothing else does.
func TestDigest(t *testing.T) {
	base := func() Module {
		return Module{Wasm: []byte("w"), Config: []byte("c"), Assets: map[string][]byte{"a": []byte("1"), "b": []byte("2")}}
	}
	seen := map[string]string{base().Digest(): "base"}
	for name, change := range map[string]func(*Module){
		"module": func(m *Module) { m.Wasm = []byte("x") },
		"config": func(m *Module) { m.Config = []byte("x") },
		"asset":  func(m *Module) { m.Assets["a"] = []byte("x") },
		"name":   func(m *Module) { m.Assets["c"] = m.Assets["a"]; delete(m.Assets, "a") },
		"moved":  func(m *Module) { m.Assets = map[string][]byte{"a": []byte("12"), "b": nil} },
	} {
		m := base()
		change(&m)
		d := m.Digest()
		if other, ok := seen[d]; ok {
			t.Errorf("%s has the digest of %s", name, other)
		}
		seen[d] = name
	}
	m := base()
	m.Info.Name, m.Interrupt = "other", Cooperative
	if seen[m.Digest()] != "base" {
		t.Error("the name changes the digest")
	}
	m.Config, m.Identity, m.Secrets = []byte("c with a setting"), []byte("c"), []string{"with"}
	if seen[m.Digest()] != "base" {
		t.Error("a setting that doesn't count changes the digest")
	}
	if m.Identity = []byte("x"); seen[m.Digest()] != "config" {
		t.Error("a setting that counts is none of the digest")
	}
}

// TestEncoderRefuses: the built-in encoder answers requests that its host would
// never send.
func TestEncoderRefuses(t *testing.T) {
	s, err := models.Open(models.DefaultSparse)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(t.Context(), Module{
		Wasm:      s.Wasm,
		Config:    s.Config,
		Assets:    s.Assets,
		Interrupt: Cooperative,
	}, Options{Instances: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	in, err := m.newInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer in.discard(t.Context())
	frame, err := abi.Request{Rows: []string{"a"}}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(frame)
	broken[len(broken)-1] = 0xFF
	for name, c := range map[string]struct {
		function string
		frame    []byte
		want     abi.Code
	}{
		"embed":         {abi.FuncEmbed, frame, abi.CodeUnsupported},
		"rerank":        {abi.FuncRerank, frame, abi.CodeUnsupported},
		"short frame":   {abi.FuncSparse, frame[:15], abi.CodeInvalid},
		"row outside":   {abi.FuncSparse, frame[:len(frame)-1], abi.CodeInvalid},
		"invalid UTF-8": {abi.FuncSparse, broken, abi.CodeInvalid},
		"opened twice":  {abi.FuncOpen, s.Config, abi.CodeInvalid},
	} {
		b, err := in.callFrame(t.Context(), c.function, c.frame)
		if err == nil {
			_, err = abi.ParseResult(b)
		}
		var e *abi.Error
		if !errors.As(err, &e) || e.Code != c.want {
			t.Errorf("%s: %v, want code %d", name, err, c.want)
		}
	}
	none, err := abi.Request{}.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := in.callFrame(t.Context(), abi.FuncSparse, none)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := abi.ParseResult(b); err != nil || r.Rows != 0 {
		t.Errorf("no rows: %+v, %v", r, err)
	}
}
