// Package filter is the metadata filter of queries and deletions (interface
// document, section 2): metadata values, their canonical text, the parsed
// filter, and the facet tokens by which an index answers it before top-k.
//
// May import: the standard library, core/fault.
package filter
