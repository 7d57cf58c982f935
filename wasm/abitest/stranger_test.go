package abitest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mnemehq/mneme/core/fault"
	"github.com/mnemehq/mneme/core/port"
	"github.com/mnemehq/mneme/wasm/abi"
	"github.com/mnemehq/mneme/wasm/host"
)

// stranger is a module put together byte by byte, WebAssembly specification 2.0
// section 5. The zero value answers every text with the vector (1, 0, 0, 0).
type stranger struct {
	code     map[string]string // bodies of exported functions in the place of the usual ones
	types    map[string]byte   // and their types, by index
	leave    []string          // functions that are not exported
	describe string            // what it says about itself
	answer   []byte            // frame of every operation
	sections map[byte]string   // whole sections in the place of the usual ones; "" leaves one out
	start    string            // body of a start function
	imports  []string          // module.name, of type 0
}

// Types of functions.
const (
	typeNothing = iota // () -> ()
	typeI32            // () -> i32
	typeI64            // () -> i64
	typeAlloc          // i32 -> i32
	typeFree           // (i32, i32) -> ()
	typeCall           // (i32, i32) -> i64
)

// Addresses in its memory.
const (
	atDescription = 1 << 16
	atOpened      = 2 << 16
	atAnswer      = 3 << 16
	heap          = 4 << 16
	strangerPages = 16
)

func num(v uint64) string { return string(binary.AppendUvarint(nil, v)) }

// vec is a vector of bytes.
func vec(s string) string { return num(uint64(len(s))) + s }

// signed encodes a constant as LEB128.
func signed(v int64) string {
	var b []byte
	for {
		c := byte(v & 0x7F)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return string(append(b, c))
		}
		b = append(b, c|0x80)
	}
}

func i32(v int32) string { return "\x41" + signed(int64(v)) }
func i64(v int64) string { return "\x42" + signed(v) }

// at is the constant pointer<<32 | length.
func at(ptr, n uint32) string { return i64(int64(uint64(ptr)<<32 | uint64(n))) }

// Code in WebAssembly.
const (
	loop        = "\x03\x40\x0c\x00\x0b"
	unreachable = "\x00"
	// bump takes 64 KiB from global 0 and more for more: a pointer.
	bump = "\x23\x00" + "\x23\x00\x20\x00\x6a\x41\x8f\x80\x04\x6a\x41\x70\x71\x24\x00"
	// reset gives all of it back, as one call at a time allows.
	reset = "\x41\x80\x80\x10\x24\x00"
	grow  = "\x03\x40\x41\x01\x40\x00\x41\x7f\x47\x0d\x00\x0b\x00" // grow the memory until it fails, then trap
	fill  = "\x41\x00\x41\xee\x01\x3f\x00\x41\x10\x74\xfc\x0b\x00" // fill all memory
)

// when does evil if the function's last parameter, a number of bytes, is above
// 1000: with a long text and not with a short one.
func when(param int, evil, good string) string {
	return "\x20" + num(uint64(param)) + i32(1000) + "\x4b\x04\x40" + evil + "\x0b" + good
}

func dense(rows, dim int, v ...float32) abi.Result {
	return abi.Result{Kind: abi.KindDense, Rows: rows, Dim: dim, Floats: v, Tokens: make([]uint32, rows)}
}

const described = `{"name":"stranger","version":"1","licence":"MIT","tasks":[{"task":"embedding","dim":4,` +
	`"max_tokens":100000,"normalized":true}]}`

// names are the exported functions, in order.
func names() []string {
	return []string{abi.FuncABI, abi.FuncAlloc, abi.FuncFree, abi.FuncDescribe, abi.FuncOpen, abi.FuncEmbed}
}

