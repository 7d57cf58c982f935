package main

import (
	"fmt"
	"math"
)

// layer writes the f32 kernels of a transformer layer. All take whole
// registers; constants are of package simd's layer.go, where their errors are
// told.
func layer(f *file) {
	for _, s := range isas {
		for _, h := range tall(s) {
			for _, c := range []int{2, 1} {
				matmul(f, s, h, c, false)
				if s.reg == "Z" { // VPDPWSSD
					matmul(f, s, h, c, true)
				}
			}
		}
		softmaxRows(f, s)
		geluKernel(f, s)
		layerNorm(f, s, true)
		layerNorm(f, s, false)
	}
	transpose(f)
	words(f)
	for i, c := range geluPoly {
		f.constant(fmt.Sprintf("gelu%d", i), math.Float32bits(c))
	}
	f.constant("geluEdge", math.Float32bits(geluEdge))
	f.constant("geluMinusEdge", math.Float32bits(-geluEdge))
	f.constant("geluScale", math.Float32bits(2.0/(geluEdge*geluEdge)))
	for i, c := range expPoly {
		f.constant(fmt.Sprintf("exp%d", i), math.Float32bits(c))
	}
	f.constant("expMin", math.Float32bits(expMin))
	f.constant("log2e", math.Float32bits(math.Log2E))
	f.constant("ln2High", math.Float32bits(ln2High))
	f.constant("ln2Low", math.Float32bits(ln2Low))
	f.constant("half", math.Float32bits(0.5))
	f.constant("one", math.Float32bits(1))
}

// tall is heights for f32 blocks: 16 sums for AVX-512, 12 for AVX2, and room
// for operands.
func tall(s isa) []int {
	if s.reg == "Z" {
		return []int{8, 4, 2, 1}
	}
	return heights
}

// matmul multiplies h rows of a by tiles of cols registers of b's columns. Of words, each
// place of a and b is a pair, whose two products add up in one step; the sums of a row are
// multiplied by its scale, unless there is none.
func matmul(f *file, s isa, h, cols int, words bool) {
	name := "matmul"
	params := "dst *float32, dstStride uintptr, a *float32, aStride uintptr, b *float32, bStride uintptr, k, tiles uintptr"
	broadcast, multiply := "VBROADCASTSS", "VFMADD231PS"
	if words {
		name, params = "matmulWords", params+", scale *float32"
		broadcast, multiply = "VPBROADCASTD", "VPDPWSSD"
	}
	f.fn(fmt.Sprintf("%s%dx%d%s", name, h, cols, s.name), params)
	f.args("a", "R8", "aStride", "AX")
	rowBases(f, h, "R8", "AX")
	f.label("tile")
	f.op("MOVQ dst(FP), DI")
	f.op("MOVQ b(FP), SI")
	f.op("MOVQ bStride(FP), DX")
	f.op("MOVQ k(FP), CX")
	f.op("XORQ AX, AX")
	b0 := h * cols
	spare := b0 + cols
	count := 16 - spare
	if s.reg == "Z" {
		count = 4
	}
	for i := range h * cols {
		f.op("VXORPS X%d, X%d, X%d", i, i, i)
	}
	f.label("step")
	for c := range cols {
		f.op("VMOVUPS %d(SI), %s%d", 4*s.lanes*c, s.reg, b0+c)
	}
	for r := range h {
		x := spare + r%count
		f.op("%s (%s)(AX*1), %s%d", broadcast, rowRegs[r], s.reg, x)
		for c := range cols {
			f.op("%s %s%d, %s%d, %s%d", multiply, s.reg, b0+c, s.reg, x, s.reg, r*cols+c)
		}
	}
	f.op("ADDQ $4, AX")
	f.op("ADDQ DX, SI")
	f.op("DECQ CX")
	f.op("JNZ step")
	if words {
		for i := range h * cols {
			f.op("VCVTDQ2PS %s%d, %s%d", s.reg, i, s.reg, i)
		}
		f.op("MOVQ scale(FP), AX")
		f.op("TESTQ AX, AX")
		f.op("JZ store")
		for r := range h {
			f.op("VBROADCASTSS %d(AX), %s%d", 4*r, s.reg, spare)
			for c := range cols {
				f.op("VMULPS %s%d, %s%d, %s%d", s.reg, spare, s.reg, r*cols+c, s.reg, r*cols+c)
			}
		}
		f.label("store")
	}
	f.op("MOVQ dstStride(FP), DX")
	for r := range h {
		for c := range cols {
			f.op("VMOVUPS %s%d, %d(DI)", s.reg, r*cols+c, 4*s.lanes*c)
		}
		if r < h-1 {
			f.op("ADDQ DX, DI")
		}
	}
	f.op("ADDQ $%d, dst(FP)", 4*s.lanes*cols)
	f.op("ADDQ $%d, b(FP)", 4*s.lanes*cols)
	f.op("DECQ tiles(FP)")
	f.op("JNZ tile")
	f.ret()
}

