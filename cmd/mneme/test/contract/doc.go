// Package contract proves the published contract from outside: the real binary
// is met by a property-based tester (schemathesis) and by clients that a standard
// generator (openapi-generator) makes from /openapi.json, in Python and TypeScript.
//
// install.sh brings the tools to .cache/contract; tests that find none skip, and
// fail where MNEME_TEST_REQUIRE is set. MNEME_CONTRACT_SECONDS makes the
// property-based run longer (make contract-long).
//
// It holds tests only.
package contract
