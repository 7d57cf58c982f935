package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/mnemehq/mneme/core/simd"
	"github.com/mnemehq/mneme/wasm/abi"
)

// The answers of an mneme_nn operation.
const (
	tensorDone        = 0
	tensorUnsupported = 1 // the guest runs its own loop
	tensorBad         = 2 // a handle, shape or pointer is wrong; memory is untouched
	tensorStopped     = 3 // not for the guest: the call is over, memory holds a part of the result
)

// What one operation may take. Work is counted in multiply-adds as the kernels do
// them, padding included, and what they do besides as so many of them. More than
// maxWork or maxScratch is answered with "unsupported": 2^33 take some tens of
// milliseconds on one core with AVX-512 and under half a second with NEON.
//
// Nothing can stop a kernel, so an operation runs in panels of about panelWork, and
// the deadline of a stranger's call is asked for between them. That also bounds the
// rows that are quantized at a time.
const (
	maxWork    = 1 << 33
	panelWork  = 1 << 30
	rowWork    = 1 << 14 // beside the products of a row of linear: it is measured and quantized
	headWork   = 1 << 13 // beside the products of a head of a text
	normWork   = 1 << 10 // of a row of add_norm, whatever its length
	valueWork  = 1 << 4  // and of each of its values
	panelCodes = 2 << 20 // values of a panel where more than rowsStep rows fit: 4 MiB of codes, under 1 MiB beside them
	panelRows  = 1 << 14
	rowsStep   = 48      // panels end where register blocks do, and where vectors of activations do
	maxScratch = 4 << 20 // values beside the operands of an attention, 16 MiB
	keptBytes  = 8 << 20 // of a workspace between operations; a larger one, of a long attention, is left to the collector
)

// precision of the activations of linear layers.
const precision = simd.Bulk8

// tensors is the host's side of mneme_nn: linear layers, attention and layer
// norm in place on guest memory, over weights packed once and shared by every
// instance. Each handle, shape and pointer is checked before use, so a hostile
// module can spoil only its own memory.
type tensors struct {
	kernels simd.Kernels
	enabled bool
	assets  map[string][]byte
	shared  *Shared

	mu      sync.RWMutex
	layers  []*lease // handle - 1
	handles map[string]uint32

	scratch sync.Pool // *workspace
}

// workspace is what one running operation needs beside its operands.
type workspace struct {
	rows   *simd.Rows
	values []float32
}

// floats is room for n values.
func (w *workspace) floats(n int) []float32 {
	if n > cap(w.values) {
		w.values = make([]float32, n)
	}
	return w.values[:n]
}

func (w *workspace) bytes() int { return w.rows.Bytes() + 4*cap(w.values) }

// giveBack keeps a workspace for the next operation unless it is large: one odd call
// shall not hold memory for ever.
func (t *tensors) giveBack(w *workspace) {
	if w.bytes() <= keptBytes {
		t.scratch.Put(w)
	}
}

// padded is what the kernels make of n values: whole vectors.
func padded(n uint64) uint64 { return (n + 15) &^ 15 }

// codes is what n values are quantized to, at the level that pads most.
func codes(n uint64) uint64 { return (n + 63) &^ 63 }

// panelOf is how many rows of so much work and so many values each make a panel.
func panelOf(work, values uint64) uint64 {
	rows := min(panelWork/work, panelCodes/values, panelRows)
	return max(rows/rowsStep, 1) * rowsStep
}

// newTensors picks the kernels of this machine. The portable ones are slower
// than a module's own SIMD loops, so they are not offered.
func newTensors(assets map[string][]byte, shared *Shared, ownLoops bool) (*tensors, error) {
	t := &tensors{assets: assets, shared: shared, handles: map[string]uint32{}}
	t.scratch.New = func() any { return &workspace{rows: simd.NewRows(0, 1)} }
	if ownLoops {
		return t, nil
	}
	var err error
	if t.kernels, err = simd.Best(); err != nil {
		return nil, err
	}
	t.enabled = t.kernels.Level() != simd.Portable && littleEndian()
	return t, nil
}

