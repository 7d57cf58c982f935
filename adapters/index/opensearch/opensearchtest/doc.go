// Package opensearchtest starts a real OpenSearch with its k-NN plugin, one node or several,
// for tests of everything that can run over one. install.sh brings it; with
// MNEME_TEST_OPENSEARCH_URL set the tests use that one instead.
//
// With MNEME_TEST_OPENSEARCH=protocol a server in the tests' own process takes its place, which keeps to
// the protocol and needs neither Java nor time, but proves nothing of a node.
//
// A node is one Java process with a heap of 512 MiB, made of the published jars by
// Node.java, without the distribution's scripts and without the security plugin.
//
// For tests only.
package opensearchtest
