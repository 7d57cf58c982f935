// Package namespace is the service of namespaces: create, list, read, delete.
package namespace
