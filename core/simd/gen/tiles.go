package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// tiles writes the kernels of AMX. Go's assembler has no mnemonics for it, so its
// instructions are spelled in bytes, by the encodings of Intel's Architecture
// Instruction Set Extensions reference, with the mnemonic as a comment.
func tiles(f *file) {
	for _, wide := range []bool{true, false} {
		for _, gelu := range []bool{true, false} {
			linearTiles(f, wide, gelu)
		}
	}
	measureRows(f)
	quantizeTiles(f)
	xgetbv(f)
	// Palette 1: eight tiles of 16 rows of 64 bytes.
	f.table("tileConfig", 1, 0, 0x0040004000400040, 0x0040004000400040, 0, 0, 0x1010101010101010, 0)
	f.constant("tileMagnitude", 0x7fffffff)
	f.constant("tileLowByte", 0xff)
	f.constant("tileLowWord", 0x00ff00ff)
	f.constant("tileRound", 0x00800080)
	f.constant("tileTwo8", math.Float32bits(256))
	for i, c := range geluPoly {
		f.constant(fmt.Sprintf("tileGelu%d", i), math.Float32bits(c))
	}
	f.constant("tileGeluEdge", math.Float32bits(geluEdge))
	f.constant("tileGeluMinusEdge", math.Float32bits(-geluEdge))
	f.constant("tileGeluScale", math.Float32bits(2.0/(geluEdge*geluEdge)))
	f.constant("tileHalf", math.Float32bits(0.5))
	f.constant("tileOne", math.Float32bits(1))
	// Where packing bytes lane by lane has left values 4i to 4i+3 of each register.
	f.table("tileUnpack", 0x0000000400000000, 0x0000000c00000008, 0x0000000500000001, 0x0000000d00000009,
		0x0000000600000002, 0x0000000e0000000a, 0x0000000700000003, 0x0000000f0000000b)
}

// The prefixes that VEX folds into two bits.
const (
	noPrefix = 0
	prefix66 = 1
	prefixF3 = 2
	prefixF2 = 3
)

var registers = []string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}

// vex writes an instruction of map 0F38 with registers or a memory operand: rest is
// what follows the opcode; base and index extend it, v is the second source.
func (f *file) vex(mnemonic string, prefix, opcode, base, index, v int, rest ...byte) {
	code := []byte{0xc4, byte(0x80|(^index>>3&1)<<6|(^base>>3&1)<<5) | 2, byte((^v&15)<<3 | prefix), byte(opcode)}
	var text []string
	for _, b := range append(code, rest...) {
		text = append(text, fmt.Sprintf("BYTE $%#02x", b))
	}
	f.line("\t" + strings.Join(text, "; ") + " // " + mnemonic)
}

// tileMemory is a tile's load or store: rows lie as far apart as the index register says.
func (f *file) tileMemory(mnemonic string, prefix, tile, disp int, base, index string) {
	b, x := slices.Index(registers, base), slices.Index(registers, index)
	f.vex(fmt.Sprintf("%s %d(%s)(%s*1), T%d", mnemonic, disp, base, index, tile), prefix, 0x4b, b, x, 0,
		byte(0x84|tile<<3), byte((x&7)<<3|b&7), byte(disp), byte(disp>>8), byte(disp>>16), byte(disp>>24))
}

func (f *file) tileLoad(tile, disp int, base, index string) {
	f.tileMemory("TILELOADD", prefixF2, tile, disp, base, index)
}

func (f *file) tileStore(tile, disp int, base, index string) {
	f.tileMemory("TILESTORED", prefixF3, tile, disp, base, index)
}

func (f *file) tileZero(tile int) {
	f.vex(fmt.Sprintf("TILEZERO T%d", tile), prefixF2, 0x49, 0, 0, 0, byte(0xc0|tile<<3))
}

