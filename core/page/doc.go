// Package page makes the opaque cursors of keyset-paged lists: signed, and
// bound to the route and its parameters, so that a cursor can neither be forged
// nor carried over to another list.
package page
