// Package rerank is the standalone rerank operation: score texts against a query.
package rerank
