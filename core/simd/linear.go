package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// codeMax is the largest activation code. A code q is split into bytes as
// q + 128 = 256*high + (low + 128), both from -128 to 127, and 32,639 is what is
// left of 16 bits on both sides.
const codeMax = 32639

// Precision says how finely [Kernels.Quantize] rounds activations. Full16 uses
// 16 bits up to each row's largest magnitude. A positive value c makes values
// within c times the row's root mean square 8-bit codes, wider ones up to 16:
// rounding then adds noise of c/440 of the row (int8 weights bring about 1/100
// of their own). The AVX-512 and AVX-VNNI kernels skip the high bytes of inputs that
// need none, a few outlying dimensions aside, so that Linear costs little more than
// half.
type Precision float32

// Precisions to start from: Bulk8 adds noise of 0.7 % of a row.
const (
	Full16 Precision = 0
	Bulk8  Precision = 3
)

// Rows holds activations quantized for [Kernels.Linear]: every row has a scale
// of its own and codes of up to 16 bits. Reuse one for many layers: it grows to
// the largest shape seen and stays. Not safe for concurrent use.
type Rows struct {
	level  Level
	rows   int
	dim    int
	stride int       // codes per row: dim padded as the level does, padding is code 0
	codes  []int16   // plain, or split into bytes, see Layer
	scale  []float32 // NaN for a row that holds NaN or an infinity

	// For AVX512 and AVXVNNI with a positive precision: high bytes are signed (else + 128),
	// -128 times their sum per row, and per block of rows the groups of four
	// inputs that have one. A block's list has stride/4 + 8 entries.
	skip      bool
	highStart []int32
	lists     []int64
	listed    []int

	// For AMX, of each run of rows what high bytes there are, and the offsets, in a panel of
	// weights, of those that meet them; room for these weights of a panel, and for the sums of a
	// run's low and high bytes between chunks of inputs.
	highs   []highBytes
	offsets []uint32
	picked  []int8
	partial []int32
}

// highBytes are how many steps of 64 the high bytes of a run take: none, those of the groups
// that are picked, or all.
type highBytes struct {
	steps  int
	picked bool
}

// NewRows makes room for rows of dim values, so that no later call with a
// shape up to it allocates. It holds no rows before [Kernels.Quantize].
func NewRows(rows, dim int) *Rows {
	r := &Rows{}
	r.shape(rows, dim, AVX512)
	r.shape(rows, dim, AMX)
	r.shape(0, dim, Portable)
	return r
}

// linearRows is the height of the full register block of Linear, and of the
// blocks that skip lists are made for.
const linearRows = 6

// panelBytes bounds the codes that a pass over the weights reads again and
// again: half of a small second-level cache.
const panelBytes = 512 << 10

// tileRows and tileBytes are what a tile of AMX holds, tileGroup what the weights of four
// inputs take in a panel of 32 outputs.
const (
	tileRows  = 16
	tileBytes = 64
	tileSize  = tileRows * tileBytes
	tileGroup = 128
)

// tileRun is how many rows have one list of high bytes, and their codes and results in the
// second-level cache while the weights pass by. Real texts have high bytes in a quarter of the groups of four inputs
// of 16 rows and in four ninths of those of 128 (four tenths and two thirds after GELU).
const tileRun = 128

// run is how many rows of r's width make a run, but for the last one.
func (r *Rows) run() int {
	return max(2*tileRows, min(tileRun, panelBytes/(2*r.stride)&^(2*tileRows-1)))
}

// rowsOf are the first row of a run, and how many it has.
func (r *Rows) rowsOf(run int) (from, rows int) {
	from = run * r.run()
	return from, min(r.run(), r.rows-from)
}

// tileChunk is for how many steps of inputs the weights of a panel stay in the first-level
// cache beside what passes by. tilePicks is for how many inputs they do together with those that are picked of them.
const (
	tileChunk = 12
	tilePicks = 512
)

// chunks are equal parts of the steps of a panel, but for the last one.
func (r *Rows) chunks() (steps, last int) {
	all := r.stride / tileBytes
	n := (all + tileChunk - 1) / tileChunk
	steps = (all + n - 1) / n
	return steps, all - (n-1)*steps
}

// picks is room for the offsets of a run's weights, one for each group of four inputs.
func (r *Rows) picks(run int) []uint32 {
	n := r.stride / 4
	return r.offsets[run*n : (run+1)*n]
}

// padded is how many codes n inputs take.
func (l Level) padded(n int) int {
	if l == AMX {
		return (n + tileBytes - 1) &^ (tileBytes - 1)
	}
	return (n + 15) &^ 15
}

