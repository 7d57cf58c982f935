// Package engine builds the product out of its ports: it makes the services,
// mounts their operations on one op.Set, and runs the background work.
package engine
