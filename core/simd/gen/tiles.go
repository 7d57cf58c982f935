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
	linearTiles(f, false)
	linearTiles(f, true)
	usedTileHighs(f)
	packTileHighs(f)
	measureRows(f)
	quantizeTiles(f)
	xgetbv(f)
	// Palette 1: four tiles of 16 rows of 64 bytes.
	f.table("tileConfig", 1, 0, 0x0040004000400040, 0, 0, 0, 0x10101010, 0)
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

// exactSteps is how many steps of 64 inputs add up to less than 2³¹, of codes up to 32,639
// times weights up to 128.
const exactSteps = 8

// linearTiles multiplies rows by panels of 32 outputs, a block of 16 rows at a time: first
// their low bytes by all weights, then their high ones, by all weights or by those that a
// panel's first block picks. Tiles 0 and 1 are the sums, 2 and 3 the activations and the weights
// of a step of 64 inputs. Where inputs are so many that a panel's weights don't stay in the
// first-level cache, all blocks take a chunk of them and leave their sums in memory for the next one.
//
// Loads and products write to tiles of which a core has few more than a thread sees, and half of
// these where two threads share it: each that is in use makes others wait there. So no
// more are used, though with eight each would be loaded for one product less.
//
// Sums can only leave tiles through memory. While the tile unit works on a block,
// the vector units turn the sums of the one before into results, as many rows a
// step as it takes to be done in time.
func linearTiles(f *file, gelu bool) {
	name := "linearTiles"
	if gelu {
		name += "GELU"
	}
	const (
		rowsLeft, panelW, column, toDst, toScale, ahead, toHigh, phase, others, highSums, across, stepsLeft, chunkSteps,
		toPartial = 0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104
		config, scratch = 128, 192
		sums            = 16 * 128 // bytes of a block
		frame           = scratch + 64 + 3*sums
	)
	f.fn(name, "dst *float32, dstStride uintptr, low, high, w *int8, steps, chunk, highSteps uintptr, "+
		"picks *uint32, picked *int8, partial *int32, scale, bias, rowScale *float32, "+
		"rows, rowsPerStep, fetch, panels, height, lastMask uintptr", frame)

	// Fewer rows than a tile has take less time.
	f.op("VMOVDQU64 tileConfig<>(SB), Z0")
	f.op("VMOVDQU64 Z0, %d(SP)", config)
	f.op("MOVL $0x010101, AX")
	f.op("IMULQ height(FP), AX")
	f.op("ORQ $0x10000000, AX")
	f.op("MOVQ AX, %d(SP)", config+48)
	f.op("LEAQ %d(SP), AX", config)
	f.tileConfigure("AX")

	f.op("MOVL $64, AX")
	f.args("dstStride", "R15", "w", "BX", "steps", "R11")
	f.op("SHLQ $10, R11")
	f.op("MOVQ R11, %d(SP)", across) // from 16 rows to the next
	f.op("MOVQ $0, %d(SP)", column)
	f.op("LEAQ %d(SP), R12", scratch+63)
	f.op("ANDQ $~63, R12")
	f.op("LEAQ %d(R12), R11", sums)
	f.op("MOVQ R11, %d(SP)", others)
	f.op("ADDQ $%d, R11", sums)
	f.op("MOVQ R11, %d(SP)", highSums)
	f.op("XORL CX, CX") // no rows of a block before
	f.op("MOVL $128, DX")
	f.op("MOVL $-1, R8")
	f.op("KMOVD R8, K1")
	f.op("KMOVD R8, K2")
	f.op("VMOVDQU32 tileLowByte<>(SB), Z27")
	f.op("VMOVUPS tileTwo8<>(SB), Z26")
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

	f.label("panel") // R8, R9, R14, DI and CX belong to the block before
	f.op("MOVQ BX, %d(SP)", panelW)
	f.op("MOVQ %d(SP), R11", across)
	f.op("LEAQ (BX)(R11*2), BX")
	f.op("MOVQ BX, %d(SP)", ahead)
	f.args("steps", "R11")
	f.op("MOVQ R11, %d(SP)", stepsLeft)
	f.args("dst", "R11")
	f.op("ADDQ %d(SP), R11", column)
	f.op("MOVQ R11, %d(SP)", toDst)
	f.args("rowScale", "R11")
	f.op("MOVQ R11, %d(SP)", toScale)

	f.label("chunk")
	f.args("chunk", "R10")
	f.op("MOVQ %d(SP), R11", stepsLeft)
	f.op("CMPQ R11, R10")
	f.op("CMOVQLT R11, R10")
	f.op("MOVQ R10, %d(SP)", chunkSteps)
	f.args("steps", "R11")
	f.op("SUBQ %d(SP), R11", stepsLeft)
	f.op("SHLQ $10, R11")
	f.args("low", "R13", "high", "SI", "partial", "R10")
	f.op("ADDQ R11, R13")
	f.op("ADDQ R11, SI")
	f.op("MOVQ SI, %d(SP)", toHigh)
	f.op("MOVQ R10, %d(SP)", toPartial)
	f.args("rows", "R11")
	f.op("MOVQ R11, %d(SP)", rowsLeft)

	f.label("block")
	f.op("MOVQ R13, SI")
	f.op("ADDQ %d(SP), R13", across)
	f.op("MOVQ $0, %d(SP)", phase)
	f.op("MOVQ %d(SP), BX", panelW)
	f.op("MOVQ %d(SP), R10", chunkSteps)
	f.label("bytes")
	f.args("steps", "R11")
	f.op("CMPQ R11, %d(SP)", stepsLeft)
	f.op("JNE continued")
	f.tileZero(0)
	f.tileZero(1)
	f.op("JMP step")
	f.label("continued")
	f.op("MOVQ %d(SP), R11", toPartial)
	f.tileLoad(0, 0, "R11", "DX")
	f.tileLoad(1, 64, "R11", "DX")

	f.label("step")
	f.tileLoad(2, 0, "SI", "AX")
	f.tileLoad(3, 0, "BX", "DX")
	f.tileDot(0, 2, 3)
	f.tileLoad(3, 64, "BX", "DX")
	f.tileDot(1, 2, 3)
	f.op("ADDQ $1024, SI")
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
	f.op("CMPQ highSteps(FP), $0")
	f.op("JE low")
	f.op("CMPQ steps(FP), $%d", exactSteps)
	f.op("JA split")
	for c := range 2 {
		f.op("VPSLLD $8, %d(DI), Z%d", 64*c, c)
	}
	for c := range 2 {
		f.op("VPADDD %d(R8), Z%d, Z%d", 64*c, c, c)
	}
	for c := range 2 {
		f.op("VCVTDQ2PS Z%d, Z%d", c, c)
	}
	f.op("JMP joined")
	f.label("split")
	for c := range 2 { // the low bytes' sums, what they carry over goes to the high ones'
		f.op("VMOVDQU32 %d(R8), Z%d", 64*c, 2+c)
		f.op("VPSRAD $8, Z%d, Z%d", 2+c, c)
		f.op("VPADDD %d(DI), Z%d, Z%d", 64*c, c, c)
		f.op("VPANDD Z27, Z%d, Z%d", 2+c, 2+c)
		f.op("VCVTDQ2PS Z%d, Z%d", 2+c, 2+c)
		f.op("VCVTDQ2PS Z%d, Z%d", c, c)
		f.op("VFMADD213PS Z%d, Z26, Z%d", 2+c, c)
	}
	f.op("JMP joined")
	f.label("low")
	f.op("VCVTDQ2PS (R8), Z0")
	f.op("VCVTDQ2PS 64(R8), Z1")
	f.label("joined")
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
	f.op("ADDQ $128, DI")
	f.op("ADDQ $4, R9")
	f.op("ADDQ R15, R14")
	f.op("DECQ CX")
	f.op("DECQ R11")
	f.op("JNZ row")
	f.label("rowsDone")
	f.op("DECQ R10")
	f.op("JG step")
	f.op("JL done")

	f.op("MOVQ %d(SP), R10", chunkSteps)
	f.op("CMPQ R10, %d(SP)", stepsLeft)
	f.op("JNE between")
	f.op("ADDQ $%d, %d(SP)", sums, toPartial)
	f.op("CMPQ %d(SP), $0", phase)
	f.op("JNE highs")
	f.tileStore(0, 0, "R12", "DX")
	f.tileStore(1, 64, "R12", "DX")
	f.op("CMPQ highSteps(FP), $0")
	f.op("JE summed")
	f.op("JMP turn")
	f.label("between")
	f.op("MOVQ %d(SP), R11", toPartial)
	f.tileStore(0, 0, "R11", "DX")
	f.tileStore(1, 64, "R11", "DX")
	f.op("ADDQ $%d, %d(SP)", sums, toPartial)
	f.op("CMPQ highSteps(FP), $0")
	f.op("JE nextBlock")
	f.op("CMPQ %d(SP), $0", phase)
	f.op("JNE nextBlock")

	f.label("turn") // to the high bytes
	f.op("MOVQ $1, %d(SP)", phase)
	f.op("MOVQ %d(SP), BX", panelW)
	f.args("picks", "SI")
	f.op("TESTQ SI, SI")
	f.op("JZ chosen") // all of them
	f.args("highSteps", "R10")
	f.op("MOVQ rows(FP), R11")
	f.op("CMPQ R11, %d(SP)", rowsLeft)
	f.args("picked", "R11")
	f.op("JNE picked")
	f.op("SHLQ $4, R10")
	f.label("pick")
	f.op("MOVLQZX (SI), DX")
	f.op("VMOVDQU64 (BX)(DX*1), Z0")
	f.op("VMOVDQU64 64(BX)(DX*1), Z1")
	f.op("VMOVDQU64 Z0, (R11)")
	f.op("VMOVDQU64 Z1, 64(R11)")
	f.op("ADDQ $4, SI")
	f.op("ADDQ $128, R11")
	f.op("DECQ R10")
	f.op("JNZ pick")
	f.args("highSteps", "R10")
	f.op("MOVL $128, DX")
	f.label("picked")
	f.args("picked", "BX")
	f.label("chosen")
	f.op("MOVQ %d(SP), SI", toHigh)
	f.op("MOVQ %d(SP), R11", across)
	f.op("ADDQ R11, %d(SP)", toHigh)
	f.op("JMP bytes")

	f.label("highs")
	f.op("MOVQ %d(SP), R11", highSums)
	f.tileStore(0, 0, "R11", "DX")
	f.tileStore(1, 64, "R11", "DX")

	// The block's sums become those that the next steps turn into results.
	f.label("summed")
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
	f.op("MOVQ %d(SP), R12", others)
	f.op("MOVQ R8, %d(SP)", others)
	f.op("MOVQ %d(SP), DI", highSums)
	f.op("MOVQ %d(SP), R14", toDst)
	f.op("MOVQ %d(SP), R9", toScale)
	f.op("ADDQ $64, %d(SP)", toScale)
	f.op("MOVQ R15, CX")
	f.op("SHLQ $4, CX")
	f.op("ADDQ CX, %d(SP)", toDst)
	f.op("MOVQ %d(SP), R11", rowsLeft)
	f.op("MOVL $16, CX")
	f.op("CMPQ R11, CX")
	f.op("CMOVQLT R11, CX")
	f.label("nextBlock")
	f.op("SUBQ $16, %d(SP)", rowsLeft)
	f.op("JG block")

	f.op("MOVQ %d(SP), R10", chunkSteps)
	f.op("MOVQ R10, R11")
	f.op("SHLQ $11, R11")
	f.op("ADDQ R11, %d(SP)", panelW)
	f.op("SUBQ R10, %d(SP)", stepsLeft)
	f.op("JNZ chunk")
	f.op("MOVQ %d(SP), BX", panelW)
	f.op("ADDQ $128, %d(SP)", column)
	f.op("DECQ panels(FP)")
	f.op("JNZ panel")
	f.op("MOVQ CX, R11") // the last block's rows, all at once
	f.op("XORL R10, R10")
	f.op("JMP row")
	f.label("done")
	f.tileRelease()
	f.ret()
}

