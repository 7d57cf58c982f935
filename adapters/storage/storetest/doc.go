// Package storetest is the contract of port.DocumentStore as tests: what every store
// passes, whatever database it stands on.
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) port.DocumentStore { return open(t, t.TempDir()) })
//	}
package storetest
