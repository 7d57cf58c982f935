// Package replicas holds the tests of several server processes over one set
// of backends: the real binary, three times, behind a client that asks them in
// turn, while processes are killed, databases go away, come back and are lost,
// keys are revoked and end users are erased. TestSets does so over each set, and
// over one process on SQLite; -short leaves it one set. Two tests need no process:
// those of indexes that fall behind the change log.
//
// TestDatabases spreads organizations over three database servers and moves one, while the command, servers and
// database servers are killed. MNEME_FAULT_ROUNDS=20 and -run TestDatabases -timeout 1h tell a long story of it.
//
// MNEME_FAULT_ROUNDS is the number of rounds of the loops, of TestSets the number of
// end users that are erased while processes are killed. Meilisearch is that of MNEME_TEST_MEILISEARCH_URL and _KEY, or one in
// the test's process.
//
// It restarts a PostgreSQL that the tests have started, so they run on Linux only.
package replicas
