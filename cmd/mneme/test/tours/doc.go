// Package tours runs what the documentation tells a newcomer to type: the
// quickstart, and the tours of README.md, docs/memory.md and docs/rest.md, as they
// stand. Each runs over every set of backends in configs/examples, with nothing
// changed but MNEME_CONFIG, against a real PostgreSQL and a Meilisearch that keeps
// to the protocol. Those of docs/files.md, docs/events.md and docs/sources.md, which no set of backends
// decides, run over the first, and the quickstarts of operators and vendors over none of them.
//
//	go test ./cmd/mneme/test/tours -v
//	MNEME_TEST_MEILISEARCH_URL=http://127.0.0.1:7700 MNEME_TEST_MEILISEARCH_KEY=... go test ./cmd/mneme/test/tours -v
//
// A tour is the shell block after the comment "tour:" of a page or a section. It needs
// bash and curl, and the receivers of docs/events.md need what make clients brings.
package tours
