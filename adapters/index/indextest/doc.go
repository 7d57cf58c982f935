// Package indextest is the contract of port.Index as a test suite. It checks
// each retriever that an adapter claims against an exact reference, and that
// those not claimed are refused.
package indextest
