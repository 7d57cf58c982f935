// Package spladetiny holds the default learned-sparse encoder, SPLADE-tiny, as a
// pack (see wasm/models/pack). Where the weights come from: wasm/models/README.md.
package spladetiny

import (
	_ "embed"
	"unsafe"
)

//go:embed splade-tiny.safetensors
var weights string

// Pack is the pack's bytes. They lie in the program's read-only pages: writing to
// them faults.
func Pack() []byte { return unsafe.Slice(unsafe.StringData(weights), len(weights)) }