// exp leaves e^x of register x in register y; t is scratch. x at least
// expMin. The power of two goes in through the exponent bits.
func exp(f *file, s isa, x, y, t int) {
	r := s.reg
	f.op("VMULPS log2e<>(SB), %s%d, %s%d", r, x, r, t)
	f.op("VCVTPS2DQ %s%d, %s%d", r, t, r, t)
	f.op("VCVTDQ2PS %s%d, %s%d", r, t, r, y)
	f.op("VFNMADD231PS ln2High<>(SB), %s%d, %s%d", r, y, r, x)
	f.op("VFNMADD231PS ln2Low<>(SB), %s%d, %s%d", r, y, r, x)
	last := len(expPoly) - 1
	f.op("VMOVUPS exp%d<>(SB), %s%d", last, r, y)
	for i := last - 1; i >= 0; i-- {
		f.op("VFMADD213PS exp%d<>(SB), %s%d, %s%d", i, r, x, r, y)
	}
	f.op("VPSLLD $23, %s%d, %s%d", r, t, r, t)
	f.op("VPADDD %s%d, %s%d, %s%d", r, t, r, y, r, y)
}

// reduce folds register at with an operation into its lane 0 and copies that to every lane of
// it. The register behind it is scratch; both are below 16.
func reduce(f *file, s isa, at int, op string) {
	if s.reg == "Z" {
		f.op("VEXTRACTF64X4 $1, Z%d, Y%d", at, at+1)
		f.op("%s Y%d, Y%d, Y%d", op, at+1, at, at)
	}
	f.op("VEXTRACTF128 $1, Y%d, X%d", at, at+1)
	f.op("%s X%d, X%d, X%d", op, at+1, at, at)
	f.op("VPSHUFD $0x4e, X%d, X%d", at, at+1)
	f.op("%s X%d, X%d, X%d", op, at+1, at, at)
	f.op("VPSHUFD $0xb1, X%d, X%d", at, at+1)
	f.op("%s X%d, X%d, X%d", op, at+1, at, at)
	f.op("VBROADCASTSS X%d, %s%d", at, s.reg, at)
}

// softmaxRows works on rows of n values, n filling registers.
func softmaxRows(f *file, s isa) {
	step := 4 * s.lanes
	f.fn("softmaxRows"+s.name, "x *float32, n, rows uintptr, scale float32")
	f.args("x", "SI", "n", "DX", "rows", "BX")
	f.op("VBROADCASTSS scale(FP), %s8", s.reg)
	f.op("SHLQ $2, DX")
	f.label("row")
	f.op("VMOVUPS (SI), %s0", s.reg)
	f.op("MOVQ $%d, CX", step)
	f.op("JMP maxtest")
	f.label("max")
	f.op("VMAXPS (SI)(CX*1), %s0, %s0", s.reg, s.reg)
	f.op("ADDQ $%d, CX", step)
	f.label("maxtest")
	f.op("CMPQ CX, DX")
	f.op("JB max")
	reduce(f, s, 0, "VMAXPS")
	f.op("VMULPS %s8, %s0, %s9", s.reg, s.reg, s.reg)
	f.op("VXORPS X10, X10, X10")
	f.op("XORQ CX, CX")
	f.label("exp")
	f.op("VMOVUPS (SI)(CX*1), %s2", s.reg)
	f.op("VFMSUB213PS %s9, %s8, %s2", s.reg, s.reg, s.reg)
	f.op("VMAXPS expMin<>(SB), %s2, %s2", s.reg, s.reg)
	exp(f, s, 2, 3, 4)
	f.op("VMOVUPS %s3, (SI)(CX*1)", s.reg)
	f.op("VADDPS %s3, %s10, %s10", s.reg, s.reg, s.reg)
	f.op("ADDQ $%d, CX", step)
	f.op("CMPQ CX, DX")
	f.op("JB exp")
	f.op("VMOVUPS %s10, %s0", s.reg, s.reg)
	reduce(f, s, 0, "VADDPS")
	f.op("VMOVUPS one<>(SB), %s1", s.reg)
	f.op("VDIVPS %s0, %s1, %s0", s.reg, s.reg, s.reg)
	f.op("XORQ CX, CX")
	f.label("scale")
	f.op("VMULPS (SI)(CX*1), %s0, %s1", s.reg, s.reg)
	f.op("VMOVUPS %s1, (SI)(CX*1)", s.reg)
	f.op("ADDQ $%d, CX", step)
	f.op("CMPQ CX, DX")
	f.op("JB scale")
	f.op("ADDQ DX, SI")
	f.op("DECQ BX")
	f.op("JNZ row")
	f.ret()
}

