// Package mcp holds tests that talk to the server as MCP clients do: the
// official clients for Go, TypeScript and Python, the official inspector on the command
// line, and the official conformance suite, over streamable HTTP and over stdio,
// against the real binary. One story is told through all of them.
//
// The clients from npm and PyPI are pinned in package-lock.json, requirements.txt and
// requirements-2.txt and installed by install.sh (make mcp-clients). MNEME_MCP_CLIENTS names the folder
// that holds them, .cache/mcp-clients of the repository unless set. Tests that
// need them are skipped without them, and fail instead under MNEME_TEST_REQUIRE=1.
package mcp
