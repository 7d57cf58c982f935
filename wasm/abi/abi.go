package abi

import "fmt"

// The version this code speaks. A module of another major is refused.
const (
	Major = 1
	Minor = 3

	MinorSettings = 2 // since it manifests may declare settings
)

// Version splits the number that mneme_abi returns.
func Version(v uint32) (major, minor int) { return int(v >> 16), int(v & 0xFFFF) }

// The modules that a guest may import from.
const (
	Module        = "mneme"                  // assets, tokenizers, log, emit, poll
	ModuleTensors = "mneme_nn"               // optional tensor operations
	ModuleWASI    = "wasi_snapshot_preview1" // for languages that need it
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

	MaxResult      = 1 << 28 // bytes of a result that the host takes
	MaxDescription = 1 << 20 // bytes of mneme_describe
	MaxName        = 1 << 12 // bytes of an asset's name

	maxMessage = 512 // bytes of an error's message that are kept

	requestHeader = 16
	resultHeader  = 32
	flagQuery     = 1
	frameVersion  = 1
)

// What tokenize and token_id answer beside a number of tokens or a token.
const (
	TokenizeInvalid = 1<<32 - 1 // the text is not UTF-8; token_id: there is no such token
	TokenizeBad     = 1<<32 - 2 // a handle or pointer is wrong
	TokenizeStopped = 1<<32 - 3 // give up, as poll says
	TokenizeFailed  = 1<<32 - 4 // the tokenizer's pattern takes too long on this text
)

// Pack joins a pointer and a length as the module's functions return them.
func Pack(ptr, n uint32) uint64 { return uint64(ptr)<<32 | uint64(n) }

// Unpack is the inverse of Pack.
func Unpack(v uint64) (ptr, n uint32) { return uint32(v >> 32), uint32(v) }

// Capability is a group of imports that a module may use. Manifests name those
// that a module needs.
type Capability string

// The capabilities. None reaches outside the process.
const (
	CapabilityAssets     Capability = "assets"     // asset_size, asset_read
	CapabilityTokenizers Capability = "tokenizers" // tokenizer_open, tokenize, token_id
	CapabilityLog        Capability = "log"        // log
	CapabilityEmit       Capability = "emit"       // emit
	CapabilityTensors    Capability = "tensors"    // everything of mneme_nn
	CapabilityWASI       Capability = "wasi"       // WASI preview 1, without files, network, arguments or a real clock
)

// Capabilities lists every capability.
func Capabilities() []Capability {
	return []Capability{CapabilityAssets, CapabilityTokenizers, CapabilityLog, CapabilityEmit, CapabilityTensors, CapabilityWASI}
}

// CapabilityOf is the capability that an import belongs to: "" for poll, which
// any module may call. False when a host of this version has no such import;
// which functions WASI has is for its host to say.
func CapabilityOf(module, name string) (Capability, bool) {
	switch module {
	case Module:
		switch name {
		case "asset_size", "asset_read":
			return CapabilityAssets, true
		case "tokenizer_open", "tokenize", "token_id":
			return CapabilityTokenizers, true
		case "log":
			return CapabilityLog, true
		case "emit":
			return CapabilityEmit, true
		case "poll":
			return "", true
		}
	case ModuleTensors:
		switch name {
		case "linear_open", "linear", "linear_max", "attention", "add_norm":
			return CapabilityTensors, true
		}
	case ModuleWASI:
		return CapabilityWASI, true
	}
	return "", false
}
