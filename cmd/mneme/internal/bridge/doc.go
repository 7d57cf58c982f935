// Package bridge carries the Model Context Protocol between standard input and
// output, as desktop clients speak it with a program that they start, and a
// server's endpoint over HTTP.
package bridge
