// Package apitest holds the tests of the assembled server: real HTTP requests
// to the engine over a real store and a real index, with a small deterministic
// embedder in place of a model. What the tests assert is the published
// interface; a backend set joins by adding its opener to the table in
// harness_test.go.
//
// May import: everything. It holds tests alone.
package apitest
