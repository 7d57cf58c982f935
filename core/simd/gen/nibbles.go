package main

import "fmt"

// nibbles writes the dot products of one int8 query with rows of packed
// unsigned nibbles. The low nibbles of a row are its first half, the high ones
// its second, so both halves of a step's query stand side by side.
func nibbles(f *file) {
	for _, level := range []string{"AVX2", "AVX512"} {
		nibblesAVX(f, level, 4, false)
		nibblesAVX(f, level, 4, true)
		nibblesAVX(f, level, 1, false)
	}
}

// nibblesAVX takes a register of bytes a step. It asks for the memory of rows
// that it comes to later: those streamAhead bytes further, or those ahead bytes
// further in the list. Nothing is loaded from there.
func nibblesAVX(f *file, level string, rows int, listed bool) {
	name, at, ahead := fmt.Sprintf("dotNibbles%d%s", rows, level), "", ""
	if listed {
		name, at, ahead = fmt.Sprintf("dotNibblesAt%d%s", rows, level), "at *uint32, ", ", ahead, lines uintptr, beside *float32"
	}
	f.fn(name, "dst *int32, q *int8, rows *uint8, stride uintptr, "+at+"blocks, chunks uintptr, tail int"+ahead)
	f.args("dst", "DI", "q", "SI", "rows", "R13", "stride", "DX")
	f.op("MOVQ blocks(FP), BX")
	f.op("MOVQ tail(FP), R15")
	width, step := 32, nibblesStepAVX2
	if level == "AVX512" {
		width, step = 64, nibblesStepAVX512
		f.op("MOVL $0x0f0f0f0f, AX")
		f.op("VPBROADCASTD AX, Z30")
	} else {
		for _, c := range []struct {
			bits uint32
			reg  int
		}{{0x00010001, 12}, {0x0f0f0f0f, 13}} {
			f.op("MOVL $%#08x, AX", c.bits)
			f.op("VMOVD AX, X%d", c.reg)
			f.op("VPBROADCASTD X%d, Y%d", c.reg, c.reg)
		}
	}
	if listed {
		f.op("MOVQ beside(FP), CX")
	} else {
		f.op("LEAQ (DX)(DX*2), CX")
	}
	f.label("block")
	if listed {
		f.op("MOVQ at(FP), R12")
		f.op("ADDQ ahead(FP), R12")
		for r := range rows {
			f.op("MOVL %d(R12), R%d", 4*r, 8+r)
			f.op("PREFETCHT0 (CX)(R%d*8)", 8+r)
			f.op("IMULQ DX, R%d", 8+r)
			f.op("ADDQ R13, R%d", 8+r)
		}
		f.op("MOVQ lines(FP), AX")
		f.label("line")
		for r := range rows {
			f.op("PREFETCHT0 (R%d)", 8+r)
			f.op("ADDQ $64, R%d", 8+r)
		}
		f.op("DECQ AX")
		f.op("JNZ line")
	}
	addr, advance := rowPointers(f, rows, listed)
	for r := range rows {
		if level == "AVX512" {
			f.op("VPXORD Z%d, Z%d, Z%d", r, r, r)
			f.op("VPXORD Z%d, Z%d, Z%d", 4+r, 4+r, 4+r)
		} else {
			f.op("VPXOR Y%d, Y%d, Y%d", r, r, r)
		}
	}
	f.op("MOVQ SI, R12")
	f.op("MOVQ chunks(FP), AX")
	f.label("chunk")
	for r := range rows {
		if !listed {
			f.op("PREFETCHT0 %s", addr(r, streamAhead))
		}
	}
	step(f, rows, addr)
	f.op("ADDQ $%d, R12", 2*width)
	advance(width)
	f.op("DECQ AX")
	f.op("JNZ chunk")
	f.op("TESTQ R15, R15")
	f.op("JZ sum")
	f.comment(fmt.Sprintf("step back from the end of the whole groups to %d before the row's end", width))
	for r := range rows {
		if listed || r == 0 {
			f.op("ADDQ R15, R%d", 8+r)
		}
	}
	step(f, rows, addr)
	f.label("sum")
	if level == "AVX512" {
		for r := range rows {
			f.op("VPADDD Z%d, Z%d, Z%d", 4+r, r, r)
			f.op("VEXTRACTI64X4 $1, Z%d, Y%d", r, 8+r)
			f.op("VPADDD Y%d, Y%d, Y%d", 8+r, r, r)
		}
	}
	sumLanes(f, rows)
	if rows == 4 {
		f.op("VMOVDQU X0, (DI)")
	} else {
		f.op("VMOVD X0, (DI)")
	}
	nextBlock(f, rows, listed)
}

