//go:build !unix

package datadir

// Private reports nothing here: who may write into a folder is not in its mode.
func Private(string) (private bool, err error) { return true, nil }