func (r *Rows) shape(rows, dim int, level Level) {
	r.level, r.rows, r.dim, r.stride = level, rows, dim, level.padded(dim)
	r.scale = resize(r.scale, rows)
	if level == AMX {
		r.codes = resize(r.codes, r.plane())
		runs := (rows + r.run() - 1) / r.run()
		r.highs = resize(r.highs, runs)
		r.offsets = resize(r.offsets, runs*r.stride/4)
		r.picked = resize(r.picked, min(r.stride, tilePicks)/4*tileGroup)
		r.partial = resize(r.partial, tileRun*2*32)
		return
	}
	blocks := (rows + linearRows - 1) / linearRows
	r.codes = resize(r.codes, rows*r.stride)
	r.highStart = resize(r.highStart, rows)
	// the last block may fall into three, of 4, 2 and 1 rows
	r.lists = resize(r.lists, (blocks+2)*(r.stride/4+8))
	r.listed = resize(r.listed, blocks+2)
}

// plane is the size of a plane of bytes of AMX: rows padded to a tile. What the padding
// holds does not matter.
func (r *Rows) plane() int { return (r.rows + tileRows - 1) &^ (tileRows - 1) * r.stride }

// planes views the codes as AMX has them: low bytes, then high ones.
func (r *Rows) planes() (low, high []int8) {
	all := unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(r.codes))), 2*len(r.codes))
	return all[:len(r.codes)], all[len(r.codes):]
}

// Bytes is the memory that r holds, of the largest shapes it has had.
func (r *Rows) Bytes() int {
	return 2*cap(r.codes) + 4*(cap(r.scale)+cap(r.highStart)+cap(r.offsets)+cap(r.partial)) +
		8*(cap(r.lists)+cap(r.listed)) + 16*cap(r.highs) + cap(r.picked)
}

func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}

// Quantize fills r with the first rows*dim values of x, row-major. dim is 1 to
// MaxDim. Codes and scales are the same at every level.
func (k Kernels) Quantize(r *Rows, x []float32, rows, dim int, p Precision) {
	if rows < 0 || dim < 1 || dim > MaxDim || rows > len(x)/dim || !(p >= 0) {
		panic(fmt.Sprintf("simd: %d values for %d rows of %d, precision %g", len(x), rows, dim, p))
	}
	r.shape(rows, dim, k.level)
	r.skip = false
	k.quantizeRows(r, x, p)
}

// rowScale gives a row's scale and its inverse from its largest magnitude and
// the sums of squares. A vanishing row quantizes to zero, one that isn't
// finite to a NaN scale, which makes its products NaN.
func rowScale(top float32, squares *[16]float32, dim int, p Precision) (scale, inverse float32) {
	if top != top || top > math.MaxFloat32 {
		return float32(math.NaN()), 0
	}
	scale, inverse = top/codeMax, codeMax/top
	if p > 0 {
		var sum float64
		for _, s := range squares {
			sum += float64(s)
		}
		rms := math.Sqrt(sum / float64(dim))
		if coarse := float32(float64(p) * rms / 127); coarse > scale && coarse <= math.MaxFloat32 {
			scale, inverse = coarse, 1/coarse
		}
	}
	if inverse > math.MaxFloat32 {
		return 0, 0
	}
	return scale, inverse
}

// measurePortable is the largest magnitude and the squares, summed by lanes of
// i%16 as the assembly does.
func measurePortable(x []float32, squares *[16]float32) float32 {
	for i, v := range x {
		squares[i%16] += float32(v * v)
	}
	return absMaxPortable(x)
}

func quantizeRowsPortable(r *Rows, x []float32, p Precision) {
	for i := range r.rows {
		row := x[i*r.dim : (i+1)*r.dim]
		var squares [16]float32
		var inv float32
		r.scale[i], inv = rowScale(measurePortable(row, &squares), &squares, r.dim, p)
		dst := r.codes[i*r.stride : (i+1)*r.stride]
		for j, v := range row {
			dst[j] = int16(roundEven(float32(v * inv)))
		}
		clear(dst[len(row):])
	}
}