// geluKernel is x*Φ(x), Φ by an odd polynomial between the edges.
func geluKernel(f *file, s isa) {
	r := s.reg
	f.fn("gelu"+s.name, "x *float32, n uintptr")
	f.args("x", "SI", "n", "CX")
	f.op("VMOVUPS geluEdge<>(SB), %s4", r)
	f.op("VMOVUPS geluMinusEdge<>(SB), %s5", r)
	f.op("VMOVUPS geluScale<>(SB), %s6", r)
	f.op("VMOVUPS one<>(SB), %s7", r)
	f.label("loop")
	f.op("VMOVUPS (SI), %s0", r)
	f.op("VMINPS %s0, %s4, %s1", r, r, r)
	f.op("VMAXPS %s1, %s5, %s1", r, r, r)
	f.op("VMULPS %s1, %s1, %s2", r, r, r)
	f.op("VFMSUB213PS %s7, %s6, %s2", r, r, r)
	last := len(geluPoly) - 1
	f.op("VMOVUPS gelu%d<>(SB), %s3", last, r)
	for i := last - 1; i >= 0; i-- {
		f.op("VFMADD213PS gelu%d<>(SB), %s2, %s3", i, r, r)
	}
	f.op("VFMADD213PS half<>(SB), %s1, %s3", r, r)
	f.op("VMULPS %s3, %s0, %s0", r, r, r)
	f.op("VMOVUPS %s0, (SI)", r)
	f.op("ADDQ $%d, SI", 4*s.lanes)
	f.op("SUBQ $%d, CX", s.lanes)
	f.op("JNZ loop")
	f.ret()
}

// layerNorm normalizes rows, several at a time, since what a row adds up waits for itself;
// the sum with the residual waits in dst between the passes.
func layerNorm(f *file, s isa, residual bool) {
	name, together := "layerNorm"+s.name, 2
	if residual {
		name = "layerNormAdd" + s.name
	}
	if s.reg == "Z" {
		together = 4
	}
	f.fn(name, "dst, x, residual, gain, bias *float32, n, rows uintptr, inverse, epsilon float32")
	f.args("dst", "DI", "x", "SI", "residual", "R8", "gain", "R9", "bias", "R10", "n", "DX", "rows", "BX")
	f.op("VBROADCASTSS inverse(FP), %s13", s.reg)
	f.op("VBROADCASTSS epsilon(FP), %s14", s.reg)
	f.op("VMOVUPS one<>(SB), %s15", s.reg)
	f.op("SHLQ $2, DX")
	f.op("LEAQ (DX)(DX*2), R11")
	f.op("JMP check")
	f.label("rows")
	normRows(f, s, residual, together)
	f.label("check")
	f.op("SUBQ $%d, BX", together)
	f.op("JAE rows")
	f.op("ADDQ $%d, BX", together)
	f.op("JZ done")
	f.label("row")
	normRows(f, s, residual, 1)
	f.op("DECQ BX")
	f.op("JNZ row")
	f.label("done")
	f.ret()
}

