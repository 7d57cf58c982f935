// Package host runs model modules (wasm/abi) in this process on wazero: compiled
// once, a pool of instances, queries before scores before passages, a ceiling on
// memory and time for every call, and answers checked before they are believed.
// A module embeds, encodes into terms, or reranks; what it does its Info says.
//
// Models that are opened with one Shared hold equal packed weights once: the
// built-in reranker over the embedder's body takes its own head and no more.
//
// # Stopping a call
//
// A module can be stopped in two ways. Enforced: wazero checks on every loop
// iteration whether the context is done and closes the instance; any module can
// be stopped so, and pays for it. Cooperative: the module calls the import
// "poll" now and then and gives up when told. Measured on the built-in encoder
// (BenchmarkInterrupt, 128 tokens, its own loops): 1024 ms enforced, 250 ms
// cooperative. So the built-in encoder, which polls about every millisecond, runs
// cooperatively, and modules of strangers are enforced. Either way the caller of
// Embed returns at once when its context ends; what stops a little later is the
// instance.
//
// wazero does not ask when a function is called, so a stranger's module is first
// rewritten (guard.go): a recursion without loops would run for ever. Whatever it
// answers is checked against what it claims, in a first call at the start and in
// every call after; an instance that answers out of shape is discarded.
//
// Polling has a second use. Go can interrupt neither compiled WebAssembly nor an
// assembly kernel: a module that runs long without calling the host holds up the
// garbage collector, and with it the whole process.
package host
