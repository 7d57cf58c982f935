// Package registry holds the typed tables of components that a binary carries:
// which stores, indexes, models and limiters exist, what configuration each takes
// and how each is opened. A table is a value; there is no global one. An adapter
// package exports one func Register(*Registry) that adds its components, and a
// vendor's own binary is the stock one with one more such call.
//
// The life of a component: its Default makes a configuration struct, the
// operator's file is decoded over it, its optional Validate() error is asked,
// Open turns it into a port. Nothing runs before Open.
package registry
