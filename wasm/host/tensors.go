package host

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/tetratelabs/wazero/api"

	"github.com/mnemehq/mneme/core/simd"
	"github.com/mnemehq/mneme/wasm/abi"
)

// The answers of an mneme_nn operation.
const (
	tensorDone        = 0
	tensorUnsupported = 1 // the guest runs its own loop
	tensorBad         = 2 // a handle, shape or pointer is wrong; memory is untouched
)

// maxWork is how many multiply-adds one operation may take: more is answered with
// "unsupported". Neither a deadline nor the garbage collector can stop a kernel,
// and 2^33 take some tens of milliseconds on one core with AVX-512 and under half
// a second with NEON.
const maxWork = 1 << 33

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
	rows      *simd.Rows
	attention []float32
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
	export := func(name string, run func(api.Memory, []uint64) uint32, params ...api.ValueType) {
		builder.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module,
			stack []uint64) {
			stack[0] = uint64(run(mod.Memory(), stack))
			m.yield(ctx)
		}), params, []api.ValueType{i32}).Export(name)
	}
	export("linear_open", t.linearOpen, i32, i32, i32, i32)
	export("linear", t.linear, i32, i32, i32, i32, i32)
	export("linear_max", t.linearMax, i32, i32, i32, i32)
	export("attention", t.attention, i32, i32, i32, i32, i32, i32)
	export("add_norm", t.addNorm, i32, i32, i32, i32, i32, i32, f32)
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

// linearOpen (name, name length, outputs, inputs) packs NAME.weight (I8),
// NAME.scale and NAME.bias (F32), unless a model it shares with has, and returns its handle, 0 when unsupported.
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
	if out < 1 || in < 1 || in > simd.MaxDim || len(weights)/in != out || len(weights)%in != 0 || len(scale) != 4*out ||
		len(bias) != 4*out {
		return 0
	}
	layer, err := t.shared.acquire(t.kernels, weights, scale, bias, out, in)
	if err != nil {
		return 0
	}
	t.layers = append(t.layers, layer)
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
func (t *tensors) linear(mem api.Memory, a []uint64) uint32 {
	layer, rows, act := t.layer(uint32(a[0])), uint64(uint32(a[2])), uint32(a[4])
	if layer == nil || act > uint32(simd.GELU) {
		return tensorBad
	}
	if rows > maxWork/uint64(layer.In()*layer.Out()) {
		return tensorUnsupported
	}
	x, ok := floats(mem, a[1], rows*uint64(layer.In()))
	y, fits := floats(mem, a[3], rows*uint64(layer.Out()))
	if !ok || !fits {
		return tensorBad
	}
	w := t.scratch.Get().(*workspace)
	defer t.scratch.Put(w)
	t.kernels.Quantize(w.rows, x, int(rows), layer.In(), precision)
	t.kernels.Linear(y, layer, w.rows, simd.Activation(act))
	return tensorDone
}

// linearMax (handle, x, rows, y) writes y[out] = the largest of x[rows][in] Wᵀ + b over the rows.
func (t *tensors) linearMax(mem api.Memory, a []uint64) uint32 {
	layer, rows := t.layer(uint32(a[0])), uint64(uint32(a[2]))
	if layer == nil || rows == 0 {
		return tensorBad
	}
	if rows > maxWork/uint64(layer.In()*layer.Out()) {
		return tensorUnsupported
	}
	x, ok := floats(mem, a[1], rows*uint64(layer.In()))
	y, fits := floats(mem, a[3], uint64(layer.Out()))
	if !ok || !fits {
		return tensorBad
	}
	w := t.scratch.Get().(*workspace)
	defer t.scratch.Put(w)
	t.kernels.Quantize(w.rows, x, int(rows), layer.In(), precision)
	t.kernels.LinearMax(y, layer, w.rows)
	return tensorDone
}

// layer is the layer of a handle; nil when there is none.
func (t *tensors) layer(handle uint32) *simd.Layer {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if handle < 1 || uint64(handle) > uint64(len(t.layers)) {
		return nil
	}
	return t.layers[handle-1].layer
}

// attention (qkv, lengths, texts, heads, dim, out) computes the attention of each
// text over itself: out[tokens][heads*dim] from qkv[tokens][3*heads*dim].
func (t *tensors) attention(mem api.Memory, a []uint64) uint32 {
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
	width, tokens, work := heads*dim, uint64(0), uint64(0)
	for i := range texts {
		n := uint64(binary.LittleEndian.Uint32(table[4*i:]))
		if tokens += n; tokens > math.MaxUint32/(12*width) {
			return tensorBad
		}
		work += n * n // at most (2^32/12)^2: no overflow
	}
	if work > maxWork/(2*width) {
		return tensorUnsupported
	}
	qkv, ok := floats(mem, a[0], tokens*3*width)
	out, fits := floats(mem, a[5], tokens*width)
	if !ok || !fits {
		return tensorBad
	}
	w := t.scratch.Get().(*workspace)
	defer t.scratch.Put(w)
	scale := float32(1 / math.Sqrt(float64(dim)))
	for i := range texts {
		n := uint64(binary.LittleEndian.Uint32(table[4*i:]))
		if n > uint64(len(out))/width || n*n > work { // the table lies in the output, which this loop writes
			return tensorBad
		}
		work -= n * n
		if n == 0 {
			continue
		}
		h := simd.Heads{Tokens: int(n), Count: int(heads), Dim: int(dim), Stride: int(3 * width)}
		if n := h.Scratch(); n > len(w.attention) {
			w.attention = make([]float32, n)
		}
		t.kernels.Attention(out, qkv, qkv[width:], qkv[2*width:], h, scale, w.attention)
		qkv, out = qkv[n*3*width:], out[n*width:]
	}
	return tensorDone
}

// addNorm (x, residual, rows, n, gain, bias, epsilon) writes x = layernorm(x + residual).
func (t *tensors) addNorm(mem api.Memory, a []uint64) uint32 {
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
	t.kernels.LayerNorm(x, x, residual, gain, bias, int(rows), int(n), epsilon)
	return tensorDone
}