// tileDot adds a*b to sum, signed bytes by signed bytes.
func (f *file) tileDot(sum, a, b int) {
	f.vex(fmt.Sprintf("TDPBSSD T%d, T%d, T%d", b, a, sum), prefixF2, 0x5e, 0, 0, b, byte(0xc0|sum<<3|a))
}

// tileConfigure loads a configuration from where a register points.
func (f *file) tileConfigure(at string) {
	b := slices.Index(registers, at)
	f.vex("LDTILECFG ("+at+")", noPrefix, 0x49, b, 0, 0, byte(b&7))
}

func (f *file) tileRelease() { f.vex("TILERELEASE", noPrefix, 0x49, 0, 0, 0, 0xc0) }

// linearTiles multiplies rows by panels of 32 outputs, a block at a time: 32 rows,
// or 16 rows and their high bytes, which take the second half's place, so that
// weights are loaded once for both. Tiles 0 to 3 are the sums, 4 and 5 the
// activations, 6 and 7 the weights of a step of 64 inputs: a load for each product,
// the least that eight tiles allow.
//
// Sums can only leave tiles through memory. While the tile unit works on a block,
// the vector units turn the sums of the one before into results, as many rows a
// step as it takes to be done in time.
func linearTiles(f *file, wide, gelu bool) {
	name, blockRows := "linearTiles", 32
	if wide {
		name, blockRows = "linearTilesWide", 16
	}
	if gelu {
		name += "GELU"
	}
	const rowsLeft, panelW, column, toDst, toScale, ahead, config, scratch, frame = 0, 8, 16, 24, 32, 40, 64, 128, 128 + 4096 + 64
	f.fn(name, "dst *float32, dstStride uintptr, x *int8, xStride, second, next uintptr, w *int8, steps uintptr, "+
		"scale, bias, rowScale *float32, rows, rowsPerStep, fetch, panels, height, lastMask uintptr", frame)

	// Fewer rows than a tile has take less time.
	f.op("VMOVDQU64 tileConfig<>(SB), Z0")
	f.op("VMOVDQU64 Z0, %d(SP)", config)
	f.op("MOVQ $0x010101010101, AX")
	f.op("IMULQ height(FP), AX")
	f.op("MOVQ $0x1010000000000000, CX")
	f.op("ORQ CX, AX")
	f.op("MOVQ AX, %d(SP)", config+48)
	f.op("LEAQ %d(SP), AX", config)
	f.tileConfigure("AX")

	f.args("xStride", "AX", "dstStride", "R15", "w", "BX")
	f.op("MOVQ BX, %d(SP)", panelW)
	f.op("MOVQ $0, %d(SP)", column)
	f.op("LEAQ %d(SP), R12", scratch+63)
	f.op("ANDQ $~63, R12")
	f.op("XORL CX, CX") // no rows of a block before
	f.op("MOVL $128, DX")
	f.op("MOVL $-1, R8")
	f.op("KMOVD R8, K1")
	f.op("KMOVD R8, K2")
	if wide {
		f.op("VMOVDQU32 tileLowByte<>(SB), Z27")
		f.op("VMOVUPS tileTwo8<>(SB), Z26")
	}
	if gelu {
		for i := range geluPoly {
			f.op("VMOVUPS tileGelu%d<>(SB), Z%d", i, 8+i)
		}
		for i, name := range []string{"Edge", "MinusEdge", "Scale"} {
			f.op("VMOVUPS tileGelu%s<>(SB), Z%d", name, 21+i)
		}
		f.op("VMOVUPS tileOne<>(SB), Z24")
		f.op("VMOVUPS tileHalf<>(SB), Z25")
	}

	f.label("panel")
	f.op("MOVQ steps(FP), R11")
	f.op("SHLQ $11, R11")
	f.op("ADDQ %d(SP), R11", panelW)
	f.op("MOVQ R11, %d(SP)", ahead)
	f.args("x", "R13", "rows", "R11") // R8, R9, R14 and CX belong to the block before
	f.op("MOVQ R11, %d(SP)", rowsLeft)
	f.args("dst", "R11")
	f.op("ADDQ %d(SP), R11", column)
	f.op("MOVQ R11, %d(SP)", toDst)
	f.args("rowScale", "R11")
	f.op("MOVQ R11, %d(SP)", toScale)

	f.label("block")
	f.op("MOVQ R13, SI")
	f.op("MOVQ R13, DI")
	f.op("ADDQ second(FP), DI")
	f.op("ADDQ next(FP), R13")
	f.op("MOVQ %d(SP), BX", panelW)
	f.op("MOVQ steps(FP), R10")
	for t := range 4 {
		f.tileZero(t)
	}

	f.label("step")
	f.tileLoad(4, 0, "SI", "AX")
	f.tileLoad(6, 0, "BX", "DX")
	f.tileDot(0, 4, 6)
	f.tileLoad(7, 64, "BX", "DX")
	f.tileDot(1, 4, 7)
	f.tileLoad(5, 0, "DI", "AX")
	f.tileDot(2, 5, 6)
	f.tileDot(3, 5, 7)
	f.op("ADDQ $64, SI")
	f.op("ADDQ $64, DI")
	f.op("ADDQ $2048, BX")

	// The weights of the next panel come closer, a share each step.
	f.op("MOVQ fetch(FP), R11")
	f.op("TESTQ R11, R11")
	f.op("JZ fetched")
	f.op("MOVQ %d(SP), DX", ahead)
	f.label("fetch")
	f.op("PREFETCHT1 (DX)")
	f.op("PREFETCHT1 64(DX)")
	f.op("ADDQ $128, DX")
	f.op("DECQ R11")
	f.op("JNZ fetch")
	f.op("MOVQ DX, %d(SP)", ahead)
	f.op("MOVL $128, DX")
	f.label("fetched")
	f.op("MOVQ rowsPerStep(FP), R11")

	f.label("row")
	f.op("TESTQ CX, CX")
	f.op("JZ rowsDone")
	if wide {
		f.op("VMOVDQU32 (R8), Z0")
		f.op("VMOVDQU32 64(R8), Z1")
		for c := range 2 { // the low bytes' sums, what they carry over goes to the high ones'
			f.op("VPSRAD $8, Z%d, Z%d", c, 2+c)
			f.op("VPADDD %d(R8), Z%d, Z%d", 2048+64*c, 2+c, 2+c)
			f.op("VPANDD Z27, Z%d, Z%d", c, c)
			f.op("VCVTDQ2PS Z%d, Z%d", 2+c, 2+c)
			f.op("VCVTDQ2PS Z%d, Z%d", c, c)
			f.op("VFMADD231PS Z26, Z%d, Z%d", 2+c, c)
		}
	} else {
		f.op("VCVTDQ2PS (R8), Z0")
		f.op("VCVTDQ2PS 64(R8), Z1")
	}
	f.op("VBROADCASTSS (R9), Z4")
	for c := range 2 {
		f.op("VMULPS Z4, Z%d, Z%d", 28+c, 2+c)
		f.op("VMULPS Z%d, Z%d, Z%d", 2+c, c, c)
		f.op("VADDPS Z%d, Z%d, Z%d", 30+c, c, c)
	}
	if gelu { // as geluKernel does
		for c := range 2 {
			f.op("VMINPS Z%d, Z21, Z%d", c, 2+c)
			f.op("VMAXPS Z%d, Z22, Z%d", 2+c, 2+c)
			f.op("VMULPS Z%d, Z%d, Z%d", 2+c, 2+c, 4+c)
			f.op("VFMSUB213PS Z24, Z23, Z%d", 4+c)
			f.op("VMOVAPS Z%d, Z%d", 8+len(geluPoly)-1, 6+c)
		}
		for i := len(geluPoly) - 2; i >= 0; i-- {
			for c := range 2 {
				f.op("VFMADD213PS Z%d, Z%d, Z%d", 8+i, 4+c, 6+c)
			}
		}
		for c := range 2 {
			f.op("VFMADD213PS Z25, Z%d, Z%d", 2+c, 6+c)
			f.op("VMULPS Z%d, Z%d, Z%d", 6+c, c, c)
		}
	}
	f.op("VMOVUPS Z0, K1, (R14)")
	f.op("VMOVUPS Z1, K2, 64(R14)")
	f.op("ADDQ $128, R8")
	f.op("ADDQ $4, R9")
	f.op("ADDQ R15, R14")
	f.op("DECQ CX")
	f.op("DECQ R11")
	f.op("JNZ row")
	f.label("rowsDone")
	f.op("DECQ R10")
	f.op("JG step")
	f.op("JL done")

	// The block's sums become those that the next steps turn into results.
	f.tileStore(0, 0, "R12", "DX")
	f.tileStore(1, 64, "R12", "DX")
	f.tileStore(2, 2048, "R12", "DX")
	f.tileStore(3, 2112, "R12", "DX")
	f.op("MOVQ %d(SP), R11", column)
	f.op("MOVQ scale(FP), R8")
	f.op("VMOVUPS (R8)(R11*1), Z28")
	f.op("VMOVUPS 64(R8)(R11*1), Z29")
	f.op("MOVQ bias(FP), R8")
	f.op("VMOVUPS (R8)(R11*1), Z30")
	f.op("VMOVUPS 64(R8)(R11*1), Z31")
	f.op("CMPQ panels(FP), $1")
	f.op("JNE whole")
	f.op("MOVQ lastMask(FP), R8")
	f.op("KMOVW R8, K1")
	f.op("SHRQ $16, R8")
	f.op("KMOVW R8, K2")
	f.label("whole")
	f.op("MOVQ R12, R8")
	f.op("MOVQ %d(SP), R14", toDst)
	f.op("MOVQ %d(SP), R9", toScale)
	f.op("ADDQ $%d, %d(SP)", 4*blockRows, toScale)
	f.op("MOVQ R15, CX")
	f.op("SHLQ $%d, CX", int(math.Log2(float64(blockRows))))
	f.op("ADDQ CX, %d(SP)", toDst)
	f.op("MOVQ %d(SP), R11", rowsLeft)
	f.op("MOVL $%d, CX", blockRows)
	f.op("CMPQ R11, CX")
	f.op("CMOVQLT R11, CX")
	f.op("SUBQ CX, R11")
	f.op("MOVQ R11, %d(SP)", rowsLeft)
	f.op("JNZ block")

	f.op("ADDQ $128, %d(SP)", column)
	f.op("MOVQ steps(FP), R11")
	f.op("SHLQ $11, R11")
	f.op("ADDQ R11, %d(SP)", panelW)
	f.op("DECQ panels(FP)")
	f.op("JNZ panel")
	f.op("MOVQ CX, R11") // the last block's rows, all at once
	f.op("XORL R10, R10")
	f.op("JMP row")
	f.label("done")
	f.tileRelease()
	f.ret()
}

