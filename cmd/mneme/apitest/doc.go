// Package apitest holds the tests of the assembled server: real HTTP requests
// to the engine over a real store and a real index, with a small deterministic
// embedder in place of a model. What the tests assert is the published
// interface. The sets of backends are those of configs/examples; another one joins
// by its line in backends of harness_test.go.
//
// May import: everything. It holds tests alone.
package apitest
