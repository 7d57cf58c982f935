// Package abitest checks modules and the host together: golden vectors and token
// ids of the built-in encoder, every task against the same network in float64, leaks, retained input, hostile frames, traps,
// deadlines and the pool.
package abitest
