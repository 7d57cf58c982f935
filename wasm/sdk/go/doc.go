// Package mneme is what a model in Go imports: it speaks the Mneme model ABI
// (wasm/abi/ABI.md), the model computes. Fill in a Model and register it in an
// init function; main is never called:
//
//	func init() {
//		mneme.Register(mneme.Model{Description: ..., Embed: embed})
//	}
//
//	func main() {}
//
// Build it as a WASI reactor:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags=-s -o model.wasm .
//
// Built for another system, the same code runs in ordinary tests: an asset is then
// the file of its name, and the log is standard error.
package mneme
