// Package encoder holds the built-in module: a BERT-family text encoder with
// its tokenizer, built from wasm/guest/c by wasm/models/build.sh.
package encoder

import _ "embed"

//go:embed encoder.wasm
var module string

// Module is the module's bytes.
func Module() []byte { return []byte(module) }
