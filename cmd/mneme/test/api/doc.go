// Package api holds the tests of the assembled server, as `mneme serve` puts it
// together: real HTTP requests to the engine over a real store and a real index, with
// a small deterministic embedder in place of a model. What the tests assert is the
// published interface. The sets of backends are those of configs/examples; another
// one joins by its line in backends of backends_test.go. A test runs over each set,
// over one set of each store, or over one alone, by what it can find different.
//
// It holds tests only.
package api
