// Package wasm is the model adapter that runs models inside this process, in
// WebAssembly: embedders, learned-sparse encoders and rerankers. Choose it for a
// model that needs no other program and no network: one of each task comes with
// the binary. The models opened through one registry hold equal weights once. The
// built-in embedder costs about 30 MB for them, the sparse encoder 10 MB and the
// reranker, which works on the embedder's, next to nothing; an instance takes some
// 10 MB more, and the texts the processor's time.
package wasm
