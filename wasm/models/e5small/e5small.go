// Package e5small holds the default embedder, e5-small-v2, as a pack (see
// wasm/models/pack). Where the weights come from: wasm/models/README.md.
package e5small

import (
	_ "embed"
	"unsafe"
)

//go:embed e5-small-v2.safetensors
var weights string

// Pack is the pack's bytes. They lie in the program's read-only pages, shared by
// every process of it and loaded as they are used: writing to them faults.
func Pack() []byte { return unsafe.Slice(unsafe.StringData(weights), len(weights)) }
