// Package storetest is the contract of port.Store as tests: what every store
// passes, whatever database it stands on.
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) port.Store { return open(t, t.TempDir()) })
//	}
//
// May import: core/port, core/fault, core/ident, go-cmp, rapid, testing.
package storetest
