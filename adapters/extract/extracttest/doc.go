// Package extracttest is the contract of port.Extractor: whatever reads files passes it.
//
// For tests only.
package extracttest
