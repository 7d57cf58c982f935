// Package remotetest holds servers for tests of remote models. Each speaks one
// provider's dialect as its public documentation says: it asks for the key,
// refuses what the provider refuses with the provider's error bodies and limits,
// and answers in the provider's formats, results in the provider's order. Unknown
// fields are refused everywhere, so that a misspelt one cannot pass unseen.
// Behind a dialect stands a Model: hashed words, or a real one. Faults can be put
// in front of any of them.
package remotetest
