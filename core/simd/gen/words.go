package main

import (
	"fmt"
	"math"
)

// Attention in words, which AVX-512 VNNI multiplies and adds up in pairs, twice as many a
// step as floats. words_amd64.go of package simd has the bounds that keep sums within 32 bits.

// Weights of a softmax as words: the largest one, and what those of a row add up to.
const (
	topWord    = 32767
	sumOfWords = 1 << 17
)

// exp2Poly approximates 2^x for x from 0 to 1 to 3e-6 of the value, half of the last bit of
// sumOfWords: the polynomial with the least relative error (Remez).
var exp2Poly = []float32{1.0000026, 0.69300383, 0.24144275, 0.05201146, 0.013534168}

// exp2Min is where 2^x is as good as zero. Below 2^-126 processors take a hundred cycles
// for an operation.
const exp2Min = -100

func words(f *file) {
	softmaxWords(f)
	addRows(f)
	topSquares(f)
	toWords(f)
	toPairs(f)
	for i, c := range exp2Poly {
		f.constant(fmt.Sprintf("exp2%d", i), math.Float32bits(c))
	}
	f.constant("exp2Min", math.Float32bits(exp2Min))
	f.constant("topWord", math.Float32bits(topWord))
	f.constant("sumOfWords", math.Float32bits(sumOfWords))
}

// softmaxWords turns rows of n scores, n a multiple of 16, into codes of their weights in the
// first half of each row, four rows at a time, since sums wait for one another. sums receives,
// for each row, unit over what its codes add up to; scale has the logarithm of e to base 2 in it.
func softmaxWords(f *file) {
	f.fn("softmaxWordsAVX512", "x *float32, n, fours uintptr, sums *float32, scale, unit float32")
	f.args("x", "SI", "n", "DX", "fours", "BX", "sums", "R8")
	rows := []string{"SI", "DI", "R10", "R11"}
	const scale, least, poly, spare = 20, 21, 22, 27
	// each writes an instruction for each row; operands are what the row makes of them.
	each := func(format string, operands ...func(row int) any) {
		for row := range rows {
			args := make([]any, len(operands))
			for i, operand := range operands {
				args[i] = operand(row)
			}
			f.op(format, args...)
		}
	}
	at := func(row int) any { return fmt.Sprintf("(%s)(CX*1)", rows[row]) }
	half := func(row int) any { return fmt.Sprintf("(%s)(R9*1)", rows[row]) }
	reg := func(of int) func(int) any { return func(row int) any { return of + 5*row } } // of five to each row
	across := func(op string) { gather(f, []int{0, 5, 10, 15}, spare, op) }
	spread := func() {
		for row := range rows {
			f.op("VSHUFF32X4 $%#x, Z0, Z0, Z%d", 0x55*row, 4+5*row)
		}
		each("VPXORD Z%d, Z%d, Z%d", reg(0), reg(0), reg(0))
		f.op("XORL CX, CX")
	}
	next := func(label string) {
		f.op("ADDQ $64, CX")
		f.op("CMPQ CX, DX")
		f.op("JB %s", label)
	}
	f.op("VBROADCASTSS scale(FP), Z%d", scale)
	f.op("VMOVUPS exp2Min<>(SB), Z%d", least)
	for i := range exp2Poly {
		f.op("VMOVUPS exp2%d<>(SB), Z%d", i, poly+i)
	}
	f.op("MOVL $0x1111, AX")
	f.op("KMOVW AX, K1")
	f.op("SHLQ $2, DX")
	f.label("four")
	for row := 1; row < len(rows); row++ {
		f.op("LEAQ (%s)(DX*1), %s", rows[row-1], rows[row])
	}
	f.op("XORL CX, CX")
	each("VMOVUPS %s, Z%d", at, reg(0))
	f.label("max")
	each("VMAXPS %s, Z%d, Z%d", at, reg(0), reg(0))
	next("max")
	across("VMAXPS")
	f.op("VMULPS Z%d, Z0, Z0", scale)
	spread()
	f.label("powers")
	each("VMOVUPS %s, Z%d", at, reg(1))
	each(fmt.Sprintf("VFMSUB213PS Z%%d, Z%d, Z%%d", scale), reg(4), reg(1))
	each(fmt.Sprintf("VMAXPS Z%d, Z%%d, Z%%d", least), reg(1), reg(1))
	each("VREDUCEPS $1, Z%d, Z%d", reg(1), reg(2)) // less the whole part, rounded down
	last := len(exp2Poly) - 1
	each(fmt.Sprintf("VMOVAPS Z%d, Z%%d", poly+last), reg(3))
	for i := last - 1; i >= 0; i-- {
		each(fmt.Sprintf("VFMADD213PS Z%d, Z%%d, Z%%d", poly+i), reg(2), reg(3))
	}
	each("VSCALEFPS Z%d, Z%d, Z%d", reg(1), reg(3), reg(3)) // times two to the whole part
	each("VMOVUPS Z%d, %s", reg(3), at)
	each("VADDPS Z%d, Z%d, Z%d", reg(3), reg(0), reg(0))
	next("powers")
	across("VADDPS")
	f.op("VMOVUPS sumOfWords<>(SB), Z1")
	f.op("VDIVPS Z0, Z1, Z0")
	f.op("VMINPS topWord<>(SB), Z0, Z0")
	spread()
	f.op("XORL R9, R9")
	f.label("codes")
	each("VMULPS %s, Z%d, Z%d", at, reg(4), reg(1))
	each("VCVTPS2DQ Z%d, Z%d", reg(1), reg(1))
	each("VPADDD Z%d, Z%d, Z%d", reg(1), reg(0), reg(0))
	each("VPMOVSDW Z%d, %s", reg(1), half) // the largest power may be a little above one
	f.op("ADDQ $32, R9")
	next("codes")
	across("VPADDD")
	f.op("VPCOMPRESSD.Z Z0, K1, Z0")
	f.op("VCVTDQ2PS X0, X0")
	f.op("VBROADCASTSS unit(FP), X1")
	f.op("VDIVPS X0, X1, X0")
	f.op("VMOVUPS X0, (R8)")
	f.op("ADDQ $16, R8")
	f.op("LEAQ (SI)(DX*4), SI")
	f.op("DECQ BX")
	f.op("JNZ four")
	f.ret()
}

