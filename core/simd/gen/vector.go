package main

import "fmt"

// isa is what differs between the two levels in kernels that share their
// shape: the register's letter, its f32 lanes, the half-size register's letter.
type isa struct {
	name, reg, half string
	lanes           int
}

var isas = []isa{{"AVX512", "Z", "Y", 16}, {"AVX2", "Y", "X", 8}}

// mov32 is the suffix of integer moves, which EVEX sizes.
func (s isa) mov32() string {
	if s.reg == "Z" {
		return "32"
	}
	return ""
}

func (s isa) and() string {
	if s.reg == "Z" {
		return "VPANDD"
	}
	return "VPAND"
}

// vector writes f32 dot products and half-precision conversions. They take
// whole registers; the Go side does the last few values.
func vector(f *file) {
	for _, s := range isas {
		dotFloat(f, s, false)
		dotFloat(f, s, true)

		f.fn("toF16"+s.name, "dst *uint16, src *float32, n uintptr")
		f.args("dst", "DI", "src", "SI", "n", "CX")
		f.label("loop")
		f.op("VMOVUPS (SI), %s0", s.reg)
		f.op("VCVTPS2PH $0, %s0, (DI)", s.reg)
		f.op("ADDQ $%d, SI", 4*s.lanes)
		f.op("ADDQ $%d, DI", 2*s.lanes)
		f.op("SUBQ $%d, CX", s.lanes)
		f.op("JNZ loop")
		f.ret()

		f.fn("fromF16"+s.name, "dst *float32, src *uint16, n uintptr")
		f.args("dst", "DI", "src", "SI", "n", "CX")
		f.label("loop")
		f.op("VCVTPH2PS (SI), %s0", s.reg)
		f.op("VMOVUPS %s0, (DI)", s.reg)
		f.op("ADDQ $%d, SI", 2*s.lanes)
		f.op("ADDQ $%d, DI", 4*s.lanes)
		f.op("SUBQ $%d, CX", s.lanes)
		f.op("JNZ loop")
		f.ret()
	}
}

// dotFloat keeps four sums, since an FMA takes four cycles to come back.
func dotFloat(f *file, s isa, f16 bool) {
	name, typ, size := "dot"+s.name, "*float32", 4
	if f16 {
		name, typ, size = "dotF16"+s.name, "*uint16", 2
	}
	f.fn(name, fmt.Sprintf("a *float32, b %s, n uintptr) (sum float32", typ))
	f.args("a", "SI", "b", "DI", "n", "CX")
	for i := range 4 {
		f.op("VXORPS X%d, X%d, X%d", i, i, i)
	}
	step := func(i int) {
		if f16 {
			f.op("VCVTPH2PS %d(DI), %s%d", i*s.lanes*size, s.reg, 4+i)
		} else {
			f.op("VMOVUPS %d(DI), %s%d", i*s.lanes*size, s.reg, 4+i)
		}
		f.op("VFMADD231PS %d(SI), %s%d, %s%d", i*s.lanes*4, s.reg, 4+i, s.reg, i)
	}
	f.op("SUBQ $%d, CX", 4*s.lanes)
	f.op("JB ones")
	f.label("four")
	for i := range 4 {
		step(i)
	}
	f.op("ADDQ $%d, SI", 4*s.lanes*4)
	f.op("ADDQ $%d, DI", 4*s.lanes*size)
	f.op("SUBQ $%d, CX", 4*s.lanes)
	f.op("JAE four")
	f.label("ones")
	f.op("ADDQ $%d, CX", 4*s.lanes)
	f.op("JZ sum")
	f.label("one")
	step(0)
	f.op("ADDQ $%d, SI", s.lanes*4)
	f.op("ADDQ $%d, DI", s.lanes*size)
	f.op("SUBQ $%d, CX", s.lanes)
	f.op("JNZ one")
	f.label("sum")
	f.op("VADDPS %s1, %s0, %s0", s.reg, s.reg, s.reg)
	f.op("VADDPS %s3, %s2, %s2", s.reg, s.reg, s.reg)
	f.op("VADDPS %s2, %s0, %s0", s.reg, s.reg, s.reg)
	if s.reg == "Z" {
		f.op("VEXTRACTF64X4 $1, Z0, Y1")
		f.op("VADDPS Y1, Y0, Y0")
	}
	f.op("VEXTRACTF128 $1, Y0, X1")
	f.op("VADDPS X1, X0, X0")
	f.op("VHADDPS X0, X0, X0")
	f.op("VHADDPS X0, X0, X0")
	f.op("VMOVSS X0, sum(FP)")
	f.ret()
}
