// Package filter is the metadata filter of queries and deletions (docs/contract.md#filter-operators):
// metadata values, their canonical text, the parsed filter, and the facet tokens by
// which an index answers it before top-k.
package filter
