// Package source is what connectors share, a folder a kind below: names of items that
// any path fits into, the choice of files by patterns, bounded reading.
//
// A kind whose items have paths (directory, git, s3) gives an item its path as its key.
package source
