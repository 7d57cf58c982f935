// Package transfer moves the data of an installation: as a data set (core/dataset),
// which is a file of JSON lines, or straight from one store into another.
//
// May import: core/dataset, core/packing, core/port, core/ident, core/fault, the
// standard library.
package transfer
