package main

import (
	"fmt"
	"math"
)

// neon writes the ARM64 kernels, for CPUs with the dot-product extension. The
// Go assembler lacks most vector instructions: those are encoded here.
func neon(f *file) {
	dotNEON(f, 4, false)
	dotNEON(f, 4, true)
	dotNEON(f, 1, false)
	nibblesNEON(f, 4, false)
	nibblesNEON(f, 4, true)
	nibblesNEON(f, 1, false)
	for _, matrices := range []bool{false, true} {
		for _, h := range []int{4, 2, 1} {
			linearNEON(f, h, matrices)
		}
	}
	maxTileNEON(f)
	for _, h := range []int{8, 4, 2, 1} {
		for _, c := range []int{2, 1} {
			matmulNEON(f, h, c)
		}
	}
	softmaxNEON(f)
	geluNEON(f)
	dotFloatNEON(f)
	var words []uint64
	for _, v := range expTable() {
		words = append(words, four(v)...)
	}
	f.table("expTable", words...)
	words = nil
	for _, v := range geluTable() {
		words = append(words, four(v)...)
	}
	f.table("geluTable", words...)
}

func four(v float32) []uint64 {
	both := uint64(math.Float32bits(v))<<32 | uint64(math.Float32bits(v))
	return []uint64{both, both}
}

// Encodings of vector instructions on four lanes, from the Arm Architecture
// Reference Manual, section C7.2.
const (
	sdot     = 0x4e809400 // Vd.4S += Vn.16B · Vm.16B by fours
	sdotElem = 0x4f80e000 // Vd.4S += Vn.16B · Vm.4B[i]
	smmla    = 0x4e80a400 // Vd.4S += Vn.2x8B · Vm.2x8B transposed
	fmul     = 0x6e20dc00
	fadd     = 0x4e20d400
	fsub     = 0x4ea0d400
	fmla     = 0x4e20cc00
	fmls     = 0x4ea0cc00
	fmax     = 0x4e20f400
	fmin     = 0x4ea0f400
	fdiv     = 0x6e20fc00
	fmaxv    = 0x6e30f800
	faddp    = 0x6e20d400
	scvtf    = 0x4e21d800
	fcvtns   = 0x4e21a800
	sshr8    = 0x4f380400
	shl23    = 0x4f375400
)

// v3 is an instruction on three vectors: d from n and m.
func (f *file) v3(op uint32, name string, d, n, m int) {
	f.op("WORD $%#08x // %s V%d, V%d, V%d", op|uint32(m<<16|n<<5|d), name, d, n, m)
}

// v2 is an instruction on two vectors.
func (f *file) v2(op uint32, name string, d, n int) {
	f.op("WORD $%#08x // %s V%d, V%d", op|uint32(n<<5|d), name, d, n)
}

func (f *file) sdotLane(d, n, m, lane int) {
	f.op("WORD $%#08x // sdot V%d, V%d, V%d[%d]", sdotElem|uint32(lane&1<<21|m<<16|lane>>1<<11|n<<5|d), d, n, m, lane)
}

func (f *file) loads(nameReg ...string) {
	for i := 0; i < len(nameReg); i += 2 {
		f.op("MOVD %s(FP), %s", nameReg[i], nameReg[i+1])
	}
}

func (f *file) zero(v int) { f.op("VEOR V%d.B16, V%d.B16, V%d.B16", v, v, v) }

