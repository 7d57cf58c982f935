//go:build !linux && !darwin && !freebsd

package sqlite

func room(string) (bytes uint64, known bool) { return 0, false }
