package host

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What a stranger's module may make the host hold or do outside its own memory.
const (
	maxModule       = 64 << 20 // bytes of code and data; weights belong in assets
	maxTables       = 16
	maxTableEntries = 1 << 20 // that a table starts with
	maxTableGrowth  = 1 << 16 // that a table may grow to; more when it starts with more
)

// The sections of a module, https://webassembly.github.io/spec/core/binary/modules.html.
const (
	sectionCustom = 0
	sectionTable  = 4
	sectionCode   = 10
)

// guard rewrites a stranger's module so that the host can always stop it and it
// takes no memory but its own:
//
//   - A function that calls others gets an empty loop at its start. wazero asks in
//     every loop whether the call may go on, but not when a function is called: a
//     recursion without loops, fib(99) say, would run for ever, deaf to deadline and
//     garbage collector.
//   - Tables, which live in the host's memory, get a maximum. Without one a module
//     may grow each to a gigabyte.
//
// Custom sections but the names of functions are dropped: debugging information
// would point to the wrong places. Validation is left to the compiler. The format
// is that of section 5.5 of the WebAssembly specification 2.0.
func guard(wasm []byte) ([]byte, error) {
	if len(wasm) > maxModule {
		return nil, fmt.Errorf("the module has %d MB, at most %d; large tables belong in assets", len(wasm)>>20, maxModule>>20)
	}
	r := reader{b: wasm}
	out := append(make([]byte, 0, len(wasm)+len(wasm)/32), r.take(8)...)
	for r.err == nil && r.at < len(wasm) {
		id := r.byte()
		body := reader{b: r.take(int(r.u32()))}
		if r.err != nil {
			break
		}
		var section []byte
		switch id {
		case sectionTable:
			section = guardTables(&body)
		case sectionCode:
			section = guardCode(&body)
		case sectionCustom:
			if name := body.take(int(body.u32())); string(name) != "name" {
				continue
			}
			section = body.b
		default:
			section = body.b
		}
		if r.err = body.err; r.err == nil {
			out = appendBytes(append(out, id), section)
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("malformed module: %w", r.err)
	}
	return out, nil
}

// guardTables gives each table a maximum.
func guardTables(r *reader) []byte {
	n := r.u32()
	if n > maxTables {
		r.fail(fmt.Errorf("%d tables, at most %d", n, maxTables))
	}
	out := binary.AppendUvarint(nil, uint64(n))
	for range n {
		if r.err != nil {
			return nil
		}
		kind, flags, least := r.byte(), r.byte(), r.u32()
		most := max(least, maxTableGrowth)
		switch flags {
		case 0:
		case 1:
			if m := r.u32(); m >= least {
				most = min(most, m)
			} else {
				most = m // for the compiler to refuse
			}
		default:
			r.fail(errors.New("a table of a kind that this host does not know"))
		}
		if least > maxTableEntries {
			r.fail(fmt.Errorf("a table of %d entries, at most %d", least, maxTableEntries))
		}
		out = binary.AppendUvarint(append(out, kind, 1), uint64(least))
		out = binary.AppendUvarint(out, uint64(most))
	}
	r.end()
	return out
}

// emptyLoop is an empty loop: loop, of no result, end.
var emptyLoop = [3]byte{0x03, 0x40, 0x0B}

// guardCode puts a pause at the start of every function that may call another.
func guardCode(r *reader) []byte {
	n := r.u32()
	out := binary.AppendUvarint(make([]byte, 0, len(r.b)+len(r.b)/32), uint64(n))
	for i := uint32(0); i < n && r.err == nil; i++ {
		f := reader{b: r.take(int(r.u32()))}
		for groups := f.u32(); groups > 0 && f.err == nil; groups-- {
			f.u32() // locals
			f.byte()
		}
		if r.fail(f.err); r.err != nil {
			return nil
		}
		locals, code := f.b[:f.at], f.b[f.at:]
		if !mayCall(code) {
			out = appendBytes(out, f.b)
			continue
		}
		out = binary.AppendUvarint(out, uint64(len(f.b)+len(emptyLoop)))
		out = append(append(append(out, locals...), emptyLoop[:]...), code...)
	}
	r.end()
	return out
}

// mayCall reports whether the byte of an instruction call or call_indirect occurs,
// be it as such or as part of something else.
func mayCall(code []byte) bool {
	for _, b := range code {
		if b == 0x10 || b == 0x11 {
			return true
		}
	}
	return false
}

func appendBytes(out, b []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(b))), b...)
}

// reader reads the binary format; after an error it gives zeros.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b)-r.at {
		r.fail(errors.New("it ends early"))
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at]
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// u32 reads a LEB128 number of at most five bytes.
func (r *reader) u32() uint32 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.b[r.at:min(len(r.b), r.at+5)])
	if n <= 0 || v > 1<<32-1 {
		r.fail(errors.New("a number is cut off or too large"))
		return 0
	}
	r.at += n
	return uint32(v)
}

// end fails unless everything was read.
func (r *reader) end() {
	if r.err == nil && r.at != len(r.b) {
		r.fail(errors.New("a section has bytes behind its end"))
	}
}
