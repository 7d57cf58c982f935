package main

import "fmt"

// scan writes the dot products of one int8 query with int8 rows.
func scan(f *file) {
	dotAVX512(f, 8, false)
	dotAVX512(f, 4, true)
	dotAVX512(f, 1, false)
	dotAVX2(f, 4, false)
	dotAVX2(f, 4, true)
	dotAVX2(f, 1, false)
}

// rowPointers points R8.. at the first bytes of a block's rows. DX holds the
// stride. Strided rows are addressed from two bases and multiples of the
// stride (CX holds three), listed ones by a pointer each. The result gives the
// address of byte off of row r; cursors move on with advance.
func rowPointers(f *file, rows int, listed bool) (addr func(r, off int) string, advance func(n int)) {
	if listed {
		f.op("MOVQ at(FP), R12")
		f.op("MOVQ rows(FP), R13")
		for r := range rows {
			f.op("MOVL %d(R12), R%d", 4*r, 8+r)
			f.op("IMULQ DX, R%d", 8+r)
			f.op("ADDQ R13, R%d", 8+r)
		}
		f.op("ADDQ $%d, R12", 4*rows)
		f.op("MOVQ R12, at(FP)")
		addr = func(r, off int) string { return fmt.Sprintf("%d(R%d)", off, 8+r) }
		return addr, func(n int) {
			for r := range rows {
				f.op("ADDQ $%d, R%d", n, 8+r)
			}
		}
	}
	f.op("MOVQ R13, R8")
	if rows > 4 {
		f.op("LEAQ (R13)(DX*4), R9")
	}
	addr = func(r, off int) string {
		base := fmt.Sprintf("%d(R%d)", off, 8+r/4)
		switch r % 4 {
		case 0:
			return base
		case 3:
			return base + "(CX*1)"
		}
		return fmt.Sprintf("%s(DX*%d)", base, r%4)
	}
	return addr, func(n int) {
		f.op("ADDQ $%d, R8", n)
		if rows > 4 {
			f.op("ADDQ $%d, R9", n)
		}
	}
}

const dotParams = "dst *int32, q *%s, rows *int8, stride uintptr, %s"

// dotAVX512 takes 64 bytes a step of each row in the block: sign flipped by
// VPXORD on load, VPDPBUSD with the query's bytes, which all rows share. A
// last partial group is loaded under a byte mask.
func dotAVX512(f *file, rows int, listed bool) {
	name, last := fmt.Sprintf("dotRows%dAVX512", rows), "blocks, chunks uintptr, mask uint64, bias int32"
	if listed {
		name, last = fmt.Sprintf("dotRowsAt%dAVX512", rows), "at *uint32, "+last
	}
	f.fn(name, fmt.Sprintf(dotParams, "int8", last))
	f.args("dst", "DI", "q", "SI", "rows", "R13", "stride", "DX")
	f.op("MOVQ blocks(FP), BX")
	f.op("MOVQ mask(FP), R15")
	f.op("KMOVQ R15, K1")
	f.op("MOVL bias(FP), AX")
	f.op("VPBROADCASTD AX, Y31")
	f.op("MOVL $0x80808080, AX")
	f.op("VPBROADCASTD AX, Z30")
	f.op("LEAQ (DX)(DX*2), CX")
	f.label("block")
	addr, advance := rowPointers(f, rows, listed)
	for r := range rows {
		f.op("VPXORD Z%d, Z%d, Z%d", r, r, r)
	}
	f.op("MOVQ SI, R12")
	f.op("MOVQ chunks(FP), AX")
	f.op("TESTQ AX, AX")
	f.op("JZ tail")
	f.label("chunk")
	f.op("VMOVDQU64 (R12), Z16")
	for r := range rows {
		f.op("VPXORD %s, Z30, Z%d", addr(r, 0), 17+r)
		f.op("VPDPBUSD Z16, Z%d, Z%d", 17+r, r)
	}
	f.op("ADDQ $64, R12")
	advance(64)
	f.op("DECQ AX")
	f.op("JNZ chunk")
	f.label("tail")
	f.op("TESTQ R15, R15")
	f.op("JZ sum")
	f.op("VMOVDQU64 (R12), Z16")
	for r := range rows {
		f.op("VMOVDQU8.Z %s, K1, Z%d", addr(r, 0), 17+r)
		f.op("VPXORD Z%d, Z30, Z%d", 17+r, 17+r)
		f.op("VPDPBUSD Z16, Z%d, Z%d", 17+r, r)
	}
	f.label("sum")
	for r := range rows {
		f.op("VEXTRACTI64X4 $1, Z%d, Y%d", r, 8+r)
		f.op("VPADDD Y%d, Y%d, Y%d", 8+r, r, r)
	}
	sumLanes(f, rows)
	switch rows {
	case 8:
		f.op("VPSUBD Y31, Y0, Y0")
		f.op("VMOVDQU32 Y0, (DI)")
	case 4:
		f.op("VPSUBD X31, X0, X0")
		f.op("VMOVDQU32 X0, (DI)")
	default:
		f.op("VPSUBD X31, X0, X0")
		f.op("VMOVD X0, (DI)")
	}
	nextBlock(f, rows, listed)
}

