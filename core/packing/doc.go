// Package packing has the packed forms of chunk layouts and vectors: what SQL
// stores keep in their columns and data sets carry in their lines. A form begins
// with its version and is the same for the same data; every other bytes are
// refused.
package packing
