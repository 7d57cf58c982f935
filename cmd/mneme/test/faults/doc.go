// Package faults holds the tests of what the product survives: the real
// binary, built once, is killed, starved of disk, given damaged files, flooded
// and neglected by its clients, over real HTTP with the built-in model.
//
// MNEME_FAULT_ROUNDS raises the number of rounds of the loops.
//
// It reads /proc, so the tests run on Linux only.
package faults
