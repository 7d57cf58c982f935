// Package sourcekit checks that a connector keeps the promises of its port: its description, what it
// lists and where a listing goes on, its versions, what it reads, and its conduct with wrong secrets, gone callers,
// calls side by side, memory and a crash. Any port.Connectors can be held to it, whatever runs them.
//
// What an account holds is not known to the kit, so it compares one listing with the next: the account has to
// hold still in the meantime. Nothing in it is changed, but for secrets that the connector replaces, and for a grant
// that is given back when that is asked for.
//
// Check gives a Report; Run makes the same checks subtests of a Go test:
//
//	func TestConnector(t *testing.T) {
//		sourcekit.Run(t, sourcekit.Candidate{Open: open, Config: settings, Secrets: secrets})
//	}
package sourcekit
