// Package collection reads test collections (documents, queries and judgements of
// relevance) and says how well an index ranks them.
//
// For tests only.
package collection
