package host

import (
	"context"
	"encoding/binary"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/core/simd"
)

// guestMemory is a memory of so many pages of 64 KiB, as a module has one.
func guestMemory(t testing.TB, pages int) api.Memory {
	t.Helper()
	r := wazero.NewRuntimeWithConfig(context.Background(), wazero.NewRuntimeConfigInterpreter())
	t.Cleanup(func() { r.Close(context.Background()) })
	wasm := "\x00asm\x01\x00\x00\x00" + "\x05\x04\x01\x00" + string([]byte{byte(pages&0x7F | 0x80), byte(pages >> 7)}) +
		"\x07\x0a\x01\x06memory\x02\x00"
	m, err := r.Instantiate(context.Background(), []byte(wasm))
	if err != nil {
		t.Fatal(err)
	}
	return m.Memory()
}

func bytesOf(v ...float32) []byte {
	var b []byte
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// layerAssets are a layer of random weights.
func layerAssets(out, in int) map[string][]byte {
	random := rand.New(rand.NewPCG(uint64(out), uint64(in)))
	weight, scale, bias := make([]byte, out*in), make([]float32, out), make([]float32, out)
	for i := range weight {
		weight[i] = byte(random.IntN(256))
	}
	for i := range out {
		scale[i], bias[i] = random.Float32(), random.Float32()
	}
	return map[string][]byte{"a.weight": weight, "a.scale": bytesOf(scale...), "a.bias": bytesOf(bias...)}
}

// kernels opens mneme_nn over a layer named "a"; the test needs kernels for this machine.
func kernels(t testing.TB, mem api.Memory, out, in int) (*tensors, uint64) {
	t.Helper()
	n, err := newTensors(layerAssets(out, in), NewShared(), false)
	if err != nil {
		t.Fatal(err)
	}
	if !n.enabled {
		t.Skip("this machine has no kernels")
	}
	t.Cleanup(n.close)
	mem.WriteByte(8, 'a')
	handle := n.linearOpen(mem, []uint64{8, 1, uint64(out), uint64(in)})
	if handle == 0 {
		t.Fatal("the layer does not open")
	}
	return n, uint64(handle)
}

// allocated is how many bytes f takes from the heap, whether it keeps them or not.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestKernelMemory: what the host takes for an operation beside the guest's own
// memory is bounded, whatever the shape, and does not stay.
func TestKernelMemory(t *testing.T) {
	mem := guestMemory(t, 450)
	n, handle := kernels(t, mem, 1, 1)
	const x = 1024
	row := uint64(n.layer(1).Work() + rowWork)
	for name, c := range map[string]struct {
		rows uint64 // the most that are allowed
		call func(rows uint64) uint32
	}{
		"linear": {maxWork / row, func(rows uint64) uint32 {
			return n.linear(t.Context(), mem, []uint64{handle, x, rows, x, 0})
		}},
		"linear_max": {maxWork / row, func(rows uint64) uint32 {
			return n.linearMax(t.Context(), mem, []uint64{handle, x, rows, x})
		}},
		"add_norm": {maxWork / (16*valueWork + normWork), func(rows uint64) uint32 {
			return n.addNorm(t.Context(), mem, []uint64{x, x, rows, 1, x, x, 0})
		}},
	} {
		for rows, want := range map[uint64]uint32{c.rows: tensorDone, c.rows + 1: tensorUnsupported} {
			var said uint32
			if took := allocated(func() { said = c.call(rows) }); said != want || took > 3<<20 {
				t.Errorf("%s of %d rows: %d, want %d; the host took %d KB", name, rows, said, want, took>>10)
			}
		}
	}
	w := &workspace{rows: simd.NewRows(60_000, 64)}
	n.giveBack(w)
	if got := n.scratch.Get().(*workspace); got == w {
		t.Errorf("%d KB stay in the pool", w.bytes()>>10)
	}
}

// TestAttentionWork: padding counts, and so does each head of each text.
func TestAttentionWork(t *testing.T) {
	for _, c := range []struct {
		tokens, heads, dim uint64
		ok                 bool
	}{
		{512, 12, 32, true},
		{8176, 1, 64, true},
		{16_368, 1, 1, true},
		{16_385, 1, 1, false},       // 2^33 with padding, 2^29 without
		{112, 1, 16_384, true},      // nearly 2^22 values beside the operands
		{256, 1, 65_536, false},     // 134 MB beside the operands
		{1, 65_536, 1, true},        // half of what may be
		{5000, 65_536, 1, false},    // no memory holds more
		{1 << 31, 65_536, 1, false}, // nor this, and nothing overflows
		{math.MaxUint32, 1, 1, false},
	} {
		if work, ok := attentionWork(c.tokens, c.heads, c.dim); ok != c.ok {
			t.Errorf("%+v: work %d, %t", c, work, ok)
		}
	}
	one, _ := attentionWork(1, 1, 1)
	if none, _ := attentionWork(0, 1, 1); none == 0 || one < none {
		t.Errorf("a text of one token takes %d, an empty one %d", one, none)
	}
	mem := guestMemory(t, 450)
	n, _ := kernels(t, mem, 1, 1)
	// As many texts of a token as may be, and one more.
	most := maxWork / one
	for texts, want := range map[uint64]uint32{most: tensorDone, most + 1: tensorUnsupported} {
		table := make([]byte, 0, 4*texts)
		for range texts {
			table = binary.LittleEndian.AppendUint32(table, 1)
		}
		const qkv, lens, out = 1024, 8 << 20, 12 << 20
		mem.Write(lens, table)
		if said := n.attention(t.Context(), mem, []uint64{qkv, lens, texts, 1, 1, out}); said != want {
			t.Errorf("%d texts: %d, want %d", texts, said, want)
		}
	}
}

// wholeLayer is what a layer gives for x at once, outside any guest.
func wholeLayer(t *testing.T, n *tensors, x []float32, rows, out, in int, act simd.Activation) []float32 {
	t.Helper()
	r := simd.NewRows(0, 1)
	n.kernels.Quantize(r, x, rows, in, precision)
	y := make([]float32, rows*out)
	n.kernels.Linear(y, n.layer(1), r, act)
	return y
}

// TestPanels: an operation in panels gives the bits of one at once, in place as well.
func TestPanels(t *testing.T) {
	for _, shape := range [][2]int{{3, 5}, {5, 3}, {4, 4}, {40, 17}} {
		out, in := shape[0], shape[1]
		mem := guestMemory(t, 240)
		n, handle := kernels(t, mem, out, in)
		rows := 2*int(panelOf(uint64(n.layer(1).Work()+rowWork), padded(uint64(in)))) + 7
		random := rand.New(rand.NewPCG(1, 2))
		x := make([]float32, rows*in)
		for i := range x {
			x[i] = random.Float32() - .5
		}
		want := wholeLayer(t, n, x, rows, out, in, simd.GELU)
		const from = 1024
		for name, to := range map[string]uint64{"in place": from, "beside": 8 << 20} {
			mem.Write(from, bytesOf(x...))
			if said := n.linear(t.Context(), mem, []uint64{handle, from, uint64(rows), to, 1}); said != tensorDone {
				t.Fatalf("%v %s: %d", shape, name, said)
			}
			got, _ := floats(mem, to, uint64(rows*out))
			if !slices.Equal(got, want) {
				t.Errorf("%v %s: other values than at once", shape, name)
			}
		}
		mem.Write(from, bytesOf(x...))
		before, _ := mem.Read(0, 15<<20)
		before = slices.Clone(before)
		for _, apart := range []int64{4, -4, int64(4*rows*in) - 4, -int64(min(4*rows*out, from)) + 4} {
			said := n.linear(t.Context(), mem, []uint64{handle, from, uint64(rows), uint64(from + apart), 0})
			if after, _ := mem.Read(0, 15<<20); said != tensorUnsupported || !slices.Equal(before, after) {
				t.Errorf("%v: y %d bytes behind x: %d", shape, apart, said)
			}
		}
		behind := []uint64{handle, from, uint64(rows), uint64(from + 4*rows*in), 0}
		if said := n.linear(t.Context(), mem, behind); said != tensorDone {
			t.Errorf("%v: y right behind x: %d", shape, said)
		}
		mem.Write(from, bytesOf(x...))
		largest := slices.Clone(wholeLayer(t, n, x, rows, out, in, simd.Identity)[:out])
		for i, v := range wholeLayer(t, n, x, rows, out, in, simd.Identity) {
			largest[i%out] = max(largest[i%out], v)
		}
		if said := n.linearMax(t.Context(), mem, []uint64{handle, from, uint64(rows), from}); said != tensorDone {
			t.Fatalf("%v largest: %d", shape, said)
		}
		if got, _ := floats(mem, from, uint64(out)); !slices.Equal(got, largest) {
			t.Errorf("%v: largest %v, want %v", shape, got, largest)
		}
	}
}

// TestDeadlineBetweenPanels: when a call is over, an operation ends at the next panel.
func TestDeadlineBetweenPanels(t *testing.T) {
	mem := guestMemory(t, 200)
	n, handle := kernels(t, mem, 16, 16)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	panel := panelOf(uint64(n.layer(1).Work()+rowWork), 16)
	const at = 1 << 20
	ones := bytesOf(slices.Repeat([]float32{1}, 16*int(2*panel))...)
	norms := panelOf(valueWork*16+normWork, 1)
	for name, c := range map[string]struct {
		rows uint64
		run  func(ctx context.Context, rows uint64) uint32
	}{
		"linear": {panel, func(ctx context.Context, rows uint64) uint32 {
			return n.linear(ctx, mem, []uint64{handle, at, rows, at, 0})
		}},
		"linear_max": {panel, func(ctx context.Context, rows uint64) uint32 {
			return n.linearMax(ctx, mem, []uint64{handle, at, rows, 1024})
		}},
		"add_norm": {norms, func(ctx context.Context, rows uint64) uint32 {
			return n.addNorm(ctx, mem, []uint64{at, at, rows, 16, at, at, 0})
		}},
	} {
		mem.Write(at, ones)
		if said := c.run(over, c.rows); said != tensorDone {
			t.Errorf("%s, one panel: %d", name, said)
		}
		mem.Write(at, ones)
		mem.Write(1024, make([]byte, 64))
		if said := c.run(over, c.rows+1); said != tensorStopped {
			t.Errorf("%s, a panel and a row: %d", name, said)
		}
		behind, _ := floats(mem, at+64*c.rows, 16)
		if name != "linear_max" && slices.ContainsFunc(behind, func(v float32) bool { return v != 1 }) {
			t.Errorf("%s went on behind its first panel", name)
		}
		mem.Write(at, ones)
		if said := c.run(t.Context(), c.rows+1); said != tensorDone {
			t.Errorf("%s, nobody left: %d", name, said)
		}
	}
	// Two texts that together are more than a panel.
	text := bytesOf(0)[:0]
	tokens := uint32(5000)
	text = binary.LittleEndian.AppendUint32(text, tokens)
	text = binary.LittleEndian.AppendUint32(text, tokens)
	mem.Write(1024, text)
	for texts, want := range map[uint64]uint32{1: tensorDone, 2: tensorStopped} {
		if said := n.attention(over, mem, []uint64{at, 1024, texts, 1, 1, 4 << 20}); said != want {
			t.Errorf("attention of %d texts: %d, want %d", texts, said, want)
		}
	}
}

// lines hands each line of a module's log to a function.
type lines func(string)

func (l lines) Enabled(context.Context, slog.Level) bool { return true }
func (l lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l lines) WithGroup(string) slog.Handler            { return l }
func (l lines) Handle(_ context.Context, r slog.Record) error {
	l(r.Message)
	return nil
}

// TestKernelStops: a stranger whose caller leaves within an operation ends there; a
// module that polls goes on to where it does, and its instance lives.
func TestKernelStops(t *testing.T) {
	for name, c := range map[string]struct {
		way      Interrupt
		survived bool
	}{"stranger": {Enforced, false}, "trusted": {Cooperative, true}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var survived, refused bool
			log := lines(func(line string) {
				switch line {
				case "module: kernel":
					cancel()
				case "module: survived":
					survived = true
				case "module: refused":
					refused = true
				}
			})
			module := hostileModule(t)
			module.Interrupt = c.way
			module.Assets = layerAssets(16, 16)
			for _, part := range []string{"weight", "scale", "bias"} {
				module.Assets["layer."+part] = module.Assets["a."+part]
			}
			m, err := Open(t.Context(), module, Options{Instances: 1, MemoryMB: 32, Log: slog.New(log)})
			if err != nil {
				t.Fatal(err)
			}
			if !m.tensors.enabled {
				t.Skip("this machine has no kernels")
			}
			if _, err := m.Embed(ctx, port.Passage, []string{"kernel"}); ctx.Err() == nil || err == nil {
				t.Fatalf("the call got %v, its context %v", err, ctx.Err())
			}
			if _, err := m.Embed(t.Context(), port.Passage, []string{"ok"}); err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if survived != c.survived || refused {
				t.Errorf("the module went on: %t, want %t; refused: %t", survived, c.survived, refused)
			}
			if lives := m.Stats().Made == 1; lives != c.survived && name == "trusted" {
				t.Errorf("%d instances were made", m.Stats().Made)
			}
		})
	}
}

