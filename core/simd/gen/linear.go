package main

import (
	"fmt"
	"math"
)

// heights are the row counts of a register block; drivers take the tallest
// that fits what is left.
var heights = []int{6, 4, 2, 1}

// linear writes the blocks of the integer matrix product and the row
// quantizers before it. The layouts are told in linear.go of package simd.
func linear(f *file) {
	for _, h := range heights {
		linearAVX512(f, h)
		linearSkipAVX512(f, h)
	}
	usedHighs(f)
	for _, h := range heights {
		linearAVX2(f, h)
		linearAVXVNNI(f, h, false)
		linearAVXVNNI(f, h, true)
	}
	maxTile(f, "AVXVNNI", isas[1], 4)
	usedHighsAVXVNNI(f)
	quantizeAVXVNNI(f)
	for _, s := range isas {
		maxTile(f, s.name, s, 2)
		measure(f, s)
		quantize(f, s)
	}
	f.constant("lowByte", 0xff)
	f.constant("two8", math.Float32bits(256))
	f.constant("magnitude", 0x7fffffff)
	// Bytes lo,hi of four words become hi,hi,hi,hi,lo,lo,lo,lo.
	f.table("splitBytes", 0x0604020007050301, 0x0e0c0a080f0d0b09, 0x0604020007050301, 0x0e0c0a080f0d0b09)
}

var rowRegs = []string{"R8", "R9", "R10", "R11", "R12", "R13", "R15", "BX"}

// rowBases points a register at each of h rows, base and stride given.
func rowBases(f *file, h int, base, stride string) {
	f.op("MOVQ %s, %s", base, rowRegs[0])
	for r := 1; r < h; r++ {
		f.op("LEAQ (%s)(%s*1), %s", rowRegs[r-1], stride, rowRegs[r])
	}
}

// fetchWeights asks for the 128 bytes of weights that lie so many ahead of SI: they pass
// front to back, from beyond the second-level cache where rows are few.
func (f *file) fetchWeights(ahead int) {
	f.op("PREFETCHT0 %d(SI)", ahead)
	f.op("PREFETCHT0 %d(SI)", ahead+64)
}

// linearAVX512 multiplies h rows by a tile of 32 columns. Per step of four
// inputs: two loads of weights, and per row two broadcasts (high and low
// bytes) and four VPDPBUSD into sums that stay in registers.
func linearAVX512(f *file, h int) {
	f.fn(fmt.Sprintf("linear%dAVX512", h),
		"dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32, scale, bias, "+
			"rowScale *float32")
	f.args("dst", "DI", "dstStride", "DX", "x", "R8", "xStride", "AX", "w", "SI", "steps", "CX", "start", "BX")
	rowBases(f, h, "R8", "AX")
	acc := func(r, c, half int) int { return 4*r + 2*c + half }
	for r := range h {
		for c := range 2 {
			for half := range 2 {
				f.op("VMOVDQU32 %d(BX), Z%d", 64*c, acc(r, c, half))
			}
		}
	}
	f.op("XORQ AX, AX")
	f.label("step")
	f.op("VMOVDQU64 (SI), Z24")
	f.op("VMOVDQU64 64(SI), Z25")
	for r := range h {
		for half := range 2 {
			x := 26 + (2*r+half)%6
			f.op("VPBROADCASTD %d(%s)(AX*1), Z%d", 4*half, rowRegs[r], x)
			f.op("VPDPBUSD Z24, Z%d, Z%d", x, acc(r, 0, half))
			f.op("VPDPBUSD Z25, Z%d, Z%d", x, acc(r, 1, half))
		}
	}
	f.op("ADDQ $8, AX")
	f.op("ADDQ $128, SI")
	f.op("DECQ CX")
	f.op("JNZ step")
	f.op("MOVQ scale(FP), AX")
	f.op("MOVQ bias(FP), BX")
	f.op("MOVQ rowScale(FP), SI")
	dequantizeAVX512(f, h)
	f.ret()
}

