// Package jcs writes JSON in the one form of RFC 8785, the JSON Canonicalization
// Scheme, so that equal values have equal hashes wherever they are computed.
package jcs
