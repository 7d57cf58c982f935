package abi

import "fmt"

// The version this code speaks. A module of another major is refused.
const (
	Major = 1
	Minor = 1
)

// Version splits the number that mneme_abi returns.
func Version(v uint32) (major, minor int) { return int(v >> 16), int(v & 0xFFFF) }

// The modules that a guest may import from.
const (
	Module        = "mneme"    // assets, log, emit, poll
	ModuleTensors = "mneme_nn" // optional tensor operations
)

// The functions of a module. A guest exports the operations it offers.
const (
	FuncABI      = "mneme_abi"
	FuncAlloc    = "mneme_alloc"
	FuncFree     = "mneme_free"
	FuncDescribe = "mneme_describe"
	FuncOpen     = "mneme_open"
	FuncEmbed    = "mneme_embed"
	FuncSparse   = "mneme_sparse"
	FuncRerank   = "mneme_rerank"
	FuncGenerate = "mneme_generate"
	FuncTokens   = "mneme_tokens"
	FuncIDs      = "mneme_ids"
	FuncStart    = "_initialize" // called once where a module exports it (WASI reactors)
)

// Kind says what a result frame holds.
type Kind uint32

// The kinds of result.
const (
	KindError  Kind = 0
	KindDense  Kind = 1
	KindScores Kind = 2
	KindSparse Kind = 3
	KindText   Kind = 4
	KindCounts Kind = 5
	KindIDs    Kind = 6
)

// Code says why a module failed.
type Code uint32

// The codes of an error frame.
const (
	CodeInvalid     Code = 1 // the input is at fault
	CodeTooLong     Code = 2 // the input is too large for this module
	CodeUnsupported Code = 3 // the module doesn't do this
	CodeMemory      Code = 4 // out of memory
	CodeInternal    Code = 5
	CodeStopped     Code = 6 // the host asked to stop (poll)
)

// Error is an error frame.
type Error struct {
	Code    Code
	Message string // the module's words: for the log, and for a caller when Code is CodeInvalid or CodeTooLong
}

func (e *Error) Error() string { return fmt.Sprintf("module error %d: %s", e.Code, e.Message) }

// Limits of a frame: a reader refuses more before it allocates.
const (
	MaxRows  = 1 << 20
	MaxDim   = 1 << 16
	MaxFrame = 1 << 30 // bytes

	requestHeader = 16
	resultHeader  = 32
	flagQuery     = 1
	frameVersion  = 1
)

// Pack joins a pointer and a length as the module's functions return them.
func Pack(ptr, n uint32) uint64 { return uint64(ptr)<<32 | uint64(n) }

// Unpack is the inverse of Pack.
func Unpack(v uint64) (ptr, n uint32) { return uint32(v >> 32), uint32(v) }
