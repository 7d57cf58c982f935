// Package polite makes requests to sites as a guest should: one at a time to a host, with
// a pause between two, no sooner again than the host asks for. It goes through
// adapters/outbound, so that no site leads into the operator's own network, and says what
// a request failed for in the terms of port.SourceError.
package polite