func (s stranger) wasm() []byte {
	if s.describe == "" {
		s.describe = described
	}
	if s.answer == nil {
		s.answer = dense(1, 4, 1, 0, 0, 0).Append(nil)
	}
	opened := abi.Result{Kind: abi.KindText}.Append(nil)
	code := map[string]string{
		abi.FuncABI: i32(1<<16 | 1), abi.FuncAlloc: bump, abi.FuncFree: reset,
		abi.FuncDescribe: at(atDescription, uint32(len(s.describe))), abi.FuncOpen: at(atOpened, uint32(len(opened))),
		abi.FuncEmbed: at(atAnswer, uint32(len(s.answer))),
	}
	types := map[string]byte{abi.FuncABI: typeI32, abi.FuncAlloc: typeAlloc, abi.FuncFree: typeFree,
		abi.FuncDescribe: typeI64, abi.FuncOpen: typeCall, abi.FuncEmbed: typeCall, abi.FuncStart: typeNothing}
	order := names()
	for name, body := range s.code {
		if code[name] = body; !slices.Contains(order, name) {
			order = append(order, name)
			if _, ok := types[name]; !ok {
				types[name] = typeCall
			}
		}
	}
	for name, kind := range s.types {
		types[name] = kind
	}
	slices.Sort(order[len(names()):])
	// fib, function number 0 after the imports, calls itself twice, and so on.
	first := len(s.imports)
	self := "\x20\x00\x41\x01\x6b\x10" + num(uint64(first))
	functions := []string{"\x20\x00\x45\x04\x7f\x41\x00\x05" + self + "\x1a" + self + "\x0b"}
	kinds := []byte{typeAlloc}
	exports := "\x06memory\x02\x00"
	exported := 1
	for _, name := range order {
		if !slices.Contains(s.leave, name) {
			exports += vec(name) + "\x00" + num(uint64(first+len(functions)))
			exported++
		}
		functions, kinds = append(functions, code[name]), append(kinds, types[name])
	}
	if s.start != "" {
		functions, kinds = append(functions, s.start), append(kinds, typeNothing)
	}
	bodies := num(uint64(len(functions)))
	for _, body := range functions {
		bodies += vec("\x00" + body + "\x0b")
	}
	data := ""
	for _, d := range []struct {
		at    int32
		bytes string
	}{{atDescription, s.describe}, {atOpened, string(opened)}, {atAnswer, string(s.answer)}} {
		data += "\x00" + i32(d.at) + "\x0b" + vec(d.bytes)
	}
	imports := num(uint64(len(s.imports)))
	for _, name := range s.imports {
		module, field, _ := strings.Cut(name, ".")
		imports += vec(module) + vec(field) + "\x00\x00"
	}
	all := []struct {
		id   byte
		body string
	}{
		{1, "\x06" + "\x60\x00\x00" + "\x60\x00\x01\x7f" + "\x60\x00\x01\x7e" + "\x60\x01\x7f\x01\x7f" +
			"\x60\x02\x7f\x7f\x00" + "\x60\x02\x7f\x7f\x01\x7e"},
		{2, imports},
		{3, vec(string(kinds))},
		{4, ""},
		{5, "\x01\x00" + num(strangerPages)},
		{6, "\x01\x7f\x01" + i32(heap) + "\x0b"},
		{7, num(uint64(exported)) + exports},
		{8, ""},
		{10, bodies},
		{11, "\x03" + data},
	}
	out := "\x00asm\x01\x00\x00\x00"
	for _, section := range all {
		if other, ok := s.sections[section.id]; ok {
			section.body = other
		}
		if section.id == 8 && s.start != "" {
			section.body = num(uint64(first + len(functions) - 1))
		}
		if section.body != "" && !(section.id == 2 && len(s.imports) == 0 && s.sections[2] == "") {
			out += string(section.id) + vec(section.body)
		}
	}
	return []byte(out)
}

// fib is a call that takes 2^60 others.
const fib = "\x41\x3c\x10\x00\x1a"

// deep is a recursion of a hundred million calls.
const deep = "\x41\x80\xc2\xd7\x2f\x10\x00\x1a"