// addRows adds rows of groups of 16 values to dst.
func addRows(f *file) {
	f.fn("addRowsAVX512", "dst, x *float32, stride, rows, groups uintptr")
	f.args("dst", "DI", "x", "SI", "stride", "DX", "groups", "R8")
	f.label("group")
	f.op("MOVQ rows(FP), BX")
	f.op("MOVQ SI, R9")
	f.op("VMOVUPS (DI), Z0")
	f.label("row")
	f.op("VADDPS (R9), Z0, Z0")
	f.op("ADDQ DX, R9")
	f.op("DECQ BX")
	f.op("JNZ row")
	f.op("VMOVUPS Z0, (DI)")
	f.op("ADDQ $64, DI")
	f.op("ADDQ $64, SI")
	f.op("DECQ R8")
	f.op("JNZ group")
	f.ret()
}

// topSquares finds the largest sum of the squares of a row's values less others, of fours of
// rows of groups of 16 values. As bits sums compare like unsigned numbers, and what is no number is above
// infinity.
func topSquares(f *file) {
	f.fn("topSquaresAVX512", "x, less *float32, stride, fours, groups uintptr) (bits uint32")
	f.args("x", "SI", "stride", "DX", "fours", "BX", "groups", "R8")
	f.op("SHLQ $6, R8")
	f.op("LEAQ (DX)(DX*2), R9")
	f.op("VPXOR X8, X8, X8")
	f.label("row")
	for i := range 4 {
		f.op("VXORPS X%d, X%d, X%d", i, i, i)
	}
	f.op("MOVQ SI, DI")
	f.op("MOVQ R8, CX")
	f.op("MOVQ less(FP), R10")
	f.label("group")
	f.op("VMOVUPS (R10), Z9")
	f.op("ADDQ $64, R10")
	for i, row := range []string{"(DI)", "(DI)(DX*1)", "(DI)(DX*2)", "(DI)(R9*1)"} {
		f.op("VMOVUPS %s, Z%d", row, 4+i)
		f.op("VSUBPS Z9, Z%d, Z%d", 4+i, 4+i)
		f.op("VFMADD231PS Z%d, Z%d, Z%d", 4+i, 4+i, i)
	}
	f.op("ADDQ $64, DI")
	f.op("SUBQ $64, CX")
	f.op("JNZ group")
	gather(f, []int{0, 1, 2, 3}, 4, "VADDPS")
	f.op("VPMAXUD Z0, Z8, Z8")
	f.op("LEAQ (SI)(DX*4), SI")
	f.op("DECQ BX")
	f.op("JNZ row")
	f.op("VMOVUPS Z8, Z0")
	reduce(f, isas[0], 0, "VPMAXUD")
	f.op("VMOVSS X0, bits(FP)")
	f.ret()
}

