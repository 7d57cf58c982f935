// Package wasm is the model adapter that runs models inside this process, in
// WebAssembly. Choose it for a model that needs no other program and no network:
// the default embedder comes with the binary. It costs about 30 MB for the
// weights, some 10 MB an instance, and the processor time of the texts.
//
// May import: wasm/host, wasm/models, core/port, core/fault, core/registry.
package wasm
