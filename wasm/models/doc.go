// Package models knows the built-in models and opens packs: it puts together
// what wasm/host runs. README.md in this folder tells where weights come from
// and how the committed files are made.
package models
