//go:build !wasip1

package mneme

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/mnemehq/mneme/wasm/abi"
)

// export does nothing: no host calls a program built for another system.
func export(Model) {}

// Asset reads a file that model.json lists; here, the file of that name.
func Asset(name string) ([]byte, error) { return os.ReadFile(name) }

// Log writes a line to the host's log; here, to standard error.
func Log(level Level, text string) { fmt.Fprintln(os.Stderr, "module:", text) }

// Stop tells whether the call may end: its caller is gone or its time is up. A
// model that works long asks every millisecond and returns ErrStopped.
func Stop() bool { return false }

// ErrStopped is what an operation returns when Stop told it to end.
var ErrStopped error = &abi.Error{Code: abi.CodeStopped, Message: "stopped"}

// There are tokenizers in a host only.
func tokenizerOpen(unsafe.Pointer, uint32) uint32 { return 0 }

func tokenize(uint32, unsafe.Pointer, uint32, unsafe.Pointer, uint32) uint32 { return abi.TokenizeBad }

func tokenID(uint32, unsafe.Pointer, uint32) uint32 { return abi.TokenizeBad }
