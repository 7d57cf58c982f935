// Package plugins is the place of out-of-process model backends: the process
// protocol (proto), what starts and supervises backends (host), and what a Go
// vendor imports (sdk). This version runs models in process only, through
// wasm/host, so the folder holds no code yet.
//
// May import: core/port, go-plugin, grpc. Must not: adapters, transports.
package plugins
