// Package endurance says what becomes of the product in the long run. The real binary is
// killed with SIGKILL over and over while clients of two organizations use it, and then
// serves all operations together for a time: writes, queries, erasures, reindexing, data
// sets in and out, keys that come and go, reloads. Each client knows what it was
// answered, so that what is lost, doubled, stale or leaked is counted, and any of it
// fails the test.
//
// Usually that is a few kills and seconds. `make endurance` takes a thousand and an hour,
// and prints latencies by the minute, memory and descriptors.
//
// It reads /proc, so the tests run on Linux only.
package endurance