// measureRows is measure for four rows at once: what a row adds up waits four cycles
// for each addition, which is time for the others'.
func measureRows(f *file) {
	f.fn("measure4AVX512", "x *float32, stride, groups uintptr, squares *[4][16]float32, bits *[4]uint32")
	f.args("x", "R8", "stride", "AX", "groups", "CX", "squares", "DI", "bits", "SI")
	rowBases(f, 4, "R8", "AX")
	f.op("VMOVDQU32 tileMagnitude<>(SB), Z16")
	for i := range 8 {
		f.op("VPXOR X%d, X%d, X%d", i, i, i)
	}
	f.op("XORL AX, AX")
	f.label("loop")
	for r := range 4 {
		f.op("VMOVUPS (%s)(AX*1), Z%d", rowRegs[r], 8+r)
		f.op("VMULPS Z%d, Z%d, Z%d", 8+r, 8+r, 12+r)
		f.op("VADDPS Z%d, Z%d, Z%d", 12+r, 4+r, 4+r)
		f.op("VPANDD Z%d, Z16, Z%d", 8+r, 8+r)
		f.op("VPMAXUD Z%d, Z%d, Z%d", 8+r, r, r)
	}
	f.op("ADDQ $64, AX")
	f.op("DECQ CX")
	f.op("JNZ loop")
	for r := range 4 {
		f.op("VMOVUPS Z%d, %d(DI)", 4+r, 64*r)
		f.op("VEXTRACTI64X4 $1, Z%d, Y8", r)
		f.op("VPMAXUD Y8, Y%d, Y8", r)
		f.op("VEXTRACTI128 $1, Y8, X9")
		f.op("VPMAXUD X9, X8, X8")
		f.op("VPSHUFD $0x4e, X8, X9")
		f.op("VPMAXUD X9, X8, X8")
		f.op("VPSHUFD $0xb1, X8, X9")
		f.op("VPMAXUD X9, X8, X8")
		f.op("VMOVD X8, %d(SI)", 4*r)
	}
	f.ret()
}

