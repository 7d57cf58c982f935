// Package replica keeps this process's place among those that serve over one
// store: a lease that it renews, on which its claims to background work hang. A
// process that dies stops renewing, and its work is free to the others; one that
// slept past its lease begins a new life and has lost what it had claimed.
package replica