// usedTileHighs tells which groups of four high bytes, of blocks of 16 rows by so many tiles,
// are not all zero: a bit for each, 16 a tile.
func usedTileHighs(f *file) {
	f.fn("usedHighsAMX", "used *uint16, high *int8, blocks, steps uintptr")
	f.args("used", "DI", "high", "SI", "steps", "CX")
	f.op("MOVQ CX, AX")
	f.op("SHLQ $10, AX")
	f.label("step")
	f.op("MOVQ blocks(FP), DX")
	f.op("MOVQ SI, R8")
	f.op("VPXORD Z0, Z0, Z0")
	f.op("VPXORD Z1, Z1, Z1")
	f.label("block")
	for row := range 16 {
		f.op("VPORD %d(R8), Z%d, Z%d", 64*row, row%2, row%2)
	}
	f.op("ADDQ AX, R8")
	f.op("DECQ DX")
	f.op("JNZ block")
	f.op("VPORD Z1, Z0, Z0")
	f.op("VPTESTMD Z0, Z0, K1")
	f.op("KMOVW K1, R8")
	f.op("MOVW R8, (DI)")
	f.op("ADDQ $2, DI")
	f.op("ADDQ $1024, SI")
	f.op("DECQ CX")
	f.op("JNZ step")
	f.ret()
}