// linearSkipAVX512 is linearAVX512 for codes whose high bytes are mostly zero:
// all steps for the low bytes, the listed ones for the high bytes. There the
// sides change: the weights' sign is flipped on load and the high bytes stay
// signed, so that a step left out adds nothing; highStart takes the offset out.
func linearSkipAVX512(f *file, h int) {
	f.fn(fmt.Sprintf("linearSkip%dAVX512", h),
		"dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, steps uintptr, start *int32, scale, bias, "+
			"rowScale *float32, highStart *int32, list *int64, listed uintptr")
	f.args("dst", "DI", "dstStride", "DX", "x", "R8", "xStride", "AX", "w", "SI", "steps", "CX", "start", "BX")
	rowBases(f, h, "R8", "AX")
	acc := func(r, c, half int) int { return 4*r + 2*c + half }
	f.op("MOVQ highStart(FP), R15")
	for r := range h {
		for c := range 2 {
			f.op("VMOVDQU32 %d(BX), Z%d", 64*c, acc(r, c, 1))
			f.op("VPBROADCASTD %d(R15), Z%d", 4*r, acc(r, c, 0))
		}
	}
	f.op("XORQ AX, AX")
	f.label("step")
	f.fetchWeights(4096)
	f.op("VMOVDQU64 (SI), Z24")
	f.op("VMOVDQU64 64(SI), Z25")
	for r := range h {
		x := 26 + r
		f.op("VPBROADCASTD 4(%s)(AX*1), Z%d", rowRegs[r], x)
		f.op("VPDPBUSD Z24, Z%d, Z%d", x, acc(r, 0, 1))
		f.op("VPDPBUSD Z25, Z%d, Z%d", x, acc(r, 1, 1))
	}
	f.op("ADDQ $8, AX")
	f.op("ADDQ $128, SI")
	f.op("DECQ CX")
	f.op("JNZ step")
	f.op("MOVQ listed(FP), CX")
	f.op("TESTQ CX, CX")
	f.op("JZ done")
	f.op("MOVQ list(FP), BX")
	f.op("MOVQ w(FP), SI")
	f.op("MOVL $0x80808080, AX")
	f.op("VPBROADCASTD AX, Z31")
	f.label("high")
	f.op("MOVQ (BX), AX")
	f.op("MOVQ AX, R15")
	f.op("SHLQ $7, R15")
	f.op("VPXORD (SI)(R15*1), Z31, Z24")
	f.op("VPXORD 64(SI)(R15*1), Z31, Z25")
	for r := range h {
		x := 26 + r%5
		f.op("VPBROADCASTD (%s)(AX*8), Z%d", rowRegs[r], x)
		f.op("VPDPBUSD Z%d, Z24, Z%d", x, acc(r, 0, 0))
		f.op("VPDPBUSD Z%d, Z25, Z%d", x, acc(r, 1, 0))
	}
	f.op("ADDQ $8, BX")
	f.op("DECQ CX")
	f.op("JNZ high")
	f.label("done")
	f.op("MOVQ scale(FP), AX")
	f.op("MOVQ bias(FP), BX")
	f.op("MOVQ rowScale(FP), SI")
	dequantizeAVX512(f, h)
	f.ret()
}

// usedHighs lists the steps at which any of rows rows has a high byte that
// isn't zero, eight steps a turn. It may write eight entries past the last.
func usedHighs(f *file) {
	f.fn("usedHighsAVX512", "list *int64, x *int16, xStride, rows, steps uintptr) (listed uintptr")
	f.args("list", "DI", "x", "SI", "xStride", "DX", "steps", "CX")
	f.op("VMOVDQU64 eightSteps<>(SB), Z1")
	f.op("VMOVDQU64 highDword<>(SB), Z2")
	f.op("MOVQ $8, AX")
	f.op("VPBROADCASTQ AX, Z3")
	f.label("turn")
	f.op("MOVQ SI, R8")
	f.op("MOVQ rows(FP), R9")
	f.op("VPXORD Z0, Z0, Z0")
	f.label("row")
	f.op("VPORQ (R8), Z0, Z0")
	f.op("ADDQ DX, R8")
	f.op("DECQ R9")
	f.op("JNZ row")
	f.op("VPTESTMQ Z2, Z0, K1")
	f.op("VPCOMPRESSQ Z1, K1, Z4")
	f.op("VMOVDQU64 Z4, (DI)")
	f.op("KMOVB K1, AX")
	f.op("POPCNTL AX, AX")
	f.op("LEAQ (DI)(AX*8), DI")
	f.op("VPADDQ Z3, Z1, Z1")
	f.op("ADDQ $64, SI")
	f.op("SUBQ $8, CX")
	f.op("JNZ turn")
	f.op("SUBQ list(FP), DI")
	f.op("SHRQ $3, DI")
	f.op("MOVQ DI, listed(FP)")
	f.ret()
	f.table("eightSteps", 0, 1, 2, 3, 4, 5, 6, 7)
	f.table("highDword", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)
}

