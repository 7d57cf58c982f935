// Package oidctest is a provider of OpenID Connect for tests: a certified library's, with one
// account that signs in by a click, and whose answers a test can spoil.
package oidctest
