// Package abi is the contract between the host and a model module: version,
// names, frames. ABI.md in this folder is its specification.
//
// May import: the standard library.
package abi