// dotAVX2 takes 16 bytes a step of each row: widened to int16 on load,
// VPMADDWD with the query's words. Pairs are at most 2*128*128, so nothing
// saturates. A last partial group is the row's last 16 bytes, see prepareWide.
func dotAVX2(f *file, rows int, listed bool) {
	name, last := fmt.Sprintf("dotRows%dAVX2", rows), "blocks, chunks uintptr, tail int"
	if listed {
		name, last = fmt.Sprintf("dotRowsAt%dAVX2", rows), "at *uint32, "+last
	}
	f.fn(name, fmt.Sprintf(dotParams, "int16", last))
	f.args("dst", "DI", "q", "SI", "rows", "R13", "stride", "DX")
	f.op("MOVQ blocks(FP), BX")
	f.op("MOVQ tail(FP), R15")
	f.op("LEAQ (DX)(DX*2), CX")
	f.label("block")
	addr, advance := rowPointers(f, rows, listed)
	for r := range rows {
		f.op("VPXOR Y%d, Y%d, Y%d", r, r, r)
	}
	f.op("MOVQ SI, R12")
	f.op("MOVQ chunks(FP), AX")
	step := func() {
		f.op("VMOVDQU (R12), Y15")
		for r := range rows {
			f.op("VPMOVSXBW %s, Y%d", addr(r, 0), 8+r)
			f.op("VPMADDWD Y15, Y%d, Y%d", 8+r, 8+r)
			f.op("VPADDD Y%d, Y%d, Y%d", 8+r, r, r)
		}
	}
	f.label("chunk")
	step()
	f.op("ADDQ $32, R12")
	advance(16)
	f.op("DECQ AX")
	f.op("JNZ chunk")
	f.op("TESTQ R15, R15")
	f.op("JZ sum")
	f.comment("step back from the end of the whole groups to 16 before the row's end")
	for r := range rows {
		if listed {
			f.op("ADDQ R15, R%d", 8+r)
		} else if r == 0 {
			f.op("ADDQ R15, R8")
		}
	}
	step()
	f.label("sum")
	sumLanes(f, rows)
	if rows == 4 {
		f.op("VMOVDQU X0, (DI)")
	} else {
		f.op("VMOVD X0, (DI)")
	}
	nextBlock(f, rows, listed)
}

// sumLanes adds the eight lanes of each of Y0..Y(rows-1) and leaves the sums
// side by side in register 0.
func sumLanes(f *file, rows int) {
	switch rows {
	case 8:
		for r := 0; r < 8; r += 2 {
			f.op("VPHADDD Y%d, Y%d, Y%d", r+1, r, r)
		}
		f.op("VPHADDD Y2, Y0, Y0")
		f.op("VPHADDD Y6, Y4, Y4")
		f.op("VPERM2I128 $0x20, Y4, Y0, Y1")
		f.op("VPERM2I128 $0x31, Y4, Y0, Y2")
		f.op("VPADDD Y1, Y2, Y0")
	case 4:
		f.op("VPHADDD Y1, Y0, Y0")
		f.op("VPHADDD Y3, Y2, Y2")
		f.op("VPHADDD Y2, Y0, Y0")
		f.op("VEXTRACTI128 $1, Y0, X1")
		f.op("VPADDD X1, X0, X0")
	case 1:
		f.op("VEXTRACTI128 $1, Y0, X1")
		f.op("VPADDD X1, X0, X0")
		f.op("VPHADDD X0, X0, X0")
		f.op("VPHADDD X0, X0, X0")
	}
}

func nextBlock(f *file, rows int, listed bool) {
	f.op("ADDQ $%d, DI", 4*rows)
	if !listed {
		f.op("LEAQ (R13)(DX*%d), R13", rows)
	}
	f.op("DECQ BX")
	f.op("JNZ block")
	f.ret()
}