func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// bindTensors binds mneme_nn. A WebAssembly import can't stay unbound, so an
// operation that this machine has no kernel for answers "unsupported".
func (m *Model) bindTensors(ctx context.Context) error {
	t, err := newTensors(m.module.Assets, m.options.Shared, m.options.OwnLoops)
	if err != nil {
		return err
	}
	m.tensors = t
	i32, f32 := api.ValueTypeI32, api.ValueTypeF32
	builder := m.runtime.NewHostModuleBuilder(abi.ModuleTensors)
	export := func(name string, run func(context.Context, api.Module, []uint64) uint32, params ...api.ValueType) {
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module,
			stack []uint64) {
			stack[0] = uint64(run(ctx, mod, stack))
			m.yield(ctx)
		}), params, []api.ValueType{i32}).Export(name)
	}
	exportKernel := func(name string, run func(context.Context, api.Memory, []uint64) uint32, params ...api.ValueType) {
		export(name, func(ctx context.Context, mod api.Module, stack []uint64) uint32 {
			if m.module.Interrupt == Cooperative { // it polls between operations, and its instance shall live on
				ctx = context.WithoutCancel(ctx)
			}
			answer := run(ctx, mod.Memory(), stack)
			if answer == tensorStopped {
				_ = mod.CloseWithExitCode(ctx, sys.ExitCodeDeadlineExceeded)
				panic(sys.NewExitError(sys.ExitCodeDeadlineExceeded)) // ends the guest, as proc_exit does
			}
			return answer
		}, params...)
	}
	export("linear_open", func(_ context.Context, mod api.Module, stack []uint64) uint32 {
		return t.linearOpen(mod.Memory(), stack)
	}, i32, i32, i32, i32)
	exportKernel("linear", t.linear, i32, i32, i32, i32, i32)
	exportKernel("linear_max", t.linearMax, i32, i32, i32, i32)
	exportKernel("attention", t.attention, i32, i32, i32, i32, i32, i32)
	exportKernel("add_norm", t.addNorm, i32, i32, i32, i32, i32, i32, f32)
	_, err = builder.Instantiate(ctx)
	return err
}

