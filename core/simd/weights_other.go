//go:build !linux

package simd

// weightRoom is n zeros for the weights of a layer.
func weightRoom(n int) []int8 { return make([]int8, n) }