// toWords writes rows of groups of 16 values, less others, times scale, as words.
func toWords(f *file) {
	f.fn("toWordsAVX512", "dst *float32, dstStride uintptr, x, less *float32, stride, rows, groups uintptr, scale float32")
	f.args("dst", "DI", "dstStride", "R9", "less", "R10", "x", "SI", "stride", "DX", "rows", "BX", "groups", "R8")
	f.op("VBROADCASTSS scale(FP), Z8")
	f.op("SHLQ $5, R8")
	f.label("row")
	f.op("XORQ CX, CX")
	f.label("group")
	f.op("VMOVUPS (SI)(CX*2), Z0")
	f.op("VSUBPS (R10)(CX*2), Z0, Z0")
	f.op("VMULPS Z8, Z0, Z0")
	f.op("VCVTPS2DQ Z0, Z0")
	f.op("VPMOVDW Z0, (DI)(CX*1)")
	f.op("ADDQ $32, CX")
	f.op("CMPQ CX, R8")
	f.op("JB group")
	f.op("ADDQ DX, SI")
	f.op("ADDQ R9, DI")
	f.op("DECQ BX")
	f.op("JNZ row")
	f.ret()
}

// toPairs writes pairs of rows of groups of 16 values, times scale: in one place the words
// of both rows. Pairs lie next to each other, the second row of one next bytes behind its first.
func toPairs(f *file) {
	f.fn("toPairsAVX512", "dst *float32, x *float32, stride, next, pairs, groups uintptr, scale float32")
	f.args("dst", "DI", "x", "SI", "stride", "DX", "next", "R9", "pairs", "BX", "groups", "R8")
	f.op("VBROADCASTSS scale(FP), Z8")
	f.op("MOVL $0xaaaaaaaa, AX")
	f.op("KMOVD AX, K1")
	f.op("SHLQ $6, R8")
	f.op("ADDQ SI, R9")
	f.label("pair")
	f.op("XORQ CX, CX")
	f.label("group")
	f.op("VMULPS (SI)(CX*1), Z8, Z0")
	f.op("VMULPS (R9)(CX*1), Z8, Z1")
	f.op("VCVTPS2DQ Z0, Z0")
	f.op("VCVTPS2DQ Z1, Z1")
	f.op("VPSLLD $16, Z1, Z1")
	f.op("VMOVDQU16 Z1, K1, Z0") // the words of the second row
	f.op("VMOVDQU32 Z0, (DI)(CX*1)")
	f.op("ADDQ $64, CX")
	f.op("CMPQ CX, R8")
	f.op("JB group")
	f.op("ADDQ R8, DI")
	f.op("ADDQ DX, SI")
	f.op("ADDQ DX, R9")
	f.op("DECQ BX")
	f.op("JNZ pair")
	f.ret()
}
