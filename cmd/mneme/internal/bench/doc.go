// Package bench runs one workload of writes and queries over several sets of
// backends through the API and compares them: throughput, latency, processor
// time, memory, disk, and how far the answers agree.
//
// May import: cmd/mneme/internal/client and evaluate, core/port, the services'
// wire types, pgx to ask a database for its size.
package bench
