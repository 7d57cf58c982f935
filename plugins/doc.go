// Package plugins is the place of out-of-process model backends: the process
// protocol (proto), what starts and supervises backends (host), what a Go vendor
// imports (sdk), and backends to start from (examples). It holds no code
// itself, and embeds what a new project in Go is made of.
package plugins
