// Package query is the service that finds chunks in a namespace.
package query
