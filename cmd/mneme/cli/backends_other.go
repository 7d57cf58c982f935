//go:build !linux

package cli

import "errors"

// canListProcesses is whether this system reports which processes a program has started.
const canListProcesses = false

func backendPIDs([]string) []int { return nil }

func residentBytes([]int) int64 { return 0 }

func killBackends([]string) error { return errors.ErrUnsupported }
