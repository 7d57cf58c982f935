// Package modelkit checks that a model keeps the promises of its port: its
// description, the shapes of its answers, odd and overlong texts, stability, sense,
// a vendor's golden answers, and conduct over many calls. Any port.Model can be
// held to it, whatever runs it: in process, as another process, or far away.
//
// Check gives a Report, which renders as text, JSON or JUnit; Run makes the same
// checks subtests of a Go test:
//
//	func TestModel(t *testing.T) {
//		modelkit.Run(t, modelkit.Candidate{Open: func(ctx context.Context) (port.Model, error) { return acme.Open(ctx) }})
//	}
//
// Speed and memory are measured beside those of a baseline in the same run and
// reported, never judged: a ratio says something on any machine, a time does not.
package modelkit
