// Package tenants holds the proof that one organization can't stop another: on the
// real binary with the built-in models, whatever the keys of the first one do (slow and
// exploding bodies, floods of each operation, connections and imports held open), no
// call of the second one fails.
//
// How much slower its calls get is measured and printed as a table: for each kind of load
// the second one makes its calls one after the other, alone and under the load by turns,
// so that what else the machine does weighs on both. A test fails for that only with
// -ratio, as make test-tenants does, since it depends on the machine; -turns and -rounds
// say how often each call is made. A p95 of a few calls is one of the worst of them and
// differs from run to run: make test-tenants takes it of 400.
//
// The first one's client is a process of its own that sends what is prepared and computes
// little, at the lowest priority where there is nice: on one machine it takes the processors
// that the server leaves, and not those that a client elsewhere would have of its own. It
// asks again as soon as it is answered, on so many connections as the load says. The second
// one's client shares the processors with the server in both phases.
package tenants