func limits() host.Options {
	return host.Options{
		Instances:    1,
		MemoryMB:     8,
		CallTimeout:  300 * time.Millisecond,
		StartTimeout: 30 * time.Second,
		Log:          slog.New(slog.DiscardHandler),
	}
}

// harmless embeds a short text, which does no harm.
func harmless(t *testing.T, m *host.Model) {
	t.Helper()
	// A loaded machine may need longer than the short limit to make an instance.
	var err error
	for range 5 {
		var d port.Dense
		if d, err = m.Embed(t.Context(), port.Passage, []string{"ok"}); err == nil {
			if !slices.Equal(d.Data, []float32{1, 0, 0, 0}) {
				t.Fatalf("a short text has the vector %v", d.Data)
			}
			return
		}
	}
	t.Fatalf("a short text fails: %v", err)
}

// TestStrangerTurnsBad: a module that served well and then fails in any of the
// functions that a call needs gives an error in time, and the next call works.
func TestStrangerTurnsBad(t *testing.T) {
	frame := func(change func([]byte)) []byte {
		b := dense(1, 4, 1, 0, 0, 0).Append(nil)
		change(b)
		return b
	}
	word := func(i int, v uint32) []byte {
		return frame(func(b []byte) { binary.LittleEndian.PutUint32(b[4*i:], v) })
	}
	type turn struct {
		function, evil string
		answer         []byte // that embed gives then
		want           fault.Code
	}
	turns := map[string]turn{}
	for _, f := range []string{abi.FuncAlloc, abi.FuncFree, abi.FuncEmbed} {
		turns[f+" loops"] = turn{f, loop, nil, fault.Timeout}
		turns[f+" recurses for ever"] = turn{f, fib, nil, fault.Timeout}
		turns[f+" overflows the stack"] = turn{f, deep, nil, fault.Upstream}
		turns[f+" is unreachable"] = turn{f, unreachable, nil, fault.Upstream}
		turns[f+" divides by zero"] = turn{f, i32(1) + i32(0) + "\x6d\x1a", nil, fault.Upstream}
		turns[f+" reads outside"] = turn{f, i32(-4) + "\x28\x02\x00\x1a", nil, fault.Upstream}
		turns[f+" grows without end"] = turn{f, grow, nil, fault.Upstream}
		turns[f+" calls through an empty table"] = turn{f, i32(0) + "\x11\x00\x00", nil, fault.Upstream}
	}
	result := func(v string) string { return v + "\x0f" } // and return
	for name, v := range map[string]struct {
		value string
		want  fault.Code
	}{
		"no memory": {i32(0), fault.Upstream}, "far outside": {i32(-16), fault.Upstream},
		"across the end":     {i32(strangerPages<<16 - 8), fault.Upstream},
		"its answer's place": {i32(atAnswer), fault.Upstream}, "the start": {i32(1), ""}, "always the same": {i32(heap), ""},
	} {
		turns["alloc gives "+name] = turn{abi.FuncAlloc, result(v.value), nil, v.want}
	}
	turns["free spoils everything"] = turn{abi.FuncFree, fill, nil, ""}
	for name, v := range map[string]string{
		"nothing": i64(0), "a null pointer": at(0, 48), "outside": at(0xFFFFFF00, 48), "4 GiB": at(16, math.MaxUint32),
		"from the end": at(strangerPages<<16, 1), "beyond 32 bits": i64(-1),
		"its input": "\x20\x00\xad\x42\x20\x86\x20\x01\xad\x84", "no bytes": at(atAnswer, 0), "half a header": at(atAnswer, 16),
	} {
		turns["embed answers "+name] = turn{abi.FuncEmbed, result(v), nil, fault.Upstream}
	}
	for name, b := range map[string][]byte{
		"4 billion rows": word(1, math.MaxUint32), "4 billion dimensions": word(2, math.MaxUint32),
		"a million rows": word(1, 1<<20), "no rows": word(1, 0), "two rows": dense(2, 4, 1, 0, 0, 0, 1, 0, 0, 0).Append(nil),
		"another dimension": dense(1, 3, 1, 0, 0).Append(nil), "no dimension": dense(1, 0).Append(nil),
		"a far body": word(4, math.MaxUint32), "a body in its header": word(4, 4), "far tokens": word(5, math.MaxUint32-3),
		"tokens in its header": word(5, 8), "no tokens": word(5, 0), "another length": word(7, 999),
		"an unknown kind": word(0, 77), "scores": word(0, 2), "terms": word(0, 3), "text": word(0, 4),
		"an error of no code": word(0, 0),
		"NaN":                 dense(1, 4, float32(math.NaN()), 0, 0, 0).Append(nil),
		"infinity":            dense(1, 4, float32(math.Inf(-1)), 0, 0, 0).Append(nil),
		"more tokens than its window": abi.Result{
			Kind:   abi.KindDense,
			Rows:   1,
			Dim:    4,
			Floats: make([]float32, 4),
			Tokens: []uint32{math.MaxUint32},
		}.Append(nil),
		"that it was stopped":      abi.AppendError(nil, abi.Error{Code: abi.CodeStopped, Message: "no"}),
		"a code that there is not": abi.AppendError(nil, abi.Error{Code: 4096, Message: strings.Repeat("\xff\x00", 1<<14)}),
	} {
		want := fault.Upstream
		if name == "that it was stopped" {
			want = fault.Timeout
		}
		turns["embed answers "+name] = turn{abi.FuncEmbed, "", b, want}
	}
	long := strings.Repeat("long ", 400)
	for name, c := range turns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stranger{code: map[string]string{}, sections: map[byte]string{4: "\x01\x70\x00\x01"}}
			switch c.function {
			case abi.FuncAlloc:
				s.code[abi.FuncAlloc] = when(0, c.evil, bump)
			case abi.FuncFree:
				s.code[abi.FuncFree] = when(1, c.evil, reset)
			default:
				good := dense(1, 4, 1, 0, 0, 0).Append(nil)
				evil := c.evil
				if c.answer != nil { // lies behind the good one
					s.answer = append(slices.Clone(good), c.answer...)
					evil = result(at(atAnswer+uint32(len(good)), uint32(len(c.answer))))
				}
				s.code[abi.FuncEmbed] = when(1, evil, at(atAnswer, uint32(len(good))))
			}
			m := open(t, host.Module{Wasm: s.wasm(), Config: []byte("{}")}, limits())
			harmless(t, m)
			for range 2 {
				began := time.Now()
				_, err := m.Embed(t.Context(), port.Passage, []string{long})
				// Timeouts of a machine with many things to do are no failure of the host.
				if got := fault.CodeOf(err); (err == nil) != (c.want == "") ||
					err != nil && got != c.want && got != fault.Timeout {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if took := time.Since(began); took > time.Minute {
					t.Errorf("it took %s", took)
				}
				harmless(t, m)
			}
			if s := m.Stats(); s.Lost != 0 || s.Memory > 2*8<<20 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestStrangerRefused: a module that lies, fails or hangs before it serves is
// refused in time, and the error says why.
func TestStrangerRefused(t *testing.T) {
	with := func(name, body string) stranger { return stranger{code: map[string]string{name: body}} }
	claim := func(text string) stranger {
		return stranger{describe: `{"name":"x","version":"1","tasks":[` + text + `]}`}
	}
	refused := map[string]struct {
		module stranger
		want   string
	}{
		"start loops":              {stranger{start: loop}, "took longer than"},
		"start recurses":           {stranger{start: fib}, "took longer than"},
		"start traps":              {stranger{start: unreachable}, "unreachable"},
		"start overflows":          {stranger{start: deep}, "stack overflow"},
		"_initialize loops":        {with(abi.FuncStart, loop), "took longer than"},
		"_initialize traps":        {with(abi.FuncStart, unreachable), "unreachable"},
		"abi loops":                {with(abi.FuncABI, loop+i32(0)), "took longer than"},
		"abi traps":                {with(abi.FuncABI, unreachable), abi.FuncABI},
		"alloc loops":              {with(abi.FuncAlloc, loop+i32(0)), "took longer than"},
		"alloc is unreachable":     {with(abi.FuncAlloc, unreachable), abi.FuncAlloc},
		"alloc has no memory":      {with(abi.FuncAlloc, i32(0)), "memory"},
		"alloc lies":               {with(abi.FuncAlloc, i32(-1)), "outside the memory"},
		"free loops":               {with(abi.FuncFree, loop), "took longer than"},
		"free traps":               {with(abi.FuncFree, unreachable), abi.FuncFree},
		"open loops":               {with(abi.FuncOpen, loop+i64(0)), "took longer than"},
		"open traps":               {with(abi.FuncOpen, unreachable), abi.FuncOpen},
		"open answers nothing":     {with(abi.FuncOpen, i64(0)), "memory"},
		"open answers 4 GiB":       {with(abi.FuncOpen, at(8, math.MaxUint32)), "answer of 4294967295 bytes"},
		"open answers no frame":    {with(abi.FuncOpen, at(atDescription, 40)), "result frame"},
		"describe loops":           {with(abi.FuncDescribe, loop+i64(0)), "took longer than"},
		"describe traps":           {with(abi.FuncDescribe, unreachable), abi.FuncDescribe},
		"describe answers nothing": {with(abi.FuncDescribe, i64(0)), "outside the memory"},
		"describe lies outside":    {with(abi.FuncDescribe, at(strangerPages<<16-4, 100)), "outside the memory"},
		"describe answers 4 GiB":   {with(abi.FuncDescribe, at(8, math.MaxUint32)), "at most 1048576"},
		"describe is no JSON":      {stranger{describe: "{"}, "unexpected end"},
		"describe is empty":        {with(abi.FuncDescribe, at(atDescription, 0)), "unexpected end"},
		"describe is not UTF-8":    {stranger{describe: `{"name":"` + "\xff" + `"}`}, "UTF-8"},
		"describe nests":           {stranger{describe: strings.Repeat("[", 30000)}, "exceeded max depth"},
		"describe has a long name": {stranger{describe: `{"name":"` + strings.Repeat("x", 300) + `"}`}, "name has 300 bytes"},
		"describe controls":        {stranger{describe: `{"name":"a\u001b[2J"}`}, "control characters"},
		"describe gives a number":  {stranger{describe: `{"name":7}`}, "name"},
		"no tasks":                 {stranger{describe: `{"name":"x","version":"1"}`}, "no task"},
		"an unknown task":          {claim(`{"task":"mine"}`), `"mine"`},
		"a task without export":    {claim(`{"task":"rerank","max_tokens":1}`), "does not export mneme_rerank"},
		"a task twice": {claim(`{"task":"embedding","dim":4,"max_tokens":9},{"task":"embedding","dim":4,` +
			`"max_tokens":9}`), "twice"},
		"no window":                 {claim(`{"task":"embedding","dim":4}`), "window of 0"},
		"a negative window":         {claim(`{"task":"embedding","dim":4,"max_tokens":-1}`), "window of -1"},
		"a huge window":             {claim(`{"task":"embedding","dim":4,"max_tokens":1000000000}`), "window of 1000000000"},
		"no dimensions":             {claim(`{"task":"embedding","max_tokens":9}`), "0 dimensions"},
		"negative dimensions":       {claim(`{"task":"embedding","dim":-4,"max_tokens":9}`), "-4 dimensions"},
		"huge dimensions":           {claim(`{"task":"embedding","dim":65537,"max_tokens":9}`), "65537 dimensions"},
		"dimensions beyond numbers": {claim(`{"task":"embedding","dim":1e99,"max_tokens":9}`), "dim"},
		"a wrong dimension":         {claim(`{"task":"embedding","dim":5,"max_tokens":9}`), "a first call fails"},
		"a trap in the first call":  {with(abi.FuncEmbed, unreachable), "a first call fails"},
		"a loop in the first call":  {with(abi.FuncEmbed, loop+i64(0)), "took longer than"},
		"tokens traps":              {with(abi.FuncTokens, unreachable), "mneme_tokens"},
		"ABI 2.0":                   {with(abi.FuncABI, i32(2<<16)), "ABI 2.0, this host 1.3"},
		"ABI 0.9":                   {with(abi.FuncABI, i32(9)), "ABI 0.9, this host 1.3"},
		"no abi":                    {stranger{leave: []string{abi.FuncABI}}, "does not export mneme_abi"},
		"no free":                   {stranger{leave: []string{abi.FuncFree}}, "does not export mneme_free"},
		"no embed":                  {stranger{leave: []string{abi.FuncEmbed}}, "does not export mneme_embed"},
		"alloc of another type": {stranger{code: map[string]string{abi.FuncAlloc: ""},
			types: map[string]byte{abi.FuncAlloc: typeFree}}, "mneme_alloc as (i32, i32) -> (), it must be (i32) -> (i32)"},
		"embed of another type": {stranger{code: map[string]string{abi.FuncEmbed: "\x20\x00"},
			types: map[string]byte{abi.FuncEmbed: typeAlloc}}, "mneme_embed as (i32) -> (i32)"},
		"no memory":       {stranger{sections: map[byte]string{5: "", 7: "\x00", 11: ""}}, "does not export mneme_"},
		"a hidden memory": {stranger{sections: map[byte]string{7: hidden()}}, `its memory as "memory"`},
		"too much memory": {stranger{sections: map[byte]string{5: "\x01\x00" + num(8*16+1)}}, "which memory_mb sets"},
		"all memory":      {stranger{sections: map[byte]string{5: "\x01\x00" + num(65536)}}, "which memory_mb sets"},
		"a huge table": {stranger{sections: map[byte]string{4: "\x01\x70\x00" + num(1<<27)}},
			"a table of 134217728 entries"},
		"many tables": {stranger{sections: map[byte]string{4: "\xe8\x07" + strings.Repeat("\x70\x00\x01", 1000)}},
			"1000 tables"},
		"an unknown import":         {stranger{imports: []string{"env.abort"}}, "env.abort, which ABI 1.3 does not have"},
		"an unknown function":       {stranger{imports: []string{"mneme.files"}}, "mneme.files, which"},
		"an import of another type": {stranger{imports: []string{"mneme.poll"}}, "signature mismatch"},
		"WASI that there is not":    {stranger{imports: []string{"wasi_snapshot_preview1.sock_open"}}, "sock_open"},
		"a borrowed memory": {stranger{sections: map[byte]string{2: "\x01" + vec("env") + vec("memory") + "\x02\x00\x01",
			5: ""}}, "env"},
		"shared memory":        {stranger{sections: map[byte]string{5: "\x01\x03\x01\x02"}}, "compile"},
		"two memories":         {stranger{sections: map[byte]string{5: "\x02\x00\x01\x00\x01"}}, "compile"},
		"code that ends early": {stranger{sections: map[byte]string{10: "\x05"}}, "malformed"},
		"code for nobody":      {stranger{sections: map[byte]string{10: "\x00"}}, "compile"},
		"data outside":         {stranger{sections: map[byte]string{11: "\x01\x00" + i32(-1) + "\x0b\x01x"}}, "instantiate"},
	}
	for name, c := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := limits()
			o.StartTimeout = 500 * time.Millisecond
			if !strings.Contains(c.want, "took longer") {
				o.StartTimeout = 30 * time.Second
			}
			var (
				m     *host.Model
				err   error
				began time.Time
			)
			// Compiling has the same limit. A machine that is too busy to
			// compile within it gets a longer one, since the module is to be
			// what is refused.
			for {
				began = time.Now()
				m, err = host.Open(t.Context(), host.Module{Wasm: c.module.wasm(), Config: []byte("{}")}, o)
				if err == nil || !strings.Contains(err.Error(), "compile: it takes longer") || o.StartTimeout > 10*time.Second {
					break
				}
				o.StartTimeout *= 4
			}
			if err == nil {
				m.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not mention %q", err, c.want)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// hidden exports the functions and no memory.
func hidden() string {
	out := num(uint64(len(names())))
	for i, name := range names() {
		out += vec(name) + "\x00" + num(uint64(1+i))
	}
	return out
}

// TestStrangerServes: modules that need nothing of the host, have other memories
// than most, or export what they do not claim, are served.
func TestStrangerServes(t *testing.T) {
	for name, s := range map[string]stranger{
		"plain":             {},
		"memory of a limit": {sections: map[byte]string{5: "\x01\x01" + num(strangerPages) + num(strangerPages)}},
		"large memory":      {sections: map[byte]string{5: "\x01\x01" + num(100) + num(65536)}},
		"a table":           {sections: map[byte]string{4: "\x02\x70\x00\x05\x6f\x01\x00\x00"}},
		"a start function":  {start: "\x01"},
		"_initialize":       {code: map[string]string{abi.FuncStart: "\x01"}},
		"ABI 1.9":           {code: map[string]string{abi.FuncABI: i32(1<<16 | 9)}},
		"more exports":      {code: map[string]string{"other": i64(0), abi.FuncGenerate: i64(0)}},
		"tokens refused": {code: map[string]string{abi.FuncTokens: at(atAnswer+1<<15, uint32(len(noTokens())))},
			answer: append(append(dense(1, 4, 1, 0, 0, 0).Append(nil),
				make([]byte, 1<<15-len(dense(1, 4, 1, 0, 0, 0).Append(nil)))...), noTokens()...)},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "tokens refused" {
				s.code[abi.FuncEmbed] = at(atAnswer, uint32(len(dense(1, 4, 1, 0, 0, 0).Append(nil))))
			}
			o := limits()
			o.CallTimeout = 10 * time.Second
			m := open(t, host.Module{Wasm: s.wasm(), Config: []byte("{}")}, o)
			harmless(t, m)
			if m.Counts() || m.Tokenizes() {
				t.Error("it counts or gives ids")
			}
		})
	}
}

func noTokens() []byte {
	return abi.AppendError(nil, abi.Error{Code: abi.CodeUnsupported, Message: "no"})
}

// TestSecretsInErrors: a module that repeats a secret setting in an error tells it to nobody.
func TestSecretsInErrors(t *testing.T) {
	answer := abi.AppendError(nil,
		abi.Error{Code: abi.CodeInvalid, Message: strings.Repeat("x", 500) + "the key swordfish is old"})
	_, err := host.Open(t.Context(), host.Module{Wasm: stranger{answer: answer}.wasm(), Config: []byte(`{"key":"swordfish"}`),
		Secrets: []string{"swordfish"}}, limits())
	if err == nil || !strings.Contains(err.Error(), "xthe key ****") || strings.Contains(err.Error(), "swo") {
		t.Errorf("got %v", err)
	}
}

// TestCapabilities: a module gets the imports that its manifest names and no others.
func TestCapabilities(t *testing.T) {
	for name, c := range map[string]struct {
		allow []abi.Capability
		want  string
	}{
		"all":     {nil, ""},
		"named":   {abi.Capabilities(), ""},
		"none":    {[]abi.Capability{}, "its manifest does not name the capability"},
		"missing": {[]abi.Capability{abi.CapabilityAssets, abi.CapabilityLog, abi.CapabilityEmit}, `"tensors"`},
	} {
		t.Run(name, func(t *testing.T) {
			module := hostile(t, host.Enforced)
			module.Allow = c.allow
			m, err := host.Open(t.Context(), module, limits())
			if err == nil {
				defer m.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestFlood: a module can fill neither log nor answer, and what it logs is one
// harmless line.
func TestFlood(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	o := limits()
	o.CallTimeout, o.Log = time.Minute, slog.New(slog.NewTextHandler(writer(func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		log.Write(b)
	}), nil))
	m := open(t, hostile(t, host.Enforced), o)
	began := time.Now()
	if _, err := m.Embed(t.Context(), port.Passage, []string{"flood"}); err != nil {
		t.Fatal(err)
	}
	most := 21 * (2 + int(time.Since(began)/time.Second))
	mu.Lock()
	defer mu.Unlock()
	if n := strings.Count(log.String(), "\n"); n < 1 || n > most {
		t.Errorf("100,000 lines of the module are %d in the log, at most %d were expected", n, most)
	}
	if strings.ContainsAny(log.String(), "\x1b") || !strings.Contains(log.String(), "flood [2J flood") {
		t.Errorf("the log has %.200q", log.String())
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// TestHeavyTensors: work in the host's kernels that no deadline could stop is refused.
func TestHeavyTensors(t *testing.T) {
	o := limits()
	o.MemoryMB, o.CallTimeout = 64, time.Minute
	m := open(t, hostile(t, host.Enforced), o)
	if _, err := m.Embed(t.Context(), port.Passage, []string{"heavy"}); err != nil {
		t.Fatal(err)
	}
}

// TestOthersGoOn: while strangers loop on every instance, another model of the
// process answers, and the process collects its garbage.
func TestOthersGoOn(t *testing.T) {
	shared := host.NewShared()
	o := limits()
	o.Shared, o.Instances, o.CallTimeout = shared, 4, time.Hour
	evil := open(t, host.Module{Wasm: stranger{code: map[string]string{abi.FuncEmbed: when(1, fib, at(atAnswer, 52))}}.wasm(),
		Config: []byte("{}")}, o)
	o.CallTimeout = 30 * time.Second
	good := open(t, host.Module{Wasm: stranger{}.wasm(), Config: []byte("{}")}, o)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { _, _ = evil.Embed(ctx, port.Passage, []string{strings.Repeat("long ", 400)}) })
	}
	for i := range 50 {
		garbage := make([][]byte, 100)
		for j := range garbage {
			garbage[j] = make([]byte, 1<<14)
		}
		if _, err := good.Embed(t.Context(), port.Query, []string{fmt.Sprint(i, len(garbage))}); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	wg.Wait()
	harmless(t, evil)
}

// FuzzStranger: a module of any description and any answer never makes the host
// panic; it is refused, or a call gives a vector or an error.
func FuzzStranger(f *testing.F) {
	f.Add(described, dense(1, 4, 1, 0, 0, 0).Append(nil))
	f.Add(`{"name":"x","tasks":[{"task":"embedding","dim":1,"max_tokens":1}]}`, dense(1, 1, 1).Append(nil))
	f.Fuzz(func(t *testing.T, describe string, answer []byte) {
		if describe == "" || len(describe) > 1<<16 || len(answer) > 1<<16 {
			return
		}
		m, err := host.Open(t.Context(),
			host.Module{Wasm: stranger{describe: describe, answer: answer}.wasm(), Config: []byte("{}")}, limits())
		if err != nil {
			return
		}
		defer m.Close()
		d, err := m.Embed(t.Context(), port.Passage, []string{"x"})
		if err == nil && (len(d.Data) != m.Info().Dimensions || len(d.Tokens) != 1) {
			t.Errorf("%+v of %+v", d, m.Info())
		}
	})
}
