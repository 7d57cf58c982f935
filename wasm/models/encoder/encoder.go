// Package encoder holds the built-in modules: a BERT-family text encoder, built from
// wasm/guest/c by wasm/models/build.sh: with BERT's uncased tokenizer in it, for the
// tokenizers of a host, and for these with further architectures.
package encoder

import _ "embed"

//go:embed encoder.wasm
var module string

//go:embed hosted.wasm
var hosted string

//go:embed general.wasm
var general string

// Module is the module with a tokenizer in it. Its bytes are part of what namespaces
// record of a model, so they stay as they are.
func Module() []byte { return []byte(module) }

// Hosted is the module that leaves tokenizing to the host.
func Hosted() []byte { return []byte(hosted) }

// General is the module for packs of format 3: what Hosted does, rotary encoders, layers
// behind the pooling and fewer dimensions.
func General() []byte { return []byte(general) }