// quantizeTiles rounds groups of 64 values times inv to codes of 16 bits in two
// planes of signed bytes: code = 256*high + low. any has a bit for a high byte that
// isn't zero.
func quantizeTiles(f *file) {
	f.fn("quantizeTilesAVX512", "low, high *int8, x *float32, groups uintptr, inv float32) (any uint32")
	f.args("low", "DI", "high", "R8", "x", "SI", "groups", "CX")
	f.op("VBROADCASTSS inv(FP), Z8")
	f.op("VMOVDQU64 tileLowWord<>(SB), Z9")
	f.op("VMOVDQU64 tileRound<>(SB), Z10")
	f.op("VMOVDQU64 tileUnpack<>(SB), Z11")
	f.op("VPXORD Z12, Z12, Z12")
	f.label("loop")
	for i := range 4 {
		f.op("VMULPS %d(SI), Z8, Z%d", 64*i, i)
	}
	for i := range 4 {
		f.op("VCVTPS2DQ Z%d, Z%d", i, i)
	}
	f.op("VPACKSSDW Z1, Z0, Z0")
	f.op("VPACKSSDW Z3, Z2, Z2")
	f.op("VPADDW Z10, Z0, Z1")
	f.op("VPADDW Z10, Z2, Z3")
	f.op("VPANDD Z9, Z0, Z0")
	f.op("VPANDD Z9, Z2, Z2")
	f.op("VPSRAW $8, Z1, Z1")
	f.op("VPSRAW $8, Z3, Z3")
	f.op("VPACKUSWB Z2, Z0, Z0")
	f.op("VPACKSSWB Z3, Z1, Z1")
	f.op("VPORD Z1, Z12, Z12")
	f.op("VPERMD Z0, Z11, Z0")
	f.op("VPERMD Z1, Z11, Z1")
	f.op("VMOVDQU64 Z0, (DI)")
	f.op("VMOVDQU64 Z1, (R8)")
	f.op("ADDQ $256, SI")
	f.op("ADDQ $64, DI")
	f.op("ADDQ $64, R8")
	f.op("DECQ CX")
	f.op("JNZ loop")
	f.op("VPTESTMD Z12, Z12, K1")
	f.op("KMOVW K1, AX")
	f.op("MOVL AX, any(FP)")
	f.ret()
}

// xgetbv reads which registers the operating system keeps.
func xgetbv(f *file) {
	f.fn("xgetbv0", ") (kept uint32")
	f.op("XORL CX, CX")
	f.op("XGETBV")
	f.op("MOVL AX, kept(FP)")
	f.op("RET")
}