// dequantizeAVX512 turns the sums into results: AX, BX and SI point at the
// tile's scales and biases and the rows' scales, DI and DX at the result.
func dequantizeAVX512(f *file, h int) {
	acc := func(r, c, half int) int { return 4*r + 2*c + half }
	f.op("VMOVUPS (AX), Z24")
	f.op("VMOVUPS 64(AX), Z25")
	f.op("VMOVUPS (BX), Z26")
	f.op("VMOVUPS 64(BX), Z27")
	f.op("VMOVDQU32 lowByte<>(SB), Z30")
	f.op("VMOVUPS two8<>(SB), Z31")
	for r := range h {
		f.op("VBROADCASTSS %d(SI), Z28", 4*r)
		for c := range 2 {
			high, low := acc(r, c, 0), acc(r, c, 1)
			f.op("VPSRAD $8, Z%d, Z29", low)
			f.op("VPADDD Z29, Z%d, Z%d", high, high)
			f.op("VPANDD Z30, Z%d, Z%d", low, low)
			f.op("VCVTDQ2PS Z%d, Z%d", high, high)
			f.op("VCVTDQ2PS Z%d, Z%d", low, low)
			f.op("VFMADD231PS Z31, Z%d, Z%d", high, low)
			f.op("VMULPS Z28, Z%d, Z29", 24+c)
			f.op("VMULPS Z29, Z%d, Z%d", low, low)
			f.op("VADDPS Z%d, Z%d, Z%d", 26+c, low, low)
			f.op("VMOVUPS Z%d, %d(DI)", low, 64*c)
		}
		f.op("ADDQ DX, DI")
	}
}

// linearAVX2 multiplies blocks of h rows by a tile of 16 columns. Per step of two
// inputs: weights widen to words on load, and per row a broadcast and two
// VPMADDWD with additions. A sum holds 512 inputs of 16 bits times 8 without
// overflow, which is all there is of most layers. Of longer rows the bits above the
// lowest eight and those eight are added to two sums on the stack.
func linearAVX2(f *file, h int) {
	const partSteps = 256 // of two inputs
	f.fn(fmt.Sprintf("linear%dAVX2", h), "dst *float32, dstStride uintptr, x *int16, xStride uintptr, w *int8, "+
		"steps uintptr, scale, bias, rowScale *float32, blocks uintptr", 2*h*2*32)
	f.args("dst", "DI", "dstStride", "DX", "x", "R8", "xStride", "AX")
	rowBases(f, h, "R8", "AX")
	f.op("IMUL3Q $%d, AX, R15", h)
	high := func(i int) string { return fmt.Sprintf("%d(SP)", 32*i) }
	low := func(i int) string { return fmt.Sprintf("%d(SP)", 32*(2*h+i)) }
	tail := func() {
		f.op("MOVQ scale(FP), AX")
		f.op("MOVQ bias(FP), BX")
		f.op("MOVQ rowScale(FP), SI")
	}
	f.label("rows")
	f.op("MOVQ w(FP), SI")
	f.op("MOVQ steps(FP), BX")
	f.op("XORQ AX, AX")
	f.op("CMPQ BX, $%d", partSteps)
	f.op("JHI long")
	f.op("MOVQ BX, CX")
	stepsAVX2(f, h, "short")
	tail()
	for r := range h {
		f.op("VBROADCASTSS %d(SI), Y15", 4*r)
		for c := range 2 {
			sum := 2*r + c
			f.op("VPSRAD $8, Y%d, Y12", sum)
			f.op("VPAND lowByte<>(SB), Y%d, Y%d", sum, sum)
			dequantizeAVX2(f, 12, sum, c)
		}
		f.op("ADDQ DX, DI")
	}
	f.op("JMP next")

	f.label("long")
	f.op("VPXOR Y0, Y0, Y0")
	for i := range 4 * h {
		f.op("VMOVDQU Y0, %s", high(i))
	}
	f.label("part")
	f.op("MOVQ $%d, CX", partSteps)
	f.op("CMPQ BX, CX")
	f.op("CMOVQLT BX, CX")
	f.op("SUBQ CX, BX")
	stepsAVX2(f, h, "step")
	f.op("VMOVDQU lowByte<>(SB), Y13")
	for i := range 2 * h {
		f.op("VPSRAD $8, Y%d, Y12", i)
		f.op("VPADDD %s, Y12, Y12", high(i))
		f.op("VMOVDQU Y12, %s", high(i))
		f.op("VPAND Y13, Y%d, Y%d", i, i)
		f.op("VPADDD %s, Y%d, Y%d", low(i), i, i)
		f.op("VMOVDQU Y%d, %s", i, low(i))
	}
	f.op("TESTQ BX, BX")
	f.op("JNZ part")
	tail()
	for r := range h {
		f.op("VBROADCASTSS %d(SI), Y15", 4*r)
		for c := range 2 {
			f.op("VMOVDQU %s, Y0", low(2*r+c))
			f.op("VPSRAD $8, Y0, Y12")
			f.op("VPADDD %s, Y12, Y12", high(2*r+c))
			f.op("VPAND Y13, Y0, Y0")
			dequantizeAVX2(f, 12, 0, c)
		}
		f.op("ADDQ DX, DI")
	}

	f.label("next")
	for r := range h {
		f.op("ADDQ R15, %s", rowRegs[r])
	}
	f.op("ADDQ $%d, rowScale(FP)", 4*h)
	f.op("DECQ blocks(FP)")
	f.op("JNZ rows")
	f.ret()
}

