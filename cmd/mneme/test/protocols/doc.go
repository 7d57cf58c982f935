// Package protocols proves that other services' own clients work against the real binary
// with nothing but another address and key: OpenAI's for Python, Node.js and Go.
//
// The clients are pinned in package-lock.json, requirements.txt and testdata/go/go.mod and
// installed by install.sh (make protocol-clients) into .cache/protocols. Tests that find
// none skip, and fail where MNEME_TEST_REQUIRE is set. The one for Go takes minutes to compile:
// make integration-tools builds it, and make integrations-test runs it.
//
// It holds tests only.
package protocols
