// Package abi is the contract between the host and a model module: version,
// names, frames. ABI.md in this folder is its specification.
package abi