// Layer is the weights of a linear layer, packed for one level: y = xWᵀ + b
// with int8 weights, a scale per output. Immutable, safe for concurrent use.
//
// Weights lie in tiles of as many outputs as the kernels keep sums for, input
// groups outermost within a tile, so that a kernel reads them front to back
// once per block of rows:
//
//	AVX512    [outputs/32][inputs/4][32][4]  VPDPBUSD takes four inputs a lane
//	AVXVNNI   the same                       in registers of half the width
//	AMX       the same                       TDPBSSD takes 64 inputs by 16 outputs, 16 times 64 bytes
//	AVX2      [outputs/16][inputs/2][16][2]  VPMADDWD takes two
//	NEON      [outputs/8][inputs/4][8][4]    SDOT takes four, signed by signed
//	I8MM      [outputs/8][inputs/8][8][8]    SMMLA takes eight of two outputs, by two rows
//	Portable  [outputs][inputs]
//
// Inputs are padded to 16, for AMX to 64, and outputs to the tile, with zeros. VPDPBUSD
// and SDOT read activations split into bytes: per 4 inputs four high bytes, then
// the low ones + 128 for AVX512 and AVXVNNI; per 16 inputs 16 high, then 16 low for NEON; per 8
// inputs 8 high, then 8 low for I8MM, which are the two rows of SMMLA. For AMX all low
// bytes of all rows lie before all high ones, both signed: [rows/16][inputs/64][16][64].
type Layer struct {
	level   Level
	out, in int
	weights []int8
	start   []int32   // -128*Σ weights: takes out the offsets of both byte halves
	scale   []float32 // padded like the outputs
	bias    []float32
}

// Out is the number of outputs, In of inputs.
func (l *Layer) Out() int { return l.out }

// In is the number of inputs.
func (l *Layer) In() int { return l.in }

// Work is how many multiply-adds the kernels spend on a row: inputs and outputs as
// they are padded.
func (l *Layer) Work() int { return l.tiles() * l.tile() * l.level.padded(l.in) }

// Bytes is the memory that the packed layer holds.
func (l *Layer) Bytes() int {
	return len(l.weights) + 4*(len(l.start)+len(l.scale)+len(l.bias))
}

// PackLayer copies weights, row-major with in values per output, their scale
// per output and the bias (nil for none) into the kernels' layout. The error
// says which length does not fit; in is 1 to MaxDim.
func (k Kernels) PackLayer(weights []int8, scale, bias []float32, out, in int) (*Layer, error) {
	switch {
	case out < 1 || in < 1 || in > MaxDim || out > math.MaxInt32/in:
		return nil, fmt.Errorf("pack layer: %d outputs of %d inputs, want 1 or more of 1 to %d", out, in, MaxDim)
	case len(weights) != out*in:
		return nil, fmt.Errorf("pack layer: %d weights, want %d×%d", len(weights), out, in)
	case len(scale) != out:
		return nil, fmt.Errorf("pack layer: %d scales for %d outputs", len(scale), out)
	case bias != nil && len(bias) != out:
		return nil, fmt.Errorf("pack layer: %d biases for %d outputs", len(bias), out)
	}
	l := &Layer{level: k.level, out: out, in: in}
	switch k.level {
	case AVX512, AVXVNNI, AMX:
		l.pack(weights, 32, 4)
	case AVX2:
		l.pack(weights, 16, 2)
	case NEON:
		l.pack(weights, 8, 4)
	case I8MM:
		l.pack(weights, 8, 8)
	default:
		l.weights = weightRoom(len(weights))
		copy(l.weights, weights)
	}
	padded := l.tiles() * l.tile()
	l.start = make([]int32, padded)
	for n := range out {
		l.start[n] = -128 * sumOf(weights[n*in:(n+1)*in])
	}
	l.scale, l.bias = make([]float32, padded), make([]float32, padded)
	copy(l.scale, scale)
	copy(l.bias, bias)
	return l, nil
}

// sumOf adds weights, four at a time in lanes of 16 bits, as bytes that are 128 more.
func sumOf(weights []int8) (sum int32) {
	const lanes = 0x00ff00ff00ff00ff
	rest := len(weights) % 8
	for _, w := range weights[:rest] {
		sum += int32(w)
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(weights))), len(weights))[rest:]
	sum -= 128 * int32(len(b))
	for len(b) > 0 {
		part := b[:min(len(b), 128*8)] // 256 bytes of 255 fit a lane
		b = b[len(part):]
		var of uint64
		for ; len(part) >= 8; part = part[8:] {
			w := binary.LittleEndian.Uint64(part) ^ 0x8080808080808080
			of += w&lanes + w>>8&lanes
		}
		sum += int32(of&0xffff + of>>16&0xffff + of>>32&0xffff + of>>48)
	}
	return sum
}

func (l *Layer) pack(weights []int8, tile, group int) {
	in := l.level.padded(l.in)
	l.weights = weightRoom((l.out + tile - 1) / tile * tile * in)
	whole := l.in / group * group
	for n := range l.out {
		// Output n's groups lie a tile's groups apart.
		row, to := weights[n*l.in:(n+1)*l.in], l.weights[n/tile*tile*in+n%tile*group:]
		step := tile * group
		switch group {
		case 8:
			spread[[8]int8](to, row, step)
		case 4:
			spread[[4]int8](to, row, step)
		case 2:
			spread[[2]int8](to, row, step)
		}
		if whole < l.in {
			copy(to[whole*tile:], row[whole:])
		}
	}
}