// stepsAVX2 leaves the sums of CX steps, a multiple of four, in the registers below
// 2*h. It moves SI and AX past them.
func stepsAVX2(f *file, h int, label string) {
	for i := range 2 * h {
		f.op("VPXOR Y%d, Y%d, Y%d", i, i, i)
	}
	f.label(label)
	f.fetchWeights(2048)
	for step := range 4 {
		f.op("VPMOVSXBW %d(SI), Y12", 32*step)
		f.op("VPMOVSXBW %d(SI), Y13", 32*step+16)
		for r := range h {
			f.op("VPBROADCASTD %d(%s)(AX*1), Y14", 4*step, rowRegs[r])
			f.op("VPMADDWD Y12, Y14, Y15")
			f.op("VPADDD Y15, Y%d, Y%d", 2*r, 2*r)
			f.op("VPMADDWD Y13, Y14, Y14")
			f.op("VPADDD Y14, Y%d, Y%d", 2*r+1, 2*r+1)
		}
	}
	f.op("ADDQ $16, AX")
	f.op("ADDQ $128, SI")
	f.op("SUBQ $4, CX")
	f.op("JNZ %s", label)
}

// dequantizeAVX2 writes the result of a register of sums, in two parts, of the half c
// of a tile: AX and BX point at its scales and biases, Y15 has the row's scale.
func dequantizeAVX2(f *file, high, low, c int) {
	f.op("VCVTDQ2PS Y%d, Y%d", high, high)
	f.op("VCVTDQ2PS Y%d, Y%d", low, low)
	f.op("VFMADD231PS two8<>(SB), Y%d, Y%d", high, low)
	f.op("VMULPS %d(AX), Y15, Y%d", 32*c, high)
	f.op("VMULPS Y%d, Y%d, Y%d", high, low, low)
	f.op("VADDPS %d(BX), Y%d, Y%d", 32*c, low, low)
	f.op("VMOVUPS Y%d, %d(DI)", low, 32*c)
}

