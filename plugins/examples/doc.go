// Package examples holds the model backends that a vendor starts from: go and
// python, each a folder that stands by itself.
//
// May import: the standard library; the Go example also plugins/sdk, core/port.
package examples
