// Package tenants holds the proof that one organization can't stop another: on the
// real binary with the built-in models, whatever the keys of the first one do (slow and
// exploding bodies, floods of each operation, connections and imports held open), no
// call of the second one fails.
//
// How much slower its calls get is measured and printed. A test fails for that only
// with -ratio, as make test-tenants does, since it depends on the machine.
package tenants