// linearAVXVNNI multiplies h rows by a tile of 32 columns, half of it at a time. Its
// sums of low bytes wait on the stack while those of the high bytes, of which codes
// that are mostly small need few steps, take the registers: see linearSkipAVX512.
func linearAVXVNNI(f *file, h int, skip bool) {
	name, params := fmt.Sprintf("linear%dAVXVNNI", h), "dst *float32, dstStride uintptr, x *int16, xStride uintptr, "+
		"w *int8, steps uintptr, start *int32, scale, bias, rowScale *float32"
	if skip {
		name = fmt.Sprintf("linearSkip%dAVXVNNI", h)
		params += ", highStart *int32, list *int64, listed uintptr"
	}
	f.fn(name, params, 2*h*32)
	f.args("dstStride", "DX", "x", "R8", "xStride", "AX")
	rowBases(f, h, "R8", "AX")
	low := func(i int) string { return fmt.Sprintf("%d(SP)", 32*i) }
	start := func(half int) {
		f.op("MOVQ start(FP), BX")
		for i := range 2 * h {
			f.op("VMOVDQU %d(BX), Y%d", 64*half+32*(i%2), i)
		}
	}
	// All steps of one byte of the codes, four a turn, as many as inputs are padded to.
	all := func(half, byteOf int, label string) {
		f.op("MOVQ w(FP), SI")
		f.op("MOVQ steps(FP), CX")
		f.op("XORQ AX, AX")
		f.label(label)
		for step := range 4 {
			f.op("VMOVDQU %d(SI), Y12", 128*step+64*half)
			f.op("VMOVDQU %d(SI), Y13", 128*step+64*half+32)
			for r := range h {
				x := 14 + r%2
				f.op("VPBROADCASTD %d(%s)(AX*1), Y%d", 8*step+byteOf, rowRegs[r], x)
				f.dotBytes(12, x, 2*r)
				f.dotBytes(13, x, 2*r+1)
			}
		}
		f.op("ADDQ $32, AX")
		f.op("ADDQ $512, SI")
		f.op("SUBQ $4, CX")
		f.op("JNZ %s", label)
	}
	for half := range 2 {
		start(half)
		all(half, 4, fmt.Sprintf("low%d", half))
		for i := range 2 * h {
			f.op("VMOVDQU Y%d, %s", i, low(i))
		}
		if !skip {
			start(half)
			all(half, 0, fmt.Sprintf("high%d", half))
		} else {
			f.op("MOVQ highStart(FP), BX")
			for i := range 2 * h {
				f.op("VPBROADCASTD %d(BX), Y%d", 4*(i/2), i)
			}
			f.op("MOVQ listed(FP), CX")
			f.op("TESTQ CX, CX")
			f.op("JZ done%d", half)
			f.op("MOVQ list(FP), BX")
			f.op("MOVQ w(FP), SI")
			f.label(fmt.Sprintf("high%d", half))
			f.op("MOVQ (BX), AX")
			f.op("MOVQ AX, R15")
			f.op("SHLQ $7, R15")
			f.op("VMOVDQU flipSigns<>(SB), Y13")
			f.op("VPXOR %d(SI)(R15*1), Y13, Y12", 64*half)
			f.op("VPXOR %d(SI)(R15*1), Y13, Y13", 64*half+32)
			for r := range h {
				x := 14 + r%2
				f.op("VPBROADCASTD (%s)(AX*8), Y%d", rowRegs[r], x)
				f.dotBytes(x, 12, 2*r)
				f.dotBytes(x, 13, 2*r+1)
			}
			f.op("ADDQ $8, BX")
			f.op("DECQ CX")
			f.op("JNZ high%d", half)
			f.label(fmt.Sprintf("done%d", half))
		}
		f.op("MOVQ dst(FP), DI")
		f.op("MOVQ scale(FP), AX")
		f.op("MOVQ bias(FP), BX")
		f.op("MOVQ rowScale(FP), SI")
		f.op("VMOVDQU lowByte<>(SB), Y13")
		for r := range h {
			f.op("VBROADCASTSS %d(SI), Y15", 4*r)
			for c := range 2 {
				sum := 2*r + c
				f.op("VMOVDQU %s, Y12", low(sum))
				f.op("VPSRAD $8, Y12, Y14")
				f.op("VPADDD Y14, Y%d, Y%d", sum, sum)
				f.op("VPAND Y13, Y12, Y12")
				dequantizeAVX2(f, sum, 12, 2*half+c)
			}
			if r+1 < h {
				f.op("ADDQ DX, DI")
			}
		}
	}
	f.ret()
}

// dotBytes adds to each lane of sum four products of unsigned by signed bytes: VPDPBUSD
// with the VEX prefix, for which Go's assembler has no mnemonic.
func (f *file) dotBytes(signed, unsigned, sum int) {
	f.line(fmt.Sprintf("\tBYTE $0xc4; BYTE $%#02x; BYTE $%#02x; BYTE $0x50; BYTE $%#02x // VPDPBUSD Y%d, Y%d, Y%d",
		(^sum>>3&1)<<7|1<<6|(^signed>>3&1)<<5|2, (^unsigned&15)<<3|1<<2|prefix66, 0xc0|sum&7<<3|signed&7,
		signed, unsigned, sum))
}

