// Package integrations runs the packages for frameworks of integrations/ as they are installed: each one's wheel or
// tarball and the SDK's in an empty folder, beside the framework in the version of pins/, its own tests and those of the
// framework against the real binary, and then the lines of docs/frameworks.md as they stand.
//
// It runs where MNEME_INTEGRATIONS is set, which make integrations-test does. That writes into passed what passed.sh
// makes of everything that the verdict hangs on, and CI runs it again only where that has changed.
//
// It holds tests only.
package integrations