// spread writes the groups of a row so many weights apart, but for one that is not whole.
func spread[group [2]int8 | [4]int8 | [8]int8](to, row []int8, step int) {
	var one group
	if len(row) < len(one) {
		return
	}
	n := len(row) / len(one)
	_ = to[(n-1)*step+len(one)-1]
	from, at := unsafe.Pointer(unsafe.SliceData(row)), unsafe.Pointer(unsafe.SliceData(to))
	for i := range n {
		*(*group)(unsafe.Add(at, i*step)) = *(*group)(unsafe.Add(from, i*len(one)))
	}
}

// tile is how many outputs a tile has.
func (l *Layer) tile() int {
	switch l.level {
	case AVX512, AVXVNNI, AMX:
		return 32
	case AVX2:
		return 16
	case NEON, I8MM:
		return 8
	}
	return 1
}

func (l *Layer) tiles() int { return (l.out + l.tile() - 1) / l.tile() }

// Activation is what follows a linear layer in place.
type Activation uint8

// The activations.
const (
	Identity Activation = iota
	GELU                // see [Kernels.GELU]
)

// Linear writes y = xWᵀ + b, then the activation, for the rows in x: x.rows
// times l.Out() values of dst, row-major. Both must come from kernels of k's
// level; x has l.In() values a row. dst may be the slice x was quantized from.
//
// The sum over codes is exact. It is rounded to f32 in two parts, times the
// product of the scales, plus the bias: so without an activation every level
// gives the same bits. A row that held NaN or an infinity gives NaN.
func (k Kernels) Linear(dst []float32, l *Layer, x *Rows, then Activation) {
	k.mustFit(l, x)
	if len(dst) < x.rows*l.out {
		panic(fmt.Sprintf("simd: room for %d values, want %d×%d", len(dst), x.rows, l.out))
	}
	if x.rows == 0 {
		return
	}
	dst = dst[:x.rows*l.out]
	k.linear(dst, l, x, then)
}

// LinearMax writes the largest result of each output over the rows in x:
// l.Out() values of dst, what [Kernels.Linear] without activation gives and a
// maximum over its rows, without room for them all. Rows that held NaN or an
// infinity leave any value; without rows it is minus infinity.
func (k Kernels) LinearMax(dst []float32, l *Layer, x *Rows) {
	k.mustFit(l, x)
	if len(dst) < l.out {
		panic(fmt.Sprintf("simd: room for %d values, want %d", len(dst), l.out))
	}
	k.linearMax(dst[:l.out], l, x)
}

// mustFit panics unless layer and rows are k's and fit each other.
func (k Kernels) mustFit(l *Layer, x *Rows) {
	if l.level != k.level || x.level != k.level && x.rows > 0 {
		panic(fmt.Sprintf("simd: %s kernels, layer packed for %s, rows for %s", k.level, l.level, x.level))
	}
	if x.rows > 0 && x.dim != l.in {
		panic(fmt.Sprintf("simd: rows of %d for a layer of %d inputs", x.dim, l.in))
	}
}

func linearMaxPortable(dst []float32, l *Layer, x *Rows) {
	for n := range dst {
		dst[n] = float32(math.Inf(-1))
		for r := range x.rows {
			sum := dotInt16(x.codes[r*x.stride:][:l.in], l.weights[n*l.in:])
			dst[n] = max(dst[n], dequantize(sum, x.scale[r], l.scale[n], l.bias[n]))
		}
	}
}

func linearPortable(dst []float32, l *Layer, x *Rows, then Activation) {
	for r := range x.rows {
		codes := x.codes[r*x.stride:][:l.in]
		for n := range l.out {
			sum := dotInt16(codes, l.weights[n*l.in:])
			dst[r*l.out+n] = dequantize(sum, x.scale[r], l.scale[n], l.bias[n])
		}
	}
	if then == GELU {
		geluPortable(dst[:x.rows*l.out])
	}
}

// dequantize is what the assembly does with its sums. The conversions keep
// the compiler from fusing operations, which would round differently.
func dequantize(sum int64, rowScale, scale, bias float32) float32 {
	v := float32(float32(int32(sum>>8))*256) + float32(int32(sum&255))
	return float32(float32(v)*float32(rowScale*scale)) + bias
}

func dotInt16(a []int16, b []int8) int64 {
	b = b[:len(a)]
	var s0, s1 int64
	for len(a) >= 2 && len(b) >= 2 {
		s0 += int64(int32(a[0]) * int32(b[0]))
		s1 += int64(int32(a[1]) * int32(b[1]))
		a, b = a[2:], b[2:]
	}
	for i := range a {
		s0 += int64(int32(a[i]) * int32(b[i]))
	}
	return s0 + s1
}
