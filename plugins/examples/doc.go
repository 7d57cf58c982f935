// Package examples holds the model backends that a vendor starts from: go and
// python, each a folder that stands by itself.
package examples