// dotNEON takes 16 bytes a step of each row, SDOT with the query's. The last
// partial group is the row's last 16 bytes, against the query's last ones.
func dotNEON(f *file, rows int, listed bool) {
	name, at := fmt.Sprintf("dotRows%dNEON", rows), ""
	if listed {
		name, at = fmt.Sprintf("dotRowsAt%dNEON", rows), "at *uint32, "
	}
	f.fn(name, "dst *int32, q *int8, rows *int8, stride uintptr, "+at+"blocks, chunks uintptr, tail int, last *int8")
	f.loads("dst", "R0", "q", "R1", "rows", "R2", "stride", "R3", "blocks", "R4", "tail", "R6", "last", "R7")
	if listed {
		f.loads("at", "R13")
	}
	f.label("block")
	for r := range rows {
		switch {
		case listed:
			f.op("MOVWU.P 4(R13), R%d", 8+r)
			f.op("MADD R3, R2, R%d, R%d", 8+r, 8+r)
		case r == 0:
			f.op("MOVD R2, R8")
		default:
			f.op("ADD R3, R%d, R%d", 7+r, 8+r)
		}
		f.zero(r)
	}
	f.op("MOVD R1, R12")
	f.op("MOVD chunks(FP), R5")
	f.label("chunk")
	f.op("VLD1.P 16(R12), [V16.B16]")
	for r := range rows {
		f.op("VLD1.P 16(R%d), [V%d.B16]", 8+r, 17+r)
		f.v3(sdot, "sdot", r, 17+r, 16)
	}
	f.op("SUBS $1, R5, R5")
	f.op("BNE chunk")
	f.op("CBZ R6, sum")
	f.op("VLD1 (R7), [V16.B16]")
	for r := range rows {
		f.op("ADD R6, R%d, R%d", 8+r, 8+r)
		f.op("VLD1 (R%d), [V%d.B16]", 8+r, 17+r)
		f.v3(sdot, "sdot", r, 17+r, 16)
	}
	f.label("sum")
	if rows == 4 {
		f.op("VADDP V1.S4, V0.S4, V0.S4")
		f.op("VADDP V3.S4, V2.S4, V2.S4")
		f.op("VADDP V2.S4, V0.S4, V0.S4")
		f.op("VST1.P [V0.S4], 16(R0)")
	} else {
		f.op("VADDV V0.S4, V0")
		f.op("FMOVS.P F0, 4(R0)")
	}
	if !listed {
		f.op("ADD R3<<%d, R2, R2", map[int]int{4: 2, 1: 0}[rows])
	}
	f.op("SUBS $1, R4, R4")
	f.op("BNE block")
	f.op("RET")
}

// rowsNEON points R8.. at each of h rows.
func rowsNEON(f *file, h int, base, stride string) {
	f.op("MOVD %s, R8", base)
	for r := 1; r < h; r++ {
		f.op("ADD %s, R%d, R%d", stride, 7+r, 8+r)
	}
}

// linearNEON multiplies h rows by a tile of 8 columns, 16 inputs a step: 128
// bytes of weights, and per row 16 high and 16 low bytes, both signed, of which
// SDOT takes four by lane. SMMLA takes 8 high and 8 low ones as the rows of a matrix,
// by those of two outputs.
func linearNEON(f *file, h int, matrices bool) {
	name := fmt.Sprintf("linear%dNEON", h)
	if matrices {
		name = fmt.Sprintf("linear%dI8MM", h)
	}
	f.fn(name,
		"dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, chunks uintptr, scale, bias, rowScale *float32")
	f.loads("dst", "R0", "dstStride", "R1", "x", "R2", "xStride", "R3", "w", "R4", "chunks", "R5")
	rowsNEON(f, h, "R2", "R3")
	acc := func(r, c, half int) int { return 4*r + 2*c + half }
	for i := range 4 * h {
		f.zero(i)
	}
	f.label("step")
	for r := range h {
		f.op("VLD1.P 32(R%d), [V%d.B16, V%d.B16]", 8+r, 16+2*r, 17+2*r)
	}
	f.op("VLD1.P 64(R4), [V24.B16, V25.B16, V26.B16, V27.B16]")
	f.op("VLD1.P 64(R4), [V28.B16, V29.B16, V30.B16, V31.B16]")
	if matrices {
		for g := range 2 {
			for r := range h {
				for pair := range 4 {
					f.v3(smmla, "smmla", 4*r+pair, 16+2*r+g, 24+4*g+pair)
				}
			}
		}
	} else {
		for g := range 4 {
			for r := range h {
				for half := range 2 {
					for c := range 2 {
						f.sdotLane(acc(r, c, half), 24+2*g+c, 16+2*r+half, g)
					}
				}
			}
		}
	}
	f.op("SUBS $1, R5, R5")
	f.op("BNE step")
	f.loads("scale", "R12", "bias", "R13", "rowScale", "R14")
	f.op("VLD1 (R12), [V24.S4, V25.S4]")
	f.op("VLD1 (R13), [V26.S4, V27.S4]")
	f.op("MOVW $255, R12")
	f.op("VDUP R12, V30.S4")
	f.op("MOVW $%#x, R12", math.Float32bits(256))
	f.op("VDUP R12, V31.S4")
	for r := range h {
		f.op("VLD1R.P 4(R14), [V28.S4]")
		for c := range 2 {
			high, low := acc(r, c, 0), acc(r, c, 1)
			if matrices { // two outputs' high sums, then their low ones, in each
				f.op("VZIP2 V%d.D2, V%d.D2, V29.D2", low, high)
				f.op("VZIP1 V%d.D2, V%d.D2, V%d.D2", low, high, high)
				f.op("VMOV V29.B16, V%d.B16", low)
			}
			f.v2(sshr8, "sshr #8", 29, low)
			f.op("VADD V29.S4, V%d.S4, V%d.S4", high, high)
			f.op("VAND V30.B16, V%d.B16, V%d.B16", low, low)
			f.v2(scvtf, "scvtf", high, high)
			f.v2(scvtf, "scvtf", low, low)
			f.v3(fmla, "fmla", low, high, 31)
			f.v3(fmul, "fmul", 29, 28, 24+c)
			f.v3(fmul, "fmul", low, low, 29)
			f.v3(fadd, "fadd", low, low, 26+c)
		}
		f.op("MOVD R0, R12")
		f.op("VST1.P [V%d.S4], 16(R12)", acc(r, 0, 1))
		f.op("VST1 [V%d.S4], (R12)", acc(r, 1, 1))
		f.op("ADD R1, R0, R0")
	}
	f.op("RET")
}