// floats views n values of guest memory in place. False when they lie outside
// it or are not aligned.
func floats(mem api.Memory, ptr, n uint64) ([]float32, bool) {
	if n > math.MaxUint32/4 {
		return nil, false
	}
	b, ok := mem.Read(uint32(ptr), uint32(4*n))
	if !ok || uint32(ptr)%4 != 0 {
		return nil, false
	}
	if n == 0 {
		return nil, true
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%4 != 0 {
		return nil, false
	}
	return unsafe.Slice((*float32)(p), n), true
}

// linearOpen (name, name length, outputs, inputs) makes NAME.weight (I8), NAME.scale
// and NAME.bias (F32) a layer, unless a model it shares with has, and returns its handle, 0 when unsupported.
func (t *tensors) linearOpen(mem api.Memory, a []uint64) uint32 {
	name, ok := mem.Read(uint32(a[0]), uint32(a[1]))
	out, in := int(uint32(a[2])), int(uint32(a[3]))
	if !t.enabled || !ok || len(name) > abi.MaxName {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := fmt.Sprintf("%s %dx%d", name, out, in)
	if h, ok := t.handles[key]; ok {
		return h
	}
	weights, scale, bias := t.assets[string(name)+".weight"], t.assets[string(name)+".scale"], t.assets[string(name)+".bias"]
	if out < 1 || in < 1 || in > simd.MaxDim || len(weights) > math.MaxInt32 || len(weights)/in != out ||
		len(weights)%in != 0 || len(scale) != 4*out || len(bias) != 4*out {
		return 0
	}
	t.layers = append(t.layers, t.shared.acquire(t.kernels.Level(), weights, scale, bias, out, in))
	h := uint32(len(t.layers))
	t.handles[key] = h
	return h
}

// close gives the layers back. No operation may run any more.
func (t *tensors) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shared.release(t.layers)
	t.layers, t.handles = nil, map[string]uint32{}
}

func decodeFloats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// linear (handle, x, rows, y, activation) writes y[rows][out] = act(x[rows][in] Wᵀ + b).
func (t *tensors) linear(ctx context.Context, mem api.Memory, a []uint64) uint32 {
	layer, rows, act := t.layer(uint32(a[0])), uint64(uint32(a[2])), uint32(a[4])
	if layer == nil || act > uint32(simd.GELU) {
		return tensorBad
	}
	in, out, work := uint64(layer.In()), uint64(layer.Out()), uint64(layer.Work()+rowWork)
	if rows > maxWork/work {
		return tensorUnsupported
	}
	x, ok := floats(mem, a[1], rows*in)
	y, fits := floats(mem, a[3], rows*out)
	if !ok || !fits {
		return tensorBad
	}
	panel := panelOf(work, codes(in))
	from, to := uint64(uint32(a[1])), uint64(uint32(a[3]))
	if rows > panel && from != to && from < to+4*rows*out && to < from+4*rows*in {
		return tensorUnsupported // a panel's results would fall on values that a later one reads
	}
	// Where y is x, panels go the way in which none of them writes over what is still to be read.
	backward := from == to && out > in
	w := t.scratch.Get().(*workspace)
	defer t.giveBack(w)
	panels := (rows + panel - 1) / panel
	for i := range panels {
		if i > 0 && ctx.Err() != nil {
			return tensorStopped
		}
		first := i * panel
		if backward {
			first = (panels - 1 - i) * panel
		}
		n := min(panel, rows-first)
		t.kernels.Quantize(w.rows, x[first*in:], int(n), int(in), precision)
		t.kernels.Linear(y[first*out:], layer, w.rows, simd.Activation(act))
	}
	return tensorDone
}

// linearMax (handle, x, rows, y) writes y[out] = the largest of x[rows][in] Wᵀ + b over the rows.
func (t *tensors) linearMax(ctx context.Context, mem api.Memory, a []uint64) uint32 {
	layer, rows := t.layer(uint32(a[0])), uint64(uint32(a[2]))
	if layer == nil || rows == 0 {
		return tensorBad
	}
	in, out, work := uint64(layer.In()), uint64(layer.Out()), uint64(layer.Work()+rowWork)
	if rows > maxWork/work {
		return tensorUnsupported
	}
	x, ok := floats(mem, a[1], rows*in)
	y, fits := floats(mem, a[3], out)
	if !ok || !fits {
		return tensorBad
	}
	w := t.scratch.Get().(*workspace)
	defer t.giveBack(w)
	panel := panelOf(work, codes(in))
	if rows <= panel {
		t.kernels.Quantize(w.rows, x, int(rows), int(in), precision)
		t.kernels.LinearMax(y, layer, w.rows)
		return tensorDone
	}
	both := w.floats(2 * int(out)) // y may lie in x, which later panels read
	top, next := both[:out], both[out:]
	for first := uint64(0); first < rows; first += panel {
		if first > 0 && ctx.Err() != nil {
			return tensorStopped
		}
		t.kernels.Quantize(w.rows, x[first*in:], int(min(panel, rows-first)), int(in), precision)
		if first == 0 {
			t.kernels.LinearMax(top, layer, w.rows)
			continue
		}
		t.kernels.LinearMax(next, layer, w.rows)
		for i, v := range next {
			top[i] = max(top[i], v)
		}
	}
	copy(y, top)
	return tensorDone
}

// layer is the layer of a handle; nil when there is none.
func (t *tensors) layer(handle uint32) *simd.Layer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if handle < 1 || uint64(handle) > uint64(len(t.layers)) {
		return nil
	}
	return t.shared.layer(t.kernels, t.layers[handle-1])
}

