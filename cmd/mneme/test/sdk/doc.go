// Package sdk proves the SDKs of sdk/: that their generated layers are what docs/openapi.yaml makes, that they offer every
// operation and know every code, and that as the wheel, the tarball and the module that people install they do the
// same round against the real binary, in empty projects, on the oldest and the newest runtime that can be had; the one of
// TypeScript at the edge and in a page whose server adds the keys, too.
// The lines of docs/sdk.md and the quickstarts of applications are run as they stand, on an uploaded PDF. Their own tests
// run here, too.
//
// install.sh (make sdk-tools) brings what it runs to .cache/sdk; generators come with make clients. Tests that find none
// skip, and fail where MNEME_TEST_REQUIRE is set.
//
// It holds tests only.
package sdk