// usedHighsAVXVNNI is usedHighs with four steps a turn. It may write one entry past the last.
func usedHighsAVXVNNI(f *file) {
	f.fn("usedHighsAVXVNNI", "list *int64, x *int16, xStride, rows, steps uintptr) (listed uintptr")
	f.args("list", "DI", "x", "SI", "xStride", "DX", "steps", "CX")
	f.op("VMOVDQU highDword<>(SB), Y2")
	f.op("VPXOR Y3, Y3, Y3")
	f.op("XORQ BX, BX")
	f.label("turn")
	f.op("MOVQ SI, R8")
	f.op("MOVQ rows(FP), R9")
	f.op("VPXOR Y0, Y0, Y0")
	f.label("row")
	f.op("VPOR (R8), Y0, Y0")
	f.op("ADDQ DX, R8")
	f.op("DECQ R9")
	f.op("JNZ row")
	f.op("VPAND Y2, Y0, Y0")
	f.op("VPCMPEQQ Y3, Y0, Y0")
	f.op("VMOVMSKPD Y0, AX")
	f.op("NOTL AX")
	for step := range 4 {
		f.op("MOVQ BX, (DI)")
		f.op("INCQ BX")
		f.op("MOVL AX, R10")
		if step > 0 {
			f.op("SHRL $%d, R10", step)
		}
		f.op("ANDL $1, R10")
		f.op("LEAQ (DI)(R10*8), DI")
	}
	f.op("ADDQ $32, SI")
	f.op("SUBQ $4, CX")
	f.op("JNZ turn")
	f.op("SUBQ list(FP), DI")
	f.op("SHRQ $3, DI")
	f.op("MOVQ DI, listed(FP)")
	f.ret()
}

// quantizeAVXVNNI is quantize into split bytes, in registers of AVX2.
func quantizeAVXVNNI(f *file) {
	f.fn("quantizeAVXVNNI", "dst *int16, x *float32, groups uintptr, inv float32, offset int32) (highs int32")
	f.args("dst", "DI", "x", "SI", "groups", "CX")
	f.op("VBROADCASTSS inv(FP), Y4")
	f.op("MOVL offset(FP), AX")
	f.op("VMOVD AX, X5")
	f.op("VPBROADCASTD X5, Y5")
	f.op("VMOVDQU splitDwords<>(SB), Y6")
	f.op("VPXOR X7, X7, X7")
	f.label("loop")
	for i := range 2 {
		f.op("VMULPS %d(SI), Y4, Y%d", 32*i, i)
		f.op("VCVTPS2DQ Y%d, Y%d", i, i)
		f.op("VPADDD Y5, Y%d, Y%d", i, i)
		f.op("VPSRAD $8, Y%d, Y3", i)
		f.op("VPADDD Y3, Y7, Y7")
		f.op("VPSHUFB Y6, Y%d, Y%d", i, i)
	}
	f.op("VPUNPCKLQDQ Y1, Y0, Y0")
	f.op("VPERMQ $0xd8, Y0, Y0")
	f.op("VMOVDQU Y0, (DI)")
	f.op("ADDQ $64, SI")
	f.op("ADDQ $32, DI")
	f.op("DECQ CX")
	f.op("JNZ loop")
	f.op("VMOVDQU Y7, Y0")
	reduce(f, isas[1], 0, "VPADDD")
	f.op("VMOVD X0, AX")
	f.op("MOVL AX, highs(FP)")
	f.ret()
	// The second and first bytes of four double words, in the lower half of each lane.
	f.table("splitDwords", 0x0c0804000d090501, 0, 0x0c0804000d090501, 0)
	f.constant("flipSigns", 0x80808080)
}

// maxTile raises a tile of columns, so many registers wide, to the largest of as many
// rows that lie end to end.
func maxTile(f *file, name string, s isa, registers int) {
	f.fn("maxTile"+name, "dst, src *float32, rows uintptr")
	f.args("dst", "DI", "src", "SI", "rows", "CX")
	for i := range registers {
		f.op("VMOVUPS %d(DI), %s%d", 4*s.lanes*i, s.reg, i)
	}
	f.label("row")
	for i := range registers {
		f.op("VMAXPS %d(SI), %s%d, %s%d", 4*s.lanes*i, s.reg, i, s.reg, i)
	}
	f.op("ADDQ $%d, SI", 4*s.lanes*registers)
	f.op("DECQ CX")
	f.op("JNZ row")
	for i := range registers {
		f.op("VMOVUPS %s%d, %d(DI)", s.reg, i, 4*s.lanes*i)
	}
	f.ret()
}

