// Package sourcetest is the contract of port.Connector: whatever follows a source passes
// it, against a real upstream that the suite changes, breaks and takes away.
//
// For tests only.
package sourcetest