// maxTileNEON is maxTile for four lanes.
func maxTileNEON(f *file) {
	f.fn("maxTileNEON", "dst, src *float32, rows uintptr")
	f.loads("dst", "R0", "src", "R1", "rows", "R2")
	f.op("VLD1 (R0), [V0.S4, V1.S4]")
	f.label("row")
	f.op("VLD1.P 32(R1), [V2.S4, V3.S4]")
	f.v3(fmax, "fmax", 0, 0, 2)
	f.v3(fmax, "fmax", 1, 1, 3)
	f.op("SUBS $1, R2, R2")
	f.op("BNE row")
	f.op("VST1 [V0.S4, V1.S4], (R0)")
	f.op("RET")
}

// matmulNEON is matmul for four lanes.
func matmulNEON(f *file, h, cols int) {
	f.fn(fmt.Sprintf("matmul%dx%dNEON", h, cols),
		"dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr")
	f.loads("dst", "R0", "dstStride", "R1", "a", "R2", "aStride", "R3", "b", "R4", "bStride", "R5", "tiles", "R7")
	f.label("tile")
	rowsNEON(f, h, "R2", "R3")
	for i := range h * cols {
		f.zero(i)
	}
	f.op("MOVD R4, R19")
	f.op("MOVD k(FP), R6")
	f.label("step")
	if cols == 2 {
		f.op("VLD1 (R19), [V16.S4, V17.S4]")
	} else {
		f.op("VLD1 (R19), [V16.S4]")
	}
	f.op("ADD R5, R19, R19")
	for r := range h {
		f.op("VLD1R.P 4(R%d), [V%d.S4]", 8+r, 18+r)
		for c := range cols {
			f.v3(fmla, "fmla", r*cols+c, 16+c, 18+r)
		}
	}
	f.op("SUBS $1, R6, R6")
	f.op("BNE step")
	f.op("MOVD R0, R19")
	for r := range h {
		if cols == 2 {
			f.op("VST1 [V%d.S4, V%d.S4], (R19)", 2*r, 2*r+1)
		} else {
			f.op("VST1 [V%d.S4], (R19)", r)
		}
		f.op("ADD R1, R19, R19")
	}
	f.op("ADD $%d, R0, R0", 16*cols)
	f.op("ADD $%d, R4, R4", 16*cols)
	f.op("SUBS $1, R7, R7")
	f.op("BNE tile")
	f.op("RET")
}

func expTable() []float32 {
	return append([]float32{expMin, math.Log2E, ln2High, ln2Low, 1}, expPoly...)
}

func geluTable() []float32 {
	return append([]float32{geluEdge, -geluEdge, 2.0 / (geluEdge * geluEdge), 1, 0.5}, geluPoly...)
}

// table16 loads n constants of four lanes each from a table to V(31-n+1)..V31
// and returns the first register.
func (f *file) table16(name string, n int) int {
	first := 32 - n
	f.op("MOVD $%s<>(SB), R12", name)
	for i := range n {
		f.op("VLD1.P 16(R12), [V%d.S4]", first+i)
	}
	return first
}

// horner leaves the polynomial in V(x) with coefficients from V(c) in register
// d; t is scratch.
func (f *file) horner(d, t, x, c, n int) {
	from, to := c+n-1, d
	if n%2 == 1 {
		to = t
	}
	for i := n - 2; i >= 0; i-- {
		if to == d {
			to = t
		} else {
			to = d
		}
		f.op("VMOV V%d.B16, V%d.B16", c+i, to)
		f.v3(fmla, "fmla", to, from, x)
		from = to
	}
	if from != d {
		f.op("VMOV V%d.B16, V%d.B16", from, d)
	}
}