// nibblesStepAVX2: VPMADDUBSW adds pairs to 2*15*128 at most and the halves' sum
// to twice that, so words never saturate.
func nibblesStepAVX2(f *file, rows int, addr func(r, off int) string) {
	f.op("VMOVDQU (R12), Y14")
	f.op("VMOVDQU 32(R12), Y15")
	for r := range rows {
		low, high := 4+r, 8+r
		f.op("VMOVDQU %s, Y%d", addr(r, 0), low)
		f.op("VPSRLW $4, Y%d, Y%d", low, high)
		f.op("VPAND Y13, Y%d, Y%d", low, low)
		f.op("VPAND Y13, Y%d, Y%d", high, high)
		f.op("VPMADDUBSW Y14, Y%d, Y%d", low, low)
		f.op("VPMADDUBSW Y15, Y%d, Y%d", high, high)
		f.op("VPADDW Y%d, Y%d, Y%d", high, low, low)
		f.op("VPMADDWD Y12, Y%d, Y%d", low, low)
		f.op("VPADDD Y%d, Y%d, Y%d", low, r, r)
	}
}

// nibblesStepAVX512 keeps the sums of both halves apart, so that additions wait
// less for each other.
func nibblesStepAVX512(f *file, rows int, addr func(r, off int) string) {
	f.op("VMOVDQU64 (R12), Z16")
	f.op("VMOVDQU64 64(R12), Z17")
	for r := range rows {
		low, high := 18+r, 22+r
		f.op("VMOVDQU64 %s, Z%d", addr(r, 0), low)
		f.op("VPSRLW $4, Z%d, Z%d", low, high)
		f.op("VPANDD Z30, Z%d, Z%d", low, low)
		f.op("VPANDD Z30, Z%d, Z%d", high, high)
		f.op("VPDPBUSD Z16, Z%d, Z%d", low, r)
		f.op("VPDPBUSD Z17, Z%d, Z%d", high, 4+r)
	}
}

// streamAhead is how many bytes ahead of its loads a scan of rows that follow each other asks for memory.
const streamAhead = 4096

// nibblesNEON takes 16 bytes a step of each row. Nibbles are as good signed as
// unsigned, so SDOT serves.
func nibblesNEON(f *file, rows int, listed bool) {
	name, at := fmt.Sprintf("dotNibbles%dNEON", rows), ""
	if listed {
		name, at = fmt.Sprintf("dotNibblesAt%dNEON", rows), "at *uint32, "
	}
	f.fn(name, "dst *int32, q *int8, rows *uint8, stride uintptr, "+at+"blocks, chunks uintptr, tail int")
	f.loads("dst", "R0", "q", "R1", "rows", "R2", "stride", "R3", "blocks", "R4", "tail", "R6")
	f.op("MOVW $15, R7")
	f.op("VDUP R7, V31.B16")
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
	step := func() {
		f.op("VLD1.P 32(R12), [V16.B16, V17.B16]")
		for r := range rows {
			low, high := 18+r, 22+r
			f.op("VLD1.P 16(R%d), [V%d.B16]", 8+r, low)
			f.op("VUSHR $4, V%d.B16, V%d.B16", low, high)
			f.op("VAND V31.B16, V%d.B16, V%d.B16", low, low)
			f.v3(sdot, "sdot", r, low, 16)
			f.v3(sdot, "sdot", r, high, 17)
		}
	}
	f.label("chunk")
	step()
	f.op("SUBS $1, R5, R5")
	f.op("BNE chunk")
	f.op("CBZ R6, sum")
	for r := range rows {
		f.op("ADD R6, R%d, R%d", 8+r, 8+r)
	}
	step()
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