// attention (qkv, lengths, texts, heads, dim, out) computes the attention of each
// text over itself: out[tokens][heads*dim] from qkv[tokens][3*heads*dim].
func (t *tensors) attention(ctx context.Context, mem api.Memory, a []uint64) uint32 {
	if !t.enabled {
		return tensorUnsupported
	}
	texts, heads, dim := uint64(uint32(a[2])), uint64(uint32(a[3])), uint64(uint32(a[4]))
	if texts > math.MaxUint32/4 || heads < 1 || dim < 1 || heads > simd.MaxDim || dim > simd.MaxDim {
		return tensorBad
	}
	table, ok := mem.Read(uint32(a[1]), uint32(4*texts))
	if !ok {
		return tensorBad
	}
	width, tokens, left, feasible := heads*dim, uint64(0), uint64(maxWork), true
	for i := range texts {
		n := uint64(binary.LittleEndian.Uint32(table[4*i:]))
		if tokens += n; tokens > math.MaxUint32/(12*width) {
			return tensorBad
		}
		work, fits := attentionWork(n, heads, dim)
		if !fits || work > left {
			feasible = false
			continue // a length that is wrong is worse
		}
		left -= work
	}
	if !feasible {
		return tensorUnsupported
	}
	qkv, ok := floats(mem, a[0], tokens*3*width)
	out, fits := floats(mem, a[5], tokens*width)
	if !ok || !fits {
		return tensorBad
	}
	w := t.scratch.Get().(*workspace)
	defer t.giveBack(w)
	scale := float32(1 / math.Sqrt(float64(dim)))
	left = maxWork
	since := uint64(0) // the deadline was last asked for
	for i := range texts {
		n := uint64(binary.LittleEndian.Uint32(table[4*i:]))
		// The table may lie in the output, which this loop writes.
		work, fits := attentionWork(n, heads, dim)
		if n > uint64(len(out))/width || !fits || work > left {
			return tensorBad
		}
		left -= work
		if since += work; since > panelWork {
			if since = work; ctx.Err() != nil {
				return tensorStopped
			}
		}
		if n == 0 {
			continue
		}
		h := simd.Heads{Tokens: int(n), Count: int(heads), Dim: int(dim), Stride: int(3 * width)}
		t.kernels.Attention(out, qkv, qkv[width:], qkv[2*width:], h, scale, w.floats(h.Scratch()))
		qkv, out = qkv[n*3*width:], out[n*width:]
	}
	return tensorDone
}

// attentionWork is what the attention of a text of n tokens takes. False when that
// is too much, in work or in memory.
func attentionWork(n, heads, dim uint64) (work uint64, ok bool) {
	if n > math.MaxUint32/(12*heads*dim) { // no memory holds it; below, nothing overflows
		return 0, false
	}
	h := simd.Heads{Tokens: int(n), Count: int(heads), Dim: int(dim)}
	work = uint64(h.Work()) + (heads+1)*headWork
	return work, work <= maxWork && h.Scratch() <= maxScratch
}

// addNorm (x, residual, rows, n, gain, bias, epsilon) writes x = layernorm(x + residual).
func (t *tensors) addNorm(ctx context.Context, mem api.Memory, a []uint64) uint32 {
	if !t.enabled {
		return tensorUnsupported
	}
	rows, n := uint64(uint32(a[2])), uint64(uint32(a[3]))
	epsilon := api.DecodeF32(a[6])
	if n < 1 || n > simd.MaxDim {
		return tensorBad
	}
	x, ok1 := floats(mem, a[0], rows*n)
	residual, ok2 := floats(mem, a[1], rows*n)
	gain, ok3 := floats(mem, a[4], n)
	bias, ok4 := floats(mem, a[5], n)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return tensorBad
	}
	work := valueWork*padded(n) + normWork
	if rows > maxWork/work {
		return tensorUnsupported
	}
	panel := panelOf(work, 1)
	for first := uint64(0); first < rows; first += panel {
		if first > 0 && ctx.Err() != nil {
			return tensorStopped
		}
		part := x[first*n:]
		t.kernels.LayerNorm(part, part, residual[first*n:], gain, bias, int(min(panel, rows-first)), int(n), epsilon)
	}
	return tensorDone
}
