// Package sdk is what a vendor of a Go backend imports: a type with the methods of
// core/port for its tasks, and one call of Serve in main.
//
//	func main() { sdk.Serve(newModel()) }
//
// The backend is built as any program, and an operator names it in the
// configuration:
//
//	models: {acme: {process: {command: ["./acme"], sha256: "..."}}}
package sdk