// measure is the largest magnitude of whole groups of 16 values, compared as
// the integers that their bits are, and the sum of their squares in 16 lanes:
// value i goes to lane i%16, so that levels agree to the bit.
func measure(f *file, s isa) {
	f.fn("measure"+s.name, "x *float32, groups uintptr, squares *[16]float32) (bits uint32")
	f.args("x", "SI", "groups", "CX", "squares", "DI")
	per := 16 / s.lanes
	f.op("VMOVDQU%s magnitude<>(SB), %s8", s.mov32(), s.reg)
	for i := range per {
		f.op("VPXOR X%d, X%d, X%d", i, i, i)
		f.op("VPXOR X%d, X%d, X%d", 2+i, 2+i, 2+i)
	}
	f.label("loop")
	for i := range per {
		f.op("VMOVUPS %d(SI), %s%d", 4*s.lanes*i, s.reg, 4+i)
		f.op("VMULPS %s%d, %s%d, %s%d", s.reg, 4+i, s.reg, 4+i, s.reg, 6+i)
		f.op("VADDPS %s%d, %s%d, %s%d", s.reg, 6+i, s.reg, 2+i, s.reg, 2+i)
		f.op("%s %s%d, %s8, %s%d", s.and(), s.reg, 4+i, s.reg, s.reg, 4+i)
		f.op("VPMAXUD %s%d, %s%d, %s%d", s.reg, 4+i, s.reg, i, s.reg, i)
	}
	f.op("ADDQ $64, SI")
	f.op("DECQ CX")
	f.op("JNZ loop")
	for i := range per {
		f.op("VMOVUPS %s%d, %d(DI)", s.reg, 2+i, 4*s.lanes*i)
	}
	if s.reg == "Z" {
		f.op("VEXTRACTI64X4 $1, Z0, Y1")
	}
	f.op("VPMAXUD Y1, Y0, Y0")
	f.op("VEXTRACTI128 $1, Y0, X1")
	f.op("VPMAXUD X1, X0, X0")
	f.op("VPSHUFD $0x4e, X0, X1")
	f.op("VPMAXUD X1, X0, X0")
	f.op("VPSHUFD $0xb1, X0, X1")
	f.op("VPMAXUD X1, X0, X0")
	f.op("VMOVD X0, AX")
	f.op("MOVL AX, bits(FP)")
	f.ret()
}

// quantize rounds whole groups of 16 values times inv to 16-bit codes: plain
// words for AVX2, split bytes for AVX-512, which also adds up the high bytes.
func quantize(f *file, s isa) {
	if s.reg == "Z" {
		f.fn("quantizeAVX512", "dst *int16, x *float32, groups uintptr, inv float32, offset int32) (highs int32")
	} else {
		f.fn("quantizeAVX2", "dst *int16, x *float32, groups uintptr, inv float32")
	}
	f.args("dst", "DI", "x", "SI", "groups", "CX")
	f.op("VBROADCASTSS inv(FP), %s4", s.reg)
	if s.reg == "Z" {
		f.op("MOVL offset(FP), AX")
		f.op("VPBROADCASTD AX, Z5")
		f.op("VMOVDQU splitBytes<>(SB), Y6")
		f.op("VPXOR X7, X7, X7")
	}
	f.label("loop")
	f.op("VMULPS (SI), %s4, %s0", s.reg, s.reg)
	f.op("VCVTPS2DQ %s0, %s0", s.reg, s.reg)
	if s.reg == "Z" {
		f.op("VPADDD Z5, Z0, Z0")
		f.op("VPSRAD $8, Z0, Z1")
		f.op("VPADDD Z1, Z7, Z7")
		f.op("VPMOVDW Z0, Y0")
		f.op("VPSHUFB Y6, Y0, Y0")
	} else {
		f.op("VMULPS 32(SI), Y4, Y1")
		f.op("VCVTPS2DQ Y1, Y1")
		f.op("VPACKSSDW Y1, Y0, Y0")
		f.op("VPERMQ $0xd8, Y0, Y0")
	}
	f.op("VMOVDQU Y0, (DI)")
	f.op("ADDQ $64, SI")
	f.op("ADDQ $32, DI")
	f.op("DECQ CX")
	f.op("JNZ loop")
	if s.reg == "Z" {
		f.op("VMOVDQU32 Z7, Z0")
		reduce(f, s, 0, "VPADDD")
		f.op("VMOVD X0, AX")
		f.op("MOVL AX, highs(FP)")
	}
	f.ret()
}
