// Package evaluate measures retrieval quality on test collections in BEIR's
// layout: it reads a collection, writes it into a namespace through the API,
// runs the queries and computes nDCG, recall and reciprocal rank as trec_eval
// does, and latency percentiles.
package evaluate
