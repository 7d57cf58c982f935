// Package reranksmall holds what the default reranker adds to the weights of the
// default embedder, e5-small-v2: a head for late interaction (see pack.Late and
// pack.File.Extend). Where they come from: wasm/models/README.md.
package reranksmall

import (
	_ "embed"
	"unsafe"
)

//go:embed rerank-small.safetensors
var extension string

// Extension is the extension's bytes. They lie in the program's read-only pages:
// writing to them faults.
func Extension() []byte { return unsafe.Slice(unsafe.StringData(extension), len(extension)) }
