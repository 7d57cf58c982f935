// Package meilisearchtest is a Meilisearch server in the test's own process, as
// far as index/meilisearch needs one. It keeps to what the real one does: tasks
// one after the other with their statuses, the grammar of filters, settings, keys
// with actions, error codes and their HTTP statuses, the words of a query, the
// matching strategies and the ranking score.
//
// What each part does is taken from Meilisearch's API reference, from its error
// reference (www.meilisearch.com/docs/reference/errors/error_codes) and, where
// these are silent, from the behaviour of version 1.50; the functions name which.
// The contract of the index runs against a real server, too, when
// MNEME_TEST_MEILISEARCH_URL names one: what the two do apart is a defect here.
//
// Faults are part of it: a server that is away, answers errors, takes long over
// tasks or fails them, and a key that is revoked.
//
// Not here: vectors, geo search, facets, synonyms, localization, dumps, batches,
// multi-index federation, and the batching of tasks.
package meilisearchtest
