//go:build unix

package datadir

// holderFile says who has the folder.
const holderFile = lockFile