// softmaxNEON is softmaxRows for four lanes; V20 to V31 hold constants.
func softmaxNEON(f *file) {
	f.fn("softmaxRowsNEON", "x *float32, n, rows uintptr, scale float32")
	f.loads("x", "R0", "n", "R1", "rows", "R2")
	f.op("MOVWU scale(FP), R3")
	f.op("VDUP R3, V19.S4")
	c := f.table16("expTable", 5+len(expPoly))
	minimum, log2e, high, low, one, poly := c, c+1, c+2, c+3, c+4, c+5
	f.label("row")
	f.op("MOVD R0, R4")
	f.op("MOVD R1, R5")
	f.op("VLD1 (R4), [V0.S4]")
	f.label("max")
	f.op("VLD1.P 16(R4), [V1.S4]")
	f.v3(fmax, "fmax", 0, 0, 1)
	f.op("SUBS $4, R5, R5")
	f.op("BNE max")
	f.v2(fmaxv, "fmaxv", 0, 0)
	f.op("VDUP V0.S[0], V0.S4")
	f.v3(fmul, "fmul", 16, 0, 19)
	f.zero(17)
	f.op("MOVD R0, R4")
	f.op("MOVD R1, R5")
	f.label("exp")
	f.op("VLD1 (R4), [V1.S4]")
	f.v3(fmul, "fmul", 1, 1, 19)
	f.v3(fsub, "fsub", 1, 1, 16)
	f.v3(fmax, "fmax", 1, 1, minimum)
	f.v3(fmul, "fmul", 2, 1, log2e)
	f.v2(fcvtns, "fcvtns", 2, 2)
	f.v2(scvtf, "scvtf", 3, 2)
	f.v3(fmls, "fmls", 1, 3, high)
	f.v3(fmls, "fmls", 1, 3, low)
	f.horner(4, 5, 1, poly, len(expPoly))
	f.v2(shl23, "shl #23", 2, 2)
	f.op("VADD V2.S4, V4.S4, V4.S4")
	f.op("VST1.P [V4.S4], 16(R4)")
	f.v3(fadd, "fadd", 17, 17, 4)
	f.op("SUBS $4, R5, R5")
	f.op("BNE exp")
	f.v3(faddp, "faddp", 17, 17, 17)
	f.v3(faddp, "faddp", 17, 17, 17)
	f.v3(fdiv, "fdiv", 17, one, 17)
	f.op("MOVD R1, R5")
	f.label("scale")
	f.op("VLD1 (R0), [V1.S4]")
	f.v3(fmul, "fmul", 1, 1, 17)
	f.op("VST1.P [V1.S4], 16(R0)")
	f.op("SUBS $4, R5, R5")
	f.op("BNE scale")
	f.op("SUBS $1, R2, R2")
	f.op("BNE row")
	f.op("RET")
}

// geluNEON is geluKernel for four lanes; V14 to V31 hold constants.
func geluNEON(f *file) {
	f.fn("geluNEON", "x *float32, n uintptr")
	f.loads("x", "R0", "n", "R1")
	c := f.table16("geluTable", 5+len(geluPoly))
	f.label("loop")
	f.op("VLD1 (R0), [V0.S4]")
	f.v3(fmin, "fmin", 1, 0, c)
	f.v3(fmax, "fmax", 1, 1, c+1)
	f.v3(fmul, "fmul", 2, 1, 1)
	f.v3(fmul, "fmul", 2, 2, c+2)
	f.v3(fsub, "fsub", 2, 2, c+3)
	f.horner(3, 4, 2, c+5, len(geluPoly))
	f.op("VMOV V%d.B16, V4.B16", c+4)
	f.v3(fmla, "fmla", 4, 3, 1)
	f.v3(fmul, "fmul", 0, 0, 4)
	f.op("VST1.P [V0.S4], 16(R0)")
	f.op("SUBS $4, R1, R1")
	f.op("BNE loop")
	f.op("RET")
}

// dotFloatNEON adds products of 16 values a step in four sums.
func dotFloatNEON(f *file) {
	f.fn("dotNEON", "a *float32, b *float32, n uintptr) (sum float32")
	f.loads("a", "R0", "b", "R1", "n", "R2")
	for i := range 4 {
		f.zero(i)
	}
	f.label("loop")
	f.op("VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]")
	f.op("VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]")
	for i := range 4 {
		f.v3(fmla, "fmla", i, 4+i, 16+i)
	}
	f.op("SUBS $16, R2, R2")
	f.op("BNE loop")
	f.v3(fadd, "fadd", 0, 0, 1)
	f.v3(fadd, "fadd", 2, 2, 3)
	f.v3(fadd, "fadd", 0, 0, 2)
	f.v3(faddp, "faddp", 0, 0, 0)
	f.v3(faddp, "faddp", 0, 0, 0)
	f.op("FMOVS F0, sum(FP)")
	f.op("RET")
}