// normRows normalizes one, two or four rows. Row i adds up in register 2i and is read into
// the next one.
func normRows(f *file, s isa, residual bool, rows int) {
	r, mean, factor := s.reg, 16, 20
	if r == "Y" {
		mean, factor = 8, 10
	}
	each := func(emit func(i int)) {
		for i := range rows {
			emit(i)
		}
	}
	at := func(base string, i int) string {
		return []string{"(" + base + ")", "(" + base + ")(DX*1)", "(" + base + ")(DX*2)", "(" + base + ")(R11*1)"}[i]
	}
	pass := func(name string, emit func()) {
		f.op("XORQ CX, CX")
		name = fmt.Sprintf("%s%d", name, rows)
		f.label(name)
		emit()
		f.op("ADDQ $%d, DI", 4*s.lanes)
		f.op("ADDQ $%d, CX", 4*s.lanes)
		f.op("CMPQ CX, DX")
		f.op("JB %s", name)
	}
	// across adds up the lanes of each sum, and writes what finish makes of it to all lanes
	// of registers from to on. Four sums of 16 become four of one in one register, a row's
	// in each quarter.
	across := func(to int, finish func(at int)) {
		if rows < 4 {
			each(func(i int) { reduce(f, s, 2*i, "VADDPS") })
			each(func(i int) { finish(2 * i) })
			each(func(i int) { f.op("VMOVAPS %s%d, %s%d", r, 2*i, r, to+i) })
			return
		}
		gather(f, []int{0, 2, 4, 6}, 1, "VADDPS")
		finish(0)
		each(func(i int) { f.op("VSHUFF32X4 $%#x, Z0, Z0, Z%d", 0x55*i, to+i) })
	}

	each(func(i int) { f.op("VXORPS X%d, X%d, X%d", 2*i, 2*i, 2*i) })
	pass("sum", func() {
		each(func(i int) { f.op("VMOVUPS %s, %s%d", at("SI", i), r, 2*i+1) })
		if residual {
			each(func(i int) { f.op("VADDPS %s, %s%d, %s%d", at("R8", i), r, 2*i+1, r, 2*i+1) })
			f.op("ADDQ $%d, R8", 4*s.lanes)
		}
		each(func(i int) { f.op("VMOVUPS %s%d, %s", r, 2*i+1, at("DI", i)) })
		each(func(i int) { f.op("VADDPS %s%d, %s%d, %s%d", r, 2*i+1, r, 2*i, r, 2*i) })
		f.op("ADDQ $%d, SI", 4*s.lanes)
	})
	across(mean, func(at int) { f.op("VMULPS %s13, %s%d, %s%d", r, r, at, r, at) })
	each(func(i int) { f.op("VXORPS X%d, X%d, X%d", 2*i, 2*i, 2*i) })
	f.op("SUBQ DX, DI")
	pass("square", func() {
		each(func(i int) { f.op("VMOVUPS %s, %s%d", at("DI", i), r, 2*i+1) })
		each(func(i int) { f.op("VSUBPS %s%d, %s%d, %s%d", r, mean+i, r, 2*i+1, r, 2*i+1) })
		each(func(i int) { f.op("VFMADD231PS %s%d, %s%d, %s%d", r, 2*i+1, r, 2*i+1, r, 2*i) })
	})
	across(factor, func(at int) {
		f.op("VFMADD213PS %s14, %s13, %s%d", r, r, r, at)
		f.op("VSQRTPS %s%d, %s%d", r, at, r, at)
		f.op("VDIVPS %s%d, %s15, %s%d", r, at, r, r, at)
	})
	f.op("SUBQ DX, DI")
	pass("scale", func() {
		gain, bias := 2*rows, 2*rows+1
		f.op("VMOVUPS (R9)(CX*1), %s%d", r, gain)
		f.op("VMOVUPS (R10)(CX*1), %s%d", r, bias)
		each(func(i int) { f.op("VMOVUPS %s, %s%d", at("DI", i), r, 2*i+1) })
		each(func(i int) { f.op("VSUBPS %s%d, %s%d, %s%d", r, mean+i, r, 2*i+1, r, 2*i+1) })
		each(func(i int) { f.op("VMULPS %s%d, %s%d, %s%d", r, factor+i, r, 2*i+1, r, 2*i+1) })
		each(func(i int) { f.op("VFMADD213PS %s%d, %s%d, %s%d", r, bias, r, gain, r, 2*i+1) })
		each(func(i int) { f.op("VMOVUPS %s%d, %s", r, 2*i+1, at("DI", i)) })
	})
	if rows == 1 {
		return
	}
	skip := map[int]string{2: "DX", 4: "R11"}[rows]
	f.op("ADDQ %s, DI", skip)
	f.op("ADDQ %s, SI", skip)
	if residual {
		f.op("ADDQ %s, R8", skip)
	}
}

