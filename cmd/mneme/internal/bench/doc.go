// Package bench runs one workload of writes and queries over several sets of
// backends through the API and compares them: throughput, latency, processor
// time, memory, disk, and how far the answers agree.
//
// A set is a server that runs already, or a configuration, for which this program
// starts a server of its own as a child process: then its processor time and
// memory can be told apart. In databases the set's data is isolated
// (registry.Kind.Isolate), so that one in use can be measured.
package bench
