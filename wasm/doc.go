// Package wasm holds what a vendor's new project begins with: the SDKs and the
// example models of the folders below.
package wasm
