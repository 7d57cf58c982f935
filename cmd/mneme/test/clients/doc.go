// Package clients proves that the common generators of clients read docs/openapi.yaml
// as it is: openapi-python-client, openapi-typescript with openapi-fetch, hey-api and
// oapi-codegen make a client each, which a compiler accepts and which does the same
// round against the real binary. Package contract does so with openapi-generator.
//
// The generators are pinned in package-lock.json, requirements.txt and
// testdata/go/go.mod and installed by install.sh (make clients) into .cache/clients.
// Tests that find none skip, and fail where MNEME_TEST_REQUIRE is set.
//
// It holds tests only.
package clients
