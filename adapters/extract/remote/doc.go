// Package remote has files read by a server that the operator runs: Apache Tika for formats
// that nothing in this process reads, docling-serve for scans. It is the only reader whose
// files leave the process.
package remote