// packTileHighs moves the used groups of each row of a block of 16 to its front, zeros behind
// them, by way of packed, which has room for them and one group more than a step has.
func packTileHighs(f *file) {
	f.fn("packHighsAMX", "high *int8, used *uint16, steps, packedSteps uintptr, packed *int8")
	f.args("high", "SI", "steps", "R9", "packedSteps", "R12", "packed", "R13")
	f.op("VPXORD Z1, Z1, Z1")
	f.op("MOVL $16, DX")
	f.label("row")
	f.op("MOVQ SI, R8")
	f.op("MOVQ R13, DI")
	f.op("MOVQ R9, CX")
	f.op("MOVQ used(FP), BX")
	f.label("step")
	f.op("MOVWLZX (BX), R10")
	f.op("KMOVW R10, K1")
	f.op("VMOVDQU32 (R8), Z0")
	f.op("VPCOMPRESSD.Z Z0, K1, Z0")
	f.op("VMOVDQU32 Z0, (DI)")
	f.op("POPCNTL R10, R10")
	f.op("LEAQ (DI)(R10*4), DI")
	f.op("ADDQ $1024, R8")
	f.op("ADDQ $2, BX")
	f.op("DECQ CX")
	f.op("JNZ step")
	f.op("VMOVDQU32 Z1, (DI)")
	f.op("MOVQ SI, R8")
	f.op("MOVQ R13, DI")
	f.op("MOVQ R12, CX")
	f.label("copy")
	f.op("VMOVDQU32 (DI), Z0")
	f.op("VMOVDQU32 Z0, (R8)")
	f.op("ADDQ $64, DI")
	f.op("ADDQ $1024, R8")
	f.op("DECQ CX")
	f.op("JNZ copy")
	f.op("ADDQ $64, SI")
	f.op("DECQ DX")
	f.op("JNZ row")
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
	f.op("ADDQ $1024, DI")
	f.op("ADDQ $1024, R8")
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
