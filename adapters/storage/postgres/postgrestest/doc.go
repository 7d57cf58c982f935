// Package postgrestest starts a real PostgreSQL with pgvector for tests of
// everything that can run over one. install.sh brings the server; with
// MNEME_TEST_POSTGRES_DSN set the tests use that one instead.
//
// For tests only.
package postgrestest
