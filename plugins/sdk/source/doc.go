// Package source is what a vendor of a connector in Go imports: a type with the methods
// of port.Connector, and one call of Serve in main.
//
//	func main() { source.Serve("acme", "1.0.0", newConnector()) }
//
// The program is built as any other, and an operator names it in the configuration:
//
//	sources: {enabled: true, plugins: {acme: {process: {command: ["./acme"], sha256: "..."}}}}
package source