// FuzzKernels: whatever a guest asks for, no operation reads or writes outside its
// memory, takes much of the host's, or answers what the ABI does not have.
func FuzzKernels(f *testing.F) {
	mem := guestMemory(f, 16)
	n, handle := kernels(f, mem, 16, 24)
	f.Add(byte(0), uint32(handle), uint32(1024), uint32(9), uint32(4096), uint32(1), uint32(0), []byte{1, 0, 0, 0})
	f.Add(byte(1), uint32(handle), uint32(1024), uint32(9), uint32(1024), uint32(0), uint32(0), []byte{0, 0, 0x80, 0x3f})
	f.Add(byte(2), uint32(1024), uint32(64), uint32(2), uint32(2), uint32(4), uint32(4096), []byte{3, 0, 0, 0, 2, 0, 0, 0})
	f.Add(byte(3), uint32(1024), uint32(1024), uint32(3), uint32(16), uint32(4096), uint32(4096), []byte{})
	f.Add(byte(4), uint32(8), uint32(1), uint32(16), uint32(24), uint32(0), uint32(0), []byte{})
	f.Add(byte(0), uint32(handle), uint32(1024), uint32(10_900), uint32(1024), uint32(0), uint32(0), []byte{})
	f.Add(byte(2), uint32(1024), uint32(1024), uint32(math.MaxUint32), uint32(65_536), uint32(65_536), uint32(64), []byte{255})
	f.Add(byte(3), uint32(64), uint32(64), uint32(262_128), uint32(1), uint32(64), uint32(64), []byte{})
	f.Fuzz(func(t *testing.T, op byte, a, b, c, d, e, g uint32, content []byte) {
		mem.Write(64, content[:min(len(content), 1<<16)])
		args := []uint64{uint64(a), uint64(b), uint64(c), uint64(d), uint64(e), uint64(g), api.EncodeF32(1e-5)}
		layers := len(n.layers)
		var said uint32
		took := allocated(func() {
			switch op % 5 {
			case 0:
				said = n.linear(t.Context(), mem, args)
			case 1:
				said = n.linearMax(t.Context(), mem, args)
			case 2:
				said = n.attention(t.Context(), mem, args)
			case 3:
				said = n.addNorm(t.Context(), mem, args)
			case 4:
				if said = n.linearOpen(mem, args); int(said) <= len(n.layers) {
					said = tensorDone
				}
			}
		})
		if said > tensorBad {
			t.Errorf("answer %d", said)
		}
		if took > 32<<20 {
			t.Errorf("the host took %d MB", took>>20)
		}
		if len(n.layers) > layers+1 || n.scratch.Get().(*workspace).bytes() > keptBytes {
			t.Error("the host keeps what it took")
		}
	})
}
