// Package replica registers this process among those that serve over one store, by a
// lease that it renews and on which its claims to background work depend. A process
// that dies stops renewing, which frees its work for the others. One that slept past
// its lease begins a new life and has lost its claims.
package replica