// gather adds up four registers of 16 values: each quarter of the first then holds one
// sum in all of its lanes. It adds in the order of reduce.
func gather(f *file, at []int, spare int, op string) {
	for i := range 2 {
		f.op("VSHUFF32X4 $0xee, Z%d, Z%d, Z%d", at[2*i+1], at[2*i], spare)
		f.op("VSHUFF32X4 $0x44, Z%d, Z%d, Z%d", at[2*i+1], at[2*i], at[2*i])
		f.op("%s Z%d, Z%d, Z%d", op, spare, at[2*i], at[2*i])
	}
	f.op("VSHUFF32X4 $0xdd, Z%d, Z%d, Z%d", at[2], at[0], spare)
	f.op("VSHUFF32X4 $0x88, Z%d, Z%d, Z%d", at[2], at[0], at[0])
	f.op("%s Z%d, Z%d, Z%d", op, spare, at[0], at[0])
	for _, lanes := range []int{0x4e, 0xb1} {
		f.op("VPSHUFD $%#x, Z%d, Z%d", lanes, at[0], spare)
		f.op("%s Z%d, Z%d, Z%d", op, spare, at[0], at[0])
	}
}

// transpose turns strips of 8 rows by 8*blocks columns: both levels use it.
func transpose(f *file) {
	f.fn("transpose8AVX2", "dst *float32, dstStride uintptr, src *float32, srcStride, blocks uintptr")
	f.args("dst", "DI", "dstStride", "DX", "src", "SI", "srcStride", "AX", "blocks", "CX")
	f.op("LEAQ (AX)(AX*2), R9")
	f.op("LEAQ (DX)(DX*2), R10")
	four := func(base, stride, stride3 string, i int) string {
		switch i {
		case 0:
			return "(" + base + ")"
		case 3:
			return fmt.Sprintf("(%s)(%s*1)", base, stride3)
		}
		return fmt.Sprintf("(%s)(%s*%d)", base, stride, i)
	}
	f.label("block")
	f.op("LEAQ (SI)(AX*4), R8")
	f.op("LEAQ (DI)(DX*4), R11")
	for i := range 8 {
		f.op("VMOVUPS %s, Y%d", four([]string{"SI", "R8"}[i/4], "AX", "R9", i%4), i)
	}
	for i := 0; i < 8; i += 2 {
		f.op("VUNPCKLPS Y%d, Y%d, Y%d", i+1, i, 8+i)
		f.op("VUNPCKHPS Y%d, Y%d, Y%d", i+1, i, 9+i)
	}
	for half := range 2 { // rows 0-3, then 4-7
		lo, hi := 8+4*half, 9+4*half
		f.op("VSHUFPS $0x44, Y%d, Y%d, Y%d", lo+2, lo, 4*half)
		f.op("VSHUFPS $0xee, Y%d, Y%d, Y%d", lo+2, lo, 4*half+1)
		f.op("VSHUFPS $0x44, Y%d, Y%d, Y%d", hi+2, hi, 4*half+2)
		f.op("VSHUFPS $0xee, Y%d, Y%d, Y%d", hi+2, hi, 4*half+3)
	}
	for i := range 4 {
		f.op("VPERM2F128 $0x20, Y%d, Y%d, Y%d", 4+i, i, 8+i)
		f.op("VPERM2F128 $0x31, Y%d, Y%d, Y%d", 4+i, i, 12+i)
	}
	for i := range 8 {
		f.op("VMOVUPS Y%d, %s", 8+i, four([]string{"DI", "R11"}[i/4], "DX", "R10", i%4))
	}
	f.op("ADDQ $32, SI")
	f.op("LEAQ (DI)(DX*8), DI")
	f.op("DECQ CX")
	f.op("JNZ block")
	f.ret()
}
