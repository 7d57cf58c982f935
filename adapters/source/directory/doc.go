// Package directory follows a folder of this machine, such as a share that is mounted.
//
// A folder has to lie in one that the operator has opened to sources, and nothing outside of
// the source's own folder is read: no link leaves it, whatever it names and whenever it is
// changed. A listing costs one look at each file; what is unchanged by size and time is
// not read.
package directory
