package mneme

import (
	"errors"
	"fmt"
	"runtime/debug"
	"unsafe"

	"github.com/mnemehq/mneme/wasm/abi"
)

// registered is the module's model. A module is one model, and the host calls
// exported functions, which have no other way to it.
var registered Model

// export also makes the collector keep garbage to a quarter of what lives, and a
// small heap to 1 MB: the host runs one instance a core, and an instance never
// gives memory back.
func export(m Model) {
	registered = m
	debug.SetGCPercent(25)
}

// buffers keeps what the host holds pointers to from the garbage collector.
var buffers = map[uint32][]byte{}

// hold makes a buffer of n bytes. Sizes that are multiples of 16 lie at multiples of 16.
func hold(n uint32) (uint32, []byte) {
	b := make([]byte, max(16, (uint64(n)+15)&^15))
	at := uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	buffers[at] = b
	return at, b[:n]
}

func give(answer []byte) uint64 {
	at, b := hold(uint32(len(answer)))
	copy(b, answer)
	return abi.Pack(at, uint32(len(answer)))
}

func serve(function string, p, n uint32) uint64 {
	return give(registered.Serve(function, buffers[p][:n]))
}

//go:wasmexport mneme_abi
func exportABI() uint32 { return abi.Major<<16 | abi.Minor }

//go:wasmexport mneme_alloc
func exportAlloc(n uint32) uint32 {
	at, _ := hold(n)
	return at
}

//go:wasmexport mneme_free
func exportFree(p, n uint32) { delete(buffers, p) }

//go:wasmexport mneme_describe
func exportDescribe() uint64 { return give(registered.describe()) }

//go:wasmexport mneme_open
func exportOpen(p, n uint32) uint64 { return serve(abi.FuncOpen, p, n) }

//go:wasmexport mneme_embed
func exportEmbed(p, n uint32) uint64 { return serve(abi.FuncEmbed, p, n) }

//go:wasmexport mneme_sparse
func exportSparse(p, n uint32) uint64 { return serve(abi.FuncSparse, p, n) }

//go:wasmexport mneme_rerank
func exportRerank(p, n uint32) uint64 { return serve(abi.FuncRerank, p, n) }

//go:wasmexport mneme_tokens
func exportTokens(p, n uint32) uint64 { return serve(abi.FuncTokens, p, n) }

//go:wasmimport mneme asset_size
func assetSize(name unsafe.Pointer, n uint32) uint64

//go:wasmimport mneme asset_read
func assetRead(name unsafe.Pointer, n uint32, off uint64, dst unsafe.Pointer, m uint32) uint32

//go:wasmimport mneme tokenizer_open
func tokenizerOpen(name unsafe.Pointer, n uint32) uint32

//go:wasmimport mneme tokenize
func tokenize(handle uint32, text unsafe.Pointer, n uint32, ids unsafe.Pointer, room uint32) uint32

//go:wasmimport mneme token_id
func tokenID(handle uint32, token unsafe.Pointer, n uint32) uint32

//go:wasmimport mneme log
func log(level uint32, p unsafe.Pointer, n uint32)

//go:wasmimport mneme poll
func poll() uint32

// Asset reads a file that model.json lists.
func Asset(name string) ([]byte, error) {
	p, n := unsafe.Pointer(unsafe.StringData(name)), uint32(len(name))
	size := assetSize(p, n)
	if size > 1<<31 {
		return nil, fmt.Errorf("the asset %s is missing", name)
	}
	b := make([]byte, size)
	if assetRead(p, n, 0, unsafe.Pointer(unsafe.SliceData(b)), uint32(size)) != 0 {
		return nil, errors.New("the asset " + name + " cannot be read")
	}
	return b, nil
}

// Log writes a line to the host's log, which keeps 1 KiB of it and some lines a second.
func Log(level Level, text string) {
	log(uint32(level), unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}

// Stop tells whether the call may end: its caller is gone or its time is up. A
// model that works long asks every millisecond and returns ErrStopped.
func Stop() bool { return poll() != 0 }

// ErrStopped is what an operation returns when Stop told it to end.
var ErrStopped error = &abi.Error{Code: abi.CodeStopped, Message: "stopped"}
