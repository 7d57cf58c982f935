// Package event tells what has happened in an organization, once it is true.
//
// Recorder is a store that writes events into the transactions that make them happen: it
// sees keys, namespaces, sources and erasures by the methods that change them, and hears
// of documents and memories from ingest.Log, which knows why they change. So it is the same
// whether a call, a tool, a job or the command line makes the change. Publisher gives
// committed events their numbers, in an order that readers can rely on. Models looks how models
// fare, which no transaction tells. Service lets callers read events.
package event
