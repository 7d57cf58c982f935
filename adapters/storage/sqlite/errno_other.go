//go:build !unix

package sqlite

func readOnlyFilesystem(error) bool { return false }

func diskFull(error) bool { return false }
